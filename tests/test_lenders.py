"""`slowhand papers lenders2023`: rows are what was extracted, and both sides are read alike."""

import gzip
import json
import os
import struct
from pathlib import Path

import pytest

from slowhand.papers import datagrams, find
from slowhand.papers.capture import frames
from slowhand.papers.datagrams import Frame
from slowhand.papers.lenders2023 import boards, exchanges, extract, measured
from slowhand.papers.points import Laboratory

CLIENT, ROUTER = "aabbccddeeff0011", "2233445566778899"

FOLDER = find("lenders2023").folder

ARTIFACTS = os.environ.get("SLOWHAND_DOC_ARTIFACTS")
"""A clone of the artifacts, if there is one."""


def frame(body: bytes, begin_s: float, *, number: int = 1, up: bool = True) -> Frame:
    """A data frame with 64-bit addresses that asks for an acknowledgement."""
    ends = (ROUTER, CLIENT) if up else (CLIENT, ROUTER)
    addresses = b"".join(bytes.fromhex(end)[::-1] for end in ends)
    return Frame(begin_s, bytes([0x61, 0xDC, number, 0x23, 0x00]) + addresses + body + b"\0\0")


def headers(ports: bytes = bytes([0xF0, 0xC0, 0x01, 0x21, 0x52, 0x12, 0x34])) -> bytes:
    """IPv6 with both addresses in full and hop limit 64 (RFC 6282 section 3.1), then UDP."""
    return bytes([0x7E, 0x00]) + bytes(32) + ports


def test_the_numbers_of_the_rows_are_those_that_were_extracted() -> None:
    numbers = measured.numbers()
    rows = {row.id: row for row in find("lenders2023").rows}
    judged = {id for id, row in rows.items() if row.reported is not None}
    # Ten datagrams are the names of the messages; each handshake that was read has each once.
    assert judged - numbers.keys() == {"handshake.1.datagrams"}
    assert rows["handshake.1.datagrams"].reported == len(exchanges.MESSAGES)
    for id in judged & numbers.keys():
        reported = rows[id].reported
        assert isinstance(reported, float)
        digits = max(0, len(repr(reported).split(".")[1]) - (reported == int(reported)))
        assert round(numbers[id], digits) == pytest.approx(reported), id


def test_headers_and_gaps_of_fragments_by_hand() -> None:
    first = bytes([0xC0, 121, 0, 7]) + headers() + bytes(56)
    second = bytes([0xE0, 121, 0, 7, 13]) + bytes(17)
    one = frame(first, 1.0)
    two = frame(second, 1.0 + 130 * 32e-6 + 0.002, number=2)
    again = Frame(two.begin_s + 0.003, two.octets)
    (datagram,) = datagrams.read([one, two, again])
    # 21 octets of header and 2 of check; 4 of FRAG1, 5 of FRAGN; 2 + 32 + 7; 124 octets in the air.
    assert (datagram.link_octets, datagram.fragment_octets) == (23, [4, 5])
    assert (datagram.ip_octets, datagram.hop_limit) == (41, 64)
    assert (datagram.frames, datagram.ports) == ([124, 45], (0xC001, 0x2152))
    assert (len(datagram.payload), datagram.is_complete, datagram.repeated) == (73, True, 1)
    assert datagram.gaps_s == [pytest.approx(0.002)]
    assert datagram.end_s == pytest.approx(again.begin_s + (45 + 6) * 32e-6)


@pytest.mark.parametrize(
    ("octets", "ports"),
    [
        (bytes([0xF0, 0x16, 0x33, 0xC0, 0x01, 0, 0]), (0x1633, 0xC001)),
        (bytes([0xF1, 0x16, 0x33, 0x05, 0, 0]), (0x1633, 0xF005)),
        (bytes([0xF2, 0x05, 0x16, 0x33, 0, 0]), (0xF005, 0x1633)),
        (bytes([0xF3, 0x5A, 0, 0]), (0xF0B5, 0xF0BA)),
    ],
)
def test_ports_in_each_form(octets: bytes, ports: tuple[int, int]) -> None:
    # RFC 6282 section 4.3.3.
    (datagram,) = datagrams.read([frame(headers(octets) + b"x", 0.0)])
    assert (datagram.ports, datagram.ip_octets) == (ports, 34 + len(octets))
    assert datagram.payload == b"x"


