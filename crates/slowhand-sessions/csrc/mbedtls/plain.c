/* In the place of arithmetic.c in a build of the user: the library computes with its own code, and nobody knows which signatures are
 * valid. */
#include "arithmetic.h"

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
