"""The style of all figures: error bars are 95 % intervals, curves have labels at their ends.

Matplotlib is loaded only when the first figure is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowhand.estimate import Estimate
from slowhand.output import Output, check_figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette: colour-blind readers can distinguish the colours, also in print."""

GREY = "#707070"

LINE = 12.0
"""The height of a line of text, in points."""

CHARACTER = 0.1
"""The width of a character of this size, in inches. (Assumed: wider than most.)"""

MOST_TICKS = 12
"""More values than these have no room below an axis."""

WIDTH = 1.8
"""The width of a curve, in points."""

MARKER = 5.0
"""The size of a marker, in points."""

LEAST_FACTOR = 1.5
"""Numbers that grow by this factor or more are shown on a logarithmic axis. (Assumed.)"""

KINDS: dict[str, dict[str, Any]] = {"png": {}, "svg": {"metadata": {"Date": None}}}
"""The formats of figures, and how they are written."""

STYLE: dict[str, Any] = {
    "font.size": 11,
    "font.family": "sans-serif",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "lines.linewidth": WIDTH,
    "lines.markersize": MARKER,
    "errorbar.capsize": 3,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "legend.frameon": False,
    "figure.dpi": 150,
    "savefig.dpi": 150,
    # A figure that is drawn again gives the same file: no date, identifiers with a fixed salt.
    "svg.hashsalt": "slowhand",
    "svg.fonttype": "none",
}


