"""Fig. 5: the duty cycle of the schedule, over one and two hops."""

from __future__ import annotations

import itertools
from pathlib import Path

from slowhand.estimate import Estimate, least, most
from slowhand.papers.claeys2021.handshake import (
    LARGE_MFL,
    LARGE_MSS,
    SCENARIO,
    dtls_settings,
    dtls_timers,
    tls_settings,
)
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point, Settings

CELLS = 5
"""Cells of a node: one shared, one autonomous, three managed. The slotframe sets the duty cycle."""

DUTIES = {1: (10, 15, 20, 25, 33, 50, 100), 2: (10, 15, 20, 25, 33, 50)}
"""In percent, by hops. A slotframe of five slots has no room for two pairs of nodes."""

PROTOCOLS = ("TLS", "DTLS")

FIGURE = [(p, h, d) for p, h in itertools.product(PROTOCOLS, DUTIES) for d in DUTIES[h]]


def points() -> list[Point]:
    """The points to run."""
    return [*(point(*where) for where in FIGURE), AT_ONCE]


def point(protocol: str, hops: int, duty: int) -> Point:
    """A point of the figure."""
    return Point.of(SCENARIO, settings(protocol, hops, duty))


def settings(protocol: str, hops: int, duty: int) -> Settings:
    """The largest messages, Nagle active, and timers of DTLS that do not fire."""
    return {
        **(dtls_settings(LARGE_MFL) if protocol == "DTLS" else tls_settings(LARGE_MSS, nagle=True)),
        **dtls_timers(60),
        "network.topology": {"kind": "line", "hops": hops},
        "mac.slotframe": round(100 * CELLS / duty),
        "lowpan.reassembly": "forwarding",  # section 4.2: routers do not reassemble
        "session.give_up_s": 600,
    }


AT_ONCE = Point.of(SCENARIO, {**settings("TLS", 1, 25), "transport.client.delayed_ack_ms": 0})
"""A client that delays no acknowledgements, at the edge of what the paper calls similar."""


def measure(laboratory: Laboratory) -> Values:
    """The statements of the text on the figure."""

    def duration(protocol: str, hops: int, duty: int) -> Estimate:
        return laboratory.mean(point(protocol, hops, duty), "duration_s")

    def ratio(hops: int, duty: int) -> Estimate:
        return duration("TLS", hops, duty) / duration("DTLS", hops, duty)

    def gap(hops: int, duty: int) -> Estimate:
        return duration("TLS", hops, duty) - duration("DTLS", hops, duty)

    upper = [ratio(1, duty) for duty in DUTIES[1] if duty >= 25]
    return {
        "similar.least": least(upper),
        "similar.most": most(upper),
        "similar.at.once": laboratory.mean(AT_ONCE, "duration_s") / duration("DTLS", 1, 25),
        "behind.1hop": gap(1, 10) - gap(1, 25),
        "behind.2hops": gap(2, 10) - gap(2, 25),
        "amplified": gap(2, 10) - gap(1, 10),
        **{
            f"{protocol.lower()}.{hops}.{duty}": laboratory.measure(
                point(protocol, hops, duty)
            ).estimate("duration_s")
            for protocol, hops, duty in FIGURE
            if duty in (10, 25)
        },
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 5."""
    from slowhand.papers.claeys2021 import figures

    return figures.duty({where: laboratory.measure(point(*where)) for where in FIGURE}, folder)
