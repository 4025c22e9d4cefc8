"""A conversation of two ends over one hop, from the capture of a world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from slowhand.papers import datagrams
from slowhand.papers.capture import Capture
from slowhand.papers.points import FIRST_SEED, Laboratory, Point, Settings

SCENARIO = "link.toml"

CAPTURES = 100
"""The most worlds whose frames are captured: they differ in the length of signatures only."""

_TCP = 6
"""The number of the next header."""


@dataclass(frozen=True)
class Conversation:
    """The payloads of UDP or TCP in their order, and the secrets of the session."""

    payloads: tuple[tuple[bool, bytes], ...]
    """True if the client sent it, and its octets."""
    secrets: Mapping[str, bytes]

    @property
    def flights(self) -> list[list[bytes]]:
        """The flights: all that one end sends before the other answers, the client's first."""
        turns = groupby(self.payloads, key=lambda payload: payload[0])
        return [[octets for _, octets in payloads] for _, payloads in turns]


def conversations(laboratory: Laboratory, settings: Settings) -> list[Conversation]:
    """The conversations of as many worlds as the laboratory runs, at most `CAPTURES`."""
    count, at = min(CAPTURES, laboratory.count), Point.of(SCENARIO, settings)
    return [_one(laboratory.folder, at, FIRST_SEED + n) for n in range(count)]


def conversation(laboratory: Laboratory, settings: Settings) -> Conversation:
    """The conversation of the first world."""
    return _one(laboratory.folder, Point.of(SCENARIO, settings), FIRST_SEED)


@cache
def _one(folder: Path, at: Point, seed: int) -> Conversation:
    capture = Capture.of(at.made(folder), seed)
    payloads = (
        (_is_client(each.source), _payload(each)) for each in datagrams.read(capture.frames())
    )
    return Conversation(tuple(p for p in payloads if p[1]), capture.secrets())


def _is_client(source: str) -> bool:
    """True of node 1; the server is node 0."""
    return int(source, 16) & 0xFF == 1


def _payload(datagram: datagrams.Datagram) -> bytes:
    """The payload of UDP, or of TCP (RFC 9293 section 3.1)."""
    octets = datagram.payload
    return octets[octets[12] >> 4 << 2 :] if datagram.protocol == _TCP else octets
