/* Mbed TLS as OpenThread builds and calls it, for commissioning and for secure CoAP: what differs from config.h. File names are those of
 * OpenThread: third_party/mbedtls/mbedtls-config.h at 0a7b3c35c82b, src/core/meshcop/secure_transport.cpp at b0735664ce54.
 *
 * OPENTHREAD_CONFIG_COAP_SECURE_API_ENABLE adds PSK and certificates. A session here is that of a firmware that has its credential
 * alone: without certificates, the library offers no signatures. */

/* mbedtls-config.h does not define those of firmware.h, nor this one. */
#include "firmware.h"
#undef MBEDTLS_ECDSA_DETERMINISTIC

/* mbedtls-config.h: MBEDTLS_SSL_MAX_CONTENT_LEN with secure CoAP; without it 768. The library of today has two names for it. */
#define MBEDTLS_SSL_IN_CONTENT_LEN 900
#define MBEDTLS_SSL_OUT_CONTENT_LEN 900

/* SecureTransport::Setup(): mbedtls_ssl_conf_handshake_timeout(8000, 60000). */
#define SLOWHAND_FIRST_TIMEOUT_MS 8000

/* SecureTransport: one suite for each credential. EC-JPAKE has secp256r1 alone, which is all that is compiled. */
#define SLOWHAND_SUITES                                                                                                          \
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, MBEDTLS_TLS_PSK_WITH_AES_128_CCM_8, MBEDTLS_TLS_ECJPAKE_WITH_AES_128_CCM_8
#define SLOWHAND_OWN_LISTS
#define SLOWHAND_SIGNATURES_WITHOUT_CERTIFICATE {MBEDTLS_TLS1_3_SIG_NONE}

#define SLOWHAND_REMARK "the configuration of OpenThread, for commissioning (EC-JPAKE) and for secure CoAP"
