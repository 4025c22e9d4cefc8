"""A result says why handshakes fail, and how its run is repeated. No result is lost."""

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import QUICKSTART, Cli, the_message, without_time
from slowhand import _native, capacity, commands, papers, signals
from slowhand import cli as cli_module

LONG: dict[str, Any] = {
    "network": {"topology": {"kind": "tree", "depth": 3, "fan_out": 4}},
    "mac": {"kind": "csma"},
    "traffic": [{"from": "nodes", "to": "internet", "interval_ms": 1000, "octets": 40}],
    "client": {"device": "nrf52840", "start_s": 100_000},
    "session": {"stack": "lean-dtls", "suite": "TLS_PSK_WITH_AES_128_CCM_8"},
}
"""A world that takes minutes: millions of datagrams cross it before the first handshake."""

LOSSY = ("--set", "network.link_pdr=0.8", "--set", "lowpan.fragment_loss=0.05")
NEVER: dict[str, slowhand.Setting] = {"session.give_up_s": 0.01}


def test_columns_keep_their_types_if_nothing_completes(tmp_path: Path) -> None:
    completed = slowhand.run(QUICKSTART, count=3)
    run = slowhand.Run(slowhand.Scenario(QUICKSTART, NEVER), count=3)
    assert run.summary()["metrics"] == {}
    assert run.summary()["metrics_failed"]["energy_client_mj"]["mean"] >= 0
    frame = run.frame()
    assert frame["duration_s"].null_count() == 3
    assert frame.schema == completed.schema
    assert frame.schema["duration_s"] == polars.Float64
    assert frame.schema["queue_peak"] == polars.List(polars.Int64)
    frame.write_parquet(tmp_path / "r.parquet")
    assert polars.read_parquet_schema(tmp_path / "r.parquet") == completed.schema


def test_the_largest_seed_is_a_seed() -> None:
    frame = slowhand.run(QUICKSTART, count=1, seed=2**64 - 1)
    assert frame["seed"].to_list() == [2**64 - 1]
    assert frame.schema == slowhand.run(QUICKSTART, count=1).schema


def test_json_says_why_handshakes_fail_and_where_datagrams_are_lost(cli: Cli) -> None:
    # Nothing ever arrives, but it is sent.
    drop = f"lowpan.dropped_frames={list(range(1, 200))}"
    stack = ("--set", "session.stack=mbedtls", "--set", "session.server_stack=mbedtls")
    done = cli("run", QUICKSTART, "--count", 2, *stack, "--set", drop, "--json", code=1)
    result = json.loads(done.stdout)
    (failure,) = result["failures"]
    assert (failure["end"], failure["count"]) == ("client", 2)
    assert failure["reason"].strip()
    assert result["failed"] == {failure["outcome"]: 2}
    loss = result["losses"][0]
    assert (loss["reason"], loss["key"]) == ("injected_loss", "lowpan.dropped_frames")
    assert loss["count"] > 0
    assert isinstance(loss["node"], int)
    assert result["metrics"] == {}
    assert result["metrics_failed"]["frames"]["mean"] > 0
    assert result["quantiles"] == {"relative_error": 0.0}


def test_records_say_it_too() -> None:
    scenario = slowhand.Scenario(QUICKSTART, {"lowpan.fragment_loss": 0.1})
    frame = slowhand.run(scenario, count=20)
    losses = frame.explode("losses").unnest("losses")
    assert losses["count"].sum() == frame["datagrams_lost"].sum()
    by_reason = losses.filter(polars.col("reason") == "injected_loss")["count"].sum()
    assert by_reason > 0
    assert frame.filter(outcome="completed")["failure_reason"].null_count() == len(
        frame.filter(outcome="completed")
    )


