"""Mbed TLS: calls in C."""

from __future__ import annotations

from dataclasses import replace

from slowhand.settings.session import (
    CERTIFICATE,
    DTLS12,
    PASSWORD,
    PSK,
    TLS12,
    TLS13,
    End,
    Offer,
    Session,
    nearest,
)
from slowhand.settings.text import C, Snippet, c_string, head, text

LIBRARY, VERSION = "mbedtls", "3.6.5"

SUITES = {
    # include/mbedtls/ssl_ciphersuites.h of Mbed TLS 3.6.5. The names are MBEDTLS_ and these;
    # those of TLS 1.3 have TLS1_3 in place of TLS.
    *(f"TLS_PSK_WITH_AES_{bits}_CCM{tag}" for bits in (128, 256) for tag in ("", "_8")),
    *(f"TLS_ECDHE_ECDSA_WITH_AES_{bits}_CCM{tag}" for bits in (128, 256) for tag in ("", "_8")),
    "TLS_PSK_WITH_AES_128_GCM_SHA256",
    "TLS_PSK_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECJPAKE_WITH_AES_128_CCM_8",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_AES_128_CCM_SHA256",
    "TLS_AES_128_CCM_8_SHA256",
}

LEAST_MTU = 192
"""Octets: a ClientHello of the longest that slowhand has sent. The library does not cut it."""

OFFER = Offer(
    "mbedTLS",
    (DTLS12, TLS12, TLS13),
    sorted(SUITES),
    (PSK, CERTIFICATE, PASSWORD),
    connection_ids=32,  # MBEDTLS_SSL_CID_IN_LEN_MAX, include/mbedtls/mbedtls_config.h
    resumptions=("id", "ticket"),
)


def snippets(session: Session) -> list[Snippet]:
    """The calls of both ends."""
    end, notes = nearest(session, OFFER)
    if end.mtu is not None and end.mtu < LEAST_MTU:
        notes.append(f"mbedTLS does not cut a ClientHello, which may have {LEAST_MTU} octets.")
        end = replace(end, mtu=LEAST_MTU)
    prepare = _prepare(end)
    order = "configure() comes after mbedtls_ssl_config_defaults()"
    order += ", prepare() after mbedtls_ssl_setup()." if prepare else "."
    lines = text(
        head(
            C, [f"mbedTLS {VERSION}, both ends: the session of {session.scenario}.", *notes, order]
        ),
        "#include <mbedtls/ssl.h>",
        *(["#include <mbedtls/ssl_cookie.h>"] if _has_cookie(end) else []),
        "",
        _required(end),
        f"static const int SUITES[] = {{{constant(end.suite)}, 0}};",
        *_group(end),
        *(["static mbedtls_x509_crt_profile profile;"] if _is_weak(end) else []),
        "",
        f"int configure(mbedtls_ssl_config *conf{_parameters(end)})",
        "{",
        *_configure(end),
        "    return 0;",
        "}",
        *prepare,
    )
    return [Snippet(LIBRARY, VERSION, "c", "configure.c", lines, tuple(notes))]


def constant(suite: str) -> str:
    """The name of a suite."""
    return "MBEDTLS_" + (suite if "_WITH_" in suite else suite.replace("TLS_", "TLS1_3_", 1))


def _has_cookie(end: End) -> bool:
    """True if the server asks for a cookie: one of this library does, unless it is told not to."""
    return end.protocol == DTLS12 and end.cookie is not False


