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
/* The extension signature_algorithms of a ClientHello, which ssl_client.c writes and ssl_tls12_server.c reads. A session with an empty
 * list of signatures does neither: as a library that was built without certificates. */

int mbedtls_ssl_write_sig_alg_ext(mbedtls_ssl_context *ssl, unsigned char *buf, const unsigned char *end, size_t *out_len);
int mbedtls_ssl_parse_sig_alg_ext(mbedtls_ssl_context *ssl, const unsigned char *buf, const unsigned char *end);

static int has_signatures(const mbedtls_ssl_context *ssl)
{
    return ssl->conf->sig_algs == NULL || *ssl->conf->sig_algs != MBEDTLS_TLS1_3_SIG_NONE;
}

int slowhand_mbedtls_ssl_write_sig_alg_ext(mbedtls_ssl_context *ssl, unsigned char *buf, const unsigned char *end,
                                           size_t *out_len)
{
    *out_len = 0;
    return has_signatures(ssl) ? mbedtls_ssl_write_sig_alg_ext(ssl, buf, end, out_len) : 0;
}

int slowhand_mbedtls_ssl_parse_sig_alg_ext(mbedtls_ssl_context *ssl, const unsigned char *buf, const unsigned char *end)
{
    return has_signatures(ssl) ? mbedtls_ssl_parse_sig_alg_ext(ssl, buf, end) : 0;
}
#endif
