"""Sweeps: many configurations of a scenario, or several scenarios, run with the same seeds.

All configurations meet the same losses (common random numbers), so the difference of two is known
much better than each of them.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand import _native
from slowhand._native import ScenarioError, __version__
from slowhand.api import COUNT, STACK_KEYS, Scenario, Source, loaded, own_builds
from slowhand.blame import moved
from slowhand.bounds import MAX_SEED, natural
from slowhand.closing import Closing
from slowhand.keys import Setting, Settings
from slowhand.nearest import none_of
from slowhand.report import METRICS
from slowhand.results import import_polars
from slowhand.sweeps import statistics
from slowhand.sweeps.conditions import Condition, worse
from slowhand.sweeps.dataset import Chunk, Configuration, DataSet, label
from slowhand.sweeps.following import FOLLOWED, followed, ways
from slowhand.sweeps.queue import Queue
from slowhand.sweeps.statistics import Baseline, Columns, Difference, Measured
from slowhand.sweeps.threads import Threads
from slowhand.sweeps.vary import Axis, Combination, Plain, SweepError, combinations
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars

    from slowhand.sweeps.cluster import Cluster

__all__ = ["Configuration", "Sampling", "Sweep", "SweepError", "compare", "sweep"]

METRIC = "duration_s"
"""The metric that configurations are compared by, if not given."""

MAX_COUNT = 10_000
"""The most worlds of a configuration, where a precision is asked for. (Assumed.)"""

MOST_GROWTH = 4
"""A round of a configuration has at most so many times the worlds of the round before. (Assumed: a
first estimate of the variance may be far too large.)"""

MARGIN = 1.1
"""A round has so many times more worlds than its estimate says: fewer rounds. (Assumed.)"""

BASELINES = ("first", "best")

LISTS = {"queue_peak", "reassembly_peak_bytes"}
"""Columns with a value for each node, which have no mean."""

UNITS = {n: row for rows in METRICS.values() for n, row in rows.items() if n not in LISTS}
"""The label and the unit of each metric."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The number of worlds of each configuration, and the metric by which they are compared."""

    count: int | None = None
    """The worlds of each; 100 if there is no precision either."""
    seed: int = 1
    precision: float | None = None
    """Repeat until half of the interval of the metric is at most this share of its mean."""
    max_count: int = MAX_COUNT
    """At most so many worlds then."""
    metric: str = METRIC
    baseline: str = "first"
    """The differences are to this configuration: `first` or `best`."""
    others: tuple[str, ...] = ()
    """Other metrics that are summarised, beside those of every sweep."""

    def __post_init__(self) -> None:
        if self.count is not None and self.precision is not None:
            raise SweepError("give either --count or --precision, which finds the count")
        if self.precision is not None and not 0 < self.precision < 1:
            found = f"{100 * self.precision:g} %"
            raise SweepError(f"--precision: found {found}, allowed: above 0 % and below 100 %")
        for name, value in (("--count", self.most), ("--max-count", self.max_count)):
            if natural(name.removeprefix("--"), value) < 1:
                raise SweepError(f"{name}: found {value}, allowed: 1 or more")
        natural("seed", self.seed)
        if self.last > MAX_SEED:
            raise SweepError(f"--seed {self.seed}: the last seed must be at most {MAX_SEED}")
        if self.metric not in UNITS:
            raise SweepError(none_of("--metric", self.metric, UNITS))
        if self.baseline not in BASELINES:
            raise SweepError(none_of("--baseline", self.baseline, BASELINES))

    @property
    def most(self) -> int:
        """The most worlds that a configuration may have."""
        if self.precision is not None:
            return self.max_count
        return COUNT if self.count is None else self.count

    @property
    def last(self) -> int:
        """The last seed that a configuration may have."""
        return self.seed + self.most - 1


class Progress(NamedTuple):
    """The state of a sweep while it runs."""

    done: int
    """Worlds that are done, those of before included."""
    total: int
    """Worlds in all, as far as they are known: a precision may ask for more later."""
    failed: int
    """Handshakes that did not complete, and worlds that panicked."""


