"""`slowhand join` and `slowhand.join`: what a user sees of a network that forms."""

import json
import subprocess
import sys
from pathlib import Path

import polars
import pytest

import slowhand
from conftest import ROOT, Cli, the_message
from slowhand.joining import PHASES, Formation

ONE_HOP = "network.topology.hops=1"


def test_the_pages_have_what_the_command_measures(tmp_path: Path) -> None:
    script = ROOT / "docs" / "joining.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    for page in ("docs/joining.md", "docs/reference/joining.md"):
        written, now = (ROOT / page).read_text(), (tmp_path / page).read_text()
        assert written == now, "run: .venv/bin/python docs/joining.py"


def test_a_table_fits_a_terminal_and_json_has_the_same(cli: Cli) -> None:
    arguments = ["join", "join", "--count", "3", "--set", ONE_HOP]
    shown = cli(*arguments)
    assert shown.returncode == 0
    assert "3 networks; 3 of 3 nodes through" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    document = json.loads(cli(*arguments, "--json").stdout)
    assert document["nodes"] == 3 and document["missing"] == {}
    assert list(document["phase_s"]) == list(PHASES)
    alone = sum(each["mean"] for each in document["phase_s"].values())
    assert alone == pytest.approx(document["since_switched_on_s"]["packet"]["mean"])
    assert document["join_octets"]["max"] == 158, "52 and 42 octets, and their headers"


def test_records_and_a_capture(cli: Cli, tmp_path: Path) -> None:
    rows, frames = tmp_path / "rows.parquet", tmp_path / "frames.pcapng"
    arguments = ["--count", "2", "--records", str(rows), "--pcap", str(frames), "--threads", "1"]
    assert cli("join", "join", "--set", ONE_HOP, *arguments).returncode == 0
    table = polars.read_parquet(rows)
    assert table.equals(slowhand.join("join", count=2, set={"network.topology.hops": 1}))
    assert set(table.columns) == set(slowhand.schema("join")["properties"])
    assert frames.stat().st_size > 1_000 and frames.stat().st_mode & 0o077 == 0


def test_nodes_that_do_not_join_are_an_answer(cli: Cli) -> None:
    shown = cli("join", "join", "--count", "1", "--set", "join.give_up_s=1", code=1)
    assert "0 of 4 nodes through: 4 without synchronised" in shown.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("network.outages=[{ node = 1, from_s = 1, until_s = 2 }]", "network.outages: found it"),
        ("mac.cells.shared=0", "mac.cells.shared: found 0, allowed: 1 or more"),
        ("join.beacon_probability=0", "--set join.beacon_probability: found 0, allowed: a probab"),
        ("join.retries=-1", "--set join.retries: found -1, allowed: "),
    ],
)
def test_what_cannot_form_is_refused_by_name(cli: Cli, change: str, message: str) -> None:
    assert message in the_message(cli("join", "join", "--set", change, code=2))


def test_other_link_layers_are_refused(cli: Cli) -> None:
    message = the_message(cli("join", "csma", code=2))
    assert 'mac.kind: found another link layer, allowed: "tsch"' in message


def test_times_of_phases_add_up() -> None:
    formed = Formation(slowhand.Scenario("join", ["network.link_pdr=0.8"]), 2, 1)
    rows = formed.frame().filter(polars.col("missing").is_null())
    for before, after in zip(list(PHASES), list(PHASES)[1:], strict=False):
        assert (rows[f"{before}_s"] <= rows[f"{after}_s"]).all()
    assert max(formed.formed()) >= max(formed.times("packet"))
