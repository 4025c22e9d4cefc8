"""`slowhand oscar` and `slowhand.oscar`: what a user sees of many readers of one value."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

import slowhand
from conftest import ROOT, Cli, the_message
from slowhand.reading import COSTS, Comparison, answer, crossing

Row = dict[str, Any]

FEW = ["--set", "readers.readings=2", "--count", "1"]


def test_the_pages_have_what_the_command_measures(tmp_path: Path) -> None:
    script = ROOT / "docs" / "oscar.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    for page in ("docs/oscar.md", "docs/reference/oscar.md"):
        written, now = (ROOT / page).read_text(), (tmp_path / page).read_text()
        assert written == now, "run: .venv/bin/python docs/oscar.py"


def test_a_table_fits_a_terminal_and_json_has_the_same(cli: Cli) -> None:
    arguments = ["oscar", "oscar", "--readers", "5,1", *FEW]
    shown = cli(*arguments)
    assert shown.returncode == 0
    assert max(map(len, shown.stdout.splitlines())) <= 80
    document = json.loads(cli(*arguments, "--json").stdout)
    assert document["answer"].split(",")[0] in " ".join(shown.stdout.split())
    assert [row["readers"] for row in document["results"]] == [1, 5]
    one, five = document["results"]
    assert one["dtls"]["got"] == 2 and five["oscar"]["got"] == 10
    assert five["dtls"]["octets"] == 5 * one["dtls"]["octets"], "nothing is lost"
    # Two processes have given the same.
    assert document == json.loads(cli(*arguments, "--json", "--threads", "1").stdout)


def test_records_and_a_capture(cli: Cli, tmp_path: Path) -> None:
    rows, frames = tmp_path / "rows.parquet", tmp_path / "frames.pcapng"
    files = ["--records", str(rows), "--pcap", str(frames), "--way", "dtls"]
    assert cli("oscar", "oscar", "--readers", "2", *FEW, *files).returncode == 0
    table = polars.read_parquet(rows)
    settings = {"readers.readings": 2}
    assert table.equals(slowhand.oscar("oscar", readers=[2], count=1, set=settings))
    assert set(table.columns) == set(slowhand.schema("oscar")["properties"])
    assert frames.stat().st_size > 1_000 and frames.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("readers.producer=4", "--set readers.producer: found 4, allowed: nodes 1 to 3"),
        ("readers.readings=0", "--set readers.readings: found 0, allowed: "),
        ("readers.period_s=1e-7", "readers.period_s: found 0.0000001, allowed: 0.000001 or more"),
        ("readers.period_s=0", "--set readers.period_s: found 0, allowed: "),
        ("readers.at=moon", "readers.at"),
        ("readers.maximum_age_s=1", "readers.maximum_age_s"),
        ("server.at=leaves", "server.internet_delay_ms: found"),
        ("server.slots=2", "server.slots: found 2, allowed: nothing: `slowhand oscar` ignores it"),
        ("session.protocol=coap", 'session.protocol: found "coap", allowed: one with DTLS'),
    ],
)
def test_what_cannot_be_is_refused_by_name(cli: Cli, change: str, message: str) -> None:
    assert message in the_message(cli("oscar", "oscar", "--set", change, code=2))


def test_readings_have_an_end(cli: Cli) -> None:
    settings = ["--set", "readers.period_s=1e6", "--set", "readers.readings=100000"]
    message = the_message(cli("oscar", "oscar", *settings, code=2))
    assert "readers.readings: found 100000 readings, one in 1000000 s, allowed: a" in message


def test_there_is_a_node_for_each_reader_in_the_mesh(cli: Cli) -> None:
    in_mesh = ["oscar", "oscar", "--set", "readers.at=mesh", *FEW]
    message = the_message(cli(*in_mesh, "--readers", "3", code=2))
    assert "readers: found 3, allowed: 1 to 2: in the mesh each reader has a node" in message
    document = json.loads(cli(*in_mesh, "--json").stdout)
    assert [row["readers"] for row in document["results"]] == [1, 2]
    message = the_message(cli(*in_mesh, "--readers", "0", code=2))
    assert "found 0, allowed: a whole number" in message


def test_a_mesh_without_a_node_for_readers_is_refused(cli: Cli, tmp_path: Path) -> None:
    one_hop = ["--set", "readers.at=mesh", "--set", "network.topology.hops=1"]
    for more in [], ["--readers", "1"], ["--pcap", str(tmp_path / "one.pcapng")]:
        message = the_message(cli("oscar", "oscar", *one_hop, *FEW, *more, code=2))
        assert 'readers.at: found "mesh", where no node is left for a reader' in message
    with pytest.raises(slowhand.ArgumentError, match="readers: found none"):
        slowhand.oscar("oscar", readers=[])
    with pytest.raises(TypeError, match="readers: found 5 of type int, allowed: a list"):
        slowhand.oscar("oscar", readers=5)  # type: ignore[arg-type]


def row(number: int, dtls: float, objects: float, got: tuple[int, int] = (10, 10)) -> Row:
    """Both ways with 10 readings in one world."""
    ways = {
        way: {"worlds": 1, "readings": 10, "got": brought, **dict.fromkeys(COSTS, cost)}
        for way, cost, brought in zip(("dtls", "oscar"), (dtls, objects), got, strict=True)
    }
    return {"readers": number, **ways}


def test_the_crossing_is_between_the_last_and_the_first() -> None:
    costs = {1: (10.0, 30.0), 2: (20.0, 25.0), 5: (50.0, 25.0), 10: (90.0, 26.0)}
    found = [row(number, *both) for number, both in costs.items()]
    assert crossing(found, "octets") == {"dtls": 2, "objects": 5}
    assert crossing(found[:2], "octets") == {"dtls": 2, "objects": None}
    assert crossing(found[2:], "octets") == {"dtls": None, "objects": 5}


def test_who_serves_fewer_is_not_cheaper() -> None:
    half = [row(5, 20.0, 30.0, got=(5, 10))]
    assert crossing(half, "octets") == {"dtls": None, "objects": 5}, "4 octets for a reading, or 3"
    nobody = [row(5, 20.0, 30.0, got=(0, 1))]
    for cost in COSTS:
        assert crossing(nobody, cost) == {"dtls": None, "objects": 5}
    assert crossing([*nobody, row(10, 1.0, 2.0, got=(0, 0))], "octets")["objects"] == 5
    neither = [row(5, 20.0, 30.0, got=(0, 0))]
    assert answer(neither) == "The two ways cannot be compared: no reading brought a value."


def test_the_answer_names_readings_that_are_missing() -> None:
    scenario = slowhand.Scenario("oscar", ["readers.slots=1", "readers.readings=2"])
    comparison = Comparison(scenario, [2], 1, 1)
    assert "These readings did: DTLS with 2 readers: 50%" in answer(comparison.results())


def test_both_ways_are_compared_over_the_same_seeds() -> None:
    """As after Ctrl-C: a seed that one way has alone does not count."""
    comparison = Comparison(slowhand.Scenario("oscar", ["readers.readings=1"]), [1], 2, 1)
    [both] = comparison.results()
    for values in comparison.columns.values():
        del values[-1]
    [first] = comparison.results()
    assert [both[way]["worlds"] for way in ("dtls", "oscar")] == [2, 2]
    assert [first[way]["worlds"] for way in ("dtls", "oscar")] == [1, 1]
