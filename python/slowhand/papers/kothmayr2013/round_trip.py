"""Section 5.1: round trips, from which the speed of the link follows."""

from __future__ import annotations

from pathlib import Path

from slowhand.estimate import Estimate
from slowhand.papers.kothmayr2013 import opal
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

FAR = 4
"""The most hops of the paper."""


def points() -> list[Point]:
    """The points to run."""
    return [point(hops, cookie) for hops in (1, FAR) for cookie in (True, False)]


def point(hops: int, cookie: bool) -> Point:
    """A handshake that begins with an exchange of ClientHello and cookie, or without."""
    return opal.unhurried(hops, suite=opal.PSK, cookie=cookie)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def exchange_ms(hops: int) -> Estimate:
        with_cookie, without = (
            laboratory.mean(point(hops, cookie), "duration_s") for cookie in (True, False)
        )
        return (with_cookie - without) / Estimate(0.001)

    near, far = exchange_ms(1), exchange_ms(FAR)
    return {"cookie": near, "cookie.hop": (far - near) / Estimate(FAR - 1)}


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws nothing: there are no curves."""
    return []
