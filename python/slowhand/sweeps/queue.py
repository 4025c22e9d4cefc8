"""The work that is left, and how much of it runs at once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

from slowhand.api import processors
from slowhand.sweeps.dataset import Chunk, Rows

LONGEST_S = 5.0
"""The time that a chunk should take: so much work is lost if the sweep is killed. (Assumed.)"""

SHORTEST_S = 0.5
"""Shorter chunks cost more than they help: writing a file takes some milliseconds. (Assumed.)"""

FIRST = 10
"""The worlds of the first chunk, before it is known how long one takes. Of programs, which may take
a minute each: one for each processor."""

MOST_WORLDS = 4_000
"""The most worlds of a chunk, and the most handshakes but for those of one world. The records of
two chunks are in memory: of one that runs, and of one that becomes a file."""


class Queue:
    """The chunks to run. Their size follows from the time that those before have taken.

    The rows do not depend on the size of the chunks.
    """

    def __init__(self, missing: Iterable[Chunk]):
        self._missing = deque(missing)
        self.left = sum(chunk.count for chunk in self._missing)
        """The worlds that no taken chunk has."""
        self._seconds: dict[bool, float] = {}
        """The time that a world takes, where it is known: of libraries and of programs."""
        self._handshakes = 1.0  # a world

    def take(self, slots: int = 1) -> Chunk | None:
        """The next chunk, if one is left, where `slots` chunks run at once."""
        if not self._missing:
            return None
        chunk = self._missing.popleft()
        count = min(chunk.count, self._size(slots, chunk.configuration.has_programs))
        if count < chunk.count:
            rest = Chunk(chunk.configuration, chunk.first + count, chunk.count - count)
            self._missing.appendleft(rest)
        self.left -= count
        return Chunk(chunk.configuration, chunk.first, count)

    def learn(self, chunk: Chunk, rows: Rows) -> None:
        """Tells how long a chunk took."""
        self._seconds[chunk.configuration.has_programs] = max(rows.seconds / chunk.count, 1e-6)
        self._handshakes = max(1.0, rows.handshakes / chunk.count)

    def _size(self, slots: int, has_programs: bool) -> int:
        seconds = self._seconds.get(has_programs)
        if seconds is None:
            return processors() if has_programs else FIRST
        size = LONGEST_S / seconds
        if slots > 1:  # smaller towards the end, so that all slots end at about the same time
            size = min(size, max(self.left / (2 * slots), SHORTEST_S / seconds))
        return max(1, math.floor(min(size, MOST_WORLDS / self._handshakes)))
