"""A part of a paper: a table, a figure or a section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slowhand.estimate import Estimate
from slowhand.papers.points import Laboratory, Point

Values = Mapping[str, Estimate | None]
"""Our value for each row, by its id without the part; none if no handshake completed."""


@dataclass(frozen=True)
class Part:
    """A part of a paper."""

    measure: Callable[[Laboratory], Values]
    """Our values for its rows."""
    points: Sequence[Point] = ()
    """The points to run; none if what it needs is in captures, in buffers, or in a formula."""
    draw: Callable[[Laboratory, Path], list[Path]] = lambda laboratory, folder: []
    """Draws its figures from the measured points. Returns the files."""
