"""Parts of a library's snippet: a head with its notes, and lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH = 80
"""The longest line of a snippet, in columns."""


@dataclass(frozen=True)
class Snippet:
    """A file, or a part of one, for a library."""

    library: str
    """The name, as `slowhand settings --library` takes it."""
    version: str
    """The version whose names it has."""
    language: str
    """As in a fenced block of Markdown: c, rust, sh, ini, make, properties, kconfig."""
    file: str
    """Where it belongs."""
    text: str
    notes: tuple[str, ...] = ()
    """The wishes of the scenario that the library cannot fulfil. The text has them as comments."""


HASH = ("# ", "# ", "")
STYLES = {"c": ("/* ", " * ", " */"), "rust": ("//! ", "//! ", "")}
"""The begin of a comment, of its further lines, and its end, by language; all others have `HASH`.
"""


def head(style: tuple[str, str, str], sentences: Iterable[str]) -> list[str]:
    """A comment at the top, one paragraph for each sentence."""
    first, further, last = style
    lines: list[str] = []
    for sentence in sentences:
        width = WIDTH - len(first) - len(last)
        lines += textwrap.wrap(sentence, width, break_on_hyphens=False, break_long_words=False)
    marked = [f"{further if at else first}{line}".rstrip() for at, line in enumerate(lines)]
    return [*marked[:-1], marked[-1] + last]


def text(*parts: str | Sequence[str]) -> str:
    """Lines and groups of lines, as one text."""
    lines: list[str] = []
    for part in parts:
        lines += [part] if isinstance(part, str) else part
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """A number without digits that say nothing, and without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def seconds(milliseconds: float) -> str:
    """A time in words."""
    return f"{number(milliseconds / 1000)} s"


def literal(value: str, special: str, escape: str) -> str:
    """A string of a language. `escape` writes octets that are not plain, quotes and `special`."""
    escaped = f'"\\{special}'.encode()
    octets = (
        chr(octet) if 0x20 <= octet < 0x7F and octet not in escaped else escape.format(octet)
        for octet in value.encode()
    )
    return f'"{"".join(octets)}"'


def needed(options: Mapping[str, bool]) -> list[str]:
    """The names of the options that are needed."""
    return [option for option, is_needed in options.items() if is_needed]
