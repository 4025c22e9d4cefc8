"""Section 4.1, Fig. 8: the peer sends again while the node computes."""

from __future__ import annotations

import functools
import itertools
import tomllib
from pathlib import Path

from slowhand import data, plot
from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import (
    LARGE_DTLS,
    LARGE_TLS,
    NOTHING_DROPPED,
    SCENARIO,
    dtls_timers,
    handshake,
    tcp_timers,
)
from slowhand.papers.points import Laboratory, Point, Settings, Values

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The computing time of the client, as a multiple of that in Table 2."""

TIMERS_S = (1.0, 3.0, 9.0)
"""RFC 6347, the paper, RFC 7925. For TCP: the timeout before a round trip is measured."""

PROTOCOLS = ("DTLS", "TLS")


def point(protocol: str, timer_s: float, factor: float) -> Point:
    """A handshake with this computing time of the client and this timer of the server."""
    computing: Settings = {"client.compute_factor": round(fitted_factor() * factor, 6)}
    if protocol == "DTLS":
        timers: Settings = {"session.server_timeout_s": timer_s}
        return handshake(LARGE_DTLS, dtls_timers(120), timers, computing)
    return handshake(LARGE_TLS, NOTHING_DROPPED, tcp_timers(timer_s, ["server"]), computing)


@functools.cache
def fitted_factor() -> float:
    """The factor of the computing time in Table 2."""
    scenario = tomllib.loads((data.PAPERS / "claeys2021" / SCENARIO).read_text())
    return float(scenario["client"]["compute_factor"])


POINTS = [point(*where) for where in itertools.product(PROTOCOLS, TIMERS_S, FACTORS)]


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
    """Draws Fig. 8 as numbers: spurious retransmissions over the time the client computes."""

    def means(protocol: str, timer_s: float, column: str) -> list[Estimate | None]:
        at = (point(protocol, timer_s, factor) for factor in FACTORS)
        return [laboratory.measure(each).estimate(column) for each in at]

    title = "The peer sends again while the node computes (Claeys et al. 2021, Fig. 8)"
    with plot.sheet(2, title=title) as sheet:
        for axes, protocol in zip(sheet.axes, PROTOCOLS, strict=True):
            times = means(protocol, TIMERS_S[0], "compute_client_s")
            curves = {
                f"{timer:.0f} s": means(protocol, timer, "retransmissions_spurious")
                for timer in TIMERS_S
            }
            sheet.curves(axes, [e.mean if e else 0 for e in times], curves)
            axes.set_title(f"{protocol}, by the server's first timeout")
            axes.set(xlabel="the client computes [s]", ylabel="spurious retransmissions")
        highest = max(axes.get_ylim()[1] for axes in sheet.axes)
        for axes in sheet.axes:  # the same scale, with room below for the names of curves at 0
            axes.set_ylim(-0.1 * highest, highest)
        return sheet.save(folder, "fig8")
