"""`slowhand sweep` and `slowhand compare`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from slowhand import signals
from slowhand.arguments import Complaint, Parser, integer, share
from slowhand.commands.common import (
    DONE,
    NO,
    figure_file,
    is_drawn,
    loaded,
    print_json,
    replaced,
    say_panic,
    watched,
)
from slowhand.commands.options import take
from slowhand.output import OutputError
from slowhand.terminal import Terminal, printable, say

if TYPE_CHECKING:
    from slowhand.sweeps import Configuration, Impossible, Sampling, Sweep
    from slowhand.sweeps.conditions import Condition
    from slowhand.sweeps.vary import Axis


def sweep_options(parser: Parser) -> None:
    """The options of `sweep`."""
    take(parser, "scenario")
    parser.add_argument(
        "--vary",
        metavar="KEY=VALUES",
        action="append",
        default=[],
        help="Values 1,2,4 or a range FROM:TO:STEP or, geometric, FROM:TO:*FACTOR; no value, as in"
        " KEY=,8, leaves the key out. Several: all combinations.",
    )
    parser.add_argument(
        "--zip", action="store_true", help="Only combine values that stand at the same place."
    )
    _sampling_options(parser)


def compare_options(parser: Parser) -> None:
    """The options of `compare`."""
    parser.add_argument(
        "scenarios", metavar="SCENARIO", nargs="+", help="Files, or names, of scenarios."
    )
    _sampling_options(parser)


def _sampling_options(parser: Parser) -> None:
    """The options of `sweep` and `compare`."""
    from slowhand.api import COUNT, SEED
    from slowhand.sweeps import BASELINES, MAX_COUNT, METRIC

    take(
        parser,
        "--count",
        "Worlds of each configuration, all with the same seeds.",
        told=COUNT,
    )
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        type=share,
        help="Instead: repeat until half of the interval of the metric is at most this share of"
        " its mean, such as 5%%.",
    )
    parser.add_argument(
        "--max-count",
        metavar="N",
        type=integer(1),
        default=MAX_COUNT,
        help=f"At most so many worlds, with --precision. [default: {MAX_COUNT}]",
    )
    parser.add_argument(
        "--metric",
        metavar="METRIC",
        default=METRIC,
        help=f"What is compared: a metric of `slowhand run --json`. [default: {METRIC}]",
    )
    parser.add_argument(
        "--baseline",
        metavar="WHICH",
        default=BASELINES[0],
        help=f"Show differences to the {' or the '.join(BASELINES)}. [default: {BASELINES[0]}]",
    )
    parser.add_argument(
        "--fail-if",
        metavar="BOUND",
        action="append",
        default=[],
        help="Exit with 1 if a configuration is worse than that: if the whole interval of its"
        " difference is above this share of the metric, such as 5%%, or clearly fewer complete. Or"
        " if a statistic is beyond a bound: 'duration_s.p95 > 1.05 * base', 'failed > 1%%'. Can be"
        " given several times.",
    )
    take(parser, "--seed", "", default=SEED)
    take(parser, "--set", "Replace a key in all configurations.")
    kept = "Keep the rows of all handshakes there, as Parquet, and continue with what is there."
    take(parser, "--out", kept)
    take(parser, "--plot", "Draw a figure, .svg or .png.")
    take(parser, "--threads", "Threads; the rows do not depend on it.")
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on this Dask cluster instead, such as tcp://10.0.0.1:8786.",
    )


def sweep(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs a scenario with every value of some keys."""
    from slowhand.sweeps import varied
    from slowhand.sweeps.vary import Axis

    axes = [Axis.read(text) for text in arguments.vary]
    sampling = _sampling(arguments)
    for axis in axes:
        if axis.key in replaced(arguments):
            key = printable(axis.key)
            raise Complaint(f"--set {key}: found --vary {key} too, allowed: one of the two")
    scenario = loaded(arguments.scenario, arguments.set)
    _check_base(axes, arguments)
    configurations, impossible = varied(scenario, axes, zip_axes=arguments.zip)
    return _run_sweep(configurations, sampling, arguments, out, impossible)


def compare(arguments: argparse.Namespace, out: Terminal) -> int:
    """Runs several scenarios with the same seeds."""
    from slowhand.sweeps import compared

    sampling = _sampling(arguments)
    scenarios = [loaded(path, arguments.set) for path in arguments.scenarios]
    configurations = compared(scenarios, arguments.scenarios)
    return _run_sweep(configurations, sampling, arguments, out)


def _sampling(arguments: argparse.Namespace) -> Sampling:
    from slowhand.sweeps import Sampling

    names = ("count", "seed", "precision", "max_count", "metric", "baseline")
    others = tuple(each.column for each in _failing(arguments).conditions if each.statistic)
    return Sampling(**{name: getattr(arguments, name) for name in names}, others=others)


