"""Puts what `slowhand join` measures into docs/joining.md and its reference.

Run it when the output has changed: .venv/bin/python docs/joining.py. It takes half a minute.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from measured import ROOT, number, printed, write

from slowhand import Scenario
from slowhand.estimate import percentile
from slowhand.joining import PHASES, Formation, show

PAGE = "docs/joining.md"
REFERENCE = "docs/reference/joining.md"
SCENARIO = "scenarios/join.toml"
WORLDS = 100

ONE_HOP = "network.topology.hops=1"
PROFILES = ("openwsn", "rfc")

PLEDGE = {
    "as it is": [],
    "`join.first_request_s=0`": ["join.first_request_s=0"],
    "`join.beacon_probability=0.5`": ["join.beacon_probability=0.5"],
    "`join.beacon_sources=2`, `beacon_wait_s=180`": [
        "join.beacon_sources=2",
        "join.beacon_wait_s=180",
    ],
    "`join.channel_s=0.5`": ["join.channel_s=0.5"],
    "`mac.hopping_sequence=[15, 20, 25, 26]`": ["mac.hopping_sequence=[15, 20, 25, 26]"],
    "`mac.slotframe=11`": ["mac.slotframe=11"],
    "`join.dis=unicast`": ["join.dis=unicast"],
    "`network.link_pdr=0.5`": ["network.link_pdr=0.5"],
    "`network.ack_pdr=0.5`": ["network.ack_pdr=0.5"],
    "`network.profile=rfc`": ["network.profile=rfc"],
}
"""What is changed for one pledge beside the root."""

GRIDS = {10: (5, 2), 50: (10, 5), 100: (10, 10)}
"""Nodes, the root included, in rows: each hears its eight neighbours. The root is in a corner."""
GRID_WORLDS = 5

AS_SIMULATOR = [
    "network.profile=rfc",
    "mac.security=",
    "mac.slot_ms=10",
    "mac.max_retries=5",
    "mac.min_be=1",
    "mac.max_be=7",
    "mac.queue=10",
    "join.dis=unicast",
]
"""The keys that are not those of the simulator's `bin/config.json` and `MoteDefines.py`."""

SIMULATOR = {
    1: (217.5, 25.3, 1.72, 1.01, 1.01),
    2: (513.4, 62.5, 1.73, 1.01, 1.01),
    3: (776.9, 80.7, 2.17, 1.01, 1.01),
    4: (1061.7, 150.7, 2.99, 1.00, 0.92),
}
"""What ten runs of the simulator gave, by hop: when nodes were synchronised, half of the 95 %
interval of that, and how long joining, the parent and the cell then took. Seeds 1 to 10, a line of
five motes, MSF, NUM_NEIGHBORS_TO_WAIT 2; atiselsts/6tisch-simulator at d6c57e3, a fork of
6tisch/simulator after its pull request 428, with its EB interval 0, which is the original way."""

BOARDS = [
    ONE_HOP,
    "mac.security=",
    "mac.slotframe=11",
    "mac.slot_ms=160",
    "mac.timing={ tx_offset_us = 20000, long_guard_us = 5000, tx_ack_delay_us = 20000,"
    " short_guard_us = 5000 }",
    "mac.hopping_sequence=[11]",
]


def formation(settings: list[str], count: int = WORLDS) -> Formation:
    """Networks of the example with these keys replaced."""
    return Formation(Scenario(SCENARIO, settings), count, 1)


def main(folder: Path) -> None:
    """Writes both pages into `folder`."""
    os.chdir(ROOT)
    write(PAGE, folder, {"output": output(), "pledge": pledge(), "power-cut": power_cut()})
    reference = {"simulator": simulator(), "boards": boards(), "late": late()}
    write(REFERENCE, folder, reference)


def output() -> str:
    """What the command prints."""
    return printed(f"join {SCENARIO}", partial(show, formation([], 20)))


def median(values: list[float]) -> str:
    """A median, or nothing."""
    return number(percentile(values, 0.5)) if values else ""


def mean(values: list[float]) -> float:
    """The mean of some values."""
    return sum(values) / len(values)


