"""OpenSSL: calls in C."""

from __future__ import annotations

from dataclasses import replace

from slowhand.settings import c_code
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.suites import Suite
from slowhand.settings.text import Snippet, seconds

GROUPS = {"secp256r1": "NID_X9_62_prime256v1", "secp192r1": "NID_X9_62_prime192v1"}
"""include/openssl/obj_mac.h of OpenSSL 3.5.5."""

LEAST_PACKET = 256
"""Octets of the shortest limit of an IP packet: the last of g_probable_mtu in ssl/d1_lib.c. OpenSSL
takes the headers away that its BIO names, 28 octets over IPv4 and 48 over IPv6, and with a shorter
limit it sends nothing (dtls1_query_mtu)."""

LEAST = [
    "    long least = DTLS_get_link_min_mtu(ssl)",
    "                 - (long) BIO_dgram_get_mtu_overhead(SSL_get_wbio(ssl));",
    "    if (mtu < least)",
    "        mtu = least;",
]
"""In C: what OpenSSL takes at least over the BIO of this connection."""

LONGEST_MS = 4_294_000
"""The longest timeout: DTLS_timer_cb in include/openssl/ssl.h has an unsigned int, microseconds."""

OFFER = Offer(
    "openssl",
    "3.5.5",
    "OpenSSL",
    (Protocol.DTLS12, Protocol.TLS12, Protocol.TLS13),
    (Credential.PSK, Credential.CERTIFICATE),
    resumptions=("id", "ticket"),
)


def snippets(session: Session) -> list[Snippet]:
    """The calls of both ends."""
    end, notes = nearest(session, OFFER)
    if end.timer:
        notes.append(
            "OpenSSL has no call that sets its timer, which starts at 1 s: DTLS_set_timer_cb()"
            " gives it a function that does. Call DTLSv1_handle_timeout() when the time of"
            " DTLSv1_get_timeout() is over."
        )
    if end.timer and end.timer.maximum_ms > LONGEST_MS:
        notes.append(
            f"The timer of OpenSSL ends at {seconds(LONGEST_MS)}: 32 bits of microseconds."
        )
        first, maximum = min(end.timer.first_ms, LONGEST_MS), LONGEST_MS
        end = replace(end, timer=replace(end.timer, first_ms=first, maximum_ms=maximum))
    if is_short(end.mtu):
        notes.append(
            "OpenSSL sends nothing with a limit of a datagram below"
            f" {LEAST_PACKET - 28} octets over IPv4, or {LEAST_PACKET - 48} over IPv6: prepare()"
            " takes that in place of less."
        )
    if "\0" in (end.psk_identity or ""):
        notes.append("OpenSSL takes an identity up to its first NUL.")
    title = f"OpenSSL {OFFER.version}, both ends: the session of {session.scenario}."
    calls = _prepare(end)
    order = "configure() comes after SSL_CTX_new()"
    if calls:
        order += f", prepare() after {'SSL_set_bio' if is_short(end.mtu) else 'SSL_new'}()"
    order += "."
    sentences = [title, *notes, order]
    return [OFFER.snippet("c", "configure.c", sentences, _code(end), calls, notes=notes)]


def constant(suite: Suite) -> str:
    """The name of a suite in include/openssl/tls1.h."""
    if suite.is_13:
        return f"TLS1_3_RFC_{suite.cipher}_{suite.digest}"
    leaves_mode_out = suite.digest == "SHA256" or suite.exchange == "RSA"
    cipher = suite.cipher.removesuffix("_CBC") if leaves_mode_out else suite.cipher
    return "_".join(filter(None, (f"TLS1_TXT_{suite.exchange}_WITH", cipher, suite.digest)))


def is_short(mtu: int | None) -> bool:
    """True if OpenSSL does not take this limit of a datagram over every network."""
    return mtu is not None and mtu < LEAST_PACKET


def _code(end: End) -> list[str]:
    lines = ["#include <string.h>", "", "#include <openssl/ssl.h>", ""]
    if end.credential == Credential.PSK:
        server = ["SSL *ssl, const char *identity, unsigned char *key", "unsigned room"]
        lines += c_code.keys(end.psk_identity, "SSL", server)
    if end.timer:
        lines += _timer(round(end.timer.first_ms * 1000), round(end.timer.maximum_ms * 1000))
    parameters = ["SSL_CTX *context", *_parameters(end)]
    return [*lines, *c_code.function("configure", parameters, _configure(end), 1)]


