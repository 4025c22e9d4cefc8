"""The table of a sweep: one line for each configuration."""

from __future__ import annotations

from collections.abc import Iterator

from slowhand._native import __version__
from slowhand.api import STACK_KEYS
from slowhand.estimate import Estimate
from slowhand.report import number
from slowhand.sweeps import METRIC, UNITS, Result, Sweep
from slowhand.sweeps.dataset import label, shown
from slowhand.sweeps.following import FOLLOWED
from slowhand.sweeps.statistics import METRICS, Measured, Metric
from slowhand.table import Cell, Column, Table
from slowhand.terminal import Terminal, escaped, printable

COLUMNS = {
    "energy_client_mj": "energy\nclient\nmJ",
    "bytes_phy": "on the\nair\nB",
    "retransmissions_spurious": "resent,\nspurious\ndatagr.",
}
"""Means that are shown, and their headings."""

FOLLOWING = (*STACK_KEYS, *FOLLOWED)
"""The keys from which others follow."""

MOST_FAILING = 8
"""The most configurations with failures that are told apart. (Assumed: more is not read.)"""

LONGEST_VALUE = 24
"""The most characters of a value that was varied that are shown."""


def show(sweep: Sweep, results: list[Result], out: Terminal, *, interrupted: bool) -> None:
    """Prints the table, and what its columns mean."""
    if interrupted:
        out.print("Interrupted. What is complete:", "yellow")
    table(sweep, results).print(out)
    out.print()
    for texts, style in (
        (_failures(results), "red"),
        (_impossible(sweep), "yellow"),
        (_followed(sweep), ""),
    ):
        for text in texts:
            out.paragraph(escaped(text), style, indent="  ")
    for text in sweep.notes[:MOST_FAILING]:
        out.paragraph(f"another run may differ: {printable(text, 300)}", "yellow", indent="  ")
    for line in map(escaped, _about(sweep, results, interrupted=interrupted)):
        out.paragraph(line, "dim", indent="  ")


def show_worse(worse: list[str], most: float | None, out: Terminal) -> None:
    """Prints which configurations are worse than `--fail-if` allows: by the share, if any."""
    for text in worse[:MOST_FAILING]:
        out.paragraph(f"worse: {escaped(text)}", "red", indent="  ")
    if len(worse) > MOST_FAILING:
        out.paragraph(f"and {len(worse) - MOST_FAILING:,} others are worse (see --json)", "red")
    if not worse:
        by = "" if most is None else f" by more than {100 * most:g} %"
        out.paragraph(f"none is worse{by} (--fail-if)")


def _failures(results: list[Result]) -> list[str]:
    """The failures, by configuration."""
    failing = []
    for measured, _ in results:
        said = [
            f"{count:,} {outcome.replace('_', ' ')}"
            for outcome, count in measured.outcomes.items()
            if outcome != "completed"
        ]
        if measured.panicked:
            said.append(f"{measured.panicked:,} worlds {_without_row(measured)}")
        if measured.silent:
            said.append(f"{measured.silent:,} of these sent nothing to the server")
        if measured.unsuccessful:
            said.append(f"{measured.unsuccessful:,} worlds without success, as the scenario asks")
        if said:
            failing.append(f"{measured.configuration.label}: {', '.join(said)}")
    return _first(failing, "and {:,} other configurations have failures (see --json)")


def _first(texts: list[str], others: str) -> list[str]:
    """The first texts, and how many others there are, in words."""
    more = len(texts) - MOST_FAILING
    return [*texts[:MOST_FAILING], *([others.format(more)] if more > 0 else [])]


def _without_row(measured: Measured) -> str:
    """Why worlds have no row."""
    return "were not run to their end" if measured.configuration.has_programs else "panicked"


def _impossible(sweep: Sweep) -> list[str]:
    """Combinations that cannot run, by their reason: one of each."""
    by_reason: dict[str, list[str]] = {}
    for each in sweep.impossible:
        by_reason.setdefault(each.reason, []).append(label(each.settings))
    said = []
    for reason, labels in by_reason.items():
        rest = len(labels) - 1
        more = f" (and {rest:,} other{'s' if rest > 1 else ''})" if rest else ""
        said.append(f"not possible: {labels[0]}{more}: {reason}")
    return _first(said, "and {:,} other reasons (see --json)")


def _followed(sweep: Sweep) -> list[str]:
    """The values that followed from what is varied, each once."""
    found: dict[str, None] = {}
    for each in sweep.configurations:
        keys = {key: each.settings[key] for key in FOLLOWING if key in each.settings}
        said = [
            f"without {name}" if value is None else f"with {name} {shown(value)}"
            for key, value in each.followed.items()
            if (name := key.partition(".")[2])
        ]
        if said:
            found[f"{label(keys)}: {', '.join(said)}"] = None
    return _first(list(found), "and so on with {:,} others (see --json)")


