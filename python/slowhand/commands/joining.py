"""`slowhand join`."""

from __future__ import annotations

import argparse

from slowhand.arguments import Parser
from slowhand.commands import worlds
from slowhand.commands.common import NO
from slowhand.commands.options import PCAP, TABLE, rows, take, take_files
from slowhand.terminal import Terminal

ABOUT = "Say how long the nodes of a 6TiSCH network take to join it, phase by phase."
EXAMPLE = "join --set network.profile=rfc --count 50"


def options(parser: Parser) -> None:
    """The options of `join`."""
    from slowhand.joining import COUNT

    worlds.options(parser, COUNT)
    take(parser, "--threads")
    example = "join.beacon_probability=0.3"
    take(parser, "--set", f"Replace a key, as in {example}; KEY= alone removes it.")
    take_files(parser, FILES)


FILES = {"records": rows("node", TABLE), "pcap": PCAP}
"""The files that `join` can write."""


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lets networks form."""
    from slowhand import _native, joining

    scenario, files = worlds.begin(arguments, FILES)
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
