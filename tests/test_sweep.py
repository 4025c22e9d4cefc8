"""A sweep compares configurations over the same seeds, and ends in the same rows however it ran."""

import contextlib
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest
from polars.testing import assert_frame_equal

import slowhand
from conftest import COMMAND, QUICKSTART, ROOT, Cli, the_message, with_files_of_at_most
from slowhand import SweepError, output, sweeps
from slowhand.keys import Setting
from slowhand.progress import Progress
from slowhand.sweeps import METRIC, Sampling, Sweep, varied
from slowhand.sweeps.cluster import REQUIREMENT, Cluster
from slowhand.sweeps.dataset import Chunk, Part, Rows
from slowhand.sweeps.following import ways
from slowhand.sweeps.queue import FIRST, LONGEST_S, MOST_WORLDS, Queue
from slowhand.sweeps.vary import Axis, combinations

PSK = QUICKSTART.with_name("psk-tinydtls.toml")

FAST = ("session.stack=lean-dtls", "session.cryptography=weightless", "network.link_pdr=0.8")
"""Some thousand handshakes of that scenario take a second."""

SETTINGS: dict[str, Setting] = {
    "session.stack": "lean-dtls",
    "session.cryptography": "weightless",
    "network.link_pdr": 0.8,
}

TIMEOUTS = "session.timeout_s=0.2:3.2:*4"


def fast(*arguments: str | int | Path) -> list[str]:
    """The arguments of a sweep of that scenario."""
    sets = [word for key in FAST for word in ("--set", key)]
    return ["sweep", str(PSK), *sets, *map(str, arguments)]


def rows(folder: Path) -> polars.DataFrame:
    """All rows of a sweep, in one order."""
    frame = polars.read_parquet(folder)
    varied = [name for name in frame.columns if "." in name]
    return frame.sort("scenario", *varied, "seed", "client")


def values(text: str) -> list[str]:
    return [value.text for value in Axis.read(f"key={text}").values]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2,4", ["1", "2", "4"]),
        (" 0.5 , true,mbedtls", ["0.5", "true", "mbedtls"]),
        ("1:9:2", ["1", "3", "5", "7", "9"]),
        ("1:4:2", ["1", "3"]),
        ("0.8:1:0.05", ["0.8", "0.85", "0.9", "0.95", "1"]),
        ("3:1:-1", ["3", "2", "1"]),
        ("1:16:*2", ["1", "2", "4", "8", "16"]),
        ("8:1:*0.5", ["8", "4", "2", "1"]),
        ("1e3:1e5:*10", ["1000", "10000", "100000"]),
        ("7:7:1", ["7"]),
        ("1,2,4:16:*2", ["1", "2", "4", "8", "16"]),
        ('[],["all"],["a","b"]', ["[]", '["all"]', '["a","b"]']),
        ('{ kind = "line", hops = 1 },{ kind = "line", hops = 2 }', None),
        ('"a,b",c', ['"a,b"', "c"]),
        ("2001:db8::1", ["2001:db8::1"]),
    ],
)
def test_values_and_ranges(text: str, expected: list[str] | None) -> None:
    assert values(text) == (expected or [f'{{ kind = "line", hops = {n} }}' for n in (1, 2)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key", "--vary: found 'key', allowed: KEY=VALUE,VALUE or KEY=FROM:TO:STEP"),
        ("=1", "--vary: found '=1', allowed: KEY=VALUE,VALUE"),
        ("key=", "--vary key: found no value, allowed: one or more"),
        ("key=1,1.0", "--vary key: found 1.0 twice, allowed: once"),
        ("key=5:1:1", "--vary key: found 5:1:1, an empty range, allowed: a step that leads from 5"),
        ("key=1:5:*0.5", "--vary key: found 1:5:*0.5, an empty range"),
        ("key=1:5", "--vary key: found 1:5, allowed: FROM:TO:STEP or FROM:TO:*FACTOR"),
        ("key=1:5:0", "--vary key: found 1:5:0, allowed: a step that is not 0"),
        ("key=0:5:*2", "--vary key: found 0:5:*2, allowed: a start that is not 0"),
        (
            "key=1:5:*1",
            "--vary key: found 1:5:*1, allowed: a start that is not 0, a factor",
        ),
        ("key=0:1e300:1", "--vary key: found 0:1e300:1, allowed: at most 100,000 values"),
    ],
)
def test_what_is_no_range_is_refused(text: str, message: str) -> None:
    with pytest.raises(SweepError, match=f"^{re.escape(message)}"):
        Axis.read(text)


