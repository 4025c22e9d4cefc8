"""`slowhand join`."""

from __future__ import annotations

import argparse
from pathlib import Path

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


def options(parser: Parser) -> None:
    """The options of `join`."""
    from slowhand.api import SEED
    from slowhand.joining import COUNT

    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="A .toml file, or a name that `slowhand scenarios` lists.",
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=integer(1),
        default=COUNT,
        help=f"How many worlds, one for each seed. [default: {COUNT}]",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=integer(0),
        default=SEED,
        help=f"The first seed. [default: {SEED}]",
    )
    threads_option(parser, "records do")
    set_option(parser, "Replace a key, as in join.beacon_probability=0.3; KEY= alone removes it.")
    parser.add_argument(
        "--records",
        metavar="FILE",
        help="Write one row for each node to this .parquet or .csv file.",
    )
    parser.add_argument(
        "--pcap", metavar="FILE", help="Write the first seed's frames to this pcapng file."
    )
    parser.json()


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lets networks form."""
    from slowhand import _native, joining, output, results
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
    formed = joining.Formation(scenario, arguments.count, arguments.seed, arguments.threads)
    with signals.held() as late:  # they cost no report
        if arguments.json:
            extra = {"wireshark": wireshark(scenario, capture)} if capture else {}
            print_json({**formed.document(), **extra}, out)
        else:
            joining.show(formed, out)
    stopped = formed.stopped or next(iter(late), None)
    written = True
    if records:
        csv = records.path.endswith(".csv")
        about = {"joining": True, "scenario": scenario.path, "overrides": scenario.overrides}
        octets = results.encoded(formed.frame(), about, csv=csv)
        written &= is_written(records, lambda path: path.write_bytes(octets), private=False)
    if capture and not stopped:
        native, seed = scenario.native, arguments.seed
        captured = is_written(
            capture, lambda path: _native.capture_join(native, seed, path), private=True
        )
        written &= captured
        if captured and not arguments.json:
            show_wireshark(scenario, capture, out)
    if stopped is not None:
        if not isinstance(stopped, KeyboardInterrupt):
            raise stopped
        return signals.exit_code(stopped)
    return DONE if written and not formed.missing() else NO
