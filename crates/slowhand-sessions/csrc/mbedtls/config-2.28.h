/* The configuration of Mbed TLS 2.28: that of config.h without what only 3.6 has. There, version 1.3 has no session, and the connection
 * IDs are those of a draft. */
#ifndef SLOWHAND_MBEDTLS_CONFIG_2_28_H
#define SLOWHAND_MBEDTLS_CONFIG_2_28_H

#include "config.h"

#undef MBEDTLS_HKDF_C
#undef MBEDTLS_PSA_CRYPTO_C
#undef MBEDTLS_PSA_CRYPTO_EXTERNAL_RNG
#undef MBEDTLS_PSA_KEY_STORE_DYNAMIC
#undef MBEDTLS_SSL_PROTO_TLS1_3
#undef MBEDTLS_SSL_TLS1_3_COMPATIBILITY_MODE
#undef MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED
#undef MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL_ENABLED
#undef MBEDTLS_SSL_DTLS_CONNECTION_ID
#undef MBEDTLS_SSL_DTLS_CONNECTION_ID_COMPAT

/* For the key log: 3.6 always has it. */
#define MBEDTLS_SSL_EXPORT_KEYS

#ifdef MBEDTLS_USER_CONFIG_FILE
#include MBEDTLS_USER_CONFIG_FILE
#endif
#include "mbedtls/check_config.h"

#endif