class Result(NamedTuple):
    """The measurements of a configuration, and its difference to the baseline."""

    measured: Measured
    difference: Difference | None


class Sweep(Closing):
    """Configurations to run with the same seeds. It is a context manager: it closes its folder.

    `out` is the folder of its rows. If there are rows of the same sweep, it continues. Without
    `out` the rows are in a temporary folder.
    """

    def __init__(
        self,
        configurations: Sequence[Configuration],
        sampling: Sampling,
        *,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        scheduler: str | None = None,
        impossible: Sequence[Impossible] = (),
    ):
        import_polars()
        self.configurations = tuple(configurations)
        self.impossible = tuple(impossible)
        """Combinations that cannot run, and why."""
        self.sampling = sampling
        self.out = None if out is None else os.fspath(out)
        self.panicked: list[str] = []
        """Which worlds panicked, and how, since this object was made."""
        self._exits = ExitStack()
        self._began = time.monotonic()
        with ExitStack() as exits:
            has_programs = any(each.has_programs for each in self.configurations)
            self._place: Threads | Cluster = Threads(threads, extra=has_programs)
            if scheduler is not None:
                if has_programs:
                    allowed = "scenarios without: programs run on this computer"
                    raise SweepError(f"--scheduler: found programs, allowed: {allowed}")
                from slowhand.sweeps.cluster import Cluster

                self._place = exits.enter_context(Cluster(scheduler))
            folder, option = self.out, "--out"
            if folder is None:
                made = tempfile.TemporaryDirectory(prefix="slowhand-", ignore_cleanup_errors=True)
                folder, option = exits.enter_context(made), "without --out, rows in"
            seeds = (sampling.seed, sampling.last)
            self.data = DataSet(folder, self.configurations, *seeds, option=option)
            exits.enter_context(self.data)
            self._exits = exits.pop_all()
        self._failed = self.data.failed()

    def close(self) -> None:
        """Lets others use the folder."""
        self._exits.close()

    def run(self, update: Callable[[Progress], None] = lambda progress: None) -> None:
        """Runs what is missing. Calls `update` again and again.

        What ends it, as Ctrl-C does, loses the chunks in progress and nothing else.
        """
        while chunks := list(self._missing()):
            self._round(chunks, update)

    def _round(self, chunks: list[Chunk], update: Callable[[Progress], None]) -> None:
        queue = Queue(chunks)
        done = self.worlds
        total = done + queue.left

        def tell(unwritten: int) -> None:
            update(Progress(done + unwritten, total, self._failed))

        running = self._place.run(queue, tell)
        try:
            for chunk, rows in running:
                self.data.store(chunk, rows)
                done += chunk.count
                self._failed += rows.failed
                self.panicked += rows.panicked
                tell(0)
        finally:
            running.close()

    def _missing(self) -> Iterable[Chunk]:
        """The chunks of the next round: none if all configurations have their worlds."""
        for configuration in self.configurations:
            for count in self._rounds(configuration):
                missing = list(self.data.missing(configuration, self.sampling.seed, count))
                if missing:
                    yield from missing
                    break

    def _rounds(self, configuration: Configuration) -> Iterable[int]:
        """The worlds of a configuration after each round.

        They follow from the rows of the round before and from nothing else. So a sweep that was
        stopped makes the same rounds.
        """
        sampling = self.sampling
        if sampling.precision is None:
            yield sampling.most
            return
        count = min(COUNT, sampling.most)
        while True:
            yield count
            last = sampling.seed + count - 1
            columns = Columns.read(self.data, configuration, [sampling.metric])
            times = statistics.times_more(columns, sampling.metric, last, sampling.precision)
            if times <= 1 or count == sampling.most:
                return
            wanted = count * min(MOST_GROWTH, MARGIN * times)
            count = min(sampling.most, math.ceil(wanted))

    def results(self) -> list[Result]:
        """The results of each configuration, and its difference to the baseline."""
        metric = self.sampling.metric
        self.data.read()  # a signal may have come when a file was just complete
        wanted = (metric, *self.sampling.others)
        measured = [statistics.measure(self.data, each, wanted) for each in self.configurations]
        to = self.baseline(measured)
        if to is None or len(measured) < 2:
            return [Result(each, None) for each in measured]
        worlds = Baseline(self.data, to.configuration, metric)
        return [
            Result(each, None if each is to else worlds.difference(each.configuration))
            for each in measured
        ]

    def baseline(self, measured: list[Measured]) -> Measured | None:
        """The configuration to which the others are compared."""
        if self.sampling.baseline == "best":
            return statistics.best(measured, self.sampling.metric)
        return measured[0]

    @property
    def worlds(self) -> int:
        """The number of worlds that are done and written."""
        return sum(map(self.data.worlds, self.configurations))

    @property
    def notes(self) -> list[str]:
        """The actions of programs by which another run of a seed may differ, each once."""
        return list(self.data.notes)

    @property
    def wall_s(self) -> float:
        """The seconds since this object was made."""
        return time.monotonic() - self._began

    def worse(
        self, results: list[Result], most: float | None, conditions: Iterable[Condition] = ()
    ) -> list[str]:
        """Why configurations are worse than the baseline by more than this share, or fail.

        Raises `SweepError` if handshakes completed without the column of a condition.
        """
        to = self.baseline([result.measured for result in results])
        found = [] if most is None else worse(results, to, self.sampling.metric, most)
        found += [text for each in conditions for text in each.broken(results, to)]
        if not found and not any(result.measured.completed for result in results):
            found.append("no handshake completed with any configuration")
        return found

    def json(self, results: list[Result], *, interrupted: bool) -> dict[str, Any]:
        """The results for JSON."""
        sampling = self.sampling
        base = self.configurations[0].base
        to = self.baseline([result.measured for result in results])
        sources = {each.name: each.base.sources for each in self.configurations}
        return {
            "slowhand": __version__,
            "scenario": base.path,
            "scenarios": {
                name: {"overrides": found["overrides"], "files": found["files"]}
                for name, found in sources.items()
            },
            **own_builds(name for each in self.configurations for name in each.stacks),
            "varied": list(self.configurations[0].settings),
            "seed": sampling.seed,
            "count": sampling.count if sampling.precision is not None else sampling.most,
            "precision": sampling.precision,
            "max_count": None if sampling.precision is None else sampling.max_count,
            "metric": sampling.metric,
            "baseline": None if to is None else to.configuration.label,
            "impossible": [
                {"settings": dict(each.settings), "reason": each.reason} for each in self.impossible
            ],
            "interrupted": interrupted,
            "out": self.out,
            "panicked": self.panicked,
            "notes": self.notes,
            "wall_s": self.wall_s,
            "configurations": [
                {
                    **result.measured.json(),
                    "difference": None if result.difference is None else result.difference.json(),
                }
                for result in results
            ],
        }

    def frame(self) -> polars.DataFrame:
        """One row for each configuration."""
        return frame(self.results(), self.sampling.metric)


