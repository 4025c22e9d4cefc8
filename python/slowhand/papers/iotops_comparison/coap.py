"""The fields of a message of CoAP (RFC 7252 section 3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option of a message."""

    number: int
    value: bytes
    octets: int
    """Of all of it: delta, length, value."""


@dataclass(frozen=True)
class Message:
    """A message: header of 4 octets, token, options, marker and payload."""

    token: int
    """Octets of the token."""
    options: tuple[Option, ...]
    payload: bytes

    @classmethod
    def read(cls, octets: bytes) -> Message:
        """The message in a datagram."""
        token = octets[0] & 15
        at, number = 4 + token, 0
        options = []
        while at < len(octets) and octets[at] != 0xFF:
            begin = at
            delta, length, at = octets[at] >> 4, octets[at] & 15, at + 1
            delta, at = _extended(delta, octets, at)
            length, at = _extended(length, octets, at)
            number += delta
            options.append(Option(number, octets[at : at + length], at + length - begin))
            at += length
        return cls(token, tuple(options), octets[at + 1 :])


def _extended(nibble: int, octets: bytes, at: int) -> tuple[int, int]:
    """The value of a delta or a length, and where the next field begins (section 3.1)."""
    if nibble == 13:
        return octets[at] + 13, at + 1
    if nibble == 14:
        return int.from_bytes(octets[at : at + 2], "big") + 269, at + 2
    return nibble, at
