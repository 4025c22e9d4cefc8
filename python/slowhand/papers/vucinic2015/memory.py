"""Section IV: session slots, and who is refused one."""

from __future__ import annotations

from pathlib import Path

from slowhand import capacity
from slowhand.estimate import Estimate
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

SLOTS, CLIENTS, RHO = 3, 5, 0.5
BYTES_PER_SESSION = 400
RESERVED_BYTES = 15_184
"""See `wismote-reserved` in assumptions.toml."""

SWEEP = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]


def points() -> list[Point]:
    """What is to be run."""
    return []


def measure(laboratory: Laboratory) -> Values:
    """What comes out here for the rows of this part."""
    found = capacity.compute(slots=SLOTS, clients=CLIENTS, rho=RHO, policy="refuse")
    wismote = capacity.memory(
        "wismote", bytes_per_session=BYTES_PER_SESSION, reserved_bytes=RESERVED_BYTES
    )
    return {
        "blocking": Estimate(100 * found["time_congestion"]),
        "refused": Estimate(100 * found["call_congestion"]),
        "blocking.simulated": _percent(found["simulated"]["time_congestion"]),
        "refused.simulated": _percent(found["simulated"]["call_congestion"]),
        "slots.wismote": Estimate(wismote.slots),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws who is refused, and what it costs not to refuse."""
    from slowhand.papers.vucinic2015 import figures

    swept = [capacity.compute(slots=SLOTS, clients=CLIENTS, rho=rho) for rho in SWEEP]
    return figures.capacity(swept, folder)


def _percent(metric: dict[str, list[float] | float]) -> Estimate:
    low, high = metric["ci95"]  # type: ignore[misc]
    return Estimate(50 * (low + high), 50 * (high - low))
