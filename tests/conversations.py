"""Conversations of programs of others, over whatever is between them.

Each conversation starts a server and a client, carries data in both directions, compares its
octets, and closes the session. `connect` gives the port that leads a client to that of a server.
A conversation returns how many octets the handshake had, if its client says so.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from programs import Program, Protocol, free_port, lines, make_certificates

Connect = Callable[[Protocol, int], int]

IDENTITY = "sensor"
KEY = "00112233445566778899aabbccddeeff"
KEY_TEXT = "a-key-of-16-text"

# An IP packet of OpenSSL, and a datagram of GnuTLS: below the 2047 octets that 6LoWPAN carries (RFC
# 4944, section 5.3). On loopback, OpenSSL would take the 65,536 octets of the interface.
MTU = 1_200

# To the server and back; a line of DTLS is a datagram, which takes seven 802.15.4 frames.
UP = lines(3, 600, "up")
DOWN = lines(3, 600, "down")


def _openssl(folder: Path, connect: Connect, server: list[str], client: list[str]) -> int:
    protocol: Protocol = "udp" if "-dtls1_2" in server else "tcp"
    accept = ["openssl", "s_server", "-accept", "127.0.0.1:0", *server]
    with Program(*accept, folder=folder) as accepting:
        ready = re.search(rb"ACCEPT 127.0.0.1:(\d+)\n", accepting.expect(b"ACCEPT", b"\n"))
        assert ready
        port = connect(protocol, int(ready[1]))
        dial = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *client]
        with Program(*dial, folder=folder) as connecting:
            # The words that it prints when the handshake is complete.
            connecting.expect(b"Verify return code: 0 (ok)")
            for up, down in zip(UP, DOWN, strict=True):
                connecting.write(up)
                accepting.expect(up)
                accepting.write(down)
                connecting.expect(down)
            connecting.write(b"Q\n")
            said = connecting.end()
            accepting.expect(b"DONE")  # it has the client's close_notify
    counts = re.search(rb"handshake has read (\d+) bytes and written (\d+) bytes", said)
    assert counts
    return int(counts[1]) + int(counts[2])


def openssl_dtls_psk(folder: Path, connect: Connect) -> int:
    key = ["-psk", KEY, "-psk_identity", IDENTITY, "-cipher", "PSK-AES128-CCM8"]
    session = ["-dtls1_2", "-mtu", str(MTU), "-timeout", *key]
    return _openssl(folder, connect, [*session, "-nocert"], session)


def openssl_dtls_certificates(folder: Path, connect: Connect) -> int:
    make_certificates(folder)
    session = ["-dtls1_2", "-mtu", str(MTU), "-timeout", "-CAfile", "ca.pem"]
    server = [*session, "-cert", "server.pem", "-key", "server.key", "-Verify", "1"]
    return _openssl(
        folder, connect, server, [*session, "-cert", "client.pem", "-key", "client.key"]
    )


def openssl_tls12(folder: Path, connect: Connect) -> int:
    return _openssl_tls(folder, connect, "-tls1_2")


def openssl_tls13(folder: Path, connect: Connect) -> int:
    return _openssl_tls(folder, connect, "-tls1_3")


def _openssl_tls(folder: Path, connect: Connect, version: str) -> int:
    make_certificates(folder)
    server = [version, "-cert", "server.pem", "-key", "server.key"]
    client = [version, "-CAfile", "ca.pem", "-verify_return_error"]
    return _openssl(folder, connect, server, client)


def _gnutls(
    folder: Path, connect: Connect, protocol: Protocol, server: list[str], client: list[str]
) -> None:
    at = free_port()
    datagrams = ["--udp", f"--mtu={MTU}"] if protocol == "udp" else []
    serve = ["gnutls-serv", "--echo", *datagrams, f"--port={at}", *server]
    with Program(*serve, folder=folder) as accepting:
        accepting.listens(protocol, at)
        port = connect(protocol, at)
        dial = ["gnutls-cli", *datagrams, f"--port={port}", *client, "127.0.0.1"]
        with Program(*dial, folder=folder) as connecting:
            connecting.expect(b"Handshake was completed")
            for up in UP:
                # The server sends back what it hears.
                connecting.write(up)
                connecting.expect(up)
            connecting.end()


def gnutls_dtls_psk(folder: Path, connect: Connect) -> None:
    priority = "--priority=NORMAL:-VERS-ALL:+VERS-DTLS1.2:-KX-ALL:+PSK"
    (folder / "psk.txt").write_text(f"{IDENTITY}:{KEY}\n")
    server = [priority, "--pskpasswd=psk.txt"]
    client = [priority, f"--pskusername={IDENTITY}", f"--pskkey={KEY}"]
    _gnutls(folder, connect, "udp", server, client)


def gnutls_dtls_certificates(folder: Path, connect: Connect) -> None:
    _gnutls_certificates(folder, connect, "udp", "DTLS1.2")


def gnutls_tls12(folder: Path, connect: Connect) -> None:
    _gnutls_certificates(folder, connect, "tcp", "TLS1.2")


def gnutls_tls13(folder: Path, connect: Connect) -> None:
    _gnutls_certificates(folder, connect, "tcp", "TLS1.3")


def _gnutls_certificates(folder: Path, connect: Connect, protocol: Protocol, version: str) -> None:
    make_certificates(folder)
    both = [f"--priority=NORMAL:-VERS-ALL:+VERS-{version}", "--x509cafile=ca.pem"]
    server = [*both, "--x509certfile=server.pem", "--x509keyfile=server.key"]
    server += ["--require-client-cert", "--verify-client-cert"]
    client = [*both, "--x509certfile=client.pem", "--x509keyfile=client.key"]
    _gnutls(folder, connect, protocol, server, client)


def _libcoap(folder: Path, connect: Connect, library: str) -> None:
    """The port of the server's option is for CoAP without DTLS, the next one is for DTLS."""
    at = free_port(2)
    serve = [f"coap-server-{library}", "-A", "127.0.0.1", "-p", str(at), "-d", "1", "-e"]
    with Program(*serve, "-k", KEY_TEXT, folder=folder) as server:
        server.listens("udp", at + 1)
        uri = f"coaps://127.0.0.1:{connect('udp', at + 1)}/readings"
        (folder / "up").write_bytes(b"".join(UP))
        # It sends the data in blocks, and the server answers with the same data (`-e`).
        client = [f"coap-client-{library}", "-k", KEY_TEXT, "-u", IDENTITY]
        with Program(*client, "-m", "put", "-f", "up", "-o", "down", uri, folder=folder) as put:
            put.end()
        assert (folder / "down").read_bytes() == b"".join(UP)


