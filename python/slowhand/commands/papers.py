"""`slowhand papers`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import output, signals
from slowhand.arguments import Parser
from slowhand.commands.common import DONE, NO, print_json
from slowhand.commands.options import take
from slowhand.output import OutputError
from slowhand.terminal import Terminal, say

if TYPE_CHECKING:
    from slowhand.papers import Reproduction

ABOUT = "Reproduce a published paper: its numbers beside ours."
EXAMPLE = "vucinic2015 table1 --json"


def options(parser: Parser) -> None:
    """The options of `papers`."""
    from slowhand.papers import COUNT

    parser.add_argument(
        "paper",
        metavar="PAPER",
        nargs="?",
        help="Which paper. [default: list all, with what they gave]",
    )
    parser.add_argument("part", metavar="PART", nargs="?", help="A table or figure. [default: all]")
    take(parser, "--count", "Worlds for each point.", default=COUNT)
    take(parser, "--out", "Draw the figures, as PNG and SVG, into this folder.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Lists the papers, or reproduces one."""
    from slowhand import papers
    from slowhand.papers import report
    from slowhand.progress import Progress

    if arguments.paper is None:
        if arguments.json:
            print_json([paper.about() for paper in papers.papers()], out)
        else:
            report.show_list(papers.papers(), out)
        return DONE
    plan = papers.Plan.of(arguments.paper, arguments.part, count=arguments.count)
    if arguments.out is not None:
        output.check_figures("--out")
        output.check_folder("--out", arguments.out)
    folder = None if arguments.out is None else Path(arguments.out)
    with Progress(plan.worlds, "worlds") as progress:
        found = plan.run(progress.update)
    with signals.held() as late:  # they cost no report
        if not arguments.json:
            report.show(found, out)
    stopped = found.stopped or next(iter(late), None)
    files: list[str] = []
    written = True
    try:
        files, written = _draw(found, folder)
    except KeyboardInterrupt as signalled:
        stopped = signalled
    with signals.held():
        if arguments.json:  # last: the names of the figures are in it
            print_json({**found.json(), "figures": files}, out)
    if stopped:
        return signals.exit_code(stopped)
    return DONE if written and found.succeeded else NO


def _draw(found: Reproduction, folder: Path | None) -> tuple[list[str], bool]:
    """Draws the figures. Returns the files, and False after a message if that failed."""
    if folder is None:
        return [], True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [str(file) for file in found.draw(folder)], True
    except OSError as error:
        say(f"--out {folder}: cannot be written: {error.strerror or error}")
    except OutputError as error:
        say(str(error))
    return [], False
