"""The report of an advice: the front, the recommendation, common defaults, other networks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from slowhand import settings
from slowhand._native import __version__
from slowhand.advice import Adviser
from slowhand.advice.answer import Advice, Row, weighted
from slowhand.advice.front import ALIKE, METRICS, RELIABLE, Interval, Judged
from slowhand.report import command_of, failures, losses, number, show_command
from slowhand.sweeps.dataset import label, shown
from slowhand.table import Cell, Column, Table
from slowhand.terminal import Terminal, escaped, printable

LONGEST_VALUE = 24
"""How much is shown of a value that was chosen."""

MOST_REASONS = 3
"""How many reasons are told why combinations are not possible; --json has all. (Assumed.)"""

MOST_HELPS = 6
"""How many changes that would help are shown. (Assumed.)"""

HEADINGS = {
    "duration": "duration\np95\ns",
    "energy": "energy\nclient\nmJ",
    "bytes": "on the\nair\nB",
    "failures": "failed\n\n%",
    "ram": "memory\nclient\nB",
}


def show(advice: Advice, out: Terminal) -> None:
    """Prints the report."""
    if advice.interrupted:
        tried, total = advice.adviser.tried, len(advice.adviser.space.configurations)
        out.print(
            f"Interrupted. What is known, of {tried:,} of {total:,} configurations:", "yellow"
        )
    if not advice.known:
        out.paragraph("nothing: no configuration has a world that is complete")
        return
    _recommendation(advice, out)
    out.print()
    _front(advice, out)
    if advice.adviser.defaults:
        out.print()
        _defaults(advice, out)
    if advice.adviser.networks:
        out.print()
        _networks(advice, out)
    if advice.snippets:
        out.print()
        _what_to_type(advice, out)
    out.print()
    for line in _about(advice):
        out.paragraph(escaped(line), "dim", indent="  ")
    out.print(f"slowhand {__version__}, try it with:", "dim")
    show_command(command(advice), out)


def command(advice: Advice) -> list[str]:
    """The command that runs what is recommended, in words for a shell."""
    return command_of(advice.scenario)


def _recommendation(advice: Advice, out: Terminal) -> None:
    best, recommended = advice.best, advice.recommended
    if not advice.reliable:
        out.paragraph(
            f"Nothing that may be chosen completes reliably (in {100 * RELIABLE:g} % of all"
            f" handshakes or more). The best completes {_percent(best.share)} %:",
            "bold red",
        )
    else:
        out.print("Recommended", "bold")
    for key, value in recommended.settings.items():
        text = "not set" if value is None else printable(shown(value), LONGEST_VALUE)
        out.print(f"  {key} = {text}", "bold")
    if advice.second is not None and advice.sure is not None:
        sure = f"{100 * advice.sure:.0f} %" if advice.sure < 0.995 else "more than 99 %"
        out.paragraph(
            f"The next one, {_difference(advice.second, advice)}, is"
            f" {_times(weighted(advice.second.judged, best))} by the weights. That the first is"
            f" better is {sure} sure."
        )
    if advice.equals:
        same = "; ".join(_difference(row, advice) for row in advice.equals)
        out.paragraph(f"The same in every world: {escaped(same)}.")
    if advice.adviser.why is not None:
        _help(advice.adviser, advice.adviser.why, out)


def _help(adviser: Adviser, why: dict[str, Any], out: Terminal) -> None:
    out.print()
    out.print("Why handshakes fail with it", "bold")
    for line in failures(why):
        out.paragraph(line, "red", first="  ", indent="    ")
    for line, is_limit in losses(why["losses"]):
        out.paragraph(line, "yellow" if is_limit else "", first="  ", indent="    ")
    out.print()
    out.print("What would help", "bold")
    for each in adviser.helps[:MOST_HELPS]:
        said = ", ".join(each.overrides)
        out.paragraph(f"{_percent(each.judged.share)} % with {said}", first="  ", indent="    ")
    if not adviser.helps:
        out.paragraph("nothing that was tried: a better network, or a shorter path", first="  ")


def _difference(row: Row, advice: Advice) -> str:
    """A configuration by what it has other than the recommended one."""
    if row.configuration is None:
        return row.name
    own = advice.recommended.settings
    found = {k: v for k, v in row.configuration.settings.items() if own[k] != v}
    return ", ".join(
        label({key: value}) if value is not None else f"without {key}"
        for key, value in found.items()
    )


def _front(advice: Advice, out: Terminal) -> None:
    rows = advice.front_rows
    others = [] if advice.second is None else [advice.second]
    known = {id(row.configuration) for row in rows}
    others = [row for row in others if id(row.configuration) not in known]
    if len(rows) == 1:
        out.paragraph(
            f"It is the Pareto front alone: no other one is better by {100 * ALIKE:g} % in"
            " anything."
        )
    else:
        out.paragraph(
            f"The Pareto front: {len(rows)} configurations, none of which another one beats."
            f" Differences of less than {100 * ALIKE:g} % do not count.",
        )
    out.print()
    shown_rows = [*rows, *others]
    varied, same = _columns(advice, shown_rows)
    heads = [key.rpartition(".")[2].replace("_", "\n") for key in varied]
    columns = [Column(), *map(Column, heads)]
    table = Table([*columns, *_metric_columns()], repeated=1)
    cells = _metric_cells([row.judged for row in shown_rows], advice.best)
    for place, (row, metrics) in enumerate(zip(shown_rows, cells, strict=True)):
        settings = row.configuration.settings if row.configuration else {}
        values = [_value(settings[key]) for key in varied]
        table.add(str(place + 1) if place < len(rows) else "next", *values, *metrics)
    table.print(out)
    if same:
        settings = rows[0].configuration.settings if rows[0].configuration else {}
        said = label({key: settings[key] or "" for key in same if settings[key] is not None})
        if said:
            out.paragraph(escaped(f"All of them: {said}."), "dim")


def _columns(advice: Advice, rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The keys that differ between rows, and those that do not."""
    varied: list[str] = []
    same: list[str] = []
    for choice in advice.adviser.space.choices:
        seen: list[list[str]] = []
        for key in choice.keys:
            values = [repr(row.configuration.settings[key]) for row in rows if row.configuration]
            if len(set(values)) == 1:
                same.append(key)
            elif values not in seen:  # as those of both ends, which are chosen together
                varied.append(key)
            seen.append(values)
    return varied, same


