"""The command line.

Exit codes: 0 done, 1 the answer is no, 2 bad input (one message on stderr), 130 interrupted.
"""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

import slowhand
from slowhand import data
from slowhand.api import COUNT, SEED, Run, Scenario
from slowhand.papers import COUNT as POINT_COUNT

if TYPE_CHECKING:
    import polars

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Runs real TLS and DTLS libraries over emulated low-power networks, in virtual time.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]

MAX_SEED = 2**64 - 1
"""The largest seed."""

INTERRUPTED = 130
"""The exit code that shells use for a program that Ctrl-C ended: 128 + SIGINT."""


class Complaint(Exception):
    """Bad input. The message is all that the user reads."""


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"slowhand {slowhand.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: slowhand run quickstart")
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: slowhand run quickstart --count 1000 --json")
def run(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A .toml file, or a name that `slowhand scenarios` lists."
        ),
    ],
    count: Annotated[
        int, typer.Option(min=1, max=MAX_SEED, help="How many worlds, one for each seed.")
    ] = COUNT,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="The first seed.")] = SEED,
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Threads; the records do not depend on it.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Replace a key, as in network.link_pdr=0.9."),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(help="Write the first seed's frames to this pcapng file.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Write one row for each handshake to this .parquet file.")
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(help="Write time and energy of the first seed's nodes to .parquet or .csv."),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(help="Write when each radio of the first seed was on, to .parquet or .csv."),
    ] = None,
    buffers: Annotated[
        Path | None,
        typer.Option(help="Write the first seed's buffers over time to .parquet or .csv."),
    ] = None,
    json: Json = False,
) -> None:
    """Run a scenario many times and print the results."""
    if records and records.suffix != ".parquet":
        raise Complaint(f"--records {records}: the name must end in .parquet")
    tables = {"--nodes": nodes, "--timeline": timeline, "--buffers": buffers}
    for option, path in tables.items():
        if path and path.suffix not in (".parquet", ".csv"):
            raise Complaint(f"{option} {path}: the name must end in .parquet or .csv")
    for option, path in {"--pcap": pcap, "--records": records, **tables}.items():
        if path:
            _check_writable(option, path)
    if seed + count - 1 > MAX_SEED:
        raise Complaint(f"--seed {seed} --count {count}: the last seed must be at most {MAX_SEED}")
    loaded = Scenario.with_overrides(scenario, set or [])
    if pcap:
        loaded.capture(pcap, seed=seed)
    if any(tables.values()):
        for path, frame in zip(tables.values(), loaded.inspect(seed=seed), strict=True):
            if path:
                _write_table(frame, path)
    handshakes = Run(loaded, count=count, seed=seed, threads=threads)
    interrupted = _watch(handshakes)
    if records:
        handshakes.frame().write_parquet(records)
    if json:
        _print_json(_run_json(handshakes, interrupted))
    else:
        from slowhand import report

        report.show(handshakes, interrupted, report.console())
        if pcap:
            print(shlex.join(["wireshark", "-r", str(pcap), *loaded.native.wireshark_arguments()]))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command(epilog="Example: slowhand stacks --json")
def stacks(json: Json = False) -> None:
    """List the TLS libraries that are built in, and what each can do."""
    if json:
        _print_json(slowhand.stacks())
    else:
        from slowhand import report

        report.show_stacks(slowhand.stacks(), report.console())


@app.command(epilog="Example: slowhand scenarios quickstart > mine.toml")
def scenarios(
    name: Annotated[str | None, typer.Argument(help="Which to print. [default: list them]")] = None,
    json: Json = False,
) -> None:
    """List the scenarios that come with slowhand, or print one to start from."""
    _show_bundled("scenario", data.files(data.SCENARIOS), name, json)


@app.command(epilog="Example: slowhand devices openmote-cc2538")
def devices(
    name: Annotated[str | None, typer.Argument(help="Which to print. [default: list them]")] = None,
    json: Json = False,
) -> None:
    """List the devices that come with slowhand, or print one: every constant with its source."""
    _show_bundled("device", data.files(data.DEVICES), name, json)


@app.command(epilog="Example: slowhand schema > scenario.schema.json")
def schema(
    kind: Annotated[
        str, typer.Argument(metavar="[scenario|device]", help="Of which kind of file.")
    ] = "scenario",
    json: Annotated[
        bool, typer.Option("--json", help="Without effect: the schema is always JSON.")
    ] = False,
) -> None:
    """Print the JSON Schema of a scenario or a device, for editors that check while you type."""
    try:
        _print_json(slowhand.schema(kind))
    except ValueError as error:
        raise Complaint(str(error)) from error


