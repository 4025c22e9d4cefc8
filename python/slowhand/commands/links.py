"""`slowhand links`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import output
from slowhand.arguments import Complaint, Parser, number
from slowhand.commands.common import DONE, print_json
from slowhand.commands.options import File, given_files
from slowhand.terminal import Terminal, printable

if TYPE_CHECKING:
    from slowhand.api import Scenario

ABOUT = "Convert measurements of real links into a scenario, or into ratios over time."
EXAMPLE = "sniffed.pcapng --scenario mine.toml"


def options(parser: Parser) -> None:
    """The options of `links`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="+",
        help="A data set (K7, Mercator, a table), a capture of a sniffer (pcap, pcapng), or what"
        " the console of OpenThread or Contiki-NG has printed; several are of several nodes.",
    )
    parser.add_argument("--out", metavar="TRACE", help=FILES["out"].about)
    parser.add_argument("--scenario", metavar="SCENARIO", help=FILES["scenario"].about)
    parser.add_argument(
        "--like",
        metavar="SCENARIO",
        help="All but the network of --scenario is that of this scenario. [default: by the kind of"
        " FILE, thread or csma]",
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


FILES = {
    "out": File("Write the trace to this .csv file.", (".csv",)),
    "scenario": File("Write a whole scenario to this .toml file.", (".toml",)),
}
"""The files that `links` can write."""


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Converts measurements of links, and prints the section of a scenario that uses them."""
    from slowhand import api, links

    if arguments.like and not arguments.scenario:
        raise Complaint("--like: allowed with --scenario alone")
    files = given_files(arguments, FILES)
    output.check(files.values(), arguments.file)
    try:
        found = links.read([Path(file) for file in arguments.file])
        trace = links.Trace(found.rows, root=arguments.root, least_pdr=arguments.least_pdr)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{printable(str(error.filename))}: cannot be read: {reason}") from error
    except links.TraceError as error:
        file_name = error.filename or arguments.file[0]
        place = "" if error.option else f"{printable(str(file_name))}: "
        raise Complaint(f"{place}{error}") from error
    trace_name = _trace_name(arguments.out, arguments.scenario) if arguments.out else None
    if "scenario" in files:
        like = api.loaded(arguments.like or found.like)
        text = links.scenario(
            trace,
            like.files[like.file],
            about=f"Links of {', '.join(arguments.file)}, converted by slowhand links.",
            trace_file=trace_name,
        )
        name = Path(arguments.scenario).name
        texts = {**like.files, name: text, **({trace_name: trace.csv()} if trace_name else {})}
        sources = {"scenario": name, "files": texts, "overrides": like.overrides}
        # A message, if it cannot run.
        made = api.Scenario.from_sources(arguments.scenario, sources)
        if missing := _missing(made, {name, trace_name or name}):
            raise files["scenario"].error(
                f"it would need files of {printable(like.path)} (--like); copy them into its folder"
                f" before: {printable(', '.join(missing), 200)}"
            )
        files["scenario"].write(lambda path: path.write_text(text, encoding="utf-8"))
    if "out" in files:
        files["out"].write(lambda path: path.write_text(trace.csv(), encoding="utf-8"))
    if arguments.json:
        print_json({**trace.about(), "notes": found.notes}, out)
        return DONE
    for name, node in trace.nodes.items():
        out.print(f"node {node}  {printable(name)}")
    for name in trace.left_out:
        out.print(f"left out, no path to node 0: {printable(name)}", "dim")
    for note in found.notes:
        out.print(printable(note, 200), "dim")
    out.print(
        f"{len(trace.rows):,} measurements of {len(trace.links):,} links. For a scenario:", "dim"
    )
    out.print()
    out.write(trace.network(trace_name))
    return DONE


def _trace_name(trace: str, scenario: str | None) -> str:
    """The name of the trace in the scenario: files are relative to its folder."""
    if scenario is None:
        return Path(trace).name
    to, start = (Path(file).parent.resolve() for file in (trace, scenario))
    return str(Path(os.path.relpath(to, start)) / Path(trace).name)


def _missing(made: Scenario, own: set[str]) -> list[str]:
    """The files that a scenario needs, but for its `own`, and that are not where it looks."""
    folder = Path(made.path).parent

    def is_there(name: str) -> bool:
        try:
            return (folder / name).read_bytes() == made.files[name].encode()
        except (OSError, ValueError):
            return False

    return [name for name in sorted(made.files) if name not in own and not is_there(name)]
