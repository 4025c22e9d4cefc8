"""Stdout and stderr: as wide as the terminal, in the characters that it has, never an error midway.

What stdout cannot take (a closed pipe, a full disk) is an error at the end of the command, after
its files are written.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import textwrap
import unicodedata
from collections.abc import Callable
from typing import TextIO

WIDTH = 80
"""The width in columns, where it is not known."""

LONGEST = 120
"""The most characters of a path or a word that a message repeats."""

NARROWEST = 20
"""The least width that text is wrapped to."""

STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "bold red": "1;31",
    "green": "32",
    "yellow": "33",
    "bold cyan": "1;36",
}
"""The parameters of SGR in ECMA-48, section 8.3.117."""


class Terminal:
    """Where a command prints its results."""

    def __init__(self, file: TextIO, *, width: int, styled: bool):
        self.width = width
        self.styled = styled
        self.failure: OSError | None = None
        """Why the file takes nothing more, if so."""
        self._file = file
        self._is_closed = False
        self._encoding = getattr(file, "encoding", None) or "utf-8"

    @classmethod
    def stdout(cls) -> Terminal:
        """The process's stdout."""
        is_closed = sys.stdout is None  # by the shell: >&-
        prepare()
        terminal = cls(sys.stdout, width=width(), styled=_is_styled())
        terminal._is_closed = is_closed
        return terminal

    def plain(self, text: str) -> str:
        """The text in characters that the file has: so wide is it there."""
        try:
            text.encode(self._encoding, "surrogateescape")
        except UnicodeEncodeError:
            return "".join(map(self._plain, text))
        return text

    def _plain(self, character: str) -> str:
        try:
            character.encode(self._encoding, "surrogateescape")
        except UnicodeEncodeError:
            return _replacement(character)
        return character

    def print(self, text: str = "", style: str = "") -> None:
        """Prints a line as it is."""
        self.write(self.style(text, style) + "\n")

    def paragraph(self, text: str, style: str = "", *, first: str = "", indent: str = "") -> None:
        """Prints text in lines of the terminal's width, the first after `first`."""
        lines = textwrap.wrap(
            self.plain(text),
            max(NARROWEST, self.width),
            initial_indent=self.plain(first),
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines or [first]:
            self.print(line, style)

    def style(self, text: str, style: str) -> str:
        """The text with a style, if this terminal has styles."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text and self.styled else text

    def write(self, text: str) -> None:
        """Writes text. After a failure it is dropped."""
        if self.failure:
            return
        try:
            if self._is_closed:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            self.failure = error
            _discard(self._file)


def printed(show: Callable[[Terminal], object]) -> str:
    """The text that `show` prints, in lines of `WIDTH` columns without styles."""
    lines = io.StringIO()
    show(Terminal(lines, width=WIDTH, styled=False))
    return lines.getvalue()


def prepare() -> None:
    """Makes stdout and stderr take every character, and exist."""
    codecs.register_error("slowhand", _replace)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the shell has closed it: >&-
            setattr(sys, name, _null())
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="slowhand")


def say(message: str) -> None:
    """Prints a message on stderr, if that takes it."""
    try:
        print(f"slowhand: {message}", file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def warn(message: str) -> None:
    """Prints a warning on stderr, in lines that fit every terminal."""
    text = f"warning: {message}"
    width = WIDTH - len("slowhand: ")
    lines = textwrap.wrap(
        text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    say("\n".join(lines))


def printable(text: str, longest: int = LONGEST) -> str:
    """Text for a message: what is too long is cut, what cannot be printed is escaped."""
    if len(text) > longest:
        text = f"{text[: longest - 20]}...{text[-17:]}"
    return escaped(text)


def escaped(text: str) -> str:
    """Text whose characters can all be printed: the others are escaped, as in Python."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def width() -> int:
    """The width of stdout, as POSIX has it: COLUMNS, or what the terminal says."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns[:6]) > 0:
        return int(columns[:6])
    try:
        return os.get_terminal_size(1).columns or WIDTH
    except OSError:
        return WIDTH


def is_drawable(stream: TextIO) -> bool:
    """True for a terminal that can do more than print lines."""
    return os.environ.get("TERM", "dumb") not in ("", "dumb") and stream.isatty()


def _null() -> TextIO:
    return open(os.devnull, "w")  # noqa: PTH123


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """The characters to write for one that the encoding does not have."""
    assert isinstance(error, UnicodeEncodeError)
    character, end = error.object[error.start], error.start + 1
    if "\udc80" <= character <= "\udcff":  # an octet of a path that is not UTF-8 (PEP 383)
        return bytes([ord(character) - 0xDC00]), end
    return _replacement(character), end


def _replacement(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return {"±": "+/-", "µ": "u"}.get(character, plain or "?")


def _discard(stream: TextIO) -> None:
    """Lets a stream that has failed go nowhere, so that Python can close it in peace."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):  # a stream without a descriptor
        pass


def _is_styled() -> bool:
    """False if not a terminal, if it can do nothing, or if the user wants no colours.

    The last is https://no-color.org.
    """
    return not os.environ.get("NO_COLOR") and is_drawable(sys.stdout)