def _parameters(end: End) -> list[str]:
    if end.credential != Credential.CERTIFICATE:
        return []
    files = ["const char *authority", "const char *chain", "const char *key"]
    return ["int is_server", *files] if end.auth == "server" else files


def _timer(first_us: int, maximum_us: int) -> list[str]:
    return [
        "/* Microseconds: the next timeout after this one; 0 before the first. */",
        "static unsigned next_timeout(SSL *ssl, unsigned timeout)",
        "{",
        "    (void) ssl;",
        "    if (timeout == 0)",
        f"        return {first_us}u;",
        f"    return timeout < {maximum_us}u / 2 ? 2 * timeout : {maximum_us}u;",
        "}",
        "",
    ]


def _configure(end: End) -> list[str]:
    version = ("TLS1_3" if end.is_13 else "TLS1_2") if end.is_stream else "DTLS1_2"
    sets = "SSL_CTX_set_ciphersuites" if end.is_13 else "SSL_CTX_set_cipher_list"
    lines: list[str] = []
    if end.curve is not None:
        lines.append(f"    int groups[] = {{{GROUPS[end.curve]}}};")
    weak = end.parts.is_mode("CCM_8") or end.curve == "secp192r1" or (end.rsa_bits or 2048) < 2048
    if weak:
        lines += [
            "    /* OpenSSL refuses short tags, curves and keys at its level 1 and above. */",
            "    SSL_CTX_set_security_level(context, 0);",
        ]
    lines += [
        f"    if (!SSL_CTX_set_min_proto_version(context, {version}_VERSION)",
        f"        || !SSL_CTX_set_max_proto_version(context, {version}_VERSION)",
        f"        || !{sets}(context,",
        f"            {constant(end.parts)}))",
        "        return 0;",
    ]
    if end.curve is not None:
        lines += _checked("SSL_CTX_set1_groups(context, groups, 1)")
    if end.credential == Credential.PSK:
        lines += [
            "    SSL_CTX_set_psk_client_callback(context, client_key);",
            "    SSL_CTX_set_psk_server_callback(context, server_key);",
        ]
    else:
        lines += _certificates(end)
    if end.max_fragment_length is not None:
        # The modes of include/openssl/ssl.h have the names of the lengths.
        mode = f"TLSEXT_max_fragment_length_{end.max_fragment_length}"
        lines += _checked(f"SSL_CTX_set_tlsext_max_fragment_length(\n             context, {mode})")
    if end.resumption != "ticket":
        lines.append("    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);")
    if end.resumption is None:
        lines.append("    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);")
    if end.cookie:
        lines += [
            "    /* A server also needs SSL_CTX_set_cookie_generate_cb(), _verify_cb(). */",
            "    SSL_CTX_set_options(context, SSL_OP_COOKIE_EXCHANGE);",
        ]
    return lines


def _certificates(end: End) -> list[str]:
    own = [
        "SSL_CTX_use_certificate_chain_file(context, chain)",
        "SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM)",
    ]
    peer = "SSL_CTX_load_verify_locations(context, authority, NULL)"
    mode = "SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT"
    if end.auth != "server":
        return [
            f"    if (!{peer}",
            *(f"        || !{call}" for call in own[:1]),
            f"        || !{own[1]})",
            "        return 0;",
            f"    SSL_CTX_set_verify(context, {mode}, NULL);",
        ]
    return [
        "    /* Only the server has a certificate. */",
        "    if (is_server) {",
        f"        if (!{own[0]}",
        f"            || !{own[1]})",
        "            return 0;",
        "    } else {",
        f"        if (!{peer})",
        "            return 0;",
        "        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);",
        "    }",
    ]


def _prepare(end: End) -> list[str]:
    lines: list[str] = []
    if end.timer:
        lines.append("    DTLS_set_timer_cb(ssl, next_timeout);")
    if end.mtu is not None:
        lines += [
            c_code.DATAGRAM,
            f"    long mtu = {end.mtu};",
            *(LEAST if is_short(end.mtu) else []),
            "    SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);",
            "    if (SSL_set_mtu(ssl, mtu) != mtu)",
            "        return 0;",
        ]
    if end.resumption is not None:
        lines += [
            "    /* A client gives what SSL_get1_session() has kept. */",
            "    if (earlier != NULL && !SSL_set_session(ssl, earlier))",
            "        return 0;",
        ]
    resumed = "" if end.resumption is None else ", SSL_SESSION *earlier"
    return c_code.prepare([f"SSL *ssl{resumed}"], lines, 1)


def _checked(call: str) -> list[str]:
    """A call whose result is 0 after an error."""
    return [f"    if (!{call})", "        return 0;"]