@pytest.mark.parametrize("name", ["r.parquet", "r.json"])
def test_a_result_repeats_itself(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.toml").write_text(QUICKSTART.read_text())
    options = ("--count", 6, "--seed", 7, *LOSSY, "--json")
    first = cli("run", "mine.toml", *options, "--records", "r.parquet").stdout
    (tmp_path / "r.json").write_text(first)
    (tmp_path / "mine.toml").unlink()  # the result has it

    again = cli("run", name, "--json", "--records", "again.parquet").stdout
    assert without_time(again) == without_time(first)
    frame = polars.read_parquet(tmp_path / "r.parquet")
    assert_frame_equal(polars.read_parquet(tmp_path / "again.parquet"), frame)
    assert_frame_equal(slowhand.run(tmp_path / name), frame)

    # The report names the file that is there.
    assert f"slowhand run {name} " in cli("run", name).stdout

    # Options of the command line win. Overrides come on top, and are kept.
    more = ("--count", 2, "--seed", 8, "--set", "session.mtu=200", "--records", "more.parquet")
    result = json.loads(cli("run", name, *more, "--json").stdout)
    assert (result["seed"], result["count"]) == (8, 2)
    assert result["overrides"] == [*LOSSY[1::2], "session.mtu=200"]
    frame = polars.read_parquet(tmp_path / "more.parquet")
    assert frame["seed"].to_list() == [8, 9]
    assert_frame_equal(slowhand.run(tmp_path / "more.parquet"), frame)


def test_a_result_of_another_version_says_so(cli: Cli, tmp_path: Path) -> None:
    result = json.loads(cli("run", QUICKSTART, "--count", 1, "--json").stdout)
    assert result["slowhand"] == slowhand.__version__
    (tmp_path / "r.json").write_text(json.dumps({**result, "slowhand": "0.0.1"}))
    with pytest.warns(UserWarning, match=r"r\.json: slowhand 0\.0\.1 made it, and this is "):
        slowhand.Scenario(tmp_path / "r.json")
    done = cli("run", "r.json", "--json")
    assert done.stderr.startswith("slowhand: r.json: slowhand 0.0.1 made it")
    assert without_time(done.stdout) == without_time(json.dumps(result))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.json", "nonsense", "r.json: "),
        ("r.json", "[]", "does not say how its run is repeated"),
        ("r.json", '{"slowhand": "0.1.0", "files": {}}', "does not say how its run is repeated"),
        ("r.parquet", "nonsense", "r.parquet: is no Parquet file"),
        ("r.json", None, "r.json"),
        ("r.json", "[" * 200_000, "r.json: is nested too deeply"),
    ],
)
def test_what_is_no_result_is_refused(
    cli: Cli, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    assert said in the_message(cli("run", name, code=2))


def test_a_damaged_file_is_one_message(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    handlers: None,
) -> None:
    """At some of them polars panics, and writes lines of its own to stderr."""
    rows = tmp_path / "rows"
    given = ("--vary", "session.timeout_s=1", "--count", "3", "--out", str(rows))
    sweep = ("sweep", str(QUICKSTART), *given)
    cli(*sweep)
    (file,) = rows.iterdir()
    whole = file.read_bytes()
    # The first column begins behind the magic, at octet 4. Now it begins at -5 (zigzag of Thrift).
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    damaged = whole[footer:].replace(b"\x26\x08", b"\x26\x09", 1)
    file.write_bytes(whole[:footer] + damaged)
    for command in [("run", file), ("settings", file), sweep]:
        message = the_message(cli(*command, code=2))
        assert f"{file.name}: is no Parquet file: " in message

    def panic(*arguments: object, **options: object) -> None:
        os.write(2, b"thread 'async' panicked")
        raise polars.exceptions.PanicException("left == right")

    file.write_bytes(whole)
    monkeypatch.setattr(polars, "read_parquet", panic)
    assert cli_module.execute(sweep) == 2
    reason = f"{file.name} cannot be read: it is damaged: remove this file, and its seeds run again"
    assert capfd.readouterr() == ("", f"slowhand: --out {rows}: {reason}\n")


@pytest.mark.parametrize(
    ("key", "found", "said"),
    [
        ("seed", -1, "seed: found -1"),
        ("seed", -(10**40), "seed: found -10000"),
        ("seed", 2**64, "seed: found 18446744073709551616"),
        ("seed", True, "seed: found bool"),
        ("seed", 1.0, "seed: found float"),
        ("count", 0, "count: found 0"),
        ("count", True, "count: found bool"),
        ("count", 2**64, "count: found 18446744073709551616"),
        ("overrides", [1], "overrides, files: found what is no text"),
        ("files", {"quickstart.toml": None}, "overrides, files: found what is no text"),
        ("files", [], "files: found list"),
        ("file", "../other.toml", "file: found ../other.toml, which is not in files"),
        ("scenario", None, "scenario: found NoneType"),
        ("interrupted", 1, "interrupted: found int"),
    ],
)
def test_a_result_that_was_edited_wrongly_is_refused(
    cli: Cli, tmp_path: Path, key: str, found: object, said: str
) -> None:
    result = json.loads(cli("run", QUICKSTART, "--count", 1, "--json").stdout)
    (tmp_path / "r.json").write_text(json.dumps({**result, key: found}))
    message = the_message(cli("run", "r.json", code=2))
    assert message.startswith(f"slowhand: r.json: does not say how its run is repeated: {said}")


def test_a_result_without_a_world_says_why(cli: Cli, tmp_path: Path) -> None:
    result = json.loads(cli("run", QUICKSTART, "--count", 1, "--json").stdout)
    result |= {"count": 0, "interrupted": True}
    (tmp_path / "r.json").write_text(json.dumps(result))
    reason = f"its run was interrupted before its first world; run its scenario, {QUICKSTART}"
    assert the_message(cli("run", "r.json", code=2)) == f"slowhand: r.json: {reason}"


def test_an_error_of_a_file_has_the_name_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        slowhand.Run("quickstart", count=1).write_parquet(tmp_path / "gone" / "x.parquet")
    assert caught.value.filename == str(tmp_path / "gone" / "x.parquet")


@pytest.mark.parametrize("name", ["r.parquet", "r.json"])
def test_a_scenario_whose_name_is_not_utf_8_repeats(cli: Cli, tmp_path: Path, name: str) -> None:
    scenario = tmp_path / "sc\udcffn.toml"
    scenario.write_text(QUICKSTART.read_text())
    first = cli("run", scenario, "--count", 2, "--json", "--records", "r.parquet").stdout
    (tmp_path / "r.json").write_text(first)
    scenario.unlink()
    assert without_time(cli("run", name, "--json").stdout) == without_time(first)


def test_python_writes_a_result_that_repeats_itself(tmp_path: Path) -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART, {"network.link_pdr": 0.8}), count=3, seed=7)
    run.write_parquet(tmp_path / "r.parquet")
    frame = polars.read_parquet(tmp_path / "r.parquet")
    assert frame["seed"].to_list() == [7, 8, 9]
    assert_frame_equal(slowhand.run(tmp_path / "r.parquet"), frame)


