/* In a build of the user, in the place of arithmetic.c: the library computes with its own code, and nobody knows which signatures are
 * valid. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "arithmetic.h"
#include "compatibility.h"

int slowhand_mbedtls_is_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                               const unsigned char *sig, size_t slen)
{
    (void) key, (void) hash, (void) hlen, (void) sig, (void) slen;
    return 0;
}

void slowhand_mbedtls_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                             const unsigned char *sig, size_t slen)
{
    (void) key, (void) hash, (void) hlen, (void) sig, (void) slen;
}

#if SLOWHAND_MBEDTLS_3
int mbedtls_ssl_write_sig_alg_ext(mbedtls_ssl_context *ssl, unsigned char *buf, const unsigned char *end, size_t *out_len);

/* Called by ssl_client.c for a ClientHello. A list that is empty leaves the extension out: as a library does that was built without
 * certificates. */
int slowhand_mbedtls_ssl_write_sig_alg_ext(mbedtls_ssl_context *ssl, unsigned char *buf, const unsigned char *end,
                                           size_t *out_len)
{
    const uint16_t *list = ssl->conf->sig_algs;
    if (list != NULL && *list == MBEDTLS_TLS1_3_SIG_NONE) {
        *out_len = 0;
        return 0;
    }
    return mbedtls_ssl_write_sig_alg_ext(ssl, buf, end, out_len);
}
#endif
