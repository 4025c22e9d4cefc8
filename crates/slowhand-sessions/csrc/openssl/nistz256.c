/* The arithmetic of secp256r1 in assembly, by OpenSSL's ecp_nistz256.c. The sessions of OpenSSL are without it: they use the
 * groups of the library, which is compiled without assembly. This file makes a group of its own. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/ec/ecp_nistz256.c"

#include "nistz256.h"

#include <pthread.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

#define NUMBER 32 /* octets of a number */
#define POINT (2 * NUMBER)

/* The abilities of the processor, for the assembly: word 2 is EBX of CPUID leaf 7. build.rs gives the variable of the library, which
 * is all zero without assembly, this name in the assembly. */
unsigned int slowhand_ia32cap[10];
#define BMI1 (1u << 3)
#define AVX2 (1u << 5)
#define BMI2 (1u << 8)
#define ADX (1u << 19)

static EC_GROUP *group; /* only read, after the first call */

static EC_GROUP *make_group(void)
{
    EC_GROUP *known = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_GROUP *made = ossl_ec_group_new_ex(NULL, NULL, EC_GFp_nistz256_method());
    BN_CTX *ctx = BN_CTX_new();
    if (known == NULL || made == NULL || ctx == NULL)
        goto fail;
    BN_CTX_start(ctx);
    BIGNUM *p = BN_CTX_get(ctx), *a = BN_CTX_get(ctx), *b = BN_CTX_get(ctx), *x = BN_CTX_get(ctx), *y = BN_CTX_get(ctx);
    EC_POINT *generator = NULL;
    int is_made = y != NULL && EC_GROUP_get_curve(known, p, a, b, ctx)
        && EC_POINT_get_affine_coordinates(known, EC_GROUP_get0_generator(known), x, y, ctx)
        && EC_GROUP_set_curve(made, p, a, b, ctx) && (generator = EC_POINT_new(made)) != NULL
        && EC_POINT_set_affine_coordinates(made, generator, x, y, ctx)
        && EC_GROUP_set_generator(made, generator, EC_GROUP_get0_order(known), EC_GROUP_get0_cofactor(known));
    EC_POINT_free(generator);
    BN_CTX_end(ctx);
    if (!is_made)
        goto fail;
    BN_CTX_free(ctx);
    EC_GROUP_free(known);
    return made;
fail:
    BN_CTX_free(ctx);
    EC_GROUP_free(known);
    EC_GROUP_free(made);
    return NULL;
}

static void initialise(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("adx"))
        slowhand_ia32cap[2] |= BMI1 | BMI2 | ADX;
    if (__builtin_cpu_supports("avx2"))
        slowhand_ia32cap[2] |= AVX2;
    group = make_group();
}

static int is_ready(void)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise);
    return group != NULL;
}

static EC_POINT *read_point(const uint8_t octets[POINT], BN_CTX *ctx)
{
    EC_POINT *point = EC_POINT_new(group);
    uint8_t encoded[1 + POINT] = {POINT_CONVERSION_UNCOMPRESSED};
    memcpy(encoded + 1, octets, POINT);
    /* Checks that the point is on the curve. */
    if (point != NULL && EC_POINT_oct2point(group, point, encoded, sizeof encoded, ctx))
        return point;
    EC_POINT_free(point);
    return NULL;
}

static int write_point(uint8_t octets[POINT], const EC_POINT *point, BN_CTX *ctx)
{
    uint8_t encoded[1 + POINT];
    /* If the point is infinite, one octet is written. */
    if (EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, encoded, sizeof encoded, ctx) != sizeof encoded)
        return 0;
    memcpy(octets, encoded + 1, POINT);
    OPENSSL_cleanse(encoded, sizeof encoded);
    return 1;
}

/* The sum of two products. If a scalar is NULL, there is one product. */
static int sum(uint8_t out[POINT], const uint8_t *of_generator, const uint8_t *of_point, const uint8_t *point)
{
    if (!is_ready())
        return 0;
    /* The library's queue of errors belongs to the session that runs on this thread. */
    ERR_set_mark();
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *first = of_generator == NULL ? NULL : BN_bin2bn(of_generator, NUMBER, NULL);
    BIGNUM *second = of_point == NULL ? NULL : BN_bin2bn(of_point, NUMBER, NULL);
    EC_POINT *factor = of_point == NULL ? NULL : read_point(point, ctx);
    EC_POINT *result = EC_POINT_new(group);
    int is_found = ctx != NULL && (first == NULL) == (of_generator == NULL) && (second == NULL) == (of_point == NULL)
        && (factor == NULL) == (of_point == NULL) && result != NULL
        && EC_POINT_mul(group, result, first, factor, second, ctx) && write_point(out, result, ctx);
    EC_POINT_clear_free(result);
    EC_POINT_clear_free(factor);
    BN_clear_free(second);
    BN_clear_free(first);
    BN_CTX_free(ctx);
    ERR_pop_to_mark();
    return is_found;
}

int slowhand_nistz256_multiply(uint8_t out[POINT], const uint8_t scalar[NUMBER], const uint8_t *point)
{
    return point == NULL ? sum(out, scalar, NULL, NULL) : sum(out, NULL, scalar, point);
}

int slowhand_nistz256_multiply_add(uint8_t out[POINT], const uint8_t of_generator[NUMBER],
                                   const uint8_t of_point[NUMBER], const uint8_t point[POINT])
{
    return sum(out, of_generator, of_point, point);
}

int slowhand_nistz256_invert(uint8_t out[NUMBER], const uint8_t number[NUMBER])
{
    if (!is_ready())
        return 0;
    ERR_set_mark();
    BIGNUM *inverse = BN_bin2bn(number, NUMBER, NULL);
    int is_found = inverse != NULL && ecp_nistz256_inv_mod_ord(group, inverse, inverse, NULL)
        && BN_bn2binpad(inverse, out, NUMBER) == NUMBER;
    BN_clear_free(inverse);
    ERR_pop_to_mark();
    return is_found;
}
