"""`slowhand oscar`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from slowhand.arguments import Parser, integer
from slowhand.commands import worlds
from slowhand.commands.options import TABLE, File, rows, take, take_files
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    from slowhand.api import Scenario
    from slowhand.reading import Comparison

ABOUT = "Compare DTLS to each reader of a node's value with objects that are signed once."
EXAMPLE = "oscar --set readers.proxy=false --readers 1,10"


def options(parser: Parser) -> None:
    """The options of `oscar`."""
    from slowhand.reading import COUNT, READERS, WAYS

    worlds.options(
        parser, COUNT, "How many worlds for each number of readers and way, one for each seed."
    )
    numbers = ",".join(map(str, READERS))
    parser.add_argument(
        "--readers",
        metavar="N,N",
        type=_numbers,
        help=f"The numbers of readers, with commas between them. [default: {numbers}]",
    )
    take(parser, "--threads")
    take(parser, "--set", "Replace a key, as in readers.max_age_s=600; KEY= alone removes it.")
    take_files(parser, FILES)
    parser.add_argument(
        "--way",
        choices=tuple(WAYS),
        default="oscar",
        help="The way whose frames --pcap writes. [default: oscar]",
    )


FILES = {
    "records": rows("world", TABLE),
    "pcap": File(
        "Write the frames of one world to this pcapng file: the first seed, the smallest number of"
        " readers."
    ),
}
"""The files that `oscar` can write."""


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Compares both ways."""
    from slowhand import _native, reading

    scenario, files = worlds.begin(arguments, FILES)
    compared = _compared(scenario, arguments)
    way, readers, seed = arguments.way, min(compared.readers), arguments.seed
    return worlds.tell(
        compared,
        "readers",
        lambda out: reading.show(compared, out),
        lambda path: _native.capture_readers(scenario.native, way, readers, seed, path),
        files,
        as_json=arguments.json,
        out=out,
    )


def _compared(scenario: Scenario, arguments: argparse.Namespace) -> Comparison:
    from slowhand.progress import Progress
    from slowhand.reading import Comparison

    with Progress(0, "numbers of readers") as progress:
        return Comparison(
            scenario,
            arguments.readers,
            arguments.count,
            arguments.seed,
            arguments.threads,
            lambda done, total: progress.update(done, total=total),
        )


def _numbers(text: str) -> tuple[int, ...]:
    """The type of `--readers`."""
    number = integer(1, 1_000)
    return tuple(sorted({number(part) for part in text.split(",")}))
