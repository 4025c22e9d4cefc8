"""The commands: their options, and what they do."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from slowhand import output, signals
from slowhand._native import MAX_THREADS, ScenarioError
from slowhand.arguments import Complaint, Parser, integer, number, share
from slowhand.bounds import MAX_SEED
from slowhand.output import Output, OutputError
from slowhand.terminal import Terminal, printable, say

if TYPE_CHECKING:
    from slowhand.api import Inspection, Run, Scenario
    from slowhand.papers import Reproduction
    from slowhand.sweeps import Configuration, Sampling, Sweep

DONE, NO, BAD_INPUT = 0, 1, 2
"""Exit codes. NO: the answer is no, or something is missing; messages say what."""

CLOSED_PIPE = 141
"""128 + SIGPIPE: what shells see of a program whose reader has enough, as in `... | head -1`."""


LONGEST_PANIC = 300
"""How much is shown of the words of a panic, in characters."""


class Command(NamedTuple):
    """A command. `run` returns the exit code."""

    about: str
    example: str
    options: Callable[[Parser], None]
    run: Callable[[argparse.Namespace, Terminal], int]


def _run_options(parser: Parser) -> None:
    from slowhand.api import COUNT, SEED

    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="A .toml file, a name that `slowhand scenarios` lists, or a result to repeat.",
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=integer(1),
        help=f"How many worlds, one for each seed. [default: {COUNT}]",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=integer(0),
        help=f"The first seed. [default: {SEED}]",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=integer(1, MAX_THREADS),
        help="Threads; the records do not depend on it. [default: all processors]",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="Replace a key, as in network.link_pdr=0.9.",
    )
    parser.add_argument(
        "--nonces",
        metavar="N",
        type=integer(1),
        help="Sets of random numbers of the sessions (session.nonces). [default: one a world]",
    )
    for name, what in OUTPUTS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=what)
    parser.json()


OUTPUTS = {
    "records": "Write one row for each handshake to this .parquet file.",
    "nodes": "Write time and energy of the first seed's nodes to .parquet or .csv.",
    "timeline": "Write when each radio of the first seed was on, to .parquet or .csv.",
    "buffers": "Write the first seed's buffers over time to .parquet or .csv.",
    "pcap": "Write the first seed's frames to this pcapng file.",
}
"""The files that `run` can write, in this order."""

TABLE = (".parquet", ".csv")
SUFFIXES = {"records": (".parquet",), "nodes": TABLE, "timeline": TABLE, "buffers": TABLE}


def _run(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand.api import Run, told

    outputs = _outputs(arguments)
    scenario = _loaded(arguments.scenario, _overrides(arguments))
    count = scenario.count if arguments.count is None else arguments.count
    seed = scenario.seed if arguments.seed is None else arguments.seed
    if seed + count - 1 > MAX_SEED:
        raise Complaint(f"--seed {seed} --count {count}: the last seed must be at most {MAX_SEED}")
    output.check(outputs.values(), _inputs(scenario))
    keep = "records" in outputs
    handshakes = Run(scenario, count=count, seed=seed, threads=arguments.threads, records=keep)
    stopped = _watch(handshakes)
    with signals.held() as late:  # they cost no report
        if handshakes.panicked:
            say(printable(told(handshakes), LONGEST_PANIC))
        if arguments.json:
            _print_json(_run_json(handshakes), out)
        else:
            from slowhand import report

            report.show(handshakes, out)
    stopped = stopped or next(iter(late), None)
    written = _write(outputs, handshakes, stopped is not None)
    if written and "pcap" in outputs and not arguments.json:
        _show_wireshark(scenario, outputs["pcap"], out)
    if stopped:
        return signals.exit_code(stopped)
    whole = written and not handshakes.panicked
    return DONE if whole and handshakes.summary()["completed"] else NO


def _overrides(arguments: argparse.Namespace) -> list[str]:
    nonces = [] if arguments.nonces is None else [f"session.nonces={arguments.nonces}"]
    return [*arguments.set, *nonces]


def _loaded(path: str, overrides: list[str]) -> Scenario:
    """A scenario, after a message for each warning."""
    from slowhand.api import Scenario

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scenario = Scenario.with_overrides(path, overrides)
    for warning in caught:
        say(str(warning.message))
    return scenario


def _show_wireshark(scenario: Scenario, capture: Output, out: Terminal) -> None:
    """Prints the command that shows a capture as it is."""
    from slowhand import report

    words = ["wireshark", "-r", capture.path, *scenario.native.wireshark_arguments()]
    out.print("Wireshark shows the capture as it is with:", "dim")
    report.show_command([report.quoted(word) for word in words], out)


def _outputs(arguments: argparse.Namespace) -> dict[str, Output]:
    """The files to write, by the names of their options. Each can probably be written."""
    given = {name: getattr(arguments, name) for name in OUTPUTS}
    outputs = {name: Output(f"--{name}", path) for name, path in given.items() if path is not None}
    for name, file in outputs.items():
        allowed = SUFFIXES.get(name)
        if allowed and Path(file.path).suffix not in allowed:
            raise file.error(f"the name must end in {' or '.join(allowed)}")
    for file in outputs.values():
        file.check()
    return outputs


def _inputs(scenario: Scenario) -> list[Path]:
    """The files that were read: a result, or a scenario and its devices."""
    path = Path(scenario.read_from)
    if scenario.is_result:
        return [path]
    return [path, *(path.parent / name for name in scenario.files if name != scenario.file)]


def _watch(handshakes: Run) -> KeyboardInterrupt | None:
    """Waits for the end and shows progress. Returns the signal that stopped it, if one did."""
    from slowhand.progress import Progress

    with Progress(handshakes.count, "worlds") as progress:
        try:
            handshakes.watch(progress.update)
        except KeyboardInterrupt as stopped:
            return stopped
    return None


def _run_json(handshakes: Run) -> dict[str, object]:
    return {
        **handshakes.about(),
        **handshakes.summary(),
        "panicked": handshakes.panicked,
        "panicked_count": handshakes.panicked_count,
        "wall_s": handshakes.wall_s,
        "assumed": handshakes.scenario.about()["assumed"],
    }


def _write(outputs: Mapping[str, Output], handshakes: Run, interrupted: bool) -> bool:
    """Writes the files. Returns False, after a message for each, if one could not be written."""
    from slowhand import results
    from slowhand.api import WorldError

    scenario, seed = handshakes.scenario, handshakes.seed

    @cache
    def inspection() -> Inspection:
        return scenario.inspect(seed=seed)

    def write_table(name: str, path: Path) -> None:
        table = getattr(inspection(), name)
        about = {**handshakes.about(), "count": 1, "table": name}
        csv = outputs[name].path.endswith(".csv")
        path.write_bytes(results.encoded(table, about, csv=csv))

    writers: dict[str, Callable[[Path], object]] = {
        "records": lambda path: path.write_bytes(handshakes.encoded()),
        "pcap": lambda path: scenario.capture(path, seed=seed),
    }
    written = True
    for name, file in outputs.items():
        try:
            if interrupted and name != "records":  # they need a run of their own
                raise file.error("not written: interrupted")
            file.write(writers.get(name, partial(write_table, name)))
        except OutputError as error:
            written = False
            say(str(error))
        except (ScenarioError, WorldError) as error:
            written = False
            say(str(file.error(f"not written: {printable(str(error), LONGEST_PANIC)}")))
    return written


def _sweep_options(parser: Parser) -> None:
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="A .toml file, a name that `slowhand scenarios` lists, or a result.",
    )
    parser.add_argument(
        "--vary",
        metavar="KEY=VALUES",
        action="append",
        default=[],
        help="Values 1,2,4 or a range FROM:TO:STEP or, geometric, FROM:TO:*FACTOR. Several:"
        " all combinations.",
    )
    parser.add_argument(
        "--zip", action="store_true", help="Only combine values that stand at the same place."
    )
    _sampling_options(parser)


def _compare_options(parser: Parser) -> None:
    parser.add_argument(
        "scenarios", metavar="SCENARIO", nargs="+", help="Files, or names, of scenarios."
    )
    _sampling_options(parser)


def _sampling_options(parser: Parser) -> None:
    """The options of `sweep` and `compare`."""
    from slowhand.api import COUNT, SEED
    from slowhand.sweeps import BASELINES, MAX_COUNT, METRIC

    parser.add_argument(
        "--count",
        metavar="N",
        type=integer(1),
        help=f"Worlds of each configuration, all with the same seeds. [default: {COUNT}]",
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
        metavar="NAME",
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
        "--seed", metavar="N", type=integer(0), default=SEED, help=f"[default: {SEED}]"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="Replace a key in all configurations.",
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="Keep the rows of all handshakes there, as Parquet, and continue with what is there.",
    )
    parser.add_argument("--plot", metavar="FILE", help="Draw a figure, .svg or .png.")
    parser.add_argument(
        "--threads",
        metavar="N",
        type=integer(1, MAX_THREADS),
        help="Threads; the rows do not depend on it. [default: all processors]",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on this Dask cluster instead, such as tcp://10.0.0.1:8786.",
    )
    parser.json()


def _sweep(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand.sweeps import SweepError, varied
    from slowhand.sweeps.vary import Axis

    try:
        axes = [Axis.read(text) for text in arguments.vary]
        sampling = _sampling(arguments)
        scenario = _loaded(arguments.scenario, arguments.set)
        configurations = varied(scenario, axes, zip_axes=arguments.zip)
        return _run_sweep(configurations, sampling, arguments, out)
    except SweepError as error:
        raise Complaint(str(error)) from error


def _compare(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand.sweeps import SweepError, compared

    try:
        sampling = _sampling(arguments)
        scenarios = [_loaded(path, arguments.set) for path in arguments.scenarios]
        configurations = compared(scenarios, arguments.scenarios)
        return _run_sweep(configurations, sampling, arguments, out)
    except SweepError as error:
        raise Complaint(str(error)) from error


def _sampling(arguments: argparse.Namespace) -> Sampling:
    from slowhand.sweeps import Sampling

    names = ("count", "seed", "precision", "max_count", "metric", "baseline")
    return Sampling(**{name: getattr(arguments, name) for name in names})


def _run_sweep(
    configurations: list[Configuration],
    sampling: Sampling,
    arguments: argparse.Namespace,
    out: Terminal,
) -> int:
    from slowhand.sweeps import Sweep, figure, report
    from slowhand.sweeps.cluster import ClusterError

    figure_file = None
    if arguments.plot is not None:
        figure.check(arguments.plot, configurations)
        figure_file = Output("--plot", arguments.plot)
        figure_file.check()
        output.check([figure_file], _inputs(configurations[0].base))
    where = {"out": arguments.out, "threads": arguments.threads, "scheduler": arguments.scheduler}
    with Sweep(configurations, sampling, **where) as sweep:
        failure: Exception | None = None
        try:
            stopped = _watch_sweep(sweep)
        except (ClusterError, OutputError) as error:
            stopped, failure = None, error
        with signals.held() as late:  # they cost no report
            for message in sweep.panicked[:1]:
                others = f" (and {len(sweep.panicked) - 1:,} others)" if sweep.panicked[1:] else ""
                say(printable(message + others, LONGEST_PANIC))
            interrupted = stopped is not None or failure is not None
            results = sweep.results()
            if arguments.json:
                _print_json(sweep.json(results, interrupted=interrupted), out)
            else:
                report.show(sweep, results, out, interrupted=interrupted)
        stopped = stopped or next(iter(late), None)
        if failure:
            say(str(failure))
        if figure_file:
            try:
                if interrupted:
                    raise figure_file.error("not written: interrupted")
                figure.draw(results, sampling.metric, figure_file.path)
            except OutputError as error:
                failure = error
                say(str(error))
        if stopped:
            return signals.exit_code(stopped)
        whole = not failure and not any(measured.panicked for measured, _ in results)
        return DONE if whole and any(measured.completed for measured, _ in results) else NO


def _watch_sweep(sweep: Sweep) -> KeyboardInterrupt | None:
    """Runs the sweep and shows progress. Returns the signal that stopped it, if one did."""
    from slowhand import sweeps
    from slowhand.progress import Progress

    with Progress(0, "worlds") as progress:
        progress.resume(sweep.worlds)

        def update(now: sweeps.Progress) -> None:
            note = f"{now.failed:,} failed" if now.failed else ""
            progress.update(now.done, total=now.total, note=note)

        try:
            sweep.run(update)
        except KeyboardInterrupt as stopped:
            return stopped
    return None


def _stacks(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand.api import stacks

    if arguments.json:
        _print_json(stacks(), out)
    else:
        from slowhand import report

        report.show_stacks(stacks(), out)
    return DONE


def _name_option(parser: Parser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="Which to print. [default: list all, with what they gave]",
    )
    parser.json()


def _scenarios(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand import data

    return _bundled("scenario", data.files(data.SCENARIOS), arguments, out)


def _devices(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand import data

    return _bundled("device", data.files(data.DEVICES), arguments, out)


def _bundled(
    kind: str, files: Mapping[str, Path], arguments: argparse.Namespace, out: Terminal
) -> int:
    """Lists files by name, or prints the one with this name. As JSON: its keys and values."""
    from slowhand import data

    name = arguments.name
    if name is not None and name not in files:
        raise Complaint(f"{kind}: found '{printable(name)}', allowed: {', '.join(files)}")
    if name is not None:
        text = files[name].read_text(encoding="utf-8")
        if arguments.json:
            import tomllib

            _print_json(tomllib.loads(text), out)
        else:
            out.write(text)
        return DONE
    about = {name: data.introduction(file) for name, file in files.items()}
    if arguments.json:
        listed = [{kind: n, "introduction": about[n], "file": str(files[n])} for n in files]
        _print_json(listed, out)
    else:
        from slowhand import report

        report.show_bundled(about, out)
    return DONE


def _schema_options(parser: Parser) -> None:
    parser.add_argument(
        "kind", metavar="KIND", nargs="?", default="scenario", help="scenario or device"
    )
    parser.add_argument(
        "--json", action="store_true", help="Without effect: the schema is always JSON."
    )


def _schema(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand.api import schema

    try:
        _print_json(schema(arguments.kind), out)
    except ValueError as error:
        raise Complaint(str(error)) from error
    return DONE


def _capacity_options(parser: Parser) -> None:
    from slowhand.api import SEED
    from slowhand.capacity import HANDSHAKE_SHARE, MAX_CLIENTS, MAX_SLOTS

    parser.add_argument(
        "--slots", metavar="N", type=integer(1, MAX_SLOTS), help="Session slots (R)."
    )
    parser.add_argument("--clients", metavar="N", type=integer(1, MAX_CLIENTS), help="Clients (N).")
    parser.add_argument(
        "--rho",
        metavar="ERLANG",
        type=number,
        help="Erlang that a client without a session offers: rate x mean session.",
    )
    parser.add_argument(
        "--policy",
        metavar="NAME",
        help="What to do when all slots are taken. [default: compare all]",
    )
    parser.add_argument(
        "--handshake-share",
        metavar="SHARE",
        type=number,
        default=HANDSHAKE_SHARE,
        help="How long a handshake takes, as a share of the mean session."
        f" [default: {HANDSHAKE_SHARE:g}]",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=integer(0),
        default=SEED,
        help=f"The seed of the simulation. [default: {SEED}]",
    )
    parser.add_argument(
        "--device", metavar="DEVICE", help="Instead of --slots: as many as fit into this device."
    )
    parser.add_argument(
        "--bytes-per-session",
        metavar="N",
        type=integer(1),
        help="RAM that a session takes, with --device.",
    )
    parser.add_argument(
        "--reserved-bytes",
        metavar="N",
        type=integer(0),
        help="RAM that everything else takes, with --device.",
    )
    parser.json()


def _capacity(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand import capacity

    slots, clients, rho = arguments.slots, arguments.clients, arguments.rho
    device = arguments.device
    if (slots is None) == (device is None):
        raise Complaint("give either --slots or --device, for the number of session slots")
    if (clients is None) != (rho is None) or (device is None and clients is None):
        raise Complaint("give --clients and --rho together")
    memory = result = None
    try:
        if device is not None:
            if arguments.bytes_per_session is None or arguments.reserved_bytes is None:
                raise Complaint("--device needs --bytes-per-session and --reserved-bytes")
            memory = capacity.memory(
                device,
                bytes_per_session=arguments.bytes_per_session,
                reserved_bytes=arguments.reserved_bytes,
            )
        if clients is not None:
            result = capacity.compute(
                slots=memory.slots if memory else slots,
                clients=clients,
                rho=rho,
                policy=arguments.policy,
                handshake_share=arguments.handshake_share,
                seed=arguments.seed,
            )
    except ValueError as error:
        raise Complaint(str(error)) from error
    if arguments.json:
        _print_json({**(result or {}), **({"memory": memory.about()} if memory else {})}, out)
    else:
        capacity.show(result, memory, out)
    return DONE


def _links_options(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="A K7 file, a raw data set of Mercator, or a table."
    )
    parser.add_argument(
        "--out", metavar="TRACE", required=True, help="Write the trace to this .csv file."
    )
    parser.add_argument(
        "--root", metavar="NODE", help="The node that becomes node 0. [default: the first name]"
    )
    parser.add_argument(
        "--least-pdr",
        metavar="SHARE",
        type=number,
        default=0.0,
        help="Leave out links with a lower mean in either direction. [default: 0]",
    )
    parser.json()


def _links(arguments: argparse.Namespace, out: Terminal) -> int:
    """Converts a data set, and prints the section of a scenario that uses it."""
    from slowhand import links

    trace_file = Output("--out", arguments.out)
    if not arguments.out.endswith(".csv"):
        raise trace_file.error("the name must end in .csv")
    trace_file.check()
    output.check([trace_file], [arguments.file])
    file = Path(arguments.file)
    try:
        rows = links.read(file)
        trace = links.Trace(rows, root=arguments.root, least_pdr=arguments.least_pdr)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{printable(arguments.file)}: cannot be read: {reason}") from error
    except links.TraceError as error:
        place = "" if str(error).startswith("--") else f"{printable(arguments.file)}: "
        raise Complaint(f"{place}{error}") from error
    trace_file.write(lambda path: path.write_text(trace.csv(), encoding="utf-8"))
    if arguments.json:
        _print_json(trace.about(), out)
        return DONE
    for name, node in trace.nodes.items():
        out.print(f"node {node}  {printable(name)}")
    for name in trace.left_out:
        out.print(f"left out, no path to node 0: {printable(name)}", "dim")
    out.print(
        f"{len(trace.rows):,} measurements of {len(trace.links):,} links. For a scenario:", "dim"
    )
    out.print()
    out.write(trace.network(Path(arguments.out).name))
    return DONE


def _papers_options(parser: Parser) -> None:
    from slowhand.papers import COUNT

    parser.add_argument(
        "paper",
        metavar="PAPER",
        nargs="?",
        help="Which paper. [default: list all, with what they gave]",
    )
    parser.add_argument("part", metavar="PART", nargs="?", help="A table or figure. [default: all]")
    parser.add_argument(
        "--count",
        metavar="N",
        type=integer(1),
        default=COUNT,
        help=f"Worlds for each point. [default: {COUNT}]",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="Draw the figures, as PNG and SVG, into this folder."
    )
    parser.json()


def _papers(arguments: argparse.Namespace, out: Terminal) -> int:
    from slowhand import papers
    from slowhand.papers import report
    from slowhand.progress import Progress

    if arguments.paper is None:
        if arguments.json:
            _print_json([paper.about() for paper in papers.papers()], out)
        else:
            report.show_list(papers.papers(), out)
        return DONE
    try:
        plan = papers.Plan.of(arguments.paper, arguments.part, count=arguments.count)
    except papers.UnknownPaper as error:
        raise Complaint(str(error)) from error
    if arguments.out is not None:
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
            _print_json({**found.json(), "figures": files}, out)
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


def _print_json(value: object, out: Terminal) -> None:
    out.print(json.dumps(value, indent=2))


COMMANDS = {
    "run": Command(
        "Run a scenario many times and print the results.",
        "quickstart --count 1000 --json",
        _run_options,
        _run,
    ),
    "sweep": Command(
        "Run a scenario with every value of some keys, and compare them.",
        "quickstart --vary session.timeout_s=1,3,9 --count 1000 --out timers",
        _sweep_options,
        _sweep,
    ),
    "compare": Command(
        "Run several scenarios with the same seeds, and compare them.",
        "quickstart xmac --count 1000",
        _compare_options,
        _compare,
    ),
    "stacks": Command(
        "List the TLS libraries that are built in, and what each can do.",
        "--json",
        Parser.json,
        _stacks,
    ),
    "scenarios": Command(
        "List the scenarios that come with slowhand, or print one to start from.",
        "quickstart > mine.toml",
        _name_option,
        _scenarios,
    ),
    "devices": Command(
        "List the devices that come with slowhand, or print one with its sources.",
        "openmote-cc2538",
        _name_option,
        _devices,
    ),
    "schema": Command(
        "Print the JSON Schema of a scenario or a device, for editors that check.",
        "> scenario.schema.json",
        _schema_options,
        _schema,
    ),
    "capacity": Command(
        "Compute how many requests a server with few session slots refuses (Engset).",
        "--slots 3 --clients 5 --rho 0.5 --json",
        _capacity_options,
        _capacity,
    ),
    "links": Command(
        "Convert a testbed's data set into delivery ratios over time, for network.trace.",
        "grenoble.k7.gz --out grenoble.csv",
        _links_options,
        _links,
    ),
    "papers": Command(
        "Reproduce a published paper: its numbers beside ours.",
        "vucinic2015 table1 --json",
        _papers_options,
        _papers,
    ),
}
"""Every command, in the order of the help."""
