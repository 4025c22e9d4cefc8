"""Extracts what the captures and logs of the artifacts say.

`python -m slowhand.papers.lenders2023.extract CLONE` reads a clone of
https://github.com/anr-bmbf-pivot/Artifacts-CoNEXT23-DoC and writes `measured.json`. It needs no
network and a minute.

The captures are those of sniffers beside the boards, in the format of ZEP (version 2). Their times
are those of the ZEP headers: the times of the pcap files are wrong. Each sniffer has a clock of its
own, so a capture is read as the sniffer heard it that heard most.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from slowhand.papers import datagrams
from slowhand.papers.datagrams import Datagram, Frame
from slowhand.papers.lenders2023 import exchanges
from slowhand.papers.lenders2023.measured import FILE

RESULTS = Path("05-06-evaluation/results")

HOLD_S = 0.03
"""Answers that take longer waited for the border router's serial line, see `hold` in
assumptions.toml: 2 of 958 pings took between 24 and 40 ms, about one in ten 48."""

EARLY_S, LATE_S = 0.00095, 0.005
"""A frame is early if it follows the one before within this time: no back-off period was waited.
After the second time it is not the next one."""

TRANSPORTS = ("udp", "dtls", "coap-fetch", "coaps-fetch")
RECORDS = ("A", "AAAA")


@dataclass(frozen=True)
class Setup:
    """A network of the artifacts, and its files."""

    folder: Path
    names: tuple[str, ...]
    """Of the files, with the transport in braces and without type of record, number and time."""
    clients: dict[str, str]
    """EUI-64 by name."""
    forwarder: str | None
    border_router: str

    def captures(self, clone: Path, transport: str, record: str) -> list[Path]:
        """The captures of a transport, in order."""
        patterns = [name.format(transport) + f"-{record}-*.pcap.gz" for name in self.names]
        return sorted(file for each in patterns for file in (clone / self.folder).glob(each))


SETUPS = {
    "1": Setup(
        folder=RESULTS / "2022-02-17-baseline-results",
        names=(
            "doc-eval-baseline-ieee802154-{}-None-None-100x5.0",
            "doc-eval-baseline-ieee802154-{}-None-None-100x10.0",
        ),
        clients={"m3-281": "ee6670a7ac0d1a81"},
        forwarder=None,
        border_router="5e2f9b9253f80f7c",
    ),
    # Addresses: 05-06-evaluation/scripts/exp_ctrl/create_comp_descs.py.
    "2": Setup(
        folder=RESULTS,
        names=("doc-eval-comp-ieee802154-{}-proxied0-None-None-50x5.0",),
        clients={"m3-202": "beb2abafcd8afbce", "m3-290": "be93f636ea07d40b"},
        forwarder="664e6f87a1fa2f3e",
        border_router="5e8f89df813d33b3",
    ),
}
"""By hops: a client beside the border router; two clients behind a forwarder."""


@dataclass
class Found:
    """The findings in the captures of a network."""

    captures: Counter[str] = field(default_factory=Counter)
    handshakes: list[exchanges.Handshake] = field(default_factory=list)
    at_border_router: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    at_client: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """By name, in seconds."""
    counts: Counter[str] = field(default_factory=Counter)


def main(clone: Path) -> None:
    """Writes the file from a clone."""
    text = json.dumps(measure(clone), indent=1)
    inline = re.sub(r"\[[\d,\s]*\]", lambda numbers: " ".join(numbers[0].split()), text)
    FILE.write_text(inline + "\n")


def measure(clone: Path) -> dict[str, Any]:
    """The content of the file."""
    return {
        "artifacts": "https://github.com/anr-bmbf-pivot/Artifacts-CoNEXT23-DoC",
        "hops": {hops: _network(clone, setup) for hops, setup in SETUPS.items()},
    }


def _network(clone: Path, setup: Setup) -> dict[str, Any]:
    found = Found()
    for transport in TRANSPORTS:
        for record in RECORDS:
            files = setup.captures(clone, transport, record)
            if not files:
                raise SystemExit(f"{clone / setup.folder}: no captures of {transport}, {record}")
            for file in files:
                found.captures[transport] += 1
                _capture(file, setup, f"{transport}.{record}", found)
    _of_handshakes(found)
    return {
        "captures": dict(found.captures),
        "handshakes": len(found.handshakes),
        "counts": dict(sorted(found.counts.items())),
        "octets": {
            "client": _usual(found.at_client),
            "border_router": _usual(found.at_border_router),
        },
        "times_ms": {name: _statistics(values) for name, values in sorted(found.times.items())},
    }


def _capture(file: Path, setup: Setup, kind: str, found: Found) -> None:
    heard = _heard(file)
    most = max(heard, key=lambda sniffer: len(heard[sniffer]))
    read = datagrams.read(heard[most])
    found.times["acknowledgement"] += _acknowledgements(heard)
    found.counts["frames"] += sum(len(each.frames) for each in read)
    found.counts["frames.repeated"] += sum(each.repeated for each in read)
    found.times["gap.fragments"] += [gap for each in read for gap in each.gaps_s]
    _of_frames(heard[most], found)
    _of_pings(read, setup, found)
    for client in setup.clients.values():
        found.handshakes += exchanges.handshakes(read, client)
        _of_queries(read, setup, client, kind, found)
    if setup.forwarder:
        for datagram, gap in exchanges.forwarding_s(read, setup.forwarder):
            protocol = _PROTOCOLS.get(datagram.protocol, "other")
            found.times[f"gap.forwarding.{protocol}"].append(gap)
    for datagram in read:
        if setup.border_router in (datagram.source, datagram.target):
            name = exchanges.message(datagram, is_of_client=datagram.target == setup.border_router)
            if name and datagram.is_complete:
                found.at_border_router[name][_octets(datagram)] += 1
    _of_log(file, kind, found)


_PROTOCOLS = {datagrams.ICMPV6: "ping", datagrams.UDP: "udp"}


def _of_handshakes(found: Found) -> None:
    for handshake in found.handshakes:
        for name, datagram in handshake.items():
            found.at_client[name][_octets(datagram)] += 1
        found.times["handshake.duration"].append(exchanges.duration_s(handshake))
        found.times["handshake.client"].append(exchanges.client_s(handshake))
        found.times["handshake.until_finished"].append(exchanges.until_finished_s(handshake))
        found.counts["handshake.repeated"] += exchanges.repeated(handshake)
        for first, second in pairwise(exchanges.MESSAGES):
            gap = exchanges.gap_s(handshake, first, second)
            found.times[f"handshake.{first}-{second}"].append(gap)


def _of_frames(heard: Sequence[Frame], found: Found) -> None:
    """The number of frames that are sent again, by how soon each follows one to its board."""
    data = [frame for frame in heard if not frame.is_acknowledgement]
    for before, frame, after in zip(data, data[1:], data[2:], strict=False):
        is_next = before.target and before.target == frame.target and before.source == frame.source
        if not is_next or before.octets == frame.octets:
            continue
        gap = frame.begin_s - before.end_s
        if gap < LATE_S:
            when = "early" if gap < EARLY_S else "later"
            found.counts[f"frames.{when}"] += 1
            found.counts[f"frames.{when}.repeated"] += frame.octets == after.octets


def _of_pings(read: Sequence[Datagram], setup: Setup, found: Found) -> None:
    """The path behind the border router: from a request that it gets to its answer."""
    asked: dict[bytes, Datagram] = {}
    for datagram in read:
        if datagram.protocol != datagrams.ICMPV6 or datagram.repeated:
            continue
        kind, number = datagram.payload[0], datagram.payload[4:8]
        if kind == 128 and datagram.target == setup.border_router:
            asked[number] = datagram
        elif kind == 129 and datagram.source == setup.border_router and number in asked:
            gap = datagram.begin_s - asked.pop(number).end_s
            found.times["ping"].append(gap)
            found.times["ping.held" if gap > HOLD_S else "ping.prompt"].append(gap)


def _of_queries(
    read: Sequence[Datagram], setup: Setup, client: str, kind: str, found: Found
) -> None:
    """Queries that are answered before the client asks again."""
    asked: Datagram | None = None
    for datagram in read:
        if client not in (datagram.source, datagram.target) or not _is_query(datagram, kind):
            continue
        if datagram.source == client:
            found.counts[f"query.{kind}.sent"] += 1
            asked = datagram
        elif asked:
            found.counts[f"query.{kind}.answered"] += 1
            found.times[f"query.{kind}"].append(datagram.end_s - asked.begin_s)
            found.at_client[f"query.{kind}"][_octets(asked)] += 1
            found.at_client[f"response.{kind}"][_octets(datagram)] += 1
            asked = None


def _is_query(datagram: Datagram, kind: str) -> bool:
    """True if it has a query or a response: of DTLS, application data (RFC 5246 section 6.2.1)."""
    if datagram.ports is None or not datagram.is_complete:
        return False
    return not kind.startswith(("dtls", "coaps")) or datagram.payload[0] == 23


def _of_log(file: Path, kind: str, found: Found) -> None:
    """The times in the client's log, for DNS over UDP and DTLS: `t` and `r` of a query."""
    sent: dict[tuple[str, str], list[float]] = {}
    log = file.with_name(file.name.replace(".pcap.gz", ".log"))
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(\d+\.\d+);(m3-\d+);(?:> ?)?([tr]);(\d+)", line)
        if not match:
            continue
        at_s, node, word, number = float(match[1]), match[2], match[3], match[4]
        if word == "t":
            sent.setdefault((node, number), []).append(at_s)
        elif len(sent.get((node, number), ())) == 1:
            found.times[f"log.{kind}"].append(at_s - sent.pop((node, number))[0])


