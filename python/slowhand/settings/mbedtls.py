"""Mbed TLS: calls in C."""

from __future__ import annotations

from dataclasses import replace

from slowhand.settings import c_code, suites
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet, needed

LEAST_MTU = 192
"""Octets: a ClientHello of the longest that slowhand has sent. The library does not cut it."""

OFFER = Offer(
    "mbedtls",
    "3.6.5",
    "mbedTLS",
    (Protocol.DTLS12, Protocol.TLS12, Protocol.TLS13),
    (Credential.PSK, Credential.CERTIFICATE, Credential.PASSWORD),
    connection_ids=32,  # MBEDTLS_SSL_CID_IN_LEN_MAX, include/mbedtls/mbedtls_config.h
    resumptions=("id", "ticket"),
)


def snippets(session: Session) -> list[Snippet]:
    """The calls of both ends."""
    end, notes = nearest(session, OFFER)
    if end.mtu is not None and end.mtu < LEAST_MTU:
        notes.append(f"mbedTLS does not cut a ClientHello, which may have {LEAST_MTU} octets.")
        end = replace(end, mtu=LEAST_MTU)
    calls = _prepare(end)
    order = "configure() comes after mbedtls_ssl_config_defaults()"
    order += ", prepare() after mbedtls_ssl_setup()." if calls else "."
    title = f"mbedTLS {OFFER.version}, both ends: the session of {session.scenario}."
    made = OFFER.snippet(
        "c",
        "configure.c",
        [title, *notes, order],
        "#include <mbedtls/ssl.h>",
        *(["#include <mbedtls/ssl_cookie.h>"] if _has_cookie(end) else []),
        "",
        _required(end),
        f"static const int SUITES[] = {{{constant(end.suite)}, 0}};",
        *_group(end),
        *(["static mbedtls_x509_crt_profile profile;"] if _is_weak(end) else []),
        "",
        c_code.function("configure", _parameters(end), _configure(end), 0),
        calls,
        notes=notes,
    )
    return [made]


def constant(suite: str) -> str:
    """The name of a suite in include/mbedtls/ssl_ciphersuites.h."""
    is_13 = suites.SUITES[suite].is_13
    return "MBEDTLS_" + (suite.replace("TLS_", "TLS1_3_", 1) if is_13 else suite)


def _has_cookie(end: End) -> bool:
    """True if the server asks for a cookie: one of this library does, unless it is told not to."""
    return end.protocol == Protocol.DTLS12 and end.cookie is not False


def _required(end: End) -> list[str]:
    """A check of the options in mbedtls_config.h. All are in that file of Mbed TLS 3.6.5."""
    options = {
        "MBEDTLS_SSL_PROTO_TLS1_3": end.is_13,
        "MBEDTLS_SSL_PROTO_TLS1_2": not end.is_13,
        "MBEDTLS_SSL_PROTO_DTLS": not end.is_stream,
        f"MBEDTLS_KEY_EXCHANGE_{end.parts.exchange}_ENABLED": not end.is_13,
        "MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED": end.is_13,
        "MBEDTLS_CCM_C": end.parts.is_mode("CCM"),
        "MBEDTLS_GCM_C": end.parts.is_mode("GCM"),
        "MBEDTLS_SSL_MAX_FRAGMENT_LENGTH": end.max_fragment_length is not None,
        "MBEDTLS_SSL_DTLS_CONNECTION_ID": end.connection_id is not None,
        "MBEDTLS_SSL_DTLS_HELLO_VERIFY": _has_cookie(end),
        "MBEDTLS_SSL_COOKIE_C": _has_cookie(end),
        "MBEDTLS_SSL_SESSION_TICKETS": end.resumption == "ticket",
    }
    return ["/* In mbedtls_config.h. */", *c_code.defined(needed(options)), ""]


def _group(end: End) -> list[str]:
    if end.curve is None:
        return []
    group = f"MBEDTLS_SSL_IANA_TLS_GROUP_{end.curve.upper()}"
    return [f"static const uint16_t GROUPS[] = {{{group}, 0}};"]


def _parameters(end: End) -> list[str]:
    cookies = ["mbedtls_ssl_cookie_ctx *cookies"] if _has_cookie(end) else []
    if end.credential == Credential.PSK:
        return ["mbedtls_ssl_config *conf, const unsigned char *key, size_t key_length", *cookies]
    if end.credential == Credential.CERTIFICATE:
        own = "mbedtls_x509_crt *certificate, mbedtls_pk_context *key"
        return ["mbedtls_ssl_config *conf", "mbedtls_x509_crt *authority", own, *cookies]
    return ["mbedtls_ssl_config *conf", *cookies]


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
        first, maximum = end.timer.whole_ms
        lines += [
            c_code.TIMEOUTS,
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
    return end.credential == Credential.CERTIFICATE and is_short


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
    if end.credential == Credential.PSK:
        identity = end.psk_identity or ""
        length = len(identity.encode())
        return [
            "    int ret = mbedtls_ssl_conf_psk(",
            "        conf, key, key_length,",
            f"        (const unsigned char *) {c_code.string(identity)}, {length});",
            "    if (ret != 0)",
            "        return ret;",
        ]
    if end.credential == Credential.CERTIFICATE:
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


def _prepare(end: End) -> list[str]:
    parameters, lines = ["mbedtls_ssl_context *ssl"], []
    if end.mtu is not None:
        lines += [c_code.DATAGRAM, f"    mbedtls_ssl_set_mtu(ssl, {end.mtu});"]
    if end.credential == Credential.PASSWORD:
        parameters = [f"{parameters[0]}, const unsigned char *password", "size_t password_length"]
        lines += _checked("mbedtls_ssl_set_hs_ecjpake_password(ssl, password, password_length)")
    if end.connection_id is not None:
        own = "connection_id" if end.connection_id else "NULL"
        enabled = f"mbedtls_ssl_set_cid(ssl, MBEDTLS_SSL_CID_ENABLED, {own}, {end.connection_id})"
        lines += _checked(enabled)
    if end.connection_id:
        parameters.append(f"const unsigned char connection_id[{end.connection_id}]")
    if end.resumption is not None:
        parameters.append("const mbedtls_ssl_session *earlier")
        lines += [
            "    /* A client gives what mbedtls_ssl_get_session() has kept. */",
            "    if (earlier != NULL)",
            "        return mbedtls_ssl_set_session(ssl, earlier);",
        ]
    return c_code.prepare(parameters, lines, 0)


def _checked(call: str) -> list[str]:
    """A call whose result is not 0 after an error."""
    return [f"    if ({call} != 0)", "        return -1;"]
