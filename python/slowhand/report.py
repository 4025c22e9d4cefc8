"""The report of a run: outcomes, one row for each metric, what was lost, and what was run."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import slowhand
from slowhand import data
from slowhand.api import Run, Scenario
from slowhand.estimate import half
from slowhand.keys import toml
from slowhand.table import Cell, Column, Table
from slowhand.terminal import WIDTH, Terminal, escaped

if TYPE_CHECKING:
    from slowhand.executing import Execution

STATES = {
    "cpu": "CPU",
    "tpm": "TPM",
    "tx": "sending",
    "rx": "receiving",
    "listen": "idle listening",
    "startup": "radio starting",
    "idle": "radio ready",
    "sleep": "sleeping",
}
"""The states of a device as records name them, in words."""

METRICS = {
    "The handshake": {
        "duration_s": ("duration", "s"),
        "attempts": ("attempts", "handshakes"),
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
        "datagrams_proxy": ("sent by the proxy", "segments"),
        "datagrams_lost": ("lost", "datagrams"),
        "datagrams_waiting": ("waiting at the end", "datagrams"),
        "retransmissions_needed": ("resent, needed", "datagrams"),
        "retransmissions_spurious": ("resent, spurious", "datagrams"),
    },
    "Energy of the client": {
        "energy_client_mj": ("total", "mJ"),
        **{f"energy_client_{state}_mj": (label, "mJ") for state, label in STATES.items()},
    },
    "Energy of the server": {
        "energy_server_mj": ("total", "mJ"),
    },
    "The requests after the handshake": {
        "data_s": ("duration", "s"),
        "data_frames": ("data", "frames"),
        "data_bytes_phy": ("data", "B"),
        "data_datagrams": ("sent", "datagrams"),
        "data_bytes_payload": ("sent", "B"),
        "energy_client_data_mj": ("energy", "mJ"),
    },
    "Other traffic during the handshake": {
        "traffic_sent": ("sent", "datagrams"),
        "traffic_delivered": ("delivered", "datagrams"),
        "traffic_lost": ("lost", "datagrams"),
        "traffic_latency_mean_s": ("mean latency", "s"),
        "traffic_latency_p95_s": ("latency, p95", "s"),
    },
    "Most at any node": {
        "queue_peak": ("in the queue", "frames"),
        "reassembly_peak_bytes": ("in reassembly", "B"),
    },
}
"""The label and the unit of every metric, in the order of the report."""

IF_ANY = {
    *("frames_control", "bytes_control", "energy_client_tpm_mj", "datagrams_waiting"),
    *("energy_client_startup_mj", "energy_client_idle_mj"),
    *("datagrams_proxy", "energy_server_mj"),
    *("traffic_sent", "traffic_delivered", "traffic_lost"),
}
"""Metrics that only some scenarios have: shown only if one value is not zero."""

IF_SEVERAL = {"attempts"}
"""Metrics that are shown only if one value is more than one."""

FAILED = ("energy_client_mj", "compute_client_s", "frames", "datagrams")
"""The metrics that are shown of handshakes that failed, beside those that completed."""

GIVE_UP = "session.give_up_s was over"
"""When a handshake gives up: it has no failure of its own."""

COLUMNS = {
    "mean": Column("mean"),
    "ci95": Column("± 95 %"),
    "min": Column("min", optional=1),
    "p50": Column("p50"),
    "p95": Column("p95"),
    "p99": Column("p99", optional=2),
    "max": Column("max"),
}
"""A column for each statistic. 80 columns have no room for the optional ones."""

LARGEST = 1e7
SMALLEST = 1e-4
"""Numbers from the one on or below the other are written with an exponent."""

Statistics = dict[str, Any]


def show(handshakes: Run, out: Terminal) -> None:
    """Prints the report of a run."""
    show_summary(handshakes.summary(), handshakes.complete < handshakes.count, out)
    show_about(handshakes.scenario, [_ran(handshakes)], out)
    out.print(f"slowhand {slowhand.__version__}, repeat with:", "dim")
    show_command(command(handshakes), out)


def show_summary(
    summary: dict[str, Any],
    interrupted: bool,
    out: Terminal,
    *,
    over: str = GIVE_UP,
    has_makespan: bool = True,
    what: str = "handshakes",
) -> None:
    """Prints what came out: outcomes, why handshakes failed, the metrics, what was lost.

    `over` says when those that gave up had no more time. `has_makespan`: the clients began
    together, so that the time until the last one was done means something.
    """
    if interrupted:
        out.print("Interrupted. What is complete:", "yellow")
    none = summary["failed"] and not summary["completed"]
    out.paragraph(outcomes(summary, what), "bold red" if none else "bold")
    if has_makespan and (line := makespan(summary)):
        out.paragraph(line)
    for line in failures(summary, over=over):
        out.paragraph(line, "red", first="  ", indent="    ")
    if table := metrics(summary, what):
        out.print()
        table.print(out)
    if summary["losses"]:
        out.print()
        out.print("Datagrams lost", "bold cyan")
        for line, is_limit in losses(summary["losses"]):
            out.paragraph(line, "yellow" if is_limit else "", first="  ", indent="    ")


def show_about(
    scenario: Scenario, ran: Sequence[str], out: Terminal, *, has_session: bool = True
) -> None:
    """Prints how the network `ran`, in lines, and what the scenario is."""
    about = scenario.about()
    lines = [*ran, about["session"]] if has_session else [*ran]
    lines.append(f"{about['devices']}: {about['network']}")
    assumed = [f"{len(names)} of {device}" for device, names in about["assumed"].items() if names]
    if assumed:
        lines.append(f"constants assumed (slowhand devices NAME shows why): {', '.join(assumed)}")
    out.print()
    for line in map(escaped, lines):
        out.paragraph(line, "dim", indent="  ")


REPLACED = (
    "The sources of the built-in libraries are unmodified. By default the arithmetic that is called"
    " 'replaced' is not theirs: OpenSSL's assembly computes for all of them, and results are kept,"
    " which is faster and gives the same bits. With --set session.arithmetic=library each library"
    " computes with its own code."
)
"""The parts that are not the libraries' own; ARCHITECTURE.md names the test that holds the bits."""


