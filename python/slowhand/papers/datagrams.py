"""Datagrams from the frames of a capture: theirs and ours are read by the same code.

Frames are those of IEEE 802.15.4, with 6LoWPAN (RFC 4944, RFC 6282) and without link security.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

OCTET_S = 32e-6
"""An octet at 250 kbit/s (IEEE 802.15.4-2006 section 6.5)."""

SYNCHRONISATION = 6
"""Octets before a frame: preamble, delimiter, length (IEEE 802.15.4-2006 section 6.3)."""

CHECK = 2
"""Octets of the check sequence behind a frame."""

ICMPV6, UDP = 58, 17
"""Numbers of the next header."""

_DATA, _ACKNOWLEDGEMENT = 1, 2
"""Frame types."""

_ADDRESS = {0: 0, 2: 2, 3: 8}
"""Octets of an address, by addressing mode."""


@dataclass(frozen=True)
class Frame:
    """A frame as a radio hears it."""

    begin_s: float
    """Its first symbol."""
    octets: bytes
    """The frame with its check sequence."""

    @property
    def end_s(self) -> float:
        """When its last octet has left."""
        return self.begin_s + (SYNCHRONISATION + len(self.octets)) * OCTET_S

    @property
    def type(self) -> int:
        """The frame type."""
        return self.octets[0] & 7

    @property
    def is_acknowledgement(self) -> bool:
        """True of an acknowledgement."""
        return self.type == _ACKNOWLEDGEMENT

    @property
    def target(self) -> bytes:
        """The EUI-64 of the receiver, as in the frame; nothing if it is a broadcast."""
        return self.octets[5:13] if self.octets[1] & 0xCC == 0xCC else b""

    @property
    def source(self) -> bytes:
        """The EUI-64 of the sender of a frame that has a target."""
        return self.octets[13:21]

    @property
    def number(self) -> int:
        """The sequence number."""
        return self.octets[2]


@dataclass
class Datagram:
    """An IPv6 packet on one hop, from the first symbol of its first frame."""

    source: str
    """The EUI-64 of the sender of this hop."""
    target: str
    begin_s: float
    end_s: float
    """When the last octet of its last frame has left."""
    frames: list[int]
    """The octets of each frame, check sequence included; a repetition is not one more."""
    repeated: int
    """The number of its frames that were sent again by the link layer."""
    gaps_s: list[float]
    """From the end of each frame to the begin of the next, where neither was repeated."""
    link_octets: int
    """Octets of the first frame's header and check sequence."""
    ip_octets: int
    """Octets of the compressed headers of IPv6 and UDP."""
    fragment_octets: list[int]
    """Octets of each frame's fragmentation header."""
    protocol: int
    hop_limit: int
    ports: tuple[int, int] | None
    """Of source and target; none if it is not UDP."""
    payload: bytes
    """The octets behind the headers."""
    is_complete: bool

    @property
    def sizes(self) -> dict[str, Any]:
        """Its octets: of each frame, of the headers, of the payload."""
        return {
            "frames": self.frames,
            "link": self.link_octets,
            "ip": self.ip_octets,
            "fragment": self.fragment_octets,
            "payload": len(self.payload),
        }


