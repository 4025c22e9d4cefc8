"""lean-dtls: calls in Rust, and in C for its part with pre-shared keys."""

from __future__ import annotations

from slowhand.settings import c_code
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, Timer, nearest
from slowhand.settings.text import Snippet, literal, needed, seconds

AEADS = {
    # crates/lean-dtls/src/crypto.rs
    "TLS_AES_128_CCM_8_SHA256": "Ccm8",
    "TLS_AES_128_CCM_SHA256": "Ccm",
    "TLS_AES_128_GCM_SHA256": "Gcm",
}

OFFER = Offer(
    "lean-dtls",
    "0.1.0",
    "lean-dtls",
    (Protocol.DTLS12, Protocol.DTLS13),
    (Credential.PSK, Credential.CERTIFICATE, Credential.RAW_PUBLIC_KEY),
    record_sizes=True,
    connection_ids=8,  # MAX_CONNECTION_ID
    resumptions=("id", "ticket"),
)

NO_LIMIT = 1_999
"""Octets of the longest datagram over 6LoWPAN: 2,047 (RFC 4944, section 5.3) without 48."""

C_MAXIMUM_MS = 60_000
"""Its calls in C have no maximum: it is that of `Timeouts::DEFAULT` in src/time.rs."""


def snippets(session: Session) -> list[Snippet]:
    """The configuration of both ends."""
    end, notes = nearest(session, OFFER)
    if end.curve == "secp192r1":
        notes.append("lean-dtls has no secp192r1: this is secp256r1.")
    if end.cookie is False and end.protocol == Protocol.DTLS12:
        notes.append(
            "A server of DTLS 1.2 leaves the cookie out for the addresses of"
            " Credentials::is_known()."
        )
    if end.is_13 and end.resumption is not None:
        notes.append("lean-dtls does not resume sessions of DTLS 1.3.")
    if "known_address" in _switches(end):
        notes.append("A server finds the key by Credentials::find_psk_by_address().")
    title = f"lean-dtls {OFFER.version}, both ends: the session of {session.scenario}."
    found = [OFFER.snippet("rust", "configure.rs", [title, *notes], "", _rust(end), notes=notes)]
    if end.credential == Credential.PSK:
        found.append(_c(end, title, session.notes))
    return found


def _rust(end: End) -> list[str]:
    lines = _calls(end)
    names = {
        "Config": True,
        "ConfigError": True,
        "Credentials": end.credential != Credential.PSK,
        "Growth": any("Growth::" in line for line in lines),
        "Lean": bool(end.lean),
        "MaxFragmentLength": any("MaxFragmentLength" in line for line in lines),
        "Psk": end.credential == Credential.PSK,
        "Suite": not end.is_13,
        "Timeouts": True,
        "Versions": end.is_13,
    }
    uses = ", ".join(needed(names))
    groups = ["Aead"] if end.is_13 else []
    groups += ["Group"] if any("Group::" in line for line in lines) else []
    crypto = f"{{{', '.join(groups)}}}" if len(groups) > 1 else "".join(groups)
    imports = [f"use lean_dtls::crypto::{crypto};"] if groups else []
    imports += [f"use lean_dtls::{{{uses}}};", ""]
    if end.credential == Credential.PSK:
        signature = "pub fn configure(key: &[u8]) -> Result<Config<[Psk<'_>; 1]>, ConfigError> {"
        identity = "b" + literal(end.psk_identity or "", "", "\\x{:02x}")
        own = [f"    let credentials = [Psk {{ identity: {identity}, key }}];"]
    else:
        kind = "an `X509`" if end.credential == Credential.CERTIFICATE else "a `RawPublicKey`"
        imports.append(f"/// The credentials are {kind}.")
        signature = (
            "pub fn configure<K: Credentials>(credentials: K) -> Result<Config<K>, ConfigError> {"
        )
        own = []
    return [*imports, signature, *own, *lines, "    Ok(config)", "}"]


