"""Programs of others complete sessions with an emulated end across a 6TiSCH network."""

import re
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

import pytest

import slowhand
from conversations import MTU, UP
from live_network import NETWORK, wait_until_closed
from programs import PATIENCE_S, Program, Protocol, at_once, free_port
from slowhand.realtime import Live

PSK = {"suite": "TLS_PSK_WITH_AES_128_CCM_8"}
CCM_8 = "PSK-AES128-CCM8"  # OpenSSL's name
# libcoap takes the key as a text, OpenSSL as hexadecimal digits.
KEY_TEXT = "a key of ours"
KEY = KEY_TEXT.encode().hex()

OPENSSL_SERVER = ("-cert", "server.pem", "-key", "server.key", "-CAfile", "ca.pem", "-Verify", "1")
S_CLIENT = ("openssl", "s_client", "-connect", "127.0.0.1:PORT")
OPENSSL_CLIENT = ("-cert", "client.pem", "-key", "client.key", "-CAfile", "ca.pem")
GNUTLS_SERVER = (
    *("--echo", "--x509certfile=server.pem", "--x509keyfile=server.key"),
    *("--x509cafile=ca.pem", "--require-client-cert", "--verify-client-cert"),
)
# The emulated server has no name to verify.
GNUTLS_CLIENT = (
    *("--x509certfile=client.pem", "--x509keyfile=client.key", "--x509cafile=ca.pem"),
    *("--verify-hostname=s", "-p", "PORT", "127.0.0.1"),
)


class Case(NamedTuple):
    """A program and the emulated end that it meets."""

    session: dict[str, str]
    """The keys of its session in the scenario."""
    command: tuple[str, ...]
    """The program; PORT is its port, or that of the network."""
    protocol: Protocol
    complete: bytes
    """The words of the program when the handshake is complete; nothing if it does not say so."""


SERVERS = {
    "mbedtls, openssl dtls1.2": Case(
        {"stack": "mbedtls"},
        ("openssl", "s_server", "-dtls1_2", "-mtu", f"{MTU}", "-accept", "PORT", *OPENSSL_SERVER),
        "udp",
        b"CIPHER is ECDHE-ECDSA",
    ),
    "openssl, gnutls dtls1.2": Case(
        {"stack": "openssl"},
        ("gnutls-serv", "--udp", f"--mtu={MTU}", "--port=PORT", *GNUTLS_SERVER),
        "udp",
        b"",
    ),
    "tinydtls, libcoap openssl": Case(
        {"stack": "tinydtls", "psk": KEY, **PSK},
        ("coap-server-openssl", "-p", "BEFORE", "-k", KEY_TEXT, "-v", "7"),
        "udp",
        b"DTLS: session connected",
    ),
    "tinydtls, libcoap gnutls": Case(
        {"stack": "tinydtls", "psk": KEY, **PSK},
        ("coap-server-gnutls", "-p", "BEFORE", "-k", KEY_TEXT, "-v", "7"),
        "udp",
        b"DTLS: session connected",
    ),
    "mbedtls, openssl tls1.2": Case(
        {"stack": "mbedtls", "protocol": "tls1.2"},
        ("openssl", "s_server", "-tls1_2", "-accept", "PORT", *OPENSSL_SERVER),
        "tcp",
        b"CIPHER is ECDHE-ECDSA",
    ),
    "rustls, gnutls tls1.3": Case(
        {"stack": "rustls", "protocol": "tls1.3"},
        ("gnutls-serv", "--port=PORT", *GNUTLS_SERVER),
        "tcp",
        b"- Description: (TLS1.3",
    ),
}


class Outcome(NamedTuple):
    """The result of a session."""

    net: Live
    said: bytes
    """The words of the program."""


def serve(name: str, folder: Path) -> Outcome:
    """A program that an emulated client opens a session with, and closes it."""
    session, command, protocol, complete = SERVERS[name]
    at = free_port(2) + 1
    texts = {"PORT": f"{at}", "BEFORE": f"{at - 1}"}
    scenario = slowhand.Scenario({**NETWORK, "session": session}, {"client.count": 1})
    scenario.write_credentials(folder)
    with Program(*_filled(command, texts), folder=folder) as program:
        program.listens(protocol, at)
        with slowhand.live(scenario, server=at) as net:
            net.wait(timeout_s=PATIENCE_S)  # the network ends when its client has
            said = program.expect(complete)
    return Outcome(net, said)