def libcoap_openssl(folder: Path, connect: Connect) -> None:
    _libcoap(folder, connect, "openssl")


def libcoap_gnutls(folder: Path, connect: Connect) -> None:
    _libcoap(folder, connect, "gnutls")


def aiocoap(folder: Path, connect: Connect) -> None:
    """CoAP without DTLS: the library that aiocoap takes for DTLS has no wheels."""
    at = free_port()
    scripts = Path(sys.executable).parent
    (folder / "files").mkdir()
    serve = ["--write", "--bind", f"127.0.0.1:{at}", "files"]
    with Program(scripts / "aiocoap-fileserver", *serve, folder=folder) as server:
        server.listens("udp", at)
        uri = f"coap://127.0.0.1:{connect('udp', at)}/readings"
        (folder / "up").write_bytes(b"".join(UP))
        client = scripts / "aiocoap-client"
        with Program(client, "-m", "PUT", "--payload", "@up", uri, folder=folder) as put:
            put.end()
        assert (folder / "files" / "readings").read_bytes() == b"".join(UP)
        with Program(client, uri, folder=folder) as get:
            assert get.end().rstrip() == b"".join(UP).rstrip()


def curl(folder: Path, connect: Connect) -> None:
    """A file over HTTPS."""
    make_certificates(folder)
    page = b"".join([*DOWN, *DOWN])
    (folder / "page").write_bytes(page)
    serve = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-WWW"]
    with Program(*serve, "-cert", "server.pem", "-key", "server.key", folder=folder) as server:
        ready = re.search(rb"ACCEPT 127.0.0.1:(\d+)\n", server.expect(b"ACCEPT", b"\n"))
        assert ready
        uri = f"https://127.0.0.1:{connect('tcp', int(ready[1]))}/page"
        with Program("curl", "-sS", "--cacert", "ca.pem", "-o", "got", uri, folder=folder) as get:
            get.end()
        assert (folder / "got").read_bytes() == page


def mosquitto(folder: Path, connect: Connect) -> None:
    """A broker, one that subscribes and one that publishes."""
    make_certificates(folder)
    at = free_port()
    settings = [f"listener {at} 127.0.0.1", "allow_anonymous true", "user root"]
    settings += [f"{key} {folder / file}" for key, file in TLS_OF_MOSQUITTO.items()]
    (folder / "mosquitto.conf").write_text("\n".join(settings))
    (folder / "up").write_bytes(b"".join(UP))
    broker_path = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
    assert broker_path
    with Program(broker_path, "-v", "-c", "mosquitto.conf", folder=folder) as broker:
        broker.listens("tcp", at)
        port = str(connect("tcp", at))
        to = ["-h", "127.0.0.1", "-p", port, "--cafile", "ca.pem", "-t", "readings"]
        with Program("mosquitto_sub", *to, "-q", "1", "-C", "1", folder=folder) as subscriber:
            broker.expect(b"Sending SUBACK")
            with Program("mosquitto_pub", *to, "-q", "1", "-f", "up", folder=folder) as publisher:
                publisher.end()
            assert subscriber.end() == b"".join(UP) + b"\n"


TLS_OF_MOSQUITTO = {"cafile": "ca.pem", "certfile": "server.pem", "keyfile": "server.key"}

# Octets of data of each conversation, both ways together.
DATA = len(b"".join([*UP, *DOWN]))

# Sessions of DTLS or TLS of a conversation, if not one.
SESSIONS = {"mosquitto": 2, "aiocoap": 0}

ALL: dict[str, Callable[[Path, Connect], int | None]] = {
    conversation.__name__: conversation
    for conversation in (
        openssl_dtls_psk,
        openssl_dtls_certificates,
        openssl_tls12,
        openssl_tls13,
        gnutls_dtls_psk,
        gnutls_dtls_certificates,
        gnutls_tls12,
        gnutls_tls13,
        libcoap_openssl,
        libcoap_gnutls,
        aiocoap,
        curl,
        mosquitto,
    )
}
