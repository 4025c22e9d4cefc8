"""A part of a paper: a table, a figure or a section."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from slowhand.estimate import Estimate
from slowhand.papers.points import Laboratory, Point

Values = Mapping[str, Estimate | None]
"""Our value for each row, by its id without the part; none if no handshake completed."""


class Part(Protocol):
    """A part of a paper."""

    def points(self) -> list[Point]:
        """The points to run."""
        ...

    def measure(self, laboratory: Laboratory) -> Values:
        """Our values for its rows."""
        ...

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws its figures from the measured points. Returns the files."""
        ...


def no_figure(laboratory: Laboratory, folder: Path) -> list[Path]:
    """The `draw` of a part without figures."""
    return []
