"""`slowhand live`: a network against the clock of this computer, for real programs."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowhand import output, signals
from slowhand.arguments import Complaint, Parser, integer, number, wrong_value
from slowhand.bounds import wrong
from slowhand.commands.common import (
    DONE,
    NO,
    complaining,
    inputs,
    is_written,
    loaded,
    show_wireshark,
)
from slowhand.commands.options import SCENARIO_ALONE, File, given_files, rows, take, take_files
from slowhand.output import Output
from slowhand.results import RECORDING
from slowhand.terminal import WIDTH, Terminal, is_drawable, printable, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slowhand.realtime import Live
    from slowhand.realtime.screen import Screen

ABOUT = "Run a network against the clock, for real programs at one end or at both."
EXAMPLE = "lossy-line --udp 5684=127.0.0.1:5685"


PICTURE_EVERY_S = 0.25
"""The time between two status lines or dashboards. Assumed: nobody reads faster."""


def options(parser: Parser) -> None:
    """The options of `live`."""
    take(parser, "scenario", SCENARIO_ALONE)
    ways = parser.group("ways in", TOGETHER)
    for name, what in WAYS.items():
        several = name in ("udp", "tcp")
        ways(
            f"--{name}",
            metavar=METAVARS.get(name, "NAME"),
            action="append" if several else "store",
            default=[] if several else None,
            help=what,
        )
    take(parser, "--seed", "The seed of its random numbers.", told=1)
    take(parser, "--set")
    parser.add_argument(
        "--speed",
        metavar="X",
        type=number,
        default=1.0,
        help="Seconds of the network in a second of the clock. [default: 1]",
    )
    parser.add_argument(
        "--duration", metavar="S", type=positive, help="End after S seconds of the clock."
    )
    parser.add_argument(
        "--handshakes", metavar="N", type=integer(1), help="End when N handshakes are complete."
    )
    socket = "The socket for `slowhand live set`, `node` and `status`."
    take(parser, "--control", socket, told="one of its own")
    parser.add_argument(
        "--credentials",
        metavar="FOLDER",
        help="Write the keys and certificates of both ends into this folder, for programs.",
    )
    take_files(parser, FILES)
    parser.add_argument(
        "--watch", action="store_true", help="Draw nodes, links and sessions meanwhile; q ends it."
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="Serve a page that draws it, for browsers on this computer; nodes and links can be"
        " switched there.",
    )
    take(parser, "--open", "With --page: show it in the browser.")
    parser.add_argument(
        "--json", action="store_true", help="Print each event as a line of JSON, nothing else."
    )
    parser.epilog = f"{WHILE_IT_RUNS} {parser.epilog}"


WAYS = {
    "udp": "Let clients send datagrams to LISTEN (a port, or ADDRESS:PORT; 0 or none: a free port),"
    " across the network, to the program at SERVER. May be given again.",
    "tcp": "The same for connections of TCP.",
    "server": "Let the scenario's clients open sessions with the program at this address.",
    "listen": "Let programs open sessions at this address with the scenario's server.",
    "device-netns": "Make an interface for the devices in this network namespace (name or path).",
    "device-tun": "Use this TUN interface, which exists, for the devices.",
    "internet-netns": "Make an interface for the Internet in this network namespace.",
    "internet-tun": "Use this TUN interface, which exists, for the Internet.",
}
"""The ways in. Without one, both ends are emulated."""

TOGETHER = (
    "One of: --udp and --tcp, each as often as you like; --server; --listen; an interface for the"
    " devices, for the Internet, or for both. None: both ends are emulated."
)
"""Which ways in go together."""

WHILE_IT_RUNS = (
    "Another terminal changes it and asks it: `slowhand live set network.link_pdr=0.7`,"
    " `slowhand live node 2 off`, `slowhand live status`; each has a --help."
)
"""The words of the help on the commands beside."""

METAVARS = {
    "udp": "[LISTEN=]SERVER",
    "tcp": "[LISTEN=]SERVER",
    "server": "ADDRESS",
    "listen": "ADDRESS",
}

COMPUTED = {
    "client": ("compute_client_s", "energy_client_cpu_mj", "energy_client_tpm_mj"),
    "server": ("compute_server_s",),
}
"""The columns that are unknown of an end that is a program: it computes itself."""

MOST_CHANGES = 20
"""The most changes that the report lists. Assumed: more than one person types."""

FILES = {
    "records": rows("session"),
    "pcap": File("Write each frame, as it is sent, to this pcapng file or FIFO."),
    "record": File(
        "Write what comes into the network to this .slowhand file: `slowhand run FILE` gives its"
        " part again, in virtual time.",
        (RECORDING,),
    ),
}
"""The files that `live` can write."""


def positive(text: str) -> float:
    """The type of an option that is a number above 0."""
    value = number(text)
    if not 0 < value < float("inf"):
        raise wrong_value(text, "a number above 0")
    return value


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs the network until it ends, or until a signal comes."""
    from slowhand.realtime import sides, status

    if arguments.watch and arguments.json:
        raise Complaint("--watch: found --json too, allowed: one of the two")
    if arguments.watch and not is_drawable(sys.stdout):
        raise Complaint("--watch: found a stdout that cannot be drawn on, allowed: a terminal")
    if arguments.open and not arguments.page:
        raise Complaint("--open: found no --page, add --page")
    outputs = given_files(arguments, FILES)
    given = sides.sides(vars(arguments))
    network = _start(arguments, outputs, out)
    view = View(network, given, out, is_json=arguments.json)
    _warn_of_timers(network, view, arguments.speed)
    with signals.held() as came:
        view.watch(came, draws=arguments.watch, page=arguments.page, opens=arguments.open)
        with signals.held() as late:  # they cost no report
            network.close()
            for message in view.warnings():
                warn(message)
            if not arguments.json:
                _report(network, outputs, view, out)
            for message in status.warnings(network.report(), arguments.speed):
                warn(message)
    written = "records" not in outputs or is_written(
        outputs["records"],
        lambda path: path.write_bytes(network.encoded()),
        private=network.scenario.holds_keys,
    )
    if code := signals.exit_code(*came, *late):
        return code
    return DONE if written and view.is_captured and _is_good(network) else NO


