"""The fields of the flights of a handshake of TLS 1.3 or DTLS 1.3, and the octets of each."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slowhand._native import open_ccm_8
from slowhand.papers.iotops_comparison.conversation import Conversation

Fields = Mapping[str, float]
"""Octets by the name of the field, as in `ClientHello: key_share`."""

PLAIN, PROTECTED, TYPE, TAG = "record header", "protected record header", "content type", "tag"
"""The fields of records. All records of a flight count together."""

HEADER = "header"
"""The field of a message before its body."""

MESSAGES = {
    1: "ClientHello",
    2: "ServerHello",
    4: "NewSessionTicket",
    8: "EncryptedExtensions",
    11: "Certificate",
    13: "CertificateRequest",
    15: "CertificateVerify",
    20: "Finished",
}
"""Names of messages (RFC 8446 section 4)."""

EXTENSIONS = {
    10: "supported_groups",
    11: "ec_point_formats",
    13: "signature_algorithms",
    19: "client_certificate_type",
    20: "server_certificate_type",
    22: "encrypt_then_mac",
    23: "extended_master_secret",
    28: "record_size_limit",
    35: "session_ticket",
    41: "pre_shared_key",
    43: "supported_versions",
    45: "psk_key_exchange_modes",
    49: "post_handshake_auth",
    51: "key_share",
    54: "connection_id",
}
"""Names of extensions (IANA, TLS ExtensionType Values)."""

_HANDSHAKE, _CHANGE_CIPHER_SPEC, _ACK, _APPLICATION_DATA = 22, 20, 26, 23


def of_flights(conversation: Conversation, *, is_datagram: bool) -> list[Counter[str]]:
    """The fields of each flight, the client's first."""
    reader = _Reader(conversation.secrets, is_datagram=is_datagram)
    found = []
    for number, flight in enumerate(conversation.flights):
        sender = "SERVER" if number % 2 else "CLIENT"
        # A record of a stream may begin in one segment and end in the next.
        parts = flight if is_datagram else [b"".join(flight)]
        fields: Counter[str] = Counter()
        for octets in parts:
            fields.update(reader.fields(sender, octets))
        if fields.total() != sum(map(len, flight)):
            raise ValueError(f"flight {number + 1}: fields of {fields.total()} octets: {fields}")
        found.append(fields)
    return found


def differences(ours: Fields, theirs: Fields) -> dict[str, float]:
    """By how many octets each field of ours is longer, if it is not equal."""
    names = dict.fromkeys([*theirs, *ours])
    found = {name: ours.get(name, 0) - theirs.get(name, 0) for name in names}
    return {name: more for name, more in found.items() if more}


@dataclass
class _Keys:
    """The keys of an end in an epoch."""

    key: bytes
    iv: bytes
    next: int = 0

    @classmethod
    def of(cls, secret: bytes, prefix: bytes) -> _Keys:
        """Of a traffic secret (RFC 8446 section 7.3; RFC 9147 section 5.9)."""
        return cls(_expand(secret, prefix + b"key", 16), _expand(secret, prefix + b"iv", 12))

    def open(self, header: bytes, sealed: bytes) -> bytes | None:
        """The content of the next record."""
        nonce = (int.from_bytes(self.iv, "big") ^ self.next).to_bytes(12, "big")
        content = open_ccm_8(self.key, nonce, header, sealed)
        self.next += content is not None
        return content


def _expand(secret: bytes, label: bytes, length: int) -> bytes:
    """HKDF-Expand-Label with an empty context; one block is enough (RFC 8446 section 7.1)."""
    block = length.to_bytes(2, "big") + bytes([len(label)]) + label + b"\x00\x01"
    return hmac.digest(secret, block, hashlib.sha256)[:length]


