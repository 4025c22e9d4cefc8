"""The memory of a device that lean-dtls takes, as `firmware/measure` has measured it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from slowhand.api import Scenario
from slowhand.data import FOOTPRINT

PROCESSORS = {
    "openmote-cc2538": "cortex-m3",
    # Cortex-M4: types have the same sizes on all Arm processors of 32 bits (AAPCS32, section 5).
    "nrf52840": "cortex-m3",
    "stm32wb55": "cortex-m3",
    "atmega128rfa1": "atmega128rfa1",
}
"""The processor whose figures are those of a device."""


class Measured(NamedTuple):
    """A figure of docs/footprint.md."""

    octets: int
    """The state of a client, with all of its buffers but that of one datagram. Its stack is not in
    it; lean-dtls has no heap."""
    processor: str


def of_client(scenario: Scenario) -> Measured | None:
    """The state of the client's library on its device; `None` if it has not been measured."""
    processor = PROCESSORS.get(str(scenario.value("client.device")))
    features = _features(json.loads(scenario.native.settings())["client"])
    if processor is None or features not in _measured()[processor]:
        return None
    return Measured(_measured()[processor][features]["run"]["state"]["client"], processor)


def _features(end: dict[str, Any]) -> str | None:
    """With what lean-dtls is compiled for an end, as the images are called that are measured."""
    protocol = end["protocol"].removeprefix("coap+")
    if end["stack"] != "lean-dtls" or not protocol.startswith("dtls"):
        return None
    if protocol == "dtls1.3":
        return "dtls13" if end["psk_mode"] == "psk_ke" else None
    of_psk = "lean" if end["lean"] else "psk"
    images = {"psk": of_psk, "raw_public_key": "ecdsa", "certificate": "x509"}
    return images.get(end["credential"])


@cache
def _measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FOOTPRINT.read_text(encoding="utf-8"))
    return found
