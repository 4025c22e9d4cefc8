"""The frames of a world, read from its capture, and the protected records in them."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slowhand.api import Scenario
from slowhand.papers.datagrams import Frame
from slowhand.papers.points import FIRST_SEED, Point

FINISHED = 24
"""Octets of plaintext in the record of a Finished of DTLS 1.2: 12 of header, 12 of verify_data."""

HEADER = 13
"""Octets of a record's header in DTLS 1.2 (RFC 6347 section 4.1)."""

_ENHANCED_PACKET = 6
"""The type of the blocks of a pcapng file that hold a frame: here in nanoseconds, behind a header
of the link type TAP that has its length."""

_DECRYPTION_SECRETS = 10
"""The type of those that hold a key log: its type and its length come before it."""

_FIRST_OF_EPOCH_1 = re.compile(rb"\x16\xfe[\xfd\xff]\x00\x01\x00{6}(..)", re.DOTALL)
"""A handshake record, DTLS 1.2 or 1.0, epoch 1, sequence number 0, and its length."""


def finished_octets(folder: Path, point: Point) -> int:
    """Octets of the record with a Finished, header included, in the world of the first seed.

    Both ends send one. Raises `ValueError` if there is none, or if they differ.
    """
    found = {
        HEADER + int.from_bytes(length, "big")
        for frame in frames(point.made(folder))
        for length in _FIRST_OF_EPOCH_1.findall(frame.octets)
    }
    if len(found) != 1:
        raise ValueError(f"records of a Finished: found lengths {sorted(found)}, allowed: one")
    return found.pop()


def frames(scenario: Scenario, seed: int = FIRST_SEED) -> Iterator[Frame]:
    """The frames of a world in their order, as a sniffer that misses none hears them."""
    return Capture.of(scenario, seed).frames()


@dataclass(frozen=True)
class Capture:
    """A capture of one world, a pcapng file in the order of octets of this project's captures."""

    octets: bytes

    @classmethod
    def of(cls, scenario: Scenario, seed: int = FIRST_SEED) -> Capture:
        """The capture of the world of this seed."""
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary) / "frames.pcapng"
            scenario.capture(file, seed=seed)
            return cls(file.read_bytes())

    def frames(self) -> Iterator[Frame]:
        """The frames in their order."""
        for block in self._blocks(_ENHANCED_PACKET):
            high, low, octets = struct.unpack_from("<III", block, 4)
            packet = block[20 : 20 + octets]
            (before,) = struct.unpack_from("<H", packet, 2)
            yield Frame((high << 32 | low) / 1e9, packet[before:])

    def secrets(self) -> dict[str, bytes]:
        """The secrets of a world's only session, by their labels in a key log."""
        return {
            label: bytes.fromhex(secret)
            for block in self._blocks(_DECRYPTION_SECRETS)
            for label, _, secret in map(str.split, block[8:].decode().rstrip("\0").splitlines())
        }

    def _blocks(self, wanted: int) -> Iterator[bytes]:
        """The contents of the blocks of a type."""
        at = 0
        while at < len(self.octets):
            kind, length = struct.unpack_from("<II", self.octets, at)
            if kind == wanted:
                yield self.octets[at + 8 : at + length - 4]
            at += length