def test_our_captures_are_read_as_the_records_have_them() -> None:
    laboratory = Laboratory(FOLDER, count=3, update=lambda done: None)
    for hops, settings in boards.NETWORKS.items():
        record = laboratory.measure(boards.point(settings)).samples
        worlds = boards.captured(laboratory, settings)
        frames = [sum(len(each.frames) + each.repeated for each in world) for world in worlds]
        assert frames == record["frames"], hops
        for world, duration_s in zip(worlds, record["duration_s"], strict=True):
            (handshake,) = exchanges.handshakes(world, boards.address(int(hops)))
            # The record begins with the application's call: computing, a frame, the back-off.
            late_s = duration_s - exchanges.duration_s(handshake)
            assert 0 < late_s < 0.01, hops


def test_the_times_of_a_capture_are_those_of_the_zep_headers(tmp_path: Path) -> None:
    octets = frame(headers() + b"data", 0.0).octets
    acknowledgement = bytes([2, 0, 1, 0, 0])
    heard = [
        (1, 100.0, octets), (2, 100.5, octets),  # the second clock is 0.5 s ahead
        (1, 101.0, octets[:2] + b"\x02" + octets[3:]),
        (2, 101.5 + (len(octets) + 6) * 32e-6 + 192e-6, acknowledgement[:2] + b"\x02\0\0"),
    ]  # fmt: skip
    file = tmp_path / "x.pcap.gz"
    file.write_bytes(gzip.compress(pcap(heard)))
    found = extract._heard(file)
    assert [each.begin_s for each in found[1]] == pytest.approx([100.0, 101.0])
    assert found[2][0].octets == octets
    # 12 symbols of 16 us, although no sniffer has heard both.
    assert extract._acknowledgements(found) == [pytest.approx(192e-6, abs=1e-6)]


def pcap(heard: list[tuple[int, float, bytes]]) -> bytes:
    """Frames in ZEP over UDP, all with the same wrong time."""
    packets = b""
    for sniffer, begin_s, octets in heard:
        seconds, fraction = divmod(begin_s, 1)
        time = (int(seconds), int(fraction * 2**32))
        zep = struct.pack(">2sBBBH2xII", b"EX", 2, 1, 16, sniffer, *time)
        packet = bytes(42) + zep + bytes(14) + bytes([len(octets)]) + octets
        packets += struct.pack("<IIII", 7, 7, len(packet), len(packet)) + packet
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + packets


def test_a_frame_without_a_back_off_period_is_early() -> None:
    long = bytes(60)
    one = frame(headers() + long, 1.0)
    early = frame(headers() + long, one.end_s + 0.0009, number=2)
    again = Frame(early.end_s + 0.003, early.octets)
    later = frame(headers() + long, again.end_s + 0.0012, number=3)
    end = frame(headers() + long, later.end_s + 1.0, number=4)
    found = extract.Found()
    extract._of_frames([one, early, again, later, end], found)
    assert found.counts["frames.early"] == found.counts["frames.early.repeated"] == 1
    assert (found.counts["frames.later"], found.counts["frames.later.repeated"]) == (1, 0)


def test_a_datagram_that_is_passed_on_is_one_hop_further() -> None:
    below = frame(headers() + b"data", 1.0)
    above = bytes([0x7C, 0x00, 63]) + headers()[2:] + b"data"
    sent = frame(above, below.end_s + 0.0025, number=9, up=False)
    (found,) = exchanges.forwarding_s(datagrams.read([below, sent]), ROUTER)
    assert found[1] == pytest.approx(0.0025)
    other = frame(above[:-4] + b"else", below.end_s + 0.0025, number=9, up=False)
    assert not exchanges.forwarding_s(datagrams.read([below, other]), ROUTER)


@pytest.mark.skipif(not ARTIFACTS, reason="needs a clone: SLOWHAND_DOC_ARTIFACTS")
def test_the_artifacts_give_what_is_recorded() -> None:
    assert ARTIFACTS
    found = json.loads(json.dumps(extract.measure(Path(ARTIFACTS))))
    assert found == json.loads(measured.FILE.read_text())


def test_a_world_is_heard_in_its_order() -> None:
    heard = list(frames(boards.point(boards.TWO_HOPS).made(FOLDER)))
    assert [each.begin_s for each in heard] == sorted(each.begin_s for each in heard)
    asked = [each for each in heard if each.octets[0] & 0x20]
    answered = [each for each in heard if each.is_acknowledgement]
    assert len(answered) <= len(asked)
