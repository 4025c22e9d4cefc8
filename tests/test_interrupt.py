"""Ctrl-C keeps and prints what is complete. A run shows its progress."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import COMMAND, QUICKSTART, ROOT, until_signals_are_handled
from slowhand import cli
from slowhand.arguments import Parser
from slowhand.output import replacing
from slowhand.progress import BAR, Progress

# More than a run can do before the signal arrives.
MANY = 10_000_000


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# One thread: other tests need the other cores.
RUN = ("run", str(QUICKSTART), "--count", str(MANY), "--threads", "1")


# The first lines of a program whose stdout, a pipe that nobody reads, takes nothing more.
FULL_STDOUT = """
import os
os.set_blocking(1, False)
try:
    while os.write(1, bytes(1)):
        pass
except BlockingIOError:
    os.set_blocking(1, True)
"""


@contextmanager
def running(
    *arguments: str, stderr: int = subprocess.PIPE, ignored: signal.Signals | None = None
) -> Iterator[subprocess.Popen[str]]:
    """The command line while it runs many handshakes."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        preexec_fn=lambda: ignored and signal.signal(ignored, signal.SIG_IGN),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupt_when_it_speaks(
    process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT
) -> str:
    """Sends a signal after the first line of progress, and returns what is printed afterwards."""
    assert process.stderr
    progress = process.stderr.readline()
    assert re.fullmatch(
        r"slowhand: \d+ of \d+ worlds done(, [\d,.]+ a second, [\d:]+ left)?\n", progress
    )
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == 128 + number
    return output


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_prints_the_table_of_what_has_completed(number: signal.Signals) -> None:
    with running(*RUN) as process:
        output = interrupt_when_it_speaks(process, number)
    assert output.startswith("Interrupted. ")
    assert "duration" in output


def test_ctrl_c_keeps_the_records_of_what_has_completed(tmp_path: Path) -> None:
    path = tmp_path / "records.parquet"
    with running(*RUN, "--json", "--records", str(path)) as process:
        result = json.loads(interrupt_when_it_speaks(process))
    kept = polars.read_parquet(path)
    assert result["interrupted"] is True
    assert 0 < result["completed"] + sum(result["failed"].values()) == len(kept) < MANY
    assert_frame_equal(kept.head(20), slowhand.run(QUICKSTART, count=20))


def test_a_long_run_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal, stderr = pty.openpty()
    with running(*RUN, stderr=stderr):
        os.close(stderr)
        drawn = ""
        while "worlds" not in drawn:
            drawn += os.read(terminal, 1024).decode(errors="replace")
    os.close(terminal)
    assert "\x1b[" in drawn


