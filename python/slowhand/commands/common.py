"""Functions and words that several commands share."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from slowhand._native import ArgumentError
from slowhand.arguments import Complaint, Parser
from slowhand.blame import blaming
from slowhand.bounds import MAX_SEED
from slowhand.output import Output, OutputError
from slowhand.terminal import Terminal, printable, say

if TYPE_CHECKING:
    from slowhand.api import Scenario
    from slowhand.output import Write
    from slowhand.progress import Progress


T = TypeVar("T")

DONE, NO, BAD_INPUT = 0, 1, 2
"""Exit codes. NO: the answer is no, or something is missing; messages say what."""


CLOSED_PIPE = 141
"""128 + SIGPIPE: what shells see of a program whose reader has enough, as in `... | head -1`."""


EXIT_CODES = {
    "0": "done",
    "1": "the answer is no; no handshake completed; a world panicked (an error in slowhand or in a"
    " library; the others are kept); or a file, or stdout, could not be written",
    "2": "bad input; nothing was run or written",
    "128 + n": "ended by signal n: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP",
    "141": "the reader of stdout had enough, as in `... \\| head -1`; the files are still written",
}
"""Every exit code, for the documentation."""


LONGEST_PANIC = 300
"""The most characters of the words of a panic that are shown."""


class Command(NamedTuple):
    """A command. `run` returns the exit code."""

    about: str
    example: str
    options: Callable[[Parser], None]
    run: Callable[[argparse.Namespace, Terminal], int]
    prints_json: bool = True
    """False if `--json` is not there, or means something else than elsewhere."""

    @classmethod
    def of(cls, module: ModuleType, *, prints_json: bool = True) -> Command:
        """The command of a module that has no other."""
        return cls(module.ABOUT, module.EXAMPLE, module.options, module.run, prints_json)

    def parser(self, name: str) -> Parser:
        """The parser of its options."""
        parser = Parser(name, self.about, self.example)
        self.options(parser)
        if self.prints_json:
            parser.add_argument(
                "--json", action="store_true", help="Print JSON, and nothing else, on stdout."
            )
        return parser


def loaded(path: str, overrides: list[str]) -> Scenario:
    """A scenario, after a message for each warning."""
    from slowhand.api import Scenario

    with warnings_said():
        return Scenario(path, overrides)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Says each warning of a block on stderr when the block has ended without an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        say(str(warning.message))


def is_written(file: Output, write: Write, *, private: bool, interrupted: bool = False) -> bool:
    """Writes a file. Returns False, after a message, if it could not be written."""
    return _succeeds(file, lambda: file.write(write, private=private), interrupted)


def _succeeds(file: Output, work: Callable[[], object], interrupted: bool) -> bool:
    """Does the work for a file. Returns False, after a message, if it could not be written."""
    try:
        if interrupted:
            raise file.error("not written: interrupted")
        work()
    except OutputError as error:
        is_own = str(error).startswith(f"{file.option} ")  # not of a figure that goes into the file
        say(str(error if is_own else file.error(f"not written: {error}")))
        return False
    return True


def of_world(make: Callable[[], T]) -> T | None:
    """Makes something of one world. Returns None, after a message, if the world panicked."""
    from slowhand.api import WorldError

    try:
        with complaining():
            return make()
    except WorldError as error:
        say(printable(str(error), LONGEST_PANIC))
        return None


@contextmanager
def complaining() -> Iterator[None]:
    """Makes the error of an argument that of the option with its name."""
    try:
        yield
    except ArgumentError as error:
        raise Complaint(f"--{error.argument.replace('_', '-')}: {error.reason}") from error


def watched(total: int, what: str, work: Callable[[Progress], object]) -> KeyboardInterrupt | None:
    """Does work and shows progress. Returns the signal that stopped it, if one did."""
    from slowhand.progress import Progress

    with Progress(total, what) as progress:
        try:
            work(progress)
        except KeyboardInterrupt as stopped:
            return stopped
    return None


def say_panic(panicked: Sequence[str]) -> None:
    """Says which world panicked first, if one did, and how many others."""
    for message in panicked[:1]:
        others = f" (and {len(panicked) - 1:,} others)" if panicked[1:] else ""
        say(printable(message + others, LONGEST_PANIC))


def is_drawn(
    figure: Output | None, draw: Callable[[str], object], *, interrupted: bool = False
) -> bool:
    """Draws a figure, if one is asked for. Returns False, after a message, if that failed."""
    return not figure or _succeeds(figure, lambda: draw(figure.path), interrupted)


def check_worlds(scenario: Scenario, files: Mapping[str, Output], seed: int, count: int) -> None:
    """Raises an error if these worlds cannot be run.

    There are fewer seeds, a file to write is one that is read, or polars is missing.
    """
    from slowhand import output, results

    if seed + count - 1 > MAX_SEED:
        raise Complaint(f"--seed {seed} --count {count}: the last seed must be at most {MAX_SEED}")
    output.check(files.values(), inputs(scenario))
    if files.keys() - {"pcap"}:
        results.import_polars()


def loaded_with(arguments: argparse.Namespace, keys: Mapping[str, str], option: str) -> Scenario:
    """A scenario with `--set`, and with these keys, which an option has set: errors name it."""
    with blaming(dict.fromkeys(keys, option)):
        settings = [f"{key}={value}" for key, value in keys.items()]
        return loaded(arguments.scenario, [*arguments.set, *settings])


def replaced(arguments: argparse.Namespace) -> set[str]:
    """The keys that `--set` replaces."""
    return {override.partition("=")[0].strip() for override in arguments.set}


def asked_every(arguments: argparse.Namespace, given: Iterable[str], by: str) -> dict[str, str]:
    """The keys that `--period` sets. `given` are those that the option `by` has: not these too."""
    if arguments.period is None:
        return {}
    seconds = f"{arguments.period:.12g}"
    keys = {"application.pattern": "periodic", "application.period_s": seconds}
    check_alone("--period", keys, given, by)
    return keys


def check_alone(option: str, keys: Iterable[str], given: Iterable[str], by: str) -> None:
    """Raises an error if an option sets a key that the option `by` has too."""
    both = {*keys} & {*given}
    if both:
        raise Complaint(f"{option}: found {by} {min(both)} too, allowed: one of the two")


def inputs(scenario: Scenario) -> list[Path]:
    """The files that were read: a result, or a scenario and its devices."""
    path = Path(scenario.read_from)
    if scenario.is_result:
        return [path]
    return [path, *(path.parent / name for name in scenario.files if name != scenario.file)]


def figure_file(arguments: argparse.Namespace, scenario: Scenario) -> Output | None:
    """The file of `--plot`, if it is given and can be written."""
    from slowhand import output

    if arguments.plot is None:
        return None
    if not arguments.plot.endswith((".svg", ".png")):
        raise Complaint(f"--plot {printable(arguments.plot)}: the name must end in .svg or .png")
    output.check_figures("--plot")
    figure = output.Output("--plot", arguments.plot)
    figure.check()
    output.check([figure], inputs(scenario))
    return figure


def wireshark(scenario: Scenario, capture: Output) -> list[str]:
    """The command that shows a capture as it is, in words. One that is a FIFO it reads at once."""
    source = ["-k", "-i"] if Path(capture.path).is_fifo() else ["-r"]
    return ["wireshark", *source, capture.path, *scenario.native.wireshark_arguments()]


def wireshark_json(scenario: Scenario, capture: Output | None) -> dict[str, list[str]]:
    """The command that shows a capture, as JSON has it, if there is a capture."""
    return {"wireshark": wireshark(scenario, capture)} if capture else {}


def show_wireshark(scenario: Scenario, capture: Output, out: Terminal) -> None:
    """Prints this command."""
    from slowhand import report

    out.print("Wireshark shows the capture as it is with:", "dim")
    report.show_command([report.quoted(word) for word in wireshark(scenario, capture)], out)


def print_json(value: object, out: Terminal) -> None:
    """Prints a value as JSON."""
    out.print(json.dumps(value, indent=2, allow_nan=False))
