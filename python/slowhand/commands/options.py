"""The options that several commands have, each defined once, and the files that commands write."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from slowhand._native import MAX_THREADS
from slowhand.arguments import Parser, integer, period
from slowhand.output import Output

OPTIONS: dict[str, dict[str, Any]] = {
    "scenario": {
        "metavar": "SCENARIO",
        "help": "A .toml file, a name that `slowhand scenarios` lists, or a result.",
    },
    "--count": {
        "metavar": "N",
        "type": integer(1),
        "help": "How many worlds, one for each seed.",
    },
    "--seed": {"metavar": "N", "type": integer(0), "help": "The first seed."},
    "--threads": {
        "metavar": "N",
        "type": integer(1, MAX_THREADS),
        "help": "Threads; the records do not depend on it.",
        "told": "all processors",
    },
    "--set": {
        "metavar": "KEY=VALUE",
        "action": "append",
        "default": [],
        "help": "Replace a key, as in network.link_pdr=0.9; KEY= alone removes it.",
    },
    "--period": {
        "metavar": "TIME",
        "type": period,
        "help": "A request so often, such as 10min or 1h: application.pattern and period_s.",
    },
    "--client": {"metavar": "NODE", "type": integer(0), "told": "the first client"},
    "--battery": {"metavar": "BATTERY"},
    "--device": {"metavar": "DEVICE"},
    "--control": {"metavar": "PATH"},
    "--out": {"metavar": "FOLDER"},
    "--plot": {"metavar": "FILE"},
    "--explain": {"action": "store_true"},
    "--slowest": {"action": "store_true"},
    "--open": {"action": "store_true"},
}
"""The arguments of argparse for each, and its default in words (`told`)."""

SCENARIO_ALONE = "A .toml file, or a name that `slowhand scenarios` lists."
"""The help of a scenario where a result is none."""


def take(
    parser: Parser, name: str, about: str | None = None, *, told: object = None, **changes: Any
) -> None:
    """Adds an option of the table, with what `changes`.

    The help ends with the default: in the words that are `told`, or as it is.
    """
    option = {**OPTIONS[name], **changes}
    words = option.pop("told", changes.get("default"))
    words = words if told is None else told
    about = option.get("help", "") if about is None else about
    option["help"] = about if words is None else f"{about} [default: {words}]".strip()
    parser.add_argument(name, **option)


class File(NamedTuple):
    """A file that a command can write."""

    about: str
    suffixes: tuple[str, ...] = ()
    """The ends that its name may have; nothing if any name will do."""


TABLE = (".parquet", ".csv")
"""The names of files with a table."""

PCAP = File("Write the first seed's frames to this pcapng file.")


def rows(of: str, suffixes: tuple[str, ...] = (".parquet",)) -> File:
    """A file with rows, one for each `of`."""
    return File(f"Write one row for each {of} to this {' or '.join(suffixes)} file.", suffixes)


def take_files(parser: Parser, files: Mapping[str, File]) -> None:
    """Adds an option for each file that a command can write."""
    for name, file in files.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=file.about)


def given_files(arguments: argparse.Namespace, files: Mapping[str, File]) -> dict[str, Output]:
    """The files to write, by the names of their options. Each can probably be written."""
    given = {name: getattr(arguments, name) for name in files}
    found = {name: Output(f"--{name}", path) for name, path in given.items() if path is not None}
    for name, output in found.items():
        suffixes = files[name].suffixes
        if suffixes and Path(output.path).suffix not in suffixes:
            raise output.error(f"the name must end in {' or '.join(suffixes)}")
    for output in found.values():
        output.check()
    return found
