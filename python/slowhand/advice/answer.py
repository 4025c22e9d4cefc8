"""An advice as numbers: for JSON, for data frames, and for the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand import lives, settings
from slowhand._native import __version__
from slowhand.advice import Adviser, networks
from slowhand.advice.front import METRICS, Judged, is_apart, ranked, sureness
from slowhand.advice.space import WITHOUT_TLS, Configuration, Settings
from slowhand.api import Scenario
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    import polars


class Row(NamedTuple):
    """One configuration of a table."""

    configuration: Configuration
    judged: Judged

    @property
    def name(self) -> str:
        """The choice, as on the command line."""
        return self.configuration.label

    @property
    def settings(self) -> Settings:
        """The values that were chosen, by key."""
        return self.configuration.settings

    def json(self, best: Judged) -> dict[str, Any]:
        """For JSON."""
        return _json(self.judged, best, self.settings, self.configuration.overrides)


def _json(
    judged: Judged, best: Judged, settings: Settings, overrides: Sequence[str]
) -> dict[str, Any]:
    """For JSON: `weighted` is how many times as bad it is as the best, by the weights."""
    return {
        **_requests(judged),
        "settings": dict(settings),
        "overrides": list(overrides),
        "worlds": judged.worlds,
        "outcome": judged.outcome,
        "ram_of": judged.ram_of,
        "metrics": {name: interval.json() for name, interval in judged.intervals().items()},
        "weighted": weighted(judged, best),
    }


def _requests(judged: Judged) -> dict[str, Any]:
    """Where the life of a battery counts, what becomes of the requests of the client."""
    life = judged.life
    if life is None:
        return {}
    p95 = life["latency_s"]["p95"] if life["latency_s"] else None
    return {"requests_s_p95": p95, "requests_unanswered": judged.unanswered}


def weighted(judged: Judged, best: Judged) -> float:
    """The number of times that a configuration is as bad as another one, by the weights."""
    return math.exp(judged.score - best.score)


@dataclass
class Advice:
    """The answer of `slowhand advise`."""

    adviser: Adviser
    interrupted: bool = False

    def _repr_html_(self) -> str:
        """The content of a cell of a notebook: the recommendation, and the front."""
        from slowhand import cells

        return cells.advice(self, {name: metric.unit for name, metric in METRICS.items()})

    @property
    def known(self) -> bool:
        """False if it was interrupted before anything was known."""
        return bool(self.adviser.front)

    @property
    def recommended(self) -> Configuration:
        """The best by the weights, of those that are reliable if there are any."""
        return self._configuration(self.adviser.front[0])

    @property
    def best(self) -> Judged:
        """The costs of the recommended one."""
        return self.adviser.judged[self.adviser.front[0]]

    @property
    def scenario(self) -> Scenario:
        """The scenario as it is recommended."""
        return self.recommended.scenario

    @property
    def reliable(self) -> bool:
        """True if it completes nearly always."""
        return self.adviser.is_reliable

    @property
    def front_rows(self) -> list[Row]:
        """The Pareto front, the best by the weights first."""
        return [self._row(one) for one in self.adviser.front]

    @property
    def finalists(self) -> list[Row]:
        """All that the race has left: the recommended one, then the best by the weights first."""
        return [self._row(one) for one in self.adviser.contest.order]

    @property
    def ties(self) -> list[Row]:
        """The rows that cannot be told apart from the best, but for the recommended one."""
        return [self._row(one) for one in self.adviser.contest.ties if one != self._first]

    @cached_property
    def equals(self) -> list[Row]:
        """The rows of these that give the same as the recommended one in every world."""
        return [row for row in self.ties if row.judged.same == self.best.same]

    @cached_property
    def second(self) -> Row | None:
        """The best by the weights of those that can be told apart."""
        contest = self.adviser.contest
        found = next((one for one in contest.order if one not in contest.ties), None)
        return None if found is None else self._row(found)

    @cached_property
    def sure(self) -> float | None:
        """The share of draws of the worlds in which the first is better than the second."""
        return None if self.second is None else sureness(self.best, self.second.judged)

    @property
    def family_rows(self) -> list[Row]:
        """The best of each family, the best family first; nothing if there is only one."""
        leaders = self.adviser.contest.leaders
        return [self._row(one) for one in leaders] if len(leaders) > 1 else []

    def is_tied(self, row: Row) -> bool:
        """True if a configuration cannot be told apart from the best."""
        ties = (self._configuration(one) for one in self.adviser.contest.ties)
        return any(row.configuration is tie for tie in ties)

    @property
    def deciding(self) -> list[Deciding]:
        """The worse networks that tell those apart that cannot be told apart here."""
        found = []
        for network in self.adviser.networks:
            ends = self.adviser.contest.extremes.get(network.number)
            if ends and is_apart(*(network.judged[one] for one in ends)):
                best, worst = (self._row(one, network.judged[one]) for one in ends)
                found.append(Deciding(network.name, best, worst))
        return found

    @property
    def missing(self) -> list[networks.Stress]:
        """The networks that would tell these apart, and that the scenario does not describe."""
        names = {each.network for each in self.deciding}
        found = networks.missing(self.adviser.space.scenario)
        return [stress for stress in found if stress.name in names]

    @cached_property
    def snippets(self) -> list[settings.Snippet]:
        """The settings to type for the recommended client; none where its library has none.

        Nor is there anything where the protocol has neither TLS nor DTLS.
        """
        client = json.loads(self.scenario.native.settings())["client"]
        if client["protocol"] in WITHOUT_TLS or client["stack"] not in settings.LIBRARIES:
            return []
        return settings.snippets(self.scenario, client["stack"])

    @property
    def _first(self) -> int:
        return self.adviser.front[0]

    def _configuration(self, one: int) -> Configuration:
        return self.adviser.space.configurations[one]

    def _row(self, one: int, judged: Judged | None = None) -> Row:
        return Row(self._configuration(one), judged or self.adviser.judged[one])

    @property
    def front(self) -> polars.DataFrame:
        """The Pareto front: the keys that may be chosen, and the metrics with their intervals."""
        return self.frame(self.front_rows)

    @property
    def families(self) -> polars.DataFrame:
        """The best of each family, what it costs, and if it is tied with the best of all."""
        import polars

        rows = self.family_rows
        tied = polars.Series("tied", [self.is_tied(row) for row in rows], polars.Boolean)
        return self.frame(rows).with_columns(tied)

    @property
    def defaults(self) -> polars.DataFrame:
        """The costs of common defaults."""
        rows = [
            {
                "default": ", ".join(default.row.names),
                "session.timeout_s": default.row.timeout_s,
                "session.stack": default.row.stack,
                **_metrics(default.judged, self.best),
            }
            for default in self.adviser.defaults
        ]
        return _table(rows)

    def frame(self, rows: list[Row]) -> polars.DataFrame:
        """A table of configurations."""
        made = [
            {
                "scenario": self.adviser.space.scenario.file,
                **row.settings,
                **_metrics(row.judged, self.best),
            }
            for row in rows
        ]
        return _table(made)

    @property
    def text(self) -> str:
        """The report of the command line."""
        import io

        from slowhand.advice import report

        file = io.StringIO()
        report.show(self, Terminal(file, width=80, styled=False))
        return file.getvalue()

    def json(self) -> dict[str, Any]:
        """The answer for JSON."""
        adviser, space = self.adviser, self.adviser.space
        found: dict[str, Any] = {
            "slowhand": __version__,
            "scenario": space.scenario.path,
            "file": space.scenario.file,
            "files": space.scenario.files,
            "overrides": space.scenario.overrides,
            "chosen": space.keys,
            "configurations": len(space.configurations),
            "refused": [
                {"reason": reason, "count": count} for reason, count in space.refused.most_common()
            ],
            "refused_by_fixed": dict(space.refused_by_fixed),
            "weights": adviser.scale.weights,
            "units": {name: METRICS[name].unit for name in adviser.scale.weights},
            "seed": adviser.seed,
            "budget": adviser.budget,
            "worlds": adviser.done,
            "worlds_beyond_budget": adviser.beyond,
            "interrupted": self.interrupted,
            "panicked": adviser.panicked,
            "wall_s": adviser.wall_s,
        }
        if adviser.battery is not None:
            found |= {"battery": adviser.battery, "worlds_of_lives": adviser.lived}
        return found | (self._json() if self.known else {"recommended": None})

    @property
    def assumed(self) -> dict[str, Any] | None:
        """The assumptions of the life of the battery, if it counts."""
        own, battery = self.best.battery, self.adviser.battery
        if own is None or battery is None:
            return None
        return lives.assumed(self.scenario, battery, own)

    def _json(self) -> dict[str, Any]:
        best = self.best
        return {
            **({} if self.assumed is None else {"assumed": self.assumed}),
            "recommended": self._row(self.adviser.front[0]).json(best),
            "reliable": self.reliable,
            "why": self.adviser.why,
            "helps": None
            if self.adviser.helps is None
            else [
                {"overrides": each.overrides, "completed": each.judged.completed.json()}
                for each in self.adviser.helps
            ],
            "front": [row.json(best) for row in self.front_rows],
            "finalists": [row.json(best) for row in self.finalists],
            "families": [row.json(best) | {"tied": self.is_tied(row)} for row in self.family_rows],
            "ties": [row.json(best) for row in self.ties],
            "equal": [dict(row.settings) for row in self.equals],
            "deciding": [
                {
                    "network": each.network,
                    "best": dict(each.best.settings),
                    "worst": dict(each.worst.settings),
                    "weighted": each.weighted,
                }
                for each in self.deciding
            ],
            "not_stated": [each.asks for each in self.missing],
            "second": None if self.second is None else self.second.json(best),
            "sure": self.sure,
            "defaults": [
                {
                    "names": default.row.names,
                    "sources": default.row.sources,
                    "timeout_s": default.row.timeout_s,
                    "stack": default.row.stack,
                    **_json(default.judged, best, {}, default.row.overrides),
                }
                for default in self.adviser.defaults
            ],
            "networks": list(self._networks()),
            "networks_not_possible": [
                f"{name}: {reason}" for name, reason in self.adviser.skipped.items()
            ],
            "chosen_by_other_worlds": self.adviser.contest.is_judged,
            "type": [asdict(snippet) for snippet in self.snippets],
        }

    def _networks(self) -> Iterator[Mapping[str, Any]]:
        for network in self.adviser.networks:
            here = self.elsewhere(network.judged)
            metrics = here.judged.intervals()
            yield {
                "network": network.name,
                "overrides": network.overrides,
                "outcome": here.judged.outcome,
                "metrics": {name: interval.json() for name, interval in metrics.items()},
                "behind": here.behind,
                "fails": here.fails,
                "best": dict(self._configuration(here.best).settings),
            }

    def elsewhere(self, judged: Mapping[int, Judged]) -> Elsewhere:
        """The costs of the recommended one in another network, and its distance from the best."""
        own = judged[self._first]
        order = ranked(judged, self.adviser.scale)
        best = next((one for one in order[:1] if is_apart(judged[one], own)), self._first)
        fails = judged[best].is_reliable and not own.is_reliable
        return Elsewhere(own, best, max(0.0, weighted(own, judged[best]) - 1), fails)


class Deciding(NamedTuple):
    """A network in which those differ that cannot be told apart as stated."""

    network: str
    best: Row
    worst: Row

    @property
    def weighted(self) -> float:
        """The number of times that the worst is as bad as the best there, by the weights."""
        return weighted(self.worst.judged, self.best.judged)


class Elsewhere(NamedTuple):
    """The recommended configuration in another network."""

    judged: Judged
    best: int
    """The best of the finalists there; the recommended one, if none is better for sure."""
    behind: float
    """By the weights: 0.02 is 2 % worse than the best there. It is 0 also if it is better."""
    fails: bool
    """True if it does not complete reliably there, but the best does."""


def _table(rows: list[dict[str, Any]]) -> polars.DataFrame:
    """Rows as a table. A metric is a number also where no row knows it."""
    import polars

    known = dict.fromkeys(column for row in rows for column in row)
    columns = tuple(metric.column for metric in METRICS.values())
    metrics = [column for column in known if column.startswith(columns)]
    types = dict.fromkeys(metrics, polars.Float64)
    return polars.DataFrame(rows, schema_overrides=types, infer_schema_length=None)


def _metrics(judged: Judged, best: Judged) -> dict[str, Any]:
    """The columns of a data frame; `None` where it never ends, or a number is not known."""
    found: dict[str, Any] = {"outcome": judged.outcome, **_requests(judged)}
    for name, interval in judged.intervals().items():
        column = METRICS[name].column
        ends = () if name == "ram" else (f"{column}_low", f"{column}_high")
        found |= zip((column, *ends), interval.known, strict=False)
    return found | {"ram_client_of": judged.ram_of, "weighted": weighted(judged, best)}
