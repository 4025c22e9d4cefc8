"""The figure of a sweep: duration, energy, and how many handshakes complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.output import Output, check_figures
from slowhand.sweeps import METRIC, UNITS, Result
from slowhand.sweeps.dataset import Configuration, label, shown
from slowhand.sweeps.vary import Plain, SweepError
from slowhand.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")

MOST_CURVES = len(plot.COLOURS)
"""More curves in a panel cannot be told apart."""

MOST_ROWS = 8
"""More rows of panels cannot be seen together. (Assumed.)"""

ROW = 3.2
"""The height of each of several rows, in inches."""

Points = dict[Plain | None, Result]
"""The results of a curve by the value of the first key."""

Curves = dict[str, Points]
"""The curves of a row of panels by their names: one for each value of the second key."""


def check(path: str, configurations: Sequence[Configuration]) -> None:
    """Raises an error if there is no such figure of these configurations."""
    if Path(path).suffix not in SUFFIXES:
        allowed = f"the name must end in {' or '.join(SUFFIXES)}"
        raise SweepError(f"--plot {printable(path)}: {allowed}")
    check_figures("--plot")
    places = [_place(configuration) for configuration in configurations]
    curves, rows = {curve for _, _, curve in places}, {row for _, row, _ in places}
    for found, what, most in (
        (len(curves), "values of the second key", MOST_CURVES),
        (len(rows), "combinations of all keys but the first two", MOST_ROWS),
    ):
        if found > most:
            raise SweepError(f"--plot: found {found} {what}, allowed: at most {most}")


def draw(results: list[Result], metric: str, path: str) -> None:
    """Draws a point for each configuration: the first key across, a curve for each of the second.

    With more keys there is a row of panels for each combination of the others. Whole scenarios, and
    values that are no numbers, stand side by side.
    """
    rows = _rows(results)
    curves = [points for row in rows.values() for points in row.values()]
    values = list(dict.fromkeys(value for points in curves for value in points))
    numbers = all(type(value) is float for value in values)
    if numbers:
        values.sort()
    second = metric if metric != METRIC else "energy_client_mj"
    key = next(iter(results[0].measured.configuration.settings), "scenario")
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    height = ROW if len(rows) > 1 else 4.2
    with plot.sheet(3, rows=len(rows), height=height) as sheet:
        panels = iter(sheet.axes)
        for name, row in rows.items():
            three = next(panels), next(panels), next(panels)
            coloured = {each: row.get(each, {}) for each in names}  # the same in every row
            _draw_row(sheet, three, coloured, values, second, numbers=numbers)
            if name:
                three[0].set_ylabel(f"{name}\n{three[0].get_ylabel()}")
        for axes, title in zip(sheet.axes, _titles(second), strict=False):
            axes.set_title(title)
            axes.set_ylim(bottom=0)  # for all rows; after the last of them, which may be higher
        sheet.axes[2].set_ylim(-3, 103)
        for axes in sheet.axes[-3:]:
            axes.set_xlabel(key)
        if len(names) > 1:
            sheet.key(names)
        kind = Path(path).suffix[1:]
        Output("--plot", path).write(lambda file: sheet.write(file, kind))


def _titles(second: str) -> tuple[str, str, str]:
    energy = second == "energy_client_mj"
    what = "Energy of the client" if energy else UNITS[second][0].capitalize()
    return "Duration", what, "Handshakes that complete"


def _draw_row(
    sheet: plot.Sheet,
    row: tuple[Axes, Axes, Axes],
    curves: Curves,
    values: Sequence[Plain | None],
    second: str,
    *,
    numbers: bool,
) -> None:
    """Draws duration, the second metric, and the share that completes."""
    duration, other, completed = row
    places = [float(v) if type(v) is float and numbers else float(i) for i, v in enumerate(values)]

    def panel(
        axes: Axes, estimate: Callable[[Result | None], Estimate | None], *, dashed: bool = False
    ) -> None:
        lines = {n: [estimate(points.get(v)) for v in values] for n, points in curves.items()}
        sheet.curves(axes, places, lines, dashed=dashed, named=False)

    panel(duration, partial(_percentile, share=0.5))
    panel(duration, partial(_percentile, share=0.95), dashed=True)
    panel(other, partial(_mean, name=second))
    panel(completed, _share)
    for axes in row:
        if not numbers:
            axes.set_xticks(places, [printable(shown(v), 16) for v in values], rotation=20)
            axes.margins(x=0.15)
        elif len(places) <= plot.MOST_TICKS:
            sheet.ticks(axes, places, [shown(v) for v in values])
    duration.set_ylabel("median, dashed: p95 [s]")
    other.set_ylabel(f"mean, 95 % interval [{UNITS[second][1]}]")
    completed.set_ylabel("[%]")


def _rows(results: list[Result]) -> Mapping[str, Curves]:
    """The rows of panels by their names."""
    rows: dict[str, Curves] = {}
    for result in results:
        value, row, curve = _place(result.measured.configuration)
        rows.setdefault(row, {}).setdefault(curve, {})[value] = result
    return rows


def _place(configuration: Configuration) -> tuple[Plain | None, str, str]:
    """Where a configuration is: its value across, and the names of its row and of its curve."""
    settings = list(configuration.settings.items())
    value = settings[0][1] if settings else configuration.name
    row = "\n".join(label({key: value}) for key, value in settings[2:])
    return value, row, label(dict(settings[1:2]))


def _percentile(result: Result | None, share: float) -> Estimate | None:
    metric = result and result.measured.metrics.get(METRIC)
    return Estimate(metric.p50 if share == 0.5 else metric.p95) if metric else None


def _mean(result: Result | None, name: str) -> Estimate | None:
    metric = result and result.measured.metrics.get(name)
    return metric.estimate if metric else None


def _share(result: Result | None) -> Estimate | None:
    if result is None or not result.measured.handshakes:
        return None
    return Estimate(100 * result.measured.share)