def show_stacks(stacks: list[dict[str, Any]], out: Terminal) -> None:
    """Prints one block for each library."""
    for stack in stacks:
        out.print(stack["name"], "bold")
        for name, value in stack.items():
            if name == "holes":
                text = "not looked up" if value is None else holes(**value)
            else:
                text = escaped(", ".join(value) if isinstance(value, list) else str(value))
            if name == "name" or (stack.get("problem") and name != "problem"):
                continue
            if out.width < WIDTH:  # as wide as the name of a suite
                out.print(name)
                out.paragraph(text, first="  ", indent="  ")
            else:
                out.paragraph(text, first=f"{name:11}  ", indent=" " * 13)
        out.print()
    if any("digest" not in stack and "problem" not in stack for stack in stacks):  # built in
        out.paragraph(REPLACED)


SECTIONS = {
    "lowpan": "6LoWPAN",
    "tsch": 'mac.kind = "tsch"',
    "csma": 'mac.kind = "csma"',
    "join": "joining of TSCH networks",
}
"""The parts of a profile."""


def show_profiles(profiles: list[dict[str, Any]], out: Terminal) -> None:
    """Prints the numbers of all profiles side by side."""
    names = [Column(profile["name"].replace("-", "-\n", 1)) for profile in profiles]
    table = Table([Column(right=False), *names], repeated=1)
    for section, heading in SECTIONS.items():
        name = section if section in ("lowpan", "join") else "mac"
        table.add((f"[{name}] {heading}", "bold cyan"))
        numbers = [
            {each["key"]: _setting(each["value"]).strip('"') for each in profile[section] or ()}
            for profile in profiles
        ]
        for key in next(filter(None, numbers)):
            # Where a project has no such link layer, it has the numbers of the standards. The
            # heading has the section of the keys, so that a narrow terminal has room.
            name = key.partition(".")[2]
            table.add(name, *(own.get(key, ("as rfc", "dim")) for own in numbers))
    table.print(out)
    out.print()
    for profile in profiles:
        if kinds := profile["default_of"]:
            kind = " and ".join(kinds)
            out.paragraph(f"{profile['name']}: the default with mac.kind = {kind}", "dim")
    out.paragraph("slowhand profiles NAME: the file and line of each number", "dim")


