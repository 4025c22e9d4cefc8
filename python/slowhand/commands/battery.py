"""`slowhand battery`."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from slowhand import _native, signals
from slowhand.arguments import Complaint, Parser, integer, number
from slowhand.commands.common import (
    DONE,
    NO,
    asked_every,
    check_alone,
    figure_file,
    is_drawn,
    loaded_with,
    print_json,
    replaced,
    watched,
)
from slowhand.commands.options import take
from slowhand.nearest import none_of
from slowhand.terminal import Terminal, printable

if TYPE_CHECKING:
    from slowhand.api import Scenario
    from slowhand.lives import Answer

ABOUT = "Say how long a battery lasts, what takes it, and what would make it last longer."
EXAMPLE = "battery --battery l91-pair --plot day.svg"


def options(parser: Parser) -> None:
    """The options of the command."""
    from slowhand.lives import BATTERY, DAYS_IN_FULL
    from slowhand.lives.alternatives import SESSIONS
    from slowhand.lives.life import DAYS, WORLDS

    take(
        parser,
        "scenario",
        "A .toml file whose [application] says what the client asks for, a name that"
        " `slowhand scenarios` lists, or a result.",
    )
    take(
        parser,
        "--battery",
        "A name that `slowhand batteries` lists, or a .toml file.",
        default=BATTERY,
        told=f"{BATTERY}; the others are below the answer",
    )
    take(parser, "--period")
    parser.add_argument(
        "--session",
        metavar="WHAT",
        help=f"What becomes of a session after a request: {', '.join(SESSIONS)}."
        " [default: as the scenario has it]",
    )
    take(parser, "--client", "Whose.", told="the first one", type=integer(0, 65_535))
    parser.add_argument(
        "--years", metavar="N", type=number, help="How long a life is drawn from the parts."
    )
    parser.add_argument(
        "--days",
        metavar="N",
        type=number,
        help=f"The same in days. [default: {DAYS:g}; with --full {DAYS_IN_FULL:g}]",
    )
    simulated = "In how many worlds the parts are simulated."
    take(parser, "--count", simulated, told=WORLDS, type=integer(2, 10_000))
    take(parser, "--seed", told="that of a result, else 1")
    parser.add_argument(
        "--full",
        action="store_true",
        help="Simulate the whole time event by event, in one world, without alternatives.",
    )
    take(parser, "--set", "Replace a key, as in mac.poll_period_ms=10000; KEY= alone removes it.")
    take(parser, "--plot", "Draw where the charge of a day goes, .svg or .png.")


def run(arguments: argparse.Namespace, out: Terminal) -> int:
    """Says how long a battery lasts."""
    scenario = _scenario(arguments)
    figure = figure_file(arguments, scenario)
    answer = _answer(scenario, arguments)
    stopped = watched(
        1,
        "lives",
        lambda progress: answer.run(lambda done, total: progress.update(done, total=total)),
    )
    if answer.told is None:
        assert stopped
        raise stopped
    with signals.held() as late:  # they cost no report
        if arguments.json:
            print_json(answer.document, out)
        else:
            from slowhand.lives import report

            report.show(answer, out)
    drawn = is_drawn(figure, partial(_draw, answer))
    if code := signals.exit_code(stopped, *late):
        return code
    return DONE if drawn and answer.is_answered else NO


def _scenario(arguments: argparse.Namespace) -> Scenario:
    """The scenario, with what the short options set. It says what its client asks for."""
    from slowhand.lives import alternatives

    given = replaced(arguments)
    keys = asked_every(arguments, given, "--set")
    scenario = loaded_with(arguments, keys, "--period")
    if arguments.session is not None:
        check_alone("--session", ["application.session"], given, "--set")
        if arguments.session not in alternatives.SESSIONS:
            raise Complaint(none_of("--session", arguments.session, alternatives.SESSIONS))
        scenario = alternatives.with_session(scenario, arguments.session)
    if scenario.value("application.pattern") is None:
        raise Complaint(
            f'{printable(scenario.path)}: application.pattern: found nothing, allowed: "periodic",'
            ' "poisson" or "once"; a short way is --period 1h, the long one'
            " --set application.pattern=periodic --set application.period_s=3600"
        )
    return scenario


def _answer(scenario: Scenario, arguments: argparse.Namespace) -> Answer:
    from slowhand.lives import Answer
    from slowhand.lives.life import DAYS, WORLDS

    if arguments.years is not None and arguments.days is not None:
        raise Complaint("--years: found --days too, allowed: one of the two")
    if arguments.full and arguments.count is not None:
        raise Complaint("--count: found --full too, which has one world, allowed: one of the two")
    days = arguments.days if arguments.years is None else arguments.years * DAYS
    most_days = _native.LONGEST_LIFE_S / _native.DAY_S
    for name, most in (("days", most_days), ("years", most_days / DAYS)):
        value = getattr(arguments, name)
        if value is not None and not 0 < value <= most:  # not true of nan
            allowed = f"above 0, at most {most:g}"
            raise Complaint(f"--{name}: found {value:g}, allowed: {allowed}")
    return Answer(
        scenario,
        arguments.battery,
        days=days,
        seed=arguments.seed,
        worlds=arguments.count or WORLDS,
        full=arguments.full,
        client=arguments.client,
    )


def _draw(answer: Answer, path: str) -> None:
    """Draws where the charge of a day goes."""
    from slowhand import plot

    plot.life(answer.document, path)
