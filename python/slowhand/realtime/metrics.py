"""A network that runs, in the text format of Prometheus, and a server for it on this computer.

https://prometheus.io/docs/instrumenting/exposition_formats/, "Text-based format".
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from slowhand._native import __version__
from slowhand.realtime import control
from slowhand.realtime.places import Address
from slowhand.realtime.status import Snapshot

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

PATH = "/metrics"
"""Where Prometheus asks, if it is not told otherwise."""

PATIENCE_S = 10
"""The time that a client may take to ask. Assumed."""

Labels = Mapping[str, Any]


class Metric(NamedTuple):
    """A metric with its values by labels."""

    name: str
    kind: str
    help: str
    values: Sequence[tuple[Labels, float]]


def text(snapshot: Snapshot | None) -> str:
    """The text that Prometheus reads of a network; that it is down, if there is none."""
    found = [_one("up", "gauge", "1 if the network runs and answers", snapshot is not None)]
    if snapshot is not None:
        found += _network(snapshot)
        found += _nodes(snapshot)
        found += _links(snapshot)
    return "".join(line for metric in found for line in _lines(metric))


def _network(snapshot: Snapshot) -> Iterator[Metric]:
    sessions, datagrams = snapshot["sessions"], snapshot["datagrams"]
    late = snapshot["lateness_ms"]
    yield _one("time_seconds", "gauge", "The time of the network", snapshot["time_s"])
    yield _one("speed", "gauge", "Seconds of the network in one of the clock", snapshot["speed"])
    yield _one("sessions_open", "gauge", "Sessions under way", sessions["open"])
    yield _one("sessions_established", "gauge", "Of these: secure", sessions["established"])
    ended = [({"outcome": name}, sessions[name]) for name in ("completed", "failed", "refused")]
    yield Metric("sessions_total", "counter", "Sessions by what became of them", ended)
    yield _one("datagrams_sent_total", "counter", "Datagrams sent", datagrams["sent"])
    yield _one("datagrams_delivered_total", "counter", "Datagrams received", datagrams["delivered"])
    yield _one("datagrams_waiting", "gauge", "Datagrams on their way", datagrams["waiting"])
    lost = [({"reason": reason}, count) for reason, count in datagrams["lost"].items()]
    yield Metric("datagrams_lost_total", "counter", "Datagrams lost, by why", lost)
    yield _one("frames_total", "counter", "Frames on the air", snapshot["frames"])
    yield _one("frame_bytes_total", "counter", "Octets of these", snapshot["bytes_phy"])
    quantiles = [({"quantile": q}, late[p] / 1000) for q, p in (("0.5", "p50"), ("0.99", "p99"))]
    yield Metric("lateness_seconds", "gauge", "How late events were by the clock", quantiles)
    yield _one("lateness_max_seconds", "gauge", "The latest event", late["max"] / 1000)
    yield _one("events_total", "counter", "Events of the network", late["count"])


def _nodes(snapshot: Snapshot) -> Iterator[Metric]:
    for key, name, kind, about in (
        ("on", "node_up", "gauge", "1 if the node has power"),
        ("queued", "node_queue_frames", "gauge", "Frames in the queue of the node"),
        ("reassembly_bytes", "node_reassembly_bytes", "gauge", "Octets that wait for fragments"),
        ("sessions", "node_sessions", "gauge", "Sessions of the node under way"),
    ):
        values = [({"node": node["node"]}, node[key]) for node in snapshot["nodes"]]
        yield Metric(name, kind, about, values)


def _links(snapshot: Snapshot) -> Iterator[Metric]:
    for key, about in (
        ("frames", "Frames sent over the link"),
        ("received", "Of these: received"),
    ):
        values = []
        for link in snapshot["links"]:
            to = "all" if link["to"] is None else link["to"]
            values.append(({"from": link["from"], "to": to}, link[key]))
        yield Metric(f"link_{key}_total", "counter", about, values)


def _one(name: str, kind: str, about: str, value: float) -> Metric:
    return Metric(name, kind, about, [({}, value)])


def _lines(metric: Metric) -> Iterator[str]:
    if not metric.values:
        return
    name = f"slowhand_{metric.name}"
    yield f"# HELP {name} {metric.help}\n# TYPE {name} {metric.kind}\n"
    for labels, value in metric.values:
        pairs = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
        yield f"{name}{f'{{{pairs}}}' if pairs else ''} {float(value):.12g}\n"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def scraped(path: str | None) -> str:
    """The text for the network with this control socket, or for the only one that runs."""
    try:
        return text(control.ask(control.find(path), {"status": True}))
    except control.ControlError:
        return text(None)


class Server(ThreadingHTTPServer):
    """Answers Prometheus at an address of this computer's loopback interface."""

    daemon_threads = True

    def __init__(self, address: Address, path: str | None):
        self.path = path
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__((address.host, address.port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes before it has its answer is nobody's fault."""


def _is_here(host: str) -> bool:
    """True if a header `Host` (RFC 9110, section 7.2) names this computer."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:  # no host, or a name
        return False


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = f"slowhand/{__version__}", ""
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        """The metrics. A page of another site, whose name leads here, gets nothing."""
        if not _is_here(self.headers.get("Host", "")):
            self.send_error(403, "ask by an address of this computer")
        elif self.path.partition("?")[0] != PATH:
            self.send_error(404, f"there is only {PATH}")
        else:
            octets = scraped(self.server.path).encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

    def log_message(self, *_: object) -> None:
        """A scrape is no news."""
