"""Programs of others complete their sessions over a 6TiSCH network, and their data stays whole.

The same conversations over loopback alone are the control.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

import pytest

import slowhand
from conversations import ALL, DATA, SESSIONS
from live_network import NETWORK, wait_until_closed
from programs import Protocol, at_once
from slowhand.realtime import Live


class Outcome(NamedTuple):
    """The result of a conversation."""

    handshake_octets: int | None
    """As its client counted them."""
    net: Live | None
    """The network between the programs."""
    air: bytes
    """The capture of its frames."""


def over_loopback(name: str, folder: Path) -> Outcome:
    return Outcome(ALL[name](folder, lambda protocol, port: port), None, b"")


def over_the_network(name: str, folder: Path) -> Outcome:
    networks: list[Live] = []

    def connect(protocol: Protocol, port: int) -> int:
        kind = {"udp": "dtls1.2", "tcp": "tls1.2"}[protocol]
        net = slowhand.live(
            NETWORK,
            udp=port if protocol == "udp" else (),
            tcp=port if protocol == "tcp" else (),
            set={"session.protocol": kind},
            capture=folder / "air",
        )
        networks.append(net.__enter__())
        ((_, reached),) = net.udp + net.tcp
        return reached

    try:
        octets = ALL[name](folder, connect)
        wait_until_closed(networks[0], SESSIONS.get(name, 1))
    finally:
        for net in networks:
            net.close()
    return Outcome(octets, networks[0], (folder / "air").read_bytes())


WAYS = {"loopback": over_loopback, "6TiSCH": over_the_network}

Outcomes = dict[tuple[str, str], Future[Outcome]]


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Iterator[Outcomes]:
    def start(conversation: tuple[str, str], folder: Path) -> Outcome:
        way, name = conversation
        return WAYS[way](name, folder)

    with at_once(request, "conversation", start) as started:
        yield started


def conversations(way: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("conversation", [(way, name) for name in ALL], ids="-".join)


@conversations("loopback")
def test_it_is_right_without_a_network(conversation: tuple[str, str], outcomes: Outcomes) -> None:
    outcomes[conversation].result()


@conversations("6TiSCH")
def test_it_is_right_across_the_network(conversation: tuple[str, str], outcomes: Outcomes) -> None:
    _, name = conversation
    handshake_octets, net, air = outcomes[conversation].result()
    assert net
    records = net.records
    assert records["outcome"].to_list() == ["completed"] * SESSIONS.get(name, 1)
    ended = net.events[-1]
    assert ended["summary"]["datagrams"]["lost"] == {}
    # A round trip takes a slotframe of 90 ms or so, and no handshake here has more than five.
    assert all(0.1 < duration_s < 20 for duration_s in records["duration_s"])
    # A frame has at most 127 octets (IEEE 802.15.4). All data is in frames, with some times as much
    # for headers, handshakes and acknowledgements.
    assert ended["summary"]["frames"] > DATA / 127
    assert DATA < ended["summary"]["bytes_phy"] < 15 * DATA
    # Data that are sent again may come later than the count, and segments of TCP have headers.
    if handshake_octets and net.udp and not records["retransmissions_spurious"].item():
        assert records["bytes_payload"].item() == handshake_octets
    if handshake_octets and net.tcp:
        assert records["bytes_payload"].item() > handshake_octets
    # The lines of the conversations end in dots: only CoAP without DTLS shows them on the air.
    assert (b"." * 40 in air) == (name == "aiocoap")
    secure = [event["secure"] for event in net.events if event["event"] == "closed"]
    assert secure and set(secure) == {name != "aiocoap"}
