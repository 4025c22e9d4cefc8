"""The figure of a sweep: duration, energy, and how many handshakes complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from slowhand import plot
from slowhand.estimate import Estimate
from slowhand.output import Output
from slowhand.sweeps import METRIC, UNITS, Result
from slowhand.sweeps.dataset import Configuration, label, shown
from slowhand.sweeps.vary import Plain, SweepError
from slowhand.terminal import printable

SUFFIXES = (".svg", ".png")

MOST_SERIES = len(plot.COLOURS)
"""More curves cannot be told apart."""

Points = dict[Plain | None, Result]
"""The results of a curve by the value of the first key."""


def check(path: str, configurations: Sequence[Configuration]) -> None:
    """Raises an error if there is no such figure of these configurations."""
    if Path(path).suffix not in SUFFIXES:
        allowed = f"the name must end in {' or '.join(SUFFIXES)}"
        raise SweepError(f"--plot {printable(path)}: {allowed}")
    series = {label(_others(configuration)) for configuration in configurations}
    if len(series) > MOST_SERIES:
        found = f"{len(series)} combinations of all keys but the first"
        raise SweepError(f"--plot: found {found}, allowed: at most {MOST_SERIES}")


def draw(results: list[Result], metric: str, path: str) -> None:
    """Draws a point for each configuration: the first key across, a curve for each of the others.

    Whole scenarios, and values that are no numbers, stand side by side.
    """
    series = _series(results)
    values = list(dict.fromkeys(value for points in series.values() for value in points))
    numbers = all(type(value) is float for value in values)
    if numbers:
        values.sort()
    places = [float(v) if type(v) is float and numbers else float(i) for i, v in enumerate(values)]
    second = metric if metric != METRIC else "energy_client_mj"
    key = next(iter(results[0].measured.configuration.settings), "scenario")
    with plot.sheet(3) as sheet:
        duration, other, completed = sheet.axes
        for share, dashed in ((0.5, False), (0.95, True)):
            curves = {n: [_percentile(p.get(v), share) for v in values] for n, p in series.items()}
            sheet.curves(duration, places, curves, dashed=dashed)
        means = {n: [_mean(p.get(v), second) for v in values] for n, p in series.items()}
        sheet.curves(other, places, means)
        shares = {n: [_share(p.get(v)) for v in values] for n, p in series.items()}
        sheet.curves(completed, places, shares)
        for axes in sheet.axes:
            axes.set_xlabel(key)
            if not numbers:
                axes.set_xticks(places, [printable(shown(v), 16) for v in values], rotation=20)
                axes.margins(x=0.15)
            elif len(places) <= plot.MOST_TICKS:
                sheet.ticks(axes, places, [shown(v) for v in values])
        duration.set_title("Duration")
        duration.set_ylabel("median (solid), 95th percentile (dashed) [s]")
        what, unit = UNITS[second]
        energy = second == "energy_client_mj"
        other.set_title("Energy of the client" if energy else what.capitalize())
        other.set_ylabel(f"mean, 95 % interval [{unit}]")
        completed.set_title("Handshakes that complete")
        completed.set_ylabel("[%]")
        for axes in (duration, other):
            axes.set_ylim(bottom=0)
        completed.set_ylim(-3, 103)
        kind = Path(path).suffix[1:]
        Output("--plot", path).write(lambda file: sheet.write(file, kind))


def _series(results: list[Result]) -> Mapping[str, Points]:
    """The curves: one for each combination of all keys but the first."""
    series: dict[str, Points] = {}
    for result in results:
        configuration = result.measured.configuration
        value = next(iter(configuration.settings.values()), configuration.name)
        series.setdefault(label(_others(configuration)), {})[value] = result
    return series


def _others(configuration: Configuration) -> dict[str, Plain | None]:
    """The settings but for the first."""
    return dict(list(configuration.settings.items())[1:])


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
