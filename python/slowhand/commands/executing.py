"""`slowhand exec`: unmodified programs in virtual time."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from slowhand import signals
from slowhand.arguments import LONGEST_WORD, Complaint, Parser, integer, number
from slowhand.commands import worlds
from slowhand.commands.common import (
    DONE,
    LONGEST_PANIC,
    NO,
    check_worlds,
    is_written,
    loaded,
    print_json,
    show_wireshark,
    warnings_said,
    wireshark_json,
)
from slowhand.commands.options import PCAP, File, given_files, rows, take, take_files
from slowhand.terminal import Terminal, printable, say

if TYPE_CHECKING:
    from pathlib import Path

    from slowhand.executing import Execution
    from slowhand.explain import Explanation
    from slowhand.output import Output

ABOUT = "Run your own programs, unmodified, across a network in virtual time."
EXAMPLE = "lossy-line --client 'coap-client -m get coap://{server}/time' --server coap-server"


def options(parser: Parser) -> None:
    """The options of `exec`."""
    from slowhand.executing import COUNT
    from slowhand.executing.programs import UNTIL, Limits

    worlds.options(parser, COUNT)
    parser.set_defaults(count=None, seed=None)  # a result has its own
    programs = parser.group("programs", PROGRAMS)
    programs("--client", metavar="COMMAND", help="The program at every client of the scenario.")
    programs("--server", metavar="COMMAND", help="The program where the scenario has its server.")
    programs(
        "--at",
        metavar="PLACE=COMMAND",
        action="append",
        default=[],
        help="A program at a node (its number), or at `internet`. May be given again.",
    )
    parser.add_argument(
        "--again",
        metavar="N",
        type=integer(0),
        default=1,
        help="How often the first seed runs again, to see whether it is the same. [default: 1]",
    )
    take(parser, "--threads", "Threads; the results do not depend on it.")
    take(parser, "--set")
    parser.add_argument(
        "--compute",
        metavar="PROGRAM=S",
        action="append",
        default=[],
        help="How long client, server or `node N` computes before each answer: compute_s."
        " [default: 0]",
    )
    parser.add_argument(
        "--until",
        choices=UNTIL,
        help="A world ends when its clients have ended, or also when they have their sessions."
        f" [default: {Limits.until}]",
    )
    parser.add_argument(
        "--duration",
        metavar="S",
        type=number,
        help=f"A world ends after S seconds of the network. [default: {Limits.duration_s:.0f}]",
    )
    parser.add_argument(
        "--date", metavar="DAY", help="The day on which a world begins. [default: 2030-01-01]"
    )
    parser.add_argument(
        "--wall",
        metavar="S",
        type=number,
        help=f"The most that a world may take by the clock. [default: {Limits.wall_s:.0f}]",
    )
    parser.add_argument(
        "--cpu",
        metavar="S",
        type=number,
        help="The most that a thread may compute between two system calls. "
        f"[default: {Limits.cpu_s:.0f}]",
    )
    listed = "Also list the datagrams of the slowest conversation, and who waited for what."
    take(parser, "--slowest", listed)
    take(
        parser,
        "--explain",
        "Say where the time of the first handshake went, as far as the network sees it; with"
        " --slowest, of the slowest one.",
    )
    take_files(parser, FILES)


PROGRAMS = (
    "The programs are those of the scenario ([[programs]]). One that is given here is added, and"
    " replaces those that the scenario has at the same place; of a single one only the command: its"
    " other keys (stdin, environment, success, ...) are kept. A command's words are quoted as in a"
    " shell. {server} is the server's address in brackets, {address} without them, {port} its port,"
    " {node} the program's node, {seed} the seed, {keylog} a file for the secrets of its sessions,"
    " which --pcap gets (also SSLKEYLOGFILE). A result (--records, --json) is a scenario too: its"
    " programs, seeds, count and limits are repeated, but for what is given."
)
"""The words that a command may have in it."""

FILES = {
    "records": rows("conversation"),
    "pcap": PCAP,
    "report": File("Write all of it as a page to this .html file.", (".html",)),
}
"""The files that `exec` can write."""

PLACES = ("root", "internet")
"""The places of programs that have a name, beside those with an option of their own."""


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs the programs, prints what they did and writes the files."""
    from slowhand import explain, results
    from slowhand.executing import Execution, report
    from slowhand.executing.programs import Limits, ProgramError, counted, placed

    scenario = loaded(arguments.scenario, arguments.set)
    count = counted(scenario, arguments.count)
    seed = scenario.seed if arguments.seed is None else arguments.seed
    files = given_files(arguments, FILES)
    records, capture, page = (files.get(name) for name in FILES)
    check_worlds(scenario, files, seed, count)
    given = {name: getattr(arguments, name.removesuffix("_s")) for name in vars(Limits())}
    limits = Limits.of(scenario, **given)
    try:
        limits.told()
    except ProgramError as error:
        name, _, reason = str(error).partition(":")
        raise Complaint(f"--{name.removesuffix('_s')}:{reason}") from None
    scenario = placed(
        scenario,
        client=arguments.client,
        server=arguments.server,
        at=_at(arguments.at),
        compute=_compute(arguments.compute),
    )
    again, threads = arguments.again, arguments.threads
    execution = Execution(scenario, limits, count=count, seed=seed, again=again, threads=threads)
    captured = True
    if capture:
        captured = is_written(capture, partial(_capture, execution, capture), private=True)
    else:
        _watch(execution, None)
    explanation = _explanation(arguments, execution)
    with signals.held() as late:  # they cost no report
        if arguments.json:
            explained = {"explanation": explanation.document} if explanation else {}
            extra = {**wireshark_json(scenario, capture if captured else None), **explained}
            print_json({**execution.document(), **extra}, out)
        else:
            report.show(execution, out)
            if arguments.slowest:
                report.show_slowest(execution, out)
            if explanation:
                out.print()
                out.print("Where the time went, as far as the network sees it", "bold cyan")
                explain.show(explanation, out)
            if capture and captured:
                show_wireshark(scenario, capture, out)
    written, private = captured, scenario.holds_keys
    if records:
        octets = results.encoded(execution.frame(warns=False), execution.about())
        written &= is_written(records, lambda path: path.write_bytes(octets), private=private)
    if page:
        interrupted = execution.stopped is not None
        write = partial(_write_page, execution)
        written &= is_written(page, write, private=private, interrupted=interrupted)
    if code := signals.exit_code(execution.stopped, *late):
        return code
    return DONE if written and _is_good(execution) else NO


