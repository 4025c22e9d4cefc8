"""The report of a run as text: it fits, it cuts no number, and it says why handshakes fail."""

import io
import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import slowhand
from advising import PSK
from conftest import COMMAND, QUICKSTART, ROOT, Cli
from slowhand import report
from slowhand.table import Column, Table
from slowhand.terminal import WIDTH, Terminal


def statistics(
    mean: float, *, half: float | None = None, most: float | None = None
) -> dict[str, Any]:
    """A metric of which all values but the greatest are alike."""
    observed = dict.fromkeys(("mean", "min", "p50", "p95", "p99"), mean)
    # The laboratory's interval of what cannot be negative ends at 0.
    interval = None if half is None else [max(0.0, mean - half), mean + half]
    return {**observed, "max": mean if most is None else most, "ci95": interval, "half": half}


def summary(**changes: Any) -> dict[str, Any]:
    """The laboratory's words on 100 handshakes that all completed."""
    names = [name for rows in report.METRICS.values() for name in rows]
    return {
        "completed": 100,
        "failed": {},
        "failures": [],
        "losses": [],
        "metrics": {name: statistics(4.31, half=0.025, most=4.9) for name in names},
        "metrics_failed": {},
        **changes,
    }


def lines_of(found: dict[str, Any], width: int = 80) -> list[str]:
    printed = io.StringIO()
    report.show_summary(found, False, Terminal(printed, width=width, styled=False))
    return printed.getvalue().splitlines()


def row(lines: list[str], label: str) -> list[str]:
    """The cells of the first row with this label."""
    return next(line for line in lines if line.strip().startswith(label)).split()


def values(lines: list[str], label: str) -> list[str]:
    """The numbers of the first row with this label, beside it or below it."""
    first = next(i for i, line in enumerate(lines) if line.strip().startswith(label))
    cells = lines[first].split()[2:]
    for line in lines[first + 1 :]:
        if not line.startswith("    "):
            break
        cells += line.split()
    return cells


@pytest.mark.parametrize("width", [40, 80, 100, 120])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1, 1e5, 1e9])
def test_a_table_fits_and_cuts_no_number(width: int, scale: float) -> None:
    metric = statistics(1.234 * scale, half=0.56 * scale, most=8.765 * scale)
    found = summary(metrics=dict.fromkeys(summary()["metrics"], metric))
    lines = lines_of(found, width)
    assert max(map(len, lines)) <= width
    assert lines == [line.rstrip() for line in lines]
    cells = values(lines, "duration")
    shown = [float(cell.replace(",", "")) for cell in cells]
    assert shown[0] == pytest.approx(1.234 * scale, rel=0.001)
    assert shown[1] == pytest.approx(0.56 * scale, rel=0.05)
    assert shown[-1] == pytest.approx(8.765 * scale, rel=0.001)


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80])
def test_a_narrow_terminal_shows_what_one_of_eighty_columns_shows(width: int) -> None:
    metric = statistics(4.3105e5, half=0.025e5, most=4.9e5)
    found = summary(metrics=dict.fromkeys(summary()["metrics"], metric))
    wide, narrow = lines_of(found), lines_of(found, width)
    assert sorted(" ".join(narrow).split()) == sorted(" ".join(wide).split())
    assert max(map(len, narrow)) <= width
    assert narrow[-1] == "no room for: min, p99 (--json has them)"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_repeated_table_has_every_column_and_names_each_row_again(width: int) -> None:
    table = Table([Column("key"), *(Column(f"column\n{n}") for n in range(9))], repeated=1)
    table.add("1", *(f"{n}.25" for n in range(9)))
    printed = io.StringIO()
    table.print(Terminal(printed, width=width, styled=False))
    text = printed.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert [f"{n}.25" for n in range(9)] == [word for word in text.split() if ".25" in word]
    assert text.count("key") == text.count("\n\n") + 1