def _calls(end: End) -> list[str]:
    mtu = end.mtu or NO_LIMIT
    limit = "" if end.mtu else " (6LoWPAN carries no more)"
    lines = [
        *_timer(end.timer),
        f"    // Octets of a datagram, without the headers of IP and UDP{limit}.",
        f"    let config = Config::new(credentials, {mtu}, timeouts)?;",
    ]
    calls = []
    if end.is_13:
        calls += ["with_versions(Versions::Dtls13)", f"with_aeads(&[Aead::{AEADS[end.suite]}])"]
        if end.psk_mode == "psk_dhe_ke":
            calls.append("with_psk_agreement()")
        if end.cookie is False:
            calls.append("without_cookie()")
    else:
        calls.append(f"with_suites(&[Suite::{end.suite}])")
    if end.credential != Credential.PSK or end.parts.is_ephemeral or end.psk_mode == "psk_dhe_ke":
        calls.append("with_groups(&[Group::P256])")
    if end.max_fragment_length is not None:
        length = f"MaxFragmentLength::Octets{end.max_fragment_length}"
        calls.append(f"with_max_fragment_length({length})")
    if end.record_size_limit is not None:
        calls.append(f"with_record_size_limit({end.record_size_limit})?")
    if end.connection_id is not None:
        calls.append(f"with_connection_id({end.connection_id})?")
    if end.resumption == "ticket" and not end.is_13:
        calls.append("with_tickets()")
    if end.false_start:
        calls.append("with_false_start()")
    if end.lean:
        calls.append(f"with_lean({_lean(end)})")
    return [*lines, *(f"    let config = config.{call};" for call in calls), *_remarks(end)]


def _timer(timer: Timer | None) -> list[str]:
    if timer is None:
        return ["    let timeouts = Timeouts::DEFAULT;"]
    first, maximum = (max(1, round(time)) for time in (timer.first_ms, timer.maximum_ms))
    floor = "" if timer.floor_ms is None else f", floor_ms: Some({round(timer.floor_ms)})"
    growth = ", growth: Growth::Variable" if timer.growth == "cocoa" else ""
    grows = "growing" if growth else "doubling"
    times = f"initial_ms: {first}, maximum_ms: {maximum}{floor}{growth}, ..Timeouts::DEFAULT"
    return [
        f"    // Milliseconds: the first timeout, and where it stops {grows}.",
        f"    let timeouts = Timeouts {{ {times} }};",
    ]


def _remarks(end: End) -> list[str]:
    if end.resumption is None or end.is_13:
        return []
    return ["    // `Client::take_session` keeps a session, and `Client::resume` resumes it."]


def _switches(end: End) -> list[str]:
    """The switches one by one: two names of a scenario have the address of the client in them."""
    found: list[str] = []
    for name in end.lean:
        found += [name, "known_address"] if name in ("slides", "all") else [name]
    return list(dict.fromkeys(found))


def _lean(end: End) -> str:
    first, *others = (f"Lean::{name.upper()}" for name in _switches(end))
    return first + "".join(f".with({name})" for name in others)


def _c(end: End, title: str, around: tuple[str, ...]) -> Snippet:
    """The configuration in C, as far as its header goes."""
    notes = list(around)
    if end.suite != "TLS_PSK_WITH_AES_128_CCM_8":
        notes.append("The calls in C have TLS_PSK_WITH_AES_128_CCM_8 and DTLS 1.2 only.")
    if end.timer and round(end.timer.maximum_ms) != C_MAXIMUM_MS:
        notes.append(f"The calls in C double the timeout up to {seconds(C_MAXIMUM_MS)}.")
    wanted = {
        "the measured round trip": bool(end.timer and end.timer.floor_ms is not None),
        "the timer of CoCoA": bool(end.timer and end.timer.growth == "cocoa"),
        "False Start": end.false_start,
        "max_fragment_length": end.max_fragment_length is not None,
        "record_size_limit": end.record_size_limit is not None,
        "connection IDs": end.connection_id is not None,
        "resumption": end.resumption is not None,
        "the lean profile": bool(end.lean),
    }
    if missing := needed(wanted):
        notes.append(f"The calls in C do not have: {', '.join(missing)}.")
    identity = end.psk_identity or ""
    first = max(1, round(end.timer.first_ms)) if end.timer else 0
    default = "" if end.timer else "; 0: its default"
    return OFFER.snippet(
        "c",
        "configure.c",
        [title, *notes],
        '#include "lean_dtls.h"',
        "",
        "/* `keys` must stay where it is as long as the client or server is used. */",
        "lean_dtls_config configure(lean_dtls_psk keys[1], const uint8_t *key,",
        "                           size_t key_length)",
        "{",
        f"    static const uint8_t IDENTITY[] = {c_code.string(identity)};",
        "",
        "    keys[0].identity = IDENTITY;",
        "    keys[0].identity_length = sizeof IDENTITY - 1;",
        "    keys[0].key = key;",
        "    keys[0].key_length = key_length;",
        "    lean_dtls_config config = {",
        "        .keys = keys,",
        "        .key_count = 1,",
        f"        .mtu = {end.mtu or NO_LIMIT}, /* octets of a datagram */",
        f"        .timeout_ms = {first}, /* the first timeout{default} */",
        "    };",
        "    return config;",
        "}",
        notes=notes,
    )
