"""Section 4.1, Fig. 8: the peer sends again while the node computes."""

from __future__ import annotations

import functools
import itertools
import tomllib
from pathlib import Path

from slowhand import data
from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import (
    LARGE_MFL,
    LARGE_MSS,
    NOTHING_DROPPED,
    SCENARIO,
    dtls_settings,
    dtls_timers,
    tcp_timers,
    tls_settings,
)
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point, Settings

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The computing time of the client, as a multiple of that in Table 2."""

TIMERS_S = (1.0, 3.0, 9.0)
"""RFC 6347, the paper, RFC 7925. For TCP: the timeout before a round trip is measured."""

PROTOCOLS = ("DTLS", "TLS")

FIGURE = list(itertools.product(PROTOCOLS, TIMERS_S, FACTORS))


def points() -> list[Point]:
    """The points to run."""
    return [point(*where) for where in FIGURE]


def point(protocol: str, timer_s: float, factor: float) -> Point:
    """A handshake with this computing time of the client and this timer of the server."""
    computing = {"client.compute_factor": round(fitted_factor() * factor, 6)}
    timers: Settings
    if protocol == "DTLS":
        settings = dtls_settings(LARGE_MFL)
        timers = {**dtls_timers(120), "session.server_timeout_s": timer_s}
    else:
        settings = {**tls_settings(LARGE_MSS, nagle=False), **NOTHING_DROPPED}
        timers = tcp_timers(timer_s, ["server"])
    return Point.of(SCENARIO, {**settings, **timers, **computing})


@functools.cache
def fitted_factor() -> float:
    """The factor of the computing time in Table 2."""
    scenario = tomllib.loads((data.PAPERS / "claeys2021" / SCENARIO).read_text())
    factor: float = scenario["client"]["compute_factor"]
    return factor


def measure(laboratory: Laboratory) -> Values:
    """Spurious retransmissions with and without computing."""

    def spurious(*where: object) -> Estimate:
        return laboratory.mean(point(*where), "retransmissions_spurious")  # type: ignore[arg-type]

    return {
        "dtls.1s": spurious("DTLS", 1.0, 1.0),
        "dtls.1s.none": spurious("DTLS", 1.0, 0.0),
        "dtls.9s": spurious("DTLS", 9.0, 1.0),
        "dtls.grows": spurious("DTLS", 1.0, 8.0) - spurious("DTLS", 1.0, 1.0),
        "tls.1s": spurious("TLS", 1.0, 1.0),
        "tls.grows": spurious("TLS", 1.0, 8.0) - spurious("TLS", 1.0, 0.0),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 8 as numbers."""
    from slowhand.papers.claeys2021 import figures

    measured = {where: laboratory.measure(point(*where)) for where in FIGURE}
    return figures.computing(measured, folder)
