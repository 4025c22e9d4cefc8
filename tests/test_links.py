"""Traces of testbeds, converted: two published formats, by hand."""

import gzip
import json
from pathlib import Path

import polars
import pytest

import slowhand
from conftest import ROOT, Cli, the_message

TRACES = ROOT / "tests" / "traces"

K7 = """\
time_s,from,to,channel,pdr
0,0,1,11,1
0,0,1,26,0.5
1,1,0,,0.8
2,1,2,11,0.25
3,2,1,11,0.75
60,0,1,11,0.1
"""

REST = """
[mac]
kind = "tsch"
slotframe = 11

[client]
device = "openmote-cc2538"

[session]
stack = "mbedtls"
suite = "TLS_PSK_WITH_AES_128_CCM_8"
"""


def converted(cli: Cli, folder: Path, *arguments: str | Path) -> tuple[str, str]:
    out = folder / "trace.csv"
    return cli("links", *arguments, "--out", out).stdout, out.read_text()


def test_k7(cli: Cli, tmp_path: Path) -> None:
    """Nothing passes from 1 to 3, and a measurement of all neighbours is of no link."""
    said, trace = converted(cli, tmp_path, TRACES / "short.k7")
    assert trace == K7
    # The means: 0 to 1 has 1, 0.5 and 0.1.
    assert "{ from = 0, to = 1, pdr = 0.533, reverse_pdr = 0.8 }," in said
    assert "{ from = 1, to = 2, pdr = 0.25, reverse_pdr = 0.75 }," in said
    assert "repeat_s = 72" in said  # six times in 60 s: each lasts 12 s
    packed = tmp_path / "short.k7.gz"
    packed.write_bytes(gzip.compress((TRACES / "short.k7").read_bytes()))
    assert converted(cli, tmp_path, packed)[1] == K7
    # As files before version 0.4 have it: percentages and lists of channels.
    old = tmp_path / "old.k7"
    rows = "datetime,src,dst,channels,mean_rssi,pdr,tx_count,transaction_id"
    old.write_text(
        "{}\n" + rows + "\n2018-01-11 16:33:07,a,b,[11;12],-53.2,100,100,0\n"
        "2018-01-11 16:33:07,b,a,[11],-53.2,50,100,0\n"
    )
    trace = converted(cli, tmp_path, old)[1]
    assert trace.splitlines()[1:] == ["0,0,1,11,1", "0,0,1,12,1", "0,1,0,11,0.5"]


def test_mercator(cli: Cli, tmp_path: Path) -> None:
    """Of four frames of node ...01, ...02 received three (one was damaged), ...03 received one.

    Of node ...02's first series, ...01 received two and ...03 none; of the one five minutes later,
    one. Nothing is known of what ...03 sent.
    """
    said, trace = converted(cli, tmp_path, TRACES / "short_raw.csv")
    expected = ["0,0,1,11,0.75", "3,1,0,26,0.5", "303,1,0,26,0.25"]
    assert trace.splitlines()[1:] == expected
    assert "node 1  14-15-92-00-12-91-00-02" in said
    assert "14-15-92-00-12-91-00-03" in said and "left out" in said
    root = "14-15-92-00-12-91-00-02"
    about = json.loads(
        cli("links", TRACES / "short_raw.csv", "--out", "b.csv", "--root", root, "--json").stdout
    )
    assert about["nodes"] == {root: 0, "14-15-92-00-12-91-00-01": 1}
    assert about["links"] == [{"from": 0, "to": 1, "pdr": 0.375, "reverse_pdr": 0.75}]
    assert (about["rows"], about["length_s"]) == (3, 303)


def test_a_scenario_uses_what_was_converted(cli: Cli, tmp_path: Path) -> None:
    said, _ = converted(cli, tmp_path, TRACES / "short.k7")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(said[said.index("[network]") :] + REST)
    run = slowhand.Run(slowhand.Scenario(scenario), count=3)
    assert run.summary()["completed"] == 3
    # A trace is part of what repeats a run.
    assert (tmp_path / "trace.csv").read_text() in run.scenario.files.values()


def test_tables(cli: Cli, tmp_path: Path) -> None:
    """A trace that is converted again is the same; Parquet has the same columns."""
    trace = tmp_path / "first.csv"
    trace.write_text(K7)
    assert converted(cli, tmp_path, trace)[1] == K7
    parquet = tmp_path / "trace.parquet"
    polars.read_csv(trace).write_parquet(parquet)
    assert converted(cli, tmp_path, parquet)[1] == K7


def test_weak_links_can_be_left_out(cli: Cli, tmp_path: Path) -> None:
    said, trace = converted(cli, tmp_path, TRACES / "short.k7", "--least-pdr", "0.5")
    assert "to = 2" not in said and not any(",2," in line for line in trace.splitlines()[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "line 1: found a,b, allowed: a K7 file"),
        ("", "line 1: found nothing, allowed: a K7 file"),
        (K7.replace("0.75", "7.5"), "line 6: pdr: found 7.5, allowed: a share from 0 to 1"),
        (K7.replace(",26,", ",27,"), "line 3: channel: found 27, allowed: a channel from 11 to 26"),
        (K7.replace("60,", "later,"), "line 7: time_s: found later, allowed: a number, 0 or more"),
        (
            "{}\ndatetime,src,dst,channel,mean_rssi,pdr,tx_count\nnow,0,1,11,,1,1\n",
            "line 3: datetime: found now, allowed: a time",
        ),
        ("time_s,from,to,channel,pdr\n", "found no measurement of a link, allowed: at least one"),
        (
            "time_s,from,to,channel,pdr\n0,0,1,,1\n",
            "found no link that works in both directions, allowed: at least one",
        ),
    ],
)
def test_what_is_no_trace_is_refused(text: str, message: str, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "wrong.csv"
    file.write_text(text)
    said = the_message(cli("links", file, "--out", "trace.csv", code=2))
    assert said.startswith(f"slowhand: {file}: {message}")
    assert not (tmp_path / "trace.csv").exists()


def test_other_wrong_input(cli: Cli, tmp_path: Path) -> None:
    assert "cannot be read" in the_message(cli("links", "none.k7", "--out", "t.csv", code=2))
    file = TRACES / "short.k7"
    assert "--root: found 9, allowed: a node: 0, 1, 2, 3" in the_message(
        cli("links", file, "--out", "t.csv", "--root", "9", code=2)
    )
    for share in ("-0.1", "1.5", "nan"):
        said = the_message(cli("links", file, "--out", "t.csv", "--least-pdr", share, code=2))
        assert said == f"slowhand: --least-pdr: found {float(share)}, allowed: a share from 0 to 1"
    assert "--like" in the_message(cli("links", file, "--like", "thread", code=2))
    assert ".toml" in the_message(cli("links", file, "--scenario", "s.txt", code=2))
    table = tmp_path / "trace.csv"
    table.write_text(K7)
    assert "this file is read" in the_message(cli("links", table, "--out", table, code=2))
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(b"\x1f\x8b damaged")
    assert "is no text" in the_message(cli("links", damaged, "--out", "t.csv", code=2))