def show_profile(profile: dict[str, Any], out: Terminal) -> None:
    """Prints the numbers of a profile, and where each was read."""
    out.print(profile["name"], "bold")
    out.paragraph(profile["version"], indent="  ")
    for section, heading in SECTIONS.items():
        out.print()
        out.print(heading, "bold cyan")
        if profile[section] is None:
            out.paragraph("none: the numbers are those of rfc", "dim", indent="  ")
        for number in profile[section] or ():
            out.print(f"  {number['key']} = {_setting(number['value'])}")
            out.paragraph(number["source"], "dim", first="    ", indent="      ")


def _setting(value: float | bool | str | None) -> str:
    """A value of a profile, as a file has it."""
    if value is None:
        return "no limit"
    return f"{value:g}" if isinstance(value, float) else toml(value)


def holes(known: Sequence[str], reached: Sequence[str]) -> str:
    """The number of known holes of a library, and those that can be reached."""
    if not known:
        return "none known"
    if not reached:
        return f"{len(known)} known, none can be reached; SECURITY.md says why"
    return f"{len(known)} known; SECURITY.md says how these can be reached: {', '.join(reached)}"


def show_bundled(bundled: Mapping[str, str], out: Terminal) -> None:
    """Prints each name with its introduction below."""
    for name, introduction in bundled.items():
        out.print(name, "bold")
        out.paragraph(introduction, first="  ", indent="  ")


def outcomes(summary: dict[str, Any], what: str = "handshakes") -> str:
    """The number of handshakes that completed, or of `what` else, and what became of the others."""
    completed, failed = summary["completed"], summary["failed"]
    total = completed + sum(failed.values())
    counts = [f"{completed:,} of {total:,} {what} completed"]
    counts += [f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in failed.items()]
    return ", ".join(counts)


def makespan(summary: dict[str, Any]) -> str | None:
    """The time until every client of a world was done. None: there is one client only."""
    if not (span := summary.get("makespan")):
        return None
    worlds, seconds = span["worlds"], span["makespan_s"]
    clients = (summary["completed"] + sum(summary["failed"].values())) // worlds
    if span["completed"] == worlds:
        text = f"all {clients:,} clients of a world had their sessions"
    else:
        text = f"the last of {clients:,} clients had its session or had given up for good"
    text += f" {number(seconds['mean'], seconds['max'])} s after the first one asked"
    if worlds == 1:
        return text
    least, most = (number(seconds[key], seconds["max"]) for key in ("min", "max"))
    return f"{text} (mean of {worlds:,} worlds, ± {_interval(seconds)}; {least} to {most} s)"


def failures(summary: dict[str, Any], *, over: str = GIVE_UP) -> Iterator[str]:
    """A line for each reason for which handshakes failed, if there is more to say than that."""
    for failure in summary["failures"]:
        if failure["end"] or failure["reason"] or failure["outcome"] == "gave_up":
            yield _failure(failure, over)


def metrics(summary: dict[str, Any], what: str = "handshakes") -> Table | None:
    """One row for each metric. None: no handshake has ended."""
    groups = _groups(summary, what)
    return _table(groups) if groups else None


def _failure(failure: dict[str, Any], over: str) -> str:
    """Why handshakes failed, in the words of the library or of TCP."""
    text = f"{failure['count']:,} {failure['outcome'].replace('_', ' ')}"
    if failure["end"]:
        text += f" at the {failure['end']}"
    elif failure["outcome"] == "gave_up":
        text += f": not complete when {over}"
    return f"{text}: {escaped(failure['reason'])}" if failure["reason"] else text


