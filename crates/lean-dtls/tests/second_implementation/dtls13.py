"""Decrypts a capture of DTLS 1.3 with the key log in it, by the formulas of RFC 9147 and RFC 8446, without the engine.

The argument is a capture as pcapng. Each line of the input is a datagram in it: `client` or `server`, and its octets in
hexadecimal. Each line of the output is an encrypted record: its sender, epoch and sequence number, the type of its content,
and the types of its handshake messages, or its content.
"""

import hashlib
import hmac
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from aes import Aead, Ccm, Gcm, encrypt, expand, xor

SUITES: dict[int, Callable[[bytes], Aead]] = {
    0x1301: lambda key: Gcm(key, 16),
    0x1304: lambda key: Ccm(key, 16),
    0x1305: lambda key: Ccm(key, 8),
}
CLIENT_HELLO, SERVER_HELLO = 1, 2
CONNECTION_ID = 54
RETRY = hashlib.sha256(b"HelloRetryRequest").digest()
NAMES = {21: "alert", 22: "handshake", 23: "data", 26: "ack"}


def number(octets: bytes) -> int:
    return int.from_bytes(octets, "big")


def key_log(capture: bytes) -> dict[tuple[str, bytes], bytes]:
    """The lines of the decryption secrets block (type 10) with a key log of TLS: by label and client random."""
    secrets, place = {}, 0
    while place < len(capture):
        kind, length = (int.from_bytes(capture[place + n : place + n + 4], "little") for n in (0, 4))
        block = capture[place + 8 : place + length - 4]
        if kind == 10 and block[:4] == b"KSLT":
            text = block[8 : 8 + int.from_bytes(block[4:8], "little")].decode()
            for label, random, secret in (line.split() for line in text.splitlines()):
                secrets[label, bytes.fromhex(random)] = bytes.fromhex(secret)
        place += length
    return secrets


def expand_label(secret: bytes, label: bytes, length: int) -> bytes:
    label = b"dtls13" + label
    block = length.to_bytes(2, "big") + bytes([len(label)]) + label + b"\x00\x01"
    return hmac.digest(secret, block, "sha256")[:length]


def extensions(octets: bytes) -> dict[int, bytes]:
    found, place = {}, 0
    while place < len(octets):
        length = number(octets[place + 2 : place + 4])
        found[number(octets[place : place + 2])] = octets[place + 4 : place + 4 + length]
        place += 4 + length
    return found


def messages(content: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Fragments of messages: type, length, number, offset, octets."""
    while content:
        length = number(content[9:12])
        yield content[0], number(content[1:4]), number(content[4:6]), number(content[6:9]), content[12 : 12 + length]
        content = content[12 + length :]


class Epoch:
    """The records that an end sends in an epoch."""

    def __init__(self, secret: bytes, aead: Callable[[bytes], Aead]) -> None:
        self.aead = aead(expand_label(secret, b"key", 16))
        self.iv = expand_label(secret, b"iv", 12)
        self.sequence_keys = expand(expand_label(secret, b"sn", 16))
        self.next = 0

    def open(self, header: bytes, place: int, octets: int, sealed: bytes) -> tuple[int, bytes]:
        """The number and the content of a record whose number has these octets, at this place of its header."""
        hidden = header[place : place + octets]
        shown = xor(hidden, encrypt(self.sequence_keys, sealed[:16]))
        header = header[:place] + shown + header[place + octets :]
        span = 1 << 8 * octets
        candidates = [self.next - self.next % span + number(shown) + span * n for n in (-1, 0, 1)]
        sequence = min((n for n in candidates if n >= 0), key=lambda n: abs(n - self.next))
        content = self.aead.open(xor(self.iv, sequence.to_bytes(12, "big")), header, sealed)
        self.next = max(self.next, sequence + 1)
        return sequence, content


class Session:
    def __init__(self, secrets: dict[tuple[str, bytes], bytes]) -> None:
        self.secrets = secrets
        self.parts: dict[tuple[str, int], bytearray] = {}
        self.epochs: dict[tuple[str, int], Epoch] = {}
        self.random = b""
        self.aead: Callable[[bytes], Aead] | None = None
        self.ids: dict[str, int | None] = {"client": None, "server": None}

    def hello(self, sender: str, kind: int, body: bytes) -> None:
        """Version, random, session; suites or suite, and the rest."""
        random, rest = body[2:34], body[35 + body[34] :]
        if kind == CLIENT_HELLO:
            self.random = random
            rest = rest[1 + rest[0] :]
            rest = rest[2 + number(rest[:2]) :]
            rest = rest[1 + rest[0] :]
        elif random != RETRY:
            self.aead = SUITES[number(rest[:2])]
            rest = rest[3:]
        else:
            return
        offered = extensions(rest[2:]).get(CONNECTION_ID)
        self.ids[sender] = None if offered is None else offered[0]

    def in_clear(self, sender: str, content: bytes) -> None:
        for kind, length, sequence, offset, octets in messages(content):
            part = self.parts.setdefault((sender, sequence), bytearray())
            if offset == len(part):
                part += octets
                if len(part) == length and kind in (CLIENT_HELLO, SERVER_HELLO):
                    self.hello(sender, kind, bytes(part))

    def epoch(self, sender: str, bits: int) -> tuple[int, Epoch]:
        of = {2: "HANDSHAKE_TRAFFIC_SECRET", 3: "TRAFFIC_SECRET_0"}
        assert self.aead is not None, "an encrypted record before the ServerHello"
        if (sender, bits) not in self.epochs:
            secret = self.secrets[f"{sender.upper()}_{of[bits]}", self.random]
            self.epochs[sender, bits] = Epoch(secret, self.aead)
        return bits, self.epochs[sender, bits]

    def datagram(self, sender: str, rest: bytes) -> Iterator[str]:
        receiver = "server" if sender == "client" else "client"
        while rest:
            first = rest[0]
            if first >> 5 != 1:
                length = number(rest[11:13])
                if first == 22:
                    self.in_clear(sender, rest[13 : 13 + length])
                rest = rest[13 + length :]
                continue
            has_id, is_long, has_length = first >> 4 & 1, first >> 3 & 1, first >> 2 & 1
            place = 1 + ((self.ids[receiver] or 0) if has_id else 0)
            header = place + 1 + is_long + 2 * has_length
            end = header + number(rest[header - 2 : header]) if has_length else len(rest)
            epoch, keys = self.epoch(sender, first & 3)
            sequence, inner = keys.open(rest[:header], place, 1 + is_long, rest[header:end])
            inner = inner.rstrip(b"\0")
            kind, content = inner[-1], inner[:-1]
            is_handshake = kind == 22
            shown = " ".join(str(message[0]) for message in messages(content)) if is_handshake else content.hex()
            yield f"{sender} {epoch} {sequence} {NAMES[kind]} {shown}"
            rest = rest[end:]


session = Session(key_log(Path(sys.argv[1]).read_bytes()))
for line in sys.stdin:
    by, octets = line.split()
    for record in session.datagram(by, bytes.fromhex(octets)):
        print(record)
