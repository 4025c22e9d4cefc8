"""Progress of a run on stderr, if the run takes longer than a second."""

from __future__ import annotations

import os
import sys
import time

from slowhand.closing import Closing
from slowhand.terminal import WIDTH, is_drawable, say

PATIENCE_S = 1.0
BAR_EVERY_S = 0.1
LINE_EVERY_S = 10.0
BAR = 30
"""The width of the bar in columns."""


class Line(Closing):
    """One line on stderr: drawn again and again on a terminal, otherwise one every ten seconds."""

    def __init__(self, every_s: float):
        self._every = every_s
        self._next = time.monotonic() + PATIENCE_S
        self.draws = is_drawable(sys.stderr)
        """False if there is no terminal."""
        self._drawn = False

    def close(self) -> None:
        """Leaves the terminal without the line."""
        self.clear()

    def is_due(self) -> bool:
        """True if it is time for the next line, which then has to be shown."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._every if self.draws else self._next + LINE_EVERY_S
        return True

    def show(self, line: str) -> None:
        """Shows a line."""
        if self.draws:
            self._draw(line)
        else:
            say(line)

    def clear(self) -> None:
        """Makes room on the terminal for other lines."""
        if self._drawn:
            self._draw("")

    def _draw(self, line: str) -> None:
        """Replaces the line of the terminal (ECMA-48: EL). A terminal that is gone is no error."""
        self._drawn = bool(line)
        try:
            width = os.get_terminal_size(2).columns or WIDTH
            print(f"\r\x1b[K{line[: width - 1]}", end="", file=sys.stderr, flush=True)
        except OSError:
            self.draws = False


class Progress(Line):
    """A bar on a terminal, otherwise a line every ten seconds; nothing for a short run."""

    def __init__(self, total: int, what: str):
        super().__init__(BAR_EVERY_S)
        self._total = total
        self._what = what
        self._before = 0  # done before the work began
        self._began = time.monotonic()

    def resume(self, before: int) -> None:
        """Says that so many were done before: the rate is that of the others."""
        self._before = before

    def update(self, done: int, *, total: int | None = None, note: str = "") -> None:
        """Shows that so many are done, of a new total if there is one, and a note."""
        if total is not None:
            self._total = total
        if not self.is_due():
            return
        now = time.monotonic()
        note = note and f", {note}"
        if self.draws:
            self.show(self._bar(done, now) + note)
        else:
            self.show(f"{done} of {self._total} {self._what} done{self._rate(done, now)}{note}")

    def _bar(self, done: int, now: float) -> str:
        done = min(done, self._total)
        filled = BAR * done // self._total if self._total else 0
        line = f"[{'#' * filled}{' ' * (BAR - filled)}] {done:,} of {self._total:,} {self._what}"
        return line + self._rate(done, now)

    def _rate(self, done: int, now: float) -> str:
        """The rate, and the time that is left, where they are known."""
        new, seconds = done - self._before, now - self._began
        if new <= 0 or seconds <= 0:
            return ""
        rate = new / seconds
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        left = round(max(0, self._total - done) / rate)
        return f", {shown} a second, {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