def test_a_wide_terminal_shows_more_columns() -> None:
    metric = statistics(4.31e5, half=0.025e5, most=4.9e5)
    found = summary(metrics=dict.fromkeys(summary()["metrics"], metric))
    headings = {width: lines_of(found, width)[2].split() for width in (40, 80, 120)}
    assert headings[80] == ["mean", "±", "95", "%", "p50", "p95", "max"]
    assert headings[120] == ["mean", "±", "95", "%", "min", "p50", "p95", "p99", "max"]
    assert headings[40][:5] == ["mean", "±", "95", "%", "p50"]


def test_words_are_wrapped_where_there_is_no_room_for_them() -> None:
    table = Table([Column(right=False, wraps=True), Column("number")])
    table.add("  a label of many words", "1,234,567,890")
    table.add("  short", "1")
    printed = io.StringIO()
    table.print(Terminal(printed, width=30, styled=False))
    assert printed.getvalue().splitlines() == [
        "                        number",
        "  a label of     1,234,567,890",
        "    many words",
        "  short                      1",
    ]


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (0.03, 0.06, ["0.03000", "0..0.090"]),
        (0.03, 0.03, ["0.03000", "0.030"]),
        (39.72, 0.41, ["39.72", "0.41"]),
        (8.0, 0.0, ["8", "8"]),
        (12_345_678.0, 1234.0, ["1.235e7", "1,234"]),
    ],
)
def test_no_interval_of_a_count_is_negative(mean: float, half: float, shown: list[str]) -> None:
    metrics = {"datagrams_lost": statistics(mean, half=half, most=mean)}
    cells = row(lines_of(summary(metrics=metrics)), "lost")[2:4]
    assert cells == shown


def test_the_laboratory_has_no_negative_interval_of_a_count(cli: Cli) -> None:
    rare = ("--set", "lowpan.frame_loss=0.005")
    metric = json.loads(cli("run", QUICKSTART, "--count", 10, *rare, "--json").stdout)["metrics"]
    lost = metric["datagrams_lost"]
    assert 0 < lost["mean"] < lost["half"], "else this shows nothing"
    assert lost["ci95"][0] == 0
    shown = row(cli("run", QUICKSTART, "--count", 10, *rare).stdout.splitlines(), "lost")[3]
    assert shown.startswith("0..")


def test_one_that_completed_among_many_has_the_headings_of_the_others() -> None:
    failed = dict.fromkeys(report.FAILED, statistics(75.5, half=1.0, most=80.0))
    alone = {"duration_s": statistics(4.267)}
    found = summary(completed=1, failed={"gave_up": 99}, metrics=alone, metrics_failed=failed)
    lines = lines_of(found)
    assert lines[2].split() == ["mean", "±", "95", "%", "min", "p50", "p95", "p99", "max"]
    assert row(lines, "duration") == ["duration", "s", "4.267"]
    assert row(lines, "client's energy")[3:] == ["75.50", "1.0", *["75.50"] * 4, "80.00"]


def test_one_that_failed_among_many_has_one_value() -> None:
    failed = dict.fromkeys(report.FAILED, statistics(75.5))
    lines = lines_of(summary(completed=99, failed={"gave_up": 1}, metrics_failed=failed), 120)
    assert row(lines, "client's energy") == ["client's", "energy", "mJ", "75.50"]


def test_one_handshake_has_values_and_one_world_no_interval() -> None:
    alone = {"duration_s": statistics(4.267), "frames": statistics(40.0)}
    lines = lines_of(summary(completed=1, metrics=alone))
    assert lines[0] == "1 of 1 handshakes completed"
    assert row(lines, "duration") == ["duration", "s", "4.267"]
    assert row(lines, "data") == ["data", "frames", "40"]
    assert "mean" not in "".join(lines)
    lines = lines_of(summary(completed=5, metrics=alone))
    assert "±" not in "".join(lines)
    assert row(lines, "duration") == ["duration", "s", *["4.267"] * 6]


