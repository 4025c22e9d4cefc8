"""The content of a node's buffers over time, as Fig. 10 draws it."""

from __future__ import annotations

from typing import NamedTuple

from slowhand.papers.points import Laboratory, Point


class Level(NamedTuple):
    """The content of a node's buffers from a time on."""

    at_s: float
    fragments: int
    """Incoming: in reassembly."""
    frames: int
    """Outgoing: in the queue."""


def levels(laboratory: Laboratory, point: Point, *, node: int, seed: int) -> list[Level]:
    """The content of a node's buffers in one handshake."""
    rows = point.made(laboratory.folder).inspect(seed=seed).buffers.iter_rows(named=True)
    return [
        Level(row["from_s"], row["reassembly_fragments"], row["queued_frames"])
        for row in rows
        if row["node"] == node
    ]


def check(laboratory: Laboratory, point: Point) -> None:
    """Raises `NoneCompleted` if not even one handshake completes: buffers alone do not say it."""
    one = Laboratory(laboratory.folder, count=1, update=lambda done: None)
    one.mean(point, "duration_s")
