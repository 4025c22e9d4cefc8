"""Tables of text that fit a width: words are wrapped, rows folded, and numbers never cut.

What a terminal of `WIDTH` columns shows, a narrower one shows too, in more lines.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from slowhand.terminal import WIDTH, Terminal

NARROWEST_COLUMN = 12
"""The least width of a column whose words are wrapped."""

INDENT = 4
"""The columns by which numbers, and a label's second line, stand to the right of the label."""


class Column(NamedTuple):
    """A column. Its heading may have several lines."""

    heading: str = ""
    right: bool = True
    """Aligned to the right, as numbers are."""
    style: str = ""
    optional: int = 0
    """Columns with the greatest number are left out first, and named below; those with 0 never."""
    wraps: bool = False
    """Its words may take several lines. At most one column does."""


Cell = str | tuple[str, str]
"""A text, or a text and its style."""


class Table:
    """Rows of cells. A row of one cell is a heading, as wide as it needs.

    Where there is no room, columns that are optional are left out, as far as `WIDTH` columns
    require. A table that is still too wide becomes several, each with the first column. With
    `repeated` it has so many first columns in each, and none is left out; with `folded` it stays
    one table, and the other columns of a row stand below its so many first ones.
    """

    def __init__(self, columns: list[Column], *, gap: int = 2, repeated: int = 0, folded: int = 0):
        self.columns = columns
        self.gap = gap
        """The spaces between two columns."""
        self.repeated = repeated
        self.folded = folded
        self.rows: list[list[Cell]] = []

    def add(self, *cells: Cell) -> None:
        """Adds a row: a cell for each column, or a heading alone."""
        self.rows.append(list(cells))

    def print(self, out: Terminal) -> None:
        """Prints the table.

        It is wider than the terminal only if one row of columns that are never left out is.
        """
        rows = [[_plain(cell, out) for cell in row] for row in self.rows]
        headings = [out.plain(column.heading).splitlines() or [""] for column in self.columns]
        tallest = max(map(len, headings))
        heads = [[""] * (tallest - len(lines)) + lines for lines in headings]
        widths = [
            max([len(line) for line in head] + [len(_text(row[i])) for row in rows if len(row) > 1])
            for i, head in enumerate(heads)
        ]
        shown = self._chosen(widths, max(out.width, WIDTH))
        least = self._longest_word(rows) if self.folded else NARROWEST_COLUMN
        narrow = self._narrowed(shown, widths, out.width, least)
        if self.folded and self._width(shown, narrow) > out.width:
            self._print_folded(heads, rows, shown, widths, out)
        else:
            for number, part in enumerate(self._parts(shown, widths, out.width)):
                if number:
                    out.print()
                narrow = self._narrowed(part, widths, out.width, least)
                self._print_heads(heads, part, narrow, out)
                self._print_rows(rows, part, [], narrow, out)
        if missing := [i for i in range(len(self.columns)) if i not in shown]:
            names = ", ".join(" ".join(headings[i]) for i in missing)
            out.paragraph(f"no room for: {names} (--json has them)", "dim", indent="  ")

    def _chosen(self, widths: list[int], width: int) -> list[int]:
        """The columns to show."""
        shown = list(range(len(self.columns)))
        while not self.repeated and self._width(shown, widths) > width:
            last = max(shown, key=lambda i: self.columns[i].optional)
            if not self.columns[last].optional:
                break
            shown.remove(last)
        return shown

    def _width(self, shown: list[int], widths: list[int]) -> int:
        return sum(widths[i] + self.gap for i in shown) - self.gap

    def _longest_word(self, rows: list[list[Cell]]) -> int:
        """The width that cuts no word of the column that wraps."""
        texts = [
            _text(row[i])
            for i, column in enumerate(self.columns)
            for row in rows
            if column.wraps and len(row) > 1
        ]
        wide = max((len(word) for text in texts for word in text.split()), default=0)
        return max(NARROWEST_COLUMN, wide + INDENT)

    def _narrowed(
        self, shown: list[int], widths: list[int], width: int, least: int = NARROWEST_COLUMN
    ) -> list[int]:
        """The widths, with the column that wraps as narrow as it must be."""
        excess = max(0, self._width(shown, widths) - width)
        return [
            min(each, max(least, each - excess)) if self.columns[i].wraps and i in shown else each
            for i, each in enumerate(widths)
        ]

    def _parts(self, shown: list[int], widths: list[int], width: int) -> list[list[int]]:
        """The columns of each table to print."""
        if self._width(shown, self._narrowed(shown, widths, width)) <= width:
            return [shown]
        first, others = shown[: self.repeated or 1], shown[self.repeated or 1 :]
        parts: list[list[int]] = []
        for i in others:
            if not parts or self._width([*parts[-1], i], widths) > width:
                parts.append([*first])
            parts[-1].append(i)
        return parts

    def _print_folded(
        self,
        heads: list[list[str]],
        rows: list[list[Cell]],
        shown: list[int],
        widths: list[int],
        out: Terminal,
    ) -> None:
        """Prints the first columns of each row on a line, and the others below them."""
        labels, others = shown[: self.folded], shown[self.folded :]
        widest = max(widths[i] for i in others)
        widths = [widest if i in others else width for i, width in enumerate(widths)]
        widths = self._narrowed(labels, widths, out.width)
        each = max(1, (out.width - INDENT + self.gap) // (widest + self.gap))
        lines = [others[i : i + each] for i in range(0, len(others), each)]
        for line in lines:
            self._print_heads(heads, line, widths, out, indent=INDENT)
        self._print_rows(rows, labels, lines, widths, out)

    def _print_rows(
        self,
        rows: list[list[Cell]],
        shown: list[int],
        below: list[list[int]],
        widths: list[int],
        out: Terminal,
    ) -> None:
        """Prints some columns of each row, and others on lines below them."""
        for row in rows:
            if len(row) == 1:
                out.paragraph(_text(row[0]), _style(row[0]), indent="  ")
                continue
            self._print_row([row[i] for i in shown], shown, widths, out)
            for line in below:
                if any(_text(row[i]) for i in line):
                    self._print_line([row[i] for i in line], line, widths, out, indent=INDENT)

    def _print_heads(
        self,
        heads: list[list[str]],
        shown: list[int],
        widths: list[int],
        out: Terminal,
        *,
        indent: int = 0,
    ) -> None:
        for number in range(len(heads[0])):
            cells: list[Cell] = [(heads[i][number], "dim") for i in shown]
            if any(map(_text, cells)):
                self._print_line(cells, shown, widths, out, indent=indent)

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
        self,
        cells: list[Cell],
        shown: list[int],
        widths: list[int],
        out: Terminal,
        *,
        indent: int = 0,
    ) -> None:
        line, owed = "", indent  # the spaces before the next text: none at the end of a line
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
