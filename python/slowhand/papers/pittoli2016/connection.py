"""Messages and duration of a connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.pittoli2016 import measured, minimal
from slowhand.papers.points import Laboratory, Point, Settings, Values

SHOWN: dict[str, Settings] = {
    "tinyDTLS": minimal.TINYDTLS,
    "original": minimal.ORIGINAL,
    "optimised": minimal.OPTIMISED,
    "server's Finished\nfirst": minimal.SEQUENTIAL,
    "all switches": minimal.ALL,
}


POINTS = [
    place(settings)
    for settings in (*SHOWN.values(), minimal.PACKED)
    for place in (minimal.point, minimal.link_alone)
]

REPORTED = 0.8
"""The slides' "20 % faster"."""


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def mean(settings: Settings, column: str = "duration_s") -> Estimate:
        return laboratory.mean(minimal.point(settings), column)

    def link(settings: Settings) -> Estimate:
        return laboratory.mean(minimal.link_alone(settings), "duration_s")

    def faster(settings: Settings, than: Settings) -> Estimate:
        """By how much a connection is shorter, in per cent."""
        ratio = mean(settings) / mean(than)
        return (Estimate(1) - ratio) / Estimate(0.01)

    def exactness(role: str, settings: Settings, variant: measured.Variant) -> Estimate:
        ours = mean(settings, f"compute_{role}_s")
        return ours / Estimate(measured.compute_s(variant, role) / 100)

    original, optimised = minimal.ORIGINAL, minimal.OPTIMISED
    return {
        "messages.tinydtls": mean(minimal.TINYDTLS, "datagrams"),
        "messages.original": mean(original, "datagrams"),
        "messages.optimised": mean(optimised, "datagrams"),
        "faster": faster(optimised, original),
        "faster.tinydtls": faster(optimised, minimal.TINYDTLS),
        "faster.sequential": faster(minimal.SEQUENTIAL, original),
        "faster.packed": faster(optimised, minimal.PACKED),
        "faster.all": faster(minimal.ALL, original),
        "link.saved": (link(original) - link(optimised)) / Estimate(0.001),
        "link.faster": (Estimate(1) - link(optimised) / link(original)) / Estimate(0.01),
        "duration.tinydtls": mean(minimal.TINYDTLS) / Estimate(0.001),
        "duration.original": mean(original) / Estimate(0.001),
        "duration.optimised": mean(optimised) / Estimate(0.001),
        "link.original": link(original) / Estimate(0.001),
        "link.optimised": link(optimised) / Estimate(0.001),
        "exact.client.original": exactness("client", original, "plain"),
        "exact.server.original": exactness("server", original, "plain"),
        "exact.client.optimised": exactness("client", optimised, "slides"),
        "exact.server.optimised": exactness("server", optimised, "slides"),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws the duration of a connection, and how much of it the link alone takes."""

    def heights(place: Callable[[Settings], Point]) -> list[float]:
        points = map(place, SHOWN.values())
        return [1000 * laboratory.mean(point, "duration_s").mean for point in points]

    whole, link = heights(minimal.point), heights(minimal.link_alone)
    places = range(len(SHOWN))
    title = "A DTLS connection between two ATmega128RFA1 (Pittoli et al. 2016)"
    with plot.sheet(1, title=title, width=8.0) as sheet:
        (axes,) = sheet.axes
        for shift, bars, colour, label in (
            (-0.5, whole, plot.COLOURS[0], "with computing"),
            (0.5, link, plot.COLOURS[1], "the link alone"),
        ):
            axes.bar(
                [place + shift * 0.36 for place in places], bars, 0.34, color=colour, label=label
            )
        for name in ("tinyDTLS", "original"):
            place = list(SHOWN).index(name)
            axes.plot([place - 0.36, place], [REPORTED * whole[place]] * 2, "--", color=plot.GREY)
        axes.plot([], [], "--", color=plot.GREY, label="20 % less, as reported")
        axes.set_xticks(places, list(SHOWN))
        axes.grid(axis="x", visible=False)
        axes.set(ylabel="connection [ms]", ylim=(0, 750))
        axes.legend(loc="upper right", ncols=3)
        return sheet.save(folder, "connection")
