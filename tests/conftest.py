"""What the tests share: the command line in a process of its own, as a user runs it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "scenarios" / "quickstart.toml"

# The package without the launcher: ./test has set everything up.
COMMAND = [sys.executable, "-P", "-m", "slowhand"]

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs the command line in an empty folder and checks the exit code."""

    def run(*arguments: str | int | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def the_message(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr that answers bad input."""
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def without_time(output: str) -> dict[str, Any]:
    """The JSON of a run without its wall time."""
    parsed: dict[str, Any] = json.loads(output)
    assert parsed.pop("wall_s") > 0
    return parsed
