/* Mbed TLS as Contiki-NG 5.0 builds and calls it for CoAP: what differs from config.h. File names are those of Contiki-NG at
 * 9f80681d3d2f, below os/net/app-layer/coap/mbedtls-support; it has Mbed TLS 3.6.2.
 *
 * MAKE_COAP_DTLS_WITH_PSK and MAKE_COAP_DTLS_WITH_CERT (Makefile.coap) choose the credentials of a firmware. A session here is that of a
 * firmware that has its credential alone: without certificates, the library offers no signatures. */

/* mbedtls-config.h does not define those of firmware.h, nor these. */
#include "firmware.h"
#undef MBEDTLS_ECJPAKE_C
#undef MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED

/* mbedtls-config.h: COAP_MBEDTLS_MTU, and twice as much. dtls-support-config.h: that is UIP_BUFSIZE without the headers of IPv6, of UDP
 * and of a fragment, 1280 - 48 - 8 with UIP_LINK_MTU of os/net/ipv6/uipopt.h. */
#define SLOWHAND_MTU 1224
#define MBEDTLS_SSL_IN_CONTENT_LEN SLOWHAND_MTU
#define MBEDTLS_SSL_OUT_CONTENT_LEN SLOWHAND_MTU
#define MBEDTLS_SSL_DTLS_MAX_BUFFERING (2 * SLOWHAND_MTU)

/* COAP_MBEDTLS_HANDSHAKE_MIN_TIMEOUT_MS of dtls-support-config.h; the maximum is the library's. */
#define SLOWHAND_FIRST_TIMEOUT_MS 9000

/* setup_session() in mbedtls-support.c: one suite for each credential. It sets neither groups nor signatures. */
#define SLOWHAND_SUITES MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, MBEDTLS_TLS_PSK_WITH_AES_256_CCM_8
#define SLOWHAND_OWN_LISTS
#define SLOWHAND_SIGNATURES_WITHOUT_CERTIFICATE {MBEDTLS_TLS1_3_SIG_NONE}

#define SLOWHAND_REMARK                                                                                                          \
    "the configuration of Contiki-NG 5.0, which asks both ends for a certificate (MBEDTLS_SSL_VERIFY_REQUIRED); the scenario "   \
    "says if this one does; without the 2 s that its queue waits between two datagrams (COAP_MBEDTLS_FRAGMENT_TIMER)"
