/* Gives mbedTLS the fast arithmetic of secp256r1 and of RSA.
 *
 * Only these functions are replaced: the multiplication of a point, the sum of two products in a verification, the inverse
 * modulo the order of the group, and the powers and inverses of RSA. All else stays the library's own code: which numbers are
 * drawn and in which order, the checks, the error codes, the nonce of a signature. For other curves, for unusual input, and if
 * the session asks for it, the functions below call those that they replace. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "arithmetic.h"

#include "slowhand/stack.h"

#include "bignum_internal.h"
#include "mbedtls/platform_util.h"

#include <string.h>

#define NUMBER 32         /* octets of a number */
#define POINT (2 * NUMBER)
#define EXPONENT (2 * SLOWHAND_LONGEST) /* octets of an exponent: the blinding makes it longer than the modulus */

static int is_secp256r1(const mbedtls_ecp_group *grp)
{
    return grp->id == MBEDTLS_ECP_DP_SECP256R1;
}

static int write_point(const mbedtls_ecp_point *point, uint8_t octets[POINT])
{
    int ret = mbedtls_mpi_write_binary(&point->X, octets, NUMBER);
    return ret != 0 ? ret : mbedtls_mpi_write_binary(&point->Y, octets + NUMBER, NUMBER);
}

static int read_point(mbedtls_ecp_point *point, const uint8_t octets[POINT])
{
    int ret;
    if ((ret = mbedtls_mpi_read_binary(&point->X, octets, NUMBER)) != 0
        || (ret = mbedtls_mpi_read_binary(&point->Y, octets + NUMBER, NUMBER)) != 0)
        return ret;
    return mbedtls_mpi_lset(&point->Z, 1);
}

static int is_generator(const mbedtls_ecp_group *grp, const mbedtls_ecp_point *point)
{
    return mbedtls_mpi_cmp_mpi(&point->Y, &grp->G.Y) == 0 && mbedtls_mpi_cmp_mpi(&point->X, &grp->G.X) == 0;
}

/* Draws the number that ecp_randomize_jac draws, so that all later numbers are the same. */
static int draw_blinding(const mbedtls_ecp_group *grp, int (*f_rng)(void *, unsigned char *, size_t), void *p_rng)
{
    mbedtls_mpi blinding;
    mbedtls_mpi_init(&blinding);
    int ret = mbedtls_mpi_random(&blinding, 2, &grp->P, f_rng, p_rng);
    mbedtls_mpi_free(&blinding);
    return ret == MBEDTLS_ERR_MPI_NOT_ACCEPTABLE ? MBEDTLS_ERR_ECP_RANDOM_FAILED : ret;
}

/* Called by ecp.c, for every multiplication */

int ecp_mul_restartable_internal(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                 const mbedtls_ecp_point *P, int (*f_rng)(void *, unsigned char *, size_t),
                                 void *p_rng, mbedtls_ecp_restart_ctx *rs_ctx)
{
    uint8_t scalar[NUMBER], point[POINT];
    int ret;
    if (!is_secp256r1(grp))
        return ecp_mul_restartable_internal_soft(grp, R, m, P, f_rng, p_rng, rs_ctx);
    /* The library's checks, in its order. */
    if ((ret = mbedtls_ecp_check_privkey(grp, m)) != 0 || (ret = mbedtls_ecp_check_pubkey(grp, P)) != 0
        || (ret = mbedtls_mpi_write_binary(m, scalar, NUMBER)) != 0 || (ret = write_point(P, point)) != 0)
        goto cleanup;
    if (!slowhand_host->p256_multiply(point, scalar, is_generator(grp, P) ? NULL : point))
        ret = ecp_mul_restartable_internal_soft(grp, R, m, P, f_rng, p_rng, rs_ctx);
    else if (f_rng == NULL || (ret = draw_blinding(grp, f_rng, p_rng)) == 0)
        ret = read_point(R, point);
cleanup:
    mbedtls_platform_zeroize(scalar, sizeof scalar);
    mbedtls_platform_zeroize(point, sizeof point);
    return ret;
}

/* Called by ecdsa.c. Products by 0 and 1 have ways of their own in the library. */

static int is_usual(const mbedtls_ecp_group *grp, const mbedtls_mpi *scalar)
{
    return mbedtls_mpi_cmp_int(scalar, 1) > 0 && mbedtls_mpi_cmp_mpi(scalar, &grp->N) < 0;
}

int slowhand_mbedtls_ecp_muladd_restartable(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                            const mbedtls_ecp_point *P, const mbedtls_mpi *n,
                                            const mbedtls_ecp_point *Q, mbedtls_ecp_restart_ctx *rs_ctx)
{
    uint8_t of_generator[NUMBER], of_point[NUMBER], point[POINT];
    if (is_secp256r1(grp) && is_generator(grp, P) && is_usual(grp, m) && is_usual(grp, n)
        && mbedtls_ecp_check_pubkey(grp, Q) == 0 && mbedtls_mpi_write_binary(m, of_generator, NUMBER) == 0
        && mbedtls_mpi_write_binary(n, of_point, NUMBER) == 0 && write_point(Q, point) == 0
        && slowhand_host->p256_multiply_add(point, of_generator, of_point, point))
        return read_point(R, point);
    return mbedtls_ecp_muladd_restartable(grp, R, m, P, n, Q, rs_ctx);
}