def _required(end: End) -> list[str]:
    """A check of the options in mbedtls_config.h. All are in that file of Mbed TLS 3.6.5."""
    exchange = end.suite.partition("_WITH_")[0].removeprefix("TLS_")
    options = {
        "MBEDTLS_SSL_PROTO_TLS1_3": end.is_13,
        "MBEDTLS_SSL_PROTO_TLS1_2": not end.is_13,
        "MBEDTLS_SSL_PROTO_DTLS": not end.is_stream,
        f"MBEDTLS_KEY_EXCHANGE_{exchange}_ENABLED": not end.is_13,
        "MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED": end.is_13,
        "MBEDTLS_CCM_C": "_CCM" in end.suite,
        "MBEDTLS_GCM_C": "_GCM" in end.suite,
        "MBEDTLS_SSL_MAX_FRAGMENT_LENGTH": end.max_fragment_length is not None,
        "MBEDTLS_SSL_DTLS_CONNECTION_ID": end.connection_id is not None,
        "MBEDTLS_SSL_DTLS_HELLO_VERIFY": _has_cookie(end),
        "MBEDTLS_SSL_COOKIE_C": _has_cookie(end),
        "MBEDTLS_SSL_SESSION_TICKETS": end.resumption == "ticket",
    }
    needed = [option for option, is_needed in options.items() if is_needed]
    lines = ["/* In mbedtls_config.h. */"]
    for option in needed:
        lines += [f"#if !defined({option})", f'#error "define {option}"', "#endif"]
    return [*lines, ""]


def _group(end: End) -> list[str]:
    if end.curve is None:
        return []
    group = f"MBEDTLS_SSL_IANA_TLS_GROUP_{end.curve.upper()}"
    return [f"static const uint16_t GROUPS[] = {{{group}, 0}};"]


def _parameters(end: End) -> str:
    cookies = ",\n              mbedtls_ssl_cookie_ctx *cookies" if _has_cookie(end) else ""
    if end.credential == PSK:
        return ", const unsigned char *key, size_t key_length" + cookies
    if end.credential == CERTIFICATE:
        return (
            ",\n              mbedtls_x509_crt *authority,"
            "\n              mbedtls_x509_crt *certificate, mbedtls_pk_context *key" + cookies
        )
    return cookies


def _configure(end: End) -> list[str]:
    version = f"MBEDTLS_SSL_VERSION_TLS1_{3 if end.is_13 else 2}"
    lines = [
        f"    mbedtls_ssl_conf_min_tls_version(conf, {version});",
        f"    mbedtls_ssl_conf_max_tls_version(conf, {version});",
        "    mbedtls_ssl_conf_ciphersuites(conf, SUITES);",
    ]
    if end.curve is not None:
        lines.append("    mbedtls_ssl_conf_groups(conf, GROUPS);")
    if end.timer:
        first, maximum = (max(1, round(t)) for t in (end.timer.first_ms, end.timer.maximum_ms))
        lines += [
            "    /* Milliseconds: the first timeout, and where it stops doubling. */",
            f"    mbedtls_ssl_conf_handshake_timeout(conf, {first}, {maximum});",
        ]
    lines += [*_profile(end), *_credentials(end)]
    if end.max_fragment_length is not None:
        length = f"MBEDTLS_SSL_MAX_FRAG_LEN_{end.max_fragment_length}"
        lines += _checked(f"mbedtls_ssl_conf_max_frag_len(conf, {length})")
    if end.connection_id is not None:
        ignore = "MBEDTLS_SSL_UNEXPECTED_CID_IGNORE"
        lines += _checked(f"mbedtls_ssl_conf_cid(conf, {end.connection_id}, {ignore})")
    if _has_cookie(end):
        lines += [
            "    /* What mbedtls_ssl_cookie_setup() has made: without it, a server",
            "     * refuses all clients. A client has NULL. */",
            "    if (cookies != NULL)",
            "        mbedtls_ssl_conf_dtls_cookies(conf, mbedtls_ssl_cookie_write,",
            "                                      mbedtls_ssl_cookie_check, cookies);",
        ]
    if end.cookie is False:
        lines.append("    /* A server without a cookie: anybody can make it answer others. */")
        lines += [
            "    if (mbedtls_ssl_conf_get_endpoint(conf) == MBEDTLS_SSL_IS_SERVER)",
            "        mbedtls_ssl_conf_dtls_cookies(conf, NULL, NULL, NULL);",
        ]
    if end.resumption == "ticket":
        lines += [
            "    /* A server also needs mbedtls_ssl_conf_session_tickets_cb(). */",
            "    if (mbedtls_ssl_conf_get_endpoint(conf) == MBEDTLS_SSL_IS_CLIENT)",
            "        mbedtls_ssl_conf_session_tickets(",
            "            conf, MBEDTLS_SSL_SESSION_TICKETS_ENABLED);",
        ]
    elif end.resumption == "id":
        lines.append("    /* A server also needs mbedtls_ssl_conf_session_cache(). */")
    return lines