def pledge() -> str:
    """One pledge beside the root, with one key after another replaced."""
    lines = [
        "| changed | synchronised: mean | 95 % | joined | parent | cell | packet | energy |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, settings in PLEDGE.items():
        formed = formation([ONE_HOP, *settings])
        first = formed.times("synchronised")
        later = [f"{number(mean(formed.took(phase)))} s" for phase in list(PHASES)[1:]]
        energy = mean(formed.columns["energy_mj"]) / 1_000
        cells = [
            f"{number(mean(first))} s",
            f"{number(percentile(first, 0.95))} s",
            *later,
            f"{number(energy)} J",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def late() -> str:
    """How many pledges never join, because each response comes after the next request."""
    lines = ["| `join.timeout_s` | `join.confirmable` | not through |", "| --: | --- | --: |"]
    for timeout, confirmable in ((60, "false"), (60, "true"), (120, "false")):
        keys = [f"join.timeout_s={timeout}", f"join.confirmable={confirmable}"]
        formed = formation(["network.topology.hops=12", "join.give_up_s=40000", *keys], 10)
        missing, nodes = sum(formed.missing().values()), len(formed.columns["node"])
        lines.append(f"| {timeout} s | `{confirmable}` | {missing} of {nodes} |")
    return "\n".join(lines) + "\n"


def grid(columns: int, rows: int) -> str:
    """The links of a grid in which each node hears its eight neighbours."""
    links = []
    for node in range(columns * rows):
        x, y = node % columns, node // columns
        for right, down in ((1, 0), (-1, 1), (0, 1), (1, 1)):
            if 0 <= x + right < columns and y + down < rows:
                other = (y + down) * columns + x + right
                links.append(f"{{ from = {node}, to = {other} }}")
    return f'network.topology={{ kind = "explicit", links = [{", ".join(links)}] }}'


def power_cut() -> str:
    """Networks of several sizes."""
    lines = [
        "| nodes | profile | all are through: median | not through | a node is synchronised |"
        " then joined | parent | cell | packet | requests | scans | energy |",
        "| --: | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for nodes, (columns, rows) in GRIDS.items():
        for profile in PROFILES:
            settings = [grid(columns, rows), f"network.profile={profile}"]
            formed = formation(settings, GRID_WORLDS)
            took = [f"{median(formed.took(phase))} s" for phase in PHASES]
            each = [number(mean(formed.columns[name])) for name in ("requests", "scans")]
            energy = f"{number(mean(formed.columns['energy_mj']) / 1_000)} J"
            all_through = f"{number(percentile(formed.formed(), 0.5) / 60)} min"
            missing = f"{sum(formed.missing().values())} of {(nodes - 1) * GRID_WORLDS}"
            cells = [str(nodes), f"`{profile}`", all_through, missing, *took, *each, energy]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def simulator() -> str:
    """The phases of a line beside those of the 6TiSCH simulator."""
    formed = formation(AS_SIMULATOR)
    nodes = formed.columns["node"]
    lines = [
        "| hops | synchronised | simulator | then joined | simulator | then parent | simulator |"
        " then cell | simulator | join frames |",
        "| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for node, theirs in SIMULATOR.items():
        rows = [row for row, number_ in enumerate(nodes) if number_ == node]
        at = {phase: [formed.columns[f"{phase}_s"][row] for row in rows] for phase in PHASES}
        cells = [str(node), f"{number(mean(at['synchronised']))} s"]
        cells.append(f"{number(theirs[0])} ± {number(theirs[1])} s")
        order = list(PHASES)[:4]
        for before, phase, value in zip(order, order[1:], theirs[2:], strict=False):
            ours = mean([b - a for a, b in zip(at[before], at[phase], strict=True)])
            cells += [f"{number(ours)} s", f"{number(value)} s"]
        cells.append(number(mean([formed.columns["join_frames"][row] for row in rows])))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def boards() -> str:
    """What developers of OpenWSN expected and saw of their boards."""
    heads = "| a beacon in each | synchronised: mean | 95 % | cell: 95 % |"
    lines = [heads, "| --: | --: | --: | --: |"]
    for portion in (10, 4):
        formed = formation([*BOARDS, f"join.beacon_probability={1 / portion}"])
        first, cell = formed.times("synchronised"), formed.times("cell")
        lines.append(
            f"| {portion} slotframes | {number(mean(first))} s |"
            f" {number(percentile(first, 0.95))} s | {number(percentile(cell, 0.95))} s |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
