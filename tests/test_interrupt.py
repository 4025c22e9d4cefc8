"""Ctrl-C keeps and prints what is complete. A run shows its progress."""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import COMMAND, QUICKSTART

# More than a run can do before the signal arrives.
MANY = 10_000_000


@contextmanager
def running(*arguments: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """The command line while it runs many handshakes."""
    command = [*COMMAND, "run", str(QUICKSTART), "--count", str(MANY), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupt_when_it_speaks(process: subprocess.Popen[str]) -> str:
    """Sends Ctrl-C after the first line of progress, and returns what is printed afterwards."""
    assert process.stderr
    assert f"of {MANY} handshakes" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == 130
    return output


def test_ctrl_c_prints_the_table_of_what_has_completed() -> None:
    with running() as process:
        output = interrupt_when_it_speaks(process)
    assert output.startswith("Interrupted. ")
    assert "duration" in output


def test_ctrl_c_keeps_the_records_of_what_has_completed(tmp_path: Path) -> None:
    path = tmp_path / "records.parquet"
    with running("--json", "--records", str(path)) as process:
        result = json.loads(interrupt_when_it_speaks(process))
    kept = polars.read_parquet(path)
    assert result["interrupted"] is True
    assert 0 < result["completed"] + sum(result["failed"].values()) == len(kept) < MANY
    assert_frame_equal(kept.head(20), slowhand.run(QUICKSTART, count=20))


def test_a_long_run_draws_a_bar_on_a_terminal() -> None:
    terminal, stderr = pty.openpty()
    with running(stderr=stderr):
        os.close(stderr)
        drawn = ""
        while "handshakes" not in drawn:
            drawn += os.read(terminal, 1024).decode(errors="replace")
    os.close(terminal)
    assert "\x1b[" in drawn


@pytest.mark.parametrize("count", ["1", "20"])
def test_a_short_run_says_nothing(count: str) -> None:
    command = [*COMMAND, "run", str(QUICKSTART), "--count", count]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
