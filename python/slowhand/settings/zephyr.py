"""Zephyr's sockets over its mbedTLS: Kconfig, and socket options."""

from __future__ import annotations

from slowhand.settings import c_code, mbedtls
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet, needed

KCONFIG = {
    # subsys/net/lib/sockets/Kconfig of Zephyr at 477c411bda2b
    "NET_SOCKETS": "bool",
    "NET_SOCKETS_SOCKOPT_TLS": "bool",
    "NET_SOCKETS_ENABLE_DTLS": "bool",
    "NET_SOCKETS_TLS_SET_MAX_FRAGMENT_LENGTH": "bool",
    "NET_SOCKETS_DTLS_MAX_FRAGMENT_LENGTH": "int",
    # named in the help of the one before the last
    "MBEDTLS_SSL_MAX_CONTENT_LEN": "int",
    # modules/mbedtls/Kconfig.mbedtls of Zephyr at 6c75315c8613
    "MBEDTLS_TLS_VERSION_1_2": "bool",
    "MBEDTLS_TLS_VERSION_1_3": "bool",
    "MBEDTLS_TLS_SESSION_TICKETS": "bool",
    "MBEDTLS_KEY_EXCHANGE_PSK_ENABLED": "bool",
    "MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED": "bool",
    "MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED": "bool",
    "MBEDTLS_KEY_EXCHANGE_RSA_ENABLED": "bool",
    "MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED": "bool",
    "MBEDTLS_RSA_C": "bool",
    "MBEDTLS_PKCS1_V15": "bool",
    "MBEDTLS_ECP_C": "bool",
    "MBEDTLS_ECDH_C": "bool",
    "MBEDTLS_ECDSA_C": "bool",
    "MBEDTLS_ECP_DP_SECP192R1_ENABLED": "bool",
    "MBEDTLS_ECP_DP_SECP256R1_ENABLED": "bool",
    "MBEDTLS_CIPHER_AES_ENABLED": "bool",
    "MBEDTLS_CIPHER_CCM_ENABLED": "bool",
    "MBEDTLS_CIPHER_GCM_ENABLED": "bool",
    "MBEDTLS_CIPHER_MODE_CBC_ENABLED": "bool",
    "MBEDTLS_SHA1": "bool",
    "MBEDTLS_SHA256": "bool",
    "MBEDTLS_SHA384": "bool",
    "MBEDTLS_SSL_DTLS_CONNECTION_ID": "bool",
}
"""The symbols that a snippet may have, and their types."""

OPTIONS = (
    # include/zephyr/net/socket.h of Zephyr at 009983961bc2
    "SOL_TLS",
    "TLS_SEC_TAG_LIST",
    "TLS_CIPHERSUITE_LIST",
    "TLS_DTLS_HANDSHAKE_TIMEOUT_MIN",
    "TLS_DTLS_HANDSHAKE_TIMEOUT_MAX",
    "TLS_SESSION_CACHE",
    "TLS_SESSION_CACHE_ENABLED",
    "TLS_DTLS_CID",
    "TLS_DTLS_CID_ENABLED",
    "TLS_DTLS_CID_SUPPORTED",
    "TLS_DTLS_CID_VALUE",
)
"""The names of that header that a snippet may have, beside zsock_setsockopt()."""

OFFER = Offer(
    "zephyr",
    "main at 477c411b",
    "A socket of Zephyr",
    (Protocol.DTLS12, Protocol.TLS12, Protocol.TLS13),
    (Credential.PSK, Credential.CERTIFICATE),
    connection_ids=32,  # as mbedTLS
    resumptions=("id", "ticket"),
    no_mtu="A socket of Zephyr does not set the length of its datagrams"
    " ({} octets in the scenario).",
)


def snippets(session: Session) -> list[Snippet]:
    """The lines of prj.conf, and the options of a socket."""
    end, notes = nearest(session, OFFER)
    if end.resumption == "ticket" and not end.is_13:
        notes.append(
            "Tickets of version 1.2 need MBEDTLS_SSL_SESSION_TICKETS in the file of"
            " CONFIG_MBEDTLS_USER_CONFIG_FILE."
        )
    title = f"Zephyr {OFFER.version}, its own mbedTLS: the session of {session.scenario}."
    return [
        OFFER.snippet("kconfig", "prj.conf", [title, *notes], _kconfig(end), notes=notes),
        OFFER.snippet("c", "configure.c", [title, *notes], _sockets(end), notes=notes),
    ]