class Sheet:
    """A figure of some panels side by side, in one row or in several."""

    def __init__(self, figure: Figure, axes: list[Axes]):
        self.figure = figure
        self.axes = axes
        self._ends: dict[Axes, list[tuple[float, float, str, str]]] = {}

    def curves(
        self,
        axes: Axes,
        x: Sequence[float],
        lines: Mapping[str, Sequence[Estimate | None]],
        *,
        dashed: bool = False,
        named: bool = True,
    ) -> None:
        """Draws means with their intervals. Missing points are left out.

        Each solid curve has its name at its end. A dashed curve belongs to the solid one of the
        same colour. Curves that are not `named` there have the names of `key`, and are the thinner
        the later they are, so that one below another can be seen.
        """
        for number, (colour, (name, estimates)) in enumerate(
            zip(COLOURS, lines.items(), strict=False)
        ):
            wider = 0 if named else len(lines) - 1 - number
            known = [(a, b) for a, b in zip(x, estimates, strict=True) if b is not None]
            if not known:
                continue
            means, halves = [b.mean for _, b in known], [b.half for _, b in known]
            axes.errorbar(
                [a for a, _ in known],
                means,
                yerr=halves,
                fmt="--o" if dashed else "-o",
                color=colour,
                markerfacecolor="white" if dashed else colour,
                elinewidth=1,
                linewidth=WIDTH + 0.9 * wider,
                markersize=MARKER + 1.4 * wider,
            )
            if named and not dashed:
                self._ends.setdefault(axes, []).append((known[-1][0], means[-1], name, colour))

    def boxes(self, axes: Axes, values: Sequence[Sequence[float]], *, width: float) -> range:
        """Draws quartiles, with whiskers at the 5th and the 95th percentile. Returns the places."""
        drawn = axes.boxplot(
            values,
            widths=width,
            whis=(5, 95),
            showfliers=False,
            patch_artist=True,
            medianprops={"color": "black", "linewidth": 2},
        )
        for box in drawn["boxes"]:
            box.set(facecolor=COLOURS[4], alpha=0.6)
        return range(1, len(values) + 1)

    def key(self, names: Sequence[str]) -> None:
        """Names the colours of all panels, once, above them."""
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=colour, marker="o", label=name)
            for colour, name in zip(COLOURS, names, strict=False)
        ]
        each = max(map(len, names)) * CHARACTER + 0.7  # with the line before the name
        room = max(1, int(self.figure.get_figwidth() / each))
        self.figure.legend(handles=handles, loc="outside upper left", ncols=min(len(handles), room))

    def ticks(self, axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
        """Names the places across, on a logarithmic axis if they grow by factors."""
        ratios = [b / a for a, b in pairwise(places)] if places[0] > 0 else []
        if len(ratios) > 1 and min(ratios) >= LEAST_FACTOR:
            axes.set_xscale("log", base=2)
        axes.set_xticks(places, names)
        axes.minorticks_off()

    def mark(self, axes: Axes, at: tuple[float, float], text: str, *, left: bool = False) -> None:
        """Draws a star for a reported number, with a text beside it."""
        axes.plot(*at, "*", color="black", markersize=9, zorder=5)
        offset, align = ((-8, 4), "right") if left else ((8, -9), "left")
        axes.annotate(text, at, xytext=offset, textcoords="offset points", ha=align, fontsize=9)

    def note(self, axes: Axes, text: str) -> None:
        """Writes a text into the upper left corner of a panel."""
        axes.text(0.03, 0.97, text, transform=axes.transAxes, va="top", fontsize=9, color=GREY)

    def save(self, folder: Path, name: str) -> list[Path]:
        """Writes the figure as PNG and SVG."""
        files = {folder / f"{name}.{kind}": kind for kind in KINDS}
        for file, kind in files.items():
            Output("--out", str(file)).write(partial(self.write, kind=kind))
        return list(files)

    def write(self, file: Path, kind: str) -> None:
        """Writes the figure as `png` or `svg`."""
        with warnings.catch_warnings():
            # Matplotlib warns when placing a legend took a second, as on a busy computer.
            warnings.filterwarnings("ignore", message='Creating legend with loc="best"')
            self._write(file, kind)

    def _write(self, file: Path, kind: str) -> None:
        if self._ends:
            # This computes the layout, on which the places of the names depend.
            self.figure.canvas.draw()
            for axes, ends in self._ends.items():
                self._name(axes, ends)
            self._ends = {}
        self.figure.savefig(file, format=kind, **KINDS[kind])

    def _name(self, axes: Axes, ends: list[tuple[float, float, str, str]]) -> None:
        """Writes each curve's name beside its last point, without overlaps."""
        heights = [axes.transData.transform(end[:2])[1] * 72 / self.figure.dpi for end in ends]
        for (x, y, name, colour), height, place in zip(ends, heights, spread(heights), strict=True):
            axes.annotate(
                name,
                (x, y),
                xytext=(8, place - height),
                textcoords="offset points",
                color=colour,
                va="center",
                fontsize=10,
                annotation_clip=False,
            )


def spread(heights: Sequence[float]) -> list[float]:
    """Places for lines of text that belong to these heights, in points, without overlaps.

    Lines that would overlap are stacked around the mean of their heights.

    >>> spread([100.0, 0.0, 100.0])
    [94.0, 0.0, 106.0]
    """
    stacks: list[list[int]] = []  # of indices, from the bottom
    for index in sorted(range(len(heights)), key=lambda index: heights[index]):
        stacks.append([index])
        while len(stacks) > 1 and _bottom(stacks[-1], heights) < _top(stacks[-2], heights) + LINE:
            stacks[-2:] = [stacks[-2] + stacks[-1]]
    places = list(heights)
    for stack in stacks:
        for number, index in enumerate(stack):
            places[index] = _bottom(stack, heights) + number * LINE
    return places


def _bottom(stack: list[int], heights: Sequence[float]) -> float:
    middle = sum(heights[index] for index in stack) / len(stack)
    return middle - LINE * (len(stack) - 1) / 2


def _top(stack: list[int], heights: Sequence[float]) -> float:
    return _bottom(stack, heights) + LINE * (len(stack) - 1)


@contextmanager
def sheet(
    panels: int = 1,
    *,
    rows: int = 1,
    title: str = "",
    width: float = 5.4,
    height: float = 4.2,
    alike: bool = True,
) -> Iterator[Sheet]:
    """A sheet of some panels, each `width` x `height` inches, in the style of all figures.

    Panels below each other, in several `rows`, have the same axes; if they are not `alike`, the
    same axis across only.
    """
    check_figures("a figure")
    import matplotlib

    matplotlib.use("agg", force=False)
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):  # type: ignore[arg-type]
        made, axes = pyplot.subplots(
            rows,
            panels,
            figsize=(width * panels, height * rows),
            layout="constrained",
            squeeze=False,
            sharex="col",
            sharey="col" if alike else False,
        )
        made.suptitle(title, fontsize=13, x=0.01, ha="left")
        engine = made.get_layout_engine()
        assert engine
        engine.set(w_pad=0.12, h_pad=0.1, wspace=0.03)  # type: ignore[call-arg]
        yield Sheet(made, list(axes.flat))
        pyplot.close(made)
