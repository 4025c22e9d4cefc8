"""Contiki-NG: its CoAP over its mbedTLS."""

from __future__ import annotations

from slowhand.settings import c_code
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet

MACROS = (
    # os/net/app-layer/coap/mbedtls-support/dtls-support-config.h of Contiki-NG 5.0
    "COAP_MBEDTLS_CONF_HANDSHAKE_MIN_TIMEOUT_MS",
    "COAP_MBEDTLS_CONF_HANDSHAKE_MAX_TIMEOUT_MS",
    "COAP_MBEDTLS_CONF_MAX_FRAG_LEN",
    "COAP_MBEDTLS_CONF_MTU",
    "COAP_MBEDTLS_CONF_USE_ALL_CIPHERSUITES",
    # os/net/app-layer/coap/mbedtls-support/mbedtls-support.c
    "CSPRNG_CONF_ENABLED",
    # examples/lwm2m-ipso-objects/project-conf-dtls.h, os/net/app-layer/coap/coap-keystore-simple.h
    "COAP_DTLS_PSK_DEFAULT_IDENTITY",
    "COAP_DTLS_PSK_DEFAULT_KEY",
    "COAP_DTLS_TEST_CA_CERT",
    "COAP_DTLS_TEST_OWN_CERT",
    "COAP_DTLS_TEST_PRIV_KEY",
)
"""The macros that a snippet may define or name."""

VARIABLES = (
    # os/net/app-layer/coap/Makefile.coap of Contiki-NG 5.0
    "MAKE_WITH_DTLS",
    "MAKE_COAP_DTLS_WITH_CLIENT",
    "MAKE_COAP_DTLS_WITH_PSK",
    "MAKE_COAP_DTLS_WITH_CERT",
    "MAKE_COAP_DTLS_KEYSTORE",
    "MAKE_COAP_DTLS_KEYSTORE_SIMPLE",
)
"""The variables of make that a snippet may have."""

FIXED: dict[str, str] = {
    # setup_session() in mbedtls-support.c. dtls-support-config.h says AES_128 of the first.
    Credential.PSK: "TLS_PSK_WITH_AES_256_CCM_8",
    Credential.CERTIFICATE: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
}
"""The only suite that a session offers, unless it offers all."""

OFFER = Offer(
    "contiki-ng", "5.0", "Contiki-NG", (Protocol.DTLS12,), (Credential.PSK, Credential.CERTIFICATE)
)


def snippets(session: Session) -> list[Snippet]:
    """The macros of project-conf.h, and the variables of the Makefile."""
    end, notes = nearest(session, OFFER)
    offers_all = end.suite != FIXED[end.credential]
    if offers_all:
        notes.append(
            f"Contiki-NG offers {FIXED[end.credential]} alone, or all of its suites: then the"
            f" server has to choose {end.suite}."
        )
    if end.credential == Credential.CERTIFICATE and end.auth == "server":
        notes.append("A client of Contiki-NG needs a certificate too.")
    title = f"Contiki-NG {OFFER.version}: the session of {session.scenario}."
    macros = _macros(end, offers_all)
    return [
        OFFER.snippet("c", "project-conf.h", [title, *notes], macros, notes=notes),
        OFFER.snippet("make", "Makefile", [title], _variables(end)),
    ]


def _macros(end: End, offers_all: bool) -> list[str]:
    lines = ["/* The random numbers of a DTLS session. */", "#define CSPRNG_CONF_ENABLED 1"]
    if end.timer:
        first, maximum = end.timer.whole_ms
        lines += [
            c_code.TIMEOUTS.strip(),
            f"#define COAP_MBEDTLS_CONF_HANDSHAKE_MIN_TIMEOUT_MS {first}",
            f"#define COAP_MBEDTLS_CONF_HANDSHAKE_MAX_TIMEOUT_MS {maximum}",
        ]
    if end.mtu is not None:
        lines += [
            "/* Octets of a datagram, without the headers of IP and UDP. */",
            f"#define COAP_MBEDTLS_CONF_MTU {end.mtu}",
        ]
    if end.max_fragment_length is not None:
        code = end.max_fragment_length.bit_length() - 9  # 512 octets are 1
        lines += [
            f"/* {end.max_fragment_length} octets. */",
            f"#define COAP_MBEDTLS_CONF_MAX_FRAG_LEN {code}",
        ]
    if offers_all:
        lines.append("#define COAP_MBEDTLS_CONF_USE_ALL_CIPHERSUITES")
    if end.credential == Credential.PSK:
        return [
            *lines,
            f"#define COAP_DTLS_PSK_DEFAULT_IDENTITY {c_code.string(end.psk_identity or '')}",
            "/* Also COAP_DTLS_PSK_DEFAULT_KEY, the key as a string. */",
        ]
    return [
        *lines,
        "/* Also, as PEM: COAP_DTLS_TEST_CA_CERT, COAP_DTLS_TEST_OWN_CERT,",
        "   COAP_DTLS_TEST_PRIV_KEY. */",
    ]


def _variables(end: End) -> list[str]:
    kind = "PSK" if end.credential == Credential.PSK else "CERT"
    return [
        "MAKE_WITH_DTLS = 1",
        "MAKE_COAP_DTLS_WITH_CLIENT = 1",
        f"MAKE_COAP_DTLS_WITH_{kind} = 1",
        "MAKE_COAP_DTLS_KEYSTORE = MAKE_COAP_DTLS_KEYSTORE_SIMPLE",
    ]
