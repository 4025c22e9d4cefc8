"""A 6TiSCH network forms: from switched-on nodes to their first datagrams at the root.

>>> import slowhand
>>> nodes = slowhand.join("join", count=2, set={"network.topology.hops": 1})
>>> nodes.filter(nodes["packet_s"] < nodes["joined_s"]).height
0
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slowhand import _native, results
from slowhand.api import SEED, Scenario, WorldError, loaded, threads_of
from slowhand.bounds import worlds
from slowhand.estimate import percentile
from slowhand.keys import Setting, Settings
from slowhand.table import Column, Table

if TYPE_CHECKING:
    import polars

    from slowhand.terminal import Terminal

COUNT = 20
"""The number of worlds, if not given."""

PHASES = {
    "synchronised": "synchronised",
    "joined": "joined (has keys)",
    "parent": "has a parent",
    "cell": "has a cell",
    "packet": "first packet",
}
"""The phases of a node, in this order, and how the table says them."""

COSTS = {
    "requests": ("join requests", 1),
    "join_frames": ("join frames, all hops", 1),
    "join_repeated_frames": ("  of these repeated", 1),
    "join_octets": ("join octets, all hops", 1),
    "sixtop_frames": ("6P frames", 1),
    "scan_mj": ("energy until synchronised, J", 1_000),
    "energy_mj": ("energy until the end, J", 1_000),
}
"""The costs of each node, and how many of its unit are one of the table's."""


def join(
    source: str | os.PathLike[str] | Mapping[str, Setting] | Scenario,
    *,
    count: int = COUNT,
    seed: int = SEED,
    set: Settings | None = None,
    threads: int | None = None,
) -> polars.DataFrame:
    """Lets the network of a scenario form, in `count` worlds. One row for each node but the root.

    The columns are those of `slowhand.schema("join")`. The network must be TSCH; the sessions of
    the scenario do not count. Raises `ScenarioError` if it cannot form, `WorldError` if a world
    panics.

    >>> import slowhand
    >>> slowhand.join("join", count=2, set={"network.topology.hops": 1}).height
    2
    """
    formed = Formation(loaded(source, set), count, seed, threads)
    if formed.stopped:
        raise formed.stopped
    return formed.frame()


class Formation:
    """The networks of consecutive seeds, and when each of their nodes was through each phase."""

    def __init__(self, scenario: Scenario, count: int, seed: int, threads: int | None = None):
        self.scenario = scenario
        self.count, self.seed = worlds(count, seed)
        try:
            self.table, self.stopped = _native.join(
                scenario.native, self.seed, self.count, threads_of(threads)
            )
        except RuntimeError as error:
            raise WorldError(f"a world of seeds from {seed} on panicked: {error}") from error
        self.columns: dict[str, list[Any]] = {name: values for name, _, values in self.table}
        """The values by the names of their columns."""

    def frame(self) -> polars.DataFrame:
        """One row for each node of each world."""
        return results.frame(self.table)

    def missing(self) -> dict[str, int]:
        """The number of nodes that did not get through a phase, by the first such phase."""
        counts = Counter(self.columns["missing"])
        return {phase: counts[phase] for phase in PHASES if counts[phase]}

    def times(self, phase: str) -> list[float]:
        """When the nodes that got through a phase did, in seconds since they were switched on."""
        return [value for value in self.columns[f"{phase}_s"] if value is not None]

    def took(self, phase: str) -> list[float]:
        """The duration of each phase: from the end of the phase before, in seconds."""
        order = list(PHASES)
        before = [self.columns[f"{name}_s"] for name in order[: order.index(phase)]]
        rows = zip(self.columns[f"{phase}_s"], *before, strict=True)
        known = ((end, [value for value in earlier if value is not None]) for end, *earlier in rows)
        return [end - max(earlier, default=0.0) for end, earlier in known if end is not None]

    def formed(self) -> list[float]:
        """When the last node of each world had sent its first packet, of worlds where all did."""
        last: dict[int, float | None] = {}
        columns = self.columns
        for seed, start, packet in zip(
            columns["seed"], columns["start_s"], columns["packet_s"], strict=True
        ):
            before = last.get(seed, 0.0)
            last[seed] = None if before is None or packet is None else max(before, start + packet)
        return [value for value in last.values() if value is not None]

    def document(self) -> dict[str, Any]:
        """The answer as JSON has it: times in seconds, energy in joules."""
        costs = {name: _summary([v for v in self.columns[name] if v is not None]) for name in COSTS}
        return {
            "scenario": self.scenario.path,
            "overrides": self.scenario.overrides,
            "seed": self.seed,
            "count": self.count,
            "nodes": len(self.columns["node"]),
            "missing": self.missing(),
            "since_switched_on_s": {phase: _summary(self.times(phase)) for phase in PHASES},
            "phase_s": {phase: _summary(self.took(phase)) for phase in PHASES},
            "formed_s": _summary(self.formed()),
            **costs,
        }


def _summary(values: list[float]) -> dict[str, float | int | None]:
    """A quantity over all nodes."""
    if not values:
        return {"count": 0, "mean": None, "p50": None, "p95": None, "max": None}
    return {
        "count": len(values),
        "mean": sum(values) / len(values),
        "p50": percentile(values, 0.5),
        "p95": percentile(values, 0.95),
        "max": max(values),
    }


def show(formed: Formation, out: Terminal) -> None:
    """Prints the answer."""
    document = formed.document()
    about = formed.scenario.about()
    nodes, missing = document["nodes"], document["missing"]
    out.paragraph(f"{formed.scenario.path}: {about['network']}")
    through = nodes - sum(missing.values())
    failed = ", ".join(f"{count:,} without {PHASES[phase]}" for phase, count in missing.items())
    said = f"{formed.count:,} networks; {through:,} of {nodes:,} nodes through"
    out.paragraph(f"{said}: {failed}" if failed else said)
    out.print("")
    times = _table("since switched on, s")
    for phase, name in PHASES.items():
        _row(times, name, document["since_switched_on_s"][phase], 1)
    _row(times, "whole network, from start", document["formed_s"], 1)
    times.print(out)
    out.print("")
    took = _table("each phase alone, s")
    for phase, name in PHASES.items():
        _row(took, name, document["phase_s"][phase], 1)
    took.print(out)
    out.print("")
    costs = _table("each node")
    for key, (name, scale) in COSTS.items():
        _row(costs, name, document[key], scale)
    costs.print(out)


def _table(heading: str) -> Table:
    return Table([Column(heading, right=False), *map(Column, ("mean", "median", "95 %", "most"))])


def _row(table: Table, name: str, summary: Mapping[str, float | None], scale: float) -> None:
    values = [summary[key] for key in ("mean", "p50", "p95", "max")]
    if values[0] is not None:
        table.add(name, *(_number(value / scale) for value in values if value is not None))


def _number(value: float) -> str:
    """A number with three digits that count, and all before the point."""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f}"