class View:
    """The picture of a network that a user sees while it runs."""

    def __init__(self, network: Live, given: Mapping[str, str], out: Terminal, *, is_json: bool):
        from slowhand.progress import Line

        self.time_s = 0.0
        """The time of the last event."""
        self.is_captured = True
        """False if the capture is not complete."""
        self.changes: list[str] = []
        """The changes, and when they came."""
        self.end = ""
        """Why it ended."""
        self._network = network
        self._given = given
        self._warned: Counter[str] = Counter()
        self._waiting: list[str] = []  # what is said when the dashboard is gone
        self._out = out
        self._is_json = is_json
        self._line = Line(PICTURE_EVERY_S)
        self._screen: Screen | None = None
        self._places: list[str] = []
        self._stack = ExitStack()
        self._has_page = self._opens = False
        self._latest = ""

    def watch(
        self, came: Sequence[object], *, draws: bool, page: bool = False, opens: bool = False
    ) -> None:
        """Follows the network to its end, which a signal that `came` brings about."""
        self._has_page, self._opens = page, opens
        with self._stack as stack:
            stack.enter_context(self._line)
            if draws:
                from slowhand.realtime.screen import Screen

                self._screen = stack.enter_context(Screen(self._out, PICTURE_EVERY_S))
            self._network.watch(partial(self._update, came))

    def warn(self, message: str) -> None:
        """Says a warning, when there is room for it. One that comes again is counted."""
        self._warned[message] += 1
        if self._warned[message] > 1:
            return
        if self._screen:
            self._waiting.append(message)
        else:
            self._line.clear()
            warn(message)

    def warnings(self) -> Iterator[str]:
        """The warnings that are said at the end."""
        yield from self._waiting
        for message, count in self._warned.items():
            if count > 1:
                yield f"{count - 1:,} times more: {message}"

    def _tell(self, event: Mapping[str, Any]) -> None:
        """Says what has happened."""
        from slowhand.realtime import sides, status

        if self._is_json:
            if event["event"] == "started" and self._has_page:
                event = {**event, "page": self._serve(Path(event["control"]))}
            self._out.print(json.dumps(event, allow_nan=False))
        elif event["event"] == "started":
            self._places = [_place(each) for each in event["addresses"]]
            self._places += sides.places(self._given, _nodes(self._network))
            if self._has_page:
                self._places.append(f"page {self._serve(Path(event['control']))}")
            if not self._screen:
                for place in self._places:
                    self._out.print(place)
                self._out.print(f"control socket: {event['control']}; Ctrl-C ends it", "dim")
        if event["event"] == "warning":
            self.warn(event["message"])
            self.is_captured &= not event["ends_capture"]
        elif event["event"] == "late" and not self._screen:  # its last line says so
            self._line.clear()
            warn(f"{status.stood_still(event)}, at {event['time_s']:.1f} s")
        elif event["event"] == "changed":
            self.changes.append(f"at {event['time_s']:.1f} s: {event['change']}")
        elif event["event"] == "ended":
            self.end = event["reason"]
        self.time_s = event.get("time_s", 0.0)
        self._latest = status.told(event) or self._latest

    def _serve(self, path: Path) -> str:
        """Serves the page of the network with this control socket. Returns its address."""
        from slowhand.realtime.page import Page

        changes = self._network.scenario.value("network.changes") or []
        page = self._stack.enter_context(Page(path, changes=changes))
        if self._opens and not webbrowser.open(page.entrance()):
            self.warn("--open: no browser is found; open the page yourself")
        return page.address

    def _update(self, came: Sequence[object], event: Mapping[str, Any] | None) -> None:
        from slowhand.realtime import status

        if event:
            self._tell(event)
        if came or self._out.failure or (self._screen and "q" in self._screen.pressed()):
            self._network.stop()
        due = self._screen.is_due() if self._screen else self._line.is_due()
        snapshot = self._network.status() if due else None
        if snapshot and self._screen:
            self._draw(snapshot, self._screen)
        elif snapshot:
            self._line.show(status.line(snapshot, WIDTH - len("slowhand: ")))

    def _draw(self, snapshot: Mapping[str, Any], screen: Screen) -> None:
        from slowhand.realtime.dashboard import framed, glyphs, picture

        title = f"slowhand live: {printable(Path(self._network.scenario.path).stem)}"
        size = screen.size()
        rows = picture(snapshot, title, self._places, size, glyphs(self._out))
        screen.draw(framed(rows, self._latest, size))


