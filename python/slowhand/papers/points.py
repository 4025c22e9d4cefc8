"""The points of a figure: scenarios with some keys replaced. Each point is measured once."""

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

    It may have several variants, such as random schedules. Each variant runs its share of the
    handshakes.
    """

    scenario: str
    variants: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, scenario: str, settings: Settings, variants: Iterable[Settings] = ({},)) -> Point:
        """The point with these settings, which all variants share."""
        merged = [{**settings, **variant} for variant in variants]
        overrides = (tuple(f"{key}={toml(value)}" for key, value in m.items()) for m in merged)
        return cls(scenario, tuple(overrides))


@dataclass(frozen=True)
class Measured:
    """The results of the handshakes of a point."""

    outcomes: Counter[str]
    """The number of handshakes by outcome."""
    samples: Mapping[str, list[float]]
    """The values of the completed handshakes, by column."""
    clusters: Sequence[int]
    """The cluster of each completed handshake. Handshakes of one world share its network, those of
    one variant its schedule. So a cluster is a variant if there are variants, else a world."""

    @property
    def completed(self) -> float:
        """The share of handshakes that completed."""
        return self.outcomes["completed"] / max(1, self.outcomes.total())

    def estimate(self, column: str) -> Estimate | None:
        """The mean over the completed handshakes; none if no handshake completed."""
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
"""The columns of a record that are kept."""


class NoneCompleted(Exception):
    """No handshake of a point completed, so that it has no mean. The message names the point."""


class Laboratory:
    """Runs points with `count` handshakes each, on all processors. It runs each point once."""

    def __init__(self, folder: Path, *, count: int, update: Callable[[int], None]):
        self.folder = folder
        self.count = count
        self.measured: dict[Point, Measured] = {}
        self._update = update
        self._done = 0

    def measure(self, point: Point) -> Measured:
        """The results of a point's handshakes."""
        if point not in self.measured:
            self.measured[point] = self._run(point)
        return self.measured[point]

    def mean(self, point: Point, column: str) -> Estimate:
        """The mean of a column. Raises `NoneCompleted` if no handshake of the point did."""
        estimate = self.measure(point).estimate(column)
        if not estimate:
            raise NoneCompleted(self.message(point))
        return estimate

    def message(self, point: Point) -> str:
        """What came out where no handshake of a point completed."""
        outcomes = self.measured[point].outcomes.items()
        words = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in outcomes)
        variant = " ".join(point.variants[0]) or "as it is"
        return f"no handshake completed ({words}) of {point.scenario}, {variant}"

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
                # With short timeouts, so that Python can handle Ctrl-C between them.
                done, finished = run.wait(0.1)
                self._update(self._done + done)
        except KeyboardInterrupt:
            run.cancel()
            raise
        self._done += run.count
        return run.columns()
