"""What the module of a paper has for each part: a table, a figure, a section."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from slowhand.estimate import Estimate
from slowhand.papers.points import Laboratory, Point

Values = Mapping[str, Estimate | None]
"""What came out here for each row, by its id without the part; none where nothing did."""


class Part(Protocol):
    """A part of a paper."""

    def points(self) -> list[Point]:
        """What it has to run."""
        ...

    def measure(self, laboratory: Laboratory) -> Values:
        """What comes out here for its rows."""
        ...

    def draw(self, laboratory: Laboratory, folder: Path) -> list[Path]:
        """Draws its figures from what has been measured; the files."""
        ...