def losses(found: Sequence[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    """A line for each reason, the most frequent first, and True if another value helps."""
    reasons: dict[tuple[str, str | None, str | None], list[dict[str, Any]]] = {}
    for loss in found:
        reasons.setdefault((loss["reason"], loss["key"], loss["advice"]), []).append(loss)
    counts = {reason: sum(loss["count"] for loss in alike) for reason, alike in reasons.items()}
    for (reason, key, advice), alike in sorted(reasons.items(), key=lambda item: -counts[item[0]]):
        text = "lost" if reason == "internet" else reason.replace("_", " ")
        text += f" {_place(alike[0]['node'])}"
        if len(alike) > 1:
            text += f" and {len(alike) - 1:,} other node{'s' if len(alike) > 2 else ''}"
        times = counts[reason, key, advice]
        text += ", once" if times == 1 else f", {times:,} times"
        text += _holders(alike)
        if key:
            text += f": {advice} {key}" if advice else f": {key} asks for it"
        yield text, bool(advice)


def _holders(losses: Sequence[dict[str, Any]]) -> str:
    """Whether the reassembly buffers that were full waited for fragments that were lost."""
    every = [loss["holders"] for loss in losses if "holders" in loss]
    datagrams, lost = (sum(holders[name] for holders in every) for name in ("datagrams", "lost"))
    if not lost:
        return ""
    return (
        f" ({lost:,} of the {datagrams:,} buffers were held by datagrams that had lost a fragment; "
        "lowpan.reassembly_timeout_s says for how long)"
    )


def _place(node: int | str) -> str:
    if node == "internet":
        return "on the Internet"
    return "at the border router" if node == 0 else f"at node {node}"


Row = tuple[str, str, Statistics]
"""The label, the unit and the statistics."""


def _groups(summary: dict[str, Any], what: str) -> dict[str, list[Row]]:
    """The rows to show: of the completed handshakes, or of those that failed if none completed."""
    completed = _of(summary["completed"], summary["metrics"])
    failed = _of(sum(summary["failed"].values()), summary["metrics_failed"])
    if not summary["completed"]:
        groups = _rows(failed)
        return {f"{name} (failed {what})": rows for name, rows in groups.items()}
    groups = _rows(completed)
    if failed:
        rows = {row[0]: row for rows in METRICS.values() for row in rows.items()}
        labels = {"energy_client_mj": "client's energy", "datagrams": "datagrams sent"}
        groups[f"Failed {what}"] = [
            (labels.get(name, rows[name][1][0]), rows[name][1][1], failed[name])
            for name in FAILED
            if name in failed
        ]
    return groups


def _of(handshakes: int, metrics: Mapping[str, Statistics]) -> Mapping[str, Statistics]:
    """The statistics to show of so many handshakes. One alone has values, and nothing else."""
    if handshakes > 1:
        return metrics
    return {
        name: {"mean": row["mean"], "max": row["max"], "ci95": None}
        for name, row in metrics.items()
    }


def _rows(metrics: Mapping[str, Statistics]) -> dict[str, list[Row]]:
    groups = {
        group: [
            (label, unit, metrics[name])
            for name, (label, unit) in rows.items()
            if name in metrics and _is_shown(name, metrics[name]["max"])
        ]
        for group, rows in METRICS.items()
    }
    return {group: rows for group, rows in groups.items() if rows}


def _is_shown(name: str, largest: float) -> bool:
    return largest > 1 if name in IF_SEVERAL else bool(largest) or name not in IF_ANY


def _table(groups: Mapping[str, Sequence[Row]]) -> Table:
    """The metrics. One handshake alone has values, and one world alone no interval."""
    every = [statistics for rows in groups.values() for _, _, statistics in rows]
    statistics = dict(COLUMNS)
    if all(row["ci95"] is None for row in every):
        del statistics["ci95"]
    if not any("p50" in row for row in every):
        statistics = {"mean": Column("")}
    label = Column(right=False, wraps=True)
    labels = [label, Column(right=False, style="dim")]
    table = Table([*labels, *statistics.values()], folded=len(labels))
    for group, rows in groups.items():
        table.add((group, "bold cyan"))
        for name, unit, row in rows:
            table.add(f"  {name}", unit, *_cells(row, unit, statistics))
    return table


def _cells(row: Statistics, unit: str, statistics: Mapping[str, Column]) -> Iterator[Cell]:
    counted = unit not in ("s", "mJ")
    for key in statistics:
        if key == "mean" or (key != "ci95" and "p50" in row):
            yield number(row[key], row["max"], whole=counted)
        elif key != "ci95" or row["ci95"] is None:
            yield ""
        else:
            yield _interval(row)


def number(value: float, largest: float, *, whole: bool = False) -> str:
    """A number with as many decimals as give the largest of its row four digits, at most six.

    `whole`: without decimals if it has none, as a count. Very large and very small numbers have an
    exponent.

    >>> number(4.31, 4.899), number(39.72, 46, whole=True), number(38, 46, whole=True)
    ('4.310', '39.72', '38')
    >>> number(1.5e9, 2e9), number(3.12e-06, 1e-05)
    ('1.500e9', '3.120e-6')
    """
    largest = abs(largest)
    if largest >= LARGEST or 0 < largest < SMALLEST:
        return _exponent(value, 3) if value else "0"
    if not largest or (whole and float(value).is_integer()):
        return f"{value:,.0f}"
    decimals = min(6, max(0, 3 - math.floor(math.log10(largest))))
    return f"{value:,.{decimals}f}"


def _exponent(value: float, decimals: int) -> str:
    mantissa, _, exponent = f"{value:.{decimals}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _interval(row: Statistics) -> str:
    """Half of an interval, or the interval itself if it ends at 0: no metric is negative."""
    width = half(row)
    if width <= row["mean"]:
        return _two_digits(width) if width else ""
    return f"0..{_two_digits(row['ci95'][1])}"


def _two_digits(value: float) -> str:
    if not SMALLEST < value < LARGEST:
        return _exponent(value, 1)
    return f"{value:,.{max(0, 1 - math.floor(math.log10(value)))}f}"


def seeds(handshakes: Run | Execution) -> str:
    """The seeds of a run in words."""
    first, last = handshakes.seed, handshakes.seed + handshakes.count - 1
    return f"seed {first}" if first == last else f"seeds {first} to {last}"


def _ran(handshakes: Run) -> str:
    told = seeds(handshakes)
    if handshakes.complete < handshakes.count:
        told = f"{handshakes.complete:,} worlds of {told}"
    return f"{handshakes.scenario.path}, {told}, {handshakes.wall_s:.1f} s of wall time"


def command(handshakes: Run | Execution) -> list[str]:
    """The command that repeats the run, in words for a shell."""
    # Of a run that was interrupted, as many worlds as it has.
    worlds = [f"--seed {handshakes.seed}", f"--count {handshakes.complete or handshakes.count}"]
    if isinstance(handshakes, Run):
        return [*command_of(handshakes.scenario), *worlds]
    usual = type(handshakes.limits).of(handshakes.scenario)
    limits = handshakes.limits.options(usual)
    return [*command_of(handshakes.scenario, "exec"), *limits, *worlds]


def command_of(scenario: Scenario, command: str = "run") -> list[str]:
    """The command that runs a scenario, in words for a shell: the first is `slowhand run`."""
    path = Path(scenario.read_from)
    bundled = data.files(data.SCENARIOS).get(path.stem) == path
    name = path.stem if bundled else scenario.read_from
    if name.startswith("-"):
        name = f"./{name}"
    overrides = [f"--set {quoted(override)}" for override in scenario.overrides]
    return [f"slowhand {command}", quoted(name), *overrides]


def quoted(word: str) -> str:
    """A word for a shell. What cannot be printed is escaped (POSIX 2024: dollar-single-quotes)."""
    if all(c.isprintable() or "\udc80" <= c <= "\udcff" for c in word):
        return shlex.quote(word)
    octets = os.fsencode(word)
    plain = (chr(o) if 32 <= o < 127 and o not in b"\\'" else f"\\{o:03o}" for o in octets)
    return f"$'{''.join(plain)}'"


def show_command(words: Sequence[str], out: Terminal) -> None:
    """Prints a command of quoted words, on several lines for a shell if it is long."""
    line = " "
    for word in words:
        if len(line) + len(word) + 3 > out.width and line.strip():
            out.print(f"{line} \\", "dim")
            line = "   "
        line += f" {word}"
    out.print(line, "dim")