def _value(value: str | float | bool | None) -> str:
    return "-" if value is None else printable(shown(value), LONGEST_VALUE)


def _metric_columns() -> list[Column]:
    """The memory is left out where there is no room; the table of the front becomes two instead."""
    columns = [Column(HEADINGS[name], optional=int(name == "ram")) for name in METRICS]
    return [*columns, Column("by the\nweights")]


def _metric_cells(judged: Sequence[Judged], best: Judged) -> Iterator[list[Cell]]:
    """The metrics of several configurations with their intervals, and the weighted ratio."""
    intervals = [one.intervals() for one in judged]
    reliable = [found for found in intervals if _is_known(found, "duration")]
    largest = {name: max((found[name].value for found in reliable), default=0) for name in METRICS}
    for one, found in zip(judged, intervals, strict=True):
        cells: list[Cell] = []
        for name in METRICS:
            if name == "failures":
                cells.append(_failures(found[name]))
            elif name == "ram":
                octets = found[name].value
                cells.append(f"{octets:,.0f}" if math.isfinite(octets) else "")
            elif not _is_known(found, name):
                cells.append("never")
            else:
                cells.append(_with_interval(found[name], largest[name], never=one.give_up_s))
        ratio = weighted(one, best)
        cells.append((f"{ratio:.2f}", "" if ratio <= 1 + ALIKE else "yellow"))
        yield cells


