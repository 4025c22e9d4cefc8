"""The points of a figure: scenarios with some keys replaced, run many times, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slowhand.api import Run, Scenario, Setting, toml
from slowhand.estimate import Estimate

Settings = Mapping[str, Setting]


@dataclass(frozen=True)
class Point:
    """A scenario of a paper's folder with some keys replaced.

    It may have several variants, such as schedules drawn at random; each runs its share of the
    handshakes.
    """

    scenario: str
    variants: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, scenario: str, settings: Settings, variants: Iterable[Settings] = ({},)) -> Point:
        """The point of these settings, which all variants share."""
        merged = [{**settings, **variant} for variant in variants]
        overrides = (tuple(f"{key}={toml(value)}" for key, value in m.items()) for m in merged)
        return cls(scenario, tuple(overrides))


@dataclass(frozen=True)
class Measured:
    """What came of the handshakes of a point."""

    outcomes: Counter[str]
    """How many ended how."""
    samples: Mapping[str, list[list[float]]]
    """By column: the values of the completed handshakes of each variant."""

    @property
    def completed(self) -> float:
        """The share of handshakes that completed."""
        return self.outcomes["completed"] / max(1, self.outcomes.total())

    def estimate(self, column: str) -> Estimate | None:
        """The mean over the completed handshakes; none where none completed.

        Handshakes of one variant have its schedule in common, so that where there are variants it
        is their means that are independent.
        """
        variants = [values for values in self.samples[column] if values]
        if not variants:
            return None
        if len(variants) == 1:
            return Estimate.of(variants[0])
        return Estimate.of([Estimate.of(values).mean for values in variants])


COLUMNS = (
    "duration_s",
    "energy_client_mj",
    "energy_client_cpu_mj",
    "energy_client_tx_mj",
    "energy_client_rx_mj",
    "energy_client_listen_mj",
    "energy_client_sleep_mj",
    "bytes_phy",
    "compute_client_s",
    "frames",
    "datagrams",
    "datagrams_lost",
    "retransmissions_needed",
    "retransmissions_spurious",
    "energy_client_tpm_mj",
)
"""What is kept of a record."""


class Laboratory:
    """Runs points, `count` handshakes each, on all processors; the same point once only."""

    def __init__(self, folder: Path, *, count: int, update: Callable[[int], None]):
        self.folder = folder
        self.count = count
        self.measured: dict[Point, Measured] = {}
        self._update = update
        self._done = 0

    def measure(self, point: Point) -> Measured:
        """What came of a point's handshakes."""
        if point not in self.measured:
            self.measured[point] = self._run(point)
        return self.measured[point]

    def _run(self, point: Point) -> Measured:
        outcomes: Counter[str] = Counter()
        samples: dict[str, list[list[float]]] = {column: [] for column in COLUMNS}
        each = max(1, self.count // len(point.variants))
        for number, overrides in enumerate(point.variants):
            scenario = Scenario.with_overrides(self.folder / point.scenario, list(overrides))
            columns = self._columns(Run(scenario, count=each, seed=1 + number * each))
            outcomes.update(columns["outcome"])
            done = [outcome == "completed" for outcome in columns["outcome"]]
            for column, values in samples.items():
                values.append([v for v, ok in zip(columns[column], done, strict=True) if ok])
        return Measured(outcomes, samples)

    def _columns(self, run: Run) -> dict[str, Any]:
        try:
            finished = False
            while not finished:
                # In slices: Python sees Ctrl-C between them.
                done, finished = run.wait(0.1)
                self._update(self._done + done)
        except KeyboardInterrupt:
            run.cancel()
            raise
        self._done += run.count
        return run.finish().columns()
