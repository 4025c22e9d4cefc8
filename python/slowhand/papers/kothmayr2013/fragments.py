"""Section 5.2, Fig. 7: the MTU of the handshake if fragments are lost."""

from __future__ import annotations

import itertools
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.points import Laboratory, Point, Values

MTUS = (192, 256, 384, 512, 768, 1024, 1232)
"""Octets of a datagram: from a whole ClientHello to the most in a packet of 1280 octets."""

LOSSES = (0.01, 0.02, 0.05)
SPREADS = ("flight", "fragment")
"""The parts that are lost with a fragment: the rest of its flight, as in the paper, or nothing."""

BEST = 512
"""The best MTU of the paper."""

FIGURE = list(itertools.product(SPREADS, LOSSES, MTUS))


def point(spread: str, loss: float, mtu: int) -> Point:
    """A point of Fig. 7."""
    return opal.lossy(loss, spread, mtu=mtu)


def whole(mtu: int) -> Point:
    """A handshake with this MTU, without loss."""
    return opal.point(mtu=mtu)


POINTS = [*(point(*where) for where in FIGURE), *(whole(mtu) for mtu in MTUS)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    flight, single = (relative(laboratory, spread) for spread in SPREADS)
    measured = laboratory.measure(point("flight", 0.02, BEST))
    undisturbed = [100.0 * (lost == 0) for lost in measured.samples["datagrams_lost"]]
    return {
        "512": flight[BEST],
        "best": _least(flight),
        "192": flight[MTUS[0]],
        "single.best": _least(single),
        "single.512": single[BEST],
        "single.192": single[MTUS[0]],
        "single.1232": single[MTUS[-1]],
        "undisturbed": Estimate.of(undisturbed, measured.clusters),
    }


def relative(laboratory: Laboratory, spread: str) -> dict[int, Estimate]:
    """By MTU: the duration divided by that of the best MTU, as a mean over the loss rates.

    The best MTU is the one for which the mean is least.
    """

    def duration(loss: float, mtu: int) -> Estimate:
        return laboratory.mean(point(spread, loss, mtu), "duration_s")

    def over(reference: int) -> dict[int, Estimate]:
        return {
            mtu: Estimate.mean_of(
                [duration(loss, mtu) / duration(loss, reference) for loss in LOSSES]
            )
            for mtu in MTUS
        }

    by_mtu = over(BEST)
    return over(min(MTUS, key=lambda mtu: by_mtu[mtu].mean))


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws Fig. 7: duration of a handshake by MTU and loss, and its number of frames."""
    headings = (
        "(a) a loss takes the rest of the flight with it",
        "(b) a loss takes its fragment only",
    )
    title = "MTU of the handshake where fragments are lost (Kothmayr et al. 2013, Fig. 7)"
    with plot.sheet(3, title=title) as sheet:
        *panels, counted = sheet.axes
        for axes, spread, heading in zip(panels, SPREADS, headings, strict=True):
            curves = {
                f"{100 * loss:g} %": [
                    laboratory.mean(point(spread, loss, mtu), "duration_s") for mtu in MTUS
                ]
                for loss in LOSSES
            }
            sheet.curves(axes, MTUS, curves)
            axes.set(title=heading, ylabel="handshake [s]", yscale="log", ylim=(3, 40))
            axes.set_yticks([4, 6, 10, 20, 30], ["4", "6", "10", "20", "30"])
        frames = [laboratory.mean(whole(mtu), "frames") for mtu in MTUS]
        sheet.curves(counted, MTUS, {"no loss": frames})
        counted.set(title="(c) frames", ylabel="frames of a handshake", ylim=(0, 60))
        sheet.note(counted, "dotted: the paper's best")
        for axes in sheet.axes:
            axes.set_xscale("log")
            axes.set_xticks(MTUS, [str(mtu) for mtu in MTUS], fontsize=9)
            axes.minorticks_off()
            axes.set_xlabel("MTU of the handshake [octets]")
            axes.axvline(BEST, color=plot.GREY, linestyle=":", linewidth=1)
        return sheet.save(folder, "fig7")


def _least(by_mtu: dict[int, Estimate]) -> Estimate:
    return Estimate(min(by_mtu, key=lambda mtu: by_mtu[mtu].mean))
