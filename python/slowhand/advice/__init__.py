"""Advice: which of the configurations that may be chosen is the best, and what others cost.

A race finds the best ones; all of them meet the same losses. The rest of the work goes to the
numbers that are printed: those of the Pareto front, of common defaults, and of networks that are
better or worse than the scenario says.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand._native import ScenarioError
from slowhand.advice import defaults, lookup, networks, remedies
from slowhand.advice.front import RELIABLE, Judged, Sample, Scale, pareto, ranking, staying
from slowhand.advice.front import weights as read_weights
from slowhand.advice.lookup import AdviceError
from slowhand.advice.racing import LEAST, Race, all_worlds, least, schedule
from slowhand.advice.space import Space, space
from slowhand.api import Run, Scenario, told
from slowhand.bounds import natural
from slowhand.keys import Setting, toml

if TYPE_CHECKING:
    from slowhand.advice.answer import Advice

__all__ = ["AdviceError", "Adviser", "advise"]

HANDSHAKES = 60_000
"""The budget in handshakes, if not given. (Assumed: less than a minute on two processors, also
where certificates are verified.)"""

FINALISTS = 12
"""How many configurations the race leaves. (Assumed: a longer table is not read.)"""

SHARE = 80
"""A finalist has the budget divided by this number: the race keeps about half of it. (Assumed.)"""

FEWEST, MOST = 40, 1_000
"""The fewest and the most worlds of a finalist; fewer if a world has several handshakes. (Assumed:
of 40, two are above the 95th percentile.)"""

EXPLAINED = 100
"""The worlds that say why nothing completes: their losses are counted. (Assumed.)"""

SMALLEST_HELP = 0.1
"""A change helps if so much more of all handshakes complete. (Assumed.)"""

CHUNK = 4_000
"""The most handshakes of a run, as in sweeps: their records are in memory."""


class Default(NamedTuple):
    """What a common default costs."""

    row: defaults.Row
    judged: Judged


class Help(NamedTuple):
    """A change of the scenario with which more handshakes complete."""

    overrides: tuple[str, ...]
    judged: Judged


class Network(NamedTuple):
    """What the finalists cost in another network."""

    name: str
    overrides: list[str]
    judged: dict[int, Judged]


class Adviser:
    """The work behind an advice. After a signal it still has what is known."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        choose: Iterable[str] = (),
        fix: Iterable[str] = (),
        weights: str | Mapping[str, float] | None = None,
        budget: int | None = None,
        seed: int = 1,
        threads: int | None = None,
    ):
        self._began = time.monotonic()
        self.scale = Scale(read_weights(weights))
        self.seed = natural("--seed", seed)
        self.threads = threads
        self.space: Space = space(scenario, choose, fix)
        self.done = 0
        """Worlds that are done."""
        self.panicked: list[str] = []
        self.defaults: list[Default] = []
        self.networks: list[Network] = []
        self.why: dict[str, Any] | None = None
        """If nothing completes: the outcomes, failures and losses of the best."""
        self.helps: list[Help] = []
        """What would help then, the best first."""
        self.judged: dict[int, Judged] = {}
        """The finalists."""
        self.front: list[int] = []
        """The numbers of the configurations on the front, the best by the weights first."""
        self._give_up_s = float(lookup.value(self.space.scenario, "session.give_up_s") or 300)
        self._memories: dict[str, float] = {}
        self._samples = [self.sample(each.scenario) for each in self.space.configurations]
        self._clients = max(1, len(Run(self.space.scenario, count=1, seed=seed).columns()["seed"]))
        self._rows = self._possible_defaults()
        self._update: Callable[[int, int], None] = lambda done, total: None
        self._plan(budget)

    def sample(self, scenario: Scenario) -> Sample:
        """An empty sample of a configuration."""
        return Sample(self._give_up_s, self._memory(scenario))

    def _memory(self, scenario: Scenario) -> float:
        """The octets that the client's library takes. They do not depend on the timers."""
        ends = json.loads(scenario.native.settings())
        session = json.dumps([{**end, "timer": None} for end in ends.values()])
        if session not in self._memories:
            found = scenario.session_memory()["client"]
            self._memories[session] = math.inf if found is None else found
        return self._memories[session]

    def _possible_defaults(self) -> list[tuple[defaults.Row, Scenario]]:
        """The defaults, but for those that are not possible here."""
        found = []
        scenario = self.space.scenario
        if str(lookup.value(scenario, "session.protocol") or "dtls").startswith("tls"):
            return []  # TCP has its own timers
        for row in defaults.rows(scenario, stack_is_chosen="session.stack" in self.space.keys):
            try:
                found.append((row, scenario.with_(row.overrides)))
            except ScenarioError:
                continue
        return found

    def _plan(self, budget: int | None) -> None:
        """How many worlds each stage has."""
        runners = len(self.space.configurations)
        finalists = min(FINALISTS, runners)
        others = 2 * finalists + len(self._rows)  # both other networks have half of the worlds
        self._fewest = max(LEAST, FEWEST // self._clients)
        needed = least(runners, FINALISTS) + self._fewest * others
        if budget is None:
            budget = max(HANDSHAKES // self._clients, needed)
        if budget < needed:
            what = f"{needed:,} worlds or more for {runners:,} configurations"
            raise AdviceError(f"--budget: found {budget:,}, allowed: {what}")
        self.budget = budget
        affordable = (budget - least(runners, FINALISTS)) // others
        self.worlds = min(MOST, max(self._fewest, min(budget // SHARE, affordable)))
        """The worlds of each finalist."""
        rounds = schedule(runners, FINALISTS, budget - self.worlds * others, self.worlds)
        self._race = Race(rounds, runners, FINALISTS, self._draw, self._order)
        last = rounds[-1].worlds if rounds else 0
        self.total = all_worlds(rounds) + self.worlds * others - finalists * last
        """Worlds in all."""

    def run(self, update: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Runs everything. Calls `update` again and again, with the worlds done and those of all.

        What ends it, as Ctrl-C does, leaves what is known.
        """
        self._update = update
        try:
            left = self._race.run()
            self._draw(left, min(self._samples[one].worlds for one in left), self.worlds)
        finally:
            self._judge()
        if not self.is_reliable:
            self._explain()
        self._run_defaults()
        self._run_networks()

    def _draw(self, runners: Sequence[int], first: int, last: int) -> None:
        """Runs the worlds of some configurations, from one number to another."""
        of = [(self.space.configurations[one].scenario, self._samples[one]) for one in runners]
        self._run(of, first, last)

    def _run(self, of: Iterable[tuple[Scenario, Sample]], first: int, last: int) -> None:
        """Runs worlds. The next run has begun when one ends, so that no processor waits."""
        before: tuple[Run, Sample] | None = None
        for scenario, sample in of:
            for start, end in self._chunks(first, last):
                run = Run(scenario, count=end - start, seed=self.seed + start, threads=self.threads)
                try:
                    if before:
                        self._finish(*before)
                except BaseException:
                    run.cancel()
                    raise
                before = run, sample
        if before:
            self._finish(*before)

    def _chunks(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        size = max(1, CHUNK // self._clients)
        for start in range(first, last, size):
            yield start, min(last, start + size)

    def _finish(self, run: Run, sample: Sample) -> None:
        run.watch(lambda done: self._update(self.done + done, self.total))
        sample.add(run)
        if run.panicked_count:
            self.panicked.append(told(run))
        self.done += run.count

    def _order(self, runners: Sequence[int], worlds: int) -> list[int]:
        """The order in which configurations stay in the race."""
        values = {one: self._samples[one].values(worlds) for one in runners}
        seen: set[bytes] = set()
        copies = []
        for one in runners:
            same = self._samples[one].same(worlds)
            if same in seen:
                copies.append(one)
            seen.add(same)
        return staying(runners, values, copies, self.scale)

    def _judge(self) -> None:
        """Compares those that are left, over the worlds that all of them have."""
        left = [one for one in self._race.left if self._samples[one].worlds]
        if not left:
            return
        known = min(self._samples[one].worlds for one in left)
        self.judged = {one: Judged(self._samples[one], known, self.scale) for one in left}
        values = {one: judged.values for one, judged in self.judged.items()}
        self.front = pareto(ranking(left, values, self.scale), values)

    @property
    def is_reliable(self) -> bool:
        """True if the best configuration completes nearly always."""
        return self.judged[self.front[0]].share >= RELIABLE

    def _explain(self) -> None:
        """Says why nothing completes, and tries what would help."""
        best = self.space.configurations[self.front[0]].scenario
        run = Run(best, count=EXPLAINED, seed=self.seed, threads=self.threads, records=False)
        run.watch(lambda done: self._update(self.done + done, self.total))
        summary = run.summary()
        self.why = {name: summary[name] for name in ("completed", "failed", "failures", "losses")}
        tried = self._try(list(remedies.candidates(best, self.why["losses"])))
        if not any(each.judged.share >= RELIABLE for each in tried):
            both = remedies.pairs([each.overrides for each in tried])
            made = [(pair, remedies.changed(best, pair)) for pair in both]
            tried += self._try([(pair, scenario) for pair, scenario in made if scenario])
        own = self.judged[self.front[0]].share
        better = [each for each in tried if each.judged.share > own + SMALLEST_HELP]
        self.helps = sorted(better, key=lambda each: (-each.judged.share, len(each.overrides)))

    def _try(self, changes: list[tuple[tuple[str, ...], Scenario]]) -> list[Help]:
        """What changes give, the best first."""
        self.total += self._fewest * len(changes)
        found = []
        for overrides, scenario in changes:
            sample = self.sample(scenario)
            self._run([(scenario, sample)], 0, self._fewest)
            found.append(Help(overrides, Judged(sample, self._fewest, self.scale)))
        return sorted(found, key=lambda each: -each.judged.share)

    def _run_defaults(self) -> None:
        for row, scenario in self._rows:
            sample = self.sample(scenario)
            self._run([(scenario, sample)], 0, self.worlds)
            self.defaults.append(Default(row, Judged(sample, self.worlds, self.scale)))

    def _run_networks(self) -> None:
        for name, factor in (("30 % worse", networks.WORSE), ("30 % better", networks.BETTER)):
            overrides = networks.varied(self.space.scenario, factor)
            if not overrides or not remedies.changed(self.space.scenario, overrides):
                continue  # it is the same network, or nothing would arrive
            samples = {
                one: self.sample(self.space.configurations[one].scenario) for one in self.judged
            }
            configurations = self.space.configurations
            scenarios = (configurations[one].scenario.with_(overrides) for one in samples)
            worlds = self.worlds // 2
            self._run(zip(scenarios, samples.values(), strict=True), 0, worlds)
            judged = {n: Judged(sample, worlds, self.scale) for n, sample in samples.items()}
            self.networks.append(Network(name, overrides, judged))

    @property
    def tried(self) -> int:
        """How many configurations have worlds."""
        return sum(sample.worlds > 0 for sample in self._samples)

    @property
    def wall_s(self) -> float:
        """The seconds since this object was made."""
        return time.monotonic() - self._began


def advise(
    scenario: Scenario | str | os.PathLike[str],
    *,
    choose: str | Mapping[str, str | Iterable[Setting]] | Iterable[str] = (),
    fix: Mapping[str, Setting] | Iterable[str] = (),
    weights: str | Mapping[str, float] | None = None,
    budget: int | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Advice:
    """Says which of the configurations that may be chosen is the best, and what others cost.

    `choose` names what may be chosen: groups, as `["timers", "mtu"]`, or keys with their values, as
    `{"session.timeout_s": [1, 4, 9]}`. `fix` has what may not: values for keys, or names. `weights`
    says how much a metric counts, as `{"duration": 1, "energy": 2}`. `budget` is the most worlds
    that are run. What the answer has: `recommended`, `front`, `defaults`, `sure`, `text`, `json()`.

    >>> import slowhand
    >>> slow = slowhand.Scenario("psk-tinydtls", {"mac.slotframe": 101})
    >>> advice = slowhand.advise(slow, choose={"session.timeout_s": [1, 9]}, budget=400)
    >>> advice.recommended.settings
    {'session.timeout_s': 9.0}
    """
    from slowhand.advice.answer import Advice

    base = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    adviser = Adviser(
        base,
        choose=list(_words(choose)),
        fix=[f"{key}={toml(value)}" for key, value in fix.items()]
        if isinstance(fix, Mapping)
        else fix,
        weights=weights,
        budget=budget,
        seed=seed,
        threads=threads,
    )
    adviser.run()
    return Advice(adviser)


def _words(choose: str | Mapping[str, str | Iterable[Setting]] | Iterable[str]) -> Iterator[str]:
    """What may be chosen, as on the command line."""
    if isinstance(choose, str):
        yield choose
    elif isinstance(choose, Mapping):
        for key, values in choose.items():
            text = values if isinstance(values, str) else ",".join(map(toml, values))
            yield f"{key}={text}"
    else:
        yield from choose
