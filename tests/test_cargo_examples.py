"""The examples of Cargo, which `./test build` compiles, print what is true and documented."""

import re
import subprocess
from functools import cache
from itertools import pairwise

import pytest

import slowhand
from conftest import ROOT
from test_settings_live import newest

SOURCES = {
    file.stem: file
    for crate in ("slowhand-lab", "slowhand-net")
    for file in (ROOT / "crates" / crate / "examples").glob("*.rs")
}


@cache
def printed(name: str) -> list[str]:
    """The lines that an example prints."""
    program = [newest(f"examples/{name}")]
    return subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    ).stdout.splitlines()


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_an_example_prints_what_its_documentation_says(name: str) -> None:
    text = re.findall(r"^//! ```text\n(.*?)^//! ```", SOURCES[name].read_text(), re.M | re.S)[0]
    documented = [line.removeprefix("//! ") for line in text.splitlines()]
    assert printed(name) == [line for line in documented if not line.startswith("$ ")]


def test_the_records_of_the_example_are_those_of_the_package() -> None:
    table = slowhand.run("quickstart", count=100, seed=1)
    first, *lines = printed("records")
    assert table["outcome"].to_list() == ["completed"] * 100
    assert first == "quickstart: 100 completed, failed: {}"
    for line in lines:
        name, mean = re.findall(r"^(\w+) +mean +([\d.]+),", line)[0]
        assert float(mean) == pytest.approx(table[name].mean(), abs=5e-4), name


def test_a_reading_and_its_answer_take_a_frame_on_each_of_two_hops() -> None:
    frames = {line.split()[0]: int(line.split()[2]) for line in printed("request")[1:]}
    assert frames.keys() == {"handshake", "data", "closing"}
    # Two datagrams, and one: the client closes, and the server has nothing more to say.
    assert (frames["data"], frames["closing"]) == (2 * 2, 2 * 1)


def test_each_ping_is_answered_after_a_slot_for_each_hop() -> None:
    replies = [re.findall(r"^reply to request (\d): ([\d.]+) s$", line) for line in printed("ping")]
    times = {int(number): float(time) for found in replies for number, time in found}
    assert [*times] == [0, 1, 2, 3, 4]
    for time in times.values():
        assert 2 * 3 * 0.02 <= time < 5  # there and back, three hops, slots of 20 ms; the interval


def test_losses_cost_frames_and_throughput() -> None:
    rows = [line.split() for line in printed("throughput")[1:]]
    for link_layer in ("TSCH", "X-MAC"):
        own = [
            [float(cell.rstrip("%")) for cell in row[1:]] for row in rows if row[0] == link_layer
        ]
        assert [pdr for pdr, *_ in own] == [1.0, 0.9, 0.7]
        for _, datagrams, delivered, octets_a_second, *_ in own:
            carried = datagrams * delivered / 100 * 300 / 600  # octets of each; seconds
            assert octets_a_second == pytest.approx(carried, rel=1e-3)
        for before, after in pairwise(own):
            assert after[3] < before[3]
            assert after[4] > before[4]
    # 300 octets and their headers are four fragments: each a frame and its acknowledgement, twice.
    assert float(rows[0][5]) == 4 * 2 * 2