class Impossible(NamedTuple):
    """A combination of values that cannot run."""

    settings: Mapping[str, Plain | None]
    reason: str

    @property
    def text(self) -> str:
        """For a message."""
        return f"{label(self.settings)}: {self.reason}"


COLUMNS = {
    "scenario": "The name of the scenario's file.",
    "KEY": "The value of each key that was varied, in a column with the name of the key.",
    "worlds": "How many worlds ran, one for each seed.",
    "handshakes": "How many handshakes these had.",
    "completed": "How many of them completed.",
    "METRIC_mean": "The mean of a metric over the completed handshakes.",
    "METRIC_half": "Half of the width of its 95 % confidence interval.",
    "METRIC_p50": "The median of the metric.",
    "METRIC_p95": "Its 95th percentile.",
    "difference_mean": "The mean of the metric, minus that of the first or best configuration.",
    "difference_half": "Half of the width of the interval of that difference.",
}
"""The meaning of the columns of a sweep's table. KEY and METRIC stand for names."""


def frame(results: list[Result], metric: str) -> polars.DataFrame:
    """One row for each configuration: what was varied, the metrics, the difference."""
    import polars

    rows = []
    for measured, difference in results:
        row: dict[str, Any] = {"scenario": measured.configuration.name}
        row |= measured.configuration.settings
        row |= {"worlds": measured.worlds, "handshakes": measured.handshakes}
        row["completed"] = measured.completed
        for name in dict.fromkeys((metric, *statistics.METRICS)):
            found = measured.metrics.get(name)
            row[f"{name}_mean"] = found and found.estimate.mean
            row[f"{name}_half"] = found and found.estimate.half
            row[f"{name}_p50"] = found and found.p50
            row[f"{name}_p95"] = found and found.p95
        row["difference_mean"] = difference and difference.estimate.mean
        row["difference_half"] = difference and difference.estimate.half
        rows.append(row)
    return polars.DataFrame(rows, infer_schema_length=None)


