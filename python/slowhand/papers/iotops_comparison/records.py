"""Protections of data, and how many octets each adds to them (section 3 of the draft).

Measured: the octets of a request or a response with protection, less those without. Computed from
the format: compression, Group OSCORE, numbers and identifiers that are longer.
"""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.papers.iotops_comparison import ghc
from slowhand.papers.iotops_comparison.conversation import conversation
from slowhand.papers.iotops_comparison.dtls13 import CCM_8, CREDENTIALS
from slowhand.papers.points import Laboratory, Settings, Values

NUMBERS = {"05": 1, "1005": 2, "100005": 3}
"""The sequence numbers of the draft, and their octets."""

IDS = {"42": 1, "4002": 2}
"""The connection IDs and Sender IDs of the draft, and their octets."""

REQUESTS = {"05": 6, "1005": 260}
"""So many requests, so that the number of the last has so many octets: 5, and more than 255."""

REQUEST, RESPONSE, PLAIN = 40, 30, 6
"""Octets of a request and a response of CoAP; of either over TLS, which carries the draft's 6."""

ICV = 8
"""Octets of the tag."""

_DTLS12: Settings = {
    "session.protocol": "coap+dtls1.2",
    "session.suite": "TLS_PSK_WITH_AES_128_CCM_8",
}
_TLS12: Settings = {
    "session.protocol": "tls1.2",
    "session.suite": "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
}
_TLS13: Settings = {"session.protocol": "tls1.3", "session.suite": CCM_8}

PROTOCOLS: dict[str, Settings] = {
    "dtls12": _DTLS12,
    "dtls12.mbedtls": {**_DTLS12, "session.stack": "mbedtls"},
    "dtls12.openssl": {**_DTLS12, "session.stack": "openssl"},
    # Its server always sends a cookie.
    "dtls12.tinydtls": {**_DTLS12, "session.stack": "tinydtls", "session.cookie": True},
    "dtls13": {
        "session.protocol": "coap+dtls1.3",
        "session.suite": CCM_8,
        **CREDENTIALS["psk"],
    },
    "tls12": {**_TLS12, "session.stack": "openssl"},
    "tls12.mbedtls": {**_TLS12, "session.stack": "mbedtls"},
    "tls13": {**_TLS13, "session.stack": "openssl"},
    "tls13.mbedtls": {**_TLS13, "session.stack": "mbedtls"},
    "oscore": {"session.protocol": "oscore"},
    "edhoc": {"session.protocol": "edhoc"},
}
"""The sessions that carry requests. That of `edhoc` has a Sender ID of one octet."""

_BOTH = ("dtls12", "dtls13", "tls12", "tls13", "oscore")
"""The protections with numbers of one octet and of two."""


def last(
    laboratory: Laboratory, name: str, number: str = "05", cid: str = ""
) -> tuple[bytes, bytes]:
    """The last request of a session and the response to it, as they are sent.

    `number` and `cid` are names of the draft: what counts is how many octets they have.
    """
    requests = REQUESTS[number]
    if PROTOCOLS[name]["session.protocol"] not in ("oscore", "edhoc"):
        requests -= 1  # the handshake has ended with number 0
    sizes = _plain(name)
    settings: Settings = {
        **PROTOCOLS[name],
        "application.requests": requests,
        "application.request_bytes": sizes[0],
        "application.response_bytes": sizes[1],
        **({"session.connection_id": IDS[cid]} if cid else {}),
    }
    (*_, (_, request), (_, response)) = conversation(laboratory, settings).payloads
    return request, response


def overhead(
    laboratory: Laboratory, name: str, number: str = "05", cid: str = ""
) -> tuple[int, int]:
    """The octets that protection adds to a request and to a response."""
    request, response = last(laboratory, name, number, cid)
    plain = _plain(name)
    return len(request) - plain[0], len(response) - plain[1]


