"""The report of `slowhand exec`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import slowhand
from slowhand import report
from slowhand.executing.result import Execution
from slowhand.table import Column, Table
from slowhand.terminal import Terminal, escaped, printable

MOST_FAILURES = 3
"""The most worlds that are shown of those that were not run to their end."""

LAST_LINES = 3
"""The lines that are shown of what a program that failed wrote last."""

ENDINGS = {
    "finished": "all clients had ended",
    "established": "all clients had their sessions",
    "quiet": "nothing was left that could happen",
    "duration": "--duration was over",
}
"""Why worlds end, in words."""


def show(execution: Execution, out: Terminal) -> None:
    """Prints what the programs did."""
    summary = execution.summary()
    if execution.stopped:
        out.print("Interrupted. What is complete:", "yellow")
    for failure in execution.failures[:MOST_FAILURES]:
        out.paragraph(f"seed {failure.seed}: {printable(failure.reason, 300)}", "red", indent="  ")
    if (more := len(execution.failures) - MOST_FAILURES) > 0:
        out.paragraph(f"{more:,} other worlds were not run to their end", "red")
    if summary["completed"] or summary["failed"]:
        of, over = what(execution), "the world ended"
        report.show_summary(summary, False, out, over=over, has_makespan=False, what=of)
    elif execution.worlds and any(told["is_client"] for told in execution.told):
        out.paragraph("No client has sent a datagram to the server.", "bold red")
    if execution.worlds:
        out.print()
    for line, style in _account(execution):
        out.paragraph(line, style, indent="    ")
    report.show_about(execution.scenario, _ran(execution), out, has_session=False)
    out.print(f"slowhand {slowhand.__version__}", "dim")


def account(execution: Execution) -> list[str]:
    """The actions of the programs, and whether they do them again, in lines."""
    return [line for line, _ in _account(execution)]


def _account(execution: Execution) -> Iterator[tuple[str, str]]:
    """The lines, with a style for each."""
    count = len(execution.worlds)
    if execution.worlds:
        if execution.successes is not None:
            line = f"success in {execution.successes:,} of {count:,} worlds, as the scenario asks"
            yield line, "bold" if execution.successes == count else "bold red"
        yield from _programs(execution)
    for note in execution.notes:
        text = f"{note['program']}: {note['what']} ({note['worlds']:,} of {count:,} worlds)"
        yield text, "red" if note["differs"] else "yellow"
    yield _verdict(execution)


def told(execution: Execution, capture: object = None) -> str:
    """The account in one text, with what ran, for a test that has failed."""
    lines = [f"{execution.scenario.path}, {report.seeds(execution)}"]
    lines += execution.panicked[:MOST_FAILURES]
    summary = execution.summary()
    if summary["completed"] or summary["failed"]:
        lines.append(report.outcomes(summary, what(execution)))
    lines += account(execution)
    return "\n".join([*lines, *([] if capture is None else [f"capture  {capture}"])])


def what(execution: Execution) -> str:
    """The subject of the rows. Without DTLS a row is of all that two programs said."""
    return "handshakes" if all(row["secure"] for row in execution.rows()) else "conversations"


def show_slowest(execution: Execution, out: Terminal) -> None:
    """Prints the datagrams of the slowest conversation, and who waited for what."""
    slowest = execution.slowest()
    if slowest is None:
        return
    world, conversation = slowest
    record = conversation["record"]
    end_s = record["start_s"] + record["duration_s"]
    sent = [each for each in conversation["datagrams"] if each["sent_s"] <= end_s]
    out.print()
    heading = f"The slowest: seed {world['seed']}, client {record['client']}"
    out.print(f"{heading}, {record['duration_s']:.3f} s", "bold cyan")
    columns = [
        Column("at, s"),
        Column("from", right=False),
        Column("messages", right=False, wraps=True),
        Column("octets"),
        Column("took, s"),
        Column("", right=False),
    ]
    table = Table(columns)
    for each in sent:
        took = each["arrived_s"] and f"{each['arrived_s'] - each['sent_s']:.3f}"
        again = "again" if each["again"] else ""
        at = f"{each['sent_s'] - record['start_s']:.3f}"
        cells = (at, each["from"], escaped(each["messages"]), f"{each['octets']:,}", took or "lost")
        table.add(*cells, again)
    table.print(out)
    waited = silence(sent, record["start_s"], end_s)
    on_their_way = record["duration_s"] - waited
    text = f"For {on_their_way:.3f} s something was on its way. For {waited:.3f} s nothing was: the"
    out.paragraph(f"{text} programs computed, or waited for their own timers.")
    for line, _ in report.losses(_placed(record["losses"])):
        out.paragraph(line, "yellow", indent="  ")


def silence(sent: list[dict[str, Any]], start_s: float, end_s: float) -> float:
    """For how long nothing was on its way between two times. What is lost is not on its way."""
    silent, known = 0.0, start_s
    for each in sent:
        if each["arrived_s"] is None:
            continue
        silent += max(0.0, each["sent_s"] - known)
        known = max(known, min(each["arrived_s"], end_s))
    return silent + max(0.0, end_s - known)


def _placed(losses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The losses of a record, as those of a summary."""
    more = {"key": None, "advice": None}
    places = ["internet" if loss["node"] is None else loss["node"] for loss in losses]
    return [{**more, **loss, "node": place} for loss, place in zip(losses, places, strict=True)]


