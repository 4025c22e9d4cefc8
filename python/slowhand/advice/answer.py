"""An advice as numbers: for JSON, for data frames, and for the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from slowhand import settings
from slowhand._native import __version__
from slowhand.advice import Adviser
from slowhand.advice.front import METRICS, Interval, Judged, ranking, sureness
from slowhand.advice.space import Configuration
from slowhand.api import Scenario
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    import polars

COLUMNS = {
    "duration": "duration_s_p95",
    "energy": "energy_client_mj_mean",
    "bytes": "bytes_phy_mean",
    "failures": "failed",
    "ram": "ram_client_bytes",
}
"""The column of each metric in a data frame."""


class Row(NamedTuple):
    """One configuration of a table."""

    name: str
    configuration: Configuration | None
    judged: Judged

    def json(self, best: Judged) -> dict[str, Any]:
        """For JSON: `weighted` is how many times as bad it is as the best, by the weights."""
        settings = dict(self.configuration.settings) if self.configuration else {}
        metrics = self.judged.intervals()
        return {
            "settings": settings,
            "overrides": list(self.configuration.overrides) if self.configuration else [],
            "worlds": self.judged.worlds,
            "metrics": {name: interval.json() for name, interval in metrics.items()},
            "weighted": weighted(self.judged, best),
        }


def weighted(judged: Judged, best: Judged) -> float:
    """How many times as bad a configuration is as another one, by the weights."""
    return math.exp(judged.score - best.score)


@dataclass
class Advice:
    """What `slowhand advise` says."""

    adviser: Adviser
    interrupted: bool = False

    def _repr_html_(self) -> str:
        """What a cell of a notebook shows: what is recommended, and the front."""
        from slowhand.pages import cells

        return cells.advice(self)

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
        """What it costs."""
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
        """All that the race has left, the best by the weights first."""
        return [self._row(one) for one in self._ranked]

    @cached_property
    def equals(self) -> list[Row]:
        """Those that give the same as the recommended one in every world."""
        first = self.adviser.front[0]
        return [self._row(one) for one in self._ranked if one != first and self._equal(one)]

    @cached_property
    def second(self) -> Row | None:
        """The second best by the weights that is not the same in every world."""
        first = self.adviser.front[0]
        others = (one for one in self._ranked if one != first and not self._equal(one))
        found = next(others, None)
        return None if found is None else self._row(found)

    @cached_property
    def sure(self) -> float | None:
        """The share of draws of the worlds in which the first is better than the second."""
        return None if self.second is None else sureness(self.best, self.second.judged)

    @cached_property
    def snippets(self) -> list[settings.Snippet]:
        """What to type for the recommended client; nothing where its library has none."""
        stack = json.loads(self.scenario.native.settings())["client"]["stack"]
        return settings.snippets(self.scenario, stack) if stack in settings.LIBRARIES else []

    @property
    def _ranked(self) -> list[int]:
        adviser = self.adviser
        values = {one: judged.values for one, judged in adviser.judged.items()}
        return ranking(values, values, adviser.scale)

    def _equal(self, one: int) -> bool:
        return self.adviser.judged[one].same == self.best.same

    def _configuration(self, one: int) -> Configuration:
        return self.adviser.space.configurations[one]

    def _row(self, one: int) -> Row:
        configuration = self._configuration(one)
        return Row(configuration.label, configuration, self.adviser.judged[one])

    @property
    def front(self) -> polars.DataFrame:
        """The Pareto front: the keys that may be chosen, and the metrics with their intervals."""
        return self.frame(self.front_rows)

    @property
    def defaults(self) -> polars.DataFrame:
        """What common defaults cost."""
        import polars

        rows = [
            {
                "default": ", ".join(default.row.names),
                "session.timeout_s": default.row.timeout_s,
                "session.stack": default.row.stack,
                **_metrics(default.judged),
                "weighted": weighted(default.judged, self.best),
            }
            for default in self.adviser.defaults
        ]
        return polars.DataFrame(rows, infer_schema_length=None)

    def frame(self, rows: list[Row]) -> polars.DataFrame:
        """A table of configurations."""
        import polars

        made = [
            {
                "scenario": self.adviser.space.scenario.file,
                **(row.configuration.settings if row.configuration else {}),
                **_metrics(row.judged),
                "weighted": weighted(row.judged, self.best),
            }
            for row in rows
        ]
        return polars.DataFrame(made, infer_schema_length=None)

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
            "weights": adviser.scale.weights,
            "units": {name: metric.unit for name, metric in METRICS.items()},
            "seed": adviser.seed,
            "budget": adviser.budget,
            "worlds": adviser.done,
            "worlds_beyond_budget": adviser.beyond,
            "interrupted": self.interrupted,
            "panicked": adviser.panicked,
            "wall_s": adviser.wall_s,
        }
        return found | (self._json() if self.known else {"recommended": None})

    def _json(self) -> dict[str, Any]:
        best = self.best
        return {
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
            "equal": [dict(row.configuration.settings) for row in self.equals if row.configuration],
            "second": None if self.second is None else self.second.json(best),
            "sure": self.sure,
            "defaults": [
                {
                    "names": default.row.names,
                    "sources": default.row.sources,
                    "timeout_s": default.row.timeout_s,
                    "stack": default.row.stack,
                    **Row("", None, default.judged).json(best),
                    "overrides": default.row.overrides,
                }
                for default in self.adviser.defaults
            ],
            "networks": list(self._networks()),
            "networks_not_possible": self.adviser.skipped,
            "type": [asdict(snippet) for snippet in self.snippets],
        }

    def _networks(self) -> Iterator[Mapping[str, Any]]:
        for network in self.adviser.networks:
            here = self.elsewhere(network.judged)
            metrics = here.judged.intervals()
            yield {
                "network": network.name,
                "overrides": network.overrides,
                "metrics": {name: interval.json() for name, interval in metrics.items()},
                "behind": here.behind,
                "fails": here.fails,
                "best": dict(self._configuration(here.best).settings),
            }

    def elsewhere(self, judged: Mapping[int, Judged]) -> Elsewhere:
        """What the recommended one costs in another network, and how far it is behind the best."""
        values = {one: found.values for one, found in judged.items()}
        best = ranking(values, values, self.adviser.scale)[0]
        own = judged[self.adviser.front[0]]
        fails = judged[best].is_reliable and not own.is_reliable
        return Elsewhere(own, best, max(0.0, weighted(own, judged[best]) - 1), fails)


class Elsewhere(NamedTuple):
    """The recommended configuration in another network."""

    judged: Judged
    best: int
    """The configuration that is the best there, of those on the front."""
    behind: float
    """By the weights: 0.02 is 2 % worse than the best there. It is 0 also if it is better."""
    fails: bool
    """True if it does not complete reliably there, but the best does."""


def _metrics(judged: Judged) -> dict[str, float]:
    found: dict[str, float] = {}
    intervals: dict[str, Interval] = judged.intervals()
    for name, interval in intervals.items():
        column = COLUMNS[name]
        found |= {column: interval.value, f"{column}_low": interval.low}
        found[f"{column}_high"] = interval.high
    return found
