"""Section 4.3: what helps when a handshake fills the buffers of the mesh."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import (
    LARGE_DTLS,
    LARGE_MSS,
    LARGE_TLS,
    NAGLE,
    NOTHING_DROPPED,
    SMALL_MSS,
    dtls_timers,
    handshake,
    tcp_timers,
    tls_settings,
)
from slowhand.papers.points import Laboratory, Point, Settings, Values

PATIENT: dict[str, Settings] = {
    "dtls": {**LARGE_DTLS, **dtls_timers(120)},
    "tls": {**LARGE_TLS, **NOTHING_DROPPED, **tcp_timers(10)},
}
"""Handshakes whose timers do not fire because the schedule is sparse."""

SCHEDULING = ("msf", "pid", "tunnel")

HOPS = 3

WINDOWS = (1, 4, 10)
"""In segments: one, RFC 3390 ("up to 4 times the MSS"), RFC 6928."""

CLIENTS = 3

ECN_THRESHOLD = 0.75

AT_ONCE: Settings = {"transport.client.delayed_ack_ms": 0, "transport.server.delayed_ack_ms": 0}

LONG: Settings = {"session.certificate_length": 4000, "transport.client.send_buffer": 16000}
"""A flight longer than the window: a congestion mark comes back before all of it is sent."""


LARGE: Settings = {"session.certificate_length": 1500, "mac.queue": 100}
"""Flights that last longer, and room for them."""


def scheduled(protocol: str, scheduling: str, more: Settings | None = None) -> Point:
    """A handshake over several hops with OpenWSN's slotframe, whose cells are negotiated."""
    return handshake(
        PATIENT[protocol],
        more or {},
        {
            "network.topology": {"kind": "line", "hops": HOPS},
            "mac.slotframe": 101,
            "mac.cells": {"shared": 1},
            "mac.scheduling": scheduling,
            "lowpan.reassembly": "forwarding",
            "session.give_up_s": 900,
        },
    )


def windowed(mss: int, window: int) -> Point:
    """Both ends begin with this window, in segments."""
    windows = {f"transport.{end}.initial_window": window for end in ("client", "server")}
    return handshake(tls_settings(mss, nagle=False), windows)


def acknowledged(*, nagle: bool, delayed: bool) -> Point:
    """Acknowledgements are delayed as in Table 2, or sent at once."""
    return handshake(NAGLE if nagle else LARGE_TLS, {} if delayed else AT_ONCE)


def congested(*, nagle: bool = False, threshold: float | None = None, long: bool = False) -> Point:
    """Three clients behind one router, whose queue is full before their flights are through."""
    routed = [{"from": 1, "to": client} for client in range(2, 2 + CLIENTS)]
    marking: Settings = {} if threshold is None else {"lowpan.ecn_threshold": threshold}
    return handshake(
        tls_settings(SMALL_MSS, nagle=nagle),
        NOTHING_DROPPED,
        {
            "network.topology": {"kind": "explicit", "links": [{"from": 0, "to": 1}, *routed]},
            "mac.slotframe": 41,
            "lowpan.reassembly_buffers": 8,
            "transport.client.ecn": "request",
            "transport.client.initial_rto_s": 3,
            "transport.server.initial_rto_s": 3,
            "session.give_up_s": 900,
        },
        LONG if long else {},
        marking,
    )


BOTH = (False, True)

POINTS = [
    *(scheduled(protocol, function) for protocol in PATIENT for function in SCHEDULING),
    *(scheduled("dtls", function, LARGE) for function in ("msf", "pid")),
    *(windowed(mss, window) for mss in (LARGE_MSS, SMALL_MSS) for window in WINDOWS),
    *(acknowledged(nagle=nagle, delayed=delayed) for nagle in BOTH for delayed in BOTH),
    *(congested(nagle=nagle) for nagle in BOTH),
    congested(threshold=ECN_THRESHOLD),
    congested(long=True),
    congested(long=True, threshold=0.25),
]


def measure(laboratory: Laboratory) -> Values:
    """The change by each mechanism."""

    def less(point: Point, than: Point, column: str = "duration_s") -> Estimate:
        return laboratory.mean(than, column) - laboratory.mean(point, column)

    values: dict[str, Estimate | None] = {}
    for protocol in PATIENT:
        msf = scheduled(protocol, "msf")
        values[f"{protocol}.msf"] = laboratory.measure(msf).estimate("duration_s")
        for function in ("pid", "tunnel"):
            values[f"{protocol}.{function}"] = less(scheduled(protocol, function), msf)
    lost = "datagrams_lost"
    nagle, plain = (
        {delayed: acknowledged(nagle=nagle, delayed=delayed) for delayed in BOTH}
        for nagle in (True, False)
    )
    return {
        **values,
        "dtls.pid.long": less(scheduled("dtls", "pid", LARGE), scheduled("dtls", "msf", LARGE)),
        "window.336": less(windowed(SMALL_MSS, 10), windowed(SMALL_MSS, 1)),
        "window.336.4": less(windowed(SMALL_MSS, 10), windowed(SMALL_MSS, 4)),
        "window.844": less(windowed(LARGE_MSS, 10), windowed(LARGE_MSS, 1)),
        "nagle": less(congested(nagle=True), congested(), lost),
        "ecn": less(congested(threshold=ECN_THRESHOLD), congested(), lost),
        "ecn.long": less(congested(long=True, threshold=0.25), congested(long=True), lost),
        "acks.frames": less(plain[True], plain[False], "frames"),
        "acks.nagle": less(nagle[False], nagle[True]),
        "acks.plain": less(plain[False], plain[True]),
    }