class Varied(NamedTuple):
    """The configurations of a scenario."""

    configurations: list[Configuration]
    impossible: list[Impossible]


def varied(scenario: Scenario, axes: Sequence[Axis], *, zip_axes: bool = False) -> Varied:
    """The configurations of a scenario, and which combinations of values are not possible.

    Raises `ScenarioError` if a value is not allowed at all, or if no combination is possible.
    """
    if not axes:
        raise SweepError("--vary: found nothing, allowed: KEY=VALUES, once or more")
    found = Varied([], [])
    first: ScenarioError | None = None
    for combination in combinations(axes, zip_axes=zip_axes):
        try:
            found.configurations.append(_possible(scenario, combination))
        except ScenarioError as error:
            if not error.together:
                raise
            first = first or error
            reason = ": ".join(filter(None, (error.key, error.reason)))
            found.impossible.append(Impossible(combination.settings, reason))
    if first is not None and not found.configurations:
        raise first
    return found


def _possible(scenario: Scenario, combination: Combination) -> Configuration:
    """A combination as it is, else with what follows from what is varied."""
    settings = combination.settings
    missing = {f"{key}=" for key in settings if scenario.value(key) is None}
    own = tuple(text for text in combination.overrides if text not in missing)
    *others, last = (
        Configuration(scenario.file, scenario, (*own, *following), settings)
        for following in ways(scenario, settings)
    )
    for way in others:
        try:
            _check(way)
        except ScenarioError as error:
            if not error.together:
                raise
        else:
            return _saying(way)
    _check(last)
    return _saying(last)


def _saying(configuration: Configuration) -> Configuration:
    """A configuration with what followed from what is varied, if something may."""
    settings, base = configuration.settings, configuration.base
    if not settings.keys() & {*FOLLOWED, *STACK_KEYS}:
        return configuration
    return replace(configuration, followed=followed(base, configuration.scenario, settings))


def compared(scenarios: Sequence[Scenario], names: Sequence[str]) -> list[Configuration]:
    """Whole scenarios as configurations, by the names of their files if these are different."""
    if not scenarios:
        raise SweepError("scenarios: found none, allowed: one or more")
    files = [scenario.file for scenario in scenarios]
    names = files if len(set(files)) == len(files) else [printable(name) for name in names]
    found = [Configuration(name, each) for name, each in zip(names, scenarios, strict=True)]
    for configuration in found:
        _check(configuration)
    return found


def _check(configuration: Configuration) -> None:
    """Raises an error, which names what is varied, if a configuration cannot run."""
    try:
        _native.Run(configuration.scenario.native, 0, 1, 1, False).cancel()
    except ScenarioError as error:
        if error.override is not None and error.override in configuration.settings:
            raise moved(error, f"--vary {printable(error.override)}") from error
        if configuration.settings:
            place = f"with {printable(configuration.label)}"
            raise moved(error, f"{place}: {error.place}" if error.place else place) from error
        raise
    if configuration.has_programs:
        from slowhand.executing.programs import ProgramError, programs

        try:
            programs(configuration.scenario)
        except ProgramError as error:
            raise SweepError(f"{printable(configuration.label)}: {error}") from error


