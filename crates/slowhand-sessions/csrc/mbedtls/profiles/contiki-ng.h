/* Mbed TLS as Contiki-NG 5.0 builds and calls it for CoAP: what differs from config.h. File names are those of Contiki-NG at
 * 9f80681d3d2f, below os/net/app-layer/coap/mbedtls-support; it has Mbed TLS 3.6.2.
 *
 * MAKE_COAP_DTLS_WITH_PSK and MAKE_COAP_DTLS_WITH_CERT (Makefile.coap) choose the credentials of a firmware. A session here is that of a
 * firmware that has its credential alone: without certificates, the library offers no signatures. */

/* mbedtls-config.h does not define these. */
#undef MBEDTLS_CIPHER_MODE_CBC
#undef MBEDTLS_ECJPAKE_C
#undef MBEDTLS_ECP_DP_SECP192R1_ENABLED
#undef MBEDTLS_GCM_C
#undef MBEDTLS_HKDF_C
#undef MBEDTLS_PKCS1_V15
#undef MBEDTLS_PK_WRITE_C
#undef MBEDTLS_PSA_CRYPTO_C
#undef MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
#undef MBEDTLS_PSA_KEY_STORE_DYNAMIC
#undef MBEDTLS_RSA_C
#undef MBEDTLS_SHA1_C
#undef MBEDTLS_SHA224_C
#undef MBEDTLS_SHA384_C
#undef MBEDTLS_SHA512_C
#undef MBEDTLS_X509_CREATE_C
#undef MBEDTLS_X509_CRT_WRITE_C
#undef MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED
#undef MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED
#undef MBEDTLS_KEY_EXCHANGE_RSA_ENABLED
#undef MBEDTLS_SSL_ALL_ALERT_MESSAGES
#undef MBEDTLS_SSL_CONTEXT_SERIALIZATION
#undef MBEDTLS_SSL_DTLS_CLIENT_PORT_REUSE
#undef MBEDTLS_SSL_DTLS_CONNECTION_ID
#undef MBEDTLS_SSL_DTLS_CONNECTION_ID_COMPAT
#undef MBEDTLS_SSL_ENCRYPT_THEN_MAC
#undef MBEDTLS_SSL_EXTENDED_MASTER_SECRET
#undef MBEDTLS_SSL_KEEP_PEER_CERTIFICATE
#undef MBEDTLS_SSL_PROTO_TLS1_3
#undef MBEDTLS_SSL_RENEGOTIATION
#undef MBEDTLS_SSL_SESSION_TICKETS
#undef MBEDTLS_SSL_TICKET_C
#undef MBEDTLS_SSL_TLS1_3_COMPATIBILITY_MODE
#undef MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED
#undef MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL_ENABLED

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
