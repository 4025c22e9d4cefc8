"""A process that runs worlds with programs, one after the other. It reads and writes lines of JSON.

The first line says what is run, each other one is a seed. It begins with one thread: a namespace of
users needs that.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from slowhand import _native


def main() -> None:
    """Answers until there are no more seeds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this ends it
    told = json.loads(sys.stdin.readline())
    try:
        _native.prepare_exec()
        scenario = _native.Scenario.from_sources(json.dumps(told["sources"]), told["folder"])
    except (OSError, ValueError) as error:
        _say({"refused": str(error)})
        return
    _say({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        _say(_answer(scenario, told["run"], asked["seed"], asked["capture"]))


def _answer(
    scenario: _native.Scenario, run: dict[str, Any], seed: int, capture: str | None
) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(
            _native.exec(scenario, json.dumps({**run, "capture": capture}), seed)
        )
    except (OSError, ValueError) as error:
        return {"seed": seed, "error": str(error)}
    return found


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
