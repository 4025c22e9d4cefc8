"""Where the time of one handshake went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowhand.terminal import Terminal


class Explanation:
    """Where the time of one handshake went: `Scenario.explain` makes it.

    `document` has everything: parts, critical path, and the events of every layer as a timeline.
    It can be written as JSON.

    >>> import slowhand
    >>> explanation = slowhand.Scenario("quickstart").explain(seed=17)
    >>> explanation.summary.split(",")[0]
    '4.42 s: 1.89 s computing at the client'
    """

    def __init__(self, document: dict[str, Any]):
        self.document = document

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Where the time went, the largest part first. The seconds add up to the duration."""
        parts: list[dict[str, Any]] = self.document["parts"]
        return parts

    @property
    def summary(self) -> str:
        """Where the time went, in one sentence."""
        return str(self.document["summary"])

    @property
    def text(self) -> str:
        """What `slowhand run --explain` prints, in lines of 80 columns."""
        import io

        from slowhand.terminal import Terminal

        lines = io.StringIO()
        show(self, Terminal(lines, width=80, styled=False))
        return lines.getvalue()

    def __repr__(self) -> str:
        return f"Explanation({self.summary!r})"


def show(explanation: Explanation, out: Terminal) -> None:
    """Prints where the time went: the sentence, each part, and what changes it."""
    total = explanation.document["duration_s"]
    out.paragraph(f"Where the time went: {explanation.summary}", "bold")
    for part in explanation.parts:
        share = 100 * part["seconds"] / total if total else 0
        first = f"{part['seconds']:9.3f} s  {share:3.0f} %  "
        out.paragraph(part["text"], first=first, indent=" " * len(first))