def read(frames: Iterable[Frame]) -> list[Datagram]:
    """The unicast datagrams of these frames, which are in the order of their times."""
    found: list[Datagram] = []
    last: dict[str, Frame] = {}
    open_: dict[tuple[str, str], tuple[Datagram, int, int]] = {}
    for frame in frames:
        if frame.type != _DATA:
            continue
        target, source, body = _addresses(frame.octets)
        if len(target) != 16:
            continue  # a broadcast
        before = last.get(source)
        current = open_.get((source, target))
        if before and before.octets == frame.octets:
            if current:
                current[0].repeated += 1
                current[0].end_s = frame.end_s
            continue
        last[source] = frame
        size, tag, offset, header = _fragmentation(body)
        rest = body[header:]
        if offset:
            if current and current[1] == tag and not current[0].is_complete:
                datagram = current[0]
                if not datagram.repeated:
                    datagram.gaps_s.append(frame.begin_s - datagram.end_s)
                datagram.frames.append(len(frame.octets))
                datagram.fragment_octets.append(header)
                datagram.payload += rest
                datagram.end_s = frame.end_s
                datagram.is_complete = offset + len(rest) >= current[2]
            continue
        headers = _headers(rest)
        if headers is None:
            continue
        ip_octets, protocol, hop_limit, ports = headers
        datagram = Datagram(
            source=source,
            target=target,
            begin_s=frame.begin_s,
            end_s=frame.end_s,
            frames=[len(frame.octets)],
            repeated=0,
            gaps_s=[],
            link_octets=len(frame.octets) - len(body),
            ip_octets=ip_octets,
            fragment_octets=[header] if header else [],
            protocol=protocol,
            hop_limit=hop_limit,
            ports=ports,
            payload=rest[ip_octets:],
            is_complete=not size,
        )
        open_[source, target] = (datagram, tag, size)
        found.append(datagram)
    return found


def _addresses(octets: bytes) -> tuple[str, str, bytes]:
    """Target and source in hexadecimal digits, and what follows the header."""
    control = octets[0] | octets[1] << 8
    at = 5
    lengths = [_ADDRESS[(control >> shift) & 3] for shift in (10, 14)]
    target = octets[at : at + lengths[0]][::-1].hex()
    at += lengths[0] + (0 if control & 0x40 else 2)
    source = octets[at : at + lengths[1]][::-1].hex()
    return target, source, octets[at + lengths[1] : -CHECK]


def _fragmentation(body: bytes) -> tuple[int, int, int, int]:
    """Size, tag and offset of a fragment, and the octets of its header (RFC 4944 section 5.3)."""
    kind = body[0] >> 3 if body else 0
    if kind not in (0x18, 0x1C):
        return 0, 0, 0, 0
    size, tag = (body[0] & 7) << 8 | body[1], body[2] << 8 | body[3]
    return (size, tag, 0, 4) if kind == 0x18 else (size, tag, 8 * body[4], 5)


def _headers(octets: bytes) -> tuple[int, int, int, tuple[int, int] | None] | None:
    """Octets, protocol, hop limit and ports of the headers of IPv6 and UDP, compressed by RFC 6282.

    None if they are not compressed.
    """
    if len(octets) < 2 or octets[0] >> 5 != 3:
        return None
    first, second = octets[0], octets[1]
    at = 2 + (second >> 7) + (4, 3, 1, 0)[first >> 3 & 3]
    protocol = 0
    if not first & 4:
        protocol = octets[at]
        at += 1
    hop_limit = (0, 1, 64, 255)[first & 3]
    if not hop_limit:
        hop_limit = octets[at]
        at += 1
    source, target, is_multicast = second >> 4 & 7, second & 7, second & 8
    at += 0 if source == 4 else (16, 8, 2, 0)[source & 3]
    lengths = (16, 6, 4, 1) if is_multicast else (16, 8, 2, 0)
    at += 0 if target == 4 else lengths[target & 3]
    ports = None
    if first & 4 and octets[at] >> 3 == 0x1E:
        protocol, code = UDP, octets[at]
        ports, length = _ports(code & 3, octets[at + 1 :])
        at += 1 + length + (0 if code & 4 else 2)
    return at, protocol, hop_limit, ports


def _ports(code: int, octets: bytes) -> tuple[tuple[int, int], int]:
    """The ports of source and target, and how many octets they take (RFC 6282 section 4.3.3)."""
    if code == 3:
        return (0xF0B0 | octets[0] >> 4, 0xF0B0 | octets[0] & 15), 1
    source = 0xF000 | octets[0] if code == 2 else octets[0] << 8 | octets[1]
    rest = octets[1:] if code == 2 else octets[2:]
    target = 0xF000 | rest[0] if code == 1 else rest[0] << 8 | rest[1]
    return (source, target), 3 if code else 4
