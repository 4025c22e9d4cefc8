"""The time that a handshake takes, its parts, and the frames that are sent again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from slowhand.estimate import Estimate, median
from slowhand.papers.lenders2023 import boards, exchanges, measured
from slowhand.papers.lenders2023.exchanges import Handshake
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, NoneCompleted, Point

TIMES: dict[str, Callable[[Handshake], float]] = {
    "duration": exchanges.duration_s,
    "until_finished": exchanges.until_finished_s,
    "client": exchanges.client_s,
    "last": lambda handshake: exchanges.gap_s(handshake, "fin", "ccs2"),
}
"""The times of each handshake, in seconds."""


def points() -> list[Point]:
    """The points to run."""
    return [boards.point(settings) for settings in boards.NETWORKS.values()]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part: medians, as those of the captures."""
    values: dict[str, Estimate] = {}
    for (hops, settings), at in zip(boards.NETWORKS.items(), points(), strict=True):
        found = [
            handshake
            for world in boards.captured(laboratory, settings)
            for handshake in exchanges.handshakes(world, boards.address(int(hops)))
        ]
        if not found:
            raise NoneCompleted(laboratory.message(at))
        for name, time_s in TIMES.items():
            values[f"{hops}.{name}"] = Estimate(1000 * median([time_s(each) for each in found]))
        values[f"{hops}.repeated"] = Estimate.of([exchanges.repeated(each) for each in found])
    values["1.datagrams"] = laboratory.mean(boards.point(boards.ONE_HOP), "datagrams")
    return values


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws the gap before each message over one hop."""
    from slowhand.papers.lenders2023 import figures

    found = [
        handshake
        for world in boards.captured(laboratory, boards.ONE_HOP)
        for handshake in exchanges.handshakes(world, boards.address(1))
    ]
    ours = {
        f"{first}-{second}": 1000 * median([exchanges.gap_s(each, first, second) for each in found])
        for first, second in pairwise(exchanges.MESSAGES)
    }
    return figures.gaps(measured.gaps_ms("1"), ours, folder)
