"""The arguments of a command: what is allowed, and one message for everything else."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from slowhand.terminal import printable

MAX_SEED = 2**64 - 1
"""The largest seed."""


class Complaint(Exception):
    """Bad input. The message is all that the user reads."""


class Parser(argparse.ArgumentParser):
    """Reads the arguments of one command."""

    def __init__(self, command: str, about: str, example: str):
        super().__init__(
            prog=f"slowhand {command}",
            description=about,
            epilog=f"Example: slowhand {command} {example}".strip(),
            allow_abbrev=False,
            add_help=False,
        )
        self.option("--help", action="store_true", help="Show this message and exit.")

    def error(self, message: str) -> NoReturn:
        """Called by argparse for wrong arguments."""
        raise Complaint(printable(message.removeprefix("argument "), 300))

    def option(self, name: str, **arguments: Any) -> None:
        """Adds an option or, without dashes, an argument."""
        self.add_argument(name, **arguments)

    def json(self) -> None:
        """Adds `--json`, which every command has."""
        self.option("--json", action="store_true", help="Print JSON, and nothing else, on stdout.")


def integer(least: int, most: int = MAX_SEED) -> Callable[[str], int]:
    """The type of an option that is a whole number in these bounds."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            allowed = f"a whole number from {least} to {most}"
            raise argparse.ArgumentTypeError(f"found {_found(text)}, allowed: {allowed}")
        return value

    return parse


def number(text: str) -> float:
    """The type of an option that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {_found(text)}, allowed: a number") from None


def _found(text: str) -> str:
    return printable(text, 40) or "nothing"