@pytest.mark.parametrize("option", ["--nodes", "--timeline", "--buffers"])
def test_a_table_says_how_its_world_is_repeated(cli: Cli, tmp_path: Path, option: str) -> None:
    cli("run", QUICKSTART, *LOSSY, "--seed", 7, "--count", 3, option, "t.parquet")
    cli("run", "t.parquet", option, "again.parquet")
    frame = polars.read_parquet(tmp_path / "t.parquet")
    assert_frame_equal(polars.read_parquet(tmp_path / "again.parquet"), frame)
    about = json.loads(polars.read_parquet_metadata(tmp_path / "t.parquet")["slowhand"])
    assert (about["seed"], about["count"], about["table"]) == (7, 1, option.strip("-"))


def test_an_interrupted_result_repeats_the_worlds_that_it_has(tmp_path: Path) -> None:
    # One thread: the worlds that are done are the first ones.
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=1_000_000, threads=1)
    while not run.wait(0.05)[0]:
        pass
    run.cancel()
    frame = run.frame()
    assert 0 < run.complete == len(frame) < 1_000_000
    assert (run.about()["count"], run.about()["interrupted"]) == (len(frame), True)
    run.write_parquet(tmp_path / "r.parquet")
    with pytest.warns(UserWarning, match=r"r\.parquet: its run was interrupted after "):
        again = slowhand.run(tmp_path / "r.parquet")
    assert_frame_equal(again, frame)


@pytest.fixture
def with_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    """No input makes a world panic. So what the native module says then is put in its place."""

    def panic(*arguments: object) -> NoReturn:
        raise RuntimeError("slowhand panicked; stderr has the details")

    monkeypatch.setattr(_native, "inspect", panic)
    monkeypatch.setattr(_native, "capture", panic)

    class Run:
        def __init__(self, *arguments: Any):
            self._run = REAL_RUN(*arguments)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._run, name)

        def panicked(self) -> tuple[list[str], int]:
            return ["the world of seed 1 panicked: it is bad"], 1

    monkeypatch.setattr(_native, "Run", Run)


REAL_RUN = _native.Run


