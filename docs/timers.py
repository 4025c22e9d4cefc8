"""Finds the best first timeout on each network: the tables and picture of docs/timers.md.

Run it when results have changed: .venv/bin/python docs/timers.py. It takes two to three minutes.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
import polars
from measured import CREDENTIALS, QUEUE, ROOT, Settings, line, number
from measured import write as write_page

from slowhand import Scenario, plot, sweep
from slowhand.output import Output
from slowhand.sweeps.statistics import CLEARLY_FEWER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCENARIO = ROOT / "scenarios" / "csma.toml"

LINK_LAYERS: dict[str, Settings] = {
    "CSMA, always on": {"kind": "csma", "sleepy": "none"},
    "CSMA, sleepy client": {"kind": "csma", "sleepy": "leaves", "poll_period_ms": 1000},
    "TSCH, 17 slots of 20 ms": {
        "kind": "tsch",
        "slot_ms": 20,
        "slotframe": 17,
        "cells": {"shared": 1, "up": 2, "down": 2},
    },
    "TSCH, 101 slots of 10 ms": {
        "kind": "tsch",
        "slot_ms": 10,
        "slotframe": 101,
        "cells": {"shared": 1, "up": 1, "down": 1},
    },
    "X-MAC, every 125 ms": {"kind": "xmac", "check_interval_ms": 125, "data_ack": True},
    "beacons every 983 ms": {"kind": "beacon", "beacon_interval_ms": 983.04, "cap_ms": 61.44},
}
"""17 slots of 20 ms are those of the scenario `lossy-line`, 101 are OpenWSN's (schedule.h); 125 ms
is the shortest check interval and 983 ms the longest beacon interval of Vucinic et al. 2015."""

HOPS = (1, 2, 3)

LOSSES = {"2 %": 0.98, "10 %": 0.9, "20 %": 0.8}
"""The frames that are lost, and the share that arrives."""

COMMON: Settings = {
    "client.device": "openmote-cc2538",
    "server.internet_delay_ms": 10,
    "session.nonces": 64,
}
"""The arithmetic of 64 handshakes is enough: the network has its own random numbers."""

COUNT = 400
"""Handshakes with each timer, all with the same seeds."""

DEFAULTS = (1.0, 2.0, 9.0)
"""RFC 6347 (mbedTLS, OpenSSL, wolfSSL); tinyDTLS, Californium; RFC 7925 (Contiki-NG, lean-dtls)."""

TIMES = "\u00d7"

GRID = tuple(sorted({*(2.0**power for power in range(-1, 8)), *DEFAULTS}))
"""The timers that are tried on every network, in seconds."""

REFINEMENTS = 2
"""So often the steps beside the best timer are halved: from a factor of 2 to one of 1.19."""

EQUAL = 1.05
"""Values whose ratio is not more are as good as each other. (Assumed.)"""

RESAMPLES = 200
"""How often the worlds are drawn again, to see how sure the best timer is."""

LEAST = 0.5
"""A network on which no timer completes at least this share has no best one. (Assumed.)"""

COLUMNS = ("session.timeout_s", "seed", "outcome", "duration_s", "energy_client_mj", "bytes_phy")

Vector = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]
Indices = numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.int64]]


class Timed(NamedTuple):
    """What a timer gave in each world. NaN where the handshake failed."""

    durations: Vector
    energies: Vector
    octets: Vector


@dataclass(frozen=True)
class Measured:
    """What a timer gave."""

    failed: float
    """The share of handshakes."""
    p95_s: float
    """NaN if none completed."""
    energy_mj: float
    octets: float

    @classmethod
    def of(cls, timed: Timed, worlds: Indices | slice = slice(None)) -> Measured:
        """Over these worlds."""
        durations = timed.durations[worlds]
        done = ~numpy.isnan(durations)
        if not done.any():
            return cls(1.0, math.nan, math.nan, math.nan)
        p95 = float(numpy.percentile(durations[done], 95))
        energy = float(timed.energies[worlds][done].mean())
        octets = float(timed.octets[worlds][done].mean())
        return cls(1 - float(done.mean()), p95, energy, octets)


@dataclass(frozen=True)
class Found:
    """The best timer of a network, and what the others cost."""

    best_s: float | None
    """None if no timer completes often enough."""
    longest_s: float
    """Up to this timer the duration is as good."""
    sure: float
    """The share of resamples in which the best timer is among the best."""
    measured: Mapping[float, Measured]


def among_best(measured: Mapping[float, Measured]) -> dict[float, Measured]:
    """The timers with the shortest duration, of those that do not fail more often than others."""
    least = min(ours.failed for ours in measured.values())
    reliable = {s: ours for s, ours in measured.items() if ours.failed <= least + CLEARLY_FEWER}
    fastest = min(ours.p95_s for ours in reliable.values())
    return {s: ours for s, ours in reliable.items() if ours.p95_s <= EQUAL * fastest}


def best_of(measured: Mapping[float, Measured]) -> float | None:
    """Of the timers with the shortest duration the one with least energy, then fewest octets.

    The shortest, where several are equal in all of that.
    """
    if min(ours.failed for ours in measured.values()) > LEAST:
        return None
    left = among_best(measured)
    least = min(ours.energy_mj for ours in left.values())
    left = {s: ours for s, ours in left.items() if ours.energy_mj <= EQUAL * least}
    fewest = min(ours.octets for ours in left.values())
    return min(s for s, ours in left.items() if ours.octets <= EQUAL * fewest)


def search(scenario: Scenario, count: int = COUNT) -> Found:
    """Tries the grid, then timers beside the best."""
    with tempfile.TemporaryDirectory() as folder:
        timed: dict[float, Timed] = {}
        tried: Iterable[float] = GRID
        best: float | None = None
        for _ in range(REFINEMENTS + 1):
            timers = sorted({*tried, *timed})
            sweep(scenario, {"session.timeout_s": timers}, count=count, out=folder)
            timed = rows(Path(folder), timers, count)
            measured = {s: Measured.of(ours) for s, ours in sorted(timed.items())}
            best = best_of(measured)
            if best is None:
                return Found(None, math.nan, 0.0, measured)
            tried = neighbours(best, list(measured))
        assert best is not None  # the last round has found one
        return Found(best, max(among_best(measured)), certainty(timed, best), measured)


def rows(folder: Path, timers: Sequence[float], count: int) -> dict[float, Timed]:
    """The rows of a sweep, by timer, in the order of seeds."""
    frame = polars.read_parquet(folder, columns=list(COLUMNS)).sort("seed")
    completed = polars.col("outcome") == "completed"
    values = [polars.when(completed).then(polars.col(name)) for name in COLUMNS[3:]]
    found = {}
    for timer in timers:
        ours = frame.filter(polars.col("session.timeout_s") == timer).select(values)
        assert len(ours) == count
        found[timer] = Timed(*(ours[name].cast(float).to_numpy() for name in COLUMNS[3:]))
    return found


def neighbours(best: float, tried: Sequence[float]) -> list[float]:
    """Timers half a step below and above, with two digits."""
    place = tried.index(best)
    beside = [*tried[max(0, place - 1) : place], *tried[place + 1 : place + 2]]
    return [float(f"{math.sqrt(best * other):.2g}") for other in beside]


def certainty(timed: Mapping[float, Timed], best: float) -> float:
    """In which share of resamples of the worlds the best timer is among the best."""
    random = numpy.random.default_rng(1)
    count = len(timed[best].durations)
    wins = 0
    for _ in range(RESAMPLES):
        worlds = random.integers(0, count, count)
        wins += best in among_best({s: Measured.of(ours, worlds) for s, ours in timed.items()})
    return wins / RESAMPLES


def scenario_of(link_layer: str, hops: int, loss: str, credential: str) -> Scenario:
    """The scenario of a row."""
    settings: Settings = {
        **COMMON,
        **CREDENTIALS[credential],
        "mac": {"queue": QUEUE, **LINK_LAYERS[link_layer]},
        "network.topology": {"kind": "line", "hops": hops},
        "network.link_pdr": LOSSES[loss],
    }
    return Scenario(SCENARIO, settings)


PAGE = "docs/timers.md"
REFERENCE = "docs/reference/timers.md"

HEADER = (
    "| | hops | lost | best [s] | as good to [s] | sure [%] | p95 [s] | client [mJ] | failed [%] | "
    + " | ".join(f"{timer:g} s: time, octets, failed" for timer in DEFAULTS)
    + " |\n| :--- |"
    + " ---: |" * (8 + len(DEFAULTS))
    + "\n"
)


def row(link_layer: str, hops: int, loss: str, found: Found) -> str:
    """A row of a table."""
    cells = [link_layer, str(hops), loss]
    if found.best_s is None:
        least = min(ours.failed for ours in found.measured.values())
        cells += ["none", "", "", "", "", number(100 * least)]
    else:
        best = found.measured[found.best_s]
        cells += [f"{found.best_s:g}", f"{found.longest_s:g}", f"{100 * found.sure:.0f}"]
        cells += [number(best.p95_s), number(best.energy_mj), number(100 * best.failed)]
    cells += [default(found, timer) for timer in DEFAULTS]
    return line(cells)


def default(found: Found, timer: float) -> str:
    """What a usual default costs, as a multiple of the best."""
    ours = found.measured[timer]
    failed = f"{100 * ours.failed:.0f} %"
    if found.best_s is None or math.isnan(ours.p95_s):
        return failed if math.isnan(ours.p95_s) or found.best_s is None else ""
    best = found.measured[found.best_s]
    time, octets = ours.p95_s / best.p95_s, ours.octets / best.octets
    return f"{TIMES}{time:.1f}, {TIMES}{octets:.1f}, {failed}"


Results = Mapping[tuple[str, int, str, str], Found]

PICTURE_LOSS, PICTURE_HOPS = "10 %", (1, 3)

LEVELS = (
    # the worst of time and energy as a multiple of the best; the colour; that of the text
    (1.1, "#d6e9f5", "#1b1b1b"),
    (1.5, "#fdeed9", "#1b1b1b"),
    (3.0, "#fdbb6c", "#1b1b1b"),
    (math.inf, "#d9540d", "#ffffff"),
)
"""Blue is fine, orange is not: colours that colour-blind readers tell apart, and that differ in
lightness too."""

FAILS = ("#7a1f04", "#ffffff")
"""The colours where more handshakes fail than with the best timer."""

NEVER = ("#8c8c8c", "#ffffff")


NOTE = (
    f"{PICTURE_LOSS} of the frames are lost, the client is an OpenMote. 95th percentiles. Blue: as"
    " good as the best; orange: longer, or more energy; brown: handshakes fail."
)


def decisive(results: Results) -> str:
    """The timers that are good, for the networks of the picture."""
    places = [(credential, hops) for credential in CREDENTIALS for hops in PICTURE_HOPS]
    names = [f"{of}, {hops} hop{'s' if hops > 1 else ''}" for of, hops in places]
    text = "| | " + " | ".join(names) + " |\n| :--- |" + " ---: |" * len(places) + "\n"
    for link_layer in LINK_LAYERS:
        found = (results[link_layer, hops, PICTURE_LOSS, of] for of, hops in places)
        text += line([link_layer, *map(good, found)])
    return text


def good(found: Found) -> str:
    """From the best timer to the longest one that is as good."""
    return "none" if found.best_s is None else f"{found.best_s:g} to {found.longest_s:g}"


def draw(results: Results, file: Path) -> None:
    """The picture: a cell for each default on each network."""
    title = (
        "How much longer a handshake takes with a first timeout of 1, 2 or 9 s than with the best"
    )
    with plot.sheet(2, title=title, width=5.1, height=5.9) as sheet:
        for axes, credential in zip(sheet.axes, CREDENTIALS, strict=True):
            panel(axes, results, credential, is_first=axes is sheet.axes[0])
        sheet.figure.supxlabel(NOTE, fontsize=9, x=0.01, ha="left")
        Output("--out", str(file)).write(partial(sheet.write, kind="svg"))


def panel(axes: Axes, results: Results, credential: str, *, is_first: bool) -> None:
    """The networks with one credential."""
    places = [(link_layer, hops) for link_layer in LINK_LAYERS for hops in PICTURE_HOPS]
    for y, (link_layer, hops) in enumerate(places):
        found = results[link_layer, hops, PICTURE_LOSS, credential]
        for x, timer in enumerate(DEFAULTS):
            words, small, (colour, ink) = cell(found, timer)
            box(axes, (x, y), words, small, colour, ink)
        best = "none" if found.best_s is None else f"{found.best_s:g} s"
        p95 = "" if found.best_s is None else f"{found.measured[found.best_s].p95_s:.2g} s"
        box(axes, (len(DEFAULTS) + 0.15, y), best, p95 and f"takes {p95}", "#ffffff", "#1b1b1b")
    axes.set_xlim(-0.55, len(DEFAULTS) + 0.75)
    axes.set_ylim(len(places) - 0.45, -0.55)
    names = [*(f"{timer:g} s" for timer in DEFAULTS), "best"]
    axes.set_xticks([*range(len(DEFAULTS)), len(DEFAULTS) + 0.15], names)
    axes.xaxis.tick_top()
    labels = [f"{layer}\n{hops} hop{'s' if hops > 1 else ''}" for layer, hops in places]
    axes.set_yticks(range(len(places)), labels if is_first else [""] * len(places), fontsize=9)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title({"PSK": "pre-shared key"}.get(credential, credential), fontsize=11)


def cell(found: Found, timer: float) -> tuple[str, str, tuple[str, str]]:
    """The words of a cell, the small ones, and its colours."""
    ours = found.measured[timer]
    if math.isnan(ours.p95_s):
        return "never", "none completes", FAILS if found.best_s is not None else NEVER
    if found.best_s is None:
        return f"{100 * ours.failed:.0f} %", "fail", NEVER
    best = found.measured[found.best_s]
    time, energy = ours.p95_s / best.p95_s, ours.energy_mj / best.energy_mj
    words, small = f"{TIMES}{time:.1f}", ""
    if ours.failed > best.failed + CLEARLY_FEWER:
        return words, f"{100 * ours.failed:.0f} % fail", FAILS
    if energy >= time * LEVELS[0][0] and energy > LEVELS[0][0]:
        small = f"energy {TIMES}{energy:.1f}"
    worst = max(time, energy)
    colours = next((colour, ink) for most, colour, ink in LEVELS if worst <= most)
    return words, small, colours


def box(axes: Axes, at: tuple[float, float], words: str, small: str, colour: str, ink: str) -> None:
    """Draws a cell."""
    from matplotlib.patches import Rectangle

    x, y = at
    axes.add_patch(Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, facecolor=colour, linewidth=0))
    shift = 0.13 if small else 0.0
    axes.text(x, y - shift, words, color=ink, ha="center", va="center", fontsize=11, weight="bold")
    if small:
        axes.text(x, y + 0.23, small, color=ink, ha="center", va="center", fontsize=7.5)


def measure_all() -> Results:
    """Every network with every credential."""
    return {
        (link_layer, hops, loss, credential): search(
            scenario_of(link_layer, hops, loss, credential)
        )
        for credential in CREDENTIALS
        for link_layer in LINK_LAYERS
        for hops in HOPS
        for loss in LOSSES
    }


def write(results: Results, folder: Path) -> None:
    """Writes the tables and the picture."""
    tables = {
        credential: HEADER
        + "".join(
            row(link_layer, hops, loss, found)
            for (link_layer, hops, loss, of), found in results.items()
            if of == credential
        )
        for credential in CREDENTIALS
    }
    write_page(REFERENCE, folder, tables)
    write_page(PAGE, folder, {"decisive": decisive(results)})
    draw(results, folder / "docs" / "timers.svg")


def main(folder: Path) -> None:
    """Measures, and writes."""
    write(measure_all(), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
