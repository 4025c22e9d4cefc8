"""The comparison as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from slowhand.papers.comparison import Paper, Row

if TYPE_CHECKING:
    from rich.console import Console

    from slowhand.papers import Reproduction

VERDICTS = {"yes": "green", "no": "bold red", "note": "dim"}


def show_list(papers: Sequence[Paper], out: Console) -> None:
    """Prints the papers and their parts."""
    for paper in papers:
        out.print(Text(paper.id, "bold"), f"  {paper.title}")
        out.print(f"  {paper.authors}: {paper.published}", style="dim")
        for part, what in paper.parts.items():
            out.print(f"  {part:8}  {what}")


def show(reproduction: Reproduction, out: Console) -> None:
    """Prints one row for each quantity, then the assumptions and the remarks."""
    paper = reproduction.paper
    used = [
        id for id in paper.assumptions if any(id in r.reported.assumed for r in reproduction.rows)
    ]
    numbers = {id: number for number, id in enumerate(used, start=1)}
    remarks: list[str] = []
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("quantity", no_wrap=True)
    table.add_column("unit", style="dim", no_wrap=True)
    for heading in ("reported", "ours ± 95 %", "ratio", "tolerance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("assumed", style="dim", no_wrap=True)
    for part in reproduction.parts:
        table.add_row(Text(part, "bold cyan"))
        for row in (row for row in reproduction.rows if row.reported.part == part):
            table.add_row(*_cells(row, numbers, remarks))
    out.print(table)
    out.print()
    for part in reproduction.parts:
        out.print(f"{part}: {paper.parts[part]}", style="dim")
    out.print()
    if used:
        out.print("Assumed, where the paper does not say:", style="dim")
        for id, number in numbers.items():
            _print_item(f"[{number}]", paper.assumptions[id], out)
        out.print()
    for letter, remark in zip(_letters(len(remarks)), remarks, strict=True):
        _print_item(f"({letter})", remark, out)
    if remarks:
        out.print()
    out.print(_tally(reproduction.rows))


def _print_item(mark: str, text: str, out: Console) -> None:
    item = Table.grid(padding=(0, 1, 0, 0))
    item.add_column(width=4, justify="right")
    item.add_column()
    item.add_row(mark, text, style="dim")
    out.print(item)


def _cells(row: Row, numbers: dict[str, int], remarks: list[str]) -> list[str | Text]:
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
        Text(row.verdict, VERDICTS[row.verdict]),
        _ranges(sorted(numbers[id] for id in reported.assumed)),
    ]


def _reported(value: float | tuple[float, float] | None) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else f"{value[0]:g} .. {value[1]:g}"


def _ours(row: Row) -> str:
    if row.ours is None:
        return "none completed"
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


def _tally(rows: Sequence[Row]) -> Text:
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    line = Text(f"{counts['yes']} of {counts['yes'] + counts['no']} agree", "bold")
    line.append(f", {counts['note']} without a verdict", "dim")
    return line