def test_a_world_that_panics_costs_no_other_file_and_no_message(
    with_a_panic: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    suffixes = {"report": "html"}
    options = {
        f"--{name}": str(tmp_path / f"{name}.{suffixes.get(name, 'parquet')}")
        for name in commands.run.FILES
    }
    words = [word for pair in options.items() for word in pair]
    try:
        assert cli_module.execute(["run", str(QUICKSTART), "--count", "2", *words]) == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    output, errors = capsys.readouterr()
    assert output.startswith("2 of 2 handshakes completed")
    panicked = "the world of seed 1 panicked: "
    assert errors.splitlines() == [
        f"slowhand: {panicked}it is bad",
        *(
            f"slowhand: {option} {path}: not written: {panicked}slowhand panicked; stderr has the"
            " details"
            for option, path in options.items()
            if option not in ("--records", "--report")
        ),
    ]
    assert {file.name for file in tmp_path.iterdir()} == {"records.parquet", "report.html"}


def test_a_world_that_panics_costs_no_rows(with_a_panic: None) -> None:
    with pytest.warns(UserWarning, match="the world of seed 1 panicked: it is bad"):
        assert len(slowhand.run(QUICKSTART, count=2)) == 2
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=2)
    assert run.panicked == ["the world of seed 1 panicked: it is bad"]
    assert run.summary()["completed"] == 2
    with pytest.raises(slowhand.WorldError, match="the world of seed 5 panicked"):
        run.scenario.inspect(seed=5)


def test_a_world_that_panics_costs_a_part_of_a_paper_only(with_a_panic: None) -> None:
    found = papers.Plan.of("vucinic2015", count=1).run()
    assert {"table1", "table2", "memory"} <= set(found.parts) - set(found.failures)
    assert "it is bad" in found.failures["fig2"]
    assert not found.succeeded


def test_parquet_of_others_is_no_result(cli: Cli, tmp_path: Path) -> None:
    polars.DataFrame({"seed": [1]}).write_parquet(tmp_path / "r.parquet")
    message = the_message(cli("run", "r.parquet", code=2))
    assert "allowed: a file that `slowhand run --records` or `--json` wrote" in message


def test_a_run_without_records_has_a_summary_and_no_frame() -> None:
    scenario = slowhand.Scenario(QUICKSTART, {"network.link_pdr": 0.8})
    run = slowhand.Run(scenario, count=10, records=False)
    assert run.summary() == slowhand.Run(scenario, count=10).summary()
    with pytest.raises(RuntimeError, match=r"keeps no records.*records=False"):
        run.frame()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"seed": 2**64 - 1, "count": 3}, "count: found 3, allowed: at most 1"),
        ({"seed": -1}, "seed: found -1, allowed: from 0 to 18446744073709551615"),
        ({"seed": 2**64}, "seed: found 18446744073709551616"),
        ({"count": 0}, "count: found 0, allowed: 1 or more"),
        ({"count": -5}, "count: found -5"),
        ({"count": 2**200}, "count: found 16069380442589902755"),
        ({"seed": 10**5000}, "seed: found a number of more than 300 digits, allowed: "),
        ({"threads": 0}, "threads: found 0, allowed: from 1 to 1024"),
        ({"threads": 1025}, "threads: found 1025"),
    ],
)
def test_impossible_runs_are_refused(arguments: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        slowhand.run(QUICKSTART, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"count": "3"}, "count: found '3' of type str, allowed: a whole number"),
        ({"threads": "1"}, "threads: found '1' of type str, allowed: a whole number"),
        ({"set": 3}, "settings: found 3, allowed: a dictionary, or a list of texts"),
    ],
)
def test_arguments_of_another_type_are_refused_by_name(arguments: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        slowhand.run(QUICKSTART, **arguments)


def test_the_client_of_an_explanation_is_a_number() -> None:
    with pytest.raises(TypeError, match="client: found '1' of type str, allowed: a whole number"):
        slowhand.Scenario(QUICKSTART).explain(client="1")  # type: ignore[arg-type]


def test_a_run_takes_what_run_takes() -> None:
    assert slowhand.Run(QUICKSTART, count=2).frame().equals(slowhand.run(QUICKSTART, count=2))


@pytest.mark.parametrize("timeout_s", [-1.0, -math.inf, math.nan])
def test_a_wait_needs_a_time(timeout_s: float) -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=1)
    with pytest.raises(ValueError, match=r"timeout_s: found .*, allowed: 0 or more"):
        run.wait(timeout_s)