FAILURES = [
    {
        "outcome": "alert",
        "end": "server",
        "reason": "mbedTLS -0x7780: SSL - A fatal alert message was received from our peer",
        "count": 60,
    },
    {"outcome": "gave_up", "end": None, "reason": "", "count": 40},
]
LOSSES = [
    {
        "reason": "reassembly_full",
        "node": 0,
        "count": 311,
        "key": "lowpan.reassembly_buffers",
        "advice": "raise",
        "holders": {"datagrams": 622, "lost": 0, "refused": 0},
    },
    {
        "reason": "reassembly_full",
        "node": 4,
        "count": 100,
        "key": "lowpan.reassembly_timeout_s",
        "advice": "lower",
        "holders": {"datagrams": 200, "lost": 150, "refused": 10},
    },
    {"reason": "queue_full", "node": 7, "count": 20, "key": "mac.queue", "advice": "raise"},
    {"reason": "queue_full", "node": 8, "count": 10, "key": "mac.queue", "advice": "raise"},
    {"reason": "queue_full", "node": 9, "count": 10, "key": "mac.queue", "advice": "raise"},
    {
        "reason": "internet",
        "node": "internet",
        "count": 5,
        "key": "server.internet_loss",
        "advice": None,
    },
    {"reason": "no_cell", "node": 2, "count": 3, "key": "mac.cells", "advice": "change"},
    {"reason": "no_route", "node": 3, "count": 1, "key": None, "advice": None},
]


def test_nothing_completed_says_why() -> None:
    failed = {"energy_client_mj": statistics(120.5, half=1.0), "frames": statistics(75.0, half=0.0)}
    found = summary(
        completed=0,
        failed={"alert": 60, "gave_up": 40},
        failures=FAILURES,
        losses=LOSSES,
        metrics={},
        metrics_failed=failed,
    )
    lines = lines_of(found)
    assert max(map(len, lines)) <= 80
    assert lines[0] == "0 of 100 handshakes completed, 60 alert, 40 gave up"
    assert lines[1:4] == [
        "  60 alert at the server: mbedTLS -0x7780: SSL - A fatal alert message was",
        "    received from our peer",
        "  40 gave up: not complete when session.give_up_s was over",
    ]
    assert "Energy of the client (failed handshakes)" in lines
    assert row(lines, "total")[2] == "120.5"
    place = lines.index("Datagrams lost")
    assert " ".join(" ".join(lines[place + 1 :]).split()) == (
        "reassembly full at the border router, 311 times: raise lowpan.reassembly_buffers"
        " reassembly full at node 4, 100 times (150 of the 200 buffers were held by datagrams that"
        " had lost a fragment; lowpan.reassembly_timeout_s says for how long): lower"
        " lowpan.reassembly_timeout_s"
        " queue full at node 7 and 2 other nodes, 40 times: raise mac.queue"
        " lost on the Internet, 5 times: server.internet_loss asks for it"
        " no cell at node 2, 3 times: change mac.cells"
        " no route at node 3, once"
    )


def test_some_that_failed_are_told_beside_those_that_completed() -> None:
    failed = dict.fromkeys(report.FAILED, statistics(75.5, half=1.0))
    found = summary(
        completed=98, failed={"gave_up": 2}, failures=FAILURES[1:], metrics_failed=failed
    )
    lines = lines_of(found)
    assert lines[0] == "98 of 100 handshakes completed, 2 gave up"
    after = lines[lines.index("Failed handshakes") :]
    assert row(after, "client's energy")[2:4] == ["mJ", "75.50"]


def test_styles_are_for_terminals_that_have_them(cli: Cli) -> None:
    def shown(**environment: str) -> str:
        terminal, stdout = pty.openpty()
        subprocess.run(
            [*COMMAND, "run", QUICKSTART, "--count", "2"],
            stdout=stdout,
            check=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
        )
        os.close(stdout)
        octets = b""
        try:
            while piece := os.read(terminal, 4096):
                octets += piece
        except OSError:  # Linux: nobody has the other side open any more
            pass
        os.close(terminal)
        return octets.decode()

    styled = shown()
    assert "\x1b[1m2 of 2 handshakes completed\x1b[0m" in styled
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        plain = shown(**environment)
        assert "\x1b" not in plain
        assert without_time(plain) == without_time(re.sub(r"\x1b\[[\d;]*m", "", styled))


