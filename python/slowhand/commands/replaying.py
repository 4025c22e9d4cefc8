"""`slowhand run` of a recording of `slowhand live`."""

from __future__ import annotations

import argparse
from typing import Any

from slowhand import output
from slowhand.arguments import Complaint
from slowhand.commands.common import (
    DONE,
    NO,
    is_written,
    print_json,
    show_wireshark,
    warnings_said,
    wireshark_json,
)
from slowhand.commands.live import show_sessions, without_programs
from slowhand.output import Output
from slowhand.realtime.replaying import Replay, replay
from slowhand.terminal import Terminal

USED = ("seed", "set", "records", "pcap", "json")
"""The options that a recording has."""


def run(arguments: argparse.Namespace, outputs: dict[str, Output], out: Terminal) -> int:
    """Replays a recording, prints the results and writes the files."""
    for name, value in vars(arguments).items():
        if value and name not in (*USED, "scenario"):
            allowed = ", ".join(f"--{option}" for option in USED)
            raise Complaint(f"--{name}: found a recording of slowhand live, allowed: {allowed}")
    output.check(outputs.values(), [arguments.scenario])
    with warnings_said():
        replayed = replay(arguments.scenario, set=arguments.set, seed=arguments.seed)
    summary = without_programs(replayed.summary(), replayed.programs)
    if arguments.json:
        command = wireshark_json(replayed.scenario, outputs.get("pcap"))
        frames = {"frames": replayed.frames}
        print_json({**replayed.about(), **summary, **frames, **command}, out)
    else:
        _show(replayed, summary, out)
    written = [_is_written(name, file, replayed) for name, file in outputs.items()]
    if "pcap" in outputs and all(written) and not arguments.json:
        show_wireshark(replayed.scenario, outputs["pcap"], out)
    has_completed = summary["completed"] or not summary["failed"]
    return DONE if all(written) and has_completed else NO


def _show(replayed: Replay, summary: dict[str, Any], out: Terminal) -> None:
    from slowhand import report

    show_sessions(summary, "the network ended", out)
    ran = [f"{replayed.path} again, seed {replayed.seed}, {replayed.frames:,} frames"]
    if replayed.programs:
        ran.append(f"without what the programs compute ({', '.join(replayed.programs)})")
    report.show_about(replayed.scenario, ran, out, has_session=len(replayed.programs) < 2)


def _is_written(name: str, file: Output, replayed: Replay) -> bool:
    if name == "pcap":
        return is_written(file, replayed.capture, private=True)
    octets = replayed.encoded()
    private = replayed.scenario.holds_keys
    return is_written(file, lambda path: path.write_bytes(octets), private=private)