@pytest.mark.parametrize("timeout_s", [1e19, 1e300, math.inf])
def test_a_wait_may_be_without_end(timeout_s: float) -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=2)
    assert run.wait(timeout_s) == (2, True)
    assert run.wall_s


def test_a_run_may_be_used_again_and_from_several_threads() -> None:
    run = slowhand.Run(slowhand.Scenario(QUICKSTART), count=20)
    lengths: list[int] = []
    threads = [threading.Thread(target=lambda: lengths.append(len(run.frame()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert lengths == [20] * 4
    run.finish()
    run.cancel()
    assert run.wait(0) == (20, True)
    assert run.summary()["completed"] == 20


def test_cancel_waits_neither_for_a_world_nor_for_another_thread() -> None:
    run = slowhand.Run(slowhand.Scenario(LONG), count=4)
    waiting = threading.Thread(target=lambda: run.wait(60))
    waiting.start()
    time.sleep(0.5)
    began = time.monotonic()
    run.cancel()
    waiting.join(10)
    assert not waiting.is_alive()
    assert run.wait(10) == (0, True)
    assert time.monotonic() - began < 10, "a world takes many times longer"
    assert run.frame().is_empty(), "worlds that were in progress have no records"


class Signalled(Exception):
    """The error that a handler raises."""


@contextmanager
def signal_soon(after_s: float = 0.4) -> Iterator[None]:
    """A signal comes, and its handler raises. What it interrupts must end soon."""

    def handle(number: int, frame: Any) -> None:
        raise Signalled

    before = signal.signal(signal.SIGUSR1, handle)
    timer = threading.Timer(after_s, lambda: os.kill(os.getpid(), signal.SIGUSR1))
    began = time.monotonic()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
    # 0.1 s at most, on a machine that does nothing else. What it interrupts takes much longer.
    assert time.monotonic() - began < after_s + 10


@pytest.mark.parametrize(
    "work",
    [
        lambda scenario, path: scenario.capture(path),
        lambda scenario, path: scenario.inspect(),
        lambda scenario, path: slowhand.Run(scenario, count=2).finish(),
        lambda scenario, path: slowhand.Run(scenario, count=2).frame(),
        lambda scenario, path: slowhand.Run(scenario, count=2).summary(),
        lambda scenario, path: slowhand.Run(scenario, count=2).wait(60),
        lambda scenario, path: slowhand.run(scenario, count=2),
    ],
    ids=["capture", "inspect", "finish", "frame", "summary", "wait", "run"],
)
def test_a_signal_ends_every_wait(
    tmp_path: Path, work: Callable[[slowhand.Scenario, Path], object]
) -> None:
    scenario = slowhand.Scenario(LONG)
    with pytest.raises(Signalled), signal_soon():
        work(scenario, tmp_path / "x.pcapng")
    # Work that was interrupted has ended: nothing appears any more.
    left = sorted(tmp_path.iterdir())
    time.sleep(0.2)
    assert sorted(tmp_path.iterdir()) == left


def test_a_signal_ends_a_long_calculation() -> None:
    def handle(number: int, frame: Any) -> None:
        raise Signalled

    before = signal.signal(signal.SIGVTALRM, handle)
    began = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        slots, clients, rho = capacity.MAX_SLOTS, capacity.MAX_CLIENTS, capacity.MAX_RHO
        with pytest.raises(Signalled):
            capacity.compute(slots=slots, clients=clients, rho=rho)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert time.process_time() - began < 0.6  # of two seconds


def test_a_signal_ends_the_reading_of_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(Signalled), signal_soon():
        slowhand.Scenario(tmp_path / "pipe.toml")
    # The thread that reads it can end.
    os.close(os.open(tmp_path / "pipe.toml", os.O_WRONLY))


@pytest.mark.parametrize("function", [slowhand.join, slowhand.oscar])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count: found 0, allowed: 1 or more"),
        ({"count": 2, "seed": 2**64 - 1}, "count: found 2, allowed: at most 1, so that the last"),
        ({"threads": 0}, "threads: found 0, allowed: from 1 to 1024"),
        ({"threads": 1025}, "threads: found 1025"),
    ],
)
def test_worlds_that_there_are_not_are_refused(
    function: Callable[..., object], arguments: dict[str, int], message: str
) -> None:
    with pytest.raises(slowhand.ArgumentError, match=message):
        function(function.__name__, **arguments)
