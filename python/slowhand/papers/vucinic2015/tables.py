"""Tables I and II: equations (1) and (2) for ten frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slowhand.estimate import Estimate
from slowhand.papers.points import Laboratory, Values

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


def table1(laboratory: Laboratory) -> Values:
    """A single hop, by its cells; and the two ends of the paper's conclusion."""
    conclusion = {f"conclusion.L101.C{c}": Estimate(handshake_s(101, [c])) for c in (1, 3)}
    return by_formula({f"C{c}": (c,) for c in (1, 2, 3)}) | conclusion


def table2(laboratory: Laboratory) -> Values:
    """Several hops with a cell each."""
    return by_formula({f"H{h}": (1,) * h for h in (2, 3, 4)})


def by_formula(columns: Mapping[str, Sequence[int]]) -> dict[str, Estimate]:
    """Handshakes by formula, where each column has the cells of each hop. Nothing is run."""
    return {
        f"L{slotframe}.{column}": Estimate(handshake_s(slotframe, cells))
        for slotframe in SLOTFRAMES
        for column, cells in columns.items()
    }
