"""What the scripts of this folder share: runs whose results go into tables of a document."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowhand import Run, Scenario, plot
from slowhand.estimate import Estimate, percentile
from slowhand.keys import Setting
from slowhand.plot import Sheet
from slowhand.terminal import WIDTH, Terminal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent

Settings = Mapping[str, Setting]

CREDENTIALS: dict[str, Settings] = {
    "PSK": {"session.suite": "TLS_PSK_WITH_AES_128_CCM_8"},
    "certificates": {
        "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "session.auth": "mutual",
    },
}

QUEUE = 20
"""Frames in a node's queue, as in OpenWSN: the defaults of the link layers differ."""


@dataclass(frozen=True)
class Measured:
    """The results of a scenario with some keys replaced."""

    count: int
    samples: Mapping[str, list[float]]
    """The values of the handshakes that completed, by column of the run's records."""
    worlds: list[int]
    """The seeds of the handshakes that completed."""

    def mean(self, column: str) -> Estimate:
        """The mean over the handshakes that completed. There has to be one."""
        return Estimate.of(self.samples[column], self.worlds)

    def percentile(self, column: str, share: float) -> float:
        """A percentile over the handshakes that completed. There has to be one."""
        return percentile(self.samples[column], share)

    @property
    def completed(self) -> float:
        """The share of handshakes that completed."""
        return len(self.worlds) / self.count


def measure(scenario: Path, settings: Settings, columns: tuple[str, ...], count: int) -> Measured:
    """Runs `count` handshakes, and keeps these columns."""
    run = Run(Scenario(scenario, settings), count=count, seed=1)
    records: Mapping[str, Any] = run.columns()
    done = [i for i, outcome in enumerate(records["outcome"]) if outcome == "completed"]
    samples = {name: [records[name][i] for i in done] for name in columns}
    return Measured(count, samples, [records["seed"][i] for i in done])


def fill(document: str, name: str, table: str) -> str:
    """The document with this table in its place, which two comments mark."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end -->"
    before, found, after = document.partition(begin)
    assert found, f"the document has lost its table: {name}"
    return before + begin + table + end + after.partition(end)[2]


def fill_pages(folder: Path, pages: Mapping[str, Mapping[str, str]]) -> None:
    """Writes pages of docs/ into `folder`, each with these tables in their places."""
    for page, tables in pages.items():
        text = (ROOT / "docs" / page).read_text()
        for name, table in tables.items():
            text = fill(text, name, table)
        target = folder / "docs" / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def write(page: str, folder: Path, blocks: Mapping[str, str]) -> None:
    """Writes a page of docs/ into `folder`, with these blocks in their places."""
    padded = {name: f"\n{block}\n" for name, block in blocks.items()}
    fill_pages(folder, {page.removeprefix("docs/"): padded})


def draw_energies(
    axes: Axes, network: str, bars: Mapping[str, tuple[float, str]], *, room: float, named: bool
) -> None:
    """Draws a panel of a network: for each name a bar of the client's energy, and words at its end.

    The axis has `room` times the length of the longest bar. The names stand at the left if the
    panel is `named`.
    """
    energies = [energy for energy, _ in bars.values()]
    axes.barh(range(len(bars)), energies, color=plot.COLOURS[0], alpha=0.8)
    for height, (energy, words) in enumerate(bars.values()):
        axes.text(energy, height, f" {words}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), list(bars) if named else [""] * len(bars))
    axes.set_xlim(0, room * max(energies))
    axes.set_xlabel("client's energy [mJ]")
    axes.set_title(network)


def save_picture(sheet: Sheet, folder: Path, name: str) -> None:
    """Saves a sheet as `name`.png."""
    for file in sheet.save(folder, name):
        if file.suffix == ".svg":
            file.unlink()


def printed(command: str, show: Callable[[Terminal], None]) -> str:
    """A command of slowhand, and what it prints."""
    text = io.StringIO()
    show(Terminal(text, width=WIDTH, styled=False))
    plain = text.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    return f"```text\n$ ./slowhand {command}\n{plain}```\n"


def line(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


def table(columns: Sequence[str], cells: Mapping[str, Sequence[str]]) -> str:
    """A table with these columns and a row for each name. No line has more than 80 columns."""
    rules = [":---", *(["---:"] * (len(columns) - 1))]
    lines = [*map(line, (columns, rules)), *(line((name, *row)) for name, row in cells.items())]
    assert max(map(len, lines)) <= WIDTH + 1  # with its end
    return "".join(lines)


def number(value: float) -> str:
    """A number with three digits or more."""
    digits = 0 if value >= 1000 else 1 if value >= 100 else 2
    return f"{value:,.{digits}f}"


def cells(measured: Measured, wanted: Sequence[tuple[str, float | None]]) -> list[str]:
    """The share that failed, and percentiles of columns, or the mean if no share is named."""
    failed = number(100 * (1 - measured.completed))
    if not measured.worlds:
        return [failed, *("" for _ in wanted)]
    values = (
        measured.mean(column).mean if share is None else measured.percentile(column, share)
        for column, share in wanted
    )
    return [failed, *map(number, values)]
