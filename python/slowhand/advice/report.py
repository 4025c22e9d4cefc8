"""The report of an advice: the front, the recommendation, common defaults, other networks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from slowhand import settings
from slowhand._native import __version__
from slowhand.advice import Adviser
from slowhand.advice.answer import Advice, Row, weighted
from slowhand.advice.front import ALIKE, HOST, METRICS, RELIABLE, Interval, Judged
from slowhand.advice.space import FAMILY, OF_APPLICATION, TRUST, has_no_effect, means
from slowhand.lives import words
from slowhand.lives.report import assumptions, seconds
from slowhand.report import command_of, failures, losses, number, quoted, show_command
from slowhand.sweeps.dataset import label, shown
from slowhand.table import Cell, Column, Table
from slowhand.terminal import Terminal, escaped, printable

LONGEST_VALUE = 24
"""The most characters of a value that was chosen that are shown."""

MOST_REASONS = 3
"""The most reasons that are told why combinations are not possible; --json has all. (Assumed.)"""

LONGEST_REASON = 300
"""The most characters of a reason. Its end says what is allowed, and why. (Assumed.)"""

MOST_FAMILIES = 20
"""The most families that are shown; --json has all. (Assumed.)"""

OF_FAMILIES = 2
"""The metrics of families that are shown, the first ones: 80 columns have no more room."""

MOST_TIES = 8
"""The most equals that are named. (Assumed: a longer list is not read.)"""


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
    if advice.family_rows:
        out.print()
        _families(advice, out)
    out.print()
    _front(advice, out)
    if advice.adviser.defaults:
        out.print()
        _defaults(advice, out)
    if advice.adviser.networks or advice.adviser.skipped:
        out.print()
        _networks(advice, out)
    if advice.snippets:
        out.print()
        _what_to_type(advice, out)
    out.print()
    for line in _about(advice):
        out.paragraph(escaped(line), "dim", indent="  ")
    if advice.scenario.has_file:
        out.print(f"slowhand {__version__}, try it with:", "dim")
        show_command(command(advice), out)
    else:
        out.print(
            f"slowhand {__version__}. The scenario has no file: try it in Python, with:", "dim"
        )
        out.print("  slowhand.run(advice.scenario)", "dim")


def command(advice: Advice) -> list[str]:
    """The command that runs what is recommended, in words for a shell.

    Where a battery counts, it tells the same years.
    """
    words = command_of(advice.scenario)
    life, battery = advice.best.life, advice.adviser.battery
    if life is None or battery is None:
        return words
    seeds = [f"--seed {life['seed']}", f"--count {life['worlds']}"]
    return ["slowhand battery", *words[1:], f"--battery {quoted(battery)}", *seeds]


def _recommendation(advice: Advice, out: Terminal) -> None:
    best, recommended = advice.best, advice.recommended
    if not best.completes:
        out.paragraph(
            f"Nothing that may be chosen completes reliably (in {100 * RELIABLE:g} % of all"
            f" handshakes or more). The best completes {_percent(best.share)} %:",
            "bold red",
        )
    elif not advice.reliable:
        out.paragraph(
            "Nothing that may be chosen lets a server answer reliably"
            f" ({100 * RELIABLE:g} % of all requests or more). Of the best's"
            f" {_percent(1 - best.unanswered)} % are answered:",
            "bold red",
        )
    else:
        out.print("Recommended", "bold")
    for key, value in recommended.settings.items():
        text = "not set" if value is None else printable(shown(value), LONGEST_VALUE)
        out.print(f"  {key} = {text}", "bold")
    for key, trusted in TRUST.items():
        if recommended.settings.get(key):
            out.paragraph(trusted, "yellow")
    if best.battery is not None:
        out.paragraph(escaped(_lasts(best, best.battery)), "bold")
    if advice.ties:
        _ties(advice, out)
    if advice.second is not None and advice.sure is not None:
        _next(advice, advice.second, advice.sure, out)
    if advice.adviser.why is not None:
        _help(advice.adviser, advice.adviser.why, out)


def _lasts(best: Judged, battery: Mapping[str, Any]) -> str:
    """The life of the battery, and the times of requests."""
    life, lasts = best.life, battery["life"] or {}
    years = words.life(lasts.get("years"), lasts.get("years_ci95"))
    said = f"{years} from {words.battery(battery['description'])}."
    if life and life["latency_s"]:
        said += f" 95 % of the requests take {seconds(life['latency_s']['p95'])} or less."
    return said


def _ties(advice: Advice, out: Terminal) -> None:
    """The equals of the best, why this one is recommended, and what would decide."""
    equal = {row.name for row in advice.equals}
    others = [row for row in advice.ties if row.name not in equal]
    if others:
        out.paragraph(f"It cannot be told apart from {_named(others, advice)}.")
    if equal:
        out.paragraph(f"The same in every world: {_named(advice.equals, advice)}.")
    if not advice.deciding:
        if advice.adviser.networks:
            out.paragraph("No network that is worse tells them apart either: take any of them.")
    else:
        if advice.reliable:
            bears = "Of these it bears the most of worse networks, taken together."
            out.paragraph(f"{bears} They tell them apart:")
        for each in advice.deciding:
            best, worst = (_difference_or_it(row, advice) for row in (each.best, each.worst))
            ratio = _times(each.weighted)
            text = f"{each.network}: {best} is the best, {worst} is {ratio}"
            if each.best.judged.is_reliable and not each.worst.judged.is_reliable:
                share = _percent(each.worst.judged.share)
                text = f"{each.network}: {best} is the best, {worst} completes only {share} %"
            out.paragraph(text, first="  ", indent="    ")
    if advice.missing:
        asked = "; ".join(f"{each.asks} ({each.keys[0]})" for each in advice.missing)
        out.paragraph(
            f"The scenario does not say what would decide: {asked}. --fix KEY=VALUE says it.",
            "yellow",
        )


def _named(rows: Sequence[Row], advice: Advice) -> str:
    """Configurations by what they have other than the recommended one."""
    names = [_difference(row, advice) for row in rows[:MOST_TIES]]
    if len(rows) > MOST_TIES:
        more = len(rows) - MOST_TIES
        names.append(f"{more} other{'s' if more > 1 else ''}")
    return escaped("; ".join(names))


def _difference_or_it(row: Row, advice: Advice) -> str:
    return escaped(_difference(row, advice)) or "it"


def _next(advice: Advice, second: Row, sure: float, out: Terminal) -> None:
    """The next one: its costs, and how sure the order is."""
    said = f"{100 * sure:.0f} %" if sure < 0.995 else "more than 99 %"
    ratio = weighted(second.judged, advice.best)
    if ratio < 1 and advice.best.is_reliable and not second.judged.is_reliable:
        share = _percent(second.judged.share)
        is_like = f"is better by the weights, but completes only {share} % of all handshakes"
    else:
        is_like = f"is {_times(ratio)} by the weights"
    name = escaped(_difference(second, advice))
    which = "The next one that can be told apart" if advice.ties else "The next one"
    out.paragraph(f"{which}, {name}, {is_like}. That the first is better is {said} sure.")


def _help(adviser: Adviser, why: dict[str, Any], out: Terminal) -> None:
    out.print()
    out.print("Why handshakes fail with it", "bold")
    for line in failures(why):
        out.paragraph(line, "red", first="  ", indent="    ")
    for line, is_limit in losses(why["losses"]):
        out.paragraph(line, "yellow" if is_limit else "", first="  ", indent="    ")
    if adviser.helps is None:  # a signal has ended the search
        return
    out.print()
    out.print("What would help", "bold")
    for each in adviser.helps:
        said = escaped(", ".join(each.overrides))
        share, low, high = map(_percent, each.judged.completed)
        out.paragraph(f"{share} % ({low}..{high}) with {said}", first="  ", indent="    ")
    if not adviser.helps:
        out.paragraph("nothing that was tried: a better network, or a shorter path", first="  ")


def _difference(row: Row, advice: Advice) -> str:
    """A configuration by what it has other than the recommended one."""
    own = advice.recommended.settings
    found = {k: v for k, v in row.settings.items() if own[k] != v}
    return ", ".join(
        label({key: value}) if value is not None else f"without {key}"
        for key, value in found.items()
    )


def _families(advice: Advice, out: Terminal) -> None:
    """The best of each family, and what it costs to choose it."""
    rows = advice.family_rows
    out.print("What another choice would cost: the best with each", "bold")
    others = [key for key in _columns(advice, rows)[0] if key not in FAMILY]
    heads = [Column(key.rpartition(".")[2].replace("_", "\n")) for key in others]
    of = _named_metrics(advice)[:OF_FAMILIES]
    family = Column(right=False, wraps=True)
    table = Table([family, *heads, *_metric_columns(of), Column("")])
    shown_rows = rows[:MOST_FAMILIES]
    cells = _metric_cells([row.judged for row in shown_rows], advice.best, of)
    is_tied = [advice.is_tied(row) for row in rows]
    has_ties = sum(is_tied) > 1
    for row, metrics, tied in zip(shown_rows, cells, is_tied, strict=False):
        made = means(row.configuration.scenario)
        values = [
            "" if has_no_effect(made, [key]) else _value(row.settings.get(key)) for key in others
        ]
        table.add(_family_name(row), *values, *metrics, "=" if tied and has_ties else "")
    table.print(out)
    if len(rows) > MOST_FAMILIES:
        out.print(f"and {len(rows) - MOST_FAMILIES} others, which are worse (see --json)", "dim")
    if has_ties:
        out.paragraph("=: they cannot be told apart", "dim")


def _family_name(row: Row) -> str:
    """The parts that a family has in common: `lean-dtls to mbedtls, dtls1.2, psk`."""
    client, server, *rest = map(row.settings.get, FAMILY)
    ends = client if server in (None, client) else f"{client} to {server}"
    return ", ".join(_value(value) for value in (ends, *rest) if value is not None)


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
    of = _named_metrics(advice)
    table = Table([*columns, *_metric_columns(of)], repeated=1)
    cells = _metric_cells([row.judged for row in shown_rows], advice.best, of)
    for place, (row, metrics) in enumerate(zip(shown_rows, cells, strict=True)):
        values = [_value(row.settings[key]) for key in varied]
        table.add(str(place + 1) if place < len(rows) else "next", *values, *metrics)
    table.print(out)
    if same:
        settings = rows[0].settings
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
            values = [repr(row.settings[key]) for row in rows]
            if len(set(values)) == 1:
                same.append(key)
            elif values not in seen:  # as those of both ends, which are chosen together
                varied.append(key)
            seen.append(values)
    return varied, same


def _value(value: str | float | bool | None) -> str:
    return "-" if value is None else printable(shown(value), LONGEST_VALUE)


def _named_metrics(advice: Advice) -> list[str]:
    """The metrics in the order of the columns: the life of the battery first."""
    return sorted(advice.adviser.scale.weights, key=lambda name: name != "battery")


def _metric_columns(of: Iterable[str]) -> list[Column]:
    """The memory is left out where there is no room; the table of the front becomes two instead."""
    columns = [Column(METRICS[name].heading, optional=int(name == "ram")) for name in of]
    return [*columns, Column("by the\nweights")]


def _metric_cells(
    judged: Sequence[Judged], best: Judged, of: Sequence[str]
) -> Iterator[list[Cell]]:
    """The metrics of several configurations with their intervals, and the weighted ratio."""
    intervals = [one.intervals() for one in judged]
    reliable = [found for found in intervals if _is_known(found, "duration")]
    largest = {name: max((found[name].value for found in reliable), default=0) for name in of}
    for one, found in zip(judged, intervals, strict=True):
        cells: list[Cell] = []
        for name in of:
            if name == "failures":
                cells.append(_failures(found[name]))
            elif name == "ram":
                octets = found[name].value
                host = " host" if one.is_ram_of_host else ""
                cells.append(f"{octets:,.0f}{host}" if math.isfinite(octets) else "")
            elif name == "battery" and found[name].value > words.LONGEST_YEARS:
                cells.append(f">{words.LONGEST_YEARS:g}")
            elif not _is_known(found, name):
                cells.append("never")
            else:
                cells.append(_with_interval(found[name], largest[name]))
        ratio = weighted(one, best)
        cells.append((f"{ratio:.2f}", "" if ratio <= 1 + ALIKE else "yellow"))
        yield cells


def _is_known(found: dict[str, Interval], name: str) -> bool:
    """False for the duration of what fails too often, and for all of what never completes.

    A battery lasts some time then too.
    """
    if name == "battery":
        return True
    return found["failures"].value < 1 and math.isfinite(found[name].value)


def _with_interval(interval: Interval, largest: float) -> str:
    """A value, and the wider half of its interval, which may end with those that fail.

    Nothing is below 0: where that half is wider than the value, the ends are shown in its place.
    It has the decimals of the largest of its column, or its own if it is larger.
    """
    half = max(interval.high - interval.value, interval.value - interval.low)
    text = number(interval.value, max(largest, interval.value))
    if math.isinf(interval.high):
        return f"{text}..never"
    if not half:
        return text
    if half > interval.value:
        return "..".join(number(end, max(largest, interval.high)) for end in interval[1:])
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
    of = _named_metrics(advice)
    table = Table([Column(right=False, wraps=True), Column("s"), *_metric_columns(of)])
    found = advice.adviser.defaults
    cells = _metric_cells([default.judged for default in found], advice.best, of)
    for default, metrics in zip(found, cells, strict=True):
        names = ", ".join(default.row.names)
        table.add(names, f"{default.row.timeout_s:g}", *metrics)
    table.print(out)


def _networks(advice: Advice, out: Terminal) -> None:
    out.print("The recommended one, if the network is worse than stated", "bold")
    of = _named_metrics(advice)
    heads = [Column(right=False), *_metric_columns(of)[:-1], Column("behind\nthe best\nthere")]
    table = Table(heads)
    found = [(network, advice.elsewhere(network.judged)) for network in advice.adviser.networks]
    judged = [advice.best, *(here.judged for _, here in found)]
    names = ["as stated", *(network.name for network, _ in found)]
    behind = [
        "",
        *("fails" if here.fails else f"{100 * here.behind:.0f} %" for _, here in found),
    ]
    rows = zip(names, _metric_cells(judged, advice.best, of), behind, strict=True)
    for name, metrics, text in rows:
        table.add(name, *metrics[:-1], text)
    table.print(out)
    for network in advice.adviser.networks:
        changed = escaped(", ".join(network.overrides))
        out.paragraph(f"{network.name}: {changed}", "dim", indent="  ")
    for network, here in found:
        if here.fails:
            best = _percent(network.judged[here.best].share)
            own = _percent(here.judged.share)
            only = f"the best there completes {best} %, the recommended one only {own} %"
            out.paragraph(f"{network.name}: {only}", "yellow", indent="  ")
    for name, reason in advice.adviser.skipped.items():
        out.paragraph(escaped(f"not possible: {name}: {reason}"), "yellow", indent="  ")


def _life(advice: Advice, life: Mapping[str, Any], assumed: Mapping[str, Any]) -> Iterator[str]:
    """The computation of the life of the battery, and its assumptions."""
    adviser = advice.adviser
    yield (
        f"battery: {adviser.battery}, client {life['client']}, weighed by the charge of a day; a"
        f" year drawn from {life['worlds']:,} other worlds of each ({adviser.lived:,} in all); its"
        " intervals are those of chance, not of constants"
    )
    if keys := [key for key in adviser.space.keys if key.startswith(OF_APPLICATION)]:
        changes = "changes" if len(keys) == 1 else "change"
        yield f"{', '.join(keys)}: {changes} what the application does, or when it is reached"
    yield from assumptions(assumed)


def _what_to_type(advice: Advice, out: Terminal) -> None:
    out.print("What to type", "bold")
    settings.show(advice.snippets, out)
    other = ", ".join(name for name in settings.LIBRARIES if name != advice.snippets[0].library)
    out.paragraph(f"For {other}:", "dim")
    if not advice.scenario.has_file:
        out.print('  slowhand.settings.snippets(advice.scenario, "NAME")', "dim")
        return
    words = command_of(advice.scenario)[1:]
    show_command(["slowhand settings", *words, "--library NAME"], out)


def _about(advice: Advice) -> Iterator[str]:
    adviser, space = advice.adviser, advice.adviser.space
    weights = ", ".join(f"{name} {weight:g}" for name, weight in adviser.scale.weights.items())
    yield f"by the weights: {weights}; 1 is the recommended one, 1.1 is 10 % worse"
    yield (
        "p95 over all handshakes, one that fails counts as endless; energy and octets of all"
        " handshakes, for each one that completes; ± and ..: 95 % intervals"
    )
    processors = {row.judged.ram_of for row in (*advice.front_rows, *advice.family_rows)} - {HOST}
    if processors:
        yield f"memory: as measured on {' and '.join(sorted(processors))} (docs/footprint.md)"
    yield "memory, host: on this computer of 64 bits, which is more than a device takes"
    if adviser.contest.is_judged:
        yield "all numbers are of worlds that have chosen nothing"
    else:
        yield "the numbers are of the worlds that have chosen: they are a little too good"
    yield f"chosen from: {', '.join(space.keys)}"
    yield (
        f"{len(space.configurations):,} configurations, {adviser.done:,} worlds, seeds from"
        f" {adviser.seed}, {adviser.wall_s:.1f} s of wall time"
    )
    if advice.assumed is not None and advice.best.life is not None:
        yield from _life(advice, advice.best.life, advice.assumed)
    if adviser.beyond:
        yield f"{adviser.beyond:,} of these worlds, beyond the budget, say why handshakes fail"
    if space.refused:
        yield f"{space.refused.total():,} other combinations are not possible:"
        for reason, count in space.refused.most_common(MOST_REASONS):
            yield f"  {count:,}: {printable(reason, LONGEST_REASON)}"
        others = space.refused.most_common()[MOST_REASONS:]
        if others:
            count = sum(count for _, count in others)
            reasons = "reasons" if len(others) > 1 else "reason"
            yield f"  {count:,}: {len(others):,} other {reasons} (--json has them)"
        for key, count in space.refused_by_fixed.items():
            yield (
                f"  {count:,} of these have a {key} that does not fit: --fix {key}= leaves it out"
            )
    about = space.scenario.about()
    yield f"{space.scenario.file}: {about['session']}"
    yield f"{about['devices']}: {about['network']}"
