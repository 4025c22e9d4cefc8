"""Sections 3.3 and 4.1: what selective acknowledgements (SACK) save."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021 import loss
from slowhand.papers.claeys2021.handshake import (
    BY_MTU,
    LARGE_MSS,
    NOTHING_DROPPED,
    SMALL_MSS,
    handshake,
    tls_settings,
)
from slowhand.papers.points import Laboratory, NoneCompleted, Point, Settings, Values

WITHOUT: Settings = {"transport.client.sack": False, "transport.server.sack": False}
NO_PROBES: Settings = {"transport.server.tail_loss_probe": False}
LOSSY = {mtu: BY_MTU[f"tls.{mtu}"] for mtu in (864, 356)}
"""Without Nagle: then several segments are on the way."""

IMPATIENT: dict[int, Settings] = {
    mss: {**tls_settings(mss, nagle=False), **NOTHING_DROPPED} for mss in (LARGE_MSS, SMALL_MSS)
}
"""The server begins with a timeout of 1 s, and repeats segments that are only slow."""

SPURIOUS: dict[str, Settings] = {"": {}, ".no.probes": NO_PROBES}


def lossy(mtu: int, more: Settings) -> Point:
    """One fragment in twenty is lost."""
    return loss.point({**LOSSY[mtu], **more}, loss.LOSS)


def impatient(mss: int, more: Settings) -> Point:
    """No fragment is lost, and the server repeats segments all the same."""
    return handshake(IMPATIENT[mss], more)


VARIANTS = [{**sack, **probes} for sack in ({}, WITHOUT) for probes in SPURIOUS.values()]

POINTS = [
    *(lossy(mtu, more) for mtu in LOSSY for more in ({}, WITHOUT)),
    *(impatient(mss, more) for mss in IMPATIENT for more in VARIANTS),
]


def measure(laboratory: Laboratory) -> Values:
    """The costs that handshakes without SACK have above those with it."""
    values: dict[str, Estimate | None] = {}
    for mtu in LOSSY:
        pair = lossy(mtu, WITHOUT), lossy(mtu, {})
        values[f"{mtu}.bytes"] = saved(laboratory, *pair, "bytes_phy")
        values[f"{mtu}.duration"] = saved(laboratory, *pair, "duration_s")
    for mss in IMPATIENT:
        for name, probes in SPURIOUS.items():
            pair = impatient(mss, {**WITHOUT, **probes}), impatient(mss, probes)
            values[f"spurious.{mss}{name}"] = saved(laboratory, *pair, "bytes_phy")
    return values


def saved(laboratory: Laboratory, without: Point, sack: Point, column: str) -> Estimate:
    """The savings of SACK: the mean over pairs of handshakes with the same seed.

    Both of a pair begin with the same losses, and both completed.
    """
    each = [laboratory.measure(point) for point in (without, sack)]
    by_seed = [dict(zip(m.clusters, m.samples[column], strict=True)) for m in each]
    both = sorted(by_seed[0].keys() & by_seed[1].keys())
    if not both:
        raise NoneCompleted(laboratory.message(sack))
    return Estimate.of([by_seed[0][seed] - by_seed[1][seed] for seed in both])
