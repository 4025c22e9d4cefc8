"""A race: successive halving, where all that are still in it meet the same losses.

Each round runs more worlds of those that are left, and keeps the better half. So most of the work
goes to those that are hard to tell apart (Karnin, Koren and Somekh, "Almost optimal exploration in
multi-armed bandits", ICML 2013). Nothing here knows what is raced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

LEAST = 10
"""The fewest worlds of the first round. (Assumed: with fewer, one loss decides.)"""


class Round(NamedTuple):
    """A round: how many run in it, and how many worlds each of them has after it."""

    runners: int
    worlds: int


def schedule(runners: int, finalists: int, budget: int, most: int) -> list[Round]:
    """The rounds until no more than `finalists` are left, with at most `budget` worlds.

    Each round has half of the runners of the one before, with twice as many worlds, `most` at most.
    There is none if nobody has to leave. Raises `ValueError` if the budget does not suffice.
    """
    sizes = _sizes(runners, finalists)
    if not sizes:
        return []
    first = budget // _worlds(sizes, 1)
    if first < LEAST:
        raise ValueError(f"the race needs {_worlds(sizes, LEAST)} worlds")
    return [Round(size, min(most, first << number)) for number, size in enumerate(sizes)]


def least(runners: int, finalists: int) -> int:
    """The smallest budget of a race."""
    return _worlds(_sizes(runners, finalists), LEAST)


def all_worlds(rounds: Sequence[Round]) -> int:
    """The worlds of all rounds together."""
    before = [0, *(done.worlds for done in rounds)]
    return sum(one.runners * (one.worlds - old) for one, old in zip(rounds, before, strict=False))


def _sizes(runners: int, finalists: int) -> list[int]:
    """The numbers of configurations that run in each round."""
    sizes = []
    while runners > finalists:
        sizes.append(runners)
        runners = max(finalists, math.ceil(runners / 2))
    return sizes


def _worlds(sizes: Sequence[int], first: int) -> int:
    """All worlds of rounds of these sizes, if the first has so many for each runner."""
    new = [first, *(first << number for number in range(len(sizes)))]
    return sum(size * worlds for size, worlds in zip(sizes, new, strict=False))


class Race:
    """Runners, numbered from 0, of which the better ones are left after each round.

    `draw` runs worlds of some runners: from the one number to the other. `order` puts runners into
    the order in which they stay, by so many worlds of each.
    """

    def __init__(
        self,
        rounds: Sequence[Round],
        runners: int,
        finalists: int,
        draw: Callable[[Sequence[int], int, int], None],
        order: Callable[[Sequence[int], int], Sequence[int]],
    ):
        self._rounds = rounds
        self._finalists = finalists
        self._draw = draw
        self._order = order
        self.left: list[int] = list(range(runners))
        """Who is still in the race. It is so at any time, also if a signal ends the race."""

    def run(self) -> list[int]:
        """Runs all rounds. Returns who is left."""
        before = 0
        for number, (_, worlds) in enumerate(self._rounds):
            self._draw(self.left, before, worlds)
            after = self._rounds[number + 1 :]
            stay = after[0].runners if after else self._finalists
            self.left = list(self._order(self.left, worlds)[:stay])
            before = worlds
        return self.left
