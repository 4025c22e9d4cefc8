"""Figures: pictures of runs and sweeps, and the style that all figures share.

Each picture is written to a file, as SVG or PNG by its name. Matplotlib is loaded only when the
first figure is drawn.
"""

from slowhand.plot.pictures import box, buffers, curve, ecdf, energy, groups, heat_map, pareto
from slowhand.plot.style import COLOURS, GREY, LINE, MOST_TICKS, Sheet, sheet, spread

__all__ = [
    "COLOURS",
    "GREY",
    "LINE",
    "MOST_TICKS",
    "Sheet",
    "box",
    "buffers",
    "curve",
    "ecdf",
    "energy",
    "groups",
    "heat_map",
    "pareto",
    "sheet",
    "spread",
]