def _is_known(found: dict[str, Interval], name: str) -> bool:
    """False for the duration of what fails too often, and for all of what never completes."""
    failed = found["failures"].value
    return failed < 1 and (name != "duration" or failed <= 1 - RELIABLE)


def _with_interval(interval: Interval, largest: float, *, never: float) -> str:
    """A value, and the wider half of its interval, which may end with those that fail.

    It has the decimals of the largest of its column, or its own if it is larger.
    """
    half = max(interval.high - interval.value, interval.value - interval.low)
    text = number(interval.value, max(largest, interval.value))
    if interval.high == never:
        return f"{text}..never"
    if not half:
        return text
    decimals = len(text.partition(".")[2])
    return f"{text} ±{half:,.{decimals}f}"


def _failures(interval: Interval) -> str:
    low, high = (f"{100 * end:.1f}".removesuffix(".0") for end in interval[1:])
    return f"{low}..{high}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def _times(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "without end worse"
    if ratio < 1 + ALIKE:
        return f"less than {100 * ALIKE:g} % worse"
    return f"{100 * (ratio - 1):.0f} % worse" if ratio < 2 else f"{ratio:.1f} times as bad"


def _defaults(advice: Advice, out: Terminal) -> None:
    out.print("What common defaults would have cost", "bold")
    table = Table([Column(right=False, wraps=True), Column("s"), *_metric_columns()])
    found = advice.adviser.defaults
    cells = _metric_cells([default.judged for default in found], advice.best)
    for default, metrics in zip(found, cells, strict=True):
        names = ", ".join(default.row.names)
        table.add(names, f"{default.row.timeout_s:g}", *metrics)
    table.print(out)


def _networks(advice: Advice, out: Terminal) -> None:
    out.print("The recommended one, if the network is other than stated", "bold")
    heads = [Column(right=False), *_metric_columns()[:-1], Column("behind\nthe best\nthere")]
    table = Table(heads)
    found = [(network, advice.elsewhere(network.judged)) for network in advice.adviser.networks]
    judged = [advice.best, *(here.judged for _, here in found)]
    names = ["as stated", *(network.name for network, _ in found)]
    behind = ["", *(f"{100 * here.behind:.0f} %" for _, here in found)]
    rows = zip(names, _metric_cells(judged, advice.best), behind, strict=True)
    for name, metrics, text in rows:
        table.add(name, *metrics[:-1], text)
    table.print(out)
    for network in advice.adviser.networks:
        out.paragraph(f"{network.name}: {', '.join(network.overrides)}", "dim", indent="  ")


def _what_to_type(advice: Advice, out: Terminal) -> None:
    out.print("What to type", "bold")
    settings.show(advice.snippets, out)
    other = ", ".join(name for name in settings.LIBRARIES if name != advice.snippets[0].library)
    words = command(advice)[1:]
    out.paragraph(f"For {other}:", "dim")
    show_command(["slowhand settings", *words, "--library NAME"], out)


def _about(advice: Advice) -> Iterator[str]:
    adviser, space = advice.adviser, advice.adviser.space
    weights = ", ".join(f"{name} {weight:g}" for name, weight in adviser.scale.weights.items())
    yield f"by the weights: {weights}; 1 is the recommended one, 1.1 is 10 % worse"
    yield (
        "p95 over all handshakes, one that fails counts as endless; energy and octets of all"
        " handshakes, for each one that completes; ± and ..: 95 % intervals"
    )
    yield f"chosen from: {', '.join(space.keys)}"
    yield (
        f"{len(space.configurations):,} configurations, {adviser.done:,} worlds, seeds from"
        f" {adviser.seed}, {adviser.wall_s:.1f} s of wall time"
    )
    if space.refused:
        yield f"{space.refused.total():,} other combinations are not possible:"
        for reason, count in space.refused.most_common(MOST_REASONS):
            yield f"  {count:,}: {printable(reason)}"
    about = space.scenario.about()
    yield f"{space.scenario.file}: {about['session']}"
    yield f"{about['devices']}: {about['network']}"
