"""The two ends of a scenario's session and their configuration, for all libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from slowhand import _native
from slowhand.settings import suites
from slowhand.settings.suites import SUITES, Suite
from slowhand.settings.text import HASH, STYLES, Snippet, head, text


class Protocol(StrEnum):
    """The protocols that have settings, by their names in a scenario."""

    DTLS12, DTLS13, TLS12, TLS13 = "dtls1.2", "dtls1.3", "tls1.2", "tls1.3"


class Credential(StrEnum):
    """The credentials, by their names in a scenario."""

    PSK, RAW_PUBLIC_KEY, CERTIFICATE = "psk", "raw_public_key", "certificate"
    PASSWORD = "ecjpake"


NAMES: dict[str, str] = {
    Protocol.DTLS12: "DTLS 1.2",
    Protocol.DTLS13: "DTLS 1.3",
    Protocol.TLS12: "TLS 1.2",
    Protocol.TLS13: "TLS 1.3",
    Credential.PSK: "a pre-shared key",
    Credential.RAW_PUBLIC_KEY: "a raw public key",
    Credential.CERTIFICATE: "certificates",
    Credential.PASSWORD: "a password (EC-JPAKE)",
}
"""The words for a value."""

MANDATORY: dict[str, str] = {
    Credential.PSK: "TLS_PSK_WITH_AES_128_CCM_8",
    Credential.CERTIFICATE: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
}
"""The suites of RFC 7925, sections 4.1 to 4.4: every library for small devices has them."""


@dataclass(frozen=True)
class Timer:
    """The retransmission timer, in milliseconds."""

    first_ms: float
    maximum_ms: float
    floor_ms: float | None
    growth: str

    @property
    def whole_ms(self) -> tuple[int, int]:
        """The first and the longest timeout, in whole milliseconds."""
        return max(1, round(self.first_ms)), max(1, round(self.maximum_ms))


@dataclass(frozen=True)
class End:
    """One end. What is None is not configured."""

    stack: str
    protocol: str
    suite: str
    credential: str
    auth: str
    curve: str | None
    rsa_bits: int | None
    psk_identity: str | None
    psk_mode: str | None
    timer: Timer | None
    mtu: int | None
    max_fragment_length: int | None
    record_size_limit: int | None
    connection_id: int | None
    cookie: bool | None
    resumption: str | None
    false_start: bool
    certificate_compression: str | None
    lean: tuple[str, ...]

    @property
    def parts(self) -> Suite:
        """The parts of the suite. After `nearest` it is one of the table."""
        return SUITES[self.suite]

    @property
    def is_stream(self) -> bool:
        """True if the session runs over TCP."""
        return self.protocol in (Protocol.TLS12, Protocol.TLS13)

    @property
    def is_13(self) -> bool:
        """True with version 1.3."""
        return self.protocol in (Protocol.DTLS13, Protocol.TLS13)

    @property
    def has_rsa(self) -> bool:
        """True if the suite has RSA."""
        return self.rsa_bits is not None


@dataclass(frozen=True)
class Session:
    """A session: its two ends, and the scenario that it is from."""

    scenario: str
    client: End
    server: End
    notes: tuple[str, ...]
    """The parts of the scenario around the session, which no setting of a library brings about."""


DELEGATE = (
    "{} opens the session (gateway.delegation): these settings are for that and for the server."
    " Your code there hands the session over, and the node resumes it."
)

AROUND: dict[tuple[str, str | bool], str] = {
    ("session.carrier", "coap"): "CoAP carries the handshake (session.carrier): your code at both"
    " ends gives flights to CoAP and to the library. CoAP repeats and cuts what it carries. So"
    " never tell the library during the handshake that its timer has expired (no setting below"
    " turns the timer off), and do not limit its datagrams.",
    ("session.carrier", "dccp"): "DCCP carries the session (session.carrier, RFC 5238): your code"
    " at both ends gives the library a connection of DCCP, and not a socket of UDP.",
    ("session.trust_anchor", True): "A trust anchor gives the key (session.trust_anchor): before"
    " each handshake your code asks it by CoAP with OSCORE, and gives the identity and the key of"
    " the answer to the library, in the place of those that stand here.",
    ("gateway.delegation", "border-router"): DELEGATE.format("The border router"),
    ("gateway.delegation", "internet"): DELEGATE.format("A host on the Internet"),
    ("gateway.pre_validation", True): "The border router verifies the server's certificates"
    " (gateway.pre_validation): your code there does it, and your client must take every chain,"
    " which these settings do not say (mbedTLS: MBEDTLS_SSL_VERIFY_NONE; lean-dtls:"
    " `Credentials::check_peer`).",
    ("lowpan.payload_compression", "ghc"): "6LoWPAN compresses payloads"
    " (lowpan.payload_compression, RFC 7400): the network stacks of the nodes and of the border"
    " router do it, and no library of DTLS.",
    ("lowpan.payload_compression", "lithe"): "6LoWPAN compresses the headers of DTLS"
    " (lowpan.payload_compression): the network stacks of the nodes and of the border router do"
    " it, and no library of DTLS.",
}
"""The work beside the settings of a library, by a key and its value."""


def read(scenario: str, native: _native.Scenario) -> Session:
    """The session of a scenario.

    Raises `ValueError` if it has neither TLS nor DTLS: no library of these has anything to do. Nor
    has one alone with QUIC.
    """
    ends = json.loads(native.settings())
    for end in ends.values():
        found = end["protocol"]
        end["protocol"] = found.removeprefix("coap+")
        if end["protocol"] not in NAMES:
            names = "dtls1.2, dtls1.3, tls1.2, tls1.3, also with coap+"
            allowed = f"a protocol that has TLS or DTLS ({names}): the settings are for its library"
            raise ValueError(f"session.protocol: found {found}, allowed: {allowed}")
    notes = tuple(note for (key, value), note in AROUND.items() if native.value(key) == value)
    return Session(scenario, _end(ends["client"]), _end(ends["server"]), notes)


def _end(values: dict[str, Any]) -> End:
    timer = values["timer"] and Timer(**values["timer"])
    return End(**{**values, "timer": timer, "lean": tuple(values["lean"])})


@dataclass(frozen=True)
class Offer:
    """A library, and its abilities of all that a session may ask for."""

    library: str
    """As `slowhand settings --library` takes it."""
    version: str
    """The version whose names its snippets have."""
    name: str
    protocols: tuple[str, ...]
    credentials: tuple[str, ...]
    fragment_lengths: bool = True
    record_sizes: bool = False
    """True if it has record_size_limit (RFC 8449)."""
    connection_ids: int | None = None
    """Octets of the longest connection ID; None: it has none."""
    resumptions: tuple[str, ...] = ()
    no_mtu: str | None = None
    """The words for a library that cannot limit its datagrams; `{}`: the limit that is asked."""

    @property
    def suites(self) -> tuple[str, ...]:
        """Its suites."""
        return suites.of(self.library)

    def snippet(
        self,
        language: str,
        file: str,
        sentences: Iterable[str],
        *parts: str | Sequence[str],
        notes: Iterable[str] = (),
    ) -> Snippet:
        """A file for it, of some parts. The sentences stand in a comment at its top."""
        lines = text(head(STYLES.get(language, HASH), sentences), *parts)
        return Snippet(self.library, self.version, language, file, lines, tuple(notes))


def nearest(session: Session, offer: Offer) -> tuple[End, list[str]]:
    """The nearest to the client that the library can do, and in words what it cannot.

    The two ends differ in their library and their timer only.
    """
    notes = list(session.notes)
    end, has = session.client, offer.name
    if end.protocol not in offer.protocols:
        other = _version(end, offer)
        notes.append(f"{has} has no {NAMES[end.protocol]}: this is {NAMES[other]}.")
        end = replace(end, protocol=other, psk_mode=None)
        if end.is_stream:  # without what only datagrams have
            end = replace(end, timer=None, mtu=None, connection_id=None, cookie=None)
            end = replace(end, false_start=False, lean=())
    if end.credential not in offer.credentials:
        other = _credential(end, offer)
        notes.append(f"{has} has no {_word(end.credential)}: this is {NAMES[other]}.")
        end = replace(end, credential=other)
        if other == Credential.PSK:
            end = replace(end, auth="psk", psk_identity=end.psk_identity or "Client_identity")
        else:
            end = replace(end, auth="mutual", psk_identity=None, psk_mode=None)
    if end.suite not in offer.suites or not fits(end.suite, end):
        other = _suite(end, offer)
        if end.suite not in offer.suites:
            notes.append(f"{has} has no {end.suite}: this is {other}.")
        else:
            notes.append(f"The suite is {other}.")
        end = replace(end, suite=other)
        end = replace(end, rsa_bits=end.rsa_bits if end.parts.exchange.endswith("RSA") else None)
        if not (end.is_13 or end.parts.is_ephemeral):
            end = replace(end, curve=None)
        elif end.curve is None and end.credential != Credential.PSK:
            end = replace(end, curve="secp256r1")
    end = _extensions(end, offer, notes)
    server = session.server.timer
    if end.timer and server and server.first_ms != end.timer.first_ms:
        notes.append(
            f"At the server, the first timeout of the scenario is {server.first_ms / 1000:g} s."
        )
    if end.mtu is not None and offer.no_mtu:
        notes.append(offer.no_mtu.format(end.mtu))
    return end, notes


def fits(suite: str, end: End) -> bool:
    """True if an end with this version and credential can use the suite."""
    found = SUITES[suite]
    if end.is_13 or found.is_13:
        return end.is_13 == found.is_13
    kinds: dict[str, bool] = {
        Credential.PSK: found.exchange.endswith("PSK"),
        Credential.PASSWORD: found.exchange == "ECJPAKE",
    }
    return kinds.get(end.credential, not any(kinds.values()))


def _version(end: End, offer: Offer) -> str:
    """The version of the same transport, if there is one; otherwise of the other."""
    same = [p for p in offer.protocols if p.startswith("dtls") != end.is_stream]
    return (same or list(offer.protocols))[-1]


def _credential(end: End, offer: Offer) -> str:
    if end.credential in (Credential.PSK, Credential.PASSWORD):
        order = (Credential.PSK, Credential.CERTIFICATE, Credential.RAW_PUBLIC_KEY)
    else:
        order = (Credential.CERTIFICATE, Credential.RAW_PUBLIC_KEY, Credential.PSK)
    return next(kind for kind in order if kind in offer.credentials)


def _suite(end: End, offer: Offer) -> str:
    """A suite of the library for this version and credential: the mandatory one if it can."""
    possible = [suite for suite in offer.suites if fits(suite, end)]
    mandatory = MANDATORY[
        Credential.PSK if end.credential == Credential.PSK else Credential.CERTIFICATE
    ]
    if mandatory in possible:
        return mandatory
    short_tags = [suite for suite in possible if SUITES[suite].is_mode("CCM_8")]
    return (short_tags or possible)[0]


def _extensions(end: End, offer: Offer, notes: list[str]) -> End:
    has, longest, is_lean = offer.name, offer.connection_ids, offer.library == "lean-dtls"

    def without(note: str, **changes: Any) -> End:
        notes.append(note)
        return replace(end, **changes)

    if end.max_fragment_length is not None and not offer.fragment_lengths:
        end = without(f"{has} has no max_fragment_length (RFC 6066).", max_fragment_length=None)
    if end.record_size_limit is not None and not offer.record_sizes:
        end = without(f"{has} has no record_size_limit (RFC 8449).", record_size_limit=None)
    if end.connection_id is not None and longest is None:
        end = without(f"{has} has no connection IDs (RFC 9146).", connection_id=None)
    elif end.connection_id is not None and longest is not None and end.connection_id > longest:
        note = f"{has} has connection IDs of at most {longest} octets."
        end = without(note, connection_id=longest)
    if end.resumption is not None and end.resumption not in offer.resumptions:
        words = {"id": "by session ID", "ticket": "by ticket"}[end.resumption]
        other = offer.resumptions[0] if offer.resumptions else None
        note = f"{has} does not resume {words}{'' if other else ', nor otherwise'}."
        end = without(note, resumption=other)
    if end.lean and not is_lean:
        end = without(f"{has} has no lean profile: only lean-dtls has.", lean=())
    if end.false_start and not is_lean:
        end = without(f"{has} has no False Start (RFC 7918) for DTLS.", false_start=False)
    if end.certificate_compression is not None:
        note = f"Certificates are not compressed (RFC 8879): rustls does it, {has} not here."
        end = without(note, certificate_compression=None)
    timer = end.timer
    if timer and timer.growth != "double" and not is_lean:
        timer = replace(timer, growth="double")
        end = without(f"{has} has no timer of CoCoA: its timer doubles.", timer=timer)
    if timer and timer.floor_ms is not None and not is_lean:
        note = f"{has} measures no round trips: its timer starts as below each time."
        end = without(note, timer=replace(timer, floor_ms=None))
    return end


def _word(credential: str) -> str:
    return NAMES[credential].removeprefix("a ").replace("raw public key", "raw public keys")
