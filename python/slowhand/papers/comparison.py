"""The numbers of a paper beside ours, and whether the two agree."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from slowhand.estimate import Estimate

Kind = Literal["exact", "ratio", "word", "nearer", "range", "least", "interval", "positive", "note"]
Verdict = Literal["yes", "no", "note"]
Evidence = Literal["independent", "sign", "construction", "fitted"]
PROVES: tuple[Evidence, ...] = ("independent", "sign", "construction")
"""The evidence of a row that has a verdict."""

WORD = 0.20
"""The distance of ours from a number that the paper gives with a word: "roughly", "almost",
"similar". One rule for all papers. It is the least that the papers themselves need: Claeys et al.
2021 call durations "quite similar" (section 3.2.2) of which Table 2 has 4.495 and 3.795 s."""

RECORDED = "recorded.json"
"""The file of a paper's folder with what the whole paper gave. `record` writes it."""


@dataclass(frozen=True)
class Reported:
    """A row of `reported.toml`: a quantity that the paper reports, and when ours agrees with it.

    The kinds:

    - `exact`: both are equal in all digits that the paper prints
    - `ratio`: ours divided by the paper's is within `tolerance` of 1
    - `word`: the same for a number with a word such as "roughly", within `WORD`
    - `nearer`: ours is nearer to the number than half of the way to the nearest number of the rows
      `than`, which differ from it in one setting. So no number agrees with two rows that the paper
      tells apart, and a setting without effect is a `no`
    - `range`: ours lies between the two reported numbers
    - `least`: ours is at least the reported number
    - `interval`: the reported number lies in our 95 % interval
    - `positive`: our whole 95 % interval is above 0; the paper gives no number
    - `note`: shown without a verdict

    What a row proves, its `evidence`:

    - `independent`: a number of the paper, which nothing in the model was chosen to meet
    - `sign`: a direction or a shape only. A difference of rows that are judged themselves is no
      more: its number is counted already
    - `construction`: its truth follows from how the scenario was set, it is the same in any
      implementation of the protocol, or it compares a formula of ours with a simulation of ours
    - `fitted`: a constant of the model was chosen to meet it. It is a note

    Other notes prove nothing.
    """

    id: str
    part: str
    quantity: str
    unit: str
    reported: float | tuple[float, float] | None
    kind: Kind
    where: str
    evidence: Evidence | None = None
    tolerance: float | None = None
    than: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    remark: str = ""
    margin: float | None = None
    """Of `nearer`: how far ours may be from the number. In the unit of the row."""

    def __post_init__(self) -> None:
        self._check("kind", self.kind, get_args(Kind))
        proves: tuple[Evidence | None, ...] = PROVES
        if self.kind == "note":
            proves = (None, "fitted")
        elif self.kind == "positive":
            proves = ("sign", "construction")
        self._check("evidence", self.evidence, proves)
        if (self.kind == "ratio") != (self.tolerance is not None):
            raise ValueError(f"{self.id}: a ratio, and nothing else, has a tolerance")
        if (self.kind == "nearer") != bool(self.than):
            raise ValueError(f"{self.id}: nearer, and nothing else, has rows in than")
        kinds: dict[str, type] = {"range": tuple, "note": object, "positive": type(None)}
        if not isinstance(self.reported, kinds.get(self.kind, float)):
            raise ValueError(f"{self.id}: reported: found {self.reported} for kind {self.kind}")

    def _check(self, name: str, found: object, allowed: Sequence[object]) -> None:
        if found not in allowed:
            words = ", ".join("none" if one is None else str(one) for one in allowed)
            raise ValueError(f"{self.id}: {name}: found {found}, allowed: {words}")

    def apart_from(self, others: Sequence[Reported]) -> Reported:
        """The row with the margin that follows from the rows `than`."""
        if not all(isinstance(row.reported, float) for row in (self, *others)):
            raise ValueError(f"{self.id}: than: each row has to be one number")
        distances = [abs(self.reported - other.reported) for other in others]  # type: ignore[operator]
        if not min(distances):
            raise ValueError(f"{self.id}: than: a row has the same number")
        return replace(self, margin=min(distances) / 2)

    def judge(self, ours: Estimate | None) -> Row:
        """The row with our number. The verdict is `no` if there is none."""
        if self.kind == "note":
            return Row(self, ours, "note")
        return Row(self, ours, "yes" if ours and self._agrees(ours) else "no")

    def _agrees(self, ours: Estimate) -> bool:
        if isinstance(self.reported, tuple):
            low, high = self.reported
            return low <= ours.mean <= high
        if self.kind == "positive":
            return ours.mean - ours.half > 0
        assert self.reported is not None  # as __post_init__ has seen
        if self.kind == "exact":
            return round(ours.mean, _decimals(self.reported)) == self.reported
        if self.kind == "least":
            return ours.mean >= self.reported
        if self.kind == "interval":
            return abs(ours.mean - self.reported) <= ours.half
        if self.margin is not None:
            return abs(ours.mean - self.reported) < self.margin
        tolerance = WORD if self.tolerance is None else self.tolerance
        return abs(ours.mean / self.reported - 1) <= tolerance


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
        kind, tolerance, margin = self.reported.kind, self.reported.tolerance, self.reported.margin
        if margin is not None:
            return f"± {margin:.3g}"
        if kind == "word":
            tolerance = WORD
        words = {"least": "at least", "positive": "above 0", "note": ""}
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
            "evidence": reported.evidence,
            "assumed": list(reported.assumed),
            "where": reported.where,
            "remark": reported.remark,
        }


