/* The capabilities of the library. In WebAssembly it is not there, because the module would be twice as large: its table is NULL. */
#include "library.h"

/* TLS NamedGroups (RFC 8422 section 5.1.1). */
#define SECP192R1 19
#define SECP256R1 23
#define S UINT64_C(1000000000)

/* TLS 1.3 has no secp192r1 (RFC 8446 section 4.2.7). */
static const uint16_t CURVES[] = {SECP192R1, SECP256R1, 0}, CURVES13[] = {SECP256R1, 0};
static const uint16_t FRAGMENT_LENGTHS[] = {512, 1024, 2048, 4096, 0};
/* Of the certificates here. */
static const uint16_t RSA_BITS[] = {1024, 2048, 3072, 0};

static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, 0, CURVES, FRAGMENT_LENGTHS},
    {SLOWHAND_TLS12, 0, CURVES, FRAGMENT_LENGTHS},
    {SLOWHAND_TLS13, 0, CURVES13, FRAGMENT_LENGTHS},
    {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL},
};

/* `g_probable_mtu` in `d1_lib.c`: 256, minus 48 for the headers of IPv6 and UDP. */
static const struct slowhand_credential CREDENTIALS[] = {
    {SLOWHAND_PSK, 208},
    {SLOWHAND_CERTIFICATE, 208},
    {SLOWHAND_NO_CREDENTIAL, 0},
};

/* As `openssl ciphers ALL:@SECLEVEL=0` prints them. The CCM suites of TLS 1.3 come after the suites that it prints: the library uses
 * them only if an application names them. */
static const uint16_t SUITES[] = {
    0x1302, /* TLS_AES_256_GCM_SHA384 */
    0x1301, /* TLS_AES_128_GCM_SHA256 */
    0x1304, /* TLS_AES_128_CCM_SHA256 */
    0x1305, /* TLS_AES_128_CCM_8_SHA256 */
    0xC02C, /* TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 */
    0xC0AF, /* TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 */
    0xC0AD, /* TLS_ECDHE_ECDSA_WITH_AES_256_CCM */
    0xC02B, /* TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 */
    0xC02F, /* TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 */
    0xC0AE, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 */
    0xC0AC, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM */
    0xC023, /* TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 */
    0xC027, /* TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 */
    0xC009, /* TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA */
    0xC013, /* TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA */
    0x00A9, /* TLS_PSK_WITH_AES_256_GCM_SHA384 */
    0xC0A9, /* TLS_PSK_WITH_AES_256_CCM_8 */
    0xC0A5, /* TLS_PSK_WITH_AES_256_CCM */
    0x009C, /* TLS_RSA_WITH_AES_128_GCM_SHA256 */
    0x00A8, /* TLS_PSK_WITH_AES_128_GCM_SHA256 */
    0xC0A8, /* TLS_PSK_WITH_AES_128_CCM_8 */
    0xC0A4, /* TLS_PSK_WITH_AES_128_CCM */
    0x003C, /* TLS_RSA_WITH_AES_128_CBC_SHA256 */
    0x002F, /* TLS_RSA_WITH_AES_128_CBC_SHA */
    0,
};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "Apache-2.0",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .rsa_bits = RSA_BITS,
    .minimum_mtu_reason = "the library assumes a path MTU of at least 256 octets, including the headers of IPv6 and UDP",
    .fragments = 1,
    .without_cookie = 1,
    .identity_with_nul = 0, /* its callbacks for pre-shared keys take C strings */
    .connection_id = -1,
    .longest_psk = 512, /* `PSK_MAX_PSK_LEN` of `ssl.h` */
    /* `dtls1_start_timer` and `dtls1_double_timeout` in `d1_lib.c`. The timer expires 15 ms early (`dtls1_get_timeout`), and the
     * callback counts microseconds in 32 bits. */
    .first_timeout_ns = S,
    .maximum_timeout_ns = 60 * S,
    .least_timeout_ns = 16 * (S / 1000),
    .most_timeout_ns = 4294 * S,
    .remark = "one write per flight",
};

#ifdef __wasm__
const struct slowhand_host *slowhand_host;
const struct slowhand_stack slowhand_stack = {SLOWHAND_STACK_VERSION, &slowhand_host, &CAPABILITIES, NULL};
#else
extern const struct slowhand_library openssl_library;
SLOWHAND_STACK(CAPABILITIES, openssl_library);
#endif
