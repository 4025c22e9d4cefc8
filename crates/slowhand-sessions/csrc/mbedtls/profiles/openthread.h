/* Mbed TLS as OpenThread builds and calls it, for commissioning and for secure CoAP: what differs from config.h. File names are those of
 * OpenThread: third_party/mbedtls/mbedtls-config.h at 0a7b3c35c82b, src/core/meshcop/secure_transport.cpp at b0735664ce54.
 *
 * OPENTHREAD_CONFIG_COAP_SECURE_API_ENABLE adds PSK and certificates. A session here is that of a firmware that has its credential
 * alone: without certificates, the library offers no signatures. */

/* mbedtls-config.h does not define these. */
#undef MBEDTLS_CIPHER_MODE_CBC
#undef MBEDTLS_ECDSA_DETERMINISTIC
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
