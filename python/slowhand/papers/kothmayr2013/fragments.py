"""Section 5.2, Fig. 7: the MTU of the handshake if fragments are lost."""

from __future__ import annotations

import itertools
from pathlib import Path

from slowhand.estimate import Estimate
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

MTUS = (192, 256, 384, 512, 768, 1024, 1232)
"""Octets of a datagram: from a whole ClientHello to the most in a packet of 1280 octets."""

LOSSES = (0.01, 0.02, 0.05)
SPREADS = ("flight", "fragment")
"""The parts that are lost with a fragment: the rest of its flight, as in the paper, or nothing."""

BEST = 512
"""The best MTU of the paper."""

FIGURE = list(itertools.product(SPREADS, LOSSES, MTUS))


def points() -> list[Point]:
    """The points to run."""
    return [point(*where) for where in FIGURE] + [whole(mtu) for mtu in MTUS]


def point(spread: str, loss: float, mtu: int) -> Point:
    """A point of Fig. 7."""
    return opal.lossy(loss, spread, mtu=mtu)


def whole(mtu: int) -> Point:
    """A handshake with this MTU, without loss."""
    return opal.point(mtu=mtu)


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
    """Draws Fig. 7."""
    from slowhand.papers.kothmayr2013 import figures

    durations = {where: laboratory.mean(point(*where), "duration_s") for where in FIGURE}
    frames = {mtu: laboratory.mean(whole(mtu), "frames") for mtu in MTUS}
    return figures.fragments(durations, frames, folder)


def _least(by_mtu: dict[int, Estimate]) -> Estimate:
    return Estimate(min(by_mtu, key=lambda mtu: by_mtu[mtu].mean))