def table(sweep: Sweep, results: list[Result]) -> Table:
    """A row for each configuration. What decides stands first, where there is room for it."""
    metric = sweep.sampling.metric
    keys = list(sweep.configurations[0].settings)
    names = [(key.replace(".", ".\n", 1) if "." in key else key) for key in keys] or ["scenario"]
    means = [name for name in METRICS if name in COLUMNS]
    columns = [Column(name) for name in names] if keys else [Column(names[0], right=False)]
    columns.append(Column("comple-\nted\n%"))
    single = all(result.measured.handshakes <= 1 for result in results)  # has no percentiles
    durations = ["\nduration"] if single else ["p50\nduration", "p95\nduration"]
    columns += [Column(f"{name}\ns") for name in durations]
    if metric not in METRICS:
        label, unit = UNITS[metric]
        columns.append(Column(f"{label.replace(' ', chr(10), 1)}\n{unit}"))
    compares = any(result.difference for result in results)
    if compares:
        label, unit = UNITS[metric]
        columns.append(Column(f"difference\n{label}\n{unit}"))
        columns += [] if single else [Column("±\n95 %\n" + unit)]
    columns += [Column(COLUMNS[name]) for name in means]
    made = Table(columns, repeated=len(names))
    largest = _largest(results)
    for result in results:
        measured, difference = result
        values = measured.configuration.settings.values()
        cells: list[Cell] = [printable(shown(value), LONGEST_VALUE) for value in values]
        cells = cells or [printable(measured.configuration.name, LONGEST_VALUE)]
        cells.append(_share(measured.completed, measured.handshakes))
        duration = measured.metrics.get(METRIC)
        times = [duration.p50, duration.p95][: len(durations)] if duration else []
        cells += [number(value, largest[METRIC]) for value in times] or [""] * len(durations)
        others = [metric] if metric not in METRICS else []
        cells += [_mean(measured.metrics.get(name), largest.get(name, 0.0)) for name in others]
        if compares:
            found = _difference(difference.estimate if difference else None, largest["difference"])
            cells += found[:1] if single else found
        cells += [_mean(measured.metrics.get(name), largest.get(name, 0.0)) for name in means]
        made.add(*cells)
    return made


def _mean(found: Metric | None, largest: float) -> str:
    return number(found.estimate.mean, largest) if found else ""


def _share(completed: int, handshakes: int) -> str:
    """A share in per cent: 100 only if all completed, 0.0 only if none did."""
    if not handshakes:
        return ""
    if completed in (0, handshakes):
        return "100" if completed else "0"
    return f"{min(99.9, max(0.1, 100 * completed / handshakes)):.1f}"


def _difference(estimate: Estimate | None, largest: float) -> tuple[Cell, Cell]:
    """The difference with its sign, faint if its interval has both signs."""
    if estimate is None:
        return "", ""
    text = number(abs(estimate.mean), largest)
    sign = "-" if estimate.mean < 0 else "+"
    half = number(estimate.half, largest) if estimate.half else ""
    style = "dim" if abs(estimate.mean) <= estimate.half else ""
    return (f"{sign}{text}", style), (half, style)


def _largest(results: list[Result]) -> dict[str, float]:
    """The largest number of each column: it decides on the decimals."""
    largest: dict[str, float] = {"difference": 0.0}
    for measured, difference in results:
        for name, metric in measured.metrics.items():
            numbers = [metric.estimate.mean]
            numbers += [metric.p50, metric.p95] if name == METRIC else []
            largest[name] = max(largest.get(name, 0.0), *map(abs, numbers))
        if difference:
            estimate = difference.estimate
            largest["difference"] = max(largest["difference"], abs(estimate.mean), estimate.half)
    return largest


def _about(sweep: Sweep, results: list[Result], *, interrupted: bool) -> Iterator[str]:
    sampling = sweep.sampling
    label = UNITS[sampling.metric][0]
    to = sweep.baseline([result.measured for result in results])
    if to is not None and any(result.difference for result in results):
        yield (
            f"difference: mean {label} minus that with {to.configuration.label} (the"
            f" {sampling.baseline}), over the seeds that completed with both"
        )
    elif to is not None and not to.completed and len(results) > 1:
        yield (
            f"no differences: no handshake completed with {to.configuration.label} (the"
            f" {sampling.baseline}); --baseline best takes one that completes"
        )
    counts = [result.measured.worlds for result in results]
    least, most = min(counts), max(counts)
    worlds = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    configurations = f"{len(results):,} configuration{'' if len(results) == 1 else 's'}"
    worlds += " world" if most == 1 else " worlds"
    yield (
        f"{configurations}, {worlds} each, seeds from {sampling.seed},"
        f" {sweep.wall_s:.1f} s of wall time"
    )
    if sampling.precision is not None:
        yield from _precision(sweep, results)
    if sweep.out is not None:
        again = "; the same command continues" if interrupted else ""
        yield f"rows of all handshakes: {sweep.out} (Parquet){again}"
    elif interrupted:
        yield "with --out FOLDER, the same command would continue"
    yield f"slowhand {__version__}"


def _precision(sweep: Sweep, results: list[Result]) -> Iterator[str]:
    """Which configurations have not the precision that was asked for."""
    wanted = sweep.sampling.precision or 0.0
    wide = []
    for measured, _ in results:
        found = measured.metrics.get(sweep.sampling.metric)
        if found is None or found.estimate.half > wanted * abs(found.estimate.mean):
            wide.append(measured.configuration.label)
    label = UNITS[sweep.sampling.metric][0]
    if not wide:
        yield f"all intervals of the mean {label} are within ± {100 * wanted:g} %"
    else:
        yield (
            f"wider than ± {100 * wanted:g} % after --max-count {sweep.sampling.max_count}:"
            f" {', '.join(wide)}"
        )