def _capture(execution: Execution, capture: Output, path: Path) -> None:
    """Runs the worlds, and writes the capture to `path`. Raises an error if it is not complete."""
    from slowhand.executing.workers import Refused

    try:
        _watch(execution, path)
    except Refused as error:  # no fault of the file
        raise Complaint(str(error)) from error
    if execution.uncaptured:
        raise OSError(0, execution.uncaptured)
    if execution.seed not in (world["seed"] for world in execution.worlds):
        cut = f"seed {execution.seed} was not run to its end"
        raise capture.error(f"not written: {'interrupted' if execution.stopped else cut}")


def _watch(execution: Execution, capture: Path | None) -> None:
    """Runs the worlds and shows progress. A signal that ends it is noted in the execution."""
    from slowhand.progress import Progress

    path = None if capture is None else str(capture.absolute())
    with Progress(execution.count + execution.again, "worlds") as progress:
        try:
            execution.watch(progress.update, capture=path)
        except KeyboardInterrupt as stopped:
            execution.stopped = stopped  # a second signal may have come before `watch` had noted it


def _write_page(execution: Execution, path: Path) -> None:
    from slowhand.pages import overview

    with warnings_said():
        path.write_bytes(overview.encoded(execution))


def _explanation(arguments: argparse.Namespace, execution: Execution) -> Explanation | None:
    """The explanation that is asked for, after all worlds."""
    from slowhand.api import WorldError

    if not arguments.explain or execution.stopped:
        return None
    seed, client = execution.seed, None
    if arguments.slowest and (slowest := execution.slowest()):
        world, conversation = slowest
        seed, client = world["seed"], conversation["record"]["client"]
    try:
        with warnings_said():
            explanation = execution.explain(seed=seed, client=client)
    except WorldError as error:
        say(printable(str(error), LONGEST_PANIC))
        return None
    except KeyboardInterrupt as stopped:
        execution.stopped = stopped
        return None
    if explanation is None:
        say(f"--explain: seed {seed} has no handshake of DTLS: nothing is explained")
    return explanation


def _at(given: list[str]) -> dict[int | str, str]:
    """The programs of `--at`, by place."""
    from slowhand.executing.programs import is_node, place_of

    found: dict[int | str, str] = {}
    for each in given:
        place, equals, command = each.partition("=")
        if not equals or not (is_node(place) or place in PLACES):
            shown = printable(each, LONGEST_WORD)
            allowed = f"a node or {' or '.join(PLACES)}, and a command, as 2='nc -u -l 5683'"
            raise Complaint(f"--at: found {shown}, allowed: {allowed}")
        if place_of(place) in found:
            shown = printable(place, LONGEST_WORD)
            raise Complaint(f"--at: found {shown} twice, allowed: one command for each place")
        found[place_of(place)] = command
    return found


def _compute(given: list[str]) -> dict[str, float]:
    """The times of `--compute`, by program."""
    found = {}
    for each in given:
        program, equals, seconds = each.partition("=")
        try:
            found[program] = number(seconds)
        except argparse.ArgumentTypeError:
            equals = ""
        if not equals:
            shown = printable(each, LONGEST_WORD)
            raise Complaint(f"--compute: found {shown}, allowed: PROGRAM=S, as client=0.8")
    return found


def _is_good(execution: Execution) -> bool:
    """True if all worlds were run, and the programs did what they were to do.

    That is what the scenario asks of them (`success`), in each world. If it asks nothing: a client
    has done something in a world.
    """
    if execution.failures or execution.reproducible is False:
        return False
    if execution.successes is not None:
        return execution.successes == len(execution.worlds)
    clients = {told["name"] for told in execution.told if told["is_client"]}
    codes = [
        program["exit"]
        for world in execution.worlds
        for program in world["programs"]
        if program["name"] in clients
    ]
    return execution.summary()["completed"] > 0 or any(code == {"code": 0} for code in codes)
