"""`slowhand live extcap`, which Wireshark starts."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import DONE
from slowhand.terminal import Terminal, printable

ABOUT = "Make the networks that run interfaces of Wireshark."
EXAMPLE = "--install"

LONGEST_PATH = 4096
"""The longest path that is shown whole (Linux: PATH_MAX)."""


def options(parser: Parser) -> None:
    """The options that Wireshark gives (extcap(4)), and `--install`."""
    parser.add_argument(
        "--install",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="Make Wireshark list the networks that run: write a program for it into this folder,"
        " or into those where it looks for your own.",
    )
    for option, text in (
        ("interfaces", "List the networks that run."),
        ("dlts", "Print the link type of an interface."),
        ("config", "Print the options of an interface: there are none."),
    ):
        parser.add_argument(f"--extcap-{option}", action="store_true", help=text)
    parser.add_argument("--extcap-interface", metavar="NAME", help="The interface that is meant.")
    parser.add_argument("--extcap-version", metavar="VERSION", help="That of Wireshark.")
    parser.add_argument("--capture", action="store_true", help="Capture, until the network ends.")
    parser.add_argument("--fifo", metavar="PATH", help="Where Wireshark reads what is captured.")
    parser.add_argument("--extcap-capture-filter", metavar="TEXT", help="Not used.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Answers what Wireshark asks."""
    from slowhand.realtime import extcap

    if arguments.install is not None:
        chosen = [Path(arguments.install)] if arguments.install else extcap.folders()
        for file in map(extcap.install, chosen):
            out.print(printable(str(file), LONGEST_PATH))
        out.paragraph("Wireshark lists the networks that run when it starts the next time.")
    elif arguments.extcap_interfaces:
        for line in extcap.interfaces():
            out.print(line)
    elif arguments.extcap_dlts:
        for line in extcap.link_types():
            out.print(line)
    elif arguments.capture:
        if arguments.extcap_interface is None or arguments.fifo is None:
            raise Complaint(
                "--capture: found no interface or FIFO, allowed: with --extcap-interface and --fifo"
            )
        with suppress(KeyboardInterrupt):  # so Wireshark ends a capture
            extcap.capture(arguments.extcap_interface, arguments.fifo)
    elif not arguments.extcap_config:
        raise Complaint(
            "live extcap: found no option, allowed: --install, or those that Wireshark"
            " gives; docs/reference/live.md has more"
        )
    return DONE
