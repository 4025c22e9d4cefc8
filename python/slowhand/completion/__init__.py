"""Completion by shells: the commands and arguments of the parsers, and the names of what there is.

A metavar says what a value is: `LISTS` has the words for it, `PATHS` says whether it may be a path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slowhand.completion.command import SHELLS, Argument, Command, read
from slowhand.completion.scripts import bash, fish, zsh

__all__ = ["SCRIPTS", "SHELLS", "Argument", "Command", "read"]

SCRIPTS: dict[str, Callable[[Sequence[Command]], str]] = dict(
    zip(SHELLS, (bash, zsh, fish), strict=True)
)
"""The function that makes the script of each shell."""
