"""The scenario of all parts: two ATmega128RFA1 next to each other."""

from __future__ import annotations

from slowhand.keys import Setting
from slowhand.papers.points import Point

SCENARIO = "minimal.toml"

PACKED: dict[str, Setting] = {"session.datagram_packing": True}

ORIGINAL: dict[str, Setting] = {}
"""DTLS 1.2 of lean-dtls, a message a datagram."""

OPTIMISED: dict[str, Setting] = {"session.lean": ["slides"]}
"""The session without what the slides leave out."""

SEQUENTIAL: dict[str, Setting] = {
    "session.lean": ["slides", "server_finished_first"],
}
"""The optimised session with a server that needs its keys before it answers."""

ALL: dict[str, Setting] = {"session.lean": ["all"], **PACKED}
"""All switches of the lean profile."""

TINYDTLS: dict[str, Setting] = {"session.stack": "tinydtls", **PACKED}
"""DTLS 1.2 of tinyDTLS, which always sends a message a datagram."""


def point(settings: dict[str, Setting]) -> Point:
    """A connection with these keys replaced."""
    return Point.of(SCENARIO, settings)


def link_alone(settings: dict[str, Setting]) -> Point:
    """The point where neither end takes time to compute (a few microseconds)."""
    return point({**settings, "client.compute_factor": 0, "server.device": "linux-host"})
