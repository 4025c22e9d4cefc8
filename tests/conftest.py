"""The command line in a process of its own, as a user runs it, which the tests share."""

from __future__ import annotations

import functools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import needs

if TYPE_CHECKING:
    from test_pages_in_browser import Browser

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "scenarios" / "quickstart.toml"

# The package without the launcher: ./test has set everything up.
COMMAND = [sys.executable, "-P", "-m", "slowhand"]

# Who starts the tests in the background lets them ignore these, and so would all that they start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.addaudithook(needs.refuse_others)

# Users have a buffer at stdout, which may be left full. Python keeps what it has compiled, as
# tools/setup.sh says.
os.environ.pop("PYTHONUNBUFFERED", None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The stacks of who runs the tests are no part of them. (This is no folder.)
os.environ["SLOWHAND_STACKS"] = os.devnull
sys.dont_write_bytecode = False

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


@pytest.fixture
def handlers() -> Iterator[None]:
    """Keeps the handlers of signals, which a command replaces."""
    from slowhand import signals

    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, for the tests of a file."""
    from test_pages_in_browser import started

    yield from started(tmp_path_factory.mktemp("chromium"))


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Chromium for one test. After it the console is empty, and nothing was loaded."""
    chromium.colours("light")
    yield chromium
    chromium.wide()
    assert chromium.driver.get_log("browser") == []  # type: ignore[no-untyped-call]
    assert chromium.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []


def until_signals_are_handled(process: subprocess.Popen[Any]) -> None:
    """Waits for the first lines of the program. Python has a traceback of its own before them.

    They handle SIGHUP last, and Python itself never does.
    """
    bit = 1 << signal.SIGHUP - 1
    status = Path(f"/proc/{process.pid}/status")
    while True:
        caught = next(line for line in status.read_text().splitlines() if "SigCgt" in line)
        if int(caught.split()[1], 16) & bit:
            return
        assert process.poll() is None, "it ended before"
        time.sleep(0.001)


def needs_exec() -> pytest.MarkDecorator:
    """Leaves tests out where `slowhand exec` cannot run.

    A container may have no /dev/net/tun, no namespaces, or an old kernel.
    """
    lacks = exec_lacks()
    return pytest.mark.skipif(bool(lacks), reason=lacks)


@contextmanager
def load() -> Iterator[None]:
    """Keeps all processors busy meanwhile."""
    busy = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
        for _ in range(2 * len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def with_files_of_at_most(
    octets: int, *arguments: str | int | Path, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs the command line as on a full disk: writing more to a file is an error (EFBIG).

    -B: Python keeps nothing that it has compiled. Half of that would stay, which nobody can read.
    """
    return subprocess.run(
        [sys.executable, "-B", *COMMAND[1:], *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets)),
        capture_output=True,
        text=True,
        **options,
    )


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


ASK_EXEC = "from slowhand import _native; _native.prepare_exec()"
"""Asks for all that `slowhand exec` needs. This changes the process."""


@functools.cache
def exec_lacks() -> str:
    """The needs of `slowhand exec` that this machine does not fulfil, in words."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", ASK_EXEC], capture_output=True, text=True, check=False
    )
    assert not done.returncode or "OSError: " in done.stderr, done.stderr
    return done.stderr.rpartition("OSError: ")[2].strip()