/* The inverse that rsa.c needs for its blinding. It exists if the greatest common divisor is 1. */
static int invert(mbedtls_mpi *G, mbedtls_mpi *I, const mbedtls_mpi *A, const mbedtls_mpi *N)
{
    uint8_t number[SLOWHAND_LONGEST], modulus[SLOWHAND_LONGEST];
    size_t length = mbedtls_mpi_size(N);
    if (I == NULL || mbedtls_mpi_cmp_int(A, 0) <= 0 || mbedtls_mpi_cmp_mpi(A, N) >= 0 || length > sizeof modulus)
        return 0;
    int is_found = mbedtls_mpi_write_binary(A, number, length) == 0 && mbedtls_mpi_write_binary(N, modulus, length) == 0
        && slowhand_host->inverse(number, number, modulus, length) && mbedtls_mpi_read_binary(I, number, length) == 0
        && mbedtls_mpi_lset(G, 1) == 0;
    mbedtls_platform_zeroize(number, sizeof number);
    return is_found;
}

int slowhand_mbedtls_mpi_gcd_modinv_odd(mbedtls_mpi *G, mbedtls_mpi *I, const mbedtls_mpi *A, const mbedtls_mpi *N)
{
    /* The order of secp256r1 (SEC 2, section 2.4.2) */
    static const uint8_t ORDER[NUMBER] = {
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    };
    uint8_t number[NUMBER];
    int is_order = mbedtls_mpi_write_binary(N, number, NUMBER) == 0 && memcmp(number, ORDER, NUMBER) == 0;
    int ret;
    if (G == NULL && is_order && mbedtls_mpi_cmp_int(A, 0) > 0 && mbedtls_mpi_cmp_mpi(A, N) < 0
        && mbedtls_mpi_write_binary(A, number, NUMBER) == 0 && slowhand_host->p256_invert(number, number))
        ret = mbedtls_mpi_read_binary(I, number, NUMBER);
    else if (G != NULL && invert(G, I, A, N))
        ret = 0;
    else
        ret = mbedtls_mpi_gcd_modinv_odd(G, I, A, N);
    mbedtls_platform_zeroize(number, sizeof number);
    return ret;
}

/* Called by rsa.c. Negative numbers and the exponent 0 have ways of their own in the library. */

static int power(mbedtls_mpi *X, const mbedtls_mpi *A, const mbedtls_mpi *E, const mbedtls_mpi *N)
{
    uint8_t base[SLOWHAND_LONGEST], exponent[EXPONENT], modulus[SLOWHAND_LONGEST];
    size_t base_length = mbedtls_mpi_size(A), exponent_length = mbedtls_mpi_size(E), length = mbedtls_mpi_size(N);
    if (mbedtls_mpi_cmp_int(A, 0) < 0 || mbedtls_mpi_cmp_int(E, 0) <= 0 || mbedtls_mpi_cmp_int(N, 0) <= 0
        || base_length > sizeof base || exponent_length > sizeof exponent || length > sizeof modulus)
        return 0;
    int is_found = mbedtls_mpi_write_binary(A, base, base_length) == 0
        && mbedtls_mpi_write_binary(E, exponent, exponent_length) == 0
        && mbedtls_mpi_write_binary(N, modulus, length) == 0
        && slowhand_host->power(base, base, base_length, exponent, exponent_length, modulus, length)
        && mbedtls_mpi_read_binary(X, base, length) == 0;
    mbedtls_platform_zeroize(exponent, sizeof exponent);
    mbedtls_platform_zeroize(base, sizeof base);
    return is_found;
}

int slowhand_mbedtls_mpi_exp_mod(mbedtls_mpi *X, const mbedtls_mpi *A, const mbedtls_mpi *E, const mbedtls_mpi *N,
                                 mbedtls_mpi *prec_RR)
{
    return power(X, A, E, N) ? 0 : mbedtls_mpi_exp_mod(X, A, E, N, prec_RR);
}

int slowhand_mbedtls_mpi_exp_mod_unsafe(mbedtls_mpi *X, const mbedtls_mpi *A, const mbedtls_mpi *E,
                                        const mbedtls_mpi *N, mbedtls_mpi *prec_RR)
{
    return power(X, A, E, N) ? 0 : mbedtls_mpi_exp_mod_unsafe(X, A, E, N, prec_RR);
}

/* Called by pk_wrap.c, through operations.c */

int slowhand_mbedtls_is_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                               const unsigned char *sig, size_t slen)
{
    uint8_t point[POINT];
    return hlen > 0 && slen > 0 && is_secp256r1(&key->grp) && write_point(&key->Q, point) == 0
        && slowhand_host->p256_is_signed(point, hash, hlen, sig, slen);
}

void slowhand_mbedtls_signed(const mbedtls_ecp_keypair *key, const unsigned char *hash, size_t hlen,
                             const unsigned char *sig, size_t slen)
{
    uint8_t point[POINT];
    if (hlen > 0 && slen > 0 && is_secp256r1(&key->grp) && write_point(&key->Q, point) == 0)
        slowhand_host->p256_signed(point, hash, hlen, sig, slen);
}
