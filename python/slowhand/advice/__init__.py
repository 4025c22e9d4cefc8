"""Advice: which of the configurations that may be chosen is the best, and what others cost.

A race finds the best ones; all of them meet the same losses. Other worlds than those that chose
give the numbers that are printed: those of the Pareto front, of common defaults, and of networks
that are worse than the scenario says.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand import footprint, known
from slowhand._native import ScenarioError
from slowhand.advice import defaults, life, networks, remedies
from slowhand.advice.contest import Contest, Plan
from slowhand.advice.front import Judged, Sample, Scale
from slowhand.advice.front import weights as read_weights
from slowhand.advice.life import Lived
from slowhand.advice.lookup import AdviceError
from slowhand.advice.racing import LEAST, least, schedule
from slowhand.advice.space import Space, has_no_effect, means, space
from slowhand.api import Run, Scenario, loaded, processors, told
from slowhand.blame import refusal
from slowhand.bounds import MAX_SEED, natural
from slowhand.keys import Setting, toml
from slowhand.lives import BATTERY
from slowhand.terminal import printable

if TYPE_CHECKING:
    from slowhand.advice.answer import Advice

__all__ = ["AdviceError", "Adviser", "advise"]

HANDSHAKES = 60_000
"""The budget in handshakes, if not given. (Assumed: less than a minute on two processors, also
where certificates are verified.)"""

FINALISTS = 12
"""The least that the race leaves; more, if there are more families of which the best is
told. (Assumed: a longer table is not read.)"""

SHARE = 100
"""A finalist is judged by the budget divided by this number: the race keeps about half of it.
(Assumed.)"""

FEWEST, MOST = 40, 1_000
"""The fewest and the most worlds that judge a finalist; fewer if a world has several handshakes.
(Assumed: of 40, two are above the 95th percentile.)"""

ENOUGH = 400
"""Where no race is needed, or each family has its best, so many worlds judge a finalist if the
budget has them. (Assumed: half of the interval of a mean is then a tenth of the standard
deviation.)"""

STRESSED = 5
"""Another network has this part of these worlds: all of them together have as many. (Assumed.)"""

EXPLAINED = 100
"""The worlds that say why nothing completes: their losses are counted. (Assumed.)"""

SMALLEST_HELP = 0.1
"""A change helps if so much more of all handshakes complete. (Assumed.)"""

MOST_HELPS = 6
"""The most changes that are judged, of those that help. (Assumed: a longer list is not read.)"""

CHUNK = 4_000
"""The most handshakes of a run, as in sweeps: their records are in memory."""


class Default(NamedTuple):
    """The cost of a common default."""

    row: defaults.Row
    judged: Judged


class Help(NamedTuple):
    """A change of the scenario with which more handshakes complete."""

    overrides: tuple[str, ...]
    scenario: Scenario
    judged: Judged


class Network(NamedTuple):
    """The costs of the finalists in another network."""

    number: int
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
        battery: str | None = None,
        budget: int | None = None,
        seed: int = 1,
        threads: int | None = None,
    ):
        self._began = time.monotonic()
        given = read_weights(weights)
        self.battery = _battery(battery, given)
        """The battery whose life counts, if one does."""
        self.seed = natural("--seed", seed)
        self.threads = threads
        self.space: Space = space(scenario, choose, fix, lives=self.battery is not None)
        self.scale = Scale(given, float(self._give_up_s()))
        self.done = 0
        """Worlds that are done."""
        self.panicked: list[str] = []
        self.defaults: list[Default] = []
        self.skipped: dict[str, str] = {}
        """Other networks that are not possible, by name, and why not."""
        self.why: dict[str, Any] | None = None
        """If nothing completes: the outcomes, failures and losses of the best."""
        self.helps: list[Help] | None = None
        """The changes that would help then, the best first; `None` until they are known."""
        self.beyond = 0
        """Worlds that say why nothing completes and what would help. The budget has no part in it:
        how many there are is known only then."""
        self.lived = 0
        """Worlds of lives that are done. The budget has no part in them either."""
        if self.battery is not None:
            self._check_life(self.battery)
        self._memories: dict[str, float] = {}
        runners = [partial(self.sample, each.scenario) for each in self.space.configurations]
        memories = [runner().memory for runner in runners]
        self._check_memory(memories)
        self._clients = max(1, len(Run(self.space.scenario, count=1, seed=seed).columns()["seed"]))
        self._rows = self._possible_defaults()
        self._others = self._possible_networks()
        self._update: Callable[[int, int], None] = lambda done, total: None
        plan = self._plan(budget)
        families = [self.space.family(each.settings) for each in self.space.configurations]
        self.contest = Contest(runners, plan, self.scale, self._run_runners, families)

    def _give_up_s(self) -> Any:
        scenario = self.space.scenario
        own = scenario.value("session.give_up_s")
        return known.default(scenario, "session.give_up_s") if own is None else own

    def sample(self, scenario: Scenario, *, lives: bool = True) -> Sample:
        """An empty sample of a configuration, with a life if that counts."""
        lived = Lived(self.battery) if lives and self.battery is not None else None
        return Sample(self._memory(scenario), footprint.of_client(scenario), lived)

    def _check_life(self, battery: str) -> None:
        """Raises `ScenarioError` if the client has no life, or there is no such battery."""
        try:
            life.lives(self.space.scenario, battery, self.seed)
        except ScenarioError as error:
            if error.key != "application.pattern":
                raise
            remedy = (
                "; a short way is --period 1h, the long one --fix application.pattern=periodic"
                " --fix application.period_s=3600"
            )
            place = printable(self.space.scenario.path)
            raise refusal(f"{error.reason}{remedy}", place=place, key=error.key) from error

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
        scenario = self.space.scenario
        if has_no_effect(means(scenario), ["session.timeout_s"]):
            return []  # TCP has its own timers, and so has CoAP
        rows = defaults.rows(scenario, stack_is_chosen="session.stack" in self.space.keys)
        made = ((row, remedies.changed(scenario, row.overrides)) for row in rows)
        return [(row, changed) for row, changed in made if changed]

    def _possible_networks(self) -> list[tuple[str, list[str]]]:
        """The names and overrides of worse networks, but for those that are not possible here."""
        found = []
        scenario, example = self.space.scenario, self.space.configurations[0].scenario
        for stress in networks.applicable(scenario):
            overrides = list(stress.overrides(scenario))
            try:
                checked = Run(example.with_(overrides), count=1, seed=self.seed)
                checked.cancel()
                found.append((stress.name, overrides))
            except ScenarioError as error:
                self.skipped[stress.name] = str(error)
        return found

    def _check_memory(self, memories: Iterable[float]) -> None:
        """Refuses a weight of memory where a memory is not known."""
        if self.scale.weights["ram"] and math.inf in memories:
            remedy = "--fix session.stack=NAME with another library, or no weight for ram"
            raise AdviceError(
                "--weights: found ram, but the memory of a library that may be chosen is not known;"
                f" {remedy}"
            )

    def _plan(self, budget: int | None) -> Plan:
        """The numbers of worlds of each stage."""
        configurations = self.space.configurations
        runners = len(configurations)
        families = len({self.space.family(each.settings) for each in configurations})
        best = min(FINALISTS, runners)
        finalists = min(runners, max(FINALISTS, FINALISTS // 2 + families))
        race = least(runners, finalists)
        # Worlds of those that choose, that judge, of other networks (twice), and of the defaults.
        others = 2 * finalists + (2 * best if self._others else 0) + len(self._rows)
        self._fewest = max(LEAST, FEWEST // self._clients)
        enough = max(self._fewest, ENOUGH // self._clients)
        needed = race + self._fewest * others
        if budget is None:
            usual = HANDSHAKES // self._clients
            budget = max(usual, needed, race + race // 2, race + enough * others)
        if budget < needed:
            many = "1 configuration" if runners == 1 else f"{runners:,} configurations"
            what = f"{needed:,} worlds or more for {many}"
            raise AdviceError(f"--budget: found {budget:,}, allowed: {what}")
        self.budget = budget
        affordable = (budget - race) // others
        wanted = budget // SHARE if race and families < 2 else max(enough, budget // SHARE)
        self.worlds = min(MOST, max(self._fewest, min(wanted, affordable)))
        """The worlds of each finalist: so many choose, and so many others judge."""
        highest = MAX_SEED - max(2 * self.worlds, FEWEST, EXPLAINED) + 1
        if self.seed > highest:
            raise AdviceError(f"--seed: found {self.seed}, allowed: at most {highest}")
        left = budget - self.worlds * others
        rounds = schedule(runners, finalists, left, self.worlds)
        stressed = max(1, self.worlds // STRESSED)
        plan = Plan(rounds, self.worlds, stressed, len(self._others), finalists, best)
        self.total = plan.total() + self.worlds * len(self._rows)
        """The most worlds in all, with those of lives."""
        self._lives = plan.scaled(life.worlds)
        if self.battery is not None:
            self.total += self._lives.total() + self._lives.worlds * len(self._rows)
        return plan

    def run(self, update: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Runs everything. Calls `update` again and again, with the worlds done and those of all.

        What ends it, as Ctrl-C does, leaves what is known.
        """
        self._update = update
        self.contest.run()
        self.total -= self.contest.spared
        if self.battery is not None:
            self.total -= self._lives.spared(len(self.contest.ties))
        if not self.judged[self.front[0]].completes:
            self._explain()
        self._run_defaults()
        for number in range(len(self._others)):
            self.contest.stress(number)

    @property
    def judged(self) -> dict[int, Judged]:
        """The finalists."""
        return self.contest.judged

    @property
    def front(self) -> list[int]:
        """The numbers of the configurations on the front, the recommended one first."""
        return self.contest.front

    @property
    def networks(self) -> list[Network]:
        """Other networks that are done."""
        return [
            Network(number, *self._others[number], judged)
            for number, judged in self.contest.networks.items()
            if judged
        ]

    def _run_runners(
        self, network: int | None, samples: Mapping[int, Sample], first: int, last: int
    ) -> None:
        """Runs the worlds of some configurations, from one number to another."""
        scenarios = {one: self.space.configurations[one].scenario for one in samples}
        if network is not None:
            name, overrides = self._others[network]
            try:
                scenarios = {one: each.with_(overrides) for one, each in scenarios.items()}
            except ScenarioError as error:  # a chosen value that does not go with it
                self.skipped[name] = str(error)
                return
        self._run([(scenarios[one], sample) for one, sample in samples.items()], first, last)

    def _run(self, of: Iterable[tuple[Scenario, Sample]], first: int, last: int) -> None:
        """Runs worlds. The next run has begun when one ends, so that no processor waits."""
        size = max(1, CHUNK // self._clients)
        before: tuple[Run, Sample] | None = None
        for scenario, sample in of:
            for start in range(first, last, size):
                count = min(last - start, size)
                run = Run(scenario, count=count, seed=self.seed + start, threads=self.threads)
                try:
                    if before:
                        self._finish(*before)
                except BaseException:
                    run.cancel()
                    raise
                before = run, sample
        if before:
            self._finish(*before)

    def _finish(self, run: Run, sample: Sample) -> None:
        run.watch(lambda done: self._update(self.done + self.lived + done, self.total))
        if sample.lived is not None:
            self._live(run, sample.lived, sample.worlds)
        sample.add(run)
        if run.panicked_count:
            self.panicked.append(told(run))
        self.done += run.count

    def _live(self, run: Run, lived: Lived, before: int) -> None:
        """Simulates the worlds of a life that go with those of a run; `before` were there."""
        after = before + run.count
        threads = processors() if self.threads is None else self.threads
        lived.sample(run.scenario, run.seed, after, threads)
        self.lived += life.worlds(after) - life.worlds(before)

    @property
    def is_reliable(self) -> bool:
        """True if the recommended configuration completes, and answers, nearly always."""
        return self.judged[self.front[0]].is_reliable

    def _explain(self) -> None:
        """Says why nothing completes, and tries what would help."""
        best = self.space.configurations[self.front[0]].scenario
        run = Run(best, count=EXPLAINED, seed=self.seed, threads=self.threads, records=False)
        self._more(EXPLAINED)
        run.watch(lambda done: self._update(self.done + self.lived + done, self.total))
        self.done += run.count
        summary = run.summary()
        self.why = {name: summary[name] for name in ("completed", "failed", "failures", "losses")}
        tried = self._try(list(remedies.candidates(best, self.why["losses"])), 0)
        if not any(each.judged.is_reliable for each in tried):
            both = remedies.pairs([each.overrides for each in tried])
            made = [(pair, remedies.changed(best, pair)) for pair in both]
            tried += self._try([(pair, scenario) for pair, scenario in made if scenario], 0)
        own = self.judged[self.front[0]].share
        better = [each for each in tried if each.judged.share > own + SMALLEST_HELP]
        better.sort(key=lambda each: (-each.judged.share, len(each.overrides)))
        shown = [(each.overrides, each.scenario) for each in better[:MOST_HELPS]]
        self.helps = self._try(shown, self._fewest)  # by worlds that have not chosen them

    def _more(self, worlds: int) -> None:
        """Plans worlds beyond the budget."""
        self.beyond += worlds
        self.total += worlds

    def _try(self, changes: Sequence[tuple[tuple[str, ...], Scenario]], first: int) -> list[Help]:
        """The results of changes in worlds from a number on, the best first."""
        self._more(self._fewest * len(changes))
        found = []
        for overrides, scenario in changes:
            sample = self.sample(scenario, lives=False)
            self._run([(scenario, sample)], first, first + self._fewest)
            found.append(Help(overrides, scenario, Judged(sample, self._fewest, self.scale)))
        return sorted(found, key=lambda each: (-each.judged.share, len(each.overrides)))

    def _run_defaults(self) -> None:
        """Runs the defaults in the worlds that judge the finalists."""
        for row, scenario in self._rows:
            sample = self.sample(scenario)
            self._run([(scenario, sample)], self.worlds, 2 * self.worlds)
            self.defaults.append(Default(row, Judged(sample, self.worlds, self.scale)))

    @property
    def tried(self) -> int:
        """The number of configurations that have worlds."""
        return sum(sample.worlds > 0 for sample in self.contest.samples)

    @property
    def wall_s(self) -> float:
        """The seconds since this object was made."""
        return time.monotonic() - self._began


def _battery(given: str | None, weights: Mapping[str, float]) -> str | None:
    """The battery whose life counts; none if it has no weight."""
    if "battery" in weights:
        return given or BATTERY
    if given is not None:
        remedy = "--weights battery=1 gives one"
        found = printable(given)
        raise AdviceError(f"--battery: found {found}, but its life has no weight: {remedy}")
    return None


def advise(
    scenario: Scenario | str | os.PathLike[str],
    *,
    choose: str | Mapping[str, Setting | Iterable[Setting]] | Iterable[str] = (),
    fix: str | Mapping[str, Setting] | Iterable[str] = (),
    weights: str | Mapping[str, float] | None = None,
    battery: str | None = None,
    budget: int | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Advice:
    """Says which of the configurations that may be chosen is the best, and what others cost.

    `choose` names what may be chosen: groups, as `["timers", "mtu"]`, or keys with their values, as
    `{"session.timeout_s": [1, 4, 9]}`. `fix` has what may not: values for keys, or names. `weights`
    says how much a metric counts, as `{"duration": 1, "energy": 2}`. With a weight for `battery`
    how long `battery` lasts counts: the name of one that comes with slowhand, or the path of a
    file. The scenario says what its client asks for, in `[application]`. `budget` is the most
    worlds that are run, but for those of lives and those that say why nothing completes. What the
    answer has: `recommended`, `front`, `defaults`, `sure`, `text`, `json()`.

    >>> import slowhand
    >>> slow = slowhand.Scenario("psk-tinydtls", {"mac.slotframe": 101})
    >>> advice = slowhand.advise(slow, choose={"session.timeout_s": [1, 9]}, budget=600)
    >>> advice.recommended.settings
    {'session.timeout_s': 9.0}
    """
    from slowhand.advice.answer import Advice

    adviser = Adviser(
        loaded(scenario),
        choose=list(_words("choose", choose, _several)),
        fix=list(_words("fix", fix, toml)),
        weights=weights,
        battery=battery,
        budget=budget,
        seed=seed,
        threads=threads,
    )
    adviser.run()
    return Advice(adviser)


def _words(option: str, given: object, text: Callable[[Any], str]) -> Iterator[str]:
    """The words that `choose` and `fix` have on a command line. `text` writes a value of a key."""
    allowed = "a name, a list of names, or a dictionary with values for keys"
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in given.items():
            try:
                yield f"{key}={text(value)}"
            except TypeError as error:
                raise AdviceError(f"--{option} {printable(str(key))}: {error}") from error
    elif isinstance(given, Iterable):
        for word in given:
            if not isinstance(word, str):
                found = printable(repr(word))
                raise AdviceError(f"--{option}: found {found} in a list, allowed: {allowed}")
            yield word
    else:
        raise AdviceError(f"--{option}: found {printable(repr(given))}, allowed: {allowed}")


def _several(values: object) -> str:
    """One value or several, as `--vary` has them; a string is as it is typed there."""
    if isinstance(values, str):
        return values
    is_one = isinstance(values, Mapping) or not isinstance(values, Iterable)
    return ",".join(map(toml, [values] if is_one else values))  # type: ignore[call-overload]
