"""Cells of a notebook: a run, a live network and an advice in a few lines of HTML.

It has no script and no style of its own, so it looks as the notebook does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slowhand import report
from slowhand.pages.skeleton import text
from slowhand.realtime import status

if TYPE_CHECKING:
    from slowhand.advice.answer import Advice
    from slowhand.advice.front import Judged
    from slowhand.api import Run
    from slowhand.realtime import Live

SHOWN = (
    *("duration_s", "frames", "bytes_phy", "datagrams_lost"),
    *("retransmissions_needed", "retransmissions_spurious", "energy_client_mj"),
)
"""The metrics of a cell. The others are in `summary()`."""

WIDEST = 200
"""The most characters of the line about a network that runs."""


def run(run: Run) -> str:
    """The content of a cell of a run: how far it is, or what came out. It does not wait."""
    done, finished = run.wait(0)
    lines = [_title(run.scenario.path, f"seeds from {run.seed}")]
    if not finished:
        lines.append(f"<p>{done:,} of {run.count:,} worlds are done.</p>")
        return _block(lines)
    if done < run.count:
        lines.append(f"<p>Interrupted: {done:,} of {run.count:,} worlds are done.</p>")
    return _block([*lines, *_summary(run.summary())])


def live(net: Live) -> str:
    """The content of a cell of a live network: where programs reach it, or what came out."""
    lines = [_title(net.scenario.path, f"live, seed {net.seed}")]
    if net.is_closed:
        return _block([*lines, *_summary(net.summary())])
    listening = [*net.udp, *net.tcp, *([net.listen] if net.listen else [])]
    places = ", ".join(f"{host}, port {port}" for host, port in listening)
    lines.append(f"<p>It runs{text(f'; it listens at {places}' if places else '')}.</p>")
    if (state := net.status()) is not None:
        lines.append(f"<p>{text(status.line(state, WIDEST))}</p>")
    return _block(lines)


def advice(advice: Advice, units: Mapping[str, str]) -> str:
    """The content of a cell of an advice: the recommendation, and the front with its metrics.

    `units` has the unit of each metric.
    """
    scenario = advice.adviser.space.scenario
    lines = [_title(scenario.path, "advice")]
    if not advice.known:
        return _block([*lines, "<p>Interrupted before anything was known.</p>"])
    settings = advice.recommended.settings
    said = ", ".join(f"{key} = {_value(value)}" for key, value in settings.items())
    lines.append(f"<p>Recommended: <code>{text(said)}</code></p>")
    if not advice.reliable:
        lines.append("<p>It does not complete reliably.</p>")
    rows = [[row.name, *_metrics(row.judged)] for row in advice.front_rows]
    names = advice.front_rows[0].judged.intervals()
    headings = ["The Pareto front", *(f"{name}, {units[name]}" for name in names)]
    return _block([*lines, table(headings, rows)])


def _metrics(judged: Judged) -> Iterator[str]:
    """The metrics of a configuration. Memory that no device has says so, as in the report."""
    for name, interval in judged.intervals().items():
        host = " host" if name == "ram" and judged.is_ram_of_host else ""
        yield f"{_measured(interval.value)}{host}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts. The first cell of a row is its heading, and the others are numbers."""
    head = "".join(f"<th>{text(heading)}</th>" for heading in headings)
    lines = []
    for first, *others in rows:
        cells = "".join(f'<td style="text-align: right">{text(cell)}</td>' for cell in others)
        lines.append(f'<tr><th style="text-align: left">{text(first)}</th>{cells}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _block(lines: Iterable[str]) -> str:
    return f"<div>{''.join(lines)}</div>"


def _title(name: str, about: str) -> str:
    return f"<p><b>{text(name)}</b>, {text(about)}</p>"


def _summary(summary: Mapping[str, Any]) -> list[str]:
    """The outcomes, why handshakes failed, and the main metrics."""
    lines = [f"<p>{text(report.outcomes(dict(summary)))}</p>"]
    failures = "".join(f"<li>{text(line)}</li>" for line in report.failures(dict(summary)))
    lines += [f"<ul>{failures}</ul>"] if failures else []
    main = {
        key: {name: row for name, row in summary[key].items() if name in SHOWN}
        for key in ("metrics", "metrics_failed")
    }
    if made := report.metrics({**summary, **main}):
        headings = ["", *(column.heading for column in made.columns[1:])]
        rows = []
        for row in made.rows:
            cells = [cell if isinstance(cell, str) else cell[0] for cell in row]
            rows.append([cells[0].strip(), *cells[1:]])
        lines.append(table(headings, rows))
    return lines


def _value(value: object) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _measured(value: float) -> str:
    return report.number(value, value) if math.isfinite(value) else "never"
