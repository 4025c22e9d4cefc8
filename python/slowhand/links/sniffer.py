"""The capture of a sniffer: which frames of IEEE 802.15.4 were repeated, by their sequence numbers.

A node repeats a frame, with the same sequence number, until it gets an acknowledgement. So of the
transmissions from one node to another the share that was not repeated was acknowledged. One that
was given up counts as acknowledged: after many retries that is rare. Gaps in the sequence numbers
of a node are frames that the sniffer itself has missed.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from slowhand.links.rows import Acknowledged, TraceError

WITH_FCS, NO_FCS, TAP = 195, 230, 283
"""Link types (https://www.tcpdump.org/linktypes.html): frames with their check sequence, without,
and with a header that says more (https://github.com/jkcko/ieee802.15.4-tap)."""

MOST_MISSED = 0.1
"""The share of missed frames from which on a note says so. (Assumed.)"""


class Frame(NamedTuple):
    """A frame that was heard: its octets without the check sequence, and what the header says."""

    octets: bytes
    rssi_dbm: float | None = None


@dataclass
class Capture:
    """The findings in a file."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def known(octets: bytes) -> Capture | None:
    """The links in a capture, pcap or pcapng; `None` if it is none.

    Raises `TraceError` if it holds no frame of IEEE 802.15.4 that asks for an acknowledgement. A
    capture that ends within a frame counts as far as it goes.
    """
    packets = _packets(octets)
    if packets is None:
        return None
    counts = _Counts()
    kinds: set[int] = set()
    damaged = 0
    for kind, packet in packets:
        kinds.add(kind)
        frame = _frame(kind, packet)
        if frame is None:
            damaged += kind in (WITH_FCS, NO_FCS, TAP)
        else:
            counts.add(frame)
    if not counts.links:
        found = f"link types {', '.join(map(str, sorted(kinds)))}" if kinds else "no frame"
        if damaged:
            found += f", {damaged:,} damaged frames (some sniffers write the RSSI in place of FCS)"
        raise TraceError(
            f"found {found}, allowed: a capture with data frames of IEEE 802.15.4 that ask for an"
            f" acknowledgement (link types {WITH_FCS}, {NO_FCS} and {TAP})"
        )
    return Capture(list(counts.acknowledged()), list(counts.notes()))


@dataclass
class _Link:
    """The frames from one node to another, as they were heard."""

    sequence: int = -1
    sent: int = 0
    repeated: int = 0


@dataclass
class _Node:
    """A node, as it was heard."""

    sequence: int = -1
    heard: int = 0
    missed: int = 0
    rssi_dbm: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sum and number


class _Counts:
    """Counts transmissions, frame after frame."""

    def __init__(self) -> None:
        self.links: dict[tuple[int | None, str, str], _Link] = defaultdict(_Link)
        # A short address is one of a PAN, and another PAN may have the same.
        self.nodes: dict[tuple[int | None, str], _Node] = defaultdict(_Node)

    def add(self, frame: Frame) -> None:
        """Counts a frame, if it has a sequence number and a source."""
        header = _header(frame.octets)
        if header is None:
            return
        node = self.nodes[header.pan if _is_short(header.source) else None, header.source]
        if frame.rssi_dbm is not None:
            node.rssi_dbm[0] += frame.rssi_dbm
            node.rssi_dbm[1] += 1
        gap = (header.sequence - node.sequence) % 256
        if node.sequence < 0 or 0 < gap < 128:  # else an older frame again, as for a sleepy child
            node.missed += gap - 1 if node.sequence >= 0 else 0
            node.heard += 1
            node.sequence = header.sequence
        if not header.asks:
            return
        link = self.links[header.pan, header.source, header.destination]
        link.repeated += link.sequence == header.sequence
        link.sequence = header.sequence
        link.sent += 1

    def acknowledged(self) -> Iterator[Acknowledged]:
        """The share of each link."""
        pan = self._pans()[0]
        for (of, source, destination), link in self.links.items():
            if of in (pan, None):
                yield Acknowledged(source, destination, 1 - link.repeated / link.sent, link.sent)

    def _pans(self) -> list[int | None]:
        """The PANs, that with the most frames first; `None` if no frame says one."""
        sent: Counter[int | None] = Counter()
        for (pan, _, _), link in self.links.items():
            sent[pan] += link.sent * (pan is not None)
        return [pan for pan, _ in sent.most_common() if pan is not None] or [None]

    def notes(self) -> Iterator[str]:
        """Which PANs are left out, and how well the sniffer heard the nodes."""
        pan, *others = self._pans()
        if others:
            names = ", ".join(f"{other:#06x}" for other in others)
            yield f"Only PAN {pan:#06x} counts, which has the most frames. Left out: {names}."
        kept = [(name, node) for (of, name), node in self.nodes.items() if of in (pan, None)]
        for name, node in sorted(kept, key=lambda one: one[0]):
            share = node.missed / max(1, node.missed + node.heard)
            if share > MOST_MISSED:
                yield (
                    f"The sniffer missed {share:.0%} of the frames of {name}: the ratios of its"
                    " links are uncertain. Put it nearer."
                )
            if node.rssi_dbm[1]:
                mean = node.rssi_dbm[0] / node.rssi_dbm[1]
                yield f"At the sniffer, frames of {name} have {mean:.0f} dBm on average."


def _is_short(address: str) -> bool:
    """True if an address is one of 16 bits, as `_address` writes it."""
    return address.startswith("0x")


class _Header(NamedTuple):
    pan: int | None
    source: str
    destination: str
    sequence: int
    asks: bool  # for an acknowledgement


DATA, COMMAND = 1, 3
"""Types of frames (IEEE 802.15.4-2020, table 7-1). Beacons have sequence numbers of their own."""

NO_ADDRESS, SHORT, EXTENDED = 0, 2, 3
"""Modes of addresses (table 7-3)."""


def _header(octets: bytes) -> _Header | None:
    """The header of a data or command frame with sequence number and addresses (section 7.2)."""
    if len(octets) < 3:
        return None
    control = int.from_bytes(octets[:2], "little")
    version, to, source = control >> 12 & 3, control >> 10 & 3, control >> 14 & 3
    compressed, suppressed = bool(control & 0x40), version == 2 and bool(control & 0x100)
    if control & 7 not in (DATA, COMMAND) or version == 3 or suppressed:
        return None
    if to not in (SHORT, EXTENDED) or source not in (SHORT, EXTENDED):
        return None
    # Which PAN identifiers are there: table 7-2 for version 2, else section 7.2.2.6.
    is_long = version == 2 and to == source == EXTENDED
    has_to_pan = not (is_long and compressed)
    has_source_pan = not (is_long or compressed)
    at = 3 + 2 * has_to_pan
    destination, at = _address(octets, at, to)
    name, at = _address(octets, at + 2 * has_source_pan, source)
    if not destination or not name or at > len(octets):
        return None
    # A frame may go to all PANs; the source's own is the one that tells.
    start = at - (2 if source == SHORT else 8)
    pan = octets[start - 2 : start] if has_source_pan else octets[3:5] if has_to_pan else None
    return _Header(
        None if pan is None else int.from_bytes(pan, "little"),
        name,
        destination,
        octets[2],
        bool(control & 0x20) and destination != "0xffff",
    )


def _address(octets: bytes, at: int, mode: int) -> tuple[str, int]:
    """An address and where it ends; it is empty if the frame is too short."""
    end = at + (2 if mode == SHORT else 8)
    if end > len(octets):
        return "", end
    digits = octets[at:end][::-1].hex()
    return (f"0x{digits}" if mode == SHORT else digits), end


def _frame(kind: int, packet: bytes) -> Frame | None:
    """The frame in a packet; `None` if it is damaged, or of another link type."""
    if kind == NO_FCS:
        return Frame(packet)
    if kind == WITH_FCS:
        return Frame(packet[:-2]) if _is_whole(packet) else None
    if kind == TAP:
        return _tapped(packet)
    return None


TAP_FCS, TAP_RSS = 0, 1
"""Types of values in a TAP header."""


def _tapped(packet: bytes) -> Frame | None:
    if len(packet) < 4 or packet[0] != 0:
        return None
    length = int.from_bytes(packet[2:4], "little")
    values: dict[int, bytes] = {}
    at = 4
    while at + 4 <= min(length, len(packet)):
        kind, size = struct.unpack_from("<HH", packet, at)
        values[kind] = packet[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    octets = packet[length:]
    check = values.get(TAP_FCS, b"\0")[:1]
    if check == b"\1":
        if not _is_whole(octets):
            return None
        octets = octets[:-2]
    elif check == b"\2":
        octets = octets[:-4]
    rssi = values.get(TAP_RSS, b"")
    dbm = struct.unpack("<f", rssi)[0] if len(rssi) == 4 else None
    is_known = dbm is not None and -200 < dbm < 100  # not so for a NaN
    return Frame(octets, dbm if is_known else None)


REVERSED = bytes(int(f"{octet:08b}"[::-1], 2) for octet in range(256))


def _is_whole(octets: bytes) -> bool:
    """True if the check sequence is right (section 7.2.11): a CRC whose bits come in reverse."""
    if len(octets) < 3:
        return False
    found = crc_hqx(octets[:-2].translate(REVERSED), 0).to_bytes(2, "big").translate(REVERSED)
    return found == octets[-2:]


def _packets(octets: bytes) -> Iterator[tuple[int, bytes]] | None:
    """The link type and the octets of each packet; `None` if this is no capture."""
    magic = octets[:4]
    for order in "<>":
        if magic in (struct.pack(f"{order}I", number) for number in (0xA1B2C3D4, 0xA1B23C4D)):
            return _of_pcap(octets, order)
    return _of_pcapng(octets) if magic == b"\x0a\x0d\x0d\x0a" else None


def _of_pcap(octets: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """draft-ietf-opsawg-pcap, sections 4 and 5."""
    if len(octets) < 24:
        return
    kind = struct.unpack_from(f"{order}I", octets, 20)[0] & 0xFFFF
    at = 24
    while at + 16 <= len(octets):
        size = struct.unpack_from(f"{order}I", octets, at + 8)[0]
        at += 16
        if at + size > len(octets):
            return
        yield kind, octets[at : at + size]
        at += size


SECTION, INTERFACE, SIMPLE, ENHANCED = 0x0A0D0D0A, 1, 3, 6
"""Blocks of pcapng (draft-ietf-opsawg-pcapng, section 4)."""


def _of_pcapng(octets: bytes) -> Iterator[tuple[int, bytes]]:
    order, kinds = "<", list[int]()
    at = 0
    while at + 12 <= len(octets):
        if octets[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if octets[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            kinds = []
        block, size = struct.unpack_from(f"{order}II", octets, at)
        if size < 12 or size % 4 or at + size > len(octets):
            return
        body = octets[at + 8 : at + size - 4]
        if block == INTERFACE and len(body) >= 2:
            kinds.append(struct.unpack_from(f"{order}H", body)[0])
        elif block == ENHANCED and len(body) >= 20:
            interface, _, _, length = struct.unpack_from(f"{order}IIII", body)
            if interface < len(kinds):
                yield kinds[interface], body[20 : 20 + length]
        elif block == SIMPLE and len(body) >= 4 and kinds:
            length = struct.unpack_from(f"{order}I", body)[0]
            yield kinds[0], body[4 : 4 + length]
        at += size
