/* The multiplication of points in place of the library's own. build.rs includes this file before ecp.c, which calls the first
 * function without a declaration (MBEDTLS_ECP_MUL_ALT_SOFT_FALLBACK) and defines the second. */
#ifndef SLOWHAND_MBEDTLS_ARITHMETIC_H
#define SLOWHAND_MBEDTLS_ARITHMETIC_H

#ifndef MBEDTLS_ALLOW_PRIVATE_ACCESS
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#endif
#include "mbedtls/ecp.h"

int ecp_mul_restartable_internal(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                 const mbedtls_ecp_point *P, int (*f_rng)(void *, unsigned char *, size_t),
                                 void *p_rng, mbedtls_ecp_restart_ctx *rs_ctx);
int ecp_mul_restartable_internal_soft(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                      const mbedtls_ecp_point *P, int (*f_rng)(void *, unsigned char *, size_t),
                                      void *p_rng, mbedtls_ecp_restart_ctx *rs_ctx);

/* Called by ecdsa.c in place of the library's functions. */
int slowhand_mbedtls_ecp_muladd_restartable(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                            const mbedtls_ecp_point *P, const mbedtls_mpi *n,
                                            const mbedtls_ecp_point *Q, mbedtls_ecp_restart_ctx *rs_ctx);
int slowhand_mbedtls_mpi_gcd_modinv_odd(mbedtls_mpi *G, mbedtls_mpi *I, const mbedtls_mpi *A, const mbedtls_mpi *N);
/* Signatures that are known to be valid; as mbedtls_ecdsa_read_signature. */
int slowhand_mbedtls_is_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                               const unsigned char *sig, size_t slen);
void slowhand_mbedtls_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                             const unsigned char *sig, size_t slen);

#endif
