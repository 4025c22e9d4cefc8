"""`slowhand run`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import signals
from slowhand._native import ScenarioError
from slowhand.arguments import Parser
from slowhand.commands import explaining
from slowhand.commands.common import (
    DONE,
    LONGEST_PANIC,
    NO,
    check_alone,
    check_worlds,
    is_written,
    loaded_with,
    print_json,
    replaced,
    show_wireshark,
    warnings_said,
    watched,
    wireshark_json,
)
from slowhand.commands.options import PCAP, TABLE, File, given_files, rows, take, take_files
from slowhand.output import Output
from slowhand.terminal import Terminal, printable, say

if TYPE_CHECKING:
    from slowhand.api import Inspection, Run, Scenario
    from slowhand.explain import Explanation

ABOUT = "Run a scenario many times and print the results."
EXAMPLE = "quickstart --count 1000 --json"


def options(parser: Parser) -> None:
    """The options of `run`."""
    from slowhand.api import COUNT, SEED

    take(
        parser,
        "scenario",
        "A .toml file, a name that `slowhand scenarios` lists, a result to repeat, or a"
        " recording of `slowhand live` (.slowhand).",
    )
    take(parser, "--count", told=COUNT)
    take(parser, "--seed", told=SEED)
    take(parser, "--threads")
    take(parser, "--set")
    parser.add_argument(
        "--nonces",
        metavar="N",
        help="Sets of random numbers of the sessions (session.nonces). [default: one a world]",
    )
    explaining.options(parser)
    take_files(parser, FILES)


FILES = {
    "records": rows("handshake"),
    "nodes": File("Write time and energy of the first seed's nodes to .parquet or .csv.", TABLE),
    "timeline": File(
        "Write the handshake that --explain or --slowest explains, or the first one, as a page"
        " (.html) or for Perfetto and speedscope (.json); or when each radio of the first seed was"
        " on (.parquet, .csv).",
        (".html", ".json", *TABLE),
    ),
    "buffers": File("Write the first seed's buffers over time to .parquet or .csv.", TABLE),
    "pcap": PCAP,
    "report": File("Write the whole run as a page to this .html file.", (".html",)),
}
"""The files that `run` can write, in this order."""


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs a scenario, prints the results and writes the files."""
    from slowhand import results
    from slowhand.api import Run, told

    explaining.check(arguments)
    outputs = given_files(arguments, FILES)
    if arguments.scenario.endswith(results.RECORDING):
        from slowhand.commands import replaying

        return replaying.run(arguments, outputs, out)
    scenario = _loaded(arguments)
    count = explaining.count(arguments, scenario.count)
    seed = scenario.seed if arguments.seed is None else arguments.seed
    check_worlds(scenario, outputs, seed, count)
    keep = "records" in outputs or "report" in outputs or arguments.slowest
    with warnings_said():
        handshakes = Run(scenario, count=count, seed=seed, threads=arguments.threads, records=keep)
    stopped = watched(count, "worlds", lambda progress: handshakes.watch(progress.update))
    explanation = None
    try:
        if not stopped:
            explanation = explaining.explanation(arguments, handshakes)
    except KeyboardInterrupt as interruption:
        stopped = interruption
    with signals.held() as late:  # they cost no report
        if stopped:
            handshakes.cancel()  # a second signal may have come before `watch` had done it
        if handshakes.panicked:
            say(printable(told(handshakes), LONGEST_PANIC))
        if arguments.json:
            explained = {"explanation": explanation.document} if explanation else {}
            extra = {**explained, **wireshark_json(scenario, outputs.get("pcap"))}
            print_json({**_about(handshakes), **extra}, out)
        else:
            from slowhand import report

            report.show(handshakes, out)
            if explanation:
                explaining.show(arguments, handshakes, explanation, out)
    code = signals.exit_code(stopped, *late)
    written = _write(outputs, handshakes, explanation, interrupted=code != DONE)
    if written and "pcap" in outputs and not arguments.json:
        show_wireshark(scenario, outputs["pcap"], out)
    if code:
        return code
    whole = written and not handshakes.panicked
    return DONE if whole and handshakes.summary()["completed"] else NO


def _loaded(arguments: argparse.Namespace) -> Scenario:
    """The scenario. `--nonces` is another name for one of its keys."""
    nonces = arguments.nonces
    keys = {} if nonces is None else {"session.nonces": nonces}
    check_alone("--nonces", keys, replaced(arguments), "--set")
    return loaded_with(arguments, keys, "--nonces")


def _carries_scenario(name: str, file: Output) -> bool:
    """True if a file has the text of its scenario, as what can be repeated has."""
    return name == "report" or file.path.endswith(".parquet")


def _about(handshakes: Run) -> dict[str, object]:
    return {
        **handshakes.about(),
        **handshakes.summary(),
        "panicked": handshakes.panicked,
        "panicked_count": handshakes.panicked_count,
        "wall_s": handshakes.wall_s,
        "assumed": handshakes.scenario.about()["assumed"],
    }


def _write(
    outputs: Mapping[str, Output],
    handshakes: Run,
    explanation: Explanation | None,
    *,
    interrupted: bool,
) -> bool:
    """Writes the files. Returns False, after a message for each, if one could not be written."""
    from slowhand import results
    from slowhand.api import WorldError

    scenario, seed = handshakes.scenario, handshakes.seed

    @cache
    def inspection() -> Inspection:
        return scenario.inspect(seed=seed)

    def write_timeline(path: Path) -> None:
        from slowhand.pages import lanes, perfetto

        kinds = {".html": lanes.encoded, ".json": perfetto.encoded}
        encoded = kinds.get(Path(outputs["timeline"].path).suffix)
        if encoded:
            path.write_bytes(encoded((explanation or scenario.explain(seed=seed)).document))
        else:
            write_table("timeline", path)

    def write_report(path: Path) -> None:
        from slowhand.pages import overview

        path.write_bytes(overview.encoded(handshakes))

    def write_table(name: str, path: Path) -> None:
        table = getattr(inspection(), name)
        about = {**handshakes.about(), "count": 1, "table": name}
        csv = outputs[name].path.endswith(".csv")
        path.write_bytes(results.encoded(table, about, csv=csv))

    writers: dict[str, Callable[[Path], object]] = {
        "records": lambda path: path.write_bytes(handshakes.encoded()),
        "timeline": write_timeline,
        "pcap": lambda path: scenario.capture(path, seed=seed),
        "report": write_report,
    }
    written = True
    for name, file in outputs.items():
        try:
            written &= is_written(
                file,
                writers.get(name, partial(write_table, name)),
                private=name == "pcap" or (scenario.holds_keys and _carries_scenario(name, file)),
                interrupted=interrupted and name != "records",  # the others need a run of their own
            )
        except (ScenarioError, WorldError) as error:
            written = False
            say(str(file.error(f"not written: {printable(str(error), LONGEST_PANIC)}")))
    return written