@app.command(epilog="Example: slowhand capacity --slots 3 --clients 5 --rho 0.5 --json")
def capacity(
    slots: Annotated[
        int | None, typer.Option(min=1, max=slowhand.capacity.MOST_SLOTS, help="Session slots (R).")
    ] = None,
    clients: Annotated[
        int | None, typer.Option(min=1, max=slowhand.capacity.MOST_CLIENTS, help="Clients (N).")
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(help="Erlang that a client without a session offers: rate x mean session."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="What to do when all slots are taken. [default: compare all]"),
    ] = None,
    handshake_share: Annotated[
        float, typer.Option(help="How long a handshake takes, as a share of the mean session.")
    ] = slowhand.capacity.HANDSHAKE_SHARE,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the simulation.")] = SEED,
    device: Annotated[
        str | None, typer.Option(help="Instead of --slots: as many as fit into this device.")
    ] = None,
    bytes_per_session: Annotated[
        int | None, typer.Option(min=1, help="RAM that a session takes, with --device.")
    ] = None,
    reserved_bytes: Annotated[
        int | None, typer.Option(min=0, help="RAM that everything else takes, with --device.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute how many requests a server with few session slots refuses (Engset)."""
    if (slots is None) == (device is None):
        raise Complaint("give either --slots or --device, for the number of session slots")
    if (clients is None) != (rho is None) or (device is None and clients is None):
        raise Complaint("give --clients and --rho together")
    memory = result = None
    try:
        if device is not None:
            if bytes_per_session is None or reserved_bytes is None:
                raise Complaint("--device needs --bytes-per-session and --reserved-bytes")
            memory = slowhand.capacity.memory(
                device, bytes_per_session=bytes_per_session, reserved_bytes=reserved_bytes
            )
        if clients is not None and rho is not None:
            result = slowhand.capacity.compute(
                slots=memory.slots if memory else slots or 0,
                clients=clients,
                rho=rho,
                policy=policy,
                handshake_share=handshake_share,
                seed=seed,
            )
    except ValueError as error:
        raise Complaint(str(error)) from error
    if json:
        _print_json({**(result or {}), **({"memory": memory.about()} if memory else {})})
    else:
        from slowhand import report

        slowhand.capacity.show(result, memory, report.console())


@app.command(epilog="Example: slowhand papers vucinic2015 table1 --json")
def papers(
    paper: Annotated[str | None, typer.Argument(help="Which paper. [default: list them]")] = None,
    part: Annotated[str | None, typer.Argument(help="A table or figure. [default: all]")] = None,
    count: Annotated[int, typer.Option(min=1, help="Handshakes for each point.")] = POINT_COUNT,
    out: Annotated[
        Path | None, typer.Option(help="Draw the figures, as PNG and SVG, into this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Reproduce a published paper: its numbers beside ours."""
    from slowhand import papers, report
    from slowhand.papers import report as comparison
    from slowhand.progress import Progress

    if paper is None:
        if json:
            _print_json([p.about() for p in papers.papers()])
        else:
            comparison.show_list(papers.papers(), report.console())
        return
    if out:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Complaint(f"--out {out}: cannot be made: {error.strerror}") from error
    try:
        plan = papers.Plan.of(paper, part, count=count)
    except papers.UnknownPaper as error:
        raise Complaint(str(error)) from error
    with Progress(plan.handshakes) as progress:
        found = plan.run(progress.update)
    files = found.draw(out) if out else []
    if json:
        _print_json({**found.json(), "figures": [str(file) for file in files]})
    else:
        comparison.show(found, report.console())
    if not found.succeeded:
        raise typer.Exit(1)


def main() -> NoReturn:
    """Runs the command line and exits."""
    try:
        code = app(prog_name="slowhand", standalone_mode=False)
    except (Complaint, slowhand.ScenarioError, OSError) as error:
        _fail(str(error), 2)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", INTERRUPTED)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> NoReturn:
    if message:
        print(f"slowhand: {message}", file=sys.stderr)
    sys.exit(code)


def _watch(handshakes: Run) -> bool:
    """Waits for the end and shows progress. Returns True if Ctrl-C came first."""
    from slowhand.progress import Progress

    try:
        with Progress(handshakes.count) as progress:
            finished = False
            while not finished:
                done, finished = handshakes.wait(0.1)
                progress.update(done)
    except KeyboardInterrupt:
        handshakes.cancel()
        return True
    return False


def _run_json(handshakes: Run, interrupted: bool) -> dict[str, object]:
    summary = handshakes.summary()
    return {
        "scenario": handshakes.scenario.path,
        "seed": handshakes.seed,
        "count": handshakes.count,
        "interrupted": interrupted,
        **summary,
        "wall_s": handshakes.wall_s,
        "assumed": handshakes.scenario.about()["assumed"],
    }


def _show_bundled(kind: str, files: Mapping[str, Path], name: str | None, json: bool) -> None:
    """Lists files by name, or prints the one with this name. As JSON: its keys and values."""
    if name is not None and name not in files:
        raise Complaint(f"{kind}: found {name!r}, allowed: {', '.join(files)}")
    if name is not None:
        text = files[name].read_text()
        if json:
            _print_json(tomllib.loads(text))
        else:
            print(text, end="")
        return
    about = {name: data.introduction(file) for name, file in files.items()}
    if json:
        _print_json([{kind: n, "introduction": about[n], "file": str(files[n])} for n in files])
    else:
        from slowhand import report

        report.show_bundled(about, report.console())


def _check_writable(option: str, path: Path) -> None:
    """Checks before the work starts that a file can be written. Leaves no file behind."""
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise Complaint(f"{option} {path}: cannot be written: {error.strerror}") from error
    if not existed:
        path.unlink()


def _write_table(frame: polars.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2))
