"""Commands that run worlds of consecutive seeds and write rows share this."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from slowhand import signals
from slowhand.arguments import Parser
from slowhand.commands.common import (
    DONE,
    NO,
    check_worlds,
    is_written,
    loaded,
    print_json,
    show_wireshark,
    wireshark_json,
)
from slowhand.commands.options import SCENARIO_ALONE, File, given_files, take
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    import polars

    from slowhand.api import Scenario
    from slowhand.output import Output


class Found(Protocol):
    """The findings of a command."""

    scenario: Scenario
    stopped: BaseException | None

    def document(self) -> dict[str, Any]:
        """The answer as JSON has it."""
        ...

    def frame(self) -> polars.DataFrame:
        """The rows."""
        ...


def options(parser: Parser, count: int, what: str | None = None) -> None:
    """The scenario, `--count` and `--seed`."""
    from slowhand.api import SEED

    take(parser, "scenario", SCENARIO_ALONE)
    take(parser, "--count", what, default=count)
    take(parser, "--seed", default=SEED)


def begin(
    arguments: argparse.Namespace, files: Mapping[str, File]
) -> tuple[Scenario, dict[str, Output]]:
    """The scenario, and the files to write, after all checks."""
    scenario = loaded(arguments.scenario, arguments.set)
    found = given_files(arguments, files)
    check_worlds(scenario, found, arguments.seed, arguments.count)
    return scenario, found


def tell(
    found: Found,
    kind: str,
    show: Callable[[Terminal], None],
    capture: Callable[[Path], None],
    files: Mapping[str, Output],
    *,
    as_json: bool,
    out: Terminal,
) -> int:
    """Prints what was found, and writes `--records` and `--pcap`. Returns the exit code.

    `kind` says in the file of records what its rows are; `capture` writes frames.
    """
    from slowhand import results

    scenario, records, pcap = found.scenario, files.get("records"), files.get("pcap")
    with signals.held() as late:  # they cost no report
        if as_json:
            print_json({**found.document(), **wireshark_json(scenario, pcap)}, out)
        else:
            show(out)
    code = signals.exit_code(found.stopped, *late)
    written = True
    if records:
        about = {kind: True, "scenario": scenario.path, "overrides": scenario.overrides}
        octets = results.encoded(found.frame(), about, csv=records.path.endswith(".csv"))
        written &= is_written(records, lambda path: path.write_bytes(octets), private=False)
    if pcap and not code:
        captured = is_written(pcap, capture, private=True)
        written &= captured
        if captured and not as_json:
            show_wireshark(scenario, pcap, out)
    return code or (DONE if written else NO)
