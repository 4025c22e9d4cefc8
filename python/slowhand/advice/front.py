"""What a configuration costs, in numbers of which less is better; the Pareto front; the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy
import numpy.typing

from slowhand.advice.lookup import AdviceError
from slowhand.api import Run
from slowhand.arguments import LITERAL
from slowhand.terminal import printable

Numbers: TypeAlias = numpy.typing.NDArray[numpy.float64]


class Metric(NamedTuple):
    """A metric of a configuration."""

    label: str
    unit: str
    weight: float
    """Its weight, if not given."""


METRICS = {
    "duration": Metric("duration, p95", "s", 1.0),
    "energy": Metric("energy of the client", "mJ", 1.0),
    "bytes": Metric("on the air", "B", 0.5),
    "failures": Metric("failed", "%", 1.0),
    "ram": Metric("memory of the client", "B", 0.0),
}
"""What configurations are compared by. The weights are assumed: a node of the mesh pays for what it
sends with the energy that is counted already, so octets count half; the memory is that of libraries
on a computer of 64 bits, and counts only if somebody asks for it."""

SMALL_SHARE = 0.01
"""Added to the share that fails before shares are compared: 0 and 0.1 % are then about the same,
2 % are three times as bad as 0. (Assumed.)"""

ALIKE = 0.01
"""A difference of 1 % does not decide on the front. (Assumed: nobody would choose by it.)"""

RELIABLE = 0.95
"""A configuration is reliable if at least this share of its handshakes completes: with fewer, there
is no 95th percentile of the duration. (Assumed.)"""

RESAMPLES = 500
"""How often the worlds are drawn again for an interval. (Assumed: the ends of a 95 % interval are
then known to within a fifth of its width.)"""

NORMAL_95 = 1.959964
"""95 % of a normal distribution are within so many standard deviations."""

FRAME = 127
"""The octets of a buffer for a frame in the queue (aMaxPhyPacketSize, IEEE 802.15.4)."""

DURATION, ENERGY, BYTES, FAILURES, RAM = range(5)
"""The places of the metrics in an array."""

BUFFERS = 3
"""The place of the octets in queue and reassembly, in an array of what was measured."""


def weights(given: str | Mapping[str, float] | None) -> dict[str, float]:
    """The weight of each metric: `duration=1,energy=2`; what is not named has 0."""
    if given is None:
        return {name: metric.weight for name, metric in METRICS.items()}
    pairs = given.items() if isinstance(given, Mapping) else _pairs(given)
    found = dict.fromkeys(METRICS, 0.0)
    for name, text in pairs:
        if name not in METRICS:
            allowed = ", ".join(METRICS)
            raise AdviceError(f"--weights: found '{printable(name)}', allowed: {allowed}")
        try:
            found[name] = float(text)
        except (TypeError, ValueError):
            found[name] = math.nan
        if not 0 <= found[name] < math.inf:
            what = f"{name}={printable(str(text))}"
            raise AdviceError(f"--weights: found {what}, allowed: a number, 0 or more")
    if not any(found.values()):
        raise AdviceError("--weights: found only 0, allowed: a number above 0 for one metric")
    return found


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for pair in text.removeprefix(LITERAL).split(","):
        name, equals, number = pair.partition("=")
        if not equals:
            example = "duration=1,energy=2"
            raise AdviceError(
                f"--weights: found '{printable(pair)}', allowed: NAME=NUMBER, such as {example}"
            )
        yield name.strip(), number.strip()


class Sample:
    """What was measured of a configuration: arrays of worlds x handshakes, ordered by seed.

    A world that panicked counts as one whose handshakes have failed.
    """

    def __init__(self, give_up_s: float, memory: float):
        self.give_up_s = give_up_s
        self._memory = memory  # of the client's library; infinite if it is not known
        self._parts: list[Numbers] = []
        self.worlds = 0
        self.panicked = 0

    def add(self, run: Run) -> None:
        """Adds the worlds of a run that has finished, with the seeds that come next."""
        columns = run.columns()
        seeds = numpy.array(columns["seed"], dtype=numpy.uint64)
        worlds, place = numpy.unique(seeds, return_inverse=True)
        clients = max(1, round(len(seeds) / max(1, len(worlds))))
        known = numpy.zeros((4, run.count, clients))
        known[DURATION] = numpy.nan
        if len(seeds):
            row = (worlds - numpy.uint64(run.seed)).astype(int)[place]
            client = numpy.arange(len(seeds)) % clients
            completed = [outcome == "completed" for outcome in columns["outcome"]]
            durations = numpy.array(columns["duration_s"], dtype=float)
            known[DURATION, row, client] = numpy.where(completed, durations, numpy.nan)
            known[ENERGY, row, client] = columns["energy_client_mj"]
            known[BYTES, row, client] = columns["bytes_phy"]
            known[BUFFERS, row, client] = list(_buffers(columns))
        self._append(known)
        self.panicked += run.panicked_count

    def _append(self, known: Numbers) -> None:
        if self._parts and self._parts[0].shape[2] != known.shape[2]:  # the first worlds panicked
            most = max(part.shape[2] for part in (*self._parts, known))
            self._parts = [_widened(part, most) for part in self._parts]
            known = _widened(known, most)
        self._parts.append(known)
        self.worlds += known.shape[1]

    def array(self, worlds: int) -> Numbers:
        """Duration (NaN: failed), energy, octets, and those in buffers, of the first worlds."""
        if len(self._parts) > 1:
            self._parts = [numpy.concatenate(self._parts, axis=1)]
        return self._parts[0][:, :worlds]

    def values(self, worlds: int, draws: numpy.typing.NDArray[numpy.intp] | None = None) -> Numbers:
        """The metrics over the first worlds, or over each of several draws of these worlds.

        The duration is the 95th percentile over all handshakes, where one that fails lasts for as
        long as the scenario waits. Energy and octets are those of all handshakes, also of those
        that fail, for each one that completes. The memory is that of the client's library, and the
        most that was in the buffers of its node.
        """
        found = self.array(worlds)
        drawn = found[:, None] if draws is None else found[:, draws]
        drawn = drawn.reshape(4, drawn.shape[1], -1)
        failed = numpy.isnan(drawn[DURATION])
        durations = numpy.where(failed, self.give_up_s, drawn[DURATION])
        completed = numpy.maximum((~failed).sum(axis=1), 0.5)  # what is not known is not infinite
        made = numpy.stack(
            [
                numpy.percentile(durations, 95, axis=1),
                drawn[ENERGY].sum(axis=1) / completed,
                drawn[BYTES].sum(axis=1) / completed,
                failed.mean(axis=1),
                self._memory + drawn[BUFFERS].max(axis=1),
            ]
        )
        return made[:, 0] if draws is None else made

    def completed(self, worlds: int) -> tuple[int, int]:
        """How many handshakes completed, of how many."""
        found = self.array(worlds)[DURATION]
        return int((~numpy.isnan(found)).sum()), int(found.size)

    def same(self, worlds: int) -> bytes:
        """Equal for two configurations whose first worlds are all equal."""
        return self.array(worlds).tobytes()


def _buffers(columns: Mapping[str, list[Any]]) -> Iterator[float]:
    """The octets in the queue and in reassembly at each client's node, when they were the most."""
    peaks = columns["client"], columns["queue_peak"], columns["reassembly_peak_bytes"]
    for node, frames, octets in zip(*peaks, strict=True):
        yield FRAME * frames[node] + octets[node]


