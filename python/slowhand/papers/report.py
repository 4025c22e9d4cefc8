"""The comparison as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

from slowhand.papers.comparison import Paper, Row, Tally
from slowhand.table import Cell, Column, Table

if TYPE_CHECKING:
    from slowhand.papers import Reproduction
    from slowhand.terminal import Terminal

VERDICTS = {"yes": "green", "no": "bold red", "note": "dim"}


def show_list(papers: Sequence[Paper], out: Terminal) -> None:
    """Prints a line for each paper, how many of its rows agree, and what the papers are."""
    names = ("independent", "signs", "by construction", "fitted", "not judged")
    table = Table([Column("paper", right=False), *map(Column, names)], repeated=1)
    for paper in papers:
        recorded = paper.recorded()
        tally = Tally.read(recorded["tally"]) if recorded else None
        table.add((paper.id, "bold"), *(tally.cells if tally else ["not recorded", "", "", "", ""]))
    table.print(out)
    out.print()
    text = (
        "Rows that agree, of how many, as recorded with this version. Independent rows are numbers"
    )
    out.paragraph(f"{text} of the paper that nothing here was chosen to meet.")
    for paper in papers:
        out.print()
        about = f"{paper.title}. {paper.authors}: {paper.published}"
        out.paragraph(f"{paper.id}: {about}", "dim", indent="  ")
        out.paragraph(f"parts: {', '.join(paper.parts)}", "dim", first="  ", indent="  ")
    out.print()
    out.paragraph("slowhand papers PAPER [PART] runs a paper, or a part of it.", "dim")


def show(reproduction: Reproduction, out: Terminal) -> None:
    """Prints one row for each quantity, then the assumptions and the remarks."""
    paper = reproduction.paper
    assumptions = reproduction.assumptions
    numbers = {id: number for number, id in enumerate(assumptions, start=1)}
    remarks: list[str] = []
    table = Table(
        [
            Column("quantity", right=False, wraps=True),
            Column("unit", right=False, style="dim"),
            Column("reported"),
            Column("ours ± 95 %"),
            Column("ratio", optional=1),
            Column("within", optional=2),
            Column("verdict", right=False),
            Column("evidence", right=False, style="dim"),
            Column("assumed", right=False, style="dim", optional=3),
        ],
        gap=1,
        folded=2,
    )
    for part in reproduction.parts:
        table.add((part, "bold cyan"))
        for row in (row for row in reproduction.rows if row.reported.part == part):
            table.add(*_cells(row, numbers, remarks))
    if reproduction.parts:
        table.print(out)
        out.print()
    for part in reproduction.parts:
        out.paragraph(f"{part}: {paper.parts[part]}", "dim", indent="  ")
    for part, message in reproduction.failures.items():
        out.paragraph(f"{part}: {message}", "red", indent="  ")
    out.print()
    if assumptions:
        out.print("Assumed, where the paper does not say:", "dim")
        for number, text in enumerate(assumptions.values(), start=1):
            out.paragraph(text, "dim", first=f"{f'[{number}]':>4} ", indent=" " * 5)
        out.print()
    for letter, remark in zip(_letters(len(remarks)), remarks, strict=True):
        out.paragraph(remark, "dim", first=f"{f'({letter})':>4} ", indent=" " * 5)
    if remarks:
        out.print()
    if reproduction.stopped:
        missing = ", ".join(reproduction.missing)
        out.paragraph(f"Interrupted. Not complete, and not shown: {missing}.", "yellow")
    out.print(reproduction.tally.independent, "bold")
    if reproduction.tally.others:
        out.paragraph(reproduction.tally.others, "dim", first="others: ", indent=" " * 8)


def _cells(row: Row, numbers: dict[str, int], remarks: list[str]) -> list[Cell]:
    reported = row.reported
    quantity = f"  {reported.quantity}"
    if reported.remark:
        if reported.remark not in remarks:
            remarks.append(reported.remark)
        quantity += f" ({_letters(len(remarks))[remarks.index(reported.remark)]})"
    return [
        quantity,
        reported.unit,
        _reported(reported.reported),
        _ours(row),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        row.tolerance,
        (row.verdict, VERDICTS[row.verdict]),
        reported.evidence or "",
        _ranges(sorted(numbers[id] for id in reported.assumed)),
    ]


def _reported(value: float | tuple[float, float] | None) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else f"{value[0]:g} .. {value[1]:g}"


def _ours(row: Row) -> str:
    if row.ours is None:
        return "none"
    mean, half = row.ours.mean, row.ours.half
    if not half:
        return f"{mean:.5g}"
    digits = 4 - math.floor(math.log10(abs(mean) or 1))  # the column has no room for more than five
    decimals = max(0, min(1 - math.floor(math.log10(half)), digits))
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, with ranges: 1,3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ",".join(map(str, r)) for r in runs)


def _letters(count: int) -> list[str]:
    """Names for remarks: a to z, then aa, ab and so on.

    >>> _letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    names = [*ascii_lowercase, *(a + b for a in ascii_lowercase for b in ascii_lowercase)]
    return names[:count]