@dataclass
class _Reader:
    """Reads the records of a conversation in their order."""

    secrets: Mapping[str, bytes]
    is_datagram: bool
    keys: dict[tuple[str, str], _Keys] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    """Octets of the connection ID that an end wants in what it receives."""

    def fields(self, sender: str, octets: bytes) -> Counter[str]:
        """The fields of a datagram, or of a flight of a stream."""
        found: Counter[str] = Counter()
        while octets:
            if self.is_datagram and octets[0] >> 5 == 1:
                length, fields = self._unified(sender, octets)
            else:
                length, fields = self._plain(sender, octets)
            found.update(fields)
            octets = octets[length:]
        return found

    def _plain(self, sender: str, octets: bytes) -> tuple[int, Counter[str]]:
        """A record with a header of 5 or 13 octets: in clear, or a protected one of TLS 1.3."""
        header = 13 if self.is_datagram else 5
        end = header + int.from_bytes(octets[header - 2 : header], "big")
        content = octets[header:end]
        if octets[0] == _APPLICATION_DATA:
            return end, self._protected(sender, octets[:header], octets[:header], content)
        if octets[0] == _CHANGE_CIPHER_SPEC:
            return end, Counter({"ChangeCipherSpec": end})
        if octets[0] != _HANDSHAKE:
            raise ValueError(f"record of type {octets[0]}: allowed: a handshake's")
        return end, Counter({PLAIN: header}) + self._messages(sender, content)

    def _unified(self, sender: str, octets: bytes) -> tuple[int, Counter[str]]:
        """A protected record of DTLS 1.3 (RFC 9147 section 4), whose number is encrypted."""
        first = octets[0]
        receiver = "CLIENT" if sender == "SERVER" else "SERVER"
        at = 1 + (self.ids.get(receiver, 0) if first & 0x10 else 0)
        long = 2 if first & 8 else 1
        header = at + long + (2 if first & 4 else 0)
        end = len(octets)
        if first & 4:
            end = header + int.from_bytes(octets[header - 2 : header], "big")
        name = "HANDSHAKE_TRAFFIC_SECRET" if first & 3 == 2 else "TRAFFIC_SECRET_0"
        number = self._keys(sender, name).next.to_bytes(8, "big")[-long:]
        shown = octets[:at] + number + octets[at + long : header]
        return end, self._protected(sender, octets[:header], shown, octets[header:end], name)

    def _protected(
        self, sender: str, header: bytes, shown: bytes, sealed: bytes, name: str = ""
    ) -> Counter[str]:
        """A protected record; `shown` is its header as it is authenticated."""
        names = [name] if name else ["HANDSHAKE_TRAFFIC_SECRET", "TRAFFIC_SECRET_0"]
        opened = (self._keys(sender, each).open(shown, sealed) for each in names)
        content = next((each for each in opened if each is not None), None)
        if content is None:
            raise ValueError(f"a record of the {sender.lower()} cannot be opened")
        inner = content.rstrip(b"\0")
        fields = Counter({PROTECTED: len(header), TYPE: len(content) - len(inner) + 1})
        fields[TAG] = len(sealed) - len(content)
        if inner[-1] == _ACK:
            fields["ACK"] = len(inner) - 1
            return fields
        return fields + self._messages(sender, inner[:-1])

    def _keys(self, sender: str, name: str) -> _Keys:
        if (sender, name) not in self.keys:
            secret = self.secrets[f"{sender}_{name}"]
            self.keys[sender, name] = _Keys.of(secret, b"dtls13" if self.is_datagram else b"tls13 ")
        return self.keys[sender, name]

    def _messages(self, sender: str, content: bytes) -> Counter[str]:
        """The messages of a record; each is whole."""
        header = 12 if self.is_datagram else 4
        found: Counter[str] = Counter()
        while content:
            name = MESSAGES[content[0]]
            end = header + int.from_bytes(content[1:4], "big")
            if end > len(content):
                raise ValueError(f"{name}: found a part, allowed: the whole message in one record")
            found[f"{name}: {HEADER}"] += header
            for part, octets in self._body(sender, name, content[header:end]):
                found[f"{name}: {part}"] += octets
            content = content[end:]
        return found

    def _body(self, sender: str, name: str, body: bytes) -> Iterator[tuple[str, int]]:
        """The fields of a message (RFC 8446 section 4; RFC 9147 section 5.3)."""
        if name in ("Finished", "NewSessionTicket"):
            yield "body", len(body)
        elif name == "CertificateVerify":
            yield "algorithm and length", 4
            yield "signature", len(body) - 4
        elif name == "Certificate":
            # Context, length of the list, length of the first certificate, its extensions.
            yield "lengths", 1 + 3 + 3 + 2
            yield "certificate", len(body) - 9
        else:
            at = 0
            if name == "CertificateRequest":
                yield "context", 1
                at = 1
            elif name in ("ClientHello", "ServerHello"):
                yield "version and random", 34
                at = 34
                for part, octets in self._choices(name, body[at:]):
                    yield part, octets
                    at += octets
            yield "length of extensions", 2
            yield from self._extensions(sender, body[at + 2 :])

    def _choices(self, name: str, rest: bytes) -> Iterator[tuple[str, int]]:
        """The fields between the random number and the extensions."""
        yield "session ID", 1 + rest[0]
        at = 1 + rest[0]
        if name == "ServerHello":
            yield "suite", 2
            yield "compression", 1
            return
        if self.is_datagram:
            yield "cookie", 1 + rest[at]
            at += 1 + rest[at]
        suites = 2 + int.from_bytes(rest[at : at + 2], "big")
        yield "suites", suites
        yield "compression", 1 + rest[at + suites]

    def _extensions(self, sender: str, octets: bytes) -> Iterator[tuple[str, int]]:
        while octets:
            kind, length = (int.from_bytes(octets[at : at + 2], "big") for at in (0, 2))
            name = EXTENSIONS.get(kind, f"extension {kind}")
            if name == "connection_id":
                self.ids[sender] = octets[4]
            yield name, 4 + length
            octets = octets[4 + length :]


def mean(flights: Sequence[Counter[str]]) -> Fields:
    """The mean of each field over worlds."""
    names = dict.fromkeys(name for fields in flights for name in fields)
    return {name: sum(fields[name] for fields in flights) / len(flights) for name in names}
