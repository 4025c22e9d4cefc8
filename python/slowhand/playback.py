"""A world as a picture that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowhand.explain import Explanation


class Playback:
    """Everything that happened in one world: `Scenario.play` makes it.

    `document` has the nodes, the links, every frame on the air, the datagrams of the sessions, what
    radios did and buffers held, and the explanation of one handshake. It can be written as JSON;
    docs/play.md says what it has. `slowhand.pages.playback` draws it.

    >>> import slowhand
    >>> playback = slowhand.Scenario("quickstart").play(seed=17)
    >>> len(playback.document["nodes"]), playback.explanation.summary.split(",")[0]
    (2, '4.42 s: 1.88 s computing at the client')
    """

    def __init__(self, document: dict[str, Any]):
        self.document = document

    @property
    def explanation(self) -> Explanation:
        """Where the time of the handshake went."""
        from slowhand.explain import Explanation

        return Explanation(self.document["explanation"])

    def __repr__(self) -> str:
        frames = len(self.document["frames"]["from_us"])
        return f"Playback({len(self.document['nodes'])} nodes, {frames} frames)"
