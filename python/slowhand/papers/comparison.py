"""The numbers of a paper beside ours, and whether the two agree."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from slowhand.estimate import Estimate

Kind = Literal["exact", "ratio", "range", "least", "interval", "note"]
Verdict = Literal["yes", "no", "note"]


@dataclass(frozen=True)
class Reported:
    """A row of `reported.toml`: a quantity that the paper reports, and when ours agrees with it.

    The kinds:

    - `exact`: both are equal in all digits that the paper prints
    - `ratio`: ours divided by the paper's is within `tolerance` of 1
    - `range`: ours lies between the two reported numbers
    - `least`: ours is at least the reported number
    - `interval`: the reported number lies in our 95 % interval
    - `note`: shown without a verdict
    """

    id: str
    part: str
    quantity: str
    unit: str
    reported: float | tuple[float, float] | None
    kind: Kind
    where: str
    tolerance: float | None = None
    assumed: tuple[str, ...] = ()
    remark: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.id}: kind: found {self.kind}, allowed: {get_args(Kind)}")
        if (self.kind == "ratio") != (self.tolerance is not None):
            raise ValueError(f"{self.id}: a ratio, and nothing else, has a tolerance")
        number = {"range": tuple, "note": object}.get(self.kind, float)
        if not isinstance(self.reported, number):
            raise ValueError(f"{self.id}: reported: found {self.reported} for kind {self.kind}")

    def judge(self, ours: Estimate | None) -> Row:
        """The row with our number. The verdict is `no` if there is none."""
        if self.kind == "note":
            return Row(self, ours, "note")
        return Row(self, ours, "yes" if ours and self._agrees(ours) else "no")

    def _agrees(self, ours: Estimate) -> bool:
        if isinstance(self.reported, tuple):
            low, high = self.reported
            return low <= ours.mean <= high
        assert self.reported is not None  # as __post_init__ has seen
        if self.kind == "exact":
            return round(ours.mean, _decimals(self.reported)) == self.reported
        if self.kind == "least":
            return ours.mean >= self.reported
        if self.kind == "interval":
            return abs(ours.mean - self.reported) <= ours.half
        assert self.tolerance is not None  # as __post_init__ has seen
        return abs(ours.mean / self.reported - 1) <= self.tolerance


@dataclass(frozen=True)
class Row:
    """A row of the comparison."""

    reported: Reported
    ours: Estimate | None
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        """Ours divided by the paper's, if both are one number."""
        theirs = self.reported.reported
        if self.ours is None or self.reported.kind == "least":
            return None
        if not isinstance(theirs, float) or theirs == 0:
            return None
        return self.ours.mean / theirs

    @property
    def tolerance(self) -> str:
        """The kind or the tolerance, in a word."""
        kind, tolerance = self.reported.kind, self.reported.tolerance
        words = {"least": "at least", "interval": "interval", "range": "range", "note": ""}
        return f"{tolerance:.0%}" if tolerance is not None else words.get(kind, kind)

    def json(self) -> dict[str, Any]:
        """The row, for JSON."""
        reported = self.reported
        return {
            "id": reported.id,
            "part": reported.part,
            "quantity": reported.quantity,
            "unit": reported.unit,
            "reported": reported.reported,
            "ours": self.ours and self.ours.mean,
            "ci95": self.ours and self.ours.ci95,
            "ratio": self.ratio,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "assumed": list(reported.assumed),
            "where": reported.where,
            "remark": reported.remark,
        }


@dataclass(frozen=True)
class Paper:
    """A paper's folder: what the paper reports, and what we had to assume."""

    id: str
    folder: Path
    title: str
    authors: str
    published: str
    parts: Mapping[str, str]
    rows: tuple[Reported, ...]
    assumptions: Mapping[str, str]

    def number(self, id: str) -> float:
        """The one number that a row reports."""
        (row,) = (row for row in self.rows if row.id == id)
        assert isinstance(row.reported, float), id
        return row.reported

    def about(self) -> dict[str, Any]:
        """The paper, for a list in JSON."""
        return {
            "paper": self.id,
            "title": self.title,
            "authors": self.authors,
            "published": self.published,
            "parts": dict(self.parts),
        }

    @classmethod
    def load(cls, folder: Path) -> Paper:
        """Reads `reported.toml` and `assumptions.toml`."""
        reported = tomllib.loads((folder / "reported.toml").read_text())
        assumptions = tomllib.loads((folder / "assumptions.toml").read_text())
        paper = cls(
            id=folder.name,
            folder=folder,
            rows=tuple(Reported(**_typed(row)) for row in reported["row"]),
            assumptions=assumptions,
            **reported["paper"],
        )
        for row in paper.rows:
            if row.part not in paper.parts:
                raise ValueError(f"{folder}: {row.id}: part: found {row.part}")
            if unknown := set(row.assumed) - set(assumptions):
                raise ValueError(f"{folder}: {row.id}: assumed: not in assumptions.toml: {unknown}")
        return paper


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    reported = row.get("reported")
    if isinstance(reported, list):
        row["reported"] = tuple(map(float, reported))
    elif reported is not None:
        row["reported"] = float(reported)
    else:
        row["reported"] = None
    return {**row, "assumed": tuple(row.get("assumed", ()))}


def _decimals(number: float) -> int:
    """The number of decimals of a number as it was written."""
    return len(repr(number).partition(".")[2]) if not number.is_integer() else 0
