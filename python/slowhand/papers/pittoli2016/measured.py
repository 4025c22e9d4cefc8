"""Measurements of the engine by simavr: `firmware/atmega128rfa1/measure.py` writes the file."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal

from slowhand import data

Variant = Literal["plain", "slides"]

FILE = data.PAPERS / "pittoli2016" / "measured.json"

APPLICATION_DATA = 2
"""The last calls of a run send application data and receive it. All others are the handshake."""


@cache
def measured() -> dict[str, Any]:
    """The file."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


def compute_s(variant: Variant, role: str) -> float:
    """The time that an end computes for a handshake."""
    calls = measured()[variant]["calls"][:-APPLICATION_DATA]
    return _seconds(sum(cycles for end, _, _, cycles, _ in calls if end == role))


def message_s(variant: Variant) -> float:
    """The time that both ends compute for a message."""
    calls = measured()[variant]["calls"][-APPLICATION_DATA:]
    return _seconds(sum(cycles for _, _, _, cycles, _ in calls))


def message_octets(variant: Variant) -> int:
    """Octets of the record of a message."""
    return int(measured()[variant]["calls"][-1][2])


def flash(variant: Variant) -> int:
    """Octets of flash of an image with client and server.

    That of the slides needs as much more as the image that measures them.
    """
    found = measured()
    more = found[variant]["image"]["flash"] - found["plain"]["image"]["flash"]
    return int(found["images"]["both"]["flash"] + more)


def ram(variant: Variant) -> int:
    """Octets of RAM of a server, the end that needs more.

    They are statics, its connection, the datagram, and the deepest stack of its calls.
    """
    found = measured()
    more = found[variant]["image"]["static"] - found["plain"]["image"]["static"]
    deepest = max(call[4] for call in found[variant]["calls"] if call[0] == "server")
    connection, statics = found[variant]["sizes"]["server"], found["images"]["server"]["static"]
    return int(statics + more + connection + DATAGRAM + deepest)


DATAGRAM = 256
"""Octets of the buffer for a datagram in the images: `MTU` of lean-dtls' echo example."""


def _seconds(cycles: int) -> float:
    return cycles / float(measured()["clock_hz"])