def test_several_keys_give_all_combinations_or_those_of_the_same_place() -> None:
    axes = [Axis.read("a=1,2"), Axis.read("b=x,y")]
    every = [dict(found.settings) for found in combinations(axes, zip_axes=False)]
    assert every == [{"a": a, "b": b} for a in (1.0, 2.0) for b in ("x", "y")]
    pairs = [dict(found.settings) for found in combinations(axes, zip_axes=True)]
    assert pairs == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}]
    with pytest.raises(SweepError, match="--zip: found 2 of a, 3 of c, allowed: as many values"):
        combinations([axes[0], Axis.read("c=1,2,3")], zip_axes=True)
    with pytest.raises(TypeError, match="vary a: found 1 of type int, allowed: a list of values"):
        slowhand.sweep(PSK, {"a": 1})  # type: ignore[dict-item]
    with pytest.raises(SweepError, match="--vary a: found twice, allowed: once"):
        combinations([axes[0], axes[0]], zip_axes=False)
    big = [Axis.read(f"{key}=1:1000:1") for key in "ab"]
    with pytest.raises(SweepError, match="found 1,000,000 combinations, allowed: at most 100,000"):
        combinations(big, zip_axes=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--vary", "session.timeout=1"],
            "--vary session.timeout: found an unknown key (did you",
        ),
        (["--vary", "session.timeout_s=2:1:1"], "--vary session.timeout_s: found 2:1:1, an empty"),
        (["--vary", "session.stack=openssl,x"], '--vary session.stack: found "x", allowed: one of'),
        (["--vary", "network.topology.hops=2,3"], "with network.topology.hops=2: quickstart.toml:"),
        ([], "--vary: found nothing, allowed: KEY=VALUES, once or more"),
        (["--vary", TIMEOUTS, "--metric", "x"], "--metric: found 'x', allowed: duration_s, "),
        (["--vary", TIMEOUTS, "--baseline", "x"], "--baseline: found 'x', allowed: first, best"),
        (["--vary", TIMEOUTS, "--precision", "5%", "--count", 2], "give either --count or"),
        (["--vary", TIMEOUTS, "--precision", "100%"], "--precision: found 100 %, allowed: above"),
        (["--vary", TIMEOUTS, "--precision", "few"], "--precision: found few, allowed: a share"),
        (["--vary", TIMEOUTS, "--plot", "x.pdf"], "--plot x.pdf: the name must end in .svg or .p"),
        (["--vary", TIMEOUTS, "--out", "/dev/null"], "--out /dev/null: cannot be made: a file has"),
        (
            ["--vary", TIMEOUTS, "--scheduler", "tcp://127.0.0.1:9"],
            "--scheduler tcp://127.0.0.1:9: found no Dask scheduler (Connection refused): ",
        ),
        (
            ["--vary", TIMEOUTS, "--scheduler", "there"],
            "--scheduler there: found no Dask scheduler (missing port number in address",
        ),
    ],
)
def test_bad_input_has_one_message(cli: Cli, arguments: list[str | int], message: str) -> None:
    done = cli("sweep", "quickstart", *arguments, code=2)
    assert the_message(done).startswith(f"slowhand: {message}")


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1" + "0" * 5000, "[" * 5000, "nan", "\udcff"])
def test_a_value_that_is_not_possible_leaves_no_traceback(cli: Cli, value: str) -> None:
    assert "session.mtu" in the_message(cli("sweep", PSK, "--vary", f"session.mtu={value}", code=2))


def test_a_disk_that_is_full_keeps_what_is_written(tmp_path: Path) -> None:
    # As on a full disk: no file may be longer than the first two, or a few more.
    arguments = fast("--vary", "session.timeout_s=1", "--count", 20_000, "--out", "r")
    done = with_files_of_at_most(40_000, *arguments, cwd=tmp_path, timeout=60)
    assert done.returncode == 1
    said = re.search(
        r"--out r/\w+-(\d+)-\d+\.parquet: cannot be written: File too large$", done.stderr
    )
    assert said
    assert "Interrupted. What is complete:" in done.stdout
    there = {file.name[16:] for file in (tmp_path / "r").iterdir()}
    assert {"-1-10.parquet", "-11-20.parquet"} <= there
    # The size of the others is by the speed of this computer.
    assert sorted(rows(tmp_path / "r")["seed"]) == list(range(1, int(said[1])))


def test_without_out_the_message_names_no_option_that_was_not_given(tmp_path: Path) -> None:
    arguments = fast("--vary", "session.timeout_s=1", "--count", 20)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = with_files_of_at_most(1000, *arguments, timeout=60, env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith(f"slowhand: without --out, rows in {tmp_path}/slowhand-")
    assert done.stderr.endswith(".parquet: cannot be written: File too large\n")
    assert "Interrupted. What is complete:" in done.stdout


@pytest.mark.parametrize("reason", ["No such file or directory", "Not a directory"])
def test_a_folder_that_vanishes_is_one_message_after_the_table(tmp_path: Path, reason: str) -> None:
    folder = tmp_path / "r"
    arguments = fast("--vary", "session.timeout_s=1", "--count", 10_000_000, "--out", folder)
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not [*folder.glob("*.parquet")] and process.poll() is None:
        time.sleep(0.01)
    folder.rename(tmp_path / "elsewhere")
    if reason == "Not a directory":
        folder.touch()
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    message = stderr.splitlines()[-1]
    assert message.startswith(f"slowhand: --out {folder}/")
    assert message.endswith(f".parquet: cannot be written: {reason}")
    assert "Interrupted. What is complete:" in stdout


def test_without_dask_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match=r"needs the package distributed: .*-m pip install 'dis"):
        Cluster("tcp://127.0.0.1:8786")
    for file in ("pyproject.toml", "docs/reference/sweeps.md"):
        assert REQUIREMENT in (ROOT / file).read_text()


def test_the_rows_and_the_numbers_are_those_of_runs(cli: Cli, tmp_path: Path) -> None:
    done = cli(*fast("--vary", TIMEOUTS, "--count", 150, "--seed", 7, "--out", "r", "--json"))
    result = json.loads(done.stdout)
    assert result["varied"] == ["session.timeout_s"]
    assert (result["count"], result["seed"], result["baseline"]) == (150, 7, TIMEOUTS[:20] + "2")
    found = rows(tmp_path / "r")
    assert set(found["scenario"]) == {PSK.name}
    assert set(found["version"]) == {slowhand.__version__}
    for measured in result["configurations"]:
        timeout_s = measured["settings"]["session.timeout_s"]
        scenario = slowhand.Scenario(PSK, {**SETTINGS, "session.timeout_s": timeout_s})
        run = slowhand.Run(scenario, count=150, seed=7)
        mine = found.filter(polars.col("session.timeout_s") == timeout_s)
        assert_frame_equal(mine.select(run.frame().columns), run.frame())
        summary = run.summary()
        assert (measured["completed"], measured["failed"]) == (150, {})
        for name, metric in measured["metrics"].items():
            expected = summary["metrics"][name]
            for key, value in metric.items():
                assert value == pytest.approx(expected[key])
    assert [c["settings"]["session.timeout_s"] for c in result["configurations"]] == [0.2, 0.8, 3.2]


def test_a_difference_is_over_the_same_worlds(tmp_path: Path) -> None:
    frame = slowhand.sweep(
        PSK,
        {"session.timeout_s": [3.2, 0.2]},
        set=SETTINGS,
        count=30,
        metric="bytes_phy",
        out=tmp_path / "r",
    )
    a, b = rows(tmp_path / "r").partition_by("session.timeout_s", maintain_order=True)
    differences = [x - y for x, y in zip(a["bytes_phy"], b["bytes_phy"], strict=True)]
    # Student's t for 29 degrees of freedom: 2.045 (any table of it).
    half = 2.04523 * statistics.stdev(differences) / math.sqrt(30)
    assert frame["difference_mean"][0] is None
    assert frame["difference_mean"][1] == pytest.approx(statistics.fmean(differences))
    assert frame["difference_half"][1] == pytest.approx(half, rel=1e-4)
    # Both have the same losses: pairs tell more than two independent samples.
    independent = math.hypot(*frame["bytes_phy_half"])
    assert frame["difference_half"][1] < independent


def test_the_best_completes_and_has_the_least_mean() -> None:
    # The first wait of 0.01 s ends before any answer can come: such handshakes are never the best.
    vary = {"session.give_up_s": [0.01, 1000], "session.timeout_s": [0.2, 3.2]}
    frame = slowhand.sweep(PSK, vary, set=SETTINGS, count=20, baseline="best")
    assert frame["completed"].to_list() == [0, 0, 20, 20]
    means = frame["duration_s_mean"].to_list()[2:]
    known = [mean for mean in frame["difference_mean"].to_list() if mean is not None]
    assert known == pytest.approx([max(means) - min(means)])


def test_the_table_fits_and_names_everything(cli: Cli) -> None:
    vary = ("--vary", "session.timeout_s=0.2,3.2", "--vary", "session.give_up_s=0.01,1000")
    done = cli(*fast(*vary, "--count", 20, "--baseline", "best"))
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "difference" in done.stdout
    assert "session.timeout_s=0.2 session.give_up_s=0.01: 20 gave up" in done.stdout
    assert re.search(r"^ +0\.2 +1000 +100 ", done.stdout, re.MULTILINE)
    assert "20 worlds each, seeds from 1" in done.stdout
    none = cli(*fast(*vary[2:], "--count", 2, "--baseline", "first"))
    assert "no differences: no handshake completed with session.give_up_s=0.01" in " ".join(
        none.stdout.split()
    )
    cli(*fast("--vary", "session.give_up_s=0.01,0.02", "--count", 2), code=1)


def test_scenarios_are_compared(cli: Cli, tmp_path: Path) -> None:
    done = cli("compare", "psk-tinydtls", "xmac", "--count", 20, "--out", "r", "--json")
    result = json.loads(done.stdout)
    assert [each["scenario"] for each in result["configurations"]] == [PSK.name, "xmac.toml"]
    a, b = (slowhand.run(name, count=20) for name in ("psk-tinydtls", "xmac"))
    assert_frame_equal(
        rows(tmp_path / "r").drop("scenario", "version"), polars.concat([a, b]), check_exact=True
    )
    difference = result["configurations"][1]["difference"]
    expected = b["duration_s"].mean() - a["duration_s"].mean()  # type: ignore[operator]
    assert (difference["mean"], difference["pairs"]) == (pytest.approx(expected), 20)
    table = cli("compare", "psk-tinydtls", "xmac", "--count", 2).stdout
    assert re.search(r"^xmac\.toml +100 ", table, re.MULTILINE)
    frame = slowhand.compare(["psk-tinydtls", "xmac"], count=20)
    assert frame["difference_mean"][1] == difference["mean"]


def test_a_precision_is_reached_in_the_same_rounds(tmp_path: Path) -> None:
    vary = {"session.timeout_s": [0.2, 3.2]}
    options: dict[str, Any] = {"set": SETTINGS, "precision": 0.02, "max_count": 5000}
    frame = slowhand.sweep(PSK, vary, out=tmp_path / "r", **options)
    assert all(frame["duration_s_half"] <= 0.02 * frame["duration_s_mean"])
    assert all(100 < count < 5000 for count in frame["worlds"])
    # Whatever a sweep that was stopped has left: the rounds are the same.
    for file in sorted((tmp_path / "r").iterdir())[1::2]:
        file.unlink()
    again = slowhand.sweep(PSK, vary, out=tmp_path / "r", **options)
    assert_frame_equal(again, frame)


def test_a_precision_that_is_out_of_reach_is_told(cli: Cli) -> None:
    precision = ("--precision", "0.1%", "--max-count", 120)
    done = cli(*fast("--vary", "session.timeout_s=0.2", *precision))
    words = " ".join(done.stdout.split())
    assert "wider than ± 0.1 % after --max-count 120: session.timeout_s=0.2" in words
    assert "1 configuration, 120 worlds" in words


def test_a_data_set_is_read_by_polars_pandas_and_duckdb(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    slowhand.sweep(PSK, {"session.timeout_s": "0.2,3.2"}, set=SETTINGS, count=50, out=folder)
    expected = polars.read_parquet(folder).select("duration_s", "bytes_phy").sum().row(0)
    assert polars.scan_parquet(folder).select("bytes_phy").sum().collect().item() == expected[1]
    by_pandas = pandas.read_parquet(folder)
    assert len(by_pandas) == 100
    assert by_pandas["duration_s"].sum() == pytest.approx(expected[0])
    query = 'sum(duration_s), sum(bytes_phy) from read_parquet(?) where "session.timeout_s" < 4'
    with duckdb.connect() as database:
        by_duckdb = database.execute(f"select {query}", [f"{folder}/*.parquet"]).fetchone()
    assert by_duckdb == pytest.approx(expected)


def test_each_file_repeats_its_rows(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    slowhand.sweep(PSK, {"session.timeout_s": "0.2,3.2"}, set=SETTINGS, count=20, out=folder)
    for file in folder.iterdir():
        there = polars.read_parquet(file)
        again = slowhand.run(file)
        assert_frame_equal(there.select(again.columns), again)


def test_more_worlds_and_more_values_continue(cli: Cli, tmp_path: Path) -> None:
    cli(*fast("--vary", "session.timeout_s=1,2", "--count", 20, "--out", "r"))
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "r").iterdir()}
    cli(*fast("--vary", "session.timeout_s=1,2,2.5", "--count", 50, "--out", "r"))
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "r").iterdir()}
    assert before.items() <= after.items()
    cli(*fast("--vary", "session.timeout_s=1,2,2.5", "--count", 50, "--out", "whole"))
    assert_frame_equal(rows(tmp_path / "r"), rows(tmp_path / "whole"))