class Failing(NamedTuple):
    """The conditions that make the exit code 1."""

    most: float | None
    """The share of the metric by which the others may be worse than the baseline."""
    conditions: list[Condition]

    @property
    def is_asked(self) -> bool:
        """False if there is no `--fail-if`."""
        return self.most is not None or bool(self.conditions)


def _failing(arguments: argparse.Namespace) -> Failing:
    """The conditions of `--fail-if`: at most one share, and others."""
    from slowhand.sweeps import UNITS
    from slowhand.sweeps.conditions import Condition

    found = Failing(None, [])
    for text in arguments.fail_if:
        if any(sign in text for sign in "<>="):
            found.conditions.append(Condition.read(text, list(UNITS)))
            continue
        try:
            most = share(text)
        except argparse.ArgumentTypeError as error:
            raise Complaint(f"--fail-if: {error}, or a condition in quotes") from error
        if not 0 <= most < math.inf:
            raise Complaint(f"--fail-if: found {most:.0%}, allowed: 0% or more")
        if found.most is not None:
            raise Complaint("--fail-if: found two shares, allowed: one, and conditions")
        found = found._replace(most=most)
    return found


def _check_base(axes: Sequence[Axis], arguments: argparse.Namespace) -> None:
    """Refuses `base` where the first configuration differs from the others in several keys."""
    from slowhand.sweeps import BASELINES

    is_first = arguments.baseline == BASELINES[0]
    of_base = [each.text for each in _failing(arguments).conditions if each.bound.times]
    if of_base and is_first and len(axes) > 1 and not arguments.zip:
        raise Complaint(
            f"--fail-if: found {printable(of_base[0])} with --vary of {len(axes)} keys, allowed:"
            " base with one (the others by --set, in a sweep for each value), --zip, or"
            " --baseline best"
        )


def _run_sweep(
    configurations: list[Configuration],
    sampling: Sampling,
    arguments: argparse.Namespace,
    out: Terminal,
    impossible: Sequence[Impossible] = (),
) -> int:
    from slowhand.sweeps import Sweep, SweepError, figure, report
    from slowhand.sweeps.cluster import ClusterError

    if arguments.plot is not None:
        figure.check(arguments.plot, configurations)
    file = figure_file(arguments, configurations[0].base)
    where = {"out": arguments.out, "threads": arguments.threads, "scheduler": arguments.scheduler}
    with Sweep(configurations, sampling, **where, impossible=impossible) as sweep:
        failure: Exception | None = None
        try:
            stopped = _watch_sweep(sweep)
        except (ClusterError, OutputError) as error:
            stopped, failure = None, error
        with signals.held() as late:  # they cost no report
            say_panic(sweep.panicked)
            interrupted = stopped is not None or failure is not None
            results = sweep.results()
            failing = _failing(arguments)
            worse: list[str] | None = None
            refused: SweepError | None = None
            try:
                worse = sweep.worse(results, *failing)
            except SweepError as error:  # said when what has run is told
                refused = error
            if arguments.json:
                conditions = [each.text for each in failing.conditions]
                extra = {"fail_if": failing.most, "conditions": conditions, "worse": worse}
                found = sweep.json(results, interrupted=interrupted)
                print_json({**found, **(extra if failing.is_asked else {})}, out)
            else:
                report.show(sweep, results, out, interrupted=interrupted)
                if failing.is_asked and worse is not None:
                    report.show_worse(worse, failing.most, out)
        if failure:
            say(str(failure))
        draw = partial(figure.draw, results, sampling.metric)
        drawn = is_drawn(file, draw, interrupted=interrupted)
        if code := signals.exit_code(stopped, *late):
            return code
        if refused:
            raise refused
        whole = drawn and not (failure or worse or any(each.panicked for each, _ in results))
        return DONE if whole and any(measured.completed for measured, _ in results) else NO


def _watch_sweep(sweep: Sweep) -> KeyboardInterrupt | None:
    """Runs the sweep and shows progress. Returns the signal that stopped it, if one did."""
    from slowhand import sweeps
    from slowhand.progress import Progress

    def run(progress: Progress) -> None:
        progress.resume(sweep.worlds)

        def update(now: sweeps.Progress) -> None:
            note = f"{now.failed:,} failed" if now.failed else ""
            progress.update(now.done, total=now.total, note=note)

        sweep.run(update)

    stopped = watched(0, "worlds", run)
    if stopped:
        sweep.data.read()
        say(f"stopped: {sweep.worlds:,} worlds are complete; those in progress are dropped")
    return stopped
