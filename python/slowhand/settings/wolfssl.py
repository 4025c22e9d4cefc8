"""wolfSSL: calls in C, and the options that it is compiled with."""

from __future__ import annotations

import math
from dataclasses import replace

from slowhand.settings import c_code, suites
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.suites import Suite
from slowhand.settings.text import Snippet, needed, seconds


def _cipher(suite: Suite) -> str:
    """The name of a suite in cipher_names in src/internal.c of wolfSSL 5.9.4."""
    exchange = "TLS13" if suite.is_13 else suite.exchange
    parts = (exchange if exchange != "RSA" else "", suite.cipher.removesuffix("_CBC"), suite.digest)
    return "_".join(filter(None, parts)).replace("AES_", "AES").replace("_", "-")


SUITES = {name: _cipher(suites.SUITES[name]) for name in suites.of("wolfssl")}

LEAST_MTU: dict[str, int] = {Protocol.DTLS12: 192, Protocol.DTLS13: 352}
"""Octets: a ClientHello of the longest that slowhand has sent; with DTLS 1.3, key agreement, a
connection ID, a cookie and the longest identity. In DTLS 1.2 the library does not cut it
(CheckAvailableSize in src/internal.c), and a server of DTLS 1.3 does not put it together."""

OFFER = Offer(
    "wolfssl",
    "5.9.4",
    "wolfSSL",
    (Protocol.DTLS12, Protocol.DTLS13, Protocol.TLS12, Protocol.TLS13),
    (Credential.PSK, Credential.CERTIFICATE, Credential.RAW_PUBLIC_KEY),
    connection_ids=10,  # DTLS_CID_MAX_SIZE in wolfssl/internal.h
    resumptions=("id", "ticket"),
)


def snippets(session: Session) -> list[Snippet]:
    """The calls of both ends."""
    end, notes = nearest(session, OFFER)
    if end.timer and end.timer.first_ms % 1000:
        notes.append(
            "The timer of wolfSSL counts whole seconds:"
            f" {seconds(end.timer.first_ms)} become {_seconds(end.timer.first_ms)} s."
        )
    if end.mtu is not None and end.mtu < LEAST_MTU[end.protocol]:
        least = LEAST_MTU[end.protocol]
        notes.append(
            f"Ends of wolfSSL need a ClientHello in one piece, which may have {least} octets."
        )
        end = replace(end, mtu=least)
    if "\0" in (end.psk_identity or ""):
        notes.append("wolfSSL takes an identity up to its first NUL.")
    title = f"wolfSSL {OFFER.version}, both ends: the session of {session.scenario}."
    calls = _prepare(end)
    order = "configure() comes after wolfSSL_CTX_new()"
    order += ", prepare() after wolfSSL_new()." if calls else "."
    sentences = [title, *notes, order]
    return [OFFER.snippet("c", "configure.c", sentences, _code(end), calls, notes=notes)]


def _seconds(milliseconds: float) -> int:
    """Whole seconds, rounded up: a shorter timeout repeats what is on its way."""
    return math.ceil(milliseconds / 1000)


def _code(end: End) -> list[str]:
    lines = [
        "#include <string.h>",
        "",
        "#ifndef WOLFSSL_USER_SETTINGS",
        "#include <wolfssl/options.h>",
        "#endif",
        "#include <wolfssl/wolfcrypt/settings.h>",
        "#include <wolfssl/ssl.h>",
        "",
        *_required(end),
    ]
    if end.credential == Credential.PSK:
        server = ["WOLFSSL *ssl, const char *identity", "unsigned char *key, unsigned room"]
        suite = SUITES[end.suite] if end.is_13 else None
        lines += c_code.keys(end.psk_identity, "WOLFSSL", server, suite)
    parameters = ["WOLFSSL_CTX *context", *_parameters(end)]
    return [*lines, *c_code.function("configure", parameters, _configure(end), 1)]


def _required(end: End) -> list[str]:
    """A check of the options of user_settings.h, or of what configure has set.

    The names are in wolfssl/ssl.h, wolfssl/internal.h and configure.ac of wolfSSL 5.9.4.
    """
    options = {
        "WOLFSSL_DTLS": not end.is_stream,
        "WOLFSSL_DTLS13": end.protocol == Protocol.DTLS13,
        "WOLFSSL_TLS13": end.is_13,
        "WOLFSSL_DTLS_MTU": end.mtu is not None,
        "WOLFSSL_DTLS_CID": end.connection_id is not None,
        "WOLFSSL_STATIC_PSK": end.parts.exchange == "PSK",
        "HAVE_AESCCM": end.parts.is_mode("CCM"),
        "HAVE_AESGCM": end.parts.is_mode("GCM"),
        "HAVE_MAX_FRAGMENT": end.max_fragment_length is not None,
        "HAVE_SESSION_TICKET": end.resumption == "ticket",
        "HAVE_RPK": end.credential == Credential.RAW_PUBLIC_KEY,
    }
    checks = c_code.defined(needed(options))
    where = "/* In user_settings.h, or by an option of ./configure. */"
    return [where, *checks, ""] if checks else []


def _parameters(end: End) -> list[str]:
    names = {
        Credential.CERTIFICATE: ("authority", "certificate", "key"),
        Credential.RAW_PUBLIC_KEY: ("public_key", "key", "peers_key"),
        Credential.PSK: (),
    }[Credential(end.credential)]
    keys = [f"const unsigned char *{name}, long {name}_length" for name in names]
    return [*(["int is_server"] if end.auth == "server" and keys else []), *keys]


