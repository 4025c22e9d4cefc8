"""`slowhand live set`, `node`, `status` and `metrics`: a network that runs is changed, or asked."""

from __future__ import annotations

import argparse
import ipaddress
from typing import TYPE_CHECKING, Any

from slowhand._native import CHANGEABLE_KEYS
from slowhand.arguments import Complaint, Parser, integer
from slowhand.commands.common import DONE, print_json
from slowhand.commands.options import take
from slowhand.terminal import Terminal, printable

if TYPE_CHECKING:
    from slowhand.realtime.metrics import Server

MAX_NODE = 2**16 - 1
"""The largest number of a node."""

LONGEST_DONE = 400
"""The most characters of what was done that are repeated."""


def set_options(parser: Parser) -> None:
    """The options of `live set`."""
    parser.add_argument(
        "changes",
        metavar="KEY=VALUE",
        nargs="+",
        help=f"A key of the scenario that can change meanwhile: {', '.join(CHANGEABLE_KEYS)}.",
    )
    status_options(parser)


def node_options(parser: Parser) -> None:
    """The options of `live node`."""
    parser.add_argument("node", metavar="N", type=integer(0, MAX_NODE), help="Its number.")
    parser.add_argument("state", metavar="on|off", help="Whether it has power.")
    status_options(parser)


def metrics_options(parser: Parser) -> None:
    """The options of `live metrics`."""
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help="Do not print them, but answer Prometheus at this port, until Ctrl-C.",
    )
    status_options(parser)


def status_options(parser: Parser) -> None:
    """The option of `live status`, and of all others."""
    take(parser, "--control", "The socket of the network.", told="that of the only one that runs")


def set_keys(arguments: argparse.Namespace, out: Terminal) -> int:
    """Changes keys, one after the other."""
    for change in arguments.changes:
        if "=" not in change:
            raise Complaint(f"KEY=VALUE: found {printable(change)}, allowed: key=value")
    requests: list[dict[str, Any]] = [{"set": change} for change in arguments.changes]
    return _answered(arguments, requests, f"changed: {', '.join(arguments.changes)}", out)


def switch_node(arguments: argparse.Namespace, out: Terminal) -> int:
    """Switches a node off or on."""
    if arguments.state not in ("on", "off"):
        raise Complaint(f"node: found '{printable(arguments.state)}', allowed: on or off")
    request = {"node": arguments.node, "on": arguments.state == "on"}
    return _answered(arguments, [request], f"node {arguments.node} is {arguments.state}", out)


def show_status(arguments: argparse.Namespace, out: Terminal) -> int:
    """Prints what a network says of itself."""
    from slowhand.realtime import dashboard

    snapshot = _ask(arguments, [{"status": True}])[0]
    if arguments.json:
        print_json(snapshot, out)
    else:
        size = dashboard.Size(out.width, dashboard.ENDLESS)
        for row in dashboard.picture(snapshot, "slowhand live", [], size, dashboard.glyphs(out)):
            out.print("".join(out.style(text, style) for text, style in row).rstrip())
    return DONE


def show_metrics(arguments: argparse.Namespace, out: Terminal) -> int:
    """Prints metrics of a network for Prometheus, or answers it."""
    from slowhand.realtime import metrics
    from slowhand.realtime.places import Address

    if arguments.listen is None:
        out.write(metrics.text(_ask(arguments, [{"status": True}])[0]))
        return DONE
    with _server(arguments) as server:
        host, port = server.server_address[:2]
        place = Address(str(host), int(port))
        out.print(f"http://{place}{metrics.PATH}; Ctrl-C ends it")
        server.serve_forever()
    return DONE


def _server(arguments: argparse.Namespace) -> Server:
    from slowhand.realtime import metrics
    from slowhand.realtime.places import address

    try:
        place = address(arguments.listen, least=0)
        if not ipaddress.ip_address(place.host).is_loopback:
            raise ValueError(f"found {place.host}, allowed: an address of this computer's loopback")
        return metrics.Server(place, arguments.control)
    except ValueError as error:
        raise Complaint(f"--listen: {error}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"--listen {printable(arguments.listen)}: {reason}") from error


def _answered(
    arguments: argparse.Namespace, requests: list[dict[str, Any]], done: str, out: Terminal
) -> int:
    """Sends requests that are answered by yes, or by an error; what is `done` then."""
    answers = _ask(arguments, requests)
    if arguments.json:
        print_json(answers[-1], out)
    else:
        out.paragraph(printable(done, LONGEST_DONE))
    return DONE


def _ask(arguments: argparse.Namespace, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    from slowhand.realtime import control

    path = control.find(arguments.control)
    return [control.ask(path, request) for request in requests]
