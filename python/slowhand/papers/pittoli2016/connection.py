"""Messages and duration of a connection."""

from __future__ import annotations

from pathlib import Path

from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.papers.part import Values
from slowhand.papers.pittoli2016 import measured, minimal
from slowhand.papers.points import Laboratory, Point

SHOWN: dict[str, dict[str, Setting]] = {
    "tinyDTLS": minimal.TINYDTLS,
    "original": minimal.ORIGINAL,
    "optimised": minimal.OPTIMISED,
    "server's Finished\nfirst": minimal.SEQUENTIAL,
    "all switches": minimal.ALL,
}


def points() -> list[Point]:
    """The points to run."""
    settings = [*SHOWN.values(), minimal.PACKED]
    return [place(of) for of in settings for place in (minimal.point, minimal.link_alone)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def mean(settings: dict[str, Setting], column: str = "duration_s") -> Estimate:
        return laboratory.mean(minimal.point(settings), column)

    def link(settings: dict[str, Setting]) -> Estimate:
        return laboratory.mean(minimal.link_alone(settings), "duration_s")

    def faster(settings: dict[str, Setting], than: dict[str, Setting]) -> Estimate:
        """By how much a connection is shorter, in per cent."""
        ratio = mean(settings) / mean(than)
        return (Estimate(1) - ratio) / Estimate(0.01)

    def exactness(role: str, settings: dict[str, Setting], variant: measured.Variant) -> Estimate:
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
    """Draws the durations."""
    from slowhand.papers.pittoli2016 import figures

    durations = {
        name: (
            laboratory.mean(minimal.point(settings), "duration_s"),
            laboratory.mean(minimal.link_alone(settings), "duration_s"),
        )
        for name, settings in SHOWN.items()
    }
    return figures.connection(durations, folder)
