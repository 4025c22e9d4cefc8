"""Section III-A and Fig. 2: X-MAC on WiSMotes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, least, most, r_squared
from slowhand.papers.points import Laboratory, Point, Settings, Values
from slowhand.papers.vucinic2015 import panels

CHECK_INTERVALS_MS = (125, 250, 500, 1000)
HOPS = (1, 2, 3, 4)
DELIVERIES = (1.0, 0.95, 0.9)
TIMER_S = 2.0
"""The timer of the paper, which is compiled into tinyDTLS."""

FIGURE = list(itertools.product(CHECK_INTERVALS_MS, HOPS, DELIVERIES))
"""See `fig2-grid` in assumptions.toml. The energies of Fig. 2(c) are those of a single hop."""

LONGEST_S = 50.0
"""The conclusion: "more than 50 s, depending on the Check Interval"."""

MILDER_MS, MILDER = 500, 0.95
"""The longest check interval and the least delivery ratio of the note beside the longest."""


def point(check_ms: int, hops: int, pdr: float = 1.0, timer_s: float | None = None) -> Point:
    """A point of Fig. 2. The default timer is the one that its round trip needs."""
    return Point.of("xmac.toml", _settings(check_ms, hops, pdr, timer_s or patient(check_ms, hops)))


def cxmac(check_ms: int) -> Point:
    """The single hop with the other generation of X-MAC."""
    settings = _settings(check_ms, 1, 1.0, patient(check_ms, 1))
    return Point.of("xmac.toml", {**settings, "mac.model": "cxmac"})


def mbedtls(pdr: float) -> Point:
    """The shortest check interval with a library whose server sends its last flight again."""
    settings = _settings(CHECK_INTERVALS_MS[0], 1, pdr, TIMER_S)
    return Point.of("xmac.toml", {**settings, "session.stack": "mbedtls"})


def patient(check_ms: int, hops: int) -> float:
    """The paper's 2 s or, if that is too short, what the round trip of the longest flight needs.

    Its three messages leave two check intervals apart (the neighbour is awake once in each, and
    Contiki 2.7 pauses for one), and each hop takes up to one there and one back.
    """
    return max(TIMER_S, (2 * hops + 6) * check_ms / 1000)


def _settings(check_ms: int, hops: int, pdr: float, timer_s: float) -> Settings:
    return {
        "network.topology": {"kind": "line", "hops": hops},
        "network.link_pdr": pdr,
        "mac.check_interval_ms": check_ms,
        "session.timeout_s": timer_s,
    }


POINTS = [
    *(point(*where) for where in FIGURE),
    cxmac(500),
    *(point(1000, hops, timer_s=TIMER_S) for hops in (1, 4)),
    *(mbedtls(pdr) for pdr in (1.0, 0.9)),
]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def mean(column: str, *where: float) -> Estimate:
        return laboratory.mean(point(*where), column)  # type: ignore[arg-type]

    def growth(column: str, checks: Iterable[int]) -> Estimate:
        """PDR 90 % to 100 %, over one hop."""
        return Estimate.mean_of(
            [mean(column, check, 1, 0.9) / mean(column, check, 1) for check in checks]
        )

    def over_hops(check: int, pdr: float) -> Estimate:
        """Four hops to one."""
        return mean("duration_s", check, HOPS[-1], pdr) / mean("duration_s", check, 1, pdr)

    def line_over_check_interval(column: str, hops: int) -> float:
        y = [mean(column, check, hops).mean for check in CHECK_INTERVALS_MS]
        return r_squared(CHECK_INTERVALS_MS, y)

    def line_over_hops(column: str, check: int) -> float:
        return r_squared(HOPS, [mean(column, check, hops).mean for hops in HOPS])

    durations = [mean("duration_s", *where) for where in FIGURE]
    energies = [mean("energy_client_mj", *where) for where in FIGURE if where[1] == 1]
    milder = [
        mean("duration_s", check, hops, pdr)
        for check, hops, pdr in FIGURE
        if check <= MILDER_MS and pdr >= MILDER
    ]
    faster = [
        over_hops(check, pdr) - over_hops(check, 1.0)
        for check in CHECK_INTERVALS_MS
        for pdr in DELIVERIES[1:]
    ]
    swift = [check for check in CHECK_INTERVALS_MS if patient(check, 1) == TIMER_S]
    slow = [check for check in CHECK_INTERVALS_MS if check not in swift]
    last_flight_again = [laboratory.mean(mbedtls(pdr), "duration_s") for pdr in (0.9, 1.0)]
    return {
        "energy.500": mean("energy_client_mj", 500, 1),
        "energy.500.cxmac": laboratory.measure(cxmac(500)).estimate("energy_client_mj"),
        "linear.ci.duration": Estimate(
            min(line_over_check_interval("duration_s", hops) for hops in HOPS)
        ),
        "linear.ci.energy": Estimate(line_over_check_interval("energy_client_mj", 1)),
        "linear.hops.duration": Estimate(
            min(line_over_hops("duration_s", check) for check in CHECK_INTERVALS_MS)
        ),
        "hops.loss": least(faster),
        "hidden": mean("retransmissions_needed", CHECK_INTERVALS_MS[0], HOPS[-1]),
        "hidden.1": mean("retransmissions_needed", CHECK_INTERVALS_MS[0], 1),
        "pdr90.duration": growth("duration_s", swift),
        "pdr90.duration.125": growth("duration_s", swift[:1]),
        "pdr90.duration.slow": growth("duration_s", slow),
        "pdr90.duration.mbedtls": last_flight_again[0] / last_flight_again[1],
        "pdr90.energy": growth("energy_client_mj", swift),
        "pdr90.energy.slow": growth("energy_client_mj", slow),
        "pdr90.completed": laboratory.completed(point(500, 1, 0.9)),
        "shortest": least(durations),
        "longest": most(durations),
        "longest.milder": most(milder),
        "longest.more": most(durations) - Estimate(LONGEST_S),
        "least": least(energies),
        "most": most(energies),
        "timer.1hop": laboratory.completed(point(1000, 1, timer_s=TIMER_S)),
        "timer.4hops": laboratory.completed(point(1000, HOPS[-1], timer_s=TIMER_S)),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 2: duration and energy of a handshake."""

    def means(column: str, places: Iterable[tuple[int, int, float]]) -> list[Estimate | None]:
        return [laboratory.measure(point(*where)).estimate(column) for where in places]

    seconds = [check / 1000 for check in CHECK_INTERVALS_MS]
    best, worst = DELIVERIES[0], DELIVERIES[-1]
    with plot.sheet(3, title="DTLS handshake over X-MAC (Vučinić et al. 2015, Fig. 2)") as sheet:
        single, multi, energy = sheet.axes
        for axes, column in ((single, "duration_s"), (energy, "energy_client_mj")):
            curves = {
                f"PDR {pdr:.0%}": means(column, [(check, 1, pdr) for check in CHECK_INTERVALS_MS])
                for pdr in DELIVERIES
            }
            sheet.curves(axes, seconds, curves)
            axes.set_xlabel("check interval [s]")
        multi.set_yscale("log")
        for pdr in (best, worst):
            curves = {
                f"CI {check} ms": means("duration_s", [(check, hops, pdr) for hops in HOPS])
                for check in CHECK_INTERVALS_MS
            }
            sheet.curves(multi, HOPS, curves, dashed=pdr == worst)
        multi.set_xticks(HOPS)
        multi.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        multi.minorticks_off()
        multi.set_xlabel(f"hops; solid: PDR {best:.0%}, dashed: {worst:.0%}")
        panels.name(single, multi, energy)
        sheet.mark(energy, (0.5, 29.05), "29.05 mJ reported")
        for axes in (single, energy):
            axes.set(xlim=(0, None), ylim=(0, None))
        return sheet.save(folder, "fig2")