def sweep(
    scenario: Source,
    vary: Mapping[str, str | Iterable[Setting | None]],
    *,
    zip: bool = False,
    set: Settings | None = None,
    count: int | None = None,
    seed: int | None = None,
    precision: float | None = None,
    max_count: int = MAX_COUNT,
    metric: str = METRIC,
    baseline: str = "first",
    out: str | os.PathLike[str] | None = None,
    plot: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    scheduler: str | None = None,
) -> polars.DataFrame:
    """Runs all combinations of the values of some keys: one row for each combination.

    A value of `vary` is a list, or a text as on the command line, such as `"1:16:*2"`. `None`
    leaves the key out. If `session.credential` or `session.protocol` is varied, the suite follows
    where it has to. Combinations that are not possible are left out, with a warning. With `zip`
    only values of the same place are combined. All combinations have the same `count` seeds (100)
    from `seed` (1) on, or as many as it takes until half of the interval of `metric` is at most
    `precision` of its mean. The difference of the means is to the first configuration, or to the
    best. `out` is a folder for the rows of all handshakes; if it has some of this sweep, the sweep
    continues. `plot` is the file of a figure. `scheduler` is the address of a Dask cluster.

    >>> import slowhand
    >>> table = slowhand.sweep("quickstart", {"session.timeout_s": [1, 3, 9]}, count=5)
    >>> table.select("session.timeout_s", "completed", "retransmissions_spurious_mean").rows()
    [(1.0, 5, 7.6), (3.0, 5, 2.0), (9.0, 5, 0.0)]
    """
    base = loaded(scenario, set)
    axes = [Axis.of(key, values) for key, values in vary.items()]
    sampling = Sampling(
        count=count,
        seed=base.seed if seed is None else seed,
        precision=precision,
        max_count=max_count,
        metric=metric,
        baseline=baseline,
    )
    configurations, impossible = varied(base, axes, zip_axes=zip)
    if impossible:
        texts = "; ".join(each.text for each in impossible)
        warnings.warn(f"combinations that are not possible: {texts}", stacklevel=2)
    return _run(configurations, sampling, out, plot, threads, scheduler)


def compare(
    scenarios: Iterable[Source],
    *,
    set: Settings | None = None,
    count: int | None = None,
    seed: int = 1,
    precision: float | None = None,
    max_count: int = MAX_COUNT,
    metric: str = METRIC,
    baseline: str = "first",
    out: str | os.PathLike[str] | None = None,
    plot: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    scheduler: str | None = None,
) -> polars.DataFrame:
    """Runs whole scenarios with the same seeds: one row for each. The arguments are as of `sweep`.

    >>> import slowhand
    >>> table = slowhand.compare(["quickstart", "xmac"], count=5)
    >>> table.select("scenario", "completed").rows()
    [('quickstart.toml', 5), ('xmac.toml', 5)]
    """
    if isinstance(scenarios, str | os.PathLike | Mapping):
        found = f"{printable(repr(scenarios))} of type {type(scenarios).__name__}"
        raise TypeError(f"scenarios: found {found}, allowed: a list of scenarios")
    bases = [loaded(each, set) for each in scenarios]
    sampling = Sampling(
        count=count,
        seed=seed,
        precision=precision,
        max_count=max_count,
        metric=metric,
        baseline=baseline,
    )
    configurations = compared(bases, [each.path for each in bases])
    return _run(configurations, sampling, out, plot, threads, scheduler)


def _run(
    configurations: list[Configuration],
    sampling: Sampling,
    out: str | os.PathLike[str] | None,
    plot: str | os.PathLike[str] | None,
    threads: int | None,
    scheduler: str | None,
) -> polars.DataFrame:
    if plot is not None:
        from slowhand.sweeps import figure

        figure.check(os.fspath(plot), configurations)
    with Sweep(configurations, sampling, out=out, threads=threads, scheduler=scheduler) as made:
        made.run()
        results = made.results()
        if plot is not None:
            figure.draw(results, sampling.metric, os.fspath(plot))
        return frame(results, sampling.metric)
