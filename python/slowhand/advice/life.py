"""The life of a battery as a metric of an advice.

A life is drawn from worlds of its own, as `slowhand battery` does it. Such a world takes far longer
than a handshake, so there are fewer of them: a race has few of each configuration, and more of
those that it leaves.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy

from slowhand import _native
from slowhand.lives.life import DAYS, Told

if TYPE_CHECKING:
    from slowhand.advice.front import Numbers
    from slowhand.api import Scenario

SHARE = 10
"""Of so many worlds of handshakes there is one of a life. (Assumed: such a world takes two to ten
times as long, so that lives take no more than the handshakes.)"""

FEWEST = 10
"""The fewest worlds of a life, as far as there are so many of handshakes. (Assumed: with fewer, an
interval that is drawn from them is too narrow.)"""


def worlds(handshakes: int) -> int:
    """The number of worlds of a life where there are so many of handshakes."""
    return min(handshakes, max(FEWEST, handshakes // SHARE))


RESAMPLES = 500
"""The draws of the worlds for an interval. (Assumed: the ends of a 95 % interval are
then known to within a fifth of its width.)"""


def draws(worlds: int) -> numpy.typing.NDArray[numpy.int64]:
    """The numbers of so many worlds, drawn again `RESAMPLES` times."""
    generator = numpy.random.default_rng(0)  # the same draws for all: they are paired
    return generator.integers(0, worlds, (RESAMPLES, worlds))


class Lived:
    """The life of a configuration's client, from more and more worlds.

    Numbers of worlds are those of handshakes: `worlds` says how many a life has then.
    """

    def __init__(self, battery: str):
        self._battery = battery
        self._lives: _native.Lives | None = None
        self._known: dict[int, tuple[Told, Numbers]] = {}

    def sample(self, scenario: Scenario, seed: int, count: int, threads: int) -> None:
        """Simulates what is missing. The seed is that of the first world of all."""
        if self._lives is None:
            self._lives = lives(scenario, self._battery, seed)
        self._lives.sample(worlds(count), threads)

    def _life(self, count: int) -> tuple[Told, Numbers]:
        number = worlds(count)
        if number not in self._known:
            found = self._lives and self._lives.life(number)
            assert found, "two worlds or more"
            told, charges = found
            self._known[number] = json.loads(told), numpy.array(charges)
        return self._known[number]

    def told(self, count: int) -> Told:
        """The laboratory's words on the life."""
        life: Told = self._life(count)[0]["life"]
        return life

    def battery(self, count: int) -> dict[str, Any]:
        """The laboratory's words on the battery: its description, and how long it lasts."""
        own: dict[str, Any] = self._life(count)[0]["batteries"][self._battery]
        return own

    def charges(self, count: int) -> Numbers:
        """The charge of a day in mAh by each world, with what the battery loses itself.

        Their mean is that of the life.
        """
        return self._life(count)[1]

    def drawn(self, count: int) -> Numbers:
        """The mean of these charges in each of several draws of the worlds."""
        charges = self.charges(count)
        means: Numbers = charges[draws(len(charges))].mean(axis=1)
        return means

    def years(self, count: int) -> tuple[float, float, float]:
        """The years that the battery lasts, and the ends of the 95 % interval.

        All three are infinite if nothing empties the battery.
        """
        life = self.battery(count)["life"]
        if life is None:
            return math.inf, math.inf, math.inf
        return life["years"], *life["years_ci95"]

    def unanswered(self, count: int) -> float:
        """The share of requests that are not answered, or not sent as the client is busy."""
        counts = self.told(count)["counts"]
        due = counts["requests"] + counts["left_out"]
        return (counts["failed"] + counts["left_out"]) / due if due else 0.0


def lives(scenario: Scenario, battery: str, seed: int) -> _native.Lives:
    """The lives of a scenario's first client for a year, without worlds yet.

    Raises `ScenarioError` if there are none: nothing is asked for, or there is no such battery.
    """
    return _native.Lives(scenario.native, battery, DAYS * _native.DAY_S, seed)
