"""Papers reproduced: their numbers, our numbers, and whether the two agree.

A paper is a folder of `papers/` with its scenarios, `reported.toml` and `assumptions.toml`, and a
package here of the same name, with `_` in place of `-`. Its `PARTS` say what to run for each table
and figure.

>>> import slowhand
>>> [paper.id for paper in slowhand.papers.papers()]
['claeys2021', 'iotops-comparison', 'kothmayr2013', 'lenders2023', 'pittoli2016', 'vucinic2015']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slowhand import data
from slowhand._native import __version__
from slowhand.api import WorldError
from slowhand.arguments import Complaint
from slowhand.estimate import Estimate
from slowhand.nearest import none_of
from slowhand.papers.comparison import Paper, Row, Tally
from slowhand.papers.points import FIRST_SEED, Laboratory, NoMeasurement, Part

COUNT = 1000
"""The number of worlds for each point, if not given."""


class UnknownPaper(Complaint, ValueError):
    """There is no such paper, or no such part of it."""


@dataclass(frozen=True)
class Reproduction:
    """The rows of a paper, and the measurements behind them."""

    paper: Paper
    parts: tuple[str, ...]
    rows: tuple[Row, ...]
    laboratory: Laboratory
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a part has no values, by part."""
    stopped: KeyboardInterrupt | None = None
    """The signal that came before all parts were complete."""
    missing: tuple[str, ...] = ()
    """The parts that were not complete then."""

    @property
    def succeeded(self) -> bool:
        """True if no verdict is `no` and no part is missing."""
        return not self.missing and all(row.verdict != "no" for row in self.rows)

    @property
    def assumptions(self) -> dict[str, str]:
        """The assumptions of the paper that the rows name."""
        used = {name for row in self.rows for name in row.reported.assumed}
        return {name: text for name, text in self.paper.assumptions.items() if name in used}

    @property
    def tally(self) -> Tally:
        """The number of rows that agree, by what they prove."""
        return Tally.of([(row.verdict, row.reported.evidence) for row in self.rows])

    def json(self) -> dict[str, Any]:
        """The comparison, for JSON."""
        return {
            "slowhand": __version__,
            "paper": self.paper.id,
            "title": self.paper.title,
            "parts": list(self.parts),
            "seed": FIRST_SEED,
            "count": self.laboratory.count,
            "interrupted": self.stopped is not None,
            "missing": list(self.missing),
            "failures": dict(self.failures),
            "tally": self.tally.json(),
            "rows": [row.json() for row in self.rows],
            "assumptions": self.assumptions,
        }

    def draw(self, folder: Path) -> list[Path]:
        """Draws the figures of these parts into `folder`, each as PNG and SVG."""
        drawn = [part for part in self.parts if part not in self.failures]
        parts = [_parts(self.paper.id)[part] for part in drawn]
        return [file for part in parts for file in part.draw(self.laboratory, folder)]


def papers() -> list[Paper]:
    """The papers that can be reproduced."""
    return [Paper.load(file.parent) for file in sorted(data.PAPERS.glob("*/reported.toml"))]


@dataclass(frozen=True)
class Plan:
    """The parts to run for a paper, or for a part of it."""

    paper: Paper
    parts: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, name: str, part: str | None = None, *, count: int = COUNT) -> Plan:
        """The plan to run `count` worlds for each point of a paper, or of one of its parts."""
        paper = find(name)
        if part is not None and part not in paper.parts:
            raise UnknownPaper(none_of(f"part of {name}", part, paper.parts))
        return cls(paper, tuple(paper.parts) if part is None else (part,), count)

    @property
    def worlds(self) -> int:
        """The number of worlds to run."""
        parts = _parts(self.paper.id)
        points = {point for part in self.parts for point in parts[part].points}
        return sum(point.worlds(self.count) for point in points)

    def run(self, update: Callable[[int], None] = lambda done: None) -> Reproduction:
        """Runs all points. Calls `update` with the number of worlds that are done.

        Ctrl-C and other signals end the run: the parts before it are kept.
        """
        laboratory = Laboratory(self.paper.folder, count=self.count, update=update)
        complete: dict[str, tuple[list[Row], str]] = {}
        stopped = None
        try:
            for part in self.parts:
                values, failure = self._measure(part, laboratory)
                rows = [row.judge(values[row.id]) for row in self.paper.rows if row.part == part]
                complete[part] = rows, failure
        except KeyboardInterrupt as signal:
            stopped = signal
        return Reproduction(
            self.paper,
            tuple(complete),
            tuple(row for rows, _ in complete.values() for row in rows),
            laboratory,
            {part: failure for part, (_, failure) in complete.items() if failure},
            stopped=stopped,
            missing=self.parts[len(complete) :],
        )

    def _measure(
        self, part: str, laboratory: Laboratory
    ) -> tuple[Mapping[str, Estimate | None], str]:
        """Our values for the rows of a part, or no values and the reason."""
        wanted = [row.id for row in self.paper.rows if row.part == part]
        found = _parts(self.paper.id)[part]
        try:
            values = {f"{part}.{id}": value for id, value in found.measure(laboratory).items()}
        except (NoMeasurement, WorldError) as error:
            return dict.fromkeys(wanted), str(error)
        assert set(wanted) == set(values), "reported.toml differs from the module"
        return values, ""


def reproduce(name: str, part: str | None = None, *, count: int = COUNT) -> Reproduction:
    """Runs a paper, or a part of it, and compares the numbers.

    >>> import slowhand
    >>> slowhand.papers.reproduce("vucinic2015", "table1").succeeded
    True
    """
    return Plan.of(name, part, count=count).run()


def find(name: str) -> Paper:
    """The paper of this name."""
    for paper in papers():
        if paper.id == name:
            return paper
    known = [paper.id for paper in papers()]
    raise UnknownPaper(none_of("paper", name, known))


def _parts(name: str) -> Mapping[str, Part]:
    """The parts of a paper, by their names in `reported.toml`."""
    package = name.replace("-", "_")
    parts: Mapping[str, Part] = importlib.import_module(f"slowhand.papers.{package}").PARTS
    return parts
