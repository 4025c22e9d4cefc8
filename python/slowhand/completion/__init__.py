"""What shells complete: the commands and arguments of the parsers, and the names of what there is.

A metavar says what a value is: `LISTS` has the words for it, `FILES` says whether it may be a path.
"""

from __future__ import annotations

from slowhand.completion.command import Argument, Command, commands
from slowhand.completion.scripts import bash, fish, zsh

__all__ = ["Argument", "Command", "bash", "commands", "fish", "zsh"]
