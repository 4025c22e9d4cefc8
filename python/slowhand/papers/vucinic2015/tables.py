"""Tables I and II: equations (1) and (2) for ten frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slowhand.estimate import Estimate
from slowhand.papers.part import Values, no_figure
from slowhand.papers.points import Laboratory, Point

FRAMES = 10
SLOT_S = 0.01
SLOTFRAMES = (101, 1001)


def latency(slotframe: int, cells: Sequence[int], pdr: float = 1.0) -> float:
    """Equations (1) and (2): slots until a frame has crossed the hops that have `cells` cells each.

    The frame waits L / (C + 1) slots for the first of C cells that lie anywhere, and takes one.
    """
    return sum((1 + slotframe / (c + 1)) / pdr for c in cells)


def handshake_s(slotframe: int, cells: Sequence[int]) -> float:
    """A handshake of ten frames, in seconds. Each frame waits for the one before it."""
    return FRAMES * SLOT_S * latency(slotframe, cells)


@dataclass(frozen=True)
class Table:
    """A table of handshakes by formula. There is nothing to run and nothing to draw."""

    cells: dict[str, Sequence[int]]
    """The columns: their names, and the cells of each hop."""
    others: dict[str, float]
    """Further rows of this part."""

    def points(self) -> list[Point]:
        """The points to run."""
        return []

    def measure(self, laboratory: Laboratory) -> Values:
        """Our values for the rows of this part."""
        return {
            f"L{slotframe}.{column}": Estimate(handshake_s(slotframe, cells))
            for slotframe in SLOTFRAMES
            for column, cells in self.cells.items()
        } | {id: Estimate(value) for id, value in self.others.items()}

    draw = staticmethod(no_figure)


TABLE_1 = Table(
    {f"C{c}": (c,) for c in (1, 2, 3)},
    others={
        "conclusion.L101.C1": handshake_s(101, [1]),
        "conclusion.L101.C3": handshake_s(101, [3]),
    },
)
TABLE_2 = Table({f"H{h}": (1,) * h for h in (2, 3, 4)}, others={})