@pytest.mark.parametrize("count", ["1", "20"])
def test_a_short_run_says_nothing(count: str) -> None:
    command = [*COMMAND, "run", str(QUICKSTART), "--count", count]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As nohup does with SIGHUP."""
    with running(*RUN, ignored=signal.SIGHUP) as process:
        assert process.stderr
        assert "worlds done" in process.stderr.readline()
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 128 + signal.SIGTERM


def test_a_file_that_needs_another_run_is_told_to_be_missing(tmp_path: Path) -> None:
    with running(*RUN, "--pcap", str(tmp_path / "x")) as process:
        assert process.stderr
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert output.startswith("Interrupted. ")
    assert errors == f"slowhand: --pcap {tmp_path}/x: not written: interrupted\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_an_impatient_user_leaves_no_traceback(tmp_path: Path) -> None:
    for _ in range(5 if "SLOWHAND_FULL" in os.environ else 2):
        with running(*RUN, "--records", str(tmp_path / "r.parquet")) as process:
            assert process.stderr
            process.stderr.readline()
            for _ in range(20):
                process.send_signal(signal.SIGINT)
                time.sleep(0.002)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors in ("", "slowhand: interrupted\n")
        assert {entry.name for entry in tmp_path.iterdir()} <= {"r.parquet"}


def test_a_second_signal_does_not_keep_a_run_that_the_first_one_ends() -> None:
    # It comes when the run is about to be cancelled.
    program = f"""if True:
        import os, signal, sys, threading, slowhand
        from slowhand import cli, signals
        cancel = slowhand.Run.cancel
        def stopped(run):
            slowhand.Run.cancel = cancel
            raise signals.Stopped(signal.SIGINT)
        slowhand.Run.cancel = stopped
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        sys.exit(cli.execute({RUN!r}))"""
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")
    assert done.stdout.startswith("Interrupted. ")


def test_what_nobody_reads_does_not_keep_a_stopped_program() -> None:
    # Something is left in the buffer of stdout, a pipe that is full. Python flushes it at the end.
    program = """if True:
        import sys
        from slowhand import cli, signals
        sys.stdout.write("left")
        signals.finish()
        sys.exit(cli._interrupted(signals.Stopped(15)))"""
    command = [sys.executable, "-P", "-c", FULL_STDOUT + program]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=buffered) as process:
        try:
            assert process.wait(timeout=20) == 143
        finally:
            process.kill()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_report_that_nobody_reads_can_be_stopped(number: signal.Signals) -> None:
    # The pipe takes a part of the report at most, and nothing more.
    program = f"""if True:
        import sys
        from slowhand import cli, report
        show = report.show
        def told(*arguments):
            print("now", file=sys.stderr, flush=True)
            show(*arguments)
        report.show = told
        sys.exit(cli.execute(["run", {str(QUICKSTART)!r}, "--count", "1"]))"""
    command = [sys.executable, "-P", "-c", FULL_STDOUT + program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stderr
            assert process.stderr.readline() == "now\n"
            until = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < until:
                process.send_signal(number)
                time.sleep(0.3)
            assert process.poll() == 128 + number
            assert process.stderr.read() == "slowhand: interrupted\n"
        finally:
            process.kill()


def test_ctrl_c_works_while_a_file_is_written(tmp_path: Path) -> None:
    # A pipe that nobody reads: to open it takes forever.
    os.mkfifo(tmp_path / "pipe")
    arguments = ("run", str(QUICKSTART), "--count", "1", "--pcap", str(tmp_path / "pipe"))
    with running(*arguments) as process:
        assert process.stdout
        while "repeat with" not in process.stdout.readline():
            pass
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "slowhand: interrupted\n")


def test_ctrl_c_works_while_a_scenario_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with running("run", str(tmp_path / "pipe.toml")) as process:
        # A pipe without a reader cannot be opened so.
        writer = None
        while writer is None:
            with suppress(OSError):
                writer = os.open(tmp_path / "pipe.toml", os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        os.close(writer)
    assert (process.returncode, output, errors) == (130, "", "slowhand: interrupted\n")


def test_what_is_not_complete_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    for name in ("old", "new"):
        with pytest.raises(KeyboardInterrupt), replacing(tmp_path / name) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt
    assert [entry.name for entry in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"


PAPER = ("papers", "vucinic2015", "--count", str(MANY))


@pytest.mark.parametrize("number", SIGNALS)
def test_a_paper_keeps_its_complete_parts(number: signal.Signals) -> None:
    with running(*PAPER) as process:
        output = interrupt_when_it_speaks(process, number)
    # The first two tables are formulas; then comes the simulation.
    assert "Interrupted. Not complete, and not shown: tsch, fig2, fig3, memory, counts." in output
    assert "L = 1001, C = 1" in output
    assert "others: by construction 13 of 13" in output


def test_the_json_of_a_paper_says_what_is_missing() -> None:
    with running(*PAPER, "--json") as process:
        result = json.loads(interrupt_when_it_speaks(process))
    assert result["interrupted"] is True
    assert result["parts"] == ["table1", "table2"]
    assert result["missing"] == ["tsch", "fig2", "fig3", "memory", "counts"]
    assert {row["part"] for row in result["rows"]} == {"table1", "table2"}


@pytest.mark.parametrize("command", [COMMAND, [str(ROOT / "slowhand")]], ids=["module", "launcher"])
def test_ctrl_c_at_any_time_after_the_start_leaves_no_traceback(command: list[str]) -> None:
    for after_ms in range(0, 300, 20):
        process = subprocess.Popen(
            [*command, *RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until_signals_are_handled(process)
        time.sleep(after_ms / 1000)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors, after_ms
        assert process.returncode == 130, after_ms


def test_a_signal_that_makes_other_code_fail_is_still_a_signal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # `argparse` puts back in a `finally` what it has not saved yet.
    def read(parser: Parser, arguments: list[str]) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            raise AttributeError("save_nargs")

    before = {number: signal.getsignal(number) for number in SIGNALS}
    monkeypatch.setattr(Parser, "read", read)
    try:
        code = cli.execute(["run", str(QUICKSTART)])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert code == 128 + signal.SIGTERM
    assert capsys.readouterr() == ("", "slowhand: interrupted\n")


def test_a_signal_after_the_work_costs_no_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    real = slowhand.Run.summary

    def summary(run: slowhand.Run) -> dict[str, Any]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT):
            os.kill(os.getpid(), number)
        return real(run)

    monkeypatch.setattr(slowhand.Run, "summary", summary)
    try:
        code = cli.execute(["run", str(QUICKSTART), "--count", "2"])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    output, errors = capsys.readouterr()
    assert code == 128 + signal.SIGTERM
    assert output.startswith("2 of 2 handshakes completed")
    assert "repeat with" in output
    assert errors == ""


def test_an_error_is_said_before_the_next_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody reads it: to open it takes forever
    outputs = ("--records", "/dev/full", "--pcap", str(tmp_path / "pipe"))
    (tmp_path / "full.parquet").symlink_to("/dev/full")
    outputs = ("--records", str(tmp_path / "full.parquet"), *outputs[2:])
    with running("run", str(QUICKSTART), "--count", "1", *outputs) as process:
        assert process.stderr
        first = process.stderr.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert first.endswith("cannot be written: No space left on device\n")
    assert (process.returncode, errors) == (130, "slowhand: interrupted\n")


def test_progress_has_no_escape_codes_where_there_is_no_terminal() -> None:
    with running(*RUN) as process:
        assert process.stderr
        line = process.stderr.readline()
    assert line.rstrip("\n").isprintable()


@pytest.mark.parametrize(("done", "total"), [(0, 10), (5, 10), (200, 10), (1, 0)])
def test_a_bar_ends_at_its_end(done: int, total: int) -> None:
    line = Progress(total, "worlds")._bar(done, time.monotonic() + 60)
    assert line.index("]") == BAR + 1
    assert "-" not in line


SWALLOWED = """
import os, signal, time, weakref
from slowhand import signals

class Thing:
    pass

signals.stop_work()
thing = Thing()
there = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del thing
    time.sleep(60)
except signals.Stopped as stopped:
    print(stopped.number)
"""


def test_a_signal_in_a_callback_is_not_lost() -> None:
    """Python can raise nothing in a callback of a weak reference, as imports have them."""
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=30
    )
    assert (done.stdout, done.stderr) == (f"{int(signal.SIGTERM)}\n", "")
