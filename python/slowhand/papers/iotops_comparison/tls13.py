"""The handshakes of TLS 1.3 (section 2.3 of the draft), and the numbers of cTLS (section 2.5).

No library here has raw public keys or a pre-shared key from outside in TLS 1.3. So a session with
certificates stands for the former and one that is resumed for the latter, and what belongs to the
credential is replaced by what the draft has.
"""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.iotops_comparison import fields
from slowhand.papers.iotops_comparison.conversation import conversation, conversations
from slowhand.papers.iotops_comparison.draft import CURVE
from slowhand.papers.iotops_comparison.dtls13 import CCM_8, with_x25519
from slowhand.papers.iotops_comparison.fields import Fields
from slowhand.papers.points import Laboratory, Settings, Values

_SESSION: Settings = {
    "session.protocol": "tls1.3",
    "session.suite": CCM_8,
    "session.credential": "certificate",
}

PRE_SHARED_KEY = 48
"""Octets of this extension with an identity of one octet (the draft's section 2.3.2)."""

CTLS_EXAMPLE = (74, 160, 91)
"""Octets of the flights of the one example of cTLS: X.509 by reference, x25519, ed25519."""


def with_raw_public_keys(laboratory: Laboratory, stack: str) -> list[Fields]:
    """The three flights of a library, with the keys of the certificates in place of these."""
    found = conversations(laboratory, {**_SESSION, "session.stack": stack})
    read = [fields.of_flights(each, is_datagram=False)[:3] for each in found]
    client, server, last = (dict(fields.mean(flight)) for flight in zip(*read, strict=True))
    for name in ("client_certificate_type", "server_certificate_type"):
        # RFC 7250 section 3: a list of one type, and the one that was chosen.
        client[f"ClientHello: {name}"] = 6
        server[f"EncryptedExtensions: {name}"] = 5
    server["Certificate: certificate"] = last["Certificate: certificate"] = CURVE["spki"]
    return [client, server, last]


def with_a_key(laboratory: Laboratory) -> list[Fields]:
    """The three flights of a session that mbedTLS resumes, with an identity of one octet."""
    settings = {**_SESSION, "session.stack": "mbedtls", "session.resumption": "ticket"}
    read = fields.of_flights(conversation(laboratory, settings), is_datagram=False)[:3]
    client, server, last = (dict(fields.mean([flight])) for flight in read)
    client["ClientHello: pre_shared_key"] = PRE_SHARED_KEY
    return [client, server, last]


def without_key_agreement(flight: Fields) -> Fields:
    """The flight with a pre-shared key alone."""
    left_out = ("key_share", "supported_groups")
    return {name: octets for name, octets in flight.items() if not name.endswith(left_out)}


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    mbedtls = with_raw_public_keys(laboratory, "mbedtls")
    psk = with_a_key(laboratory)
    handshakes = {
        "mbedtls.rpk": mbedtls,
        "openssl.rpk": with_raw_public_keys(laboratory, "openssl"),
        "mbedtls.psk_ecdhe": psk,
        "mbedtls.psk": [without_key_agreement(flight) for flight in psk],
        "x25519.rpk": [with_x25519(flight) for flight in mbedtls],
        "x25519.psk_ecdhe": [with_x25519(flight) for flight in psk],
    }
    values: dict[str, Estimate | None] = {
        f"{name}.{number}": Estimate(sum(flight.values()))
        for name, flights in handshakes.items()
        for number, flight in enumerate(flights, 1)
    }
    for name, numbers in ctls().items():
        for number, octets in enumerate(numbers, 1):
            values[f"ctls.{name}.{number}"] = Estimate(octets)
    return values


def ctls() -> dict[str, tuple[int, int, int]]:
    """The numbers of cTLS that follow from the draft's example by its rules."""
    example = CTLS_EXAMPLE
    psk_ecdhe = _sum(example, (1, -71, -71))
    return {
        "psk_ecdhe.x25519": psk_ecdhe,
        "psk": _sum(psk_ecdhe, (-32, -32, 0)),
        "x509.p256": _sum(example, (33, 33 + 7, 7)),
        "psk_ecdhe.p256": _sum(psk_ecdhe, (33, 33, 0)),
    }


def _sum(one: tuple[int, int, int], two: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]
