"""`slowhand papers pittoli2016`: its device is what simavr measured; its rows follow from it."""

import os
import runpy
import shutil
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from conftest import ROOT
from slowhand.papers import find
from slowhand.papers.pittoli2016 import measured, message, minimal
from slowhand.papers.points import Laboratory

MEASURE = ROOT / "firmware" / "atmega128rfa1" / "measure.py"

TOOLS = all(shutil.which(tool) for tool in ("avr-gcc", "avr-size", "simavr"))

TOLERANCE = 0.10
"""Of cycles and octets: compilers and the engine move."""

RECORDS, AES_BLOCKS, COMPRESSIONS = 2, 7, 61
"""Of a client: the two Finished, and its hashing."""


def test_the_prices_of_the_device_are_those_of_simavr() -> None:
    operations = {(name, octets): cycles for name, octets, cycles, _ in _file()["operations"]}
    aes = operations["seal", 32] / AES_BLOCKS
    whole = measured.compute_s("plain", "client") * _file()["clock_hz"]
    sha256 = (whole - RECORDS * AES_BLOCKS * aes) / COMPRESSIONS
    for key, price in (("aes_block_us", aes), ("sha256_block_us", sha256)):
        assert _cycles(key) == pytest.approx(price, abs=1), key


def test_both_ends_compute_as_long_as_simavr_says() -> None:
    recorded = find("pittoli2016").recorded()
    assert recorded
    exact = {id: ours for id, (_, ours, _) in recorded["rows"].items() if ".exact." in id}
    assert len(exact) == 4
    assert all(ours == pytest.approx(100, abs=1) for ours in exact.values()), exact


def test_a_server_that_computes_at_the_same_time_makes_the_difference() -> None:
    laboratory = Laboratory(find("pittoli2016").folder, count=20, update=lambda done: None)

    def of(settings: Mapping[str, Any], column: str = "duration_s") -> float:
        return laboratory.mean(minimal.point(settings), column).mean

    original, optimised, sequential = minimal.ORIGINAL, minimal.OPTIMISED, minimal.SEQUENTIAL
    # The server's work between its ServerHello and the client's Finished, by simavr.
    derivation_s = max(
        cycles for end, call, *_, cycles, _ in _file()["slides"]["calls"]
        if (end, call) == ("server", "poll_transmit")
    ) / _file()["clock_hz"]  # fmt: skip
    assert derivation_s > 0.1
    assert of(sequential) - of(optimised) == pytest.approx(derivation_s, abs=0.02)
    assert of(original) > of(sequential) > of(optimised)
    # The ends compute no less than those of the original.
    for role in ("client", "server"):
        column = f"compute_{role}_s"
        assert of(optimised, column) == pytest.approx(of(original, column), rel=0.02)


def test_messages_by_hand() -> None:
    laboratory = Laboratory(find("pittoli2016").folder, count=2, update=lambda done: None)
    values = message.measure(laboratory)

    def ours(row: str) -> float:
        value = values[row]
        assert value
        return value.mean

    # 13 of header, 8 of nonce, 8 of tag; 127 less 11 and 29 are 87.
    assert (ours("overhead.original"), ours("overhead.optimised")) == (29, 21)
    assert ours("payload.bare") == pytest.approx(100 * 8 / 87)
    # The records that simavr sent: 32 octets of data.
    assert (measured.message_octets("plain"), measured.message_octets("slides")) == (61, 53)


@pytest.mark.skipif(not TOOLS, reason="needs avr-gcc, avr-size and simavr")
@pytest.mark.skipif("SLOWHAND_FULL" not in os.environ, reason="minutes; ./test --full")
def test_simavr_measures_what_is_recorded() -> None:
    found = runpy.run_path(str(MEASURE))["measure"]()
    recorded = _file()
    for variant in ("plain", "slides"):
        for role in ("client", "server"):
            now = sum(call[3] for call in found[variant]["calls"] if call[0] == role)
            then = sum(call[3] for call in recorded[variant]["calls"] if call[0] == role)
            assert now == pytest.approx(then, rel=TOLERANCE), (variant, role)
            size = found[variant]["sizes"][role]
            assert size == pytest.approx(recorded[variant]["sizes"][role], rel=TOLERANCE)
    for image, needs in found["images"].items():
        assert needs["flash"] == pytest.approx(recorded["images"][image]["flash"], rel=TOLERANCE)


def _file() -> dict[str, Any]:
    return measured.measured()


def _cycles(key: str) -> float:
    device = tomllib.loads((ROOT / "devices" / "atmega128rfa1.toml").read_text())
    return float(device["crypto"][key]["cycles"])
