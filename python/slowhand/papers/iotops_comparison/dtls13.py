"""The handshakes of DTLS 1.3, by lean-dtls (sections 2.1 and 2.2 of the draft)."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.iotops_comparison import fields
from slowhand.papers.iotops_comparison.conversation import conversation, conversations
from slowhand.papers.iotops_comparison.draft import CURVE, EDWARDS, KINDS
from slowhand.papers.iotops_comparison.fields import PROTECTED, TAG, TYPE, Fields
from slowhand.papers.points import Laboratory, Settings, Values

_PSK: Settings = {"session.auth": "psk", "session.credential": "psk"}

CREDENTIALS: dict[str, Settings] = {
    "rpk": {"session.credential": "raw_public_key"},
    "psk_ecdhe": {**_PSK, "session.psk_mode": "psk_dhe_ke"},
    "psk": _PSK,
}
"""The parts of each handshake of the draft."""

CCM_8, CCM = "TLS_AES_128_CCM_8_SHA256", "TLS_AES_128_CCM_SHA256"
"""Suites with a tag of 8 octets and of 16."""

COMPRESSED_SPKI = 59
"""Octets of a SubjectPublicKeyInfo with a compressed point (the draft's section 2.2.7)."""

HASH = 32
"""Octets of SHA-256, which stands for a cached certificate (RFC 7924)."""


def flights(laboratory: Laboratory, kind: str, *, has_cid: bool) -> list[Fields]:
    """The mean of each field of each flight: three of the draft, and the server's ACK."""
    settings = {"session.suite": CCM_8, **CREDENTIALS[kind]}
    if has_cid:
        settings["session.connection_id"] = 1
    if kind == "rpk":
        found = conversations(laboratory, settings)
    else:  # without signatures all worlds are alike
        found = [conversation(laboratory, settings)]
    read = [fields.of_flights(each, is_datagram=True) for each in found]
    return [fields.mean(flight) for flight in zip(*read, strict=True)]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    values: dict[str, Estimate | None] = {}
    for kind in KINDS:
        for name, has_cid in (("cid", True), ("plain", False)):
            for number, flight in enumerate(flights(laboratory, kind, has_cid=has_cid)[:3], 1):
                values[f"{kind}.{name}.{number}"] = _octets(flight)
    rpk = flights(laboratory, "rpk", has_cid=True)
    values |= _computed([rpk[0], one_record(rpk[1]), rpk[2]])
    plain = flights(laboratory, "rpk", has_cid=False)
    for number, flight in enumerate((plain[0], one_record(plain[1]), plain[2]), 1):
        values[f"rpk.x25519.{number}"] = _octets(with_x25519(flight))
    for number, flight in enumerate(flights(laboratory, "psk_ecdhe", has_cid=False)[:2], 1):
        values[f"psk_ecdhe.x25519.{number}"] = _octets(with_x25519(flight))
    values["rpk.one.2"] = _octets(one_record(rpk[1]))
    values["ack"] = _octets(rpk[3])
    values["tag"] = Estimate(_all(laboratory, CCM) - _all(laboratory, CCM_8))
    return values


def _computed(rpk: list[Fields]) -> dict[str, Estimate]:
    """The handshakes that no library here has, from the flights with raw public keys."""
    certificate = "Certificate: certificate"
    compressed = [{**flight, certificate: COMPRESSED_SPKI} for flight in rpk]
    # RFC 7924: type, list and length of the extension; the type of an object, and its hash.
    cached = {**rpk[0], "ClientHello: cached_info": 2 + 2 + 2 + 1 + 1 + HASH}
    answer = {**rpk[1], "EncryptedExtensions: cached_info": 2 + 2 + 2 + 1, certificate: HASH}
    asked, answered = (
        f"{message}: server_certificate_type" for message in ("ClientHello", "EncryptedExtensions")
    )
    # RFC 8446 section 4.6.1: lifetime, age, nonce, a ticket of 4 octets, no extension.
    ticket = 12 + 4 + 4 + 2 + 2 + 4 + 2
    return {
        "compressed.2": _octets(compressed[1]),
        "compressed.3": _octets(compressed[2]),
        "cached.rpk.1": _octets(cached),
        "cached.rpk.2": _octets(answer),
        "cached.x509.1": Estimate(sum(cached.values()) - cached[asked]),
        "cached.x509.2": Estimate(sum(answer.values()) - answer[answered]),
        "ticket": Estimate(rpk[2][PROTECTED] + ticket + rpk[2][TYPE] + rpk[2][TAG]),
    }


def one_record(flight: Fields) -> Fields:
    """The server's flight with all its encrypted messages in one record without a length.

    lean-dtls has two: the first of two in a datagram needs a length (RFC 9147 section 4).
    """
    halves = {TYPE: flight[TYPE] / 2, TAG: flight[TAG] / 2}
    return {**flight, PROTECTED: (flight[PROTECTED] - 2) / 2, **halves}


def with_x25519(flight: Fields) -> Fields:
    """The flight with x25519 and ed25519, which no library has here."""
    longer = CURVE["share"] - EDWARDS["share"]
    replaced = {
        "Certificate: certificate": EDWARDS["spki"],
        "CertificateVerify: signature": EDWARDS["signature"],
    }
    return {
        name: octets - longer if name.endswith("key_share") else replaced.get(name, octets)
        for name, octets in flight.items()
    }


def _octets(flight: Fields) -> Estimate:
    return Estimate(sum(flight.values()))


def _all(laboratory: Laboratory, suite: str) -> int:
    """Octets of the three flights with a pre-shared key, in one world."""
    settings: Settings = {"session.suite": suite, **CREDENTIALS["psk"]}
    flights = conversation(laboratory, settings).flights[:3]
    return sum(len(octets) for flight in flights for octets in flight)
