"""Octets: of headers, of each message of a handshake, of queries and responses."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.papers.capture import FINISHED
from slowhand.papers.datagrams import Datagram
from slowhand.papers.lenders2023 import boards, exchanges
from slowhand.papers.points import Laboratory, Values

DNS = {"query": 42, "a": 58, "aaaa": 70}
"""Octets of a query and of responses with an address of IPv4 and of IPv6: the payloads over UDP."""

COAP = {"query": 59, "a": 68}
"""The octets in a message of CoAP: their payloads over CoAP, with FETCH."""


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    (one, *_), (two, *_) = (
        boards.captured(laboratory, settings) for settings in (boards.ONE_HOP, boards.TWO_HOPS)
    )
    near = _handshake(one, boards.address(1))
    client, router = (_handshake(two, boards.address(node)) for node in (2, 0))
    record = client["fin"]["payload"] - FINISHED
    octets = {**exchanges.octets(near, client, router), "record": record}
    carried = {
        f"{transport}.{name}": _carried(laboratory, payload + extra, is_query=name == "query")
        for transport, payloads, extra in (
            ("udp", DNS, 0),
            ("dtls", DNS, record),
            ("coap", COAP, 0),
            ("coaps", COAP, record),
        )
        for name, payload in payloads.items()
    }
    return {name: Estimate(number) for name, number in octets.items()} | carried


def _handshake(datagrams: list[Datagram], end: str) -> exchanges.Sizes:
    """The handshake as the link of its client, or of its border router, has it."""
    (found,) = exchanges.handshakes(datagrams, end, is_client=end != boards.address(0))
    return {name: datagram.sizes for name, datagram in found.items()}


def _carried(laboratory: Laboratory, octets: int, *, is_query: bool) -> Estimate:
    """Octets of the frames of a datagram with so many octets over UDP, on the client's link."""
    ends = (2, "internet") if is_query else ("internet", 2)
    flow: dict[str, Setting] = {"from": ends[0], "to": ends[1]}
    flow.update({"interval_ms": 300, "octets": octets})
    (datagrams, *_) = boards.captured(laboratory, {**boards.TWO_HOPS, "traffic": [flow]}, most=1)
    client = boards.address(2)
    sent = [
        each
        for each in datagrams
        if each.ports == FLOW and client == (each.source if is_query else each.target)
    ]
    return Estimate(sum(sent[0].frames))


FLOW = (9, 9)
"""The ports of other traffic. Like those of the captures they cannot be compressed."""
