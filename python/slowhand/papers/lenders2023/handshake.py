"""The time that a handshake takes, its parts, and the frames that are sent again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate, median
from slowhand.papers.lenders2023 import boards, exchanges, measured
from slowhand.papers.lenders2023.exchanges import Handshake
from slowhand.papers.points import Laboratory, NoneCompleted, Values

TIMES: dict[str, Callable[[Handshake], float]] = {
    "duration": exchanges.duration_s,
    "until_finished": exchanges.until_finished_s,
    "client": exchanges.client_s,
    "last": lambda handshake: exchanges.gap_s(handshake, "fin", "ccs2"),
}
"""The times of each handshake, in seconds."""

NAMES = (
    "HelloVerify-\nRequest",
    "ClientHello,\ncookie",
    "ServerHello",
    "ServerHello-\nDone",
    "ClientKey-\nExchange",
    "Change-\nCipherSpec",
    "Finished",
    "Change-\nCipherSpec\nof the server",
    "Finished\nof the server",
)
"""The messages of the figure: all but the first one, before which there is no gap."""


POINTS = [boards.point(settings) for settings in boards.NETWORKS.values()]


def handshakes(laboratory: Laboratory, hops: str) -> list[Handshake]:
    """The handshakes of the client that is so many hops away."""
    worlds = boards.captured(laboratory, boards.NETWORKS[hops])
    client = boards.address(int(hops))
    return [each for world in worlds for each in exchanges.handshakes(world, client)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part: medians, as those of the captures."""
    values: dict[str, Estimate] = {}
    for hops, at in zip(boards.NETWORKS, POINTS, strict=True):
        found = handshakes(laboratory, hops)
        if not found:
            raise NoneCompleted(laboratory.message(at))
        for name, time_s in TIMES.items():
            values[f"{hops}.{name}"] = Estimate(1000 * median([time_s(each) for each in found]))
        values[f"{hops}.repeated"] = Estimate.of([exchanges.repeated(each) for each in found])
    values["1.datagrams"] = laboratory.mean(boards.point(boards.ONE_HOP), "datagrams")
    return values


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws the gap before each message over one hop, in milliseconds."""
    found = handshakes(laboratory, "1")
    ours = [
        1000 * median([exchanges.gap_s(each, *pair) for each in found])
        for pair in pairwise(exchanges.MESSAGES)
    ]
    theirs = measured.gaps_ms("1")
    title = "A handshake over one hop: the gap before each message (Lenders et al. 2023)"
    with plot.sheet(1, title=title, width=9.0) as sheet:
        (axes,) = sheet.axes
        places = range(len(NAMES))
        axes.bar(
            [place - 0.18 for place in places],
            [median_ms for _, median_ms, _ in theirs],
            0.34,
            yerr=[[mid - low for low, mid, _ in theirs], [high - mid for _, mid, high in theirs]],
            error_kw={"ecolor": plot.GREY, "elinewidth": 1},
            color=plot.COLOURS[0],
            label="captured: median, 5 % to 95 %",
        )
        axes.bar(
            [place + 0.18 for place in places],
            ours,
            0.34,
            color=plot.COLOURS[1],
            label="here: median",
        )
        axes.set_xticks(places, NAMES, fontsize=7)
        axes.grid(axis="x", visible=False)
        axes.set(ylabel="gap [ms]", ylim=(0, 80))
        axes.legend(loc="upper right", ncols=2)
        return sheet.save(folder, "gaps")
