"""Records what the papers give: `python -m slowhand.papers.record [PAPER ...]`.

It writes `recorded.json` into the folder of each paper: the rows of the whole paper, and the same
rows with a few worlds a point, which a test can afford to run again. What is the same bits on any
machine has to be equal again until a change of the model changes it. Then record it anew, and say
in the changelog what changed and why.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from slowhand import __version__
from slowhand.papers import COUNT, Plan, Reproduction, papers
from slowhand.papers.comparison import RECORDED
from slowhand.progress import Progress

FEW = 2
"""Worlds a point of the rows that a test runs again."""


def main(names: list[str]) -> None:
    """Runs these papers, or all, and writes what they give."""
    for paper in papers():
        if names and paper.id not in names:
            continue
        record = {
            "slowhand": __version__,
            **content(paper.id, COUNT),
            "few": content(paper.id, FEW),
        }
        (paper.folder / RECORDED).write_text(json.dumps(record, indent=1) + "\n")


def content(name: str, count: int) -> dict[str, Any]:
    """The results of a paper with `count` worlds a point, in the form of the file."""
    plan = Plan.of(name, count=count)
    with Progress(plan.worlds, "worlds") as progress:
        found = plan.run(progress.update)
    return {"count": count, "tally": found.tally.json(), "rows": rows(found)}


def rows(found: Reproduction) -> dict[str, Any]:
    """Verdict, mean and interval of each row."""
    return {
        row.reported.id: [row.verdict, row.ours and row.ours.mean, row.ours and row.ours.ci95]
        for row in found.rows
    }


if __name__ == "__main__":
    main(sys.argv[1:])
