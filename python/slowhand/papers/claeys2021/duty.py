"""Fig. 5: the duty cycle of the schedule, over one and two hops."""

from __future__ import annotations

import itertools
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least, most
from slowhand.papers.claeys2021.handshake import LARGE_DTLS, NAGLE, dtls_timers, handshake
from slowhand.papers.points import Laboratory, Point, Settings, Values

CELLS = 5
"""Cells of a node: one shared, one autonomous, three managed. The slotframe sets the duty cycle."""

DUTIES = {1: (10, 15, 20, 25, 33, 50, 100), 2: (10, 15, 20, 25, 33, 50)}
"""In percent, by hops. A slotframe of five slots has no room for two pairs of nodes."""

PROTOCOLS = ("TLS", "DTLS")

FIGURE = [(p, h, d) for p, h in itertools.product(PROTOCOLS, DUTIES) for d in DUTIES[h]]


def point(protocol: str, hops: int, duty: int, more: Settings | None = None) -> Point:
    """The largest messages, Nagle active, and timers of DTLS that do not fire."""
    network: Settings = {
        "network.topology": {"kind": "line", "hops": hops},
        "mac.slotframe": round(100 * CELLS / duty),
        "lowpan.reassembly": "forwarding",  # section 4.2: routers do not reassemble
        "session.give_up_s": 600,
    }
    session = LARGE_DTLS if protocol == "DTLS" else NAGLE
    return handshake(session, dtls_timers(60), network, more or {})


AT_ONCE = point("TLS", 1, 25, {"transport.client.delayed_ack_ms": 0})
"""A client that delays no acknowledgements, at the edge of what the paper calls similar."""

POINTS = [*(point(*where) for where in FIGURE), AT_ONCE]


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
    """Draws Fig. 5: the handshake's duration over the duty cycle."""
    title = "The duty cycle of the schedule (Claeys et al. 2021, Fig. 5)"
    with plot.sheet(2, title=title) as sheet:
        for axes, (hops, duties) in zip(sheet.axes, DUTIES.items(), strict=True):
            curves = {
                protocol: [
                    laboratory.measure(point(protocol, hops, duty)).estimate("duration_s")
                    for duty in duties
                ]
                for protocol in PROTOCOLS
            }
            sheet.curves(axes, duties, curves)
            axes.set_title("one hop" if hops == 1 else f"{hops} hops")
            axes.set(xlabel="duty cycle [%]", ylabel="handshake [s]")
            axes.set(xlim=(0, None), ylim=(0, None))
        return sheet.save(folder, "fig5")
