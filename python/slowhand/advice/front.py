"""The costs of a configuration, in numbers of which less is better; the Pareto front; weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy
import numpy.typing

from slowhand.advice.life import RESAMPLES, Lived, draws
from slowhand.advice.lookup import AdviceError
from slowhand.api import Run
from slowhand.arguments import LITERAL
from slowhand.footprint import Measured
from slowhand.lives.life import Told
from slowhand.terminal import printable

Numbers: TypeAlias = numpy.typing.NDArray[numpy.float64]


class Metric(NamedTuple):
    """A metric of a configuration."""

    heading: str
    """Of its column in the report."""
    unit: str
    column: str
    """In a data frame."""
    weight: float
    """Its weight, if not given."""


METRICS = {
    "duration": Metric("duration\np95\ns", "s", "duration_s_p95", 1.0),
    "energy": Metric("energy\nclient\nmJ", "mJ", "energy_client_mj_mean", 1.0),
    "bytes": Metric("on the\nair\nB", "B", "bytes_phy_mean", 0.5),
    "failures": Metric("failed\n\n%", "%", "failed", 1.0),
    "ram": Metric("memory\nclient\nB", "B", "ram_client_bytes", 0.0),
    "battery": Metric("battery\n\nyears", "years", "battery_years", 0.0),
}
"""The metrics of configurations. The weights are assumed: a node of the mesh pays for what it
sends with the energy that is counted already, so octets count half; the memory is that of libraries
on a computer of 64 bits, and counts only if somebody asks for it. The life of a battery is there
only if it has a weight: it takes long, and not every scenario has one. It is compared by the charge
of a day, of which less is better, and told in years."""

SMALL_SHARE = 0.01
"""Added to the share that fails before shares are compared: 0 and 0.1 % are then about the same,
2 % are three times as bad as 0. (Assumed.)"""

ALIKE = 0.01
"""A difference of 1 % does not decide on the front. (Assumed: nobody would choose by it.)"""

RELIABLE = 0.95
"""A configuration is reliable if at least this share of its handshakes completes: with fewer, there
is no 95th percentile of the duration. (Assumed.)"""

SURE = 0.95
"""Two configurations can be told apart if it is so sure which is better. (Assumed: as usual.)"""

TOGETHER = 30
"""With fewer worlds, configurations that are the same so far stay in the race together. (Assumed: a
difference that is in one world of ten is then seen in 24 of 25 cases.)"""

BLOCK = 500_000
"""The most handshakes that are drawn at once. (Assumed: their arrays take some 10 MB.)"""

NORMAL_95 = 1.959964
"""95 % of a normal distribution are within so many standard deviations."""

FRAME = 127
"""The octets of a buffer for a frame in the queue (aMaxPhyPacketSize, IEEE 802.15.4)."""

DURATION, ENERGY, BYTES, FAILURES, RAM, CHARGE = range(6)
"""The places of the metrics in an array."""

UNANSWERED = 6
"""The place of the share of requests that nobody answers, where there is a life."""

COMPLETED, PANICKED = "completed", "panicked"
"""Outcomes: that of a handshake, and that of a world which has none."""

HOST = "host"
"""Where memory was measured, if not on the device."""

BUFFERS = 3
"""The place of the octets in queue and reassembly, in an array of what was measured."""


def weights(given: str | Mapping[str, float] | None) -> dict[str, float]:
    """The weight of each metric: `duration=1,energy=2`; what is not named has 0.

    Without a weight the life of the battery is not among them.
    """
    if given is None:
        return {name: metric.weight for name, metric in METRICS.items() if name != "battery"}
    if not isinstance(given, str | Mapping):
        example = "duration=1,energy=2, or a dictionary"
        raise AdviceError(f"--weights: found {printable(repr(given))}, allowed: {example}")
    pairs = given.items() if isinstance(given, Mapping) else _pairs(given)
    found = dict.fromkeys(METRICS, 0.0)
    for name, text in pairs:
        if name not in METRICS:
            allowed = ", ".join(METRICS)
            raise AdviceError(f"--weights: found '{printable(str(name))}', allowed: {allowed}")
        try:
            found[name] = float(text)
        except (TypeError, ValueError):
            found[name] = math.nan
        if not 0 <= found[name] < math.inf:
            what = f"{name}={printable(str(text))}"
            raise AdviceError(f"--weights: found {what}, allowed: a number, 0 or more")
    if not any(found.values()):
        raise AdviceError("--weights: found only 0, allowed: a number above 0 for one metric")
    if not found["battery"]:
        del found["battery"]
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


def _sums(columns: Mapping[str, Any], handshake: str, data: str) -> Numbers:
    """The sums of two columns, of which the second one is missing where there were no requests."""
    sums: Numbers = numpy.array(columns[handshake], dtype=float)
    sums += numpy.nan_to_num(numpy.array(columns[data], dtype=float))
    return sums


class Sample:
    """The measurements of a configuration: arrays of worlds x handshakes, ordered by seed.

    A world that panicked counts as one whose handshakes have failed.
    """

    def __init__(self, memory: float, measured: Measured | None = None, lived: Lived | None = None):
        self.memory = memory
        """Of the client's library on this computer; infinite if it is not known. Configurations are
        compared by it: only this figure is there for all libraries."""
        self.measured = measured
        """Of the client's library on its device, if it was measured."""
        self.lived = lived
        """The life of the client, if it counts: it has its worlds before they are added here."""
        self._parts: list[Numbers] = []
        self._failures: list[tuple[int, str]] = []  # the number of a world, and an outcome in it
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
            # With requests above the session (application.requests), their answers count too.
            pairs = zip(columns["outcome"], columns["data_outcome"], strict=True)
            outcomes = [done if done != COMPLETED else data or done for done, data in pairs]
            completed = [outcome == COMPLETED for outcome in outcomes]
            numbered = zip((self.worlds + row).tolist(), outcomes, strict=True)
            self._failures += [(world, each) for world, each in numbered if each != COMPLETED]
            durations = _sums(columns, "duration_s", "data_s")
            known[DURATION, row, client] = numpy.where(completed, durations, numpy.nan)
            known[ENERGY, row, client] = _sums(columns, "energy_client_mj", "energy_client_data_mj")
            known[BYTES, row, client] = _sums(columns, "bytes_phy", "data_bytes_phy")
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

    def values(self, worlds: int) -> Numbers:
        """The metrics over the first worlds.

        Where a life counts, its charge of a day is the last of them, and the share of requests that
        nobody answers comes after it.
        """
        made = self.handshakes(worlds)[:, 0]
        if self.lived is None:
            return made
        charge = self.lived.charges(worlds).mean()
        return numpy.array([*made, charge, self.lived.unanswered(worlds)])

    def drawn(self, worlds: int) -> Numbers:
        """The numbers of each of `RESAMPLES` draws of these worlds. A life has draws of its own."""
        drawn, (_, handshakes) = draws(worlds), self.completed(worlds)
        at_once = max(1, BLOCK // handshakes)
        blocks = (drawn[first : first + at_once] for first in range(0, RESAMPLES, at_once))
        made = numpy.hstack([self.handshakes(worlds, block) for block in blocks])
        if self.lived is None:
            return made
        unanswered = numpy.full(RESAMPLES, self.lived.unanswered(worlds))
        return numpy.vstack([made, self.lived.drawn(worlds), unanswered])

    def handshakes(
        self, worlds: int, draws: numpy.typing.NDArray[numpy.intp] | None = None
    ) -> Numbers:
        """The metrics of handshakes over the first worlds, or over several draws of these worlds.

        The duration is the 95th percentile over all handshakes, where one that fails has no end.
        Energy and octets are those of all handshakes, also of those
        that fail, for each one that completes. The memory is that of the client's library, and the
        most that was in the buffers of its node.
        """
        found = self.array(worlds)
        drawn = found[:, None] if draws is None else found[:, draws]
        drawn = drawn.reshape(4, drawn.shape[1], -1)
        failed = numpy.isnan(drawn[DURATION])
        durations = numpy.where(failed, numpy.inf, drawn[DURATION])
        completed = numpy.maximum((~failed).sum(axis=1), 0.5)  # what is not known is not infinite
        made: Numbers = numpy.stack(
            [
                _percentile95(durations),
                drawn[ENERGY].sum(axis=1) / completed,
                drawn[BYTES].sum(axis=1) / completed,
                failed.mean(axis=1),
                self.memory + drawn[BUFFERS].max(axis=1),
            ]
        )
        return made

    def racing_values(self, worlds: int) -> Numbers:
        """The metrics over the first worlds, of which there are few.

        Then one failure is in the 95th percentile, by luck. So the duration is that of completed
        handshakes, unless too many fail for sure.
        """
        values = self.values(worlds)
        durations = self.array(worlds)[DURATION]
        completed = durations[~numpy.isnan(durations)]
        if completed.size and not is_surely_unreliable(float(values[FAILURES]), worlds):
            values[DURATION] = _percentile95(completed[None])[0]
        return values

    def completed(self, worlds: int) -> tuple[int, int]:
        """The number of handshakes that completed, and of all."""
        found = self.array(worlds)[DURATION]
        return int((~numpy.isnan(found)).sum()), int(found.size)

    def outcome(self, worlds: int) -> str:
        """The end of the handshake of the 95th percentile: `completed`, or how most fail."""
        completed, handshakes = self.completed(worlds)
        if completed >= _at_95(handshakes):
            return COMPLETED
        found = Counter(outcome for world, outcome in self._failures if world < worlds)
        return found.most_common(1)[0][0] if found else PANICKED

    def same(self, worlds: int) -> bytes:
        """Equal for two configurations whose first worlds are all equal."""
        lived = b"" if self.lived is None else self.lived.charges(worlds).tobytes()
        return self.array(worlds).tobytes() + lived


def _percentile95(durations: Numbers) -> Numbers:
    """The 95th percentile of each row: a duration of the row, with 95 % that last as long or less.

    Between a duration and one that is endless nothing can be interpolated.
    """
    place = _at_95(durations.shape[1]) - 1
    found: Numbers = numpy.partition(durations, place, axis=1)[:, place]
    return found


def _at_95(count: int) -> int:
    """Which of so many ordered values is the 95th percentile, counted from 1."""
    return -(-95 * count // 100)


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
    """The weights of the metrics, and what follows from them.

    A duration without an end counts as long as the scenario waits, `give_up_s`.
    """

    def __init__(self, given: Mapping[str, float], give_up_s: float):
        self.weights = dict(given)
        self._give_up_s = give_up_s
        found = numpy.array([*given.values()])
        self._counts = found > 0
        self._weights = found[self._counts] / found.sum()

    def score(self, values: Numbers) -> Numbers:
        """The logarithm of the weighted geometric mean of the metrics: less is better.

        Which of two configurations is better does not depend on any other one, nor on units.
        """
        weighed = numpy.array(values, dtype=float)
        weighed[FAILURES] += SMALL_SHARE
        weighed[DURATION] = numpy.minimum(weighed[DURATION], self._give_up_s)
        counting = weighed[: len(self._counts)][self._counts]
        logarithms = numpy.log(numpy.maximum(counting, 1e-9))
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
    x, y = a[:UNANSWERED].copy(), b[:UNANSWERED].copy()
    x[FAILURES] += SMALL_SHARE
    y[FAILURES] += SMALL_SHARE
    return bool((x <= y * (1 + alike)).all())


def failing(values: Numbers) -> Numbers:
    """The share of handshakes that fail, or of requests where there is a life and more of them."""
    shares: Numbers = values[FAILURES]
    if len(values) > UNANSWERED:
        shares = numpy.maximum(shares, values[UNANSWERED])
    return shares


def is_surely_unreliable(failed: float, worlds: int) -> bool:
    """True if chance alone does not explain the share that fails in so few worlds.

    The handshakes of a world depend on each other, so a world counts as one trial.
    """
    return wilson(failed * worlds, worlds)[0] > 1 - RELIABLE


def ranking(
    indices: Iterable[int],
    values: Mapping[int, Numbers],
    scale: Scale,
    racing: int | None = None,
) -> list[int]:
    """The reliable configurations first, then by the weights, the best first.

    Of those with the same score the one whose metrics are less, then the one with the least number.
    In a race, after so many worlds, only who is unreliable for sure comes last.
    """

    def place(one: int) -> tuple[float, ...]:
        failed = float(failing(values[one]))
        if racing is None:
            unreliable = failed > 1 - RELIABLE
        else:
            unreliable = is_surely_unreliable(failed, racing)
        return (unreliable, float(scale.score(values[one])), *values[one], one)

    return sorted(indices, key=place)


def ranked(judged: Mapping[int, Judged], scale: Scale) -> list[int]:
    """The configurations: the reliable ones first, and of these the best by the weights."""
    values = {one: found.values for one, found in judged.items()}
    return ranking(values, values, scale)


def staying(
    indices: Sequence[int],
    values: Mapping[int, Numbers],
    same: Mapping[int, bytes],
    scale: Scale,
    worlds: int,
) -> list[int]:
    """The order in which runners stay in a race: in turn the best by the weights, and of the front.

    Those whose worlds are the same so far are one group. With few worlds they stay or go together,
    as later worlds may differ; then only the first of each group has a place, and the others come
    last.
    """
    by_weights = ranking(indices, values, scale, racing=worlds)
    groups: dict[bytes, list[int]] = {}
    for one in by_weights:
        groups.setdefault(same[one], []).append(one)
    first = [group[0] for group in groups.values()]
    layers: list[int] = []
    rest = first
    while rest:
        front = pareto(rest, values)
        layers += front
        known = set(front)
        rest = [one for one in rest if one not in known]
    turns = [one for pair in zip(first, layers, strict=True) for one in pair]
    order = list(dict.fromkeys(turns))
    if worlds < TOGETHER:
        return [one for leader in order for one in groups[same[leader]]]
    known = set(order)
    return [*order, *(one for one in by_weights if one not in known)]


class Interval(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> list[float | None]:
        """The numbers, with `None` in the place of what is not known, or never comes."""
        return [end if math.isfinite(end) else None for end in self]

    def json(self) -> dict[str, Any]:
        """For JSON, which has no infinite numbers."""
        value, *ends = self.known
        return {"value": value, "ci95": ends}


class Judged:
    """A configuration with the worlds that it shares with the others."""

    def __init__(self, sample: Sample, worlds: int, scale: Scale):
        self._sample = sample
        self._scale = scale
        self.worlds = worlds
        self.values = sample.values(worlds)

    @property
    def score(self) -> float:
        """By the weights: less is better."""
        return float(self._scale.score(self.values))

    @cached_property
    def _drawn(self) -> Numbers:
        return self._sample.drawn(self.worlds)

    @cached_property
    def scores(self) -> Numbers:
        """The score in each draw of the worlds."""
        return self._scale.score(self._drawn)

    @cached_property
    def unreliable(self) -> numpy.typing.NDArray[numpy.bool_]:
        """In which draws of the worlds too many handshakes fail."""
        found: numpy.typing.NDArray[numpy.bool_] = failing(self._drawn) > 1 - RELIABLE
        return found

    @property
    def is_reliable(self) -> bool:
        """True if enough handshakes complete, and enough requests are answered in a life."""
        return bool(failing(self.values) <= 1 - RELIABLE)

    @property
    def completes(self) -> bool:
        """True if enough handshakes complete."""
        return bool(self.values[FAILURES] <= 1 - RELIABLE)

    @property
    def life(self) -> Told | None:
        """The laboratory's words on the client's life, if it counts."""
        return None if self._sample.lived is None else self._sample.lived.told(self.worlds)

    @property
    def battery(self) -> dict[str, Any] | None:
        """The battery in these words: its description, and how long it lasts."""
        return None if self._sample.lived is None else self._sample.lived.battery(self.worlds)

    @property
    def unanswered(self) -> float:
        """The share of its requests that nobody answers; 0 without a life."""
        return float(self.values[UNANSWERED]) if len(self.values) > UNANSWERED else 0.0

    @cached_property
    def same(self) -> bytes:
        """Equal for two configurations whose worlds are all equal."""
        return self._sample.same(self.worlds)

    @property
    def is_ram_of_host(self) -> bool:
        """True if its memory was measured on this computer, not on a device."""
        return self.ram_of == HOST

    @property
    def ram_of(self) -> str:
        """The computer of which the memory was measured: a processor, or `host`, this computer."""
        measured = self._sample.measured
        return HOST if measured is None else measured.processor

    @property
    def outcome(self) -> str:
        """The end of the handshake of the 95th percentile: `completed`, or how most fail."""
        return self._sample.outcome(self.worlds)

    @property
    def share(self) -> float:
        """The share of handshakes that completed."""
        return 1 - float(self.values[FAILURES])

    @property
    def completed(self) -> Interval:
        """The share of handshakes that completed."""
        failed = self.intervals()["failures"]
        return Interval(1 - failed.value, 1 - failed.high, 1 - failed.low)

    def intervals(self) -> dict[str, Interval]:
        """The metrics with their intervals. The most memory that was seen has none.

        With one handshake a world they are those of order statistics (duration) and Wilson's
        (failures). The handshakes of one world are not independent: with several, and for energy
        and octets, the worlds are drawn again. Where none completes, there are no energy and no
        octets of one that does.
        """
        found = {
            name: Interval(float(value), *_ends(drawn))
            for name, value, drawn in zip(METRICS, self.values, self._drawn, strict=False)
        }
        if self._sample.lived is not None:
            found["battery"] = Interval(*self._sample.lived.years(self.worlds))
        ram, measured = float(self.values[RAM]), self._sample.measured
        if measured is not None:  # on its device: that of the library in place of this computer's
            ram = ram - self._sample.memory + measured.octets
        found["ram"] = Interval(ram, math.inf, math.inf)
        for name, place in (("energy", ENERGY), ("bytes", BYTES)):  # of each that completes
            drawn = numpy.where(self._drawn[FAILURES] < 1, self._drawn[place], math.inf)
            value = found[name].value if self.values[FAILURES] < 1 else math.inf
            found[name] = Interval(value, *_ends(drawn))
        completed, handshakes = self._sample.completed(self.worlds)
        failed = handshakes - completed
        share = failed / handshakes
        if handshakes == self.worlds:
            durations = self._sample.array(self.worlds)[DURATION].ravel()
            found["duration"] = Interval(found["duration"].value, *ends_of_95(durations))
            found["failures"] = Interval(share, *wilson(failed, handshakes))
        elif failed in (0, handshakes):  # each draw is the same
            found["failures"] = Interval(share, *wilson(round(share * self.worlds), self.worlds))
        return found


def _ends(drawn: Numbers) -> tuple[float, float]:
    """The ends of a 95 % interval. They are drawn values: nothing is between a number and never."""
    places = [math.ceil(share * len(drawn)) - 1 for share in (0.025, 0.975)]
    low, high = numpy.sort(drawn)[places]
    return float(low), float(high)


def ends_of_95(durations: Numbers) -> tuple[float, float]:
    """The 95 % interval of the 95th percentile of independent durations (NaN: without an end).

    Its ends are order statistics: how many of the values are below the percentile has a binomial
    distribution (David and Nagaraja, "Order Statistics", 2003, section 7.1). Less than 72 values
    do not show the upper end, which is then infinite.
    """
    ordered = numpy.sort(numpy.where(numpy.isnan(durations), numpy.inf, durations))
    below = _cumulated(len(ordered), 0.95)
    low = int(numpy.searchsorted(below, 0.025, side="right"))  # below[low - 1] <= 2.5 %
    high = int(numpy.searchsorted(below, 0.975, side="left"))  # below[high] >= 97.5 %
    return float(ordered[max(0, low - 1)]), float([*ordered, numpy.inf][high])


@cache
def _cumulated(trials: int, share: float) -> Numbers:
    """The binomial distribution: the probability of so many hits or less."""
    hits = numpy.arange(trials + 1)
    factorials = numpy.array([math.lgamma(number + 1) for number in range(trials + 1)])
    ways = factorials[-1] - factorials - factorials[::-1]
    chances = numpy.exp(ways + hits * math.log(share) + hits[::-1] * math.log1p(-share))
    cumulated: Numbers = numpy.cumsum(chances)
    return cumulated


def wilson(hits: float, trials: int) -> tuple[float, float]:
    """The interval of a share (Wilson, "Probable inference", J. Am. Stat. Assoc. 22, 1927)."""
    share, z = hits / trials, NORMAL_95
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    width = 1 + z * z / trials
    return max(0.0, (centre - half) / width), min(1.0, (centre + half) / width)


def is_apart(first: Judged, second: Judged) -> bool:
    """True if the first is better for sure, and so much that somebody would choose by it."""
    is_more_reliable = first.is_reliable and not second.is_reliable
    is_better = second.score - first.score >= math.log1p(ALIKE)
    return (is_more_reliable or is_better) and sureness(first, second) >= SURE


def sureness(first: Judged, second: Judged) -> float:
    """The share of draws of the worlds in which the first is better; equal ones count half.

    Better is who is reliable; of two that are, or are not, who is better by the weights.
    """
    reliable = second.unreliable.astype(int) - first.unreliable.astype(int)
    sign = numpy.sign(second.scores - first.scores)
    better = numpy.where(reliable, reliable, sign)
    return float((better > 0).mean() + (better == 0).mean() / 2)
