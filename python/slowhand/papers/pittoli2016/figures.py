"""The figure, drawn from our measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate

REPORTED = 0.8
"""The slides' "20 % faster"."""


def connection(durations: Mapping[str, tuple[Estimate, Estimate]], folder: Path) -> list[Path]:
    """The duration of a connection, and how much of it the link alone takes."""
    title = "A DTLS connection between two ATmega128RFA1 (Pittoli et al. 2016)"
    with plot.sheet(1, title=title, width=8.0) as sheet:
        (axes,) = sheet.axes
        places = range(len(durations))
        for part, (colour, label) in enumerate(
            zip(plot.COLOURS, ("with computing", "the link alone"), strict=False)
        ):
            found = [both[part] for both in durations.values()]
            axes.bar(
                [place + (part - 0.5) * 0.36 for place in places],
                [1000 * estimate.mean for estimate in found],
                0.34,
                color=colour,
                label=label,
            )
        for name in ("tinyDTLS", "original"):
            place = list(durations).index(name)
            height = 1000 * REPORTED * durations[name][0].mean
            axes.plot([place - 0.36, place], [height, height], "--", color=plot.GREY)
        axes.plot([], [], "--", color=plot.GREY, label="20 % less, as reported")
        axes.set_xticks(places, list(durations))
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("connection [ms]")
        axes.set_ylim(0, 750)
        axes.legend(loc="upper right", ncols=3)
        return sheet.save(folder, "connection")
