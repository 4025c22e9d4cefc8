"""`slowhand run --explain` and `--slowest`: where the time of one handshake of the run went."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from slowhand.arguments import Complaint, Parser
from slowhand.commands.common import of_world
from slowhand.commands.options import take
from slowhand.terminal import Terminal

if TYPE_CHECKING:
    from slowhand.api import Run
    from slowhand.explain import Explanation


def options(parser: Parser) -> None:
    """The options of an explanation."""
    take(
        parser,
        "--explain",
        "Say where the time of the first handshake went. Without --count: one world.",
    )
    take(parser, "--client", "With --explain: the handshake of this client.")
    take(parser, "--slowest", "Say where the time of the slowest handshake of the run went.")


def check(arguments: argparse.Namespace) -> None:
    """Refuses options that do not go together."""
    if arguments.client is not None and (arguments.slowest or not arguments.explain):
        raise Complaint("--client: found without --explain, or with --slowest; add --explain alone")


def count(arguments: argparse.Namespace, default: int) -> int:
    """The number of worlds: one, if only the explanation of the first handshake is asked for."""
    if arguments.count is not None:
        return int(arguments.count)
    return 1 if arguments.explain and not arguments.slowest else default


def explanation(arguments: argparse.Namespace, handshakes: Run) -> Explanation | None:
    """The explanation that is asked for, after the run."""
    from slowhand.explain import slowest

    seed, client = handshakes.seed, arguments.client
    if arguments.slowest:
        columns = handshakes.columns()
        if not columns["seed"]:
            return None
        seed, client = slowest(columns)
    elif not arguments.explain:
        return None
    return of_world(lambda: handshakes.scenario.explain(seed=seed, client=client))


def show(arguments: argparse.Namespace, handshakes: Run, told: Explanation, out: Terminal) -> None:
    """Prints an explanation, and how to repeat it."""
    from slowhand import explain, report

    out.print()
    out.print("Where the time went", "bold cyan")
    explain.show(told, out)
    if arguments.slowest:
        out.print()
        out.print(f"The slowest of {handshakes.complete:,} worlds; repeat it with:", "dim")
        seed, client = told.document["seed"], told.document["client"]
        seeds = [f"--seed {seed}", "--explain", f"--client {client}"]
        words = [*report.command_of(handshakes.scenario), *seeds]
        report.show_command(words, out)
