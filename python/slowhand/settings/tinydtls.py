"""Eclipse tinyDTLS: a handler in C, and its timer, which is a constant in its source."""

from __future__ import annotations

from slowhand.settings import c_code
from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet, seconds

OFFER = Offer(
    "tinydtls",
    "0.8.6",
    "tinyDTLS",
    (Protocol.DTLS12,),
    (Credential.PSK, Credential.RAW_PUBLIC_KEY),
    fragment_lengths=False,
    no_mtu="tinyDTLS sends each message in a datagram of its own, and does not cut messages:"
    " {} octets are not a limit for it.",
)

OWN_MS = 2000
"""Its first timeout: `2 * CLOCK_SECOND` in dtls_send_multi() and dtls_send_alert() of dtls.c."""

DOUBLINGS = 7
"""DTLS_DEFAULT_MAX_RETRANSMIT in global.h: the timeout doubles with each."""


def snippets(session: Session) -> list[Snippet]:
    """The handler; the change of its source, if the timer is another one."""
    end, notes = nearest(session, OFFER)
    last = end.timer and end.timer.first_ms * 2**DOUBLINGS
    if end.timer and last and end.timer.maximum_ms < last:
        notes.append(
            f"The timer of tinyDTLS has no maximum: it doubles {DOUBLINGS} times, up to"
            f" {seconds(last)}."
        )
    title = f"tinyDTLS {OFFER.version}, both ends: the session of {session.scenario}."
    found = [OFFER.snippet("c", "configure.c", [title, *notes], _handler(end), notes=notes)]
    if end.timer and round(end.timer.first_ms) != OWN_MS:
        found.append(_timer(end.timer.first_ms, session.scenario))
    return found


def _timer(first_ms: float, scenario: str) -> Snippet:
    """A change of its source: no function and no macro sets the timer."""
    note = (
        "The first timeout of tinyDTLS is a constant in its source, 2 s. This makes it"
        f" {seconds(first_ms)}; run it in the folder of dtls.c, once, before you compile."
    )
    whole, rest = divmod(max(1, round(first_ms)), 1000)
    parts = [f"{whole} * CLOCK_SECOND"] if whole else []
    parts += [f"{rest} * CLOCK_SECOND / 1000"] if rest else []
    ticks = f"({' + '.join(parts)})"  # the two parts fit into 32 bits, milliseconds may not
    sentences = [f"tinyDTLS {OFFER.version}: the timer of {scenario}.", note]
    command = f"sed -i 's:2 \\* CLOCK_SECOND:{ticks}:' dtls.c"
    return OFFER.snippet("sh", "timer.sh", sentences, command, notes=[note])


def _handler(end: End) -> list[str]:
    define = "DTLS_PSK" if end.credential == Credential.PSK else "DTLS_ECC"
    return [
        "#include <string.h>",
        "",
        '#include "tinydtls.h"',
        "",
        '#include "alert.h"',
        '#include "dtls.h"',
        "",
        *c_code.defined([define], "compile tinyDTLS with"),
        "",
        *(_psk(end) if end.credential == Credential.PSK else _raw_public_key(end)),
        "",
        "/* The only suite that this end offers. */",
        "static void get_user_parameters(dtls_context_t *context, session_t *peer,",
        "                                dtls_user_parameters_t *parameters)",
        "{",
        "    (void) context;",
        "    (void) peer;",
        f"    parameters->cipher_suites[0] = {end.suite};",
        "    parameters->cipher_suites[1] = TLS_NULL_WITH_NULL_NULL;",
        "}",
        "",
        "/* `handler` also needs the functions that write and read. */",
        "void configure(dtls_context_t *context, dtls_handler_t *handler)",
        "{",
        "    handler->get_user_parameters = get_user_parameters;",
        *(f"    handler->{name} = {name};" for name in _callbacks(end)),
        "    dtls_set_handler(context, handler);",
        "}",
    ]


def _callbacks(end: End) -> tuple[str, ...]:
    return (
        ("get_psk_info",)
        if end.credential == Credential.PSK
        else ("get_ecdsa_key", "verify_ecdsa_key")
    )


def _psk(end: End) -> list[str]:
    return [
        *c_code.psk(end.psk_identity),
        "static int get_psk_info(dtls_context_t *context, const session_t *peer,",
        "                        dtls_credentials_type_t type,",
        "                        const unsigned char *description, size_t length,",
        "                        unsigned char *result, size_t room)",
        "{",
        "    const void *octets = NULL;",
        "    size_t count = 0;",
        "    (void) context;",
        "    (void) peer;",
        "    switch (type) {",
        "    case DTLS_PSK_IDENTITY:",
        "        octets = IDENTITY;",
        "        count = sizeof IDENTITY - 1;",
        "        break;",
        "    case DTLS_PSK_KEY:",
        "        if (length != sizeof IDENTITY - 1",
        "            || memcmp(description, IDENTITY, length) != 0)",
        "            return dtls_alert_fatal_create(DTLS_ALERT_DECRYPT_ERROR);",
        "        octets = psk;",
        "        count = psk_length;",
        "        break;",
        "    default: /* no hint */",
        "        return 0;",
        "    }",
        "    if (count > room)",
        "        return dtls_alert_fatal_create(DTLS_ALERT_INTERNAL_ERROR);",
        "    memcpy(result, octets, count);",
        "    return (int) count;",
        "}",
    ]


def _raw_public_key(end: End) -> list[str]:
    asks = (
        []
        if end.auth == "mutual"
        else ["/* Only the server proves itself: leave verify_ecdsa_key out there. */"]
    )
    return [
        "extern const dtls_ecdsa_key_t own_key; /* .curve = DTLS_ECDH_CURVE_SECP256R1 */",
        "extern const unsigned char peer_x[32], peer_y[32];",
        "",
        "static int get_ecdsa_key(dtls_context_t *context, const session_t *peer,",
        "                         const dtls_ecdsa_key_t **key)",
        "{",
        "    (void) context;",
        "    (void) peer;",
        "    *key = &own_key;",
        "    return 0;",
        "}",
        "",
        *asks,
        "static int verify_ecdsa_key(dtls_context_t *context, const session_t *peer,",
        "                            const unsigned char *x, const unsigned char *y,",
        "                            size_t length)",
        "{",
        "    (void) context;",
        "    (void) peer;",
        "    if (length != sizeof peer_x || memcmp(x, peer_x, length) != 0",
        "        || memcmp(y, peer_y, length) != 0)",
        "        return dtls_alert_fatal_create(DTLS_ALERT_BAD_CERTIFICATE);",
        "    return 0;",
        "}",
    ]