def test_a_data_set_of_something_else_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text(PSK.read_text())
    sweep: tuple[str | int, ...] = ("sweep", "mine.toml", "--vary", "session.timeout_s=2,4")
    cli(*sweep, "--count", 10, "--out", "r")

    def refused(*arguments: str | int) -> str:
        return the_message(cli(*arguments, "--out", "r", code=2)).removeprefix(
            "slowhand: --out r: "
        )

    there = "has the seeds 1 to 10 of session.timeout_s=2"
    assert refused(*sweep, "--count", 5) == (
        f"{there}, and this sweep has 1 to 5: ask for all, or choose another folder"
    )
    assert refused(*sweep, "--seed", 5).startswith(f"{there}, and this sweep has 5 to 104:")
    assert refused(*sweep[:3], "session.timeout_s=2,6") == (
        "has a configuration that this sweep does not have: session.timeout_s=4:"
        " choose another folder"
    )
    assert refused(*sweep, "--set", "session.mtu=300") == (
        "has rows with no such --set, and this sweep has --set session.mtu=300:"
        " choose another folder"
    )
    message = the_message(cli(*sweep, "--set", "session.timeout_s=9", code=2))
    assert message == (
        "slowhand: --set session.timeout_s: found --vary session.timeout_s too,"
        " allowed: one of the two"
    )
    other = refused("sweep", "quickstart", "--vary", "session.timeout_s=2,4")
    assert other == "is a data set of another scenario: mine.toml: choose another folder"
    scenario.write_text(f"{PSK.read_text()}# changed\n")
    assert refused(*sweep).startswith("is a data set of another text of mine.toml, or of one of")

    folder = tmp_path / "r"
    monkeypatch.setattr("slowhand.sweeps.dataset.__version__", "0.0.1")
    with pytest.raises(SweepError, match=r"is a data set of slowhand 0\.1\.0, and this is 0\.0\.1"):
        slowhand.sweep(scenario, {"session.timeout_s": [2, 4]}, out=folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    with pytest.raises(SweepError, match=r"found notes\.txt, which no sweep wrote, allowed: a f"):
        slowhand.sweep(PSK, {"session.timeout_s": [2, 4]}, out=tmp_path / "other")


def test_a_part_in_the_place_of_another_is_not_believed(tmp_path: Path) -> None:
    scenario = slowhand.Scenario(PSK, SETTINGS)
    vary = {"session.timeout_s": [2, 4]}

    def again() -> polars.DataFrame:
        return slowhand.sweep(scenario, vary, count=4, out=tmp_path)

    table = again()
    one, other = sorted(tmp_path.iterdir())
    octets = one.read_bytes()
    one.write_bytes(other.read_bytes())
    said = (
        rf"{one.name} has the seeds 1 to 4 of session\.timeout_s=\d, and by its name the seeds 1 to"
        r" 4 of session\.timeout_s=\d: remove this file, and its seeds run again"
    )
    with pytest.raises(SweepError, match=said):
        again()
    one.unlink()
    assert_frame_equal(again(), table)
    # One file has these rows, and a name for more seeds.
    one.rename(tmp_path / one.name.replace("-1-4.", "-1-5."))
    with pytest.raises(SweepError, match=r"has the seeds 1 to 4 of .*, and by its name the s"):
        slowhand.sweep(scenario, vary, count=5, out=tmp_path)
    (tmp_path / one.name.replace("-1-4.", "-1-5.")).unlink()
    # No part of a sweep, or none at all.
    for text in (octets[:100], b""):
        one.write_bytes(text)
        with pytest.raises(SweepError, match="remove this file, and its seeds run again"):
            again()


def test_two_sweeps_do_not_write_into_one_folder(tmp_path: Path) -> None:
    configurations = varied(slowhand.Scenario(PSK, SETTINGS), [Axis.read(TIMEOUTS)]).configurations
    with (
        Sweep(configurations, Sampling(count=1), out=tmp_path / "r"),
        pytest.raises(SweepError, match="another sweep is writing into it"),
    ):
        Sweep(configurations, Sampling(count=1), out=tmp_path / "r")
    with Sweep(configurations, Sampling(count=1), out=tmp_path / "r") as sweep:
        sweep.run()


def test_chunks_have_the_seeds_that_are_missing(tmp_path: Path) -> None:
    (configuration,), _ = varied(slowhand.Scenario(PSK), [Axis.read("session.timeout_s=1")])
    with Sweep([configuration], Sampling(count=100), out=tmp_path / "r") as sweep:
        for first, count in ((11, 5), (1, 2), (90, 11)):
            part = Part(first, first + count - 1, b"")
            sweep.data.store(Chunk(configuration, first, count), Rows((part,), 0, 0, [], 1.0))
        missing = [(c.first, c.count) for c in sweep.data.missing(configuration, 1, 100)]
        assert missing == [(3, 8), (16, 74)]
        assert list(sweep.data.missing(configuration, 90, 11)) == []
        assert [c.first for c in sweep.data.missing(configuration, 1, 12)] == [3]


def test_a_chunk_takes_as_long_as_it_may() -> None:
    (configuration,), _ = varied(slowhand.Scenario(PSK), [Axis.read("session.timeout_s=1")])
    queue = Queue([Chunk(configuration, 1, 1000)])
    first = queue.take()
    assert first == Chunk(configuration, 1, FIRST)
    queue.learn(first, Rows((), FIRST, 0, [], 1.0))
    second = queue.take()
    assert second == Chunk(configuration, FIRST + 1, int(LONGEST_S * FIRST))
    assert queue.left == 1000 - FIRST - second.count
    # A world of a thousand handshakes: fewer at once.
    queue.learn(second, Rows((), 1000 * second.count, 0, [], 1e-3))
    third = queue.take()
    assert third and third.count == MOST_WORLDS // 1000


FULL = "SLOWHAND_FULL" in os.environ

MANY = ("--vary", "session.timeout_s=1:5:0.05", "--count", "100" if FULL else "40")
"""81 configurations: a sweep of two seconds, with a file for each of them."""

FILES = 81

KILLS = 20 if FULL else 3
"""A start takes half a second of CPU: 20 in ./test --full."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> polars.DataFrame:
    """The rows of that sweep, when nothing stops it."""
    folder = tmp_path_factory.mktemp("whole")
    with running(folder, *fast(*MANY, "--out", "r", "--threads", 1)) as process:
        assert process.wait(timeout=300) == 0
    return rows(folder / "r")


def test_a_signal_just_after_a_file_is_complete_counts_its_worlds_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = output.Output.write

    def stopped(file: output.Output, *arguments: Any, **options: Any) -> None:
        write(file, *arguments, **options)
        raise KeyboardInterrupt

    scenario = slowhand.Scenario(PSK, SETTINGS)
    configurations, _ = varied(scenario, [Axis.read("session.timeout_s=1")])
    with Sweep(configurations, Sampling(count=5), out=tmp_path / "r") as sweep:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(output.Output, "write", stopped)
            sweep.run()
        assert [measured.worlds for measured, _ in sweep.results()] == [len(rows(tmp_path / "r"))]


def test_ctrl_c_keeps_what_is_written_and_the_same_command_continues(
    cli: Cli, tmp_path: Path, whole: polars.DataFrame
) -> None:
    arguments = fast(*MANY, "--out", "r", "--json")
    with running(tmp_path, *arguments) as process:
        wait_for(tmp_path / "r", files=5, process=process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    result = json.loads(output)
    assert result["interrupted"] is True
    done = sum(each["worlds"] for each in result["configurations"])
    assert 0 < done == len(rows(tmp_path / "r")) < len(whole)
    assert json.loads(cli(*arguments).stdout)["interrupted"] is False
    assert_frame_equal(rows(tmp_path / "r"), whole)


def test_a_sweep_that_is_killed_again_and_again_ends_in_the_same_rows(
    cli: Cli, tmp_path: Path, whole: polars.DataFrame
) -> None:
    chance = random.Random(1)
    arguments = fast(*MANY, "--out", "r")
    kills = 0
    while kills < KILLS:
        with running(tmp_path, *arguments) as process:
            there = files(tmp_path / "r")
            if chance.random() < 0.8:  # else at any time, also before it writes
                wait_for(tmp_path / "r", files=there + 1, process=process)
            time.sleep(chance.uniform(0, 0.03))
            process.kill()
            process.communicate()
            assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
            kills += 1
    assert files(tmp_path / "r") < FILES
    cli(*arguments)
    names = [path.name for path in (tmp_path / "r").iterdir()]
    assert all(name.endswith(".parquet") for name in names), "an unfinished file is left"
    found = rows(tmp_path / "r")
    assert not found.select("session.timeout_s", "seed").is_duplicated().any()
    assert_frame_equal(found, whole)


def test_a_lost_worker_costs_no_row(tmp_path: Path, whole: polars.DataFrame) -> None:
    with cluster(tmp_path) as (address, _, workers):
        arguments = fast(*MANY, "--out", "cluster", "--scheduler", address)
        with running(tmp_path, *arguments) as sweep:
            wait_for(tmp_path / "cluster", files=10, process=sweep)
            assert files(tmp_path / "cluster") < FILES - 10, "too late: not in the middle"
            workers[0].kill()
            _, errors = sweep.communicate(timeout=300)
            assert sweep.returncode == 0, errors
    assert_frame_equal(rows(tmp_path / "cluster"), whole)


@pytest.mark.skipif(not FULL, reason="some seconds; ./test --full")
def test_a_lost_scheduler_is_told_and_the_sweep_continues(
    cli: Cli, tmp_path: Path, whole: polars.DataFrame
) -> None:
    with cluster(tmp_path) as (address, scheduler, _):
        arguments = fast(*MANY, "--out", "r", "--scheduler", address)
        with running(tmp_path, *arguments) as sweep:
            wait_for(tmp_path / "r", files=3, process=sweep)
            scheduler.kill()
            output, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 1
    assert f"slowhand: --scheduler {address}: is gone: the same command continues" in errors
    assert "Traceback" not in errors
    assert output.startswith("Interrupted. What is complete:")
    assert 3 <= files(tmp_path / "r") < FILES
    cli(*fast(*MANY, "--out", "r"))
    assert_frame_equal(rows(tmp_path / "r"), whole)


@pytest.mark.skipif(not FULL, reason="half a minute; ./test --full")
def test_the_memory_does_not_grow_with_the_sweep(tmp_path: Path) -> None:
    def peak_kb(count: int, timeouts: str) -> int:
        """The most memory of a sweep (getrusage: ru_maxrss)."""
        arguments = fast("--vary", timeouts, "--count", count, "--out", f"{count}{timeouts}")
        process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    short = peak_kb(10_000, "session.timeout_s=1,2")
    assert peak_kb(100_000, "session.timeout_s=1,2") < 1.2 * short
    assert peak_kb(10_000, "session.timeout_s=1:20:1") < 1.2 * short


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_figure_is_drawn(cli: Cli, tmp_path: Path, kind: str) -> None:
    vary = ("--vary", "session.timeout_s=0.2:3.2:*2", "--vary", "session.mtu=200,300")
    cli(*fast(*vary, "--count", 20, "--plot", f"f.{kind}"))
    content = (tmp_path / f"f.{kind}").read_bytes()
    if kind == "svg":
        for text in (b"session.mtu=200", b"session.mtu=300", b"session.timeout_s", b"Duration"):
            assert text in content
        cli(*fast(*vary, "--count", 20, "--plot", "again.svg", "--threads", 1))
        assert (tmp_path / "again.svg").read_bytes() == content
    else:
        assert content.startswith(b"\x89PNG")


def test_names_are_drawn_side_by_side(tmp_path: Path) -> None:
    vary = {"session.stack": ["lean-dtls", "mbedtls"]}
    slowhand.sweep(PSK, vary, count=5, plot=tmp_path / "f.svg")
    assert b"mbedtls" in (tmp_path / "f.svg").read_bytes()
    many = {"session.timeout_s": "1,2", "session.mtu": "200:300:1"}
    with pytest.raises(SweepError, match="--plot: found 101 values of the second key, allowed"):
        slowhand.sweep(PSK, many, plot=tmp_path / "g.svg")
    rows = {"session.timeout_s": "1,2", "network.link_pdr": "0.9,1", "session.mtu": "200:300:1"}
    with pytest.raises(SweepError, match="found 101 combinations of all keys but the first two"):
        slowhand.sweep(PSK, rows, plot=tmp_path / "g.svg")


@pytest.mark.skipif(not FULL, reason="half a minute; ./test --full")
def test_the_programs_of_the_document_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    # The guide fills the folder that its reference reads.
    pages = [(ROOT / page).read_text() for page in ("docs/sweeps.md", "docs/reference/sweeps.md")]
    for program in re.findall(r"```python\n(.*?)```", "".join(pages), re.DOTALL):
        exec(program, names)
    drawn = {file.stem for file in tmp_path.glob("*.svg")}
    assert drawn == {"curve", "map", "front", "ecdf", "box", "energy", "buffers"}


def test_progress_shows_rate_remaining_time_and_failures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr("slowhand.progress.time.monotonic", lambda: now)
    progress = Progress(0, "worlds")
    progress.resume(50)
    now += 10
    progress.update(150, total=250, note="3 failed")
    # 100 new ones in 10 s; 100 are left.
    expected = "slowhand: 150 of 250 worlds done, 10 a second, 0:00:10 left, 3 failed\n"
    assert capsys.readouterr().err == expected


def test_a_metric_of_the_report_is_a_metric_of_a_sweep() -> None:
    frame = slowhand.sweep(PSK, {"session.mtu": [200]}, count=3, metric="frames")
    assert frame["frames_mean"][0] > 0
    assert METRIC == "duration_s"


@contextlib.contextmanager
def process_of(command: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


Process = subprocess.Popen[str]


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, Process, list[Process]]]:
    """A scheduler of Dask and two workers on loopback: its address, and their processes."""
    file = folder / "scheduler.json"
    with contextlib.ExitStack() as exits:

        def start(*words: str) -> Process:
            command = [sys.executable, "-m", *words, "--scheduler-file", str(file)]
            return exits.enter_context(process_of([*command, "--no-dashboard"], folder))

        scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        while not file.exists() or not file.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
        workers = [start("distributed.cli.dask_worker", *options) for _ in range(2)]
        yield json.loads(file.read_text())["address"], scheduler, workers


def running(folder: Path, *arguments: str) -> contextlib.AbstractContextManager[Any]:
    """The command line while it runs."""
    return process_of([*COMMAND, *arguments], folder)


def files(folder: Path) -> int:
    return len(list(folder.glob("*.parquet"))) if folder.exists() else 0


def wait_for(folder: Path, *, files: int, process: subprocess.Popen[str] | None = None) -> None:
    """Waits until a sweep has written so many files."""
    while not (folder.exists() and len(list(folder.glob("*.parquet"))) >= files):
        if process and process.poll() is not None:
            return
        time.sleep(0.005)


def test_the_meaning_of_each_column_of_the_table_is_known() -> None:
    table = slowhand.sweep("quickstart", {"session.timeout_s": [3, 9]}, count=2)
    metrics = "|".join(sweeps.statistics.METRICS)
    names = [re.sub(rf"^({metrics})_", "METRIC_", name) for name in table.columns]
    names = ["KEY" if name == "session.timeout_s" else name for name in names]
    assert list(dict.fromkeys(names)) == list(sweeps.COLUMNS)


# Keys that follow from a credential, keys that are not set, and keys that are not possible


def test_a_credential_is_varied_with_what_belongs_to_it(cli: Cli) -> None:
    vary = ["--vary", "session.credential=psk,certificate,raw_public_key"]
    vary += ["--vary", "session.stack=mbedtls,lean-dtls", "--count", "2", "--out", "rows"]
    # Both keys belong to one credential; the suite of the file to certificates.
    own = ["--set", "session.psk=a0112233", "--set", "session.certificate_length=400"]
    lossy = QUICKSTART.with_name("lossy-line.toml")
    result = json.loads(cli("sweep", lossy, *vary, *own, "--json").stdout)
    found = {tuple(each["settings"].values()): each for each in result["configurations"]}
    assert list(found) == [
        ("psk", "mbedtls"),
        ("psk", "lean-dtls"),
        ("certificate", "mbedtls"),
        ("certificate", "lean-dtls"),
        ("raw_public_key", "lean-dtls"),
    ]
    assert all(each["completed"] == 2 for each in found.values())
    (impossible,) = result["impossible"]
    assert impossible["settings"] == {
        "session.credential": "raw_public_key",
        "session.stack": "mbedtls",
    }
    assert impossible["reason"].startswith("session.credential: found raw_public_key, allowed: psk")
    text = " ".join(cli("sweep", lossy, *vary, *own).stdout.split())  # from the rows that are there
    assert "not possible: session.credential=raw_public_key session.stack=mbedtls: sess" in text


def test_a_reason_is_shown_whole(cli: Cli) -> None:
    """The suites that are allowed take more than a line."""
    keys = "stack=mbedtls,lean-dtls", "suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM", "timeout_s=2,3"
    vary = [word for key in keys for word in ("--vary", f"session.{key}")]
    arguments = ["sweep", QUICKSTART, *vary, "--count", 1]
    impossible = json.loads(cli(*arguments, "--json").stdout)["impossible"]
    reasons = {each["reason"] for each in impossible}
    text = " ".join(cli(*arguments).stdout.split())
    (reason,) = reasons
    assert len(reason) > 200 and f"session.timeout_s=2 (and 1 other): {reason}" in text


def test_what_follows_is_the_suite_of_rfc_7925_or_the_choice_of_the_libraries() -> None:
    lossy = slowhand.Scenario(QUICKSTART.with_name("lossy-line.toml"))

    def suites(stack: str, credentials: str) -> list[str]:
        base = lossy.with_({"session.stack": stack, "session.server_stack": stack})
        found, _ = varied(base, [Axis.read(f"session.credential={credentials}")])
        ends = [json.loads(each.scenario.native.settings())["client"] for each in found]
        assert [end["credential"] for end in ends] == credentials.split(",")
        return [end["suite"] for end in ends]

    assert suites("lean-dtls", "psk,certificate,raw_public_key") == [
        "TLS_PSK_WITH_AES_128_CCM_8",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    ]
    # Without a suite nothing has to follow: each library takes its own first choice.
    own = lossy.with_(["session.suite=", "session.auth="])
    (psk, certificate), _ = varied(own, [Axis.read("session.credential=psk,certificate")])
    assert psk.overrides == ("session.credential=psk",)  # it is possible as it is
    assert certificate.overrides == ("session.credential=certificate",)


def test_what_a_library_does_not_have_follows_from_it(cli: Cli, tmp_path: Path) -> None:
    vary = ["--vary", "session.stack=mbedtls,tinydtls,openssl,lean-dtls", "--count", 2]
    arguments = ["sweep", QUICKSTART, *vary, "--out", "rows"]
    found = json.loads(cli(*arguments, "--json").stdout)
    followed = {
        each["settings"]["session.stack"]: each["followed"] for each in found["configurations"]
    }
    ccm_8 = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"
    assert followed == {
        "mbedtls": {},
        "tinydtls": {
            "session.credential": "raw_public_key",
            "session.max_fragment_length": None,
        },
        "openssl": {},
        "lean-dtls": {"session.suite": ccm_8},
    }
    assert all(each["completed"] == 2 for each in found["configurations"])
    text = " ".join(cli(*arguments).stdout.split())  # from the rows that are there
    without = "with credential raw_public_key, without max_fragment_length"
    assert f"session.stack=tinydtls: {without}" in text
    assert f"session.stack=lean-dtls: with suite {ccm_8}" in text
    assert "session.stack=openssl:" not in text
    # Where nothing has to follow, the rows are those of a run.
    rows = polars.read_parquet(tmp_path / "rows" / "*.parquet")
    own = slowhand.run(QUICKSTART, count=2, set={"session.stack": "openssl"})["duration_s"]
    assert rows.filter(polars.col("session.stack") == "openssl")["duration_s"].to_list() == [*own]
    # A key that is varied itself stays as it is, and a library without the protocol has no way.
    given = ["--vary", "session.max_fragment_length=512,1024", "--vary", "session.stack=tinydtls"]
    refused = cli("sweep", QUICKSTART, *given, "--count", 2, code=2)
    assert "found 512, allowed: not with this library" in the_message(refused)
    only = cli("sweep", QUICKSTART, "--vary", "session.stack=mbedtls,rustls", "--count", 1).stdout
    assert "not possible: session.stack=rustls: session.protocol: found dtls1.2" in only


def test_a_library_keeps_the_credential_of_the_scenario_if_it_can() -> None:
    varied_stack = {"session.stack": "another"}
    psk = ways(slowhand.Scenario(PSK), varied_stack)
    own, suite = "session.credential=psk", "session.suite=TLS_PSK_WITH_AES_128_CCM_8"
    chosen = "session.suite="
    assert psk == [(own,), (own, suite), (own, chosen), (), (suite,), (chosen,)]
    certificate = ways(slowhand.Scenario(QUICKSTART), varied_stack)
    assert [("session.credential=certificate" in way) for way in certificate] == [
        *([True] * 6),
        *([False] * 6),
    ]
    named = slowhand.Scenario(PSK).with_([own])
    assert ways(named, varied_stack) == [(), (suite,), (chosen,)]


def test_no_value_is_a_row_that_is_not_set(cli: Cli, tmp_path: Path) -> None:
    arguments = ["sweep", PSK, "--vary", "session.mtu=,200", "--count", "3", "--out", "rows"]
    text = cli(*arguments).stdout
    assert re.search(r"^ +not set +100 ", text, re.MULTILINE)
    result = json.loads(cli(*arguments, "--json").stdout)
    assert [each["settings"] for each in result["configurations"]] == [
        {"session.mtu": None},
        {"session.mtu": 200.0},
    ]
    rows = polars.read_parquet(tmp_path / "rows" / "*.parquet")  # one schema
    assert rows.schema["session.mtu"] == polars.Float64
    assert sorted(rows["session.mtu"].is_null()) == [False] * 3 + [True] * 3
    # A key that the scenario has is left out; Python has `None`.
    timers = slowhand.sweep(
        PSK, {"session.timeout_s": [None, 1]}, set={"session.timeout_s": 30}, count=2
    )
    assert timers["session.timeout_s"].to_list() == [None, 1.0]
    own = slowhand.run(PSK, count=2)["duration_s"].mean()
    assert timers["duration_s_mean"][0] == pytest.approx(own)
    with pytest.warns(UserWarning, match=r"not possible: session\.mtu=10: session\.mtu: found 10"):
        one = slowhand.sweep(PSK, {"session.mtu": [None, 10]}, count=2)
    assert one["session.mtu"].to_list() == [None]
    with pytest.raises(slowhand.ScenarioError, match=r"^--vary session\.mtu: found 10, allowed"):
        slowhand.sweep(PSK, {"session.mtu": [10, 11]}, count=2)


def test_a_key_is_removed_whoever_has_set_it() -> None:
    scenario = slowhand.Scenario(PSK, {"session.mtu": 200})
    for _ in range(2):
        scenario = scenario.with_(["session.mtu="])
        assert scenario.value("session.mtu") is None
    assert scenario.with_({"session.mtu": 300}).value("session.mtu") == 300
    with pytest.raises(slowhand.ScenarioError, match="no such key to remove"):
        slowhand.Scenario(PSK).with_(["session.mtu="])


def test_a_comparison_fails_if_it_is_worse_for_certain(cli: Cli) -> None:
    given = ["sweep", "psk-tinydtls", "--vary", "network.link_pdr=1,0.8", "--count", 20]
    found = json.loads(cli(*given, "--fail-if", "5%", "--json", code=1).stdout)
    base, other = found["configurations"]
    difference = other["difference"]
    share = difference["mean"] / base["metrics"]["duration_s"]["mean"]
    assert len(found["worse"]) == 1
    assert f"network.link_pdr=0.8: duration {share:+.1%} ± " in found["worse"][0]
    # The mean is worse than that, but not its whole interval.
    least = (difference["mean"] - difference["half"]) / base["metrics"]["duration_s"]["mean"]
    bound = f"{(least + share) / 2:.4f}"
    assert "none is worse by more than" in cli(*given, "--fail-if", bound).stdout
    lost = ["sweep", "psk-tinydtls", "--vary", "network.link_pdr=1,0.2", "--count", 5]
    assert "clearly fewer handshakes complete: " in cli(*lost, "--fail-if", 9, code=1).stdout
    refused = cli(*given, "--fail-if", "-1%", code=2)
    assert "--fail-if: found -1%, allowed: 0% or more" in the_message(refused)