def _is_weak(end: End) -> bool:
    """True if the library refuses certificates of this length by default (library/x509_crt.c)."""
    is_short = end.curve == "secp192r1" or (end.rsa_bits or 2048) < 2048
    return end.credential == CERTIFICATE and is_short


def _profile(end: End) -> list[str]:
    if not _is_weak(end):
        return []
    if end.rsa_bits is None:
        allowed = "allowed_curves |= MBEDTLS_X509_ID_FLAG(MBEDTLS_ECP_DP_SECP192R1)"
    else:
        allowed = f"rsa_min_bitlen = {end.rsa_bits}"
    return [
        "    /* mbedTLS refuses certificates with such keys by default. */",
        "    profile = mbedtls_x509_crt_profile_default;",
        f"    profile.{allowed};",
        "    mbedtls_ssl_conf_cert_profile(conf, &profile);",
    ]


def _credentials(end: End) -> list[str]:
    if end.credential == PSK:
        identity = end.psk_identity or ""
        length = len(identity.encode())
        return [
            "    int ret = mbedtls_ssl_conf_psk(",
            "        conf, key, key_length,",
            f"        (const unsigned char *) {c_string(identity)}, {length});",
            "    if (ret != 0)",
            "        return ret;",
        ]
    if end.credential == CERTIFICATE:
        required = "mbedtls_ssl_conf_authmode(conf, MBEDTLS_SSL_VERIFY_REQUIRED);"
        own = "mbedtls_ssl_conf_own_cert(conf, certificate, key)"
        if end.auth == "server":
            return [
                "    /* Only the server has a certificate. */",
                "    if (mbedtls_ssl_conf_get_endpoint(conf) == MBEDTLS_SSL_IS_SERVER) {",
                f"        if ({own} != 0)",
                "            return -1;",
                "    } else {",
                "        mbedtls_ssl_conf_ca_chain(conf, authority, NULL);",
                f"        {required}",
                "    }",
            ]
        return [
            "    mbedtls_ssl_conf_ca_chain(conf, authority, NULL);",
            f"    {required}",
            *_checked(own),
        ]
    return []


def _session_parameters(end: End) -> str:
    parameters = ""
    if end.credential == PASSWORD:
        parameters += ", const unsigned char *password,\n            size_t password_length"
    if end.connection_id:
        parameters += f",\n            const unsigned char connection_id[{end.connection_id}]"
    if end.resumption is not None:
        parameters += ",\n            const mbedtls_ssl_session *earlier"
    return parameters


def _prepare(end: End) -> list[str]:
    lines: list[str] = []
    if end.mtu is not None:
        lines += [
            "    /* Octets of a datagram, without the headers of IP and UDP. */",
            f"    mbedtls_ssl_set_mtu(ssl, {end.mtu});",
        ]
    if end.credential == PASSWORD:
        lines += _checked("mbedtls_ssl_set_hs_ecjpake_password(ssl, password, password_length)")
    if end.connection_id is not None:
        own = "connection_id" if end.connection_id else "NULL"
        enabled = f"mbedtls_ssl_set_cid(ssl, MBEDTLS_SSL_CID_ENABLED, {own}, {end.connection_id})"
        lines += _checked(enabled)
    if end.resumption is not None:
        lines += [
            "    /* A client gives what mbedtls_ssl_get_session() has kept. */",
            "    if (earlier != NULL)",
            "        return mbedtls_ssl_set_session(ssl, earlier);",
        ]
    if not lines:
        return []
    signature = f"int prepare(mbedtls_ssl_context *ssl{_session_parameters(end)})"
    return ["", signature, "{", *lines, "    return 0;", "}"]


def _checked(call: str) -> list[str]:
    """A call whose result is not 0 after an error."""
    return [f"    if ({call} != 0)", "        return -1;"]
