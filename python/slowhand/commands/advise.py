"""`slowhand advise`."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from slowhand import signals
from slowhand.arguments import Complaint, Parser, integer, share
from slowhand.blame import blaming
from slowhand.commands.common import (
    DONE,
    NO,
    asked_every,
    figure_file,
    is_drawn,
    loaded,
    print_json,
    say_panic,
    watched,
)
from slowhand.commands.options import take
from slowhand.output import Output
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    from slowhand.advice import Adviser
    from slowhand.advice.answer import Advice
    from slowhand.api import Scenario

ABOUT = "Find the best configuration for a network, and say what others would cost."
EXAMPLE = "--hops 3 --mac tsch --slotframe 101 --credential psk"

QUESTION = ("mac", "hops", "slotframe", "loss", "credential", "device")
"""The options that describe a network without a file."""


def options(parser: Parser) -> None:
    """The options of the command."""
    from slowhand.advice import HANDSHAKES
    from slowhand.advice.forms import SERVERS, macs
    from slowhand.advice.front import METRICS
    from slowhand.advice.space import GROUPS, USUAL, USUAL_LIFE
    from slowhand.api import SEED
    from slowhand.lives import BATTERY

    take(
        parser,
        "scenario",
        "What is fixed: a .toml file, a name that `slowhand scenarios` lists, or a result."
        " Without it, the options from --mac to --device describe a network.",
        nargs="?",
    )
    parser.add_argument("--mac", metavar="MAC", help=f"{', '.join(macs())}. [default: tsch]")
    parser.add_argument("--hops", metavar="N", type=integer(1), help="Hops to the border router.")
    parser.add_argument(
        "--slotframe", metavar="N", type=integer(1), help="The slots of a slotframe, with TSCH."
    )
    parser.add_argument(
        "--loss", metavar="SHARE", type=share, help="Frames lost on each hop, such as 10%%."
    )
    parser.add_argument("--credential", metavar="CREDENTIAL", help=", ".join(SERVERS))
    take(parser, "--device", "The client's: a name that `slowhand devices` lists.")
    groups = "; ".join(f"{name}: {group.about}" for name, group in GROUPS.items())
    parser.add_argument(
        "--choose",
        metavar="WHAT",
        action="append",
        default=[],
        help="What may be chosen, once or more: KEY=VALUES as with `sweep --vary`, or a name."
        f" {groups}. [default: {', '.join(USUAL)}; for a battery: {', '.join(USUAL_LIFE)}]",
    )
    parser.add_argument(
        "--fix",
        metavar="KEY[=VALUE]",
        action="append",
        default=[],
        help="What may not: a key, or a name as above. Without a value it stays as it is.",
    )
    usual = ",".join(f"{name}={metric.weight:g}" for name, metric in METRICS.items())
    parser.add_argument(
        "--weights",
        metavar="NAME=N,...",
        help=f"How much each metric counts; 0 if not named. [default: {usual}]"
        " With battery=1 that is the life of a battery: [application] of the scenario, or --period,"
        " says what the client asks for.",
    )
    counted = "Whose life counts: a name that `slowhand batteries` lists, or a .toml file."
    take(parser, "--battery", counted, told=BATTERY)
    take(parser, "--period")
    parser.add_argument(
        "--budget",
        metavar="N",
        type=integer(1),
        help="The most worlds that are run, but for those of lives, and those that say why nothing"
        f" completes. [default: {HANDSHAKES} handshakes]",
    )
    take(parser, "--seed", "", default=SEED)
    take(parser, "--plot", "Draw the front by duration and energy, .svg or .png.")
    take(parser, "--threads", "Threads; the answer does not depend on it.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Says what to choose."""
    from slowhand.advice import Adviser

    scenario = _scenario(arguments)
    figure = figure_file(arguments, scenario)
    names = ("choose", "fix", "weights", "battery", "budget", "seed", "threads")
    adviser = Adviser(scenario, **{name: getattr(arguments, name) for name in names})
    if arguments.period is not None and adviser.battery is None:
        raise Complaint("--period: only where a battery counts: --weights battery=1")
    return _answer(adviser, figure, arguments, out)


def _scenario(arguments: argparse.Namespace) -> Scenario:
    """The scenario of the command line, or that of a question without a file."""
    keys = asked_every(arguments, [text.partition("=")[0] for text in arguments.fix], "--fix")
    overrides = [f"{key}={value}" for key, value in keys.items()]
    with blaming(dict.fromkeys(keys, "--period")):
        return _of_words(arguments, overrides)


def _of_words(arguments: argparse.Namespace, overrides: list[str]) -> Scenario:
    from slowhand.advice.forms import Question

    asked = {name: getattr(arguments, name) for name in QUESTION}
    given = next((name for name, value in asked.items() if value is not None), None)
    if arguments.scenario is None:
        if given is None:
            options = ", ".join(f"--{name}" for name in QUESTION)
            raise Complaint(f"scenario: found nothing, allowed: SCENARIO, or some of {options}")
        return Question(**asked).scenario().with_(overrides)
    if given is not None:
        remedy = "--fix KEY=VALUE replaces a key"
        raise Complaint(f"--{given}: only without SCENARIO, where it describes a network; {remedy}")
    return loaded(arguments.scenario, overrides)


def _answer(
    adviser: Adviser, figure: Output | None, arguments: argparse.Namespace, out: Terminal
) -> int:
    from slowhand.advice import report
    from slowhand.advice.answer import Advice

    stopped = watched(
        adviser.total,
        "worlds",
        lambda progress: adviser.run(lambda done, total: progress.update(done, total=total)),
    )
    with signals.held() as late:  # they cost no report
        say_panic(adviser.panicked)
        advice = Advice(adviser, interrupted=stopped is not None)
        if arguments.json:
            print_json(advice.json(), out)
        else:
            report.show(advice, out)
    drawn = is_drawn(figure, partial(_draw, advice), interrupted=stopped is not None)
    if code := signals.exit_code(stopped, *late):
        return code
    return DONE if drawn and advice.reliable and not adviser.panicked else NO


def _draw(advice: Advice, path: str) -> None:
    """Draws the finalists by duration and energy."""
    from slowhand import plot

    plot.pareto(advice.frame(advice.finalists), path)
