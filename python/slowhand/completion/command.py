"""The commands as shells see them, read from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from slowhand import data
from slowhand._native import built_in_stacks, own_stacks
from slowhand.arguments import Parser

SHELLS = ("bash", "zsh", "fish")
"""The shells that have a script."""

PATHS = {
    **dict.fromkeys(("SCENARIO", "BATTERY", "FILE", "TRACE", "PATH"), "files"),
    "FOLDER": "folders",
}
"""The metavars of values that are paths, and of what kind."""


class Argument(NamedTuple):
    """An option, or an argument by its place."""

    option: str
    """Its name, with two hyphens; empty if it has none."""
    about: str
    metavar: str
    """Empty if it takes no value."""
    words: str
    """The name of the list of words that it takes, or nothing."""
    paths: str
    """`files` or `folders` if it takes a path, or nothing."""
    several: bool
    """True if it may be given again."""
    seconds: str = ""
    """Second words of commands that may stand there too, with spaces between them."""


class Command(NamedTuple):
    """A command. Its name may have two words."""

    name: str
    about: str
    options: Sequence[Argument]
    places: Sequence[Argument]


class Described(Protocol):
    """A command as its module describes it."""

    @property
    def about(self) -> str:
        """The task of the command, in words."""

    @property
    def example(self) -> str:
        """Its arguments in an example."""

    @property
    def options(self) -> Callable[[Parser], None]:
        """The function that adds its options to a parser."""


def read(described: Mapping[str, Described]) -> list[Command]:
    """Every command, in the order of the help. `described` has them by name."""
    found = []
    for name, command in described.items():
        parser = Parser(name, command.about, command.example)
        command.options(parser)
        arguments = [_argument(name, action) for action in parser.actions]
        options = [argument for argument in arguments if argument.option]
        places = [argument for argument in arguments if not argument.option]
        seconds = " ".join(n.partition(" ")[2] for n in described if n.startswith(f"{name} "))
        places[:1] = [place._replace(seconds=seconds) for place in places[:1]]
        found.append(Command(name, command.about, options, places))
    return found


def _argument(command: str, action: argparse.Action) -> Argument:
    metavar = "" if action.nargs == 0 else str(action.metavar)
    own = f"{command} {metavar}"
    about = str(action.help or "") % {}
    return Argument(
        option=action.option_strings[-1] if action.option_strings else "",
        about=about.partition(". ")[0].removesuffix("."),
        metavar=metavar,
        words=next((name for name in (own, metavar) if name in LISTS), ""),
        paths=PATHS.get(metavar, ""),
        several=action.nargs == "+" or isinstance(action.default, list),  # argparse appends to it
    )


def words() -> dict[str, list[str]]:
    """Every list of words."""
    return {metavar: list(found()) for metavar, found in LISTS.items()}


def _parts() -> Iterator[str]:
    from slowhand.papers import papers

    return iter(dict.fromkeys(part for paper in papers() for part in paper.parts))


def _keys() -> Iterator[str]:
    """The keys of a scenario, each with `=`. Those of lists of tables are left out."""
    from slowhand import known

    todo = known.names() or []
    for name in todo:  # which grows
        found = known.names(name)
        todo += [f"{name}.{key}" for key in found or []]
        if not found:
            yield f"{name}="


def _changeable() -> list[str]:
    from slowhand._native import CHANGEABLE_KEYS

    return [f"{key}=" for key in CHANGEABLE_KEYS]


def _stacks() -> list[str]:
    return [*built_in_stacks(), *own_stacks()]


def _libraries() -> Iterator[str]:
    from slowhand.settings import LIBRARIES

    return iter(LIBRARIES)


def _policies() -> list[str]:
    from slowhand.capacity import policies

    return policies()


def _metrics() -> Iterator[str]:
    from slowhand.sweeps import UNITS

    return iter(UNITS)


def _baselines() -> Sequence[str]:
    from slowhand.sweeps import BASELINES

    return BASELINES


def _kinds() -> Sequence[str]:
    from slowhand.api import KINDS

    return KINDS


def _macs() -> Iterator[str]:
    from slowhand.advice.forms import macs

    return iter(macs())


def _credentials() -> Iterator[str]:
    from slowhand.advice.forms import SERVERS

    return iter(SERVERS)


def _session_uses() -> Sequence[str]:
    from slowhand.lives.alternatives import SESSIONS

    return SESSIONS


LISTS: dict[str, Callable[[], Iterator[str] | Sequence[str]]] = {
    "SCENARIO": lambda: list(data.files(data.SCENARIOS)),
    "DEVICE": lambda: list(data.files(data.DEVICES)),
    "BATTERY": lambda: list(data.files(data.BATTERIES)),
    "battery WHAT": _session_uses,
    "PAPER": lambda: sorted(file.parent.name for file in data.PAPERS.glob("*/reported.toml")),
    "PART": _parts,
    "KEY=VALUE": _keys,
    "KEY=VALUES": _keys,
    "live set KEY=VALUE": _changeable,
    "LIBRARY": _libraries,
    "POLICY": _policies,
    "METRIC": _metrics,
    "WHICH": _baselines,
    "KIND": _kinds,
    "MAC": _macs,
    "CREDENTIAL": _credentials,
    "SHELL": lambda: SHELLS,
    "STACK": _stacks,
    "OWN": own_stacks,
    "on|off": lambda: ["on", "off"],
}
"""The words that can stand for a metavar, or for that of one command."""
