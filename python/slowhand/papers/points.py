"""Parts of papers, and their points: scenarios with some keys replaced, each measured once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slowhand.api import Run, Scenario
from slowhand.estimate import Estimate
from slowhand.keys import Setting, toml

Settings = Mapping[str, Setting]


@dataclass(frozen=True)
class Point:
    """A scenario of a paper's folder with some keys replaced.

    It may have several variants, such as random schedules. Each variant runs its share of the
    handshakes.
    """

    scenario: str
    variants: tuple[tuple[str, ...], ...]
    most: int | None = None
    """The most worlds, where fewer than asked for are enough."""

    @classmethod
    def of(
        cls,
        scenario: str,
        settings: Settings,
        variants: Iterable[Settings] = ({},),
        *,
        most: int | None = None,
    ) -> Point:
        """The point with these settings, which all variants share."""
        merged = [{**settings, **variant} for variant in variants]
        overrides = (tuple(f"{key}={toml(value)}" for key, value in m.items()) for m in merged)
        return cls(scenario, tuple(overrides), most)

    def made(self, folder: Path, variant: int = 0) -> Scenario:
        """The scenario of a variant, from a paper's folder."""
        return Scenario(folder / self.scenario, list(self.variants[variant]))

    def each(self, count: int) -> int:
        """The worlds of each variant, if the point has `count` worlds."""
        count = count if self.most is None else min(count, self.most)
        return max(1, count // len(self.variants))

    def worlds(self, count: int) -> int:
        """The worlds of all variants: `count` or `most`, or less if it cannot be divided."""
        return self.each(count) * len(self.variants)


@dataclass(frozen=True)
class Measured:
    """The results of the handshakes of a point."""

    outcomes: Counter[str]
    """The number of handshakes by outcome; of conversations, if requests follow."""
    samples: Mapping[str, list[float]]
    """The values of the completed handshakes, by column; none in columns about requests, if there
    are none."""
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


FIRST_SEED = 1
"""The seed of a point's first world."""

COLUMNS = (
    "duration_s",
    "energy_client_mj",
    "energy_client_cpu_mj",
    "energy_client_tx_mj",
    "energy_client_rx_mj",
    "energy_client_listen_mj",
    "energy_client_sleep_mj",
    "bytes_phy",
    "bytes_payload",
    "compute_client_s",
    "compute_server_s",
    "frames",
    "datagrams",
    "datagrams_lost",
    "retransmissions_needed",
    "retransmissions_spurious",
    "energy_client_tpm_mj",
    "data_s",
    "data_frames",
    "energy_client_data_mj",
)
"""The columns of a record that are kept."""


class NoMeasurement(Exception):
    """A point has no mean. The message names the point and says why."""


class NoneCompleted(NoMeasurement):
    """No handshake of a point completed."""


class WorldsPanicked(NoMeasurement):
    """Worlds of a point panicked. The others alone are not the sample that was asked for."""


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
        """The outcome where no handshake of a point completed, in words."""
        outcomes = self.measured[point].outcomes.items()
        words = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in outcomes)
        return f"no handshake completed ({words}) of {point.scenario}, {_words(point.variants[0])}"

    def completed(self, point: Point) -> Estimate:
        """The share of handshakes that complete, in per cent."""
        return Estimate(100 * self.measure(point).completed)

    def _run(self, point: Point) -> Measured:
        outcomes: Counter[str] = Counter()
        samples: dict[str, list[float]] = {column: [] for column in COLUMNS}
        clusters: list[int] = []
        each = point.each(self.count)
        for number, overrides in enumerate(point.variants):
            seed = FIRST_SEED + number * each
            run = Run(point.made(self.folder, number), count=each, seed=seed)
            run.watch(lambda done: self._update(self._done + done))
            self._done += each
            if run.panicked:
                raise WorldsPanicked(f"{point.scenario}, {_words(overrides)}: {run.panicked[0]}")
            columns = run.columns()
            # That of the requests is missing if none was sent. If a handshake failed, both agree.
            ends = zip(columns["outcome"], columns["data_outcome"], strict=True)
            ended = [data or handshake for handshake, data in ends]
            outcomes.update(ended)
            completed = [i for i, outcome in enumerate(ended) if outcome == "completed"]
            for column, values in samples.items():
                found = (columns[column][i] for i in completed)
                values += [value for value in found if value is not None]
            several = len(point.variants) > 1
            clusters += [number if several else columns["seed"][i] for i in completed]
        return Measured(outcomes, samples, clusters)


Values = Mapping[str, Estimate | None]
"""Our value for each row, by its id without the part; none if no handshake completed."""


@dataclass(frozen=True)
class Part:
    """A part of a paper: a table, a figure or a section."""

    measure: Callable[[Laboratory], Values]
    """Our values for its rows."""
    points: Sequence[Point] = ()
    """The points to run; none if what it needs is in captures, in buffers, or in a formula."""
    draw: Callable[[Laboratory, Path], list[Path]] = lambda laboratory, folder: []
    """Draws its figures from the measured points. Returns the files."""


def _words(overrides: Sequence[str]) -> str:
    return " ".join(overrides) or "as it is"
