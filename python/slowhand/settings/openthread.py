"""OpenThread: its secure CoAP over its mbedTLS."""

from __future__ import annotations

from slowhand.settings import c_code
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet, seconds

MACROS = (
    # src/core/config/coap.h, src/core/config/secure_transport.h of OpenThread at c182933979d7
    "OPENTHREAD_CONFIG_COAP_API_ENABLE",
    "OPENTHREAD_CONFIG_COAP_SECURE_API_ENABLE",
    "OPENTHREAD_CONFIG_JOINER_ENABLE",
    "OPENTHREAD_CONFIG_COMMISSIONER_ENABLE",
)
"""The macros that a snippet may define."""

FUNCTIONS = (
    # include/openthread/coap_secure.h of OpenThread at 47bdaab81095
    "void otCoapSecureSetPsk(otInstance *, const uint8_t *, uint16_t, const uint8_t *, uint16_t)",
    "void otCoapSecureSetCertificate(otInstance *, const uint8_t *, uint32_t, const uint8_t *,"
    " uint32_t)",
    "void otCoapSecureSetCaCertificateChain(otInstance *, const uint8_t *, uint32_t)",
    "void otCoapSecureSetSslAuthMode(otInstance *, bool)",
)
"""The functions that a snippet may call."""

OWN_MS = (8000, 60000)
"""Its timeouts: mbedtls_ssl_conf_handshake_timeout() in src/core/meshcop/secure_transport.cpp."""

OFFER = Offer(
    "openthread",
    "main at 47bdaab8",
    "OpenThread",
    (Protocol.DTLS12,),
    (Credential.PSK, Credential.CERTIFICATE, Credential.PASSWORD),
    fragment_lengths=False,
    no_mtu="OpenThread sets no limit for its datagrams ({} octets in the scenario).",
)


def snippets(session: Session) -> list[Snippet]:
    """The header of the configuration, the calls, and the change of its timer."""
    end, notes = nearest(session, OFFER)
    title = f"OpenThread {OFFER.version}: the session of {session.scenario}."
    file = "openthread-core-project-config.h"
    sentences = [title, "Name this file in OPENTHREAD_PROJECT_CORE_CONFIG_FILE.", *notes]
    macros = [f"#define {macro} 1" for macro in _macros(end)]
    found = [OFFER.snippet("c", file, sentences, macros, notes=notes)]
    if end.credential != Credential.PASSWORD:
        made = OFFER.snippet("c", "configure.c", [title, *notes], _calls(end), notes=notes)
        found.append(made)
    if end.timer and end.timer.whole_ms != OWN_MS:
        found.append(_change(end.timer.whole_ms, session.scenario))
    return found


def _macros(end: End) -> list[str]:
    if end.credential == Credential.PASSWORD:  # commissioning
        return ["OPENTHREAD_CONFIG_JOINER_ENABLE"]
    return ["OPENTHREAD_CONFIG_COAP_API_ENABLE", "OPENTHREAD_CONFIG_COAP_SECURE_API_ENABLE"]


def _change(new: tuple[int, int], scenario: str) -> Snippet:
    """A change of its source: no macro and no function sets the timer."""
    old = OWN_MS
    note = (
        f"The timer of OpenThread is a constant in its source, {seconds(old[0])} to"
        f" {seconds(old[1])}. This makes it {seconds(new[0])} to {seconds(new[1])}; run it at the"
        " top of its sources, before you compile."
    )
    call = f"(\\&mConf, {new[0]}, {new[1]})"
    return OFFER.snippet(
        "sh",
        "timer.sh",
        [f"OpenThread {OFFER.version}: the timer of {scenario}.", note],
        f"sed -i 's/(&mConf, {old[0]}, {old[1]})/{call}/' \\",
        "    src/core/meshcop/secure_transport.cpp",
        notes=[note],
    )


def _calls(end: End) -> list[str]:
    lines = ["#include <string.h>", "", "#include <openthread/coap_secure.h>", ""]
    if end.credential == Credential.PSK:
        identity = end.psk_identity or ""
        length = len(identity.encode())
        return [
            *lines,
            "/* Before otCoapSecureStart(). The suite follows from the key. */",
            "void configure(otInstance *instance, const uint8_t *key, uint16_t length)",
            "{",
            "    otCoapSecureSetPsk(instance, key, length,",
            f"                       (const uint8_t *) {c_code.string(identity)}, {length});",
            "}",
        ]
    return [
        *lines,
        "/* Before otCoapSecureStart(). All as PEM; the suite follows from them. */",
        "void configure(otInstance *instance, const char *authority,",
        "               const char *certificate, const char *key)",
        "{",
        "    otCoapSecureSetSslAuthMode(instance, true);",
        "    otCoapSecureSetCaCertificateChain(instance, (const uint8_t *) authority,",
        "                                      (uint32_t) strlen(authority) + 1);",
        "    otCoapSecureSetCertificate(instance, (const uint8_t *) certificate,",
        "                               (uint32_t) strlen(certificate) + 1,",
        "                               (const uint8_t *) key,",
        "                               (uint32_t) strlen(key) + 1);",
        "}",
    ]
