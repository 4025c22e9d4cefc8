/* The capabilities of the library here. */
#include "library.h"

#define SECP256R1 23 /* TLS NamedGroup (RFC 8422 section 5.1.1) */
#define BY_ID (1u << SLOWHAND_RESUMPTION_ID)
#define BY_TICKET (1u << SLOWHAND_RESUMPTION_TICKET)
#define S UINT64_C(1000000000)

extern const struct slowhand_library boringssl_library;

/* It also has curves that no device here has a time for. */
static const uint16_t CURVES[] = {SECP256R1, 0};

static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, BY_ID | BY_TICKET, CURVES, nullptr},
    {SLOWHAND_DTLS13, BY_TICKET, CURVES, nullptr},
    {SLOWHAND_TLS12, BY_ID | BY_TICKET, CURVES, nullptr},
    {SLOWHAND_TLS13, BY_TICKET, CURVES, nullptr},
    {SLOWHAND_NO_PROTOCOL, 0, nullptr, nullptr},
};

/* `kMinMTU` in ssl/d1_both.cc: 256, minus 28 for the headers of IPv4 and UDP. */
static const struct slowhand_credential CREDENTIALS[] = {
    {SLOWHAND_CERTIFICATE, 228},
    {SLOWHAND_RAW_PUBLIC_KEY, 228},
    {SLOWHAND_PSK, 228},
    {SLOWHAND_NO_CREDENTIAL, 0},
};

/* `AESCiphers` and the list of version 1.3 in ssl/ssl_cipher.cc. Its suites with a pre-shared key in version 1.2 have AES in mode CBC or
 * ChaCha20-Poly1305. */
static const uint16_t SUITES[] = {
    0x1301, /* TLS_AES_128_GCM_SHA256 */
    0x1302, /* TLS_AES_256_GCM_SHA384 */
    0xC02B, /* TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 */
    0xC02C, /* TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 */
    0,
};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "Apache-2.0",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .minimum_mtu_reason = "the library assumes a path MTU of at least 256 octets, including the headers of IPv4 and UDP",
    .fragments = 1,
    .without_cookie = 1,
    .cookieless = 1,
    .identity_with_nul = 1,
    .connection_id = -1,
    .longest_psk = 512, /* *assumed*: the library has no limit */
    .psk_modes = 1u << SLOWHAND_PSK_DHE_KE,
    .imports_psk = 1,
    /* `initial_timeout_duration_ms` in ssl/internal.h, and `dtls1_flush` in ssl/d1_both.cc. The timer counts whole milliseconds, and
     * what is left of less than 15 ms has passed (`MicrosecondsRemaining` in ssl/d1_lib.cc). */
    .first_timeout_ns = 400 * (S / 1000),
    .maximum_timeout_ns = 60 * S,
    .least_timeout_ns = 16 * (S / 1000),
    .most_timeout_ns = 60 * S,
};

SLOWHAND_STACK(CAPABILITIES, boringssl_library);
