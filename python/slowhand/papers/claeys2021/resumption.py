"""Section 7: a session that is resumed needs fewer messages, and symmetric cryptography only."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import LARGE_DTLS, LARGE_TLS, handshake
from slowhand.papers.points import Laboratory, Point, Values

PROTOCOLS = {"dtls": LARGE_DTLS, "tls": LARGE_TLS}

WAYS = ("id", "ticket")
"""The server keeps the session (RFC 5246), or the client does (RFC 5077)."""


def point(protocol: str, way: str | None) -> Point:
    """A full handshake, or one that resumes a session."""
    return handshake(PROTOCOLS[protocol], {} if way is None else {"session.resumption": way})


POINTS = [point(protocol, way) for protocol in PROTOCOLS for way in (None, *WAYS)]


def measure(laboratory: Laboratory) -> Values:
    """The savings of a resumed handshake over a full one, and what is left."""
    values: dict[str, Estimate | None] = {}
    for protocol in PROTOCOLS:
        full, by_id = point(protocol, None), point(protocol, "id")
        for name, column in (("datagrams", "datagrams"), ("computing", "compute_client_s")):
            less = laboratory.mean(full, column) - laboratory.mean(by_id, column)
            values[f"{protocol}.{name}"] = less
        for way in WAYS:
            measured = laboratory.measure(point(protocol, way))
            values[f"{protocol}.{way}.bytes"] = measured.estimate("bytes_phy")
            values[f"{protocol}.{way}.duration"] = measured.estimate("duration_s")
            values[f"{protocol}.{way}.computing"] = measured.estimate("compute_client_s")
    return values
