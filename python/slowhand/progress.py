"""Progress of a run on stderr, if the run takes longer than a second."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self

from slowhand.terminal import WIDTH, say

PATIENCE_S = 1.0
BAR_EVERY_S = 0.1
LINE_EVERY_S = 10.0
BAR = 30
"""The width of the bar in columns."""


class Progress:
    """A bar on a terminal, otherwise a line every ten seconds; nothing for a short run."""

    def __init__(self, total: int, what: str):
        self._total = total
        self._what = what
        self._began = time.monotonic()
        self._next = self._began + PATIENCE_S
        self._draws = sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb")
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._draw("")

    def update(self, done: int) -> None:
        """Shows that so many are done."""
        now = time.monotonic()
        if now < self._next:
            return
        if self._draws:
            self._next = now + BAR_EVERY_S
            self._draw(self._bar(done, now))
        else:
            self._next += LINE_EVERY_S
            say(f"{done} of {self._total} {self._what} done")

    def _bar(self, done: int, now: float) -> str:
        done = min(done, self._total)
        filled = BAR * done // self._total if self._total else 0
        line = f"[{'#' * filled}{' ' * (BAR - filled)}] {done:,} of {self._total:,} {self._what}"
        if done:
            left = round((now - self._began) * (self._total - done) / done)
            line += f", {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
        return line

    def _draw(self, line: str) -> None:
        """Replaces the line of the terminal (ECMA-48: EL). A terminal that is gone is no error."""
        self._drawn = bool(line)
        try:
            width = os.get_terminal_size(2).columns or WIDTH
            print(f"\r\x1b[K{line[: width - 1]}", end="", file=sys.stderr, flush=True)
        except OSError:
            self._draws = False
