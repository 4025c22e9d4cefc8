"""Figures: pictures of runs and sweeps, and the style that all figures share.

Each picture is written to a file, as SVG or PNG by its name. Matplotlib is loaded only when the
first figure is drawn.

>>> import slowhand
>>> runs = {
...     f"PDR {pdr}": slowhand.run("quickstart", count=20, set={"network.link_pdr": pdr})
...     for pdr in (0.8, 0.95)
... }
>>> slowhand.plot.ecdf(runs, "durations.svg")
>>> slowhand.plot.box(runs, "frames.svg", metric="frames")
>>> slowhand.plot.energy(runs, "energy.png")
>>> table = slowhand.sweep(
...     "quickstart", {"session.timeout_s": [1, 3, 9], "network.link_pdr": [0.9, 1.0]}, count=10
... )
>>> slowhand.plot.curve(table, "timers.svg", x="session.timeout_s")
>>> slowhand.plot.heat_map(table, "both.svg", x="session.timeout_s", y="network.link_pdr")
>>> slowhand.plot.pareto(table, "front.svg")
>>> slowhand.plot.buffers(slowhand.Scenario("quickstart").inspect(), "buffers.svg")
>>> slowhand.plot.life(slowhand.lives.ask("battery", worlds=5).document, "day.svg")
"""

from slowhand.plot.pictures import box, buffers, curve, ecdf, energy, groups, heat_map, life, pareto
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
    "life",
    "pareto",
    "sheet",
    "spread",
]
