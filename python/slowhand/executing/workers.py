"""The processes that run worlds, one for each processor, and their answers."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from slowhand.api import Scenario, processors
from slowhand.closing import Closing
from slowhand.executing.programs import Limits

GRACE_S = 30.0
"""The time beyond its bound after which the process of a world is ended. Assumed."""


class Failure(NamedTuple):
    """A world that was not run to its end."""

    seed: int
    reason: str


class Refused(OSError):
    """The machine lacks something. The message says what to do."""


class Workers(Closing):
    """Runs worlds side by side. All processes end with it, and their programs with them."""

    def __init__(
        self,
        scenario: Scenario,
        limits: Limits,
        capture: str | None,
        *,
        threads: int | None,
        explain: int | None = None,
    ):
        """`explain` is the client whose handshake each world explains."""
        self._run = {**limits.told(), "explain": explain}
        self._sources = scenario.sources
        self._told = ""
        self._patience = limits.wall_s + GRACE_S
        self._capture = capture
        self._threads = threads or processors()
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._ends = False

    def close(self) -> None:
        """Ends the processes."""
        with self._lock:
            self._ends = True
            for process in self._processes:
                process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with suppress(OSError):  # it may have something that nobody has taken
                        pipe.close()

    def run(
        self,
        seeds: Iterable[tuple[int, int]],
        add: Callable[[int, dict[str, Any] | Failure], None],
    ) -> None:
        """Runs worlds: for each number its seed. Calls `add` with each result, as it comes.

        The world with the number 0 is captured. Raises `Refused`.
        """
        todo: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        count = 0
        for each in seeds:
            todo.put(each)
            count += 1
        done: queue.SimpleQueue[tuple[int, dict[str, Any] | Failure] | Refused] = (
            queue.SimpleQueue()
        )
        worlds = max(1, min(self._threads, count))
        # Processors that worlds side by side leave are for the hosts of each of them.
        run = {**self._run, "threads": max(1, self._threads // worlds)}
        self._told = json.dumps({"sources": self._sources, "folder": "", "run": run})
        for _ in range(worlds):
            threading.Thread(target=self._work, args=(todo, done), daemon=True).start()
        for _ in range(count):
            result = _next(done)
            if isinstance(result, Refused):
                raise result
            add(*result)

    def _work(self, todo: queue.SimpleQueue[Any], done: queue.SimpleQueue[Any]) -> None:
        """One process after the other: a process that has died is replaced."""
        process: subprocess.Popen[str] | None = None
        while True:
            try:
                number, seed = todo.get_nowait()
            except queue.Empty:
                break
            try:
                process = process or self._start()
                done.put((number, self._ask(process, number, seed)))
            except Refused as refused:
                done.put(refused)
                break
            except (OSError, ValueError) as error:
                if process:
                    process.kill()
                    process.wait()
                process = None
                done.put((number, Failure(seed, f"the process of the world died ({error})")))
        if process and process.stdin:
            process.stdin.close()

    def _start(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._ends:
                raise Refused("interrupted")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "slowhand.executing.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is for the command line, which ends it
            )
            self._processes.append(process)
        answer = self._exchange(process, self._told)
        if "refused" in answer:
            raise Refused(answer["refused"])
        return process

    def _ask(
        self, process: subprocess.Popen[str], number: int, seed: int
    ) -> dict[str, Any] | Failure:
        capture = self._capture if number == 0 else None
        answer = self._exchange(process, json.dumps({"seed": seed, "capture": capture}))
        return Failure(seed, answer["error"]) if "error" in answer else answer

    def _exchange(self, process: subprocess.Popen[str], line: str) -> dict[str, Any]:
        """Sends a line, and reads the answer. A process that is late is ended."""
        assert process.stdin
        assert process.stdout
        timer = threading.Timer(self._patience, process.kill)
        timer.start()
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            timer.cancel()
        if not answer:
            raise ValueError(f"exit code {process.wait()}")
        found: dict[str, Any] = json.loads(answer)
        return found


def _next(done: queue.SimpleQueue[Any]) -> Any:
    """The next result. Python handles signals meanwhile."""
    while True:
        try:
            return done.get(timeout=0.1)
        except queue.Empty:
            pass
