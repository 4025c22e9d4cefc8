/* Single computations of mbedTLS on a curve, for the tests of src/arithmetic/tests.rs: they compare the results with each way to
 * compute. No session calls this. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "arithmetic.h"
#include "certificate.h"

#include "bignum_internal.h"
#include "mbedtls/ecdh.h"
#include "mbedtls/ecdsa.h"

#define NUMBER 32

enum operation { MULTIPLY, ADD_PRODUCTS, INVERT, GENERATE, AGREE, SIGN, SIGN_RANDOMLY, SIGN_FOR_PSA, VERIFY };

struct operands {
    mbedtls_ecdsa_context key; /* the group, the point, and the first number */
    mbedtls_mpi second;
    const unsigned char *hash;
    size_t hash_len;
};

static int write_numbers(uint8_t *output, const mbedtls_mpi *first, const mbedtls_mpi *second)
{
    int ret = mbedtls_mpi_write_binary(first, output, NUMBER);
    return ret != 0 ? ret : mbedtls_mpi_write_binary(second, output + NUMBER, NUMBER);
}

static int perform(enum operation operation, struct operands *with, uint8_t *output)
{
    mbedtls_ecp_group *grp = &with->key.grp;
    mbedtls_ecp_point *point = &with->key.Q;
    mbedtls_mpi *number = &with->key.d, *second = &with->second;
    size_t length;
    int ret = 0;
    switch (operation) {
    case MULTIPLY:
        ret = mbedtls_ecp_mul(grp, point, number, point, slowhand_mbedtls_random, NULL);
        return ret != 0 ? ret : write_numbers(output, &point->X, &point->Y);
    case ADD_PRODUCTS:
        ret = slowhand_mbedtls_ecp_muladd_restartable(grp, point, number, &grp->G, second, point, NULL);
        output[2 * NUMBER] = (uint8_t) mbedtls_ecp_is_zero(point);
        return ret != 0 || mbedtls_ecp_is_zero(point) ? ret : write_numbers(output, &point->X, &point->Y);
    case INVERT:
        ret = slowhand_mbedtls_mpi_gcd_modinv_odd(NULL, second, number, &grp->N);
        return ret != 0 ? ret : write_numbers(output, second, second);
    case GENERATE:
        ret = mbedtls_ecdh_gen_public(grp, number, point, slowhand_mbedtls_random, NULL);
        return ret != 0 ? ret : write_numbers(output, &point->X, number);
    case AGREE:
        ret = mbedtls_ecdh_compute_shared(grp, second, point, number, slowhand_mbedtls_random, NULL);
        return ret != 0 ? ret : write_numbers(output, second, number);
    case SIGN:
        return mbedtls_ecdsa_write_signature(&with->key, MBEDTLS_MD_SHA256, with->hash, with->hash_len, output,
                                             MBEDTLS_ECDSA_MAX_LEN, &length, slowhand_mbedtls_random, NULL);
    case SIGN_RANDOMLY:
        ret = mbedtls_ecdsa_sign(grp, &point->X, second, number, with->hash, with->hash_len, slowhand_mbedtls_random, NULL);
        return ret != 0 ? ret : write_numbers(output, &point->X, second);
    case SIGN_FOR_PSA:
        ret = mbedtls_ecdsa_sign_det_ext(grp, &point->X, second, number, with->hash, with->hash_len,
                                         MBEDTLS_MD_SHA256, slowhand_mbedtls_random, NULL);
        return ret != 0 ? ret : write_numbers(output, &point->X, second);
    case VERIFY:
        return mbedtls_ecdsa_verify(grp, with->hash, with->hash_len, point, number, second);
    }
    return -1;
}

/* Numbers have 32 octets. `output` has room for a signature. Returns the library's error code. */
int slowhand_mbedtls_case(int operation, uint16_t named_group, const uint8_t *number, const uint8_t *second,
                          const uint8_t *point, const uint8_t *hash, size_t hash_len, uint8_t *output)
{
    struct operands with = {.hash = hash, .hash_len = hash_len};
    int ret;
    mbedtls_ecdsa_init(&with.key);
    mbedtls_mpi_init(&with.second);
    const mbedtls_ecp_curve_info *curve = mbedtls_ecp_curve_info_from_tls_id(named_group);
    if ((ret = mbedtls_ecp_group_load(&with.key.grp, curve->grp_id)) == 0
        && (ret = mbedtls_mpi_read_binary(&with.key.d, number, NUMBER)) == 0
        && (ret = mbedtls_mpi_read_binary(&with.second, second, NUMBER)) == 0
        && (ret = mbedtls_mpi_read_binary(&with.key.Q.X, point, NUMBER)) == 0
        && (ret = mbedtls_mpi_read_binary(&with.key.Q.Y, point + NUMBER, NUMBER)) == 0
        && (ret = mbedtls_mpi_lset(&with.key.Q.Z, 1)) == 0)
        ret = perform((enum operation) operation, &with, output);
    mbedtls_mpi_free(&with.second);
    mbedtls_ecdsa_free(&with.key);
    return ret;
}
