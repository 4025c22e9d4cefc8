"""`slowhand play`: a page in which one world can be seen move."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from slowhand import output
from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import (
    DONE,
    LONGEST_PANIC,
    NO,
    inputs,
    is_written,
    loaded,
    of_world,
    print_json,
)
from slowhand.commands.options import take
from slowhand.terminal import Terminal, printable, say, warn

if TYPE_CHECKING:
    from slowhand.api import Scenario
    from slowhand.playback import Playback

ABOUT = "Write a page in which the network of one seed moves."
EXAMPLE = "lossy-line --seed 3 --open"


def options(parser: Parser) -> None:
    """The options of `play`."""
    take(parser, "scenario")
    take(parser, "--seed", "The world of this seed.", told="1, or the first of a result")
    take(parser, "--client", "Explain the handshake of this client.")
    parser.add_argument(
        "--page",
        metavar="FILE.html",
        help="The page to write. [default: NAME-seed-N.html, in this folder]",
    )
    take(parser, "--open", "Show the page in the browser.")
    take(parser, "--set", "Replace a key of the scenario, such as session.timeout_s=9.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs the world and writes the page."""
    scenario = loaded(arguments.scenario, arguments.set)
    seed = scenario.seed if arguments.seed is None else arguments.seed
    file = None
    if arguments.page is not None or not arguments.json:
        name = arguments.page or f"{Path(scenario.path).stem}-seed-{seed}.html"
        file = output.Output("--page", name)
        if Path(name).suffix != ".html":
            raise file.error("the name must end in .html")
        file.check()
        output.check([file], inputs(scenario))
    elif arguments.open:
        raise Complaint("--open: found --json without --page; name the page")
    played = of_world(lambda: scenario.play(seed=seed, client=arguments.client))
    if played is None:
        return NO
    code = DONE
    if file:
        page = _page(scenario, played)
        if not is_written(file, lambda out: out.write_bytes(page), private=True):
            return NO
        if arguments.open and not webbrowser.open(Path(file.path).resolve().as_uri()):
            say("--open: no browser is found; open the page yourself")
            code = NO
    if arguments.json:
        print_json(played.document, out)
    elif file:
        told = played.document["explanation"]
        failed = "" if told["outcome"] == "completed" else f"{told['outcome'].replace('_', ' ')}: "
        out.paragraph(
            f"Seed {seed}, client {told['client']}: {failed}{played.explanation.summary}."
        )
        frames = len(played.document["frames"]["from_us"])
        out.print(f"{len(played.document['nodes']):,} nodes and {frames:,} frames: {file.path}")
    return code


def _page(scenario: Scenario, played: Playback) -> bytes:
    """The page. Without tshark it has slowhand's own words for the bytes of frames."""
    from slowhand.pages.decoded import UndecodedError, decoded
    from slowhand.pages.moving import encoded

    document = played.document
    try:
        lines = decoded(scenario, document["seed"], len(document["frames"]["from_us"]))
    except UndecodedError as error:
        warn(f"{printable(str(error), LONGEST_PANIC)}; the page has slowhand's own words for them")
        lines = None
    return encoded(played, lines)
