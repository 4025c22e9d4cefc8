"""Tables of text that fit a width: columns are left out, words wrapped, and numbers never cut."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from slowhand.terminal import Terminal

NARROWEST_COLUMN = 12
"""The least width of a column whose words are wrapped."""


class Column(NamedTuple):
    """A column. Its heading may have several lines."""

    heading: str = ""
    right: bool = True
    """Aligned to the right, as numbers are."""
    style: str = ""
    optional: int = 0
    """Columns with the greatest number are left out first; those with 0 never."""
    wraps: bool = False
    """Its words may take several lines. At most one column does."""


Cell = str | tuple[str, str]
"""A text, or a text and its style."""


class Table:
    """Rows of cells. A row of one cell is a heading, as wide as it needs."""

    def __init__(self, columns: list[Column], *, gap: int = 2, repeated: int = 0):
        self.columns = columns
        self.gap = gap
        """The spaces between two columns."""
        self.repeated = repeated
        """If not 0: a table that is too wide becomes several, each with so many first columns."""
        self.rows: list[list[Cell]] = []

    def add(self, *cells: Cell) -> None:
        """Adds a row: a cell for each column, or a heading alone."""
        self.rows.append(list(cells))

    def print(self, out: Terminal) -> None:
        """Prints the table.

        It is wider than the terminal only if the columns that are never left out need more.
        """
        rows = [[_plain(cell, out) for cell in row] for row in self.rows]
        headings = [out.plain(column.heading).splitlines() or [""] for column in self.columns]
        tallest = max(map(len, headings))
        heads = [[""] * (tallest - len(lines)) + lines for lines in headings]
        widths = [
            max([len(line) for line in head] + [len(_text(row[i])) for row in rows if len(row) > 1])
            for i, head in enumerate(heads)
        ]
        for part, shown in enumerate(self._parts(widths, out.width)):
            if part:
                out.print()
            for number in range(tallest):
                cells: list[Cell] = [(heads[i][number], "dim") for i in shown]
                if any(map(_text, cells)):
                    self._print_line(cells, shown, widths, out)
            for row in rows:
                if len(row) == 1:
                    out.print(_text(row[0]), _style(row[0]))
                else:
                    self._print_row([row[i] for i in shown], shown, widths, out)

    def _parts(self, widths: list[int], width: int) -> list[list[int]]:
        """The columns of each table to print."""
        if not self.repeated:
            return [self._fit(widths, width)]
        first = list(range(self.repeated))
        parts: list[list[int]] = []
        used = width + 1
        for i in range(self.repeated, len(self.columns)):
            used += widths[i] + self.gap
            if used > width:
                parts.append(list(first))
                used = sum(widths[j] + self.gap for j in first) + widths[i]
            parts[-1].append(i)
        return parts

    def _fit(self, widths: list[int], width: int) -> list[int]:
        """The columns to show. Makes the one that wraps narrower if that is not enough."""
        shown = list(range(len(self.columns)))

        def excess() -> int:
            return sum(widths[i] + self.gap for i in shown) - self.gap - width

        while excess() > 0:
            last = max(shown, key=lambda i: self.columns[i].optional)
            if not self.columns[last].optional:
                break
            shown.remove(last)
        for i in shown:
            if self.columns[i].wraps and excess() > 0:
                widths[i] = min(widths[i], max(NARROWEST_COLUMN, widths[i] - excess()))
        return shown

    def _print_row(
        self, row: list[Cell], shown: list[int], widths: list[int], out: Terminal
    ) -> None:
        lines = [[_text(cell)] for cell in row]
        for place, i in enumerate(shown):
            if self.columns[i].wraps:
                lines[place] = _wrap(_text(row[place]), widths[i])
        for number in range(max(map(len, lines))):
            cells: list[Cell] = [
                (texts[number] if number < len(texts) else "", _style(cell))
                for texts, cell in zip(lines, row, strict=True)
            ]
            self._print_line(cells, shown, widths, out)

    def _print_line(
        self, cells: list[Cell], shown: list[int], widths: list[int], out: Terminal
    ) -> None:
        line, owed = "", 0  # the spaces before the next text: none at the end of a line
        for i, cell in zip(shown, cells, strict=True):
            text, style = _text(cell), _style(cell) or self.columns[i].style
            pad = widths[i] - len(text)
            left = pad if self.columns[i].right else 0
            if text:
                line += " " * (owed + left) + out.style(text, style)
                owed = pad - left + self.gap
            else:
                owed += widths[i] + self.gap
        out.print(line)


def _plain(cell: Cell, out: Terminal) -> Cell:
    return out.plain(cell) if isinstance(cell, str) else (out.plain(cell[0]), cell[1])


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _style(cell: Cell) -> str:
    return "" if isinstance(cell, str) else cell[1]


def _wrap(text: str, width: int) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text.strip(), width, initial_indent=indent, subsequent_indent=indent + "  "
    ) or [""]
