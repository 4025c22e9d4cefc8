"""Gaps between frames: how soon a board answers, goes on, and passes on."""

from __future__ import annotations

from itertools import pairwise

from slowhand.estimate import Estimate
from slowhand.papers.capture import frames
from slowhand.papers.lenders2023 import boards, exchanges
from slowhand.papers.points import Laboratory, Settings, Values

MS = Estimate(0.001)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def fragments(settings: Settings) -> Estimate:
        worlds = boards.captured(laboratory, settings)
        return Estimate.of([gap for world in worlds for each in world for gap in each.gaps_s]) / MS

    def forwarding(settings: Settings) -> Estimate:
        worlds = boards.captured(laboratory, settings)
        gaps = [exchanges.forwarding_s(world, boards.address(1)) for world in worlds]
        return Estimate.of([gap for world in gaps for _, gap in world]) / MS

    return {
        "acknowledgement": _acknowledgement(laboratory) / MS,
        "fragments": fragments(boards.ONE_HOP),
        "fragments.device": fragments({**boards.ONE_HOP, **boards.DEVICE}),
        "early": None,
        "later": None,
        "forwarding": forwarding(boards.TWO_HOPS),
        "forwarding.device": forwarding({**boards.TWO_HOPS, **boards.DEVICE}),
    }


def _acknowledgement(laboratory: Laboratory) -> Estimate:
    """From the end of a frame to the begin of its acknowledgement."""
    heard = frames(boards.point(boards.ONE_HOP).made(laboratory.folder))
    return Estimate.of([b.begin_s - a.end_s for a, b in pairwise(heard) if b.is_acknowledgement])
