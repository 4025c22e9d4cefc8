/* Mbed TLS as a socket of Zephyr has it, with the defaults of Kconfig: what differs from config.h. File names are those of Zephyr:
 * modules/mbedtls/configs/config-mbedtls.h at 350a22332167, modules/mbedtls/Kconfig.mbedtls at 6c75315c8613, modules/mbedtls/Kconfig at
 * 0028d0d7d8dd, subsys/net/lib/sockets/Kconfig at 477c411bda2b, subsys/net/lib/sockets/sockets_tls.c at e8023bf36273.
 *
 * An application chooses key exchanges, ciphers, curves and connection IDs: what a socket can have is here. NET_SOCKETS_SOCKOPT_TLS
 * brings version 1.2, RSA and CBC. Version 1.3 is another firmware, with other options. */

/* firmware.h leaves out what is "n" by default: MBEDTLS_SSL_EXTENDED_MASTER_SECRET; MBEDTLS_PSA_CRYPTO_C, which would bring
 * encrypt-then-MAC; all hashes but MBEDTLS_SHA256. And what version 1.3 has alone: certificates that are kept, tickets. And what
 * config-mbedtls.h does not have at all, or with MBEDTLS_DEBUG alone: MBEDTLS_SSL_ALL_ALERT_MESSAGES,
 * MBEDTLS_SSL_CONTEXT_SERIALIZATION, MBEDTLS_SSL_DTLS_CLIENT_PORT_REUSE, MBEDTLS_SSL_RENEGOTIATION. */
#define SLOWHAND_CHOSEN_BY_APPLICATION
#include "firmware.h"
/* "n" by default too. */
#undef MBEDTLS_ECDSA_DETERMINISTIC
/* Chosen by the application, and not by one for a Thread network or for constrained devices: left out, as secp192r1. */
#undef MBEDTLS_ECJPAKE_C
#undef MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED

/* CONFIG_MBEDTLS_SSL_MAX_CONTENT_LEN. */
#define MBEDTLS_SSL_IN_CONTENT_LEN 1500
#define MBEDTLS_SSL_OUT_CONTENT_LEN 1500

/* sockets_tls.c, tls_set_max_frag_len(), with NET_SOCKETS_TLS_SET_MAX_FRAGMENT_LENGTH, which is "y": the largest length below that of
 * the content. NET_SOCKETS_DTLS_MAX_FRAGMENT_LENGTH is 1024 too. */
#define SLOWHAND_MAX_FRAGMENT_LENGTH MBEDTLS_SSL_MAX_FRAG_LEN_1024

/* sockets_tls.c sets neither groups nor signatures, and the timeouts to those of the library. With a pre-shared key, the library has RSA
 * to verify with, and no ECDSA. */
#define SLOWHAND_OWN_LISTS
#define SLOWHAND_SIGNATURES_WITHOUT_CERTIFICATE {MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA256, MBEDTLS_TLS1_3_SIG_NONE}

#define SLOWHAND_REMARK "the configuration of a socket of Zephyr with version 1.2 and the defaults of Kconfig"