def _acknowledgements(heard: dict[int, list[Frame]]) -> list[float]:
    """From the end of a frame to the begin of its acknowledgement.

    Sniffers hear the one or the other. So the frame is one that another sniffer has heard, and the
    difference of their clocks is that of the frame before, which both have heard.
    """
    data = sorted(
        (frame.begin_s, sniffer, frame)
        for sniffer, frames in heard.items()
        for frame in frames
        if not frame.is_acknowledgement
    )
    by_octets: dict[bytes, dict[int, float]] = defaultdict(dict)
    for begin_s, sniffer, frame in data:
        by_octets[frame.octets].setdefault(sniffer, begin_s)
    found = []
    for sniffer, frames in heard.items():
        common: list[Frame] = []
        for frame in frames:
            if not frame.is_acknowledgement:
                common = [*common[-3:], frame]
                continue
            for other in heard.keys() - {sniffer}:
                difference = next(
                    (
                        each.begin_s - by_octets[each.octets][other]
                        for each in reversed(common)
                        if abs(by_octets[each.octets].get(other, 0.0) - each.begin_s) < 1
                    ),
                    None,
                )
                if difference is None:
                    continue
                gap = _last_with(heard[other], frame, difference)
                if gap is not None:
                    found.append(gap)
                    break
    return found


