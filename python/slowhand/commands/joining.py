"""`slowhand join`."""

from __future__ import annotations

import argparse

from slowhand.arguments import Parser
from slowhand.commands import worlds
from slowhand.commands.common import (
    NO,
    TABLE,
    check_seeds,
    inputs,
    loaded,
    output_files,
    set_option,
    threads_option,
)
from slowhand.terminal import Terminal


def options(parser: Parser) -> None:
    """The options of `join`."""
    from slowhand.joining import COUNT

    worlds.options(parser, COUNT)
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

    scenario = loaded(arguments.scenario, arguments.set)
    check_seeds(arguments.seed, arguments.count)
    files = output_files(arguments, {"records": TABLE, "pcap": ()})
    output.check(files.values(), inputs(scenario))
    if "records" in files:
        results.import_polars()
    formed = joining.Formation(scenario, arguments.count, arguments.seed, arguments.threads)
    code = worlds.tell(
        formed,
        "joining",
        lambda out: joining.show(formed, out),
        lambda path: _native.capture_join(scenario.native, arguments.seed, path),
        files,
        as_json=arguments.json,
        out=out,
    )
    return code or (NO if formed.missing() else code)
