/* The capabilities of the library as it is compiled: with config.h, or with that and a header of the user. */
#include "compatibility.h"
#include "library.h"

#include "mbedtls/ssl_ciphersuites.h"

/* TLS NamedGroups (RFC 8422 section 5.1.1). */
#define SECP192R1 19
#define SECP256R1 23
#define BY_ID (1u << SLOWHAND_RESUMPTION_ID)
#ifdef MBEDTLS_SSL_SESSION_TICKETS
#define BY_TICKET (1u << SLOWHAND_RESUMPTION_TICKET)
#else
#define BY_TICKET 0u
#endif
#ifdef MBEDTLS_SSL_MAX_FRAGMENT_LENGTH
#define LENGTHS FRAGMENT_LENGTHS
#else
#define LENGTHS NULL
#endif
/* The connection ID of 2.28 is a draft of RFC 9146: another extension, and another message authentication code (MAC). */
#if defined(MBEDTLS_SSL_DTLS_CONNECTION_ID) && SLOWHAND_MBEDTLS_3
#define CONNECTION_ID MBEDTLS_SSL_CID_IN_LEN_MAX
#else
#define CONNECTION_ID (-1)
#endif
#define S UINT64_C(1000000000)

extern const struct slowhand_library mbedtls_library;

/* TLS 1.3 has no secp192r1 (RFC 8446 section 4.2.7). */
static const uint16_t CURVES[] = {
#ifdef MBEDTLS_ECP_DP_SECP192R1_ENABLED
    SECP192R1,
#endif
    SECP256R1, 0};
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
static const uint16_t CURVES13[] = {SECP256R1, 0};
#endif
#ifdef MBEDTLS_SSL_MAX_FRAGMENT_LENGTH
/* mbedtls_ssl_conf_max_frag_len() refuses a length that neither buffer has (MBEDTLS_TLS_EXT_ADV_CONTENT_LEN of ssl_misc.h). */
#define HAS(length) (MBEDTLS_SSL_IN_CONTENT_LEN >= (length) || MBEDTLS_SSL_OUT_CONTENT_LEN >= (length))
static const uint16_t FRAGMENT_LENGTHS[] = {
#if HAS(512)
    512,
#endif
#if HAS(1024)
    1024,
#endif
#if HAS(2048)
    2048,
#endif
#if HAS(4096)
    4096,
#endif
    0};
#endif
#ifdef MBEDTLS_RSA_C
/* Of the certificates here. */
static const uint16_t RSA_BITS[] = {1024, 2048, 3072, 0};
#else
#define RSA_BITS NULL
#endif

static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, BY_ID | BY_TICKET, CURVES, LENGTHS},
    {SLOWHAND_TLS12, BY_ID | BY_TICKET, CURVES, LENGTHS},
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
    {SLOWHAND_TLS13, BY_TICKET, CURVES13, NULL},
#endif
    {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL},
};

/* The longest ClientHello here: ECDHE-ECDSA with a cookie, a maximum fragment length and a connection ID of 32 octets. With EC-JPAKE
 * it has two public keys with their proofs. */
static const struct slowhand_credential CREDENTIALS[] = {
#ifdef MBEDTLS_KEY_EXCHANGE_PSK_ENABLED
    {SLOWHAND_PSK, 192},
#endif
#ifdef MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED
    {SLOWHAND_ECJPAKE, 520},
#endif
    {SLOWHAND_CERTIFICATE, 192},
    {SLOWHAND_NO_CREDENTIAL, 0},
};

/* `ciphersuite_preference` of `ssl_ciphersuites.c`. */
static const uint16_t SUITES[] = {
#ifdef SLOWHAND_SUITES
    SLOWHAND_SUITES,
#else
#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && defined(MBEDTLS_GCM_C) && defined(MBEDTLS_SHA384_C)
    MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
#endif
#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && defined(MBEDTLS_GCM_C)
    MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
#endif
#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS1_3_AES_128_CCM_SHA256,
    MBEDTLS_TLS1_3_AES_128_CCM_8_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_GCM_C) && defined(MBEDTLS_SHA384_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_GCM_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED) && defined(MBEDTLS_GCM_C)
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC)
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC) && defined(MBEDTLS_SHA1_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC) && defined(MBEDTLS_SHA1_C)
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_RSA_ENABLED) && defined(MBEDTLS_GCM_C)
    MBEDTLS_TLS_RSA_WITH_AES_128_GCM_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_RSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC)
    MBEDTLS_TLS_RSA_WITH_AES_128_CBC_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_RSA_ENABLED) && defined(MBEDTLS_CIPHER_MODE_CBC) && defined(MBEDTLS_SHA1_C)
    MBEDTLS_TLS_RSA_WITH_AES_128_CBC_SHA,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_PSK_ENABLED) && defined(MBEDTLS_GCM_C) && defined(MBEDTLS_SHA384_C)
    MBEDTLS_TLS_PSK_WITH_AES_256_GCM_SHA384,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_PSK_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_PSK_WITH_AES_256_CCM,
    MBEDTLS_TLS_PSK_WITH_AES_256_CCM_8,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_PSK_ENABLED) && defined(MBEDTLS_GCM_C)
    MBEDTLS_TLS_PSK_WITH_AES_128_GCM_SHA256,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_PSK_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_PSK_WITH_AES_128_CCM,
    MBEDTLS_TLS_PSK_WITH_AES_128_CCM_8,
#endif
#if defined(MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED) && defined(MBEDTLS_CCM_C)
    MBEDTLS_TLS_ECJPAKE_WITH_AES_128_CCM_8,
#endif
#endif
    0,
};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "Apache-2.0 OR GPL-2.0-or-later",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .rsa_bits = RSA_BITS,
    .minimum_mtu_reason = "the library does not fragment a ClientHello",
    .fragments = 1,
    .without_cookie = 1,
    .identity_with_nul = 1,
    .connection_id = CONNECTION_ID,
    .longest_psk = MBEDTLS_PSK_MAX_LEN,
    .takes_any_chain = 1,
    /* It frees the handshake, with the flight (`mbedtls_ssl_handle_message_type` in `ssl_msg.c`). */
    .forgets_flight_on_data = 1,
    /* The maximum is `MBEDTLS_SSL_DTLS_TIMEOUT_DFL_MAX` of `ssl.h`. The timer counts whole milliseconds in 32 bits. */
    .first_timeout_ns = SLOWHAND_FIRST_TIMEOUT_MS * S / 1000,
    .maximum_timeout_ns = 60 * S,
    .least_timeout_ns = S / 1000,
    .most_timeout_ns = UINT32_MAX / 1000 * S,
#ifdef SLOWHAND_REMARK
    .remark = SLOWHAND_REMARK,
#endif
};

SLOWHAND_STACK(CAPABILITIES, mbedtls_library);