@dataclass(frozen=True)
class Tally:
    """The number of rows that agree, by what they prove."""

    agree: Mapping[Evidence, int]
    """The number of rows with the verdict `yes`, by the words of `PROVES`."""
    judged: Mapping[Evidence, int]
    """The number of rows with a verdict, by the same words."""
    fitted: int
    notes: int
    """Rows without a verdict that are not fitted."""

    @classmethod
    def of(cls, verdicts: Sequence[tuple[Verdict, Evidence | None]]) -> Tally:
        """The tally of rows, each by its verdict and its evidence."""
        rows = Counter(evidence for _, evidence in verdicts)
        agree = Counter(evidence for verdict, evidence in verdicts if verdict == "yes")
        agreeing, judged = ({word: found[word] for word in PROVES} for found in (agree, rows))
        return cls(agreeing, judged, rows["fitted"], rows[None])

    @property
    def independent(self) -> str:
        """The independent rows in words."""
        if not self.judged["independent"]:
            return "no independent rows"
        return f"{self.agree['independent']} of {self.judged['independent']} independent rows agree"

    @property
    def others(self) -> str:
        """The other rows in words, if there are any."""
        names: dict[Evidence, str] = {"sign": "signs", "construction": "by construction"}
        words = [
            f"{name} {self.agree[word]} of {self.judged[word]}"
            for word, name in names.items()
            if self.judged[word]
        ]
        words += [f"fitted {self.fitted}"] if self.fitted else []
        words += [f"not judged {self.notes}"] if self.notes else []
        return ", ".join(words)

    @property
    def cells(self) -> list[str]:
        """The numbers as cells of a line: by evidence, fitted, not judged."""
        judged = [f"{self.agree[word]} of {self.judged[word]}" for word in PROVES]
        return [*judged, str(self.fitted), str(self.notes)]

    def json(self) -> dict[str, Any]:
        """The tally, for JSON."""
        judged: dict[str, Any] = {
            word: {"agree": self.agree[word], "of": self.judged[word]} for word in PROVES
        }
        return {**judged, "fitted": self.fitted, "not_judged": self.notes}

    @classmethod
    def read(cls, tally: Mapping[str, Any]) -> Tally:
        """The tally that `json` has written."""
        agree = {word: tally[word]["agree"] for word in PROVES}
        judged = {word: tally[word]["of"] for word in PROVES}
        return cls(agree, judged, tally["fitted"], tally["not_judged"])


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
        recorded = self.recorded()
        return {
            "paper": self.id,
            "title": self.title,
            "authors": self.authors,
            "published": self.published,
            "parts": dict(self.parts),
            "recorded": recorded
            and {
                "slowhand": recorded["slowhand"],
                "count": recorded["count"],
                "rows": recorded["tally"],
            },
        }

    def recorded(self) -> dict[str, Any] | None:
        """The results of the whole paper when it was last recorded; `record` writes them."""
        file = self.folder / RECORDED
        return json.loads(file.read_text()) if file.exists() else None

    @classmethod
    def load(cls, folder: Path) -> Paper:
        """Reads `reported.toml` and `assumptions.toml`."""
        reported = tomllib.loads((folder / "reported.toml").read_text())
        assumptions = tomllib.loads((folder / "assumptions.toml").read_text())
        paper = cls(
            id=folder.name,
            folder=folder,
            rows=_rows(reported["row"]),
            assumptions=assumptions,
            **reported["paper"],
        )
        for row in paper.rows:
            if row.part not in paper.parts:
                raise ValueError(f"{folder}: {row.id}: part: found {row.part}")
            if unknown := set(row.assumed) - set(assumptions):
                raise ValueError(f"{folder}: {row.id}: assumed: not in assumptions.toml: {unknown}")
        return paper


def _rows(tables: Sequence[dict[str, Any]]) -> tuple[Reported, ...]:
    rows: dict[str, Reported] = {}
    for table in tables:
        if table["id"] in rows:
            raise ValueError(f"{table['id']}: two rows have this id")
        rows[table["id"]] = Reported(**_typed(table))
    for id, row in rows.items():
        if unknown := set(row.than) - set(rows):
            raise ValueError(f"{id}: than: no such row: {', '.join(sorted(unknown))}")
        if row.than:
            rows[id] = row.apart_from([rows[other] for other in row.than])
    return tuple(rows.values())


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    reported = row.get("reported")
    if isinstance(reported, list):
        reported = tuple(map(float, reported))
    elif reported is not None:
        reported = float(reported)
    lists = {name: tuple(row.get(name, ())) for name in ("than", "assumed")}
    return {**row, **lists, "reported": reported}


def _decimals(number: float) -> int:
    """The number of decimals of a number as it was written."""
    return len(repr(number).partition(".")[2]) if not number.is_integer() else 0
