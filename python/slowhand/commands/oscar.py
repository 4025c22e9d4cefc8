"""`slowhand oscar`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import signals
from slowhand.arguments import Complaint, Parser, integer
from slowhand.commands.common import (
    DONE,
    NO,
    inputs,
    is_written,
    loaded,
    print_json,
    set_option,
    show_wireshark,
    threads_option,
    wireshark,
)
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    from slowhand.api import Scenario
    from slowhand.reading import Comparison


def options(parser: Parser) -> None:
    """The options of `oscar`."""
    from slowhand.api import SEED
    from slowhand.reading import COUNT, READERS, WAYS

    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="A .toml file, or a name that `slowhand scenarios` lists.",
    )
    numbers = ",".join(map(str, READERS))
    parser.add_argument(
        "--readers",
        metavar="N,N",
        type=_numbers,
        help=f"The numbers of readers, with commas between them. [default: {numbers}]",
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=integer(1),
        default=COUNT,
        help="How many worlds for each number of readers and way, one for each seed. "
        f"[default: {COUNT}]",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=integer(0),
        default=SEED,
        help=f"The first seed. [default: {SEED}]",
    )
    threads_option(parser, "records do")
    set_option(parser, "Replace a key, as in readers.max_age_s=600; KEY= alone removes it.")
    parser.add_argument(
        "--records",
        metavar="FILE",
        help="Write one row for each world to this .parquet or .csv file.",
    )
    parser.add_argument(
        "--pcap",
        metavar="FILE",
        help="Write the frames of one world to this pcapng file: the first seed, the smallest "
        "number of readers.",
    )
    parser.add_argument(
        "--way",
        choices=tuple(WAYS),
        default="oscar",
        help="The way whose frames --pcap writes. [default: oscar]",
    )
    parser.json()


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Compares both ways."""
    from slowhand import _native, output, reading, results
    from slowhand.bounds import MAX_SEED

    scenario = loaded(arguments.scenario, arguments.set)
    if arguments.seed + arguments.count - 1 > MAX_SEED:
        given = f"--seed {arguments.seed} --count {arguments.count}"
        raise Complaint(f"{given}: the last seed must be at most {MAX_SEED}")
    paths = {"--records": arguments.records, "--pcap": arguments.pcap}
    files = {option: output.Output(option, path) for option, path in paths.items() if path}
    records, capture = files.get("--records"), files.get("--pcap")
    if records and Path(records.path).suffix not in (".parquet", ".csv"):
        raise records.error("the name must end in .parquet or .csv")
    for file in files.values():
        file.check()
    output.check(files.values(), inputs(scenario))
    if records:
        results.import_polars()
    compared = _compared(scenario, arguments)
    with signals.held() as late:  # they cost no report
        if arguments.json:
            extra = {"wireshark": wireshark(scenario, capture)} if capture else {}
            print_json({**compared.document(), **extra}, out)
        else:
            reading.show(compared, out)
    stopped = compared.stopped or next(iter(late), None)
    written = True
    if records:
        csv = records.path.endswith(".csv")
        about = {"readers": True, "scenario": scenario.path, "overrides": scenario.overrides}
        octets = results.encoded(compared.frame(), about, csv=csv)
        written &= is_written(records, lambda path: path.write_bytes(octets), private=False)
    if capture and not stopped:
        native, way, seed = scenario.native, arguments.way, arguments.seed
        readers = min(compared.readers)
        captured = is_written(
            capture,
            lambda path: _native.capture_readers(native, way, readers, seed, path),
            private=True,
        )
        written &= captured
        if captured and not arguments.json:
            show_wireshark(scenario, capture, out)
    if stopped is not None:
        if not isinstance(stopped, KeyboardInterrupt):
            raise stopped
        return signals.exit_code(stopped)
    return DONE if written else NO


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