def _nodes(network: Live) -> int:
    """The number of nodes; 0 if the network has ended."""
    snapshot = network.status()
    return len(snapshot["nodes"]) if snapshot else 0


def _place(address: Mapping[str, Any]) -> str:
    """Where programs reach the network, and where it reaches them."""
    text = f"{address['way']} {address['listen']}" if address.get("listen") else address["way"]
    return f"{text} to {address['server']}" if address.get("server") else text


def _start(arguments: argparse.Namespace, outputs: Mapping[str, Output], out: Terminal) -> Live:
    """The network, which runs."""
    from slowhand.realtime import TwoWaysError, control, live

    scenario = loaded(arguments.scenario, arguments.set)
    output.check(outputs.values(), inputs(scenario))
    if arguments.credentials is not None:
        output.check_folder("--credentials", arguments.credentials)
        scenario.write_credentials(arguments.credentials)
    if "pcap" in outputs and not arguments.json and Path(arguments.pcap).is_fifo():
        # A FIFO: writing waits until somebody reads.
        show_wireshark(scenario, outputs["pcap"], out)
    names = [*(name.replace("-", "_") for name in WAYS), "seed", "speed", "record", "handshakes"]
    with complaining():
        try:
            return live(
                scenario,
                **{name: getattr(arguments, name) for name in names},
                capture=arguments.pcap,
                control=control.prepare(arguments.control),
                duration_s=arguments.duration,
                records=arguments.records is not None,
            )
        except TwoWaysError as error:
            other = f"--{error.other.replace('_', '-')}"
            raise wrong(error.argument, f"found {other} too, allowed: {error.allowed}") from error


def _warn_of_timers(network: Live, view: View, speed: float) -> None:
    """Warns if programs have timers that run by the clock, and the network does not."""
    has_timers = network.way == "interfaces" or (
        network.programs() and ", dtls" in network.scenario.about()["session"]
    )
    if has_timers and speed != 1:
        view.warn(
            f"--speed {speed:g}: the timers of programs run by the clock. A timeout of 1 s lasts"
            f" {speed:g} s of the network; use --speed 1"
        )


def without_programs(summary: dict[str, Any], programs: Sequence[str]) -> dict[str, Any]:
    """A summary without what is unknown of ends that are programs."""
    unknown = {name for end in programs for name in COMPUTED[end]}
    kept = {
        key: {name: value for name, value in summary[key].items() if name not in unknown}
        for key in ("metrics", "metrics_failed")
    }
    return {**summary, **kept}


def show_sessions(summary: dict[str, Any], over: str, out: Terminal) -> None:
    """Prints what became of the sessions. `over` is what has ended those that did not."""
    from slowhand import report

    if summary["completed"] or summary["failed"]:
        report.show_summary(summary, False, out, over=over, has_makespan=False)
    else:
        out.print("no session has ended", "bold")


def _report(network: Live, outputs: Mapping[str, Output], view: View, out: Terminal) -> None:
    """Prints what became of the sessions, and what the network was."""
    from slowhand import report
    from slowhand.realtime import status

    programs = network.programs()
    summary = without_programs(network.summary(), programs)
    over = report.GIVE_UP if view.end == "finished" else "the network ended"
    show_sessions(summary, over, out)
    if view.changes:
        out.print()
        out.print("Changed while it ran", "bold cyan")
        for change in view.changes[:MOST_CHANGES]:
            out.paragraph(change, first="  ", indent="    ")
        if len(view.changes) > MOST_CHANGES:
            out.print(f"  and {len(view.changes) - MOST_CHANGES:,} other changes")
    time = f"{status.clock(view.time_s)} of the network"
    ran = [f"{network.scenario.path}, seed {network.seed}, {time}"]
    if network.report()["lateness_ms"]["count"]:
        ran.append(status.lateness(network.report()))
    if programs and (summary["completed"] or summary["failed"]):
        ran.append(f"without what the programs compute ({', '.join(programs)})")
    has_session = network.way != "proxies"  # that of the scenario
    report.show_about(network.scenario, ran, out, has_session=has_session)
    if "pcap" in outputs and not Path(outputs["pcap"].path).is_fifo():
        show_wireshark(network.scenario, outputs["pcap"], out)


def _is_good(network: Live) -> bool:
    """True if all sessions completed that we opened; or of those of programs, at least one."""
    summary = network.summary()
    if "client" not in network.programs():
        return not summary["failed"]
    return bool(summary["completed"] or not summary["failed"])
