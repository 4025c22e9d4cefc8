"""The whole terminal as a picture: the alternate screen, and the keys that are pressed meanwhile.

However it ends, the terminal is as it was before.
"""

from __future__ import annotations

import os
import select
import sys
import termios
import time
from collections.abc import Iterable
from typing import Any, Self

from slowhand.closing import Closing
from slowhand.realtime.dashboard import Row, Size
from slowhand.terminal import WIDTH, Terminal

LINES = 24
"""The lines of a terminal that does not say."""

ENTER = "\x1b[?1049h\x1b[?25l"
"""The alternate screen, without a cursor (xterm's control sequences: DECSET 1049, DECTCEM)."""

LEAVE = "\x1b[?25h\x1b[?1049l"
"""The screen as it was, with a cursor."""

READ_S = 0.05
"""The time in which a terminal has read what was written. Assumed: it draws twenty pictures a
second."""

HOME, ERASE_LINE = "\x1b[H", "\x1b[K"
"""ECMA-48: CUP, EL."""


class Screen(Closing):
    """The terminal at stdout, while a picture is on it."""

    def __init__(self, out: Terminal, every_s: float):
        self._out = out
        self._every = every_s
        self._next = time.monotonic()
        self._keys: int | None = None
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        try:
            self._before = termios.tcgetattr(0)
        except (termios.error, OSError):  # no keys: Ctrl-C still ends it
            pass
        else:
            self._keys = 0
            quiet = termios.tcgetattr(0)
            # No echo, and each key at once. Ctrl-Z would leave the picture on the terminal. Ctrl-C
            # would drop what the terminal has not read yet (termios(3)), be it what removes it.
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            quiet[3] |= termios.NOFLSH
            quiet[6][termios.VSUSP] = b"\0"
            termios.tcsetattr(0, termios.TCSANOW, quiet)
        self._out.write(ENTER)
        return self

    def close(self) -> None:
        """Makes the terminal as it was before."""
        try:
            self._out.write(LEAVE)
            if self._before:
                time.sleep(READ_S)
        finally:  # a signal may raise
            if self._before:
                termios.tcsetattr(0, termios.TCSANOW, self._before)

    def size(self) -> Size:
        """The size of the terminal now: its user may change it."""
        try:
            found = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return Size(WIDTH, LINES)
        return Size(found.columns or WIDTH, found.lines or LINES)

    def is_due(self) -> bool:
        """True if it is time for the next picture, which then has to be drawn."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._every
        return True

    def draw(self, rows: Iterable[Row]) -> None:
        """Replaces the picture, in one piece so that it does not flicker."""
        lines = ("".join(self._out.style(text, style) for text, style in row) for row in rows)
        self._out.write(HOME + "\n".join(ERASE_LINE + line for line in lines))

    def pressed(self) -> str:
        """The keys that were pressed since the last time."""
        if self._keys is None or not select.select([self._keys], [], [], 0)[0]:
            return ""
        octets = os.read(self._keys, 1024)
        if not octets:  # the terminal is gone
            self._keys = None
        return octets.decode(errors="replace")
