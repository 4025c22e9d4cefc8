"""The arguments of a command: what is allowed, and one message for everything else."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from slowhand.bounds import MAX_SEED
from slowhand.nearest import meant
from slowhand.terminal import printable, width

LONGEST_ERROR = 300
"""The most characters of a message of argparse that are shown."""

LONGEST_WORD = 40
"""The most characters of a word that was found that are shown."""

LITERAL = "\0"
"""Stands before a word that is no option, whatever it begins with. No argument contains it."""


class Complaint(Exception):
    """Bad input. The user reads the message and nothing else. Errors of other modules are such."""


class Parser(argparse.ArgumentParser):
    """Reads the arguments of one command."""

    def __init__(self, command: str, about: str, example: str):
        self.actions: list[argparse.Action] = []
        """Its options and arguments, in the order of the help: argparse has no public name."""
        super().__init__(
            prog=f"slowhand {command}",
            description=about,
            epilog=f"Example: slowhand {command} {example}".strip(),
            allow_abbrev=False,
            add_help=False,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=width()),
        )
        self.add_argument("--help", action="store_true", help="Show this message and exit.")

    def add_argument(self, *names: Any, **details: Any) -> argparse.Action:
        """Adds an option, or an argument by its place."""
        action = super().add_argument(*names, **details)
        self.actions.append(action)
        return action

    def group(self, title: str, about: str) -> Callable[..., None]:
        """Returns what adds options below a title of their own in the help."""
        group = self.add_argument_group(title, about)
        return lambda *names, **details: self.actions.append(group.add_argument(*names, **details))

    def error(self, message: str) -> NoReturn:
        """Called by argparse for wrong arguments."""
        message = message.removeprefix("argument ").replace(LITERAL, "")
        raise Complaint(printable(message, LONGEST_ERROR))

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Reads arguments as GNU's getopt_long does.

        Options stand anywhere before `--`. After it stand none. What follows an option with a
        value is its value (as -1e-3), unless it is the name of an option too.
        """
        options = self._options()
        end = words.index("--") if "--" in words else len(words)
        marked: list[str] = []
        for word in words[:end]:
            before = options.get(marked[-1]) if marked else None
            if before and before.nargs is None and word not in options:
                marked[-1] += f"={word}"
            else:
                marked.append(word)
        # argparse takes `--option=--` for an option with an empty list as its value.
        marked = [f"{word[:-2]}{LITERAL}--" if _is_double_dash(word) else word for word in marked]
        # argparse does not know "--" where options may stand anywhere.
        marked += [LITERAL + word for word in words[end + 1 :]]
        found, unknown = self.parse_known_intermixed_args(marked)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown[0])}")
        for name, value in vars(found).items():
            if isinstance(value, str):
                setattr(found, name, value.removeprefix(LITERAL))
            elif isinstance(value, list):
                setattr(found, name, [word.removeprefix(LITERAL) for word in value])
        return found

    def _meant(self, word: str) -> str:
        """Which options may be meant by a word that is none."""
        if not word.startswith("-"):
            return ""
        return meant(word.partition("=")[0], self._options(), "--")

    def _options(self) -> dict[str, argparse.Action]:
        return {name: action for action in self.actions for name in action.option_strings}


def _is_double_dash(word: str) -> bool:
    """True for an option whose value is `--`."""
    return word.startswith("-") and word.partition("=")[1:] == ("=", "--")


def integer(least: int, most: int = MAX_SEED) -> Callable[[str], int]:
    """The type of an option that is a whole number in these bounds."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise wrong_value(text, f"a whole number from {least} to {most}")
        return value

    return parse


def number(text: str) -> float:
    """The type of an option that is a number."""
    try:
        return float(text)
    except ValueError:
        raise wrong_value(text, "a number") from None


def share(text: str) -> float:
    """The type of an option that is a share: `5%` or `0.05`."""
    value = text.removesuffix("%")
    try:
        return float(value) / (1 if value == text else 100)
    except ValueError:
        raise wrong_value(text, "a share, such as 5% or 0.05") from None


PERIODS = {"min": 60, "s": 1, "h": 3600, "d": 86_400}
"""The units of a period, in seconds."""


def period(text: str) -> float:
    """The type of a period: seconds.

    >>> period("1.5h"), period("90"), period("10min")
    (5400.0, 90.0, 600.0)
    """
    text = text.removeprefix(LITERAL)
    unit = next((unit for unit in PERIODS if text.endswith(unit)), "")
    try:
        return float(text.removesuffix(unit)) * PERIODS.get(unit, 1)
    except ValueError:
        raise wrong_value(text, "a time, such as 30s, 10min, 1h or 1d") from None


def wrong_value(text: str, allowed: str) -> argparse.ArgumentTypeError:
    """The error of a value of an option."""
    found = printable(text.removeprefix(LITERAL), LONGEST_WORD) or "nothing"
    return argparse.ArgumentTypeError(f"found {found}, allowed: {allowed}")
