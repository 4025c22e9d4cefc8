"""Section III-C: equations (1) and (2) compared with a simulation of their network."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.papers.points import Laboratory, Point, Values
from slowhand.papers.vucinic2015.tables import SLOT_S, SLOTFRAMES, handshake_s

SCHEDULES = 100
"""Random schedules for each point. The handshakes are divided among them."""

FLIGHTS = (1, 1, 1, 2, 3, 2)
"""Datagrams in each flight of tinyDTLS with a pre-shared key."""

SINGLE_HOP = [(slotframe, cells, 1) for slotframe in SLOTFRAMES for cells in (1, 2, 3)]
MULTI_HOP = [(slotframe, 1, hops) for slotframe in SLOTFRAMES for hops in (2, 3, 4)]


def point(slotframe: int, cells: int, hops: int) -> Point:
    """A line of `hops` hops, each with `cells` cells in each direction, placed at random."""
    settings: dict[str, Setting] = {
        "network.topology": {"kind": "line", "hops": hops},
        "mac.slotframe": slotframe,
    }
    draws = random.Random(f"{slotframe} {cells} {hops}")
    schedules = (_schedule(draws, slotframe, cells, hops) for _ in range(SCHEDULES))
    return Point.of("tsch.toml", settings, ({"mac.schedule": list(s)} for s in schedules))


def flights_s(slotframe: int, cells: int, hops: int) -> float:
    """The equations' frames, but in flights, in seconds.

    The first frame of a flight waits L / (C + 1) slots at each hop, as in the equations. The
    others are queued behind it, on all hops at once, and take the cells that follow. Those lie
    L / (C + 1) apart too, but for the gap in which the flight began: who arrives at random
    arrives in gaps of twice the mean, and meets that gap again after C cells. Over several hops
    the ClientHello with the cookie takes two frames, and each hop waits for both.
    """
    gap = slotframe / (cells + 1)
    behind = [2 * gap if number % cells == 0 else gap for number in range(1, max(FLIGHTS))]
    flights = sum(hops * gap + sum(behind[: frames - 1]) for frames in FLIGHTS)
    second_fragments = hops * behind[0] if hops > 1 else 0
    return SLOT_S * (flights + second_fragments)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    found: dict[str, Estimate | None] = {}
    for slotframe, cells, hops in SINGLE_HOP + MULTI_HOP:
        column = f"C{cells}" if hops == 1 else f"H{hops}"
        measured = laboratory.measure(point(slotframe, cells, hops))
        duration = measured.estimate("duration_s")
        found[f"equation.L{slotframe}.{column}"] = duration
        flights = Estimate(flights_s(slotframe, cells, hops))
        found[f"flights.L{slotframe}.{column}"] = duration and duration / flights
    return found


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws equations (1) and (2), the same in flights, and the simulation."""

    def heights(slotframe: int, cells: int, hops: int) -> tuple[Estimate, Estimate, Estimate]:
        equation = Estimate(handshake_s(slotframe, [cells] * hops))
        flights = Estimate(flights_s(slotframe, cells, hops))
        simulated = laboratory.measure(point(slotframe, cells, hops)).estimate("duration_s")
        return equation, flights, simulated or Estimate(0)

    labels = ("equation", "in flights", "simulated")
    title = "DTLS handshake over TSCH: the paper's equations beside the network they describe"
    with plot.sheet(len(SLOTFRAMES), title=title, width=6.4) as sheet:
        for axes, slotframe in zip(sheet.axes, SLOTFRAMES, strict=True):
            columns = [where for where in SINGLE_HOP + MULTI_HOP if where[0] == slotframe]
            bars = zip(*(heights(*where) for where in columns), strict=True)
            for offset, (colour, label, bar) in enumerate(
                zip(plot.COLOURS, labels, bars, strict=False)
            ):
                axes.bar(
                    [number + (offset - 1) * 0.27 for number in range(len(columns))],
                    [each.mean for each in bar],
                    0.25,
                    yerr=[each.half for each in bar] if offset == 2 else None,
                    color=colour,
                    label=label,
                    error_kw={"elinewidth": 1.2, "capsize": 3},
                )
            names = [f"C = {c}\n{h} hop{'s' if h > 1 else ''}" for _, c, h in columns]
            axes.set_xticks(range(len(columns)), names)
            axes.grid(axis="x", visible=False)
            axes.set(title=f"{slotframe} slots of 10 ms", ylabel="handshake [s]")
        sheet.axes[0].legend(loc="upper left")
        return sheet.save(folder, "tsch")


def _schedule(
    draws: random.Random, slotframe: int, cells: int, hops: int
) -> Iterator[dict[str, Setting]]:
    links = [ends for hop in range(hops) for ends in ((hop + 1, hop), (hop, hop + 1))]
    slots = draws.sample(range(slotframe), cells * len(links))
    for slot, (sender, receiver) in zip(slots, links * cells, strict=True):
        yield {"slot": slot, "from": sender, "to": receiver}


POINTS = [point(*where) for where in SINGLE_HOP + MULTI_HOP]