def without_time(text: str) -> str:
    return re.sub(r"[\d.]+ s of wall time", "", text).replace("\r", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("run", "--help"),
        ("papers", "--help"),
        ("run", str(QUICKSTART), "--count", "2"),
        ("capacity", "--slots", "3", "--clients", "5", "--rho", "0.5"),
        ("papers", "vucinic2015", "table1"),
        ("papers", "claeys2021", "table3", "--count", "2"),
        ("papers",),
        ("stacks",),
        ("profiles",),
        ("profiles", "contiki-ng"),
        ("scenarios",),
        ("devices",),
        ("batteries",),
        ("battery", "battery", "--full", "--days", "1"),
        ("advise", str(PSK), "--choose", "session.timeout_s=3,9", "--budget", "480"),
    ],
)
def test_every_command_fits_its_terminal_in_ascii(arguments: tuple[str, ...]) -> None:
    for width in (80,) if arguments[0] == "advise" else (40, 80):
        check_that_it_fits(arguments, width)


def check_that_it_fits(arguments: tuple[str, ...], width: int) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    if width != WIDTH:
        environment["COLUMNS"] = str(width)
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        env={**environment, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )
    assert done.returncode in (0, 1)
    assert done.stderr == b""
    lines = done.stdout.decode("ascii").splitlines()
    assert lines
    # A word is not cut, so a long path, or the long name of a suite, has a line of its own.
    wide = [line for line in lines if len(line) > width]
    words = [line.split()[1:] if len(line.split()) > 1 else [] for line in wide]
    assert [line for line, w in zip(wide, words, strict=True) if w and str(ROOT) not in line] == []


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_columns_stand_below_each_other_in_every_encoding(encoding: str) -> None:
    octets = io.BytesIO()
    file = io.TextIOWrapper(octets, encoding=encoding, errors="slowhand")
    out = Terminal(file, width=34, styled=False)
    table = Table([Column("± 95 %", right=False), Column("Vučinić", right=False), Column("end")])
    table.add("1.0 ± 0.1", "µ", "1")
    table.add("2", "x", "2")
    table.print(out)
    out.paragraph("± " * 30)
    lines = octets.getvalue().decode(encoding).splitlines()
    ends = [line.rindex(last) for line, last in zip(lines, ("d", "1", "2"), strict=False)]
    assert len(set(ends)) == 1
    assert max(map(len, lines)) <= 34


def test_the_footer_has_the_command_that_repeats_the_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "my scenario.toml").write_text(QUICKSTART.read_text())
    arguments = (
        *("run", "my scenario.toml", "--set", "network.link_pdr=0.8", "--set", "mac.max_retries=3"),
        *("--set", 'session.psk_identity="it is"', "--seed", 7, "--count", 3),
    )
    first = cli(*arguments).stdout
    about, _, command = first.partition(f"slowhand {slowhand.__version__}, repeat with:\n")
    assert "seeds 7 to 9" in about
    assert max(map(len, command.splitlines())) <= 80
    command = command.strip().removeprefix("slowhand ")
    again = subprocess.run(
        ["sh", "-c", f'"$@" {command}', "sh", *COMMAND],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert without_time(again.stdout) == without_time(first)
    assert (
        " slowhand run quickstart --seed 5 --count 1\n"
        in cli(*("run", "quickstart", "--seed", 5, "--count", 1)).stdout
    )


@pytest.mark.parametrize("name", ["-x.toml", "a\x1b[31m\n'\\é.toml"])
def test_any_path_is_printed_harmlessly_and_repeats(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(QUICKSTART.read_text())
    first = cli("run", "--count", 1, "--", name).stdout
    assert "\x1b" not in first
    assert all(line.isprintable() for line in first.splitlines())
    command = first.partition("repeat with:\n")[2].strip().removeprefix("slowhand ")
    again = subprocess.run(
        ["bash", "-c", f'"$@" {command}', "sh", *COMMAND],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stdout.splitlines()[0] == first.splitlines()[0]


def test_a_run_of_which_nothing_completes_says_no(cli: Cli) -> None:
    hopeless = ("--set", "network.link_pdr=0.01", "--set", "session.give_up_s=30")
    done = cli("run", QUICKSTART, "--count", 2, *hopeless, code=1)
    assert done.stdout.startswith("0 of 2 handshakes completed, 2 ")
    cli("run", QUICKSTART, "--count", 2, *hopeless, "--json", code=1)
