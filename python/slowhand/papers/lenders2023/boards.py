"""The scenario of all parts, and the captures of its worlds."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from slowhand.papers import datagrams
from slowhand.papers.capture import frames
from slowhand.papers.datagrams import Datagram
from slowhand.papers.points import FIRST_SEED, Laboratory, Point, Settings

SCENARIO = "boards.toml"

CAPTURES = 100
"""The most worlds whose frames are captured: a capture costs more than a record."""

ONE_HOP: Settings = {
    "lowpan.contexts": {"0": "2001:db8::/64"},
    "session.server_port": 8530,
}
"""The captures over one hop: the border router announces a context for the mesh."""

TWO_HOPS: Settings = {
    "network.topology": {
        "kind": "explicit",
        "links": [{"from": 0, "to": 1}, {"from": 1, "to": 2}, {"from": 0, "to": 2}],
    },
    "network.parents": {"1": 0, "2": 1},
}
"""Boards over two hops: no context, and a forwarder. All boards hear each other: sniffers beside
them do, and what makes the hops is a list of permitted addresses."""

NETWORKS = {"1": ONE_HOP, "2": TWO_HOPS}

DEVICE: Settings = {"network.frame_handling_ms": "device"}
"""Boards that take for a frame what devices/iotlab-m3.toml says."""


def point(settings: Settings) -> Point:
    """Handshakes with these keys replaced."""
    return Point.of(SCENARIO, settings)


def address(node: int) -> str:
    """The EUI-64 of a node, in hexadecimal digits."""
    return f"021274{node:010x}"


def captured(
    laboratory: Laboratory, settings: Settings, *, most: int = CAPTURES
) -> list[list[Datagram]]:
    """The datagrams of each world, from the first seed on."""
    return _captured(laboratory.folder, point(settings), min(laboratory.count, most))


@cache
def _captured(folder: Path, at: Point, count: int) -> list[list[Datagram]]:
    scenario = at.made(folder)
    worlds = range(FIRST_SEED, FIRST_SEED + count)
    return [datagrams.read(frames(scenario, seed)) for seed in worlds]