CLIENTS = {
    "mbedtls, openssl dtls1.2": Case(
        {"stack": "mbedtls"},
        (*S_CLIENT, "-dtls1_2", "-mtu", f"{MTU}", *OPENSSL_CLIENT),
        "udp",
        b"Verify return code: 0 (ok)",
    ),
    "tinydtls, openssl dtls1.2": Case(
        {"stack": "tinydtls", "psk": KEY, "psk_identity": "sensor 7", **PSK},
        (*S_CLIENT, "-dtls1_2", "-psk", KEY, "-psk_identity", "sensor 7", "-cipher", CCM_8),
        "udp",
        b"Verify return code: 0 (ok)",
    ),
    "openssl, gnutls dtls1.2": Case(
        {"stack": "openssl"},
        ("gnutls-cli", "--udp", f"--mtu={MTU}", *GNUTLS_CLIENT),
        "udp",
        b"Handshake was completed",
    ),
    "rustls, openssl tls1.3": Case(
        {"stack": "rustls", "protocol": "tls1.3"},
        (*S_CLIENT, "-tls1_3", *OPENSSL_CLIENT),
        "tcp",
        b"Verify return code: 0 (ok)",
    ),
    "mbedtls, gnutls tls1.2": Case(
        {"stack": "mbedtls", "protocol": "tls1.2"},
        ("gnutls-cli", "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.2", *GNUTLS_CLIENT),
        "tcp",
        b"Handshake was completed",
    ),
}


def dial(name: str, folder: Path) -> Outcome:
    """A program that opens a session with an emulated server, which sends back what it hears."""
    session, command, _, complete = CLIENTS[name]
    scenario = slowhand.Scenario({**NETWORK, "session": session})
    scenario.write_credentials(folder)
    with slowhand.live(scenario, listen=0) as net:
        assert net.listen
        command = _filled(command, {"PORT": f"{net.listen[1]}"})
        with Program(*command, folder=folder) as program:
            program.expect(complete)
            for line in UP:
                program.write(line)
                program.expect(line)
            if command[0] == "openssl":
                program.write(b"Q\n")
            said = program.end()
        wait_until_closed(net, 1)
    return Outcome(net, said)


def _filled(command: tuple[str, ...], texts: dict[str, str]) -> tuple[str, ...]:
    for name, text in texts.items():
        command = tuple(part.replace(name, text) for part in command)
    return command


Outcomes = dict[tuple[str, str], Future[Outcome]]

WAYS = {"server": (serve, SERVERS), "client": (dial, CLIENTS)}


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Iterator[Outcomes]:
    def start(case: tuple[str, str], folder: Path) -> Outcome:
        way, name = case
        return WAYS[way][0](name, folder)

    with at_once(request, "case", start) as started:
        yield started


CASES = [(way, name) for way, (_, cases) in WAYS.items() for name in cases]


@pytest.mark.parametrize("case", CASES, ids=": ".join)
def test_a_program_completes_a_session_with_an_emulated_end(
    case: tuple[str, str], outcomes: Outcomes
) -> None:
    net, said = outcomes[case].result()
    assert net.records["outcome"].to_list() == ["completed"]
    # libcoap says the length of each datagram. What is sent again may be on its way at that time.
    if "libcoap" in case[1] and not net.records["retransmissions_spurious"].item():
        handshake, connected, _ = said.partition(b"DTLS: session connected")
        lengths = re.findall(rb"DTLS: (?:sent|received) (\d+) bytes", handshake)
        assert connected and net.records["bytes_payload"].item() == sum(map(int, lengths))
    summary = net.events[-1]["summary"]
    assert summary["datagrams"]["lost"] == {}
    if case[0] == "client":
        octets = 2 * len(b"".join(UP))
        assert summary["frames"] > octets / 127
        assert octets < summary["bytes_phy"] < 15 * octets
