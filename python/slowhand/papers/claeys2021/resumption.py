"""Section 7: a session that is resumed needs fewer messages, and symmetric cryptography only."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.claeys2021.handshake import (
    LARGE_MFL,
    LARGE_MSS,
    SCENARIO,
    dtls_settings,
    tls_settings,
)
from slowhand.papers.part import Values, no_figure
from slowhand.papers.points import Laboratory, Point, Settings

PROTOCOLS: dict[str, Settings] = {
    "dtls": dtls_settings(LARGE_MFL),
    "tls": tls_settings(LARGE_MSS, nagle=False),
}

WAYS = ("id", "ticket")
"""The server keeps the session (RFC 5246), or the client does (RFC 5077)."""


def points() -> list[Point]:
    """The points to run."""
    return [point(protocol, way) for protocol in PROTOCOLS for way in (None, *WAYS)]


def point(protocol: str, way: str | None) -> Point:
    """A full handshake, or one that resumes a session."""
    resumption: Settings = {} if way is None else {"session.resumption": way}
    return Point.of(SCENARIO, {**PROTOCOLS[protocol], **resumption})


def measure(laboratory: Laboratory) -> Values:
    """The savings of a resumed handshake over a full one, and what is left."""
    values: dict[str, Estimate | None] = {}
    for protocol in PROTOCOLS:
        full = point(protocol, None)

        def less(column: str, full: Point = full, protocol: str = protocol) -> Estimate:
            resumed = laboratory.mean(point(protocol, "id"), column)
            return laboratory.mean(full, column) - resumed

        values[f"{protocol}.datagrams"] = less("datagrams")
        values[f"{protocol}.computing"] = less("compute_client_s")
        for way in WAYS:
            measured = laboratory.measure(point(protocol, way))
            values[f"{protocol}.{way}.bytes"] = measured.estimate("bytes_phy")
            values[f"{protocol}.{way}.duration"] = measured.estimate("duration_s")
            values[f"{protocol}.{way}.computing"] = measured.estimate("compute_client_s")
    return values


draw = no_figure
