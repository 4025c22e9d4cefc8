"""The text of an answer: the sentence, tables of a day and of the alternatives, assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import slowhand
from slowhand import lives, report
from slowhand._native import DAY_S
from slowhand.lives import words
from slowhand.lives.alternatives import time
from slowhand.table import Column, Table
from slowhand.terminal import Terminal, escaped

LEAST = 1e-4
"""Numbers below have an exponent."""


def show(answer: lives.Answer, out: Terminal) -> None:
    """Prints an answer. What is missing of it, because it was interrupted, is said."""
    if answer.interrupted:
        out.print("Interrupted. What is complete:", "yellow")
    sentence = answer.sentence.replace(" %", "\N{NO-BREAK SPACE}%")
    out.paragraph(sentence, "bold" if answer.is_answered else "bold red")
    out.print()
    _parts(answer, out)
    out.print()
    for line in _facts(answer):
        out.paragraph(line, indent="  ")
    if answer.done:
        out.print()
        _alternatives(answer, out)
    if len(answer.found["batteries"]) > 1:
        out.print()
        _batteries(answer, out)
    _about(answer, out)


def _parts(answer: lives.Answer, out: Terminal) -> None:
    told = answer.found
    table = Table([Column("a day", right=False), Column("mJ"), Column("mAh"), Column("share")])
    table.add(("What it is for", "bold cyan"))
    doing = lives.link_layer(answer.scenario)
    parts = lives.energy_parts(told, answer.battery)
    always = ("handshakes", "requests") if lives.has_handshakes(told) else ("requests",)
    for part in parts:
        if not part["mah"] and part["name"] not in always:
            continue
        label = words.part(part["name"], doing)
        mj = "" if part["mj"] is None else _number(part["mj"])
        table.add(f"  {label}", mj, _number(part["mah"]), words.share(part["share"]))
    life = told["life"]
    mah = _number(sum(part["mah"] for part in parts))
    table.add("  all of it", _number(life["energy_a_day_mj"]), mah, "100 %")
    table.add(("What the device does", "bold cyan"))
    days = life["seconds"] / DAY_S
    total = sum(life["energy"].values()) or 1.0
    own = answer.own(told)["life"] or {}
    charge = own.get("charge_a_day_mah", 0.0)
    all_charge = charge + own.get("self_discharge_a_day_mah", 0.0) or 1.0
    for state, label in report.STATES.items():
        if mj := life["energy"][f"{state}_mj"]:
            taken = charge * mj / total
            share = words.share(taken / all_charge)
            table.add(f"  {label}", _number(mj / days), _number(taken), share)
    table.print(out)


def _facts(answer: lives.Answer) -> Iterator[str]:
    """Further facts of the life."""
    told = answer.found
    life, counts = told["life"], told["life"]["counts"]
    days = life["seconds"] / DAY_S
    yield _requests(life, days)
    if latency := life["latency_s"]:
        p50, p95, p99, most = (latency[key] for key in ("p50", "p95", "p99", "max"))
        yield (
            f"Latency of a request: {seconds(p50)} (median), {seconds(p95)} (95 %),"
            f" {seconds(p99)} (99 %), {seconds(most)} at most"
        )
    full, resumed = counts["handshakes_full"], counts["handshakes_resumed"]
    if (each := lives.handshake_mj(told)) is not None:
        idle = life["purposes"]["idle_mj"] / life["seconds"]
        kinds = [f"{full:,} full" if full else "", f"{resumed:,} resumed" if resumed else ""]
        line = f"Handshakes: {' and '.join(filter(None, kinds))}; {_number(each)} mJ each"
        if idle > 0 and each > 0:
            line += f", as much as {time(each / idle)} of doing nothing"
        answered = counts["requests"] - counts["failed"]
        if each > 0 and life["purposes"]["requests_mj"] > 0 and answered:
            one = life["purposes"]["requests_mj"] / answered
            line += f", or as {each / one:,.1f} requests"
        if failed := counts["handshakes_failed"]:
            line += f"; {failed:,} failed"
        yield line
    if alive := counts["keep_alives"]:
        yield f"Keep-alives: {alive / days:,.1f} a day; {counts['keep_alives_failed']:,} failed"
    yield f"On the air, over all hops: {life['octets_a_day']:,.0f} B a day"


def _requests(life: Mapping[str, Any], days: float) -> str:
    counts = life["counts"]
    asked, failed = counts["requests"], counts["failed"]
    rate = asked / days
    often = f"{rate:.3g}" if rate < 1000 else f"{rate:,.0f}"
    line = f"Requests: {often} a day; {asked - failed:,} of {asked:,} were answered"
    if left_out := counts["left_out"]:
        line += f"; {left_out:,} more were left out, because the client was still busy"
    return line


def _alternatives(answer: lives.Answer, out: Terminal) -> None:
    told = answer.found
    table = Table(
        [
            Column("instead", right=False, wraps=True),
            Column("lasts", right=False),
            Column("request, p95"),
            Column("handshakes"),
        ]
    )
    rows = [("as it is", told), *((choice.name, each) for choice, each in answer.done)]
    for name, each in rows:
        if each is not told and answer.compared(each) == "tie":
            name += " (a tie)"
        parts = {part["name"]: part for part in lives.energy_parts(each, answer.battery)}
        latency = each["life"]["latency_s"]
        p95 = seconds(latency["p95"]) if latency else "none"
        share = words.share(parts["handshakes"]["share"])
        table.add(name, lives.lasts(answer.own(each)), p95, share)
    table.print(out)
    if any(answer.compared(each) == "tie" for _, each in answer.done):
        remark = "a tie: the intervals overlap, or the lives differ by less than 1 %"
        out.paragraph(remark, "dim", first="  ", indent="    ")
    for choice, _ in answer.done:
        line = f"{choice.name}: {' '.join(choice.settings)}"
        out.paragraph(line, "dim", indent="    ", first="  ")


def _batteries(answer: lives.Answer, out: Terminal) -> None:
    table = Table(
        [
            Column("battery", right=False),
            Column("mAh"),
            Column("lasts", right=False),
            Column("assumed", right=False, wraps=True),
        ]
    )
    for name, each in answer.found["batteries"].items():
        own = each["life"] or {}
        capacity = f"{each['capacity_mah']:,.0f}"
        rests = list(each["assumed"])
        if own.get("needs_step_up"):
            rests.append("a step-up converter")
        if shelf_life := own.get("past_shelf_life_years"):
            rests.append(f"it works after {shelf_life:g} years, its shelf life")
        table.add(name, capacity, lives.lasts(each), ", ".join(rests))
    table.print(out)


def _about(answer: lives.Answer, out: Terminal) -> None:
    """The computation, and what rests on assumptions."""
    document = answer.document
    life = document["life"]
    about = answer.scenario.about()
    if answer.full:
        how = f"simulated event by event in the world of seed {answer.seed}: no interval"
    else:
        last = answer.seed + life["worlds"] - 1
        how = (
            f"estimated from {life['worlds']:,} worlds, seeds {answer.seed} to {last};"
            " the intervals are those of chance, not of constants"
        )
    lines = [
        f"{answer.scenario.path}, client {life['client']}, {time(life['seconds'])} {how}",
        about["session"],
        f"{about['devices']}: {about['network']}",
    ]
    lines += assumptions(document["assumed"])
    out.print()
    for line in map(escaped, lines):
        out.paragraph(line, "dim", first="  ", indent="    ")
    out.print(f"slowhand {slowhand.__version__}, repeat with:", "dim")
    report.show_command(command(answer), out)


def assumptions(assumed: Mapping[str, Any]) -> Iterator[str]:
    """The assumptions of a life, in sentences."""
    for kind, listing in (("device", "devices"), ("battery", "batteries")):
        for name, keys in assumed[kind].items():
            if keys:
                yield f"assumed of {name} (slowhand {listing} says why): {_listed(keys)}"
    yield from (f"assumed: {text}" for text in assumed["model"])


def _listed(keys: Sequence[str]) -> str:
    """The keys of constants. Of computing times, of which there are many, only how many."""
    names = [key for key in keys if "." not in key and not key.endswith("_us")]
    times = len(keys) - len(names)
    some = [f"{times} times of operations"] if times > 1 else ["the time of an operation"]
    return ", ".join([*names, *(some if times else [])])


def command(answer: lives.Answer) -> list[str]:
    """The command that repeats an answer, in words for a shell."""
    _, *rest = report.command_of(answer.scenario)
    life = answer.found["life"]
    count = ["--full"] if answer.full else [f"--count {life['worlds']}"]
    is_part = answer.full and answer.interrupted
    days = life["seconds"] / DAY_S if is_part else answer.days
    options = [
        f"--battery {report.quoted(answer.battery)}",
        f"--days {days:.9g}",
        f"--seed {answer.seed}",
        *([] if answer.client is None else [f"--client {answer.client}"]),
        *count,
    ]
    return ["slowhand battery", *rest, *options]


def seconds(value: float) -> str:
    """A time with three digits, or whole seconds."""
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"


def _number(value: float) -> str:
    """A number with three digits.

    >>> _number(1654.76), _number(0.0114), _number(122.8), _number(-0.5), _number(0.0)
    ('1,655', '0.0114', '123', '-0.500', '0')
    >>> _number(0.00000123)
    '1.23e-06'
    """
    if not value:
        return "0"
    if abs(value) < LEAST:
        return f"{value:.2e}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
