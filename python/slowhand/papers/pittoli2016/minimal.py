"""The scenario of all parts: two ATmega128RFA1 next to each other."""

from __future__ import annotations

from slowhand.papers.points import Point, Settings

SCENARIO = "minimal.toml"

PACKED: Settings = {"session.datagram_packing": True}

ORIGINAL: Settings = {}
"""DTLS 1.2 of lean-dtls, a message a datagram."""

OPTIMISED: Settings = {"session.lean": ["slides"]}
"""The session without what the slides leave out."""

SEQUENTIAL: Settings = {"session.lean": ["slides", "server_finished_first"]}
"""The optimised session with a server that needs its keys before it answers."""

ALL: Settings = {"session.lean": ["all"], **PACKED}
"""All switches of the lean profile."""

TINYDTLS: Settings = {"session.stack": "tinydtls", **PACKED}
"""DTLS 1.2 of tinyDTLS, which always sends a message a datagram."""


def point(settings: Settings) -> Point:
    """A connection with these keys replaced."""
    return Point.of(SCENARIO, settings)


def link_alone(settings: Settings) -> Point:
    """The point where neither end takes time to compute (a few microseconds)."""
    return point({**settings, "client.compute_factor": 0, "server.device": "linux-host"})
