"""Section III-B and Fig. 3: beacon-enabled IEEE 802.15.4 on GreenNet nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least, most, r_squared
from slowhand.keys import Setting
from slowhand.papers.points import Laboratory, Point, Settings, Values
from slowhand.papers.vucinic2015 import panels

BASE_MS = 15.36
"""aBaseSuperframeDuration. Intervals and active periods are this times a power of two."""

INTERVALS_MS = tuple(BASE_MS * 2**order for order in range(2, 9))
CAPS_MS = tuple(BASE_MS * 2**order for order in (1, 2, 3))
MULTI_HOP_INTERVALS_MS = INTERVALS_MS[1:5]
"""See `multi-hop-intervals` in assumptions.toml."""

HOPS = (2, 3, 4)
TIMER_S = 2.0
NO_TIMER_S = 120.0
"""Longer than any handshake of the figure: the "large retransmission timeout value"."""

EQUIVALENT = {1: (983.04, 61.44), 2: (491.52, 30.72), 3: (491.52, 61.44)}
"""Cells of TSCH with 101 slots; the interval and active period that the paper calls equivalent."""

EQUIVALENT_S = {1: 5.15, 2: 3.467, 3: 2.625}
"""The duration in seconds over these cells of TSCH, in the paper."""

SINGLE_HOP = [(bi, cap, 1) for cap in CAPS_MS for bi in INTERVALS_MS if cap <= bi]
MULTI_HOP = [
    (bi, cap, hops)
    for hops in HOPS
    for cap in CAPS_MS
    for bi in MULTI_HOP_INTERVALS_MS
    # Each coordinator has its own active period: the root, and the nodes down to the client.
    if cap * (hops - 1) <= bi
]
SLOW: Settings = {"network.frame_handling_ms": 14}
"""See `frame-handling` in assumptions.toml."""

SLOW_POINTS = [
    *((bi, cap, 1) for bi, cap in EQUIVALENT.values()),
    *((bi, cap, 1) for bi in (EQUIVALENT[3][0], INTERVALS_MS[-1]) for cap in CAPS_MS),
    (MULTI_HOP_INTERVALS_MS[0], CAPS_MS[0], HOPS[0]),
    (MULTI_HOP_INTERVALS_MS[-1], CAPS_MS[0], HOPS[-1]),
]

IMPATIENT = [(bi, CAPS_MS[0], hops) for hops in HOPS for bi in MULTI_HOP_INTERVALS_MS]


def point(
    bi_ms: float,
    cap_ms: float,
    hops: int = 1,
    timer_s: float = NO_TIMER_S,
    more: Settings | None = None,
) -> Point:
    """A point of Fig. 3, perhaps with more settings."""
    settings: dict[str, Setting] = {
        "mac.beacon_interval_ms": bi_ms,
        "mac.cap_ms": cap_ms,
        "session.timeout_s": timer_s,
    }
    if hops > 1:
        # Node 1, the server, is a leaf of the root; the chain to the client begins with node 2.
        chain = [0, *range(2, hops + 1)]
        links: list[Setting] = [{"from": 0, "to": 1}]
        links += [{"from": a, "to": b} for a, b in itertools.pairwise(chain)]
        settings |= {
            "network.topology": {"kind": "explicit", "links": links},
            "client.nodes": [hops],
            "server.at": 1,
        }
    return Point.of("beacon.toml", {**settings, **(more or {})})


def at_once(bi_ms: float, cap_ms: float) -> Point:
    """The single hop, with nodes that answer in the same active period."""
    return point(bi_ms, cap_ms, more={"mac.late_frames": True})


def slow(bi_ms: float, cap_ms: float, hops: int = 1) -> Point:
    """A point whose nodes need time for each frame."""
    return point(bi_ms, cap_ms, hops, more=SLOW)


POINTS = [
    *(point(*where) for where in SINGLE_HOP + MULTI_HOP),
    *(point(*where, timer_s=TIMER_S) for where in IMPATIENT),
    *(at_once(bi, cap) for bi, cap, _ in SINGLE_HOP),
    *(slow(*where) for where in SLOW_POINTS),
]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def duration(at: Point) -> Estimate:
        return laboratory.mean(at, "duration_s")

    def energy(bi_ms: float) -> Estimate:
        return laboratory.mean(point(bi_ms, CAPS_MS[1], 1), "energy_client_mj")

    def line_over_hops(bi_ms: float) -> float:
        return r_squared(HOPS, [duration(point(bi_ms, CAPS_MS[0], h)).mean for h in HOPS])

    def gained(at: Callable[[float, float], Point]) -> Estimate:
        """The time that a handshake saves with the largest active period, against the next one."""
        bi_ms, (_, cap_ms, largest_cap_ms) = EQUIVALENT[3][0], CAPS_MS
        return duration(at(bi_ms, cap_ms)) - duration(at(bi_ms, largest_cap_ms))

    longer = [
        duration(point(bi_ms, cap_ms, 1)) - duration(point(shorter_ms, cap_ms, 1))
        for cap_ms in CAPS_MS
        for shorter_ms, bi_ms in itertools.pairwise(bi for bi in INTERVALS_MS if cap_ms <= bi)
    ]
    multi_hop = [duration(point(*where)) for where in MULTI_HOP]
    largest_ms = INTERVALS_MS[-1]
    found: dict[str, Estimate | None] = {
        "multihop.shortest": least(multi_hop),
        "multihop.longest": most(multi_hop),
        "multihop.shortest.slow": duration(slow(*SLOW_POINTS[-2])),
        "multihop.longest.slow": duration(slow(*SLOW_POINTS[-1])),
        "largest": most(duration(point(largest_ms, cap, 1)) for cap in CAPS_MS),
        "linear.hops": Estimate(min(line_over_hops(bi) for bi in MULTI_HOP_INTERVALS_MS)),
        "energy.rise": energy(largest_ms) / energy(INTERVALS_MS[0]),
        "energy.more": energy(largest_ms) - energy(INTERVALS_MS[0]),
        "bi.short": least(longer),
        "cap.largest": gained(point),
        "cap.largest.at-once": gained(at_once),
        "cap.largest.slow": gained(slow),
        "largest.slow": most(duration(slow(largest_ms, cap)) for cap in CAPS_MS),
        "timer.limit": Estimate(max(_undisturbed(laboratory))),
        "timer.raised": Estimate(max(_spurious(laboratory, point(*at)) for at in MULTI_HOP)),
    }
    for cells, (bi_ms, cap_ms) in EQUIVALENT.items():
        found[f"tsch.C{cells}"] = duration(point(bi_ms, cap_ms, 1))
        found[f"tsch.C{cells}.at-once"] = duration(at_once(bi_ms, cap_ms))
        found[f"tsch.C{cells}.slow"] = duration(slow(bi_ms, cap_ms))
    return found


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 3: duration and energy of a handshake."""

    def mean(at: Point, column: str) -> Estimate | None:
        return laboratory.measure(at).estimate(column)

    def by_interval(
        at: Callable[[float, float], Point], column: str
    ) -> dict[str, list[Estimate | None]]:
        return {
            f"CAP {cap:.1f} ms": [
                mean(at(bi, cap), column) if cap <= bi else None for bi in INTERVALS_MS
            ]
            for cap in CAPS_MS
        }

    title = "DTLS handshake over beacon-enabled 802.15.4 (Vučinić et al. 2015, Fig. 3)"
    hops = (1, *HOPS)
    with plot.sheet(3, title=title) as sheet:
        single, multi, energy = sheet.axes
        for axes, column in ((single, "duration_s"), (energy, "energy_client_mj")):
            axes.set_xscale("log")
            sheet.curves(axes, INTERVALS_MS, by_interval(point, column))
            sheet.curves(axes, INTERVALS_MS, by_interval(at_once, column), dashed=True)
            axes.set_xticks(INTERVALS_MS, [f"{bi:.0f}" for bi in INTERVALS_MS], fontsize=9)
            axes.minorticks_off()
            axes.set_xlabel("beacon interval [ms]")
            sheet.note(axes, "dashed: answering at once")
        over_hops = {
            f"BI {bi:.0f} ms": [mean(point(bi, CAPS_MS[0], h), "duration_s") for h in hops]
            for bi in MULTI_HOP_INTERVALS_MS
        }
        sheet.curves(multi, hops, over_hops)
        multi.set(xticks=hops, xlabel=f"hops; CAP {CAPS_MS[0]:.1f} ms", ylim=(0, None))
        single.set_yscale("log")
        single.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
        single.minorticks_off()
        for cells, reported_s in EQUIVALENT_S.items():
            at = (EQUIVALENT[cells][0], reported_s)
            sheet.mark(single, at, f"TSCH, C = {cells}", left=True)
        sheet.mark(single, (3932.16, 35.0), "35 s reported", left=True)
        energy.set_ylim(0, 1.2 * energy.get_ylim()[1])
        panels.name(single, multi, energy)
        return sheet.save(folder, "fig3")


def _undisturbed(laboratory: Laboratory) -> Iterator[float]:
    """The intervals at which a timer of 2 s never fires in a handshake over several hops."""
    for bi_ms in MULTI_HOP_INTERVALS_MS:
        over = [point(bi, cap, h, TIMER_S) for bi, cap, h in IMPATIENT if bi == bi_ms]
        measured = [laboratory.measure(at) for at in over]
        if all(m.completed == 1 for m in measured) and not any(
            _spurious(laboratory, at) for at in over
        ):
            yield bi_ms


def _spurious(laboratory: Laboratory, at: Point) -> float:
    estimate = laboratory.measure(at).estimate("retransmissions_spurious")
    return estimate.mean if estimate else float("inf")
