/* The capabilities of the library as it is compiled: with user_settings.h, or with that and a header of the user. */
#include "library.h"

#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/internal.h>
#include <wolfssl/version.h>

#include <limits.h>

#if LIBWOLFSSL_VERSION_HEX < 0x05009000 || LIBWOLFSSL_VERSION_HEX >= 0x0500A000
#error "slowhand has an adapter to wolfSSL 5.9, not to other versions"
#endif

/* TLS NamedGroup (RFC 8422 section 5.1.1). */
#define SECP256R1 23
#define BY_ID (1u << SLOWHAND_RESUMPTION_ID)
#ifdef HAVE_SESSION_TICKET
#define BY_TICKET (1u << SLOWHAND_RESUMPTION_TICKET)
#else
#define BY_TICKET 0u
#endif
#ifdef HAVE_MAX_FRAGMENT
#define LENGTHS FRAGMENT_LENGTHS
#else
#define LENGTHS NULL
#endif
#ifdef HAVE_ECC
#define GROUPS CURVES
#else
#define GROUPS NULL
#endif
#ifdef WOLFSSL_DTLS_CID
#define CONNECTION_ID DTLS_CID_MAX_SIZE
#else
#define CONNECTION_ID (-1)
#endif
#ifdef WOLFSSL_TLS13
#define PSK_MODES (1u << SLOWHAND_PSK_KE | 1u << SLOWHAND_PSK_DHE_KE)
#else
#define PSK_MODES 0u
#endif
#define S UINT64_C(1000000000)

extern const struct slowhand_library wolfssl_library;

#ifdef HAVE_ECC
static const uint16_t CURVES[] = {SECP256R1, 0};
#endif
#ifdef HAVE_MAX_FRAGMENT
static const uint16_t FRAGMENT_LENGTHS[] = {512, 1024, 2048, 4096, 0};
#endif

static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, BY_ID | BY_TICKET, GROUPS, LENGTHS},
#ifdef WOLFSSL_DTLS13
    {SLOWHAND_DTLS13, BY_TICKET, GROUPS, LENGTHS},
#endif
    {SLOWHAND_TLS12, BY_ID | BY_TICKET, GROUPS, LENGTHS},
#ifdef WOLFSSL_TLS13
    {SLOWHAND_TLS13, BY_TICKET, GROUPS, LENGTHS},
#endif
    {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL},
};

/* Measured, with a cookie, connection IDs of 32 octets, an identity of 32 and a maximum fragment length: 190 octets in DTLS 1.2, 250 in
 * DTLS 1.3. */
static const struct slowhand_credential CREDENTIALS[] = {
#ifndef NO_PSK
    {SLOWHAND_PSK, 256},
#endif
#if !defined(NO_CERTS) && defined(HAVE_ECC)
    {SLOWHAND_CERTIFICATE, 256},
#endif
#if defined(HAVE_RPK) && defined(HAVE_ECC)
    {SLOWHAND_RAW_PUBLIC_KEY, 256},
#endif
    {SLOWHAND_NO_CREDENTIAL, 0},
};

/* In the order of `InitSuites` of internal.c. */
static const uint16_t SUITES[] = {
#if defined(BUILD_TLS_AES_128_GCM_SHA256)
    0x1301, /* TLS_AES_128_GCM_SHA256 */
#endif
#if defined(BUILD_TLS_AES_256_GCM_SHA384)
    0x1302, /* TLS_AES_256_GCM_SHA384 */
#endif
#if defined(BUILD_TLS_AES_128_CCM_SHA256)
    0x1304, /* TLS_AES_128_CCM_SHA256 */
#endif
#if defined(BUILD_TLS_AES_128_CCM_8_SHA256)
    0x1305, /* TLS_AES_128_CCM_8_SHA256 */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384)
    0xC02C, /* TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)
    0xC02B, /* TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_256_GCM_SHA384)
    0x00A9, /* TLS_PSK_WITH_AES_256_GCM_SHA384 */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_128_GCM_SHA256)
    0x00A8, /* TLS_PSK_WITH_AES_128_GCM_SHA256 */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256)
    0xC023, /* TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA)
    0xC009, /* TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_128_CCM)
    0xC0AC, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
    0xC0AE, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 */
#endif
#if defined(BUILD_TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8)
    0xC0AF, /* TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 */
#endif
#if defined(BUILD_TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256)
    0xD001, /* TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 */
#endif
#if defined(BUILD_TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256)
    0xC037, /* TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_128_CCM)
    0xC0A4, /* TLS_PSK_WITH_AES_128_CCM */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_256_CCM)
    0xC0A5, /* TLS_PSK_WITH_AES_256_CCM */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_128_CCM_8)
    0xC0A8, /* TLS_PSK_WITH_AES_128_CCM_8 */
#endif
#if defined(BUILD_TLS_PSK_WITH_AES_256_CCM_8)
    0xC0A9, /* TLS_PSK_WITH_AES_256_CCM_8 */
#endif
    0,
};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "GPL-3.0-or-later",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .rsa_bits = NULL,
    .minimum_mtu_reason = "the library does not cut each ClientHello; one with a ticket may need 480",
    .fragments = 1,
    .without_cookie = 0, /* a server of DTLS 1.2 always sends a HelloVerifyRequest */
    .identity_with_nul = 0, /* its callbacks for pre-shared keys take C strings */
    .connection_id = CONNECTION_ID,
    .longest_psk = MAX_PSK_KEY_LEN,
    .psk_modes = PSK_MODES,
    /* `DTLS_TIMEOUT_INIT` and `DTLS_TIMEOUT_MAX` of internal.h. session.c counts milliseconds in an `int`, which is doubled. */
    .first_timeout_ns = DTLS_TIMEOUT_INIT * S,
    .maximum_timeout_ns = DTLS_TIMEOUT_MAX * S,
    .least_timeout_ns = S / 1000,
    .most_timeout_ns = INT_MAX / 2 / 1000 * S,
    /* `DoDtlsHandShakeMsg` of internal.c, without WOLFSSL_DTLS_RESEND_ONLY_TIMEOUT, and `DTLS13_MIN_RTX_INTERVAL` of dtls13.c. */
    .remark = "one record a datagram; in DTLS 1.2 an old message of the peer repeats the flight, in DTLS 1.3 a repetition less than 1 s after the "
              "last one is left out, but doubles the timer",
};

SLOWHAND_STACK(CAPABILITIES, wolfssl_library);
