/* The capabilities of the library. */
#include "library.h"

#include "dtls_config.h"

#define SECP256R1 23 /* TLS NamedGroup (RFC 8422 section 5.1.1) */
#define S UINT64_C(1000000000)

extern const struct slowhand_library tinydtls_library;

#ifdef DTLS_ECC
static const uint16_t CURVES[] = {SECP256R1, 0};
#else
#define CURVES NULL
#endif

static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, 0, CURVES, NULL},
    {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL},
};

/* The longest datagram of a handshake. With a pre-shared key it is the second ClientHello (also with tags of 16 octets). With raw
 * public keys it is the ServerKeyExchange, whose signature varies in length. */
static const struct slowhand_credential CREDENTIALS[] = {
#ifdef DTLS_PSK
    {SLOWHAND_PSK, 93},
#endif
#ifdef DTLS_ECC
    {SLOWHAND_RAW_PUBLIC_KEY, 170},
#endif
    {SLOWHAND_NO_CREDENTIAL, 0},
};

/* `cipher_suite_params` in `dtls.c`. */
static const uint16_t SUITES[] = {
#ifdef DTLS_PSK
    0xC0A8, /* TLS_PSK_WITH_AES_128_CCM_8 */
    0xC0A4, /* TLS_PSK_WITH_AES_128_CCM */
#endif
#ifdef DTLS_ECC
    0xC0AE, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 */
    0xC0AC, /* TLS_ECDHE_ECDSA_WITH_AES_128_CCM */
#endif
    0,
};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "EPL-1.0 OR BSD-3-Clause",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .minimum_mtu_reason = "the library neither sends nor accepts fragments of a handshake message",
    .identity_with_nul = 1,
    .connection_id = -1,
    /* `dtls_stop_retransmission` for application data (`dtls_handle_message` in `dtls.c`). */
    .forgets_flight_on_data = 1,
    .longest_psk = 16, /* `DTLS_PSK_MAX_KEY_LEN` of `crypto.h` */
    /* 2 s, doubled with each of at most 7 retransmissions (`dtls_send_multi` and `dtls_retransmit` in `dtls.c`,
     * `DTLS_DEFAULT_MAX_RETRANSMIT` in `global.h`). Whole milliseconds in 32 bits, as with mbedTLS. */
    .first_timeout_ns = 2 * S,
    .maximum_times_first = 1 << 7,
    .least_timeout_ns = S / 1000,
    .most_timeout_ns = UINT32_MAX / 1000 * S,
    .remark = "one datagram and one timer per message",
};

SLOWHAND_STACK(CAPABILITIES, tinydtls_library);
