/* The differences between the versions of Mbed TLS that the adapter knows: 3.6 and 2.28. Its other files have the names of 3.6. */
#ifndef SLOWHAND_MBEDTLS_COMPATIBILITY_H
#define SLOWHAND_MBEDTLS_COMPATIBILITY_H

#ifndef MBEDTLS_ALLOW_PRIVATE_ACCESS
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#endif
#include "mbedtls/version.h"

#if MBEDTLS_VERSION_MAJOR == 3 && MBEDTLS_VERSION_MINOR == 6
#define SLOWHAND_MBEDTLS_3 1
#elif MBEDTLS_VERSION_MAJOR == 2 && MBEDTLS_VERSION_MINOR == 28
#define SLOWHAND_MBEDTLS_3 0
#else
#error "slowhand has an adapter to Mbed TLS 3.6 and 2.28, not to other versions"
#endif

#include <string.h>

#include "mbedtls/ecp.h"
#include "mbedtls/pk.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"
#include "mbedtls/ssl.h"
#include "mbedtls/ssl_ticket.h"

/* Defaults for what a profile (profiles/) does not say. */
#ifndef SLOWHAND_FIRST_TIMEOUT_MS
#define SLOWHAND_FIRST_TIMEOUT_MS 1000 /* MBEDTLS_SSL_DTLS_TIMEOUT_DFL_MIN of ssl.h */
#endif
#ifndef SLOWHAND_MTU
#define SLOWHAND_MTU 0 /* no limit */
#endif
#ifndef SLOWHAND_MAX_FRAGMENT_LENGTH
#define SLOWHAND_MAX_FRAGMENT_LENGTH 0 /* not negotiated */
#endif

/* A parameter of a function that only one of the versions has, with the comma after it. */
#if SLOWHAND_MBEDTLS_3
#define IN_3(parameter) parameter,
#define IN_2(parameter)
#else
#define IN_3(parameter)
#define IN_2(parameter) parameter,
#endif
typedef int slowhand_rng_t(void *context, unsigned char *output, size_t length);

/* The offer of a session: one group and one signature, each followed by the end of the list. It must live as long as the
 * configuration. */
#if SLOWHAND_MBEDTLS_3
struct slowhand_lists {
    uint16_t groups[2], signatures[2];
};

static inline void slowhand_conf_group(mbedtls_ssl_config *conf, struct slowhand_lists *lists, uint16_t group)
{
    lists->groups[0] = group;
    mbedtls_ssl_conf_groups(conf, lists->groups);
}

static inline void slowhand_conf_signature(mbedtls_ssl_config *conf, struct slowhand_lists *lists, uint16_t signature)
{
    lists->signatures[0] = signature;
    mbedtls_ssl_conf_sig_algs(conf, lists->signatures);
}

static inline void slowhand_conf_version(mbedtls_ssl_config *conf, uint16_t version)
{
    mbedtls_ssl_conf_min_tls_version(conf, (mbedtls_ssl_protocol_version) version);
    mbedtls_ssl_conf_max_tls_version(conf, (mbedtls_ssl_protocol_version) version);
}

/* In TLS 1.3, one call reads a ticket and the next call processes it. */
static inline int slowhand_reads_ticket(const mbedtls_ssl_context *ssl, int ret)
{
    return ret == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET
           || (ret == MBEDTLS_ERR_SSL_WANT_READ && ssl->state == MBEDTLS_SSL_TLS1_3_NEW_SESSION_TICKET);
}

#else /* 2.28 */

struct slowhand_lists {
    mbedtls_ecp_group_id groups[2];
    int hashes[2];
};

static inline void slowhand_conf_group(mbedtls_ssl_config *conf, struct slowhand_lists *lists, uint16_t group)
{
    const mbedtls_ecp_curve_info *info = mbedtls_ecp_curve_info_from_tls_id(group);
    lists->groups[0] = info == NULL ? MBEDTLS_ECP_DP_NONE : info->grp_id;
    lists->groups[1] = MBEDTLS_ECP_DP_NONE;
    mbedtls_ssl_conf_curves(conf, lists->groups);
}

/* The library has a list of hashes, and offers each with ECDSA and with RSA. The first octet of a SignatureScheme is a HashAlgorithm
 * (RFC 8446 section 4.2.3, RFC 5246 section 7.4.1.4.1). */
static inline void slowhand_conf_signature(mbedtls_ssl_config *conf, struct slowhand_lists *lists, uint16_t signature)
{
    switch (signature >> 8) {
    case MBEDTLS_SSL_HASH_SHA1:
        lists->hashes[0] = MBEDTLS_MD_SHA1;
        break;
    case MBEDTLS_SSL_HASH_SHA384:
        lists->hashes[0] = MBEDTLS_MD_SHA384;
        break;
    case MBEDTLS_SSL_HASH_SHA512:
        lists->hashes[0] = MBEDTLS_MD_SHA512;
        break;
    default:
        lists->hashes[0] = MBEDTLS_MD_SHA256;
    }
    lists->hashes[1] = MBEDTLS_MD_NONE;
    mbedtls_ssl_conf_sig_hashes(conf, lists->hashes);
}

/* The only version that is compiled. */
static inline void slowhand_conf_version(mbedtls_ssl_config *conf, uint16_t version)
{
    (void) version;
    mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_max_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
}

static inline int slowhand_reads_ticket(const mbedtls_ssl_context *ssl, int ret)
{
    (void) ssl, (void) ret;
    return 0;
}

/* operations.c: the functions that return an error. The others of these names return nothing. */
#define mbedtls_sha1 mbedtls_sha1_ret
#define mbedtls_sha1_update mbedtls_sha1_update_ret
#define mbedtls_sha1_finish mbedtls_sha1_finish_ret
#define mbedtls_sha256 mbedtls_sha256_ret
#define mbedtls_sha256_update mbedtls_sha256_update_ret
#define mbedtls_sha256_finish mbedtls_sha256_finish_ret
#define mbedtls_sha512 mbedtls_sha512_ret
#define mbedtls_sha512_update mbedtls_sha512_update_ret
#define mbedtls_sha512_finish mbedtls_sha512_finish_ret

#define mbedtls_pk_parse_key(pk, key, length, password, password_length, f_rng, p_rng)                                          \
    mbedtls_pk_parse_key(pk, key, length, password, password_length)
#define mbedtls_ssl_get_ciphersuite_id_from_ssl(ssl) ((ssl)->session == NULL ? 0 : (ssl)->session->ciphersuite)
#define mbedtls_rsa_get_bitlen(rsa) (8 * mbedtls_rsa_get_len(rsa))
#define MBEDTLS_ERR_SSL_CACHE_ENTRY_NOT_FOUND (-1) /* any error */
#define MBEDTLS_SSL_TICKET_KEY_NAME_BYTES 4
#define MBEDTLS_SSL_TICKET_MAX_KEY_BYTES 32

#if defined(MBEDTLS_SSL_SESSION_TICKETS)
/* The library of 2.28 draws the key of a server's tickets itself; this is another one in its place. */
static inline int mbedtls_ssl_ticket_rotate(mbedtls_ssl_ticket_context *tickets, const unsigned char *name, size_t name_len,
                                            const unsigned char *key, size_t key_len, uint32_t lifetime)
{
    mbedtls_ssl_ticket_key *active = &tickets->keys[tickets->active];
    (void) lifetime;
    memcpy(active->name, name, name_len);
    return mbedtls_cipher_setkey(&active->ctx, key, (int) (8 * key_len), MBEDTLS_ENCRYPT);
}
#endif
#endif

#endif
