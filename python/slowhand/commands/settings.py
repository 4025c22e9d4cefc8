"""`slowhand settings`."""

from __future__ import annotations

import argparse

from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import DONE, loaded, print_json
from slowhand.commands.options import take
from slowhand.nearest import none_of
from slowhand.terminal import Terminal

ABOUT = "Print what to type: a scenario's session in the settings of a library."
EXAMPLE = "lossy-line --library mbedtls"


def options(parser: Parser) -> None:
    """The options of `settings`."""
    from slowhand.settings import LIBRARIES

    take(parser, "scenario")
    parser.add_argument(
        "--library",
        metavar="LIBRARY",
        help=f"Only this one of {', '.join(LIBRARIES)}. [default: all]",
    )
    take(parser, "--set", "Replace a key of the scenario, such as session.timeout_s=9.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Prints the settings."""
    import dataclasses

    from slowhand import settings

    name = arguments.library
    if name is not None and name not in settings.LIBRARIES:
        raise Complaint(none_of("--library", name, settings.LIBRARIES))
    scenario = loaded(arguments.scenario, arguments.set)
    try:
        found = settings.snippets(scenario, name)
    except ValueError as error:
        raise Complaint(str(error)) from error
    if arguments.json:
        print_json([dataclasses.asdict(snippet) for snippet in found], out)
    else:
        settings.show(found, out)
    return DONE
