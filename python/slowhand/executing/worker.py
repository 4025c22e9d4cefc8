"""A process that runs worlds with programs, one after the other. It reads and writes lines of JSON.

The first line says what is run, each other one is a seed. It begins with one thread: a namespace of
users needs that.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

from slowhand import _native


def main() -> None:
    """Answers until there are no more seeds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this ends it
    lines = _lines()
    told = next(lines, None)
    if told is None:
        return
    try:
        _native.prepare_exec()
        scenario = _native.Scenario.from_sources(json.dumps(told["sources"]), told["folder"])
    except (OSError, ValueError) as error:
        _say({"refused": str(error)})
        return
    _say({"ready": True})
    for asked in lines:
        _say(_answer(scenario, told["run"], asked["seed"], asked["capture"]))


def _lines() -> Iterator[Any]:
    """The lines that come. A part of a line is the last words of a process that was ended."""
    for line in sys.stdin:
        if line.endswith("\n"):
            yield json.loads(line)


def _answer(
    scenario: _native.Scenario, run: dict[str, Any], seed: int, capture: str | None
) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(
            _native.exec(scenario, json.dumps({**run, "capture": capture}), seed)
        )
    except (OSError, ValueError) as error:
        uncaptured = getattr(error, "strerror", None)  # only the error of a capture has it
        if capture and uncaptured:  # it costs no world
            return {**_answer(scenario, run, seed, None), "uncaptured": uncaptured}
        return {"seed": seed, "error": str(error)}
    return found


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(1)  # at its end Python would write again to whom nobody reads
