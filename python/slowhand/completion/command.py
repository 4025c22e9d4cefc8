"""The commands as shells see them, read from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from slowhand import data, known
from slowhand._native import CHANGEABLE_KEYS, built_in_stacks, own_stacks
from slowhand.advice.forms import SERVERS, macs
from slowhand.api import KINDS
from slowhand.capacity import policies
from slowhand.lives.alternatives import SESSIONS
from slowhand.papers import papers
from slowhand.settings import LIBRARIES
from slowhand.sweeps import BASELINES, UNITS

if TYPE_CHECKING:
    from slowhand.commands.common import Command as Described

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


def read(described: Mapping[str, Described]) -> list[Command]:
    """Every command, in the order of the help. `described` has them by name."""
    found = []
    for name, command in described.items():
        arguments = [_argument(name, action) for action in command.parser(name).actions]
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


def _keys() -> Iterator[str]:
    """The keys of a scenario, each with `=`. Those of lists of tables are left out."""
    todo = known.names() or []
    for name in todo:  # which grows
        found = known.names(name)
        todo += [f"{name}.{key}" for key in found or []]
        if not found:
            yield f"{name}="


LISTS: dict[str, Callable[[], Iterable[str]]] = {
    "SCENARIO": lambda: data.files(data.SCENARIOS),
    "DEVICE": lambda: data.files(data.DEVICES),
    "BATTERY": lambda: data.files(data.BATTERIES),
    "battery WHAT": lambda: SESSIONS,
    "PAPER": lambda: sorted(file.parent.name for file in data.PAPERS.glob("*/reported.toml")),
    "PART": lambda: dict.fromkeys(part for paper in papers() for part in paper.parts),
    "KEY=VALUE": _keys,
    "KEY=VALUES": _keys,
    "live set KEY=VALUE": lambda: (f"{key}=" for key in CHANGEABLE_KEYS),
    "LIBRARY": lambda: LIBRARIES,
    "POLICY": policies,
    "METRIC": lambda: UNITS,
    "WHICH": lambda: BASELINES,
    "KIND": lambda: KINDS,
    "MAC": macs,
    "CREDENTIAL": lambda: SERVERS,
    "SHELL": lambda: SHELLS,
    "STACK": lambda: [*built_in_stacks(), *own_stacks()],
    "OWN": own_stacks,
    "on|off": lambda: ("on", "off"),
}
"""The words that can stand for a metavar, or for that of one command."""
