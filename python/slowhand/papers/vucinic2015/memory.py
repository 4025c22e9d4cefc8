"""Section IV: session slots, and refused requests."""

from __future__ import annotations

from pathlib import Path

from slowhand import capacity
from slowhand.estimate import Estimate, of_metric
from slowhand.papers.part import Values
from slowhand.papers.points import Laboratory, Point

SLOTS, CLIENTS, RHO = 3, 5, 0.5
BYTES_PER_SESSION = 400
RESERVED_BYTES = 15_184
"""See `wismote-reserved` in assumptions.toml."""

SWEEP = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]


def points() -> list[Point]:
    """The points to run."""
    return []


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    found = capacity.compute(slots=SLOTS, clients=CLIENTS, rho=RHO, policy="refuse")
    simulated = found["simulated"]

    def slots(device: str) -> Estimate:
        fit = capacity.memory(
            device, bytes_per_session=BYTES_PER_SESSION, reserved_bytes=RESERVED_BYTES
        )
        return Estimate(fit.slots)

    return {
        "blocking": Estimate(100 * found["time_congestion"]),
        "refused": Estimate(100 * found["call_congestion"]),
        "blocking.simulated": of_metric(simulated["time_congestion"], 100),
        "refused.simulated": of_metric(simulated["call_congestion"], 100),
        "slots.wismote": slots("wismote"),
        "slots.greennet": slots("greennet"),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws refused requests, and the handshakes that other policies cost."""
    from slowhand.papers.vucinic2015 import figures

    swept = [capacity.compute(slots=SLOTS, clients=CLIENTS, rho=rho) for rho in SWEEP]
    return figures.capacity(swept, folder)
