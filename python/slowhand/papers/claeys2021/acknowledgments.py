"""Sections 3.3 and 4.1: what selective acknowledgments (SACK) save."""

from __future__ import annotations

from pathlib import Path

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021 import loss
from slowhand.papers.claeys2021.handshake import BY_MTU, SCENARIO, tls_settings
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point, Settings

WITHOUT: Settings = {"transport.client.sack": False, "transport.server.sack": False}
NO_PROBES: Settings = {"transport.server.tail_loss_probe": False}
LOSSY = {mtu: BY_MTU[f"tls.{mtu}"] for mtu in (864, 356)}
"""Without Nagle: then several segments are on the way."""

IMPATIENT: dict[int, Settings] = {
    mss: {**tls_settings(mss, nagle=False), "server.internet_dropped": []} for mss in (844, 336)
}
"""The server begins with a timeout of 1 s, and repeats segments that are only slow."""


def points() -> list[Point]:
    """The points to run."""
    with_losses = [lossy(mtu, more) for mtu in LOSSY for more in ({}, WITHOUT)]
    return [*with_losses, *(impatient(mss, more) for mss in IMPATIENT for more in VARIANTS)]


VARIANTS: tuple[Settings, ...] = ({}, WITHOUT, NO_PROBES, {**WITHOUT, **NO_PROBES})


def lossy(mtu: int, more: Settings) -> Point:
    """One fragment in twenty is lost."""
    return loss.point({**LOSSY[mtu], **more}, loss.LOSS)


def impatient(mss: int, more: Settings) -> Point:
    """No fragment is lost, and the server repeats segments all the same."""
    return Point.of(SCENARIO, {**IMPATIENT[mss], **more})


def measure(laboratory: Laboratory) -> Values:
    """What handshakes without SACK have more than those with it."""

    def saved(without: Point, sack: Point, column: str) -> Estimate:
        return laboratory.mean(without, column) - laboratory.mean(sack, column)

    values: dict[str, Estimate | None] = {}
    for mtu in LOSSY:
        pair = lossy(mtu, WITHOUT), lossy(mtu, {})
        values[f"{mtu}.bytes"] = saved(*pair, "bytes_phy")
        values[f"{mtu}.duration"] = saved(*pair, "duration_s")
    for mss in IMPATIENT:
        values[f"spurious.{mss}"] = saved(impatient(mss, WITHOUT), impatient(mss, {}), "bytes_phy")
        values[f"spurious.{mss}.no.probes"] = saved(
            impatient(mss, {**WITHOUT, **NO_PROBES}), impatient(mss, NO_PROBES), "bytes_phy"
        )
    return values


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws nothing."""
    return []