def _widened(part: Numbers, clients: int) -> Numbers:
    made = numpy.zeros((*part.shape[:2], clients))
    made[DURATION] = numpy.nan
    made[:, :, : part.shape[2]] = part
    return made


class Scale:
    """The weights of the metrics, and what follows from them."""

    def __init__(self, given: Mapping[str, float]):
        self.weights = dict(given)
        found = numpy.array([given[name] for name in METRICS])
        self._counts = found > 0
        self._weights = found[self._counts] / found.sum()

    def score(self, values: Numbers) -> Numbers:
        """The logarithm of the weighted geometric mean of the metrics: less is better.

        Which of two configurations is better does not depend on any other one, nor on units.
        """
        weighed = numpy.array(values, dtype=float)
        weighed[FAILURES] += SMALL_SHARE
        logarithms = numpy.log(numpy.maximum(weighed[self._counts], 1e-9))
        score: Numbers = numpy.tensordot(self._weights, logarithms, axes=1)
        return score


def pareto(order: Sequence[int], values: Mapping[int, Numbers], alike: float = ALIKE) -> list[int]:
    """The front, from those in an order: who is not dominated by one that is better by the order.

    Two that are alike in all metrics have one place on the front: that of the first.
    """
    front: list[int] = []
    for one in order:
        kept = (values[other] for other in front)
        if not any(_covers(other, values[one], alike) for other in kept):
            front.append(one)
    return front


