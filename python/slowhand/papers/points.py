"""The points of a figure: scenarios with some keys replaced, run many times, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    samples: Mapping[str, list[float]]
    """By column: the values of the completed handshakes."""
    clusters: Sequence[int]
    """The cluster of each completed handshake. Handshakes of one world share its network, and those
    of one variant its schedule: where there are variants a cluster is a variant, else a world."""

    @property
    def completed(self) -> float:
        """The share of handshakes that completed."""
        return self.outcomes["completed"] / max(1, self.outcomes.total())

    def estimate(self, column: str) -> Estimate | None:
        """The mean over the completed handshakes; none where none completed."""
        values = self.samples[column]
        return Estimate.of(values, self.clusters) if values else None


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

    def mean(self, point: Point, column: str) -> Estimate:
        """The mean of a column at a point at which handshakes complete."""
        estimate = self.measure(point).estimate(column)
        assert estimate, point
        return estimate

    def completed(self, point: Point) -> Estimate:
        """The share of handshakes that complete, in per cent."""
        return Estimate(100 * self.measure(point).completed)

    def _run(self, point: Point) -> Measured:
        outcomes: Counter[str] = Counter()
        samples: dict[str, list[float]] = {column: [] for column in COLUMNS}
        clusters: list[int] = []
        each = max(1, self.count // len(point.variants))
        for number, overrides in enumerate(point.variants):
            scenario = Scenario.with_overrides(self.folder / point.scenario, list(overrides))
            columns = self._columns(Run(scenario, count=each, seed=1 + number * each))
            outcomes.update(columns["outcome"])
            completed = [i for i, o in enumerate(columns["outcome"]) if o == "completed"]
            for column, values in samples.items():
                values += [columns[column][i] for i in completed]
            several = len(point.variants) > 1
            clusters += [number if several else columns["seed"][i] for i in completed]
        return Measured(outcomes, samples, clusters)

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
