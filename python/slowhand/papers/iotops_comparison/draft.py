"""The flights as the draft counts them, field by field.

The draft has one handshake in full for each protocol, with raw public keys, and what others add to
it and remove. So has this module. A test holds that the sums are the numbers of its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from slowhand.papers.iotops_comparison.fields import PLAIN, PROTECTED, TAG, TYPE, Fields

CURVE = {"share": 65, "spki": 91, "signature": 71}
"""Octets with secp256r1 and ECDSA: an uncompressed point, a SubjectPublicKeyInfo (section 2.2.7 of
the draft), a signature in DER on average (its section 2.2.1)."""

EDWARDS = {"share": 32, "spki": 44, "signature": 64}
"""The octets with x25519 (RFC 7748) and ed25519 (RFC 8032)."""

KINDS = ("rpk", "psk_ecdhe", "psk")
"""The handshakes: raw public keys, a pre-shared key with key agreement, one without."""


def flights(
    protocol: str, kind: str, *, has_cid: bool = False, x25519: bool = False
) -> list[Fields]:
    """The three flights of a handshake of `dtls13` or `tls13`."""
    of = EDWARDS if x25519 else CURVE
    client, server, last = (Counter(each) for each in _raw_public_keys(protocol, of))
    if kind != "rpk":
        _without_keys(client, server, last)
        client.update({"ClientHello: psk_key_exchange_modes": 6, "ClientHello: pre_shared_key": 48})
        server["ServerHello: pre_shared_key"] = 6
    if kind == "psk":
        del client["ClientHello: supported_groups"], client["ClientHello: key_share"]
        del server["ServerHello: key_share"]
    if has_cid:
        client["ClientHello: connection_id"] = 6
        server["ServerHello: connection_id"] = 6
        server[PROTECTED] += 1
        last[PROTECTED] += 1
    return [client, server, last]


def _without_keys(client: Counter[str], server: Counter[str], last: Counter[str]) -> None:
    """Removes what raw public keys need (sections 2.2.2 and 2.3.2)."""
    del client["ClientHello: signature_algorithms"]
    for name in ("client_certificate_type", "server_certificate_type"):
        del client[f"ClientHello: {name}"], server[f"EncryptedExtensions: {name}"]
    for flight in (server, last):
        for name in [name for name in flight if name.startswith("Certificate")]:
            del flight[name]


def _raw_public_keys(protocol: str, of: Mapping[str, int]) -> list[dict[str, int]]:
    """The three flights in full (sections 2.2.1 and 2.3.1)."""
    is_datagram = protocol == "dtls13"
    header = 12 if is_datagram else 4
    plain, protected = (13, 2) if is_datagram else (5, 5)
    proof = {
        "Certificate: header": header,
        "Certificate: lengths": 9,
        "Certificate: certificate": of["spki"],
        "CertificateVerify: header": header,
        "CertificateVerify: algorithm and length": 4,
        "CertificateVerify: signature": of["signature"],
        "Finished: header": header,
        "Finished: body": 32,
    }
    client = {
        PLAIN: plain,
        "ClientHello: header": header,
        "ClientHello: version and random": 34,
        "ClientHello: session ID": 1,
        **({"ClientHello: cookie": 1} if is_datagram else {}),
        "ClientHello: suites": 4,
        "ClientHello: compression": 2,
        "ClientHello: length of extensions": 2,
        "ClientHello: supported_groups": 8,
        "ClientHello: signature_algorithms": 8,
        "ClientHello: key_share": 10 + of["share"],
        "ClientHello: supported_versions": 7,
        "ClientHello: client_certificate_type": 6,
        "ClientHello: server_certificate_type": 6,
    }
    server = {
        PLAIN: plain,
        "ServerHello: header": header,
        "ServerHello: version and random": 34,
        "ServerHello: session ID": 1,
        "ServerHello: suite": 2,
        "ServerHello: compression": 1,
        "ServerHello: length of extensions": 2,
        "ServerHello: key_share": 8 + of["share"],
        "ServerHello: supported_versions": 6,
        PROTECTED: protected,
        "EncryptedExtensions: header": header,
        "EncryptedExtensions: length of extensions": 2,
        "EncryptedExtensions: client_certificate_type": 6,
        "EncryptedExtensions: server_certificate_type": 6,
        "CertificateRequest: header": header,
        "CertificateRequest: context": 1,
        "CertificateRequest: length of extensions": 2,
        "CertificateRequest: signature_algorithms": 8,
        **proof,
        TYPE: 1,
        TAG: 8,
    }
    return [client, server, {PROTECTED: protected, **proof, TYPE: 1, TAG: 8}]
