"""`slowhand capacity`: Engset's formula, the simulation, and the slots that fit into a device."""

import json
from pathlib import Path

import pytest

import slowhand
from conftest import Cli, the_message

PAPER = ("--slots", 3, "--clients", 5, "--rho", 0.5)
"""The case of Vucinic et al. 2015, section IV."""


def test_the_paper_says_time_congestion_where_it_means_a_request(cli: Cli) -> None:
    result = json.loads(cli("capacity", *PAPER, "--json").stdout)
    # The states of 5 clients weigh 1, 2.5, 2.5, 1.25; those of 4 clients 1, 2, 1.5, 0.5.
    assert result["time_congestion"] == pytest.approx(1.25 / 7.25)
    assert result["call_congestion"] == pytest.approx(0.5 / 5.0)
    assert result["policy"] == "refuse"
    for key in ("time_congestion", "call_congestion"):
        low, high = result["simulated"][key]["ci95"]
        assert low <= result[key] <= high, key
        assert high - low < 0.01, "an interval that wide confirms nothing"


def test_a_policy_is_simulated_alone_or_beside_the_others(cli: Cli) -> None:
    every = json.loads(cli("capacity", *PAPER, "--json").stdout)
    assert list(every["policies"]) == slowhand.capacity.policies()
    one = json.loads(cli("capacity", *PAPER, "--policy", "evict-oldest", "--json").stdout)
    assert one["policy"] == "evict-oldest"
    assert one["simulated"] == every["policies"]["evict-oldest"]
    assert one["simulated"]["call_congestion"]["max"] == 0
    assert one["simulated"]["handshakes_per_session"]["mean"] > 1.05


def test_a_half_open_session_holds_a_slot() -> None:
    # Engset's formula depends only on the mean time for which a slot is held.
    found = slowhand.capacity.compute(slots=3, clients=5, rho=0.5, handshake_share=0.5)
    same = slowhand.capacity.compute(slots=3, clients=5, rho=0.75)
    assert found["call_congestion"] == same["call_congestion"]
    assert found["without_handshake"]["call_congestion"] == pytest.approx(0.1)
    half_open, occupied = (found["simulated"][key]["mean"] for key in ("half_open", "occupied"))
    assert half_open / occupied == pytest.approx(1 / 3, rel=0.02)


def test_the_slots_that_fit_a_device(cli: Cli, tmp_path: Path) -> None:
    wismote = ("--device", "wismote", "--bytes-per-session", 400)
    memory = json.loads(cli("capacity", *wismote, "--reserved-bytes", 15_184, "--json").stdout)
    assert memory["memory"]["ram_bytes"] == 16 * 1024
    assert memory["memory"]["slots"] == 3
    full = ("capacity", *wismote, "--reserved-bytes", 16_000, "--clients", 2, "--rho", 1, "--json")
    result = json.loads(cli(*full).stdout)
    assert result["memory"]["slots"] == result["slots"] == 0
    assert result["call_congestion"] == 1


def test_the_table_shows_what_the_json_says(cli: Cli) -> None:
    lines = cli("capacity", *PAPER).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("refused"))
    assert row.split()[3] == "10.00"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--slots"),
        (["--slots", 3], "--clients"),
        (["--slots", 3, "--clients", 5], "--rho"),
        (["--slots", 0, "--clients", 5, "--rho", 1], "--slots"),
        (["--slots", 3, "--clients", 5, "--rho", 0], "rho: found 0"),
        (["--slots", 3, "--clients", 5, "--rho", "nan"], "rho: found nan"),
        ([*PAPER, "--policy", "none"], "evict-oldest"),
        ([*PAPER, "--handshake-share", -1], "handshake"),
        ([*PAPER, "--device", "wismote"], "--device"),
        (["--device", "wismote"], "--bytes-per-session"),
        (["--device", "x", "--bytes-per-session", 1, "--reserved-bytes", 1], "wismote"),
    ],
)
def test_wrong_arguments_get_one_message(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in the_message(cli("capacity", *arguments, code=2))
