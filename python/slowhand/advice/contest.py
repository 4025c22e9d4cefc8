"""A contest: a race leaves some finalists, one of them is chosen, and then all are judged.

Worlds that chose do not judge. Who is the best of many in some worlds has had luck in them, so the
numbers that are printed come from other worlds. Nothing here knows what is run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from slowhand.advice.front import Judged, Sample, Scale, is_apart, pareto, ranked, staying
from slowhand.advice.racing import Race, Round, all_worlds

Runs = Callable[[int | None, Mapping[int, Sample], int, int], None]
"""Runs worlds of some runners, from one number to another, and adds them to their samples: in the
network as stated (`None`), or in another one, by its number."""


class Plan(NamedTuple):
    """The numbers of worlds of each part."""

    rounds: list[Round]
    worlds: int
    """So many choose among the finalists, and so many others judge them."""
    stressed: int
    """The number in each other network."""
    networks: int
    """The number of other networks."""
    finalists: int
    """The number of configurations that the race leaves."""
    best: int
    """The number of them that meet the other networks."""

    def scaled(self, worlds: Callable[[int], int]) -> Plan:
        """The plan of what has so many worlds where this one has others."""
        rounds = [Round(one.runners, worlds(one.worlds)) for one in self.rounds]
        more = {"worlds": worlds(self.worlds), "stressed": worlds(self.stressed)}
        return self._replace(rounds=rounds, **more)

    def total(self) -> int:
        """The most worlds in all."""
        raced = self.rounds[-1].worlds if self.rounds else 0
        chosen = self.finalists * (self.worlds - raced) + all_worlds(self.rounds)
        return chosen + self.finalists * self.worlds + 2 * self._elsewhere(self.best)

    def spared(self, ties: int) -> int:
        """The number of these worlds that the choice does not need."""
        return self._elsewhere(self.best - (min(ties, self.best) if ties > 1 else 0))

    def _elsewhere(self, runners: int) -> int:
        return runners * self.stressed * self.networks


class Contest:
    """Runners, numbered from 0, and which of them is the best. After a signal, what is known."""

    def __init__(
        self,
        runners: Sequence[Callable[[], Sample]],
        plan: Plan,
        scale: Scale,
        run: Runs,
        families: Sequence[Hashable] = (),
    ):
        self._empty = runners
        """A function that makes an empty sample of each."""
        self._plan = plan
        self._scale = scale
        self._run = run
        self.samples = [make() for make in runners]
        """The worlds that choose."""
        self._race = Race(plan.rounds, len(runners), plan.finalists, self._draw, self._order)
        self.families = families or [None] * len(runners)
        """The family of each. The best of each family is a finalist."""
        self.judged: dict[int, Judged] = {}
        """The finalists, in worlds that have chosen nothing, if there are such (`is_judged`)."""
        self.is_judged = False
        self.order: list[int] = []
        """The finalists: the chosen one, then the others, the best by the weights first."""
        self.front: list[int] = []
        """The finalists that no other one beats."""
        self.ties: list[int] = []
        """The best by the weights, then those that cannot be told apart from it.

        The first of `order` is the one of them that was chosen.
        """
        self.extremes: dict[int, tuple[int, int]] = {}
        """Of those that cannot be told apart, the best and the worst in each other network."""
        self.networks: dict[int, dict[int, Judged]] = {}
        """The finalists in other networks, in worlds that have chosen nothing."""

    def run(self) -> None:
        """Runs everything."""
        try:
            left = self._race.run()
            self._draw(left, min(self.samples[one].worlds for one in left), self._plan.worlds)
        finally:
            self._rank()
        if len(self.ties) > 1:
            self._choose()
        self._judge()

    @property
    def spared(self) -> int:
        """The number of worlds that the choice has not needed."""
        return self._plan.spared(len(self.ties))

    def stress(self, network: int) -> None:
        """Judges the best of the finalists in another network."""
        of = [*dict.fromkeys((*self.order[:1], *self._tied, *self.order))][: self._plan.best]
        self.networks[network] = self._stressed(network, of, self._plan.worlds)

    @property
    def leaders(self) -> list[int]:
        """The best of each family, the best family first."""
        first: dict[Hashable, int] = {}
        for one in self.order:
            first.setdefault(self.families[one], one)
        return [*first.values()]

    @property
    def _tied(self) -> list[int]:
        """The finalists that cannot be told apart, as far as they meet other networks."""
        return self.ties[: self._plan.best]

    def _draw(self, runners: Sequence[int], first: int, last: int) -> None:
        self._run(None, {one: self.samples[one] for one in runners}, first, last)

    def _order(self, runners: Sequence[int], worlds: int) -> list[int]:
        """The order in which runners stay in the race."""
        values = {one: self.samples[one].racing_values(worlds) for one in runners}
        same = {one: self.samples[one].same(worlds) for one in runners}
        order = staying(runners, values, same, self._scale, worlds)
        return spread(order, self.families)

    def _rank(self) -> None:
        """Puts the finalists into an order, over the worlds that all of them have."""
        left = [one for one in self._race.left if self.samples[one].worlds]
        if not left:
            return
        known = min(self.samples[one].worlds for one in left)
        self.judged = {one: Judged(self.samples[one], known, self._scale) for one in left}
        self.order = ranked(self.judged, self._scale)
        first, *others = self.order
        best = self.judged[first]
        self.ties = [first, *(one for one in others if not is_apart(best, self.judged[one]))]
        self._draw_front()

    def _draw_front(self) -> None:
        values = {one: judged.values for one, judged in self.judged.items()}
        self.front = pareto(self.order, values)

    def _choose(self) -> None:
        """Of those that cannot be told apart, the one that bears most is the first."""
        bears: dict[int, list[Judged]] = {one: [] for one in self._tied}
        for network in range(self._plan.networks):
            judged = self._stressed(network, self._tied, 0)
            for one, found in judged.items():
                bears[one].append(found)
            if order := ranked(judged, self._scale):
                self.extremes[network] = order[0], order[-1]

        def place(one: int) -> tuple[int, float]:
            failing = sum(not judged.is_reliable for judged in bears[one])
            return failing, sum(judged.score for judged in bears[one])

        if self.judged[self.order[0]].is_reliable:
            chosen = min(self._tied, key=place)  # of those that bear the same the best
            self.order = [chosen, *(one for one in self.order if one != chosen)]
            self._draw_front()

    def _stressed(self, network: int, runners: Sequence[int], first: int) -> dict[int, Judged]:
        """Some of the finalists in another network, from one world on."""
        worlds = self._plan.stressed
        samples = {one: self._empty[one]() for one in runners}
        self._run(network, samples, first, first + worlds)
        return {
            one: Judged(sample, worlds, self._scale)
            for one, sample in samples.items()
            if sample.worlds
        }

    def _judge(self) -> None:
        """Runs the finalists in worlds that have chosen nothing."""
        samples = {one: self._empty[one]() for one in self.order}
        worlds = self._plan.worlds
        self._run(None, samples, worlds, 2 * worlds)
        self.judged = {one: Judged(sample, worlds, self._scale) for one, sample in samples.items()}
        self.is_judged = True


def spread(order: Sequence[int], families: Sequence[Hashable]) -> list[int]:
    """The best of each family first; then in turn the best of all, and those of each family."""
    of: dict[Hashable, list[int]] = {}
    for one in order:
        of.setdefault(families[one], []).append(one)
    if len(of) < 2:
        return [*order]
    ranks = itertools.zip_longest(*of.values())
    by_family = [one for rank in ranks for one in rank if one is not None]
    turns = itertools.chain.from_iterable(zip(order, by_family, strict=True))
    return [*dict.fromkeys((*by_family[: len(of)], *turns))]