def _programs(execution: Execution) -> list[tuple[str, str]]:
    """A line for each program, and what it said if it failed."""
    lines = []
    for place, told in enumerate(execution.told):
        found = [world["programs"][place] for world in execution.worlds]
        ends = Counter(_end(each) for each in found)
        where = "on the Internet" if told["node"] is None else f"at node {told['node']}"
        counts = ", ".join(f"{end} in {count:,}" for end, count in ends.most_common())
        if told["has_success"]:
            done = sum(each["success"] for each in found)
            counts += f"; did what it was to do in {done:,} of {len(found):,}"
        lines.append((f"{told['name']} {where}: {escaped(counts)}", ""))
        failed = (each for each in found if _has_failed(each))
        if first := next(failed, None):
            said = (first["stderr"] or first["stdout"]).strip().splitlines()[-LAST_LINES:]
            lines += [(f"    {printable(line, 200)}", "yellow") for line in said]
    return lines


def _has_failed(program: dict[str, Any]) -> bool:
    """True if a program did not what it was to do, or ended with an error that nobody expects."""
    if program["success"] is not None:
        return not program["success"]
    return program["exit"] not in (None, {"code": 0})


def _end(program: dict[str, Any]) -> str:
    exit = program["exit"]
    if program["started_s"] is None:
        return "not started"
    if exit is None:
        return "running at the end"
    return f"exit code {exit['code']}" if "code" in exit else f"ended by signal {exit['signal']}"


def _verdict(execution: Execution) -> tuple[str, str]:
    """Whether another run gives the same."""
    ran = f"seed {execution.seed} ran {_times(execution.again + 1)}"
    if execution.reproducible is None:
        return "reproducible: not known, the first seed was not run again to its end", "yellow"
    if execution.reproducible:
        return f"reproducible: yes; {ran}, with the same packets, times and outputs", ""
    if execution.doubts:
        return "reproducible: not certain, because of what is said above", "red"
    return f"reproducible: no; {ran}, and packets, times or outputs differ", "red"


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count:,} times"


def _ran(execution: Execution) -> list[str]:
    """The worlds and how they ran, in lines."""
    worlds = execution.worlds
    if not worlds:
        return []
    total = sum(world["virtual_s"] for world in worlds)
    took = f"{total:,.0f} s of the network in {execution.wall_s:.1f} s"
    lines = [f"{report.seeds(execution)}: {took}"]
    ends = Counter(world["ending"] for world in worlds)
    lines += [f"{count:,} ended when {ENDINGS[end]}" for end, count in ends.most_common()]
    computing = {told["name"]: told["compute_s"] for told in execution.told if told["compute_s"]}
    if computing:
        each = ", ".join(f"{name} {seconds:g} s" for name, seconds in computing.items())
        lines.append(f"before each answer computes: {each}; nothing else takes virtual time")
    else:
        lines.append("computing takes no virtual time")
    return lines
