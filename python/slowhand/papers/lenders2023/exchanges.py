"""Handshakes, and datagrams that are passed on, from the datagrams of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slowhand.papers.datagrams import Datagram

MESSAGES = ("ch", "hvr", "ch2", "sh", "shd", "cke", "ccs", "fin", "ccs2", "fin2")
"""The datagrams of a handshake of tinyDTLS with a pre-shared key, in their order: ClientHello,
HelloVerifyRequest, ClientHello with the cookie, ServerHello, ServerHelloDone, ClientKeyExchange,
ChangeCipherSpec and Finished of the client, the same of the server."""

_BY_TYPE = {1: "ch", 3: "hvr", 2: "sh", 14: "shd", 16: "cke"}

Handshake = dict[str, Datagram]

Sizes = Mapping[str, Mapping[str, Any]]
"""The `sizes` of each message of a handshake."""


def octets(near: Sizes, client: Sizes, router: Sizes) -> dict[str, int]:
    """The octets of headers and messages: of a client over one hop, and over two; of the router."""
    return {
        "link": client["ch"]["link"],
        "ip.client": client["cke"]["ip"],
        "ip.server": client["shd"]["ip"],
        "ip.context.client": near["cke"]["ip"],
        "ip.context.server": near["shd"]["ip"],
        "fragment.first": client["ch"]["frames"][0],
        "fragment.headers": sum(client["ch"]["fragment"]),
        "frames.1": sum(len(near[name]["frames"]) for name in MESSAGES),
        "frames.2": sum(len(client[name]["frames"]) for name in MESSAGES),
        # The server's last flight is as long as the client's.
        **{f"message.{name}": sum(router[name]["frames"]) for name in MESSAGES[:8]},
    }


def message(datagram: Datagram, *, is_of_client: bool) -> str | None:
    """The name of a datagram of a handshake of DTLS 1.2 (RFC 6347 section 4.1, 4.2)."""
    octets = datagram.payload
    if datagram.ports is None or len(octets) < 14 or octets[1] != 0xFE:
        return None
    kind, epoch = octets[0], octets[3] << 8 | octets[4]
    if kind == 20:
        return "ccs" if is_of_client else "ccs2"
    if kind != 22:
        return None
    if epoch:
        return "fin" if is_of_client else "fin2"
    name = _BY_TYPE.get(octets[13])
    is_second = octets[17] << 8 | octets[18]  # the message's number
    return "ch2" if name == "ch" and is_second else name


def handshakes(
    datagrams: Iterable[Datagram], end: str, *, is_client: bool = True
) -> list[Handshake]:
    """The handshakes as the link of one end has them, each message once and complete.

    The end is the client, or the border router.
    """
    found: list[tuple[Handshake, list[str]]] = []
    for datagram in datagrams:
        if end not in (datagram.source, datagram.target):
            continue
        name = message(datagram, is_of_client=(datagram.source == end) == is_client)
        if name is None:
            continue
        if name == "ch" or not found:
            found.append(({}, []))
        handshake, names = found[-1]
        handshake[name] = datagram
        names.append(name)
    return [
        handshake
        for handshake, names in found
        if tuple(names) == MESSAGES and all(each.is_complete for each in handshake.values())
    ]


def gap_s(handshake: Handshake, first: str, second: str) -> float:
    """From the end of one message to the begin of another."""
    return handshake[second].begin_s - handshake[first].end_s


CLIENT = (("hvr", "ch2"), ("shd", "cke"), ("cke", "ccs"), ("ccs", "fin"))
"""The gaps in which the client computes and gets its frames into the air."""


def client_s(handshake: Handshake) -> float:
    """The sum of the gaps of `CLIENT`."""
    return sum(gap_s(handshake, *pair) for pair in CLIENT)


def duration_s(handshake: Handshake) -> float:
    """From the first symbol of the ClientHello to the last octet of the server's Finished."""
    return handshake["fin2"].end_s - handshake["ch"].begin_s


def until_finished_s(handshake: Handshake) -> float:
    """From the first symbol of the ClientHello to the last octet of the client's Finished."""
    return handshake["fin"].end_s - handshake["ch"].begin_s


def repeated(handshake: Handshake) -> int:
    """The number of frames that the link layer has sent again."""
    return sum(each.repeated for each in handshake.values())


def forwarding_s(datagrams: Iterable[Datagram], forwarder: str) -> list[tuple[Datagram, float]]:
    """The time that a node takes to pass datagrams on.

    From the last octet that it has received to the first symbol that it sends, for datagrams none
    of whose frames were repeated, if nothing else of it or to it lies between.
    """
    found = []
    received: Datagram | None = None
    for datagram in datagrams:
        if datagram.target == forwarder:
            received = datagram
        elif datagram.source == forwarder:
            if received and _is_same(received, datagram):
                found.append((received, datagram.begin_s - received.end_s))
            received = None
    return found


def _is_same(one: Datagram, other: Datagram) -> bool:
    """True if the second datagram is the first one on its next hop."""
    return (
        one.payload == other.payload
        and other.hop_limit == one.hop_limit - 1
        and one.is_complete
        and other.is_complete
        and not one.repeated
        and not other.repeated
    )