def _covers(a: Numbers, b: Numbers, alike: float) -> bool:
    """True if `a` is not worse than `b` in any metric; differences of `alike` do not count."""
    x, y = a.copy(), b.copy()
    x[FAILURES] += SMALL_SHARE
    y[FAILURES] += SMALL_SHARE
    return bool((x <= y * (1 + alike)).all())


def ranking(indices: Iterable[int], values: Mapping[int, Numbers], scale: Scale) -> list[int]:
    """Those that are reliable first, then by the weights, the best first.

    Of those with the same score the one whose metrics are less, then the one with the least number.
    """

    def place(one: int) -> tuple[float, ...]:
        unreliable = values[one][FAILURES] > 1 - RELIABLE
        return (unreliable, float(scale.score(values[one])), *values[one], one)

    return sorted(indices, key=place)


def staying(
    indices: Sequence[int], values: Mapping[int, Numbers], copies: Iterable[int], scale: Scale
) -> list[int]:
    """The order in which runners stay in a race: in turn the best by the weights, and of the front.

    Copies, whose worlds are the same as those of another one, come last.
    """
    late = set(copies)
    ranked = ranking(indices, values, scale)
    first = [one for one in ranked if one not in late]
    layers: list[int] = []
    rest = first
    while rest:
        front = pareto(rest, values)
        layers += front
        known = set(front)
        rest = [one for one in rest if one not in known]
    turns = [one for pair in zip(first, layers, strict=True) for one in pair]
    return [*dict.fromkeys(turns), *(one for one in ranked if one in late)]


class Interval(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def json(self) -> dict[str, Any]:
        """For JSON, which has no infinite numbers."""
        known = [end if math.isfinite(end) else None for end in self]
        return {"value": known[0], "ci95": known[1:]}


class Judged:
    """A configuration with the worlds that it shares with the others."""

    def __init__(self, sample: Sample, worlds: int, scale: Scale):
        self._sample = sample
        self._scale = scale
        self.give_up_s = sample.give_up_s
        self.worlds = worlds
        self.values = sample.values(worlds)

    @property
    def score(self) -> float:
        """By the weights: less is better."""
        return float(self._scale.score(self.values))

    @cached_property
    def _drawn(self) -> Numbers:
        generator = numpy.random.default_rng(0)  # the same draws for all: they are paired
        draws = generator.integers(0, self.worlds, (RESAMPLES, self.worlds))
        return self._sample.values(self.worlds, draws)

    @cached_property
    def scores(self) -> Numbers:
        """The score in each draw of the worlds."""
        return self._scale.score(self._drawn)

    @cached_property
    def same(self) -> bytes:
        """Equal for two configurations whose worlds are all equal."""
        return self._sample.same(self.worlds)

    @property
    def share(self) -> float:
        """The share of handshakes that completed."""
        return 1 - float(self.values[FAILURES])

    def intervals(self) -> dict[str, Interval]:
        """The metrics: intervals by drawing the worlds again, that of failures after Wilson."""
        found = {}
        for place, name in enumerate(METRICS):
            drawn = self._drawn[place]
            known = numpy.isfinite(drawn).all()
            low, high = numpy.percentile(drawn, (2.5, 97.5)) if known else (math.inf, math.inf)
            found[name] = Interval(float(self.values[place]), float(low), float(high))
        completed, handshakes = self._sample.completed(self.worlds)
        failed = handshakes - completed
        found["failures"] = Interval(failed / handshakes, *wilson(failed, handshakes))
        return found


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The interval of a share (Wilson, "Probable inference", J. Am. Stat. Assoc. 22, 1927)."""
    share, z = hits / trials, NORMAL_95
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    width = 1 + z * z / trials
    return max(0.0, (centre - half) / width), min(1.0, (centre + half) / width)


def sureness(first: Judged, second: Judged) -> float:
    """The share of draws of the worlds in which the first is better; equal ones count half."""
    difference = first.scores - second.scores
    return float((difference < 0).mean() + (difference == 0).mean() / 2)