def _configure(end: End) -> list[str]:
    lines = _checked(f'wolfSSL_CTX_set_cipher_list(context, "{SUITES[end.suite]}")')
    if end.curve is not None:
        # WOLFSSL_ECC_SECP192R1 and so on: the named groups of wolfssl/ssl.h
        lines += _checked(
            f"wolfSSL_CTX_UseSupportedCurve(\n            context, WOLFSSL_ECC_{end.curve.upper()})"
        )
    if end.credential == Credential.PSK:
        version = "_tls13" if end.is_13 else ""
        lines += [
            f"    wolfSSL_CTX_set_psk_client{version}_callback(context, client_key);",
            f"    wolfSSL_CTX_set_psk_server{version}_callback(context, server_key);",
        ]
        if end.psk_mode == "psk_ke":
            lines += ["    if (wolfSSL_CTX_no_dhe_psk(context) != 0)", "        return 0;"]
        elif end.psk_mode == "psk_dhe_ke":
            lines += ["    if (wolfSSL_CTX_only_dhe_psk(context) != 0)", "        return 0;"]
    else:
        lines += _keys(end)
    if end.max_fragment_length is not None:
        # WOLFSSL_MFL_2_9 is 512 octets, and so on: wolfssl/ssl.h
        power = end.max_fragment_length.bit_length() - 1
        lines += _checked(f"wolfSSL_CTX_UseMaxFragment(context, WOLFSSL_MFL_2_{power})")
    if not end.is_13 and end.resumption == "ticket":
        lines += ["    /* The client's. A server needs wolfSSL_CTX_set_TicketEncCb(). */"]
        lines += _checked("wolfSSL_CTX_UseSessionTicket(context)")
    elif not end.is_13:
        no_ticket = _checked("wolfSSL_CTX_NoTicketTLSv12(context)")
        lines += ["#if defined(HAVE_SESSION_TICKET)", *no_ticket, "#endif"]
    if end.resumption is None:
        lines.append("    wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_OFF);")
    return lines


def _keys(end: End) -> list[str]:
    is_raw = end.credential == Credential.RAW_PUBLIC_KEY
    name = "public_key" if is_raw else "certificate"
    own = [
        f"wolfSSL_CTX_use_certificate_buffer(context, {name}, {name}_length,",
        "                                           WOLFSSL_FILETYPE_ASN1)",
    ]
    key = [
        "wolfSSL_CTX_use_PrivateKey_buffer(context, key, key_length,",
        "                                          WOLFSSL_FILETYPE_ASN1)",
    ]
    mode = "WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT"
    proves = "    if (is_server) { /* Only the server has a certificate. */"
    indent = "    " if end.auth == "server" else ""
    lines = [proves] if indent else []
    for call in (own, key):
        joined = "\n".join([call[0], indent + call[1]])
        lines += [indent + line for line in _checked(joined)]
    lines += ["    } else {"] if indent else []
    if is_raw:
        peer = (
            "wolfSSL_CTX_set_expected_rpk(context, peers_key,\n"
            f"                                     {indent}(unsigned) peers_key_length)"
        )
    else:
        peer = (
            "wolfSSL_CTX_load_verify_buffer(context, authority, authority_length,\n"
            f"                                       {indent}WOLFSSL_FILETYPE_ASN1)"
        )
    lines += [indent + line for line in _checked(peer)]
    lines.append(f"{indent}    wolfSSL_CTX_set_verify(context,")
    lines.append(f"{indent}        {mode}, NULL);")
    lines += ["    }"] if indent else []
    if not is_raw:
        return lines
    types = [
        "    const char types[] = {WOLFSSL_CERT_TYPE_RPK};",
        *_checked("wolfSSL_CTX_set_client_cert_type(context, types, sizeof types)"),
        *_checked("wolfSSL_CTX_set_server_cert_type(context, types, sizeof types)"),
    ]
    return [*types, *lines]


def _prepare(end: End) -> list[str]:
    lines: list[str] = []
    if end.timer:
        first, maximum = _seconds(end.timer.first_ms), _seconds(end.timer.maximum_ms)
        lines += [
            "    /* Seconds: where the timeout stops doubling, and the first. */",
            *_checked(f"wolfSSL_dtls_set_timeout_max(ssl, {maximum})"),
            *_checked(f"wolfSSL_dtls_set_timeout_init(ssl, {first})"),
        ]
    if end.mtu is not None:
        lines += [c_code.DATAGRAM, *_checked(f"wolfSSL_dtls_set_mtu(ssl, {end.mtu})")]
    if end.connection_id is not None:
        own = "connection_id" if end.connection_id else "NULL"
        lines += _checked("wolfSSL_dtls_cid_use(ssl)")
        lines += _checked(f"wolfSSL_dtls_cid_set(ssl, {own}, {end.connection_id})")
    if end.resumption is not None:
        lines += [
            "    /* A client gives what wolfSSL_get1_session() has kept. */",
            "    if (earlier != NULL)",
            "        return wolfSSL_set_session(ssl, earlier) == WOLFSSL_SUCCESS;",
        ]
    own = f", unsigned char connection_id[{end.connection_id}]" if end.connection_id else ""
    resumed = "" if end.resumption is None else ", WOLFSSL_SESSION *earlier"
    return c_code.prepare([f"WOLFSSL *ssl{own}{resumed}"], lines, 1)


def _checked(call: str) -> list[str]:
    """A call that returns WOLFSSL_SUCCESS."""
    return [*f"    if ({call} != WOLFSSL_SUCCESS)".split("\n"), "        return 0;"]
