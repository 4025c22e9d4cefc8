"""The results of a sweep's configurations, each from a scan of its own rows.

The metrics of one configuration, or one metric of two, are the most that is loaded at a time: some
tens of octets for each handshake of a configuration.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple, Self

from slowhand.bounds import MAX_SEED
from slowhand.estimate import Estimate, percentile
from slowhand.sweeps.dataset import Configuration, DataSet

METRICS = ("duration_s", "energy_client_mj", "bytes_phy", "retransmissions_spurious")
"""The metrics that are summarised of every sweep, beside the one that it is asked for."""

CLEARLY_FEWER = 0.01
"""The best configuration has at most this share of handshakes less than the one that completes the
most. (Assumed: what fails more often is not better, however fast the rest is.)"""


@dataclass(frozen=True)
class Metric:
    """A column over the completed handshakes of a configuration."""

    estimate: Estimate
    """Its mean, with an interval over the worlds."""
    has_interval: bool
    """False if all values are of one world."""
    p50: float
    p95: float

    def json(self) -> dict[str, Any]:
        """As in the summary of a run."""
        return {**_json(self.estimate, self.has_interval), "p50": self.p50, "p95": self.p95}


class Difference(NamedTuple):
    """The mean of a configuration minus that of the baseline, in the same worlds."""

    estimate: Estimate
    pairs: int
    """The number of worlds: those in which handshakes completed in both."""

    def json(self) -> dict[str, Any]:
        """With its interval."""
        return {**_json(self.estimate, self.pairs > 1), "pairs": self.pairs}


@dataclass(frozen=True)
class Measured:
    """The results of a configuration."""

    configuration: Configuration
    worlds: int
    panicked: int
    """Worlds that have no row: of programs, those that were not run to their end."""
    outcomes: Mapping[str, int]
    """The number of handshakes by outcome."""
    metrics: Mapping[str, Metric]
    """Empty if no handshake completed."""
    unsuccessful: int = 0
    """The number of worlds in which a program did not do what the scenario asks of it."""
    silent: int = 0
    """The number of programs of clients that sent nothing to the server. They gave up."""

    @property
    def handshakes(self) -> int:
        """The number of handshakes."""
        return sum(self.outcomes.values())

    @property
    def completed(self) -> int:
        """The number of them that completed."""
        return self.outcomes.get("completed", 0)

    @property
    def share(self) -> float:
        """The share that completed."""
        return self.completed / max(1, self.handshakes)

    @property
    def failed(self) -> float:
        """The share that did not. A world without a row has one handshake that did not."""
        return 1 - self.completed / max(1, self.handshakes + self.panicked)

    def json(self) -> dict[str, Any]:
        """For JSON."""
        failed = {name: n for name, n in self.outcomes.items() if name != "completed"}
        return {
            "scenario": self.configuration.name,
            "settings": dict(self.configuration.settings),
            "followed": dict(self.configuration.followed),
            "worlds": self.worlds,
            "completed": self.completed,
            "failed": failed,
            "panicked_count": self.panicked,
            "unsuccessful": self.unsuccessful,
            "silent": self.silent,
            "metrics": {name: metric.json() for name, metric in self.metrics.items()},
        }


@dataclass
class Columns:
    """Some metrics of the completed handshakes of a configuration, ordered by seed."""

    seeds: array[int]
    values: dict[str, array[float]]
    """By metric. NaN where a handshake has none."""
    outcomes: Counter[str]
    """The number of all handshakes by outcome."""
    worlds: int = 0
    """The number of worlds that have a row."""

    @classmethod
    def read(cls, data: DataSet, configuration: Configuration, metrics: Iterable[str]) -> Self:
        """Reads them from the files one after the other. Lists would need three times as much."""
        import polars

        values = {name: array("d") for name in metrics}
        found = cls(array("Q"), values, Counter())
        for frame in data.frames(configuration, ["seed", "outcome", *values]):
            found.outcomes.update(dict(frame["outcome"].value_counts().iter_rows()))
            found.worlds += frame["seed"].n_unique()
            completed = frame.filter(polars.col("outcome") == "completed")
            found.seeds.frombytes(completed["seed"].to_numpy().tobytes())
            for name, column in values.items():
                numbers = completed[name].cast(polars.Float64).fill_null(math.nan)
                column.frombytes(numbers.to_numpy().tobytes())
        return found

    def metric(self, name: str, last: int = MAX_SEED) -> tuple[Sequence[float], Sequence[int]]:
        """The values of a metric up to a seed, and the seed of each."""
        values, seeds = self.values[name], self.seeds
        end = bisect_right(seeds, last)
        if end < len(seeds):
            values, seeds = values[:end], seeds[:end]
        if any(map(math.isnan, values)):
            known = [not math.isnan(value) for value in values]
            return array("d", compress(values, known)), array("Q", compress(seeds, known))
        return values, seeds

    def worlds_of(self, name: str) -> Iterator[tuple[int, float]]:
        """The mean of a metric in each world. A world has one handshake, or several."""
        values, seeds = self.metric(name)
        pairs = groupby(zip(seeds, values, strict=True), key=itemgetter(0))
        for seed, group in pairs:
            yield seed, fmean(value for _, value in group)


def measure(data: DataSet, configuration: Configuration, others: Iterable[str]) -> Measured:
    """Summarises the rows of a configuration: other metrics, and those of `METRICS`."""
    columns = Columns.read(data, configuration, dict.fromkeys((*others, *METRICS)))
    metrics = {}
    for name in columns.values:
        values, seeds = columns.metric(name)
        if values:
            p50, p95 = (percentile(values, share) for share in (0.5, 0.95))
            metrics[name] = Metric(Estimate.of(values, seeds), seeds[0] != seeds[-1], p50, p95)
    worlds = data.worlds(configuration)
    outcomes = dict(sorted(columns.outcomes.items()))
    missing = worlds - columns.worlds
    programs = _programs(data, configuration)
    return Measured(configuration, worlds, missing, outcomes, metrics, *programs)


def _programs(data: DataSet, configuration: Configuration) -> tuple[int, int]:
    """In how many worlds programs did not do what they were to do; how many clients were silent."""
    unsuccessful = silent = 0
    if configuration.has_programs:
        for frame in data.frames(configuration, ["seed", "success_world", "datagrams"]):
            unsuccessful += frame.filter(success_world=False)["seed"].n_unique()
            silent += len(frame.filter(datagrams=0))
    return unsuccessful, silent


def times_more(columns: Columns, metric: str, last: int, precision: float) -> float:
    """The factor for the number of worlds with which the interval is so narrow: 1 if it is.

    Only the worlds up to the seed `last` count. Infinity if there is no interval yet. The width
    falls with the square root of the worlds.
    """
    values, seeds = columns.metric(metric, last)
    if not values:
        return math.inf
    estimate = Estimate.of(values, seeds)
    wanted = precision * abs(estimate.mean)
    if not estimate.ci95:  # one world, or all values are the same
        return math.inf if seeds[0] == seeds[-1] else 1.0
    return max(1.0, (estimate.half / wanted) ** 2) if wanted else math.inf


def best(measured: list[Measured], metric: str) -> Measured | None:
    """Of the configurations that complete the most handshakes the one with the least mean."""
    known = [each for each in measured if metric in each.metrics]
    if not known:
        return None
    most = max(each.share for each in known)
    reliable = [each for each in known if each.share >= most - CLEARLY_FEWER]
    return min(reliable, key=lambda each: each.metrics[metric].estimate.mean)


class Baseline:
    """The worlds of one configuration, to which those of the others are compared."""

    def __init__(self, data: DataSet, configuration: Configuration, metric: str):
        self._data = data
        self._metric = metric
        self._columns = Columns.read(data, configuration, [metric])

    def difference(self, configuration: Configuration) -> Difference | None:
        """The difference over the worlds that completed in both; none if there is none."""
        columns = Columns.read(self._data, configuration, [self._metric])
        differences = array("d", self._differences(columns.worlds_of(self._metric)))
        if not differences:
            return None
        return Difference(Estimate.of(differences), len(differences))

    def _differences(self, worlds: Iterator[tuple[int, float]]) -> Iterator[float]:
        """The differences of worlds with the same seed, where both are ordered by it."""
        others = self._columns.worlds_of(self._metric)
        other = next(others, None)
        for seed, value in worlds:
            while other and other[0] < seed:
                other = next(others, None)
            if other and other[0] == seed:
                yield value - other[1]


def _json(estimate: Estimate, has_interval: bool) -> dict[str, Any]:
    """As in the summary of a run: one world has no interval."""
    mean, half = estimate.mean, estimate.half
    interval = {"half": half, "ci95": [mean - half, mean + half]}
    return {"mean": mean, **(interval if has_interval else dict.fromkeys(interval))}
