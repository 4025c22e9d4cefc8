"""`slowhand links`."""

from __future__ import annotations

import argparse
from pathlib import Path

from slowhand import output
from slowhand.arguments import Complaint, Parser, number
from slowhand.commands.common import DONE, print_json
from slowhand.output import Output
from slowhand.terminal import Terminal, printable


def options(parser: Parser) -> None:
    """The options of `links`."""
    parser.add_argument(
        "file", metavar="FILE", help="A K7 file, a raw data set of Mercator, or a table."
    )
    parser.add_argument(
        "--out", metavar="TRACE", required=True, help="Write the trace to this .csv file."
    )
    parser.add_argument(
        "--root", metavar="NODE", help="The node that becomes node 0. [default: the first name]"
    )
    parser.add_argument(
        "--least-pdr",
        metavar="SHARE",
        type=number,
        default=0.0,
        help="Leave out links with a lower mean in either direction. [default: 0]",
    )
    parser.json()


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Converts a data set, and prints the section of a scenario that uses it."""
    from slowhand import links

    trace_file = Output("--out", arguments.out)
    if not arguments.out.endswith(".csv"):
        raise trace_file.error("the name must end in .csv")
    trace_file.check()
    output.check([trace_file], [arguments.file])
    file = Path(arguments.file)
    try:
        rows = links.read(file)
        trace = links.Trace(rows, root=arguments.root, least_pdr=arguments.least_pdr)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{printable(arguments.file)}: cannot be read: {reason}") from error
    except links.TraceError as error:
        place = "" if error.option else f"{printable(arguments.file)}: "
        raise Complaint(f"{place}{error}") from error
    trace_file.write(lambda path: path.write_text(trace.csv(), encoding="utf-8"))
    if arguments.json:
        print_json(trace.about(), out)
        return DONE
    for name, node in trace.nodes.items():
        out.print(f"node {node}  {printable(name)}")
    for name in trace.left_out:
        out.print(f"left out, no path to node 0: {printable(name)}", "dim")
    out.print(
        f"{len(trace.rows):,} measurements of {len(trace.links):,} links. For a scenario:", "dim"
    )
    out.print()
    out.write(trace.network(Path(arguments.out).name))
    return DONE