def _last_with(heard: Sequence[Frame], acknowledgement: Frame, difference: float) -> float | None:
    """The gap to the frame of this number that another sniffer has heard, if it is below 1 ms."""
    at_s = acknowledgement.begin_s - difference
    for frame in heard:
        gap = at_s - frame.end_s
        is_answered = frame.number == acknowledgement.number and -0.0002 < gap < 0.001
        if is_answered and not frame.is_acknowledgement:
            return gap
    return None


def _heard(file: Path) -> dict[int, list[Frame]]:
    """The frames that each sniffer has heard, in the order of its clock."""
    heard: dict[int, list[Frame]] = defaultdict(list)
    for packet in _packets(gzip.decompress(file.read_bytes())):
        zep = packet[_BEFORE_ZEP:]
        if zep[:2] != b"EX":
            continue
        sniffer, seconds, fraction, length = struct.unpack(">5xH2xII14xB", zep[:32])
        octets = zep[32 : 32 + length]
        if len(octets) == length and length >= 5:
            heard[sniffer].append(Frame(seconds + fraction / 2**32, octets))
    return {sniffer: sorted(each, key=lambda f: f.begin_s) for sniffer, each in heard.items()}


_BEFORE_ZEP = 14 + 20 + 8
"""Octets of the headers of Ethernet, IPv4 and UDP."""


def _packets(pcap: bytes) -> Iterator[bytes]:
    """The packets of a pcap file (draft-ietf-opsawg-pcap)."""
    order = "<" if pcap[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(pcap):
        (length,) = struct.unpack_from(order + "I", pcap, at + 8)
        yield pcap[at + 16 : at + 16 + length]
        at += 16 + length


def _octets(datagram: Datagram) -> str:
    """The octets of a datagram, as text that can be counted."""
    return json.dumps(datagram.sizes)


def _usual(counted: dict[str, Counter[str]]) -> dict[str, Any]:
    """The most frequent value of each datagram, and how many of how many have it."""
    found = {}
    for name, values in sorted(counted.items()):
        (text, often), *_ = values.most_common(1)
        found[name] = {**json.loads(text), "seen": often, "of": values.total()}
    return found


def _statistics(values: Sequence[float]) -> dict[str, float]:
    """In milliseconds."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)

    return {
        "count": len(ordered),
        "mean": round(1000 * sum(ordered) / len(ordered), 3),
        "least": at(0),
        "p05": at(0.05),
        "p50": at(0.5),
        "p95": at(0.95),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
