"""Pictures of runs, sweeps and single worlds, each written to a file.

Where a function takes samples, these are data frames of `slowhand.run` by name, or the `groups` of
a data set. Where it takes a table, that is the data frame of `slowhand.sweep`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowhand.estimate import Estimate
from slowhand.lives import words
from slowhand.output import Output
from slowhand.plot.style import COLOURS, GREY, KINDS, MOST_TICKS, Sheet, sheet
from slowhand.report import METRICS, STATES
from slowhand.terminal import printable

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

    from slowhand.api import Inspection

Samples = Mapping[str, "polars.DataFrame"]
"""The handshakes of each name."""

PathLike = str | os.PathLike[str]

LONGEST_NAME = 40

LOOKS = {
    "sleeping": ("#F0E9DC", ""),
    "link_layer": ("#0072B2", ""),
    "handshakes": ("#D55E00", "////"),
    "requests": ("#009E73", "...."),
    "keep_alives": ("#CC79A7", "xxxx"),
    "closing": ("#E69F00", "----"),
    "self_discharge": ("#A0A0A0", ""),
}
"""The colour and hatch of each part of a battery's charge. In greyscale the parts that are large
have different greys, and the others differ by their hatches."""

MOST_CHARGE = 2.5
"""An alternative is drawn if it takes at most so many times the charge. (Assumed.)"""

LEAST_DRAWN = 0.001
"""A part that is nowhere so large a share of a bar cannot be seen. (Assumed.)"""

LEAST_LABELLED = 0.055
"""A part that is so small a share of the longest bar has no room for a number. (Assumed.)"""


def groups(frame: polars.DataFrame, by: str) -> dict[str, polars.DataFrame]:
    """The rows of each value of a column, such as a key that a sweep has varied."""
    parts = frame.sort(by, maintain_order=True).partition_by(by, as_dict=True, maintain_order=True)
    return {f"{by}={_plain(value)}": part for (value,), part in parts.items()}


def ecdf(
    samples: Samples, path: PathLike, *, metric: str = "duration_s", what: str = "handshakes"
) -> None:
    """Draws the share of all handshakes that completed with a metric of at most x.

    So a curve ends at the share that completed. `what` says what the rows are about.
    """
    _check(len(samples), "samples")
    with sheet(width=6.4) as made:
        (axes,) = made.axes
        for colour, (name, frame) in zip(COLOURS, samples.items(), strict=False):
            values = _completed(frame, metric)
            shares = [100 * (i + 1) / len(frame) for i in range(len(values))]
            if values:
                axes.step([values[0], *values], [0, *shares], where="post", color=colour)
            axes.plot([], [], color=colour, label=_short(name))
        axes.set(xlabel=_label(metric), ylabel=f"{what} that completed [% of all]", ylim=(0, 101))
        _legend(axes, len(samples))
        _write(made, path)


def box(samples: Samples, path: PathLike, *, metric: str = "duration_s") -> None:
    """Draws the quartiles of a metric over the completed handshakes, as Claeys et al. 2021 do.

    The whiskers end at the 5th and the 95th percentile.
    """
    with sheet(width=max(4.0, 1.6 + 0.9 * len(samples))) as made:
        (axes,) = made.axes
        values = [_completed(frame, metric) for frame in samples.values()]
        places = made.boxes(axes, values, width=0.6)
        axes.set_xticks(places, [_short(name) for name in samples], rotation=20, ha="right")
        axes.set_ylim(bottom=0)
        axes.set(xlabel="box: quartiles; whiskers: 5 % and 95 %", ylabel=_label(metric))
        _write(made, path)


def curve(table: polars.DataFrame, path: PathLike, *, x: str, metric: str = "duration_s") -> None:
    """Draws the mean of a metric over a key that was varied, with its 95 % intervals.

    Each combination of the other keys is a curve.
    """
    others = [key for key in _keys(table) if key != x]
    _check_column(table, x)
    series: dict[str, polars.DataFrame] = {"": table}
    if others:
        parts = table.partition_by(others, as_dict=True, maintain_order=True)
        series = {
            " ".join(f"{k}={_plain(v)}" for k, v in zip(others, values, strict=True)): part
            for values, part in parts.items()
        }
    _check(len(series), "combinations of the other keys")
    places = sorted(set(table[x].to_list()))
    lines = {}
    for name, part in series.items():
        rows = zip(part[x], part[f"{metric}_mean"], part[f"{metric}_half"], strict=True)
        found = {at: None if mean is None else Estimate(mean, half) for at, mean, half in rows}
        lines[name] = [found.get(at) for at in places]
    with sheet(width=6.4) as made:
        (axes,) = made.axes
        made.curves(axes, places, lines, named=len(others) < 2)
        if len(others) > 1:  # their names are too long for the ends of curves
            made.key([*lines])
        if len(places) <= MOST_TICKS:
            made.ticks(axes, places, [_plain(place) for place in places])
        axes.set_ylim(bottom=0)
        axes.set(xlabel=x, ylabel=f"{_label(metric)}, mean and 95 % interval")
        _write(made, path)


def heat_map(
    table: polars.DataFrame, path: PathLike, *, x: str, y: str, value: str = "duration_s_p95"
) -> None:
    """Draws a column of a sweep's table by two keys that were varied, with the numbers.

    Configurations in which no handshake completed are empty.
    """
    for key in (x, y, value):
        _check_column(table, key)
    columns, lines = (sorted(set(table[key].to_list())) for key in (x, y))
    cells = [[float("nan")] * len(columns) for _ in lines]
    for a, b, number in zip(table[x], table[y], table[value], strict=True):
        cells[lines.index(b)][columns.index(a)] = float("nan") if number is None else number
    with sheet(width=2.6 + 0.8 * len(columns), height=1.8 + 0.5 * len(lines)) as made:
        (axes,) = made.axes
        image = axes.imshow(cells, cmap="cividis_r", origin="lower", aspect="auto")
        axes.set_xticks(range(len(columns)), [_plain(number) for number in columns])
        axes.set_yticks(range(len(lines)), [_plain(number) for number in lines])
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        low, high = image.get_clim()
        for j, line in enumerate(cells):
            for i, number in enumerate(line):
                if number == number:  # no NaN
                    dark = high > low and (number - low) / (high - low) > 0.5
                    colour = "white" if dark else "black"
                    axes.text(i, j, f"{number:.3g}", ha="center", va="center", color=colour)
        axes.set(xlabel=x, ylabel=y)
        made.figure.colorbar(image, ax=axes, label=_label(value))
        _write(made, path)


def pareto(
    table: polars.DataFrame,
    path: PathLike,
    *,
    x: str = "duration_s_p95",
    y: str = "energy_client_mj_mean",
) -> None:
    """Draws each configuration by two columns. Less is better in both.

    Those that no other one beats in both are the Pareto front: they are named.
    """
    for key in (x, y):
        _check_column(table, key)
    keys = _keys(table)
    points: list[tuple[float, float, str]] = []
    for row in table.iter_rows(named=True):
        if row[x] is not None and row[y] is not None:
            name = " ".join(f"{key.rpartition('.')[2]}={_plain(row[key])}" for key in keys)
            points.append((row[x], row[y], name or row["scenario"]))
    front = _front(points)
    with sheet(width=7.2, height=4.8) as made:
        (axes,) = made.axes
        rest = [point for point in points if point not in front]
        axes.plot([p[0] for p in rest], [p[1] for p in rest], "o", color=GREY, alpha=0.5)
        steps = [p[0] for p in front], [p[1] for p in front]
        axes.step(*steps, where="post", color=COLOURS[0], linewidth=1.2)
        axes.plot(*steps, "D", color=COLOURS[0])
        named: dict[tuple[float, float], list[str]] = {}
        for a, b, name in front:
            named.setdefault((a, b), []).append(name)
        for (a, b), names in named.items():
            name = names[0] + (f" (and {len(names) - 1} equal)" if names[1:] else "")
            axes.annotate(
                _short(name), (a, b), xytext=(6, 6), textcoords="offset points", fontsize=9
            )
        axes.margins(x=0.15, y=0.12)
        axes.set(xlabel=_label(x), ylabel=_label(y))
        _write(made, path)


def buffers(inspection: Inspection, path: PathLike) -> None:
    """Draws what was in the buffers of each node over time: queue and reassembly.

    `inspection` is that of `Scenario.inspect`. Nodes whose buffers were always empty are left out.
    """
    frame, end = inspection.buffers, float(inspection.buffers["from_s"].max() or 0.0)  # type: ignore[arg-type]
    with sheet(2, width=6.4) as made:
        contents = {
            "queued_frames": "frames in the queue",
            "reassembly_bytes": "octets in reassembly [B]",
        }
        for axes, (column, what) in zip(made.axes, contents.items(), strict=True):
            shown = 0
            for (node,), part in frame.partition_by("node", as_dict=True).items():
                if not part[column].max():
                    continue
                times = [0.0, *part["from_s"], end]
                levels = [0, *part[column], part[column][-1]]
                colour = COLOURS[shown % len(COLOURS)]
                line = "-" if shown < len(COLOURS) else "--"
                name = "border router" if node == 0 else f"node {node}"
                axes.step(times, levels, line, where="post", color=colour, label=name, lw=1.2)
                shown += 1
            axes.set_ylim(bottom=0)
            axes.set(xlabel="time [s]", ylabel=what)
            _legend(axes, shown)
        _write(made, path)


def energy(samples: Samples, path: PathLike) -> None:
    """Draws the mean energy of the client by state, over the completed handshakes."""
    with sheet(width=7.2, height=1.6 + 0.5 * len(samples)) as made:
        (axes,) = made.axes
        left = [0.0] * len(samples)
        for colour, (state, label) in zip((*COLOURS, GREY), STATES.items(), strict=True):
            column = f"energy_client_{state}_mj"
            means = []
            for frame in samples.values():
                values = _completed(frame, column)
                means.append(sum(values) / len(values) if values else 0.0)
            if any(means):
                axes.barh(range(len(samples)), means, left=left, color=colour, label=label)
            left = [a + b for a, b in zip(left, means, strict=True)]
        axes.set_yticks(range(len(samples)), [_short(name) for name in samples])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("energy of the client, mean [mJ]")
        made.figure.legend(loc="outside upper left", ncols=3, fontsize=9)
        _write(made, path)


def life(document: Mapping[str, Any], path: PathLike) -> None:
    """Draws where the charge of a day goes: what it takes, and what the alternatives would take.

    `document` is that of `slowhand.lives.ask`. Numbers in the bars are percents of the bar; at its
    end is how long the battery lasts, and what handshakes take. Alternatives that take far more
    are left out: the others would be too short to see.
    """
    every = [("as it is", document), *((one["name"], one) for one in document["alternatives"])]
    most = MOST_CHARGE * _charge(document)
    rows = [(name, row) for name, row in every if _charge(row) <= most]
    sums = [_charge(row) for _, row in rows]
    with sheet(width=8.4, height=1.5 + 0.5 * len(rows)) as made:
        (axes,) = made.axes
        left = [0.0] * len(rows)
        for name, (colour, hatch) in LOOKS.items():
            values = [
                max(0.0, next(part["mah"] for part in row["parts"] if part["name"] == name))
                for _, row in rows
            ]
            if max(v / all_ for v, all_ in zip(values, sums, strict=True)) >= LEAST_DRAWN:
                axes.barh(
                    range(len(rows)),
                    values,
                    left=left,
                    height=0.7,
                    color=colour,
                    hatch=hatch,
                    edgecolor="white" if hatch else "#404040",
                    linewidth=0 if hatch else 0.5,
                    label=words.part(name, document["link_layer"]),
                )
            for place, (value, start) in enumerate(zip(values, left, strict=True)):
                if value > LEAST_LABELLED * max(sums):
                    axes.text(
                        start + value / 2,
                        place,
                        f"{100 * value / sums[place]:.0f} %",
                        ha="center",
                        va="center",
                        fontsize=10,
                        color="black",
                        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
                    )
            left = [a + b for a, b in zip(left, values, strict=True)]
        for place, (_, row) in enumerate(rows):
            lasts = words.life(row["years"], row["years_ci95"], brief=True)
            (part,) = (part for part in row["parts"] if part["name"] == "handshakes")
            axes.annotate(
                f"{lasts}\nhandshakes {words.share(part['share'])}",
                (sums[place], place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                linespacing=1.15,
            )
        axes.set_yticks(range(len(rows)), [_short(name) for name, _ in rows])
        axes.set_xlim(0, 1.3 * max(sums))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"charge of a day from {document['battery']} [mAh]")
        made.figure.legend(loc="outside upper left", ncols=4, fontsize=9)
        _write(made, path)


def _charge(row: Mapping[str, Any]) -> float:
    """The charge that all parts of a day take from the battery, in mAh."""
    return sum(float(part["mah"]) for part in row["parts"])


def _front(points: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """The points that no other point beats, from left to right."""
    return [p for p in sorted(points) if not any(_beats(other, p) for other in points)]


def _beats(a: tuple[float, float, str], b: tuple[float, float, str]) -> bool:
    """True if a configuration is not worse in either, and better in one."""
    return a[0] <= b[0] and a[1] <= b[1] and (a[0] < b[0] or a[1] < b[1])


def _completed(frame: polars.DataFrame, metric: str) -> list[float]:
    """The values of a metric over the completed handshakes, in order."""
    _check_column(frame, metric)
    values = frame.filter(frame["outcome"] == "completed")[metric].drop_nulls()
    return [float(value) for value in values.sort()]


def _keys(table: polars.DataFrame) -> list[str]:
    """The keys that were varied: only they have a dot in their names."""
    return [name for name in table.columns if "." in name]


def _label(column: str) -> str:
    """The words and the unit of a column of records, or of a sweep's table."""
    rows = {name: row for group in METRICS.values() for name, row in group.items()}
    for suffix, which in (
        ("_mean", ", mean"),
        ("_p50", ", median"),
        ("_p95", ", 95th percentile"),
        ("", ""),
    ):
        name = column.removesuffix(suffix)
        if column.endswith(suffix) and name in rows:
            label, unit = rows[name]
            label = "energy of the client" if name == "energy_client_mj" else label
            return f"{label}{which} [{unit}]"
    return column


def _check_column(frame: polars.DataFrame, column: str) -> None:
    if column not in frame.columns:
        found = printable(column)
        raise ValueError(f"column: found '{found}', allowed: {', '.join(frame.columns)}")


def _check(number: int, what: str) -> None:
    if number > len(COLOURS):
        raise ValueError(f"found {number} {what}, allowed: at most {len(COLOURS)}")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else printable(str(value), LONGEST_NAME)


def _short(name: str) -> str:
    return printable(name, LONGEST_NAME)


def _legend(axes: Axes, entries: int) -> None:
    if entries > 1:
        axes.legend(fontsize=9)


def _write(made: Sheet, path: PathLike) -> None:
    kind = Path(path).suffix[1:]
    if kind not in KINDS:
        allowed = " or ".join(f".{kind}" for kind in KINDS)
        raise ValueError(f"{printable(os.fspath(path))}: the name must end in {allowed}")
    Output("figure", os.fspath(path)).write(partial(made.write, kind=kind))
