"""The report of a run: outcomes, one row for each metric, and what was run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slowhand.api import Run

WIDTH = 100
"""The width of the report in columns, if stdout is not a terminal."""

METRICS = {
    "The handshake": {
        "duration_s": ("duration", "s"),
        "compute_client_s": ("client computes", "s"),
        "compute_server_s": ("server computes", "s"),
    },
    "On the air, all hops": {
        "frames": ("data", "frames"),
        "bytes_phy": ("data", "B"),
        "frames_ack": ("acknowledgements", "frames"),
        "bytes_ack": ("acknowledgements", "B"),
        "frames_control": ("strobes, requests", "frames"),
        "bytes_control": ("strobes, requests", "B"),
    },
    "Between the two ends": {
        "datagrams": ("sent", "datagrams"),
        "bytes_payload": ("sent", "B"),
        "datagrams_lost": ("lost", "datagrams"),
        "retransmissions_needed": ("resent, needed", "datagrams"),
        "retransmissions_spurious": ("resent, spurious", "datagrams"),
    },
    "Energy of the client": {
        "energy_client_mj": ("total", "mJ"),
        "energy_client_cpu_mj": ("computing", "mJ"),
        "energy_client_tpm_mj": ("TPM", "mJ"),
        "energy_client_tx_mj": ("sending", "mJ"),
        "energy_client_rx_mj": ("receiving", "mJ"),
        "energy_client_listen_mj": ("idle listening", "mJ"),
        "energy_client_sleep_mj": ("sleeping", "mJ"),
    },
    "Most at any node": {
        "queue_peak": ("in the queue", "frames"),
        "reassembly_peak_bytes": ("in reassembly", "B"),
    },
}
"""The label and the unit of every metric, in the order of the report."""

IF_ANY = {"frames_control", "bytes_control", "energy_client_tpm_mj"}
"""Metrics that only some link layers or devices have: shown only if one value is not zero."""

Statistics = dict[str, Any]


def console() -> Console:
    """Returns a console for stdout, wide enough for a row on one line."""
    made = Console(highlight=False, markup=False)
    return made if made.is_terminal else Console(highlight=False, markup=False, width=WIDTH)


def show(handshakes: Run, interrupted: bool, out: Console) -> None:
    """Prints the report of a run."""
    summary = handshakes.summary()
    out.print(_outcomes(summary, interrupted))
    if summary["completed"]:
        out.print()
        out.print(_table(summary["metrics"]))
    out.print()
    for line in _about(handshakes, interrupted):
        out.print(line, style="dim")


def show_stacks(stacks: list[dict[str, Any]], out: Console) -> None:
    """Prints one block for each library."""
    for stack in stacks:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        for name, value in stack.items():
            if name != "name":
                table.add_row(name, ", ".join(value) if isinstance(value, list) else str(value))
        out.print(Text(stack["name"], "bold"))
        out.print(table)
        out.print()


def show_bundled(bundled: Mapping[str, str], out: Console) -> None:
    """Prints each name with its introduction below."""
    for name, introduction in bundled.items():
        out.print(Text(name, "bold"))
        out.print(Padding.indent(introduction, 2))


def _outcomes(summary: dict[str, Any], interrupted: bool) -> Text:
    completed, failed = summary["completed"], summary["failed"]
    total = completed + sum(failed.values())
    line = Text("Interrupted. " if interrupted else "", "yellow")
    line.append(f"{completed:,} of {total:,} handshakes completed", "bold")
    for reason, count in failed.items():
        line.append(f", {count:,} {reason.replace('_', ' ')}", "red")
    return line


def _table(metrics: dict[str, Statistics]) -> Table:
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    for heading in ("mean", "95 % interval", "min", "p50", "p95", "p99", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    for group, rows in METRICS.items():
        table.add_row(Text(group, "bold cyan"))
        for name, (label, unit) in rows.items():
            if name in IF_ANY and not metrics[name]["max"]:
                continue
            table.add_row(f"  {label}", unit, *_cells(metrics[name], unit))
    return table


def _cells(statistics: Statistics, unit: str) -> Iterator[str]:
    counted = unit not in ("s", "mJ")
    observed = [statistics[key] for key in ("min", "p50", "p95", "p99", "max")]
    low, high = statistics["ci95"] or (statistics["mean"], statistics["mean"])
    decimals = _decimals(statistics["max"])
    if counted and low == high:
        decimals = 0
    yield f"{statistics['mean']:,.{decimals}f}"
    yield f"{low:,.{decimals}f} .. {high:,.{decimals}f}"
    for value in observed:
        # A percentile may lie between two counts.
        whole = counted and float(value).is_integer()
        yield f"{value:,.{0 if whole else decimals}f}"


def _decimals(largest: float) -> int:
    """The number of decimals that gives the largest number of a row four digits."""
    return min(4, max(0, 3 - math.floor(math.log10(largest)))) if largest else 0


def _about(handshakes: Run, interrupted: bool) -> Iterator[str]:
    about = handshakes.scenario.about()
    seeds = f"seeds {handshakes.seed} to {handshakes.seed + handshakes.count - 1}"
    if interrupted:
        summary = handshakes.summary()
        done = summary["completed"] + sum(summary["failed"].values())
        seeds = f"{done:,} handshakes of {seeds}"
    yield f"{handshakes.scenario.path}, {seeds}, {handshakes.wall_s:.1f} s of wall time"
    yield about["session"]
    yield f"{about['devices']}: {about['network']}"
    assumed = [f"{len(names)} of {device}" for device, names in about["assumed"].items() if names]
    if assumed:
        yield f"constants assumed (slowhand devices NAME shows why): {', '.join(assumed)}"