def _plain(name: str) -> tuple[int, int]:
    """Octets of a request and a response without protection."""
    return (PLAIN, PLAIN) if name.startswith("tls") else (REQUEST, RESPONSE)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    found = {name: overhead(laboratory, name) for name in PROTOCOLS}
    longer = {name: overhead(laboratory, name, "1005") for name in _BOTH}
    values = {f"{name}.05": found[name][0] for name in PROTOCOLS if name not in ("oscore", "edhoc")}
    for number, measured in (("05", found), ("1005", longer)):
        values[f"oscore.request.{number}"], values[f"oscore.response.{number}"] = measured["oscore"]
    for name in ("dtls12", "dtls13", "tls12", "tls13"):
        values[f"{name}.1005"] = longer[name][0]
        values[f"{name}.100005"] = _record(name, "100005")[1]
        values[f"{name}.icv"] = found[name][0] - ICV
        values[f"ghc.{name}.icv"] = compressed(name, "05") - ICV
        for number in NUMBERS:
            values[f"ghc.{name}.{number}"] = compressed(name, number)
    for name in ("dtls12", "dtls13"):
        for cid in IDS:
            values[f"{name}.cid.{cid}"] = overhead(laboratory, name, cid=cid)[0]
            values[f"ghc.{name}.cid.{cid}"] = compressed(name, "05", cid)
    values["oscore.request.id.42"], values["oscore.response.id.42"] = found["edhoc"]
    values |= _computed(found["oscore"])
    return {name: Estimate(octets) for name, octets in values.items()}


def _computed(oscore: tuple[int, int]) -> dict[str, int]:
    """OSCORE where it was not measured, and Group OSCORE, from the format of the option."""
    request, response = oscore
    values = {"oscore.request.icv": request - ICV, "oscore.response.icv": response - ICV}
    for number, octets in NUMBERS.items():
        values[f"group.request.{number}"] = _option(octets, id_octets=0, context=b"")
        values[f"group.response.{number}"] = response
    values["oscore.request.100005"] = _option(3, id_octets=0)
    values["oscore.response.100005"] = response
    for id, octets in IDS.items():
        values[f"group.request.id.{id}"] = _option(1, id_octets=octets, context=b"")
        values[f"group.response.id.{id}"] = response
    values["oscore.request.id.4002"] = _option(1, id_octets=2)
    values["oscore.response.id.4002"] = response
    values["group.request.icv"] = _option(1, id_octets=0, context=b"") - ICV
    values["group.response.icv"] = response - ICV
    return values


def _option(number: int, *, id_octets: int, context: bytes | None = None) -> int:
    """The octets that OSCORE adds to a request: option, marker, code, tag (RFC 8613, 6.1 and 5.3).

    `context` is the ID Context, which Group OSCORE always has.
    """
    value = 1 + number + (0 if context is None else 1 + len(context)) + id_octets
    return 1 + value + 1 + 1 + ICV


CIPHERTEXT, SEALED_TYPE, TAG = (
    bytes.fromhex(text) for text in ("aea015566792", "ec", "4dff8a24e4cb35b9")
)
"""The octets of the draft's records: 6 of data, an encrypted content type, the tag."""

ADDRESSES = bytes.fromhex("20010db800000000021274000000000120010db8000000000212740000000000")
"""Of client and server here: the dictionary of GHC begins with them (RFC 7400 section 2.1)."""


def compressed(name: str, number: str, cid: str = "") -> int:
    """The octets that a record adds to the draft's six with GHC."""
    record, _ = _record(name, number, cid)
    code = ghc.compress(record, ADDRESSES)
    if ghc.decompress(code, ADDRESSES) != record:
        raise AssertionError(f"{code.hex()} does not stand for {record.hex()}")
    return len(code) - PLAIN


def _record(name: str, number: str, cid: str = "") -> tuple[bytes, int]:
    """A record as the standards have it, and what it adds to the draft's six octets."""
    id = bytes.fromhex(cid)
    sequence = bytes.fromhex(number)
    sealed = CIPHERTEXT + TAG
    if name == "dtls13":
        # RFC 9147 section 4: eight bits of the number, no length.
        header = bytes([0x31 if id else 0x21]) + id + sequence[-1:]
        sealed = CIPHERTEXT + SEALED_TYPE + TAG
    elif name == "tls13":
        # RFC 8446 section 5.2: the number is not sent.
        sealed = CIPHERTEXT + SEALED_TYPE + TAG
        header = bytes.fromhex("170303") + len(sealed).to_bytes(2, "big")
    elif name == "tls12":
        # RFC 5246 section 6.2.3.3: the nonce is sent.
        sealed = sequence.rjust(8, b"\0") + sealed
        header = bytes.fromhex("170303") + len(sealed).to_bytes(2, "big")
    else:
        numbered = b"\0\1" + sequence.rjust(6, b"\0")
        if id:  # RFC 9146 section 4: the content type is encrypted, and another one is in clear.
            sealed = CIPHERTEXT + SEALED_TYPE + TAG
        sealed = numbered + sealed
        kind = b"\x19" if id else b"\x17"
        header = kind + b"\xfe\xfd" + numbered + id + len(sealed).to_bytes(2, "big")
    record = header + sealed
    return record, len(record) - PLAIN