def _kconfig(end: End) -> list[str]:
    has_curve = end.is_13 or end.parts.is_ephemeral
    symbols = {
        "NET_SOCKETS": True,
        "NET_SOCKETS_SOCKOPT_TLS": True,
        "NET_SOCKETS_ENABLE_DTLS": not end.is_stream,
        "MBEDTLS_TLS_VERSION_1_2": not end.is_13,
        "MBEDTLS_TLS_VERSION_1_3": end.is_13,
        "MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED": end.is_13,
        "MBEDTLS_TLS_SESSION_TICKETS": end.is_13 and end.resumption == "ticket",
        "MBEDTLS_ECP_C": has_curve,
        f"MBEDTLS_ECP_DP_{(end.curve or 'secp256r1').upper()}_ENABLED": has_curve,
        "MBEDTLS_ECDH_C": has_curve,
        "MBEDTLS_ECDSA_C": has_curve and not end.has_rsa,
        "MBEDTLS_RSA_C": end.has_rsa,
        "MBEDTLS_PKCS1_V15": end.has_rsa,
        f"MBEDTLS_KEY_EXCHANGE_{end.parts.exchange}_ENABLED": not end.is_13,
        "MBEDTLS_CIPHER_AES_ENABLED": True,
        "MBEDTLS_CIPHER_CCM_ENABLED": end.parts.is_mode("CCM"),
        "MBEDTLS_CIPHER_GCM_ENABLED": end.parts.is_mode("GCM"),
        "MBEDTLS_CIPHER_MODE_CBC_ENABLED": end.parts.is_mode("CBC"),
        "MBEDTLS_SHA256": True,
        "MBEDTLS_SHA384": end.parts.digest == "SHA384",
        "MBEDTLS_SHA1": end.parts.digest == "SHA",
        "MBEDTLS_SSL_DTLS_CONNECTION_ID": end.connection_id is not None,
    }
    lines = [f"CONFIG_{symbol}=y" for symbol in needed(symbols)]
    asks = "CONFIG_NET_SOCKETS_TLS_SET_MAX_FRAGMENT_LENGTH"
    if end.max_fragment_length is None:
        return [*lines, "# No max_fragment_length (RFC 6066); the default is to ask.", f"{asks}=n"]
    lines.append(f"{asks}=y")
    if not end.is_stream:
        length = f"CONFIG_NET_SOCKETS_DTLS_MAX_FRAGMENT_LENGTH={end.max_fragment_length}"
        return [*lines, length]
    return [*lines, f"CONFIG_MBEDTLS_SSL_MAX_CONTENT_LEN={end.max_fragment_length}"]


def _sockets(end: End) -> list[str]:
    lines = ["#include <mbedtls/ssl_ciphersuites.h>", "#include <zephyr/net/socket.h>", ""]
    values = "" if not end.connection_id else f", uint8_t connection_id[{end.connection_id}]"
    key = "key and identity" if end.credential == Credential.PSK else "certificates and private key"
    lines += [
        f"/* `tag` is that of tls_credential_add(), with the {key}. */",
        f"int configure(int socket, int tag{values})",
        "{",
        f"    int suites[] = {{{mbedtls.constant(end.suite)}}};",
        "",
        "    if (zsock_setsockopt(socket, SOL_TLS, TLS_SEC_TAG_LIST,",
        "                         &tag, sizeof tag) != 0",
        "        || zsock_setsockopt(socket, SOL_TLS, TLS_CIPHERSUITE_LIST,",
        "                            suites, sizeof suites) != 0)",
        "        return -1;",
    ]
    if end.timer:
        first, maximum = end.timer.whole_ms
        lines += [
            c_code.TIMEOUTS,
            f"    uint32_t first = {first}, maximum = {maximum};",
            *_option("TLS_DTLS_HANDSHAKE_TIMEOUT_MIN", "&first", "sizeof first"),
            *_option("TLS_DTLS_HANDSHAKE_TIMEOUT_MAX", "&maximum", "sizeof maximum"),
        ]
    if end.connection_id is not None:
        mode = "TLS_DTLS_CID_ENABLED" if end.connection_id else "TLS_DTLS_CID_SUPPORTED"
        lines += [
            f"    int mode = {mode};",
            *_option("TLS_DTLS_CID", "&mode", "sizeof mode"),
        ]
    if end.connection_id:
        lines += _option("TLS_DTLS_CID_VALUE", "connection_id", str(end.connection_id))
    if end.resumption is not None:
        lines += [
            "    int cache = TLS_SESSION_CACHE_ENABLED;",
            *_option("TLS_SESSION_CACHE", "&cache", "sizeof cache"),
        ]
    return [*lines, "    return 0;", "}"]


def _option(name: str, value: str, length: str) -> list[str]:
    return [
        f"    if (zsock_setsockopt(socket, SOL_TLS, {name},",
        f"                         {value}, {length}) != 0)",
        "        return -1;",
    ]
