"""Where the time of one handshake went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from slowhand.terminal import Terminal, escaped, printed


class Explanation:
    """Where the time of one handshake went: `Scenario.explain` makes it.

    `document` has everything: parts, critical path, and the events of every layer as a timeline.
    It can be written as JSON.

    >>> import slowhand
    >>> explanation = slowhand.Scenario("quickstart").explain(seed=17)
    >>> explanation.summary.split(",")[0]
    '4.42 s: 1.88 s computing at the client'
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
        """The words of `slowhand run --explain`, in lines of 80 columns."""
        return printed(partial(show, self))

    def __repr__(self) -> str:
        return f"Explanation({self.summary!r})"


SMALLEST = 0.005
"""Parts with less than this share of the time are put together."""


def show(explanation: Explanation, out: Terminal) -> None:
    """Prints where the time went: the sentence, each part, and what changes it."""
    document = explanation.document
    total = document["duration_s"]
    out.paragraph(f"{_ended(document)} {explanation.summary}.", "bold")
    out.print()
    shown = [part for part in explanation.parts if part["seconds"] >= SMALLEST * total]
    for part in shown:
        _show_part(part["seconds"], total, part["text"], out)
    if rest := explanation.parts[len(shown) :]:
        others = "another part" if len(rest) == 1 else f"{len(rest)} other parts"
        _show_part(sum(part["seconds"] for part in rest), total, others, out)
    if remedies := _remedies(shown):
        out.print()
        out.print("What changes that", "bold cyan")
        for remedy, seconds in remedies.items():
            _show_part(seconds, total, remedy, out)


def slowest(columns: Mapping[str, list[Any]]) -> tuple[int, int]:
    """Seed and client of the slowest handshake; one that failed is slower than all others."""
    times = [math.inf if took is None else took for took in columns["duration_s"]]
    by_time = zip(times, columns["seed"], columns["client"], strict=True)
    # Of several, the first.
    _, seed, client = max(by_time, key=lambda row: (row[0], -row[1], -row[2]))
    return seed, client


def _ended(document: Mapping[str, Any]) -> str:
    """The end of the handshake, if it did not complete."""
    seed, client, outcome = document["seed"], document["client"], document["outcome"]
    which = f"Seed {seed}, client {client}"
    if document["attempts"] > 1:
        which += f", attempt {document['attempts']}"
    if outcome == "completed":
        return f"{which}:"
    reason = f": {escaped(document['reason'])}" if document["reason"] else ""
    return f"{which}, {outcome.replace('_', ' ')}{reason}:"


def _show_part(seconds: float, total: float, text: str, out: Terminal) -> None:
    share = 100 * seconds / total if total else 0
    first = f"{seconds:9.3f} s  {share:3.0f} %  "
    out.paragraph(escaped(text), first=first, indent=" " * len(first))


def _remedies(parts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The remedies that change these parts, and how much time the parts take together."""
    remedies: dict[str, float] = {}
    for part in parts:
        if part["remedy"]:
            remedies[part["remedy"]] = remedies.get(part["remedy"], 0) + part["seconds"]
    return dict(sorted(remedies.items(), key=lambda remedy: -remedy[1]))
