"""Words that a user may have meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from slowhand.terminal import printable


def meant(found: str, known: Iterable[str], prefix: str = "") -> str:
    """The end of a message about a word: which known ones are like it, if any.

    What stands before all of them, as the hyphens of options, would make any two alike.

    >>> meant("swep", ["run", "sweep"]), meant("x", ["run", "sweep"])
    ('; did you mean sweep?', '')
    >>> meant("--cuont", ["--count", "--json"], "--")
    '; did you mean --count?'
    """
    words = [word.removeprefix(prefix) for word in known]
    near = difflib.get_close_matches(found.removeprefix(prefix), words)
    return f"; did you mean {' or '.join(prefix + word for word in near)}?" if near else ""


def none_of(what: str, found: str, known: Collection[str]) -> str:
    """The message about a word that is none of those that are known.

    >>> none_of("shell", "fich", ["bash", "zsh", "fish"])
    "shell: found 'fich', allowed: bash, zsh, fish; did you mean fish?"
    """
    return f"{what}: found '{printable(found)}', allowed: {', '.join(known)}{meant(found, known)}"
