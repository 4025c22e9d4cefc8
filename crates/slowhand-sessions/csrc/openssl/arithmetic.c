/* Gives the sessions of OpenSSL the fast arithmetic of secp256r1 and of RSA.
 *
 * build.rs compiles the files that call these functions with -D<function>=slowhand_<function>. The library computes products with a
 * random blinding. So these functions draw the same random numbers, and all later ones are the same. For other curves, for unusual
 * input, and if the session asks for it, they call the functions that they replace. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "openssl/arithmetic.h"

#include "slowhand/stack.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>
#include <openssl/rand.h>

#include "crypto/ec/ec_local.h"

#define NUMBER 32 /* octets of a number */
#define POINT (2 * NUMBER)

#define OF_VERIFICATION 3 /* the numbers that ECDSA_verify draws: two for the sum, one for its affine coordinates */

static int is_secp256r1(const EC_GROUP *group)
{
    /* Without assembly the library has this method for the curve (ec_curve.c). */
    return EC_GROUP_get_curve_name(group) == NID_X9_62_prime256v1 && group->meth == EC_GFp_nist_method();
}

/* Writes a scalar from 1 to the order minus 1. */
static int write_scalar(const EC_GROUP *group, const BIGNUM *scalar, uint8_t octets[NUMBER])
{
    return !BN_is_zero(scalar) && !BN_is_negative(scalar) && BN_ucmp(scalar, group->order) < 0
        && BN_bn2binpad(scalar, octets, NUMBER) == NUMBER;
}

static int write_point(const EC_GROUP *group, const EC_POINT *point, uint8_t octets[POINT], BN_CTX *ctx)
{
    uint8_t encoded[1 + POINT];
    if (EC_POINT_is_at_infinity(group, point)
        || EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, encoded, sizeof encoded, ctx)
            != sizeof encoded)
        return 0;
    memcpy(octets, encoded + 1, POINT);
    return 1;
}

static int read_point(const EC_GROUP *group, EC_POINT *point, const uint8_t octets[POINT], BN_CTX *ctx)
{
    BN_CTX_start(ctx);
    BIGNUM *x = BN_CTX_get(ctx), *y = BN_CTX_get(ctx);
    int is_read = y != NULL && BN_bin2bn(octets, NUMBER, x) != NULL && BN_bin2bn(octets + NUMBER, NUMBER, y) != NULL
        && ossl_ec_GFp_simple_set_Jprojective_coordinates_GFp(group, point, x, y, BN_value_one(), ctx);
    BN_CTX_end(ctx);
    return is_read;
}

/* Draws numbers from 1 to the prime minus 1, as these functions do: ossl_ec_GFp_simple_ladder_pre two,
 * ossl_ec_GFp_simple_blind_coordinates one, ossl_ec_GFp_simple_field_inv one. */
static int draw_blindings(const EC_GROUP *group, int count, BN_CTX *ctx)
{
    BN_CTX_start(ctx);
    BIGNUM *blinding = BN_CTX_get(ctx);
    int is_drawn = blinding != NULL;
    while (is_drawn && count > 0) {
        is_drawn = BN_priv_rand_range_ex(blinding, group->field, 0, ctx);
        count -= !BN_is_zero(blinding);
    }
    BN_CTX_end(ctx);
    return is_drawn;
}

/* One product, or the sum of two. Returns 0 if the library has to compute it. */
static int compute(const EC_GROUP *group, const BIGNUM *scalar, size_t num, const EC_POINT *points[],
                   const BIGNUM *scalars[], uint8_t result[POINT], BN_CTX *ctx)
{
    uint8_t of_generator[NUMBER], of_point[NUMBER], point[POINT];
    int is_found = 0;
    if (is_secp256r1(group) && num <= 1 && (scalar == NULL || write_scalar(group, scalar, of_generator))
        && (num == 0
            || (write_scalar(group, scalars[0], of_point) && write_point(group, points[0], point, ctx))))
        is_found = num == 0 ? slowhand_host->p256_multiply(result, of_generator, NULL)
            : scalar == NULL ? slowhand_host->p256_multiply(result, of_point, point)
                             : slowhand_host->p256_multiply_add(result, of_generator, of_point, point);
    OPENSSL_cleanse(of_generator, sizeof of_generator);
    OPENSSL_cleanse(of_point, sizeof of_point);
    return is_found;
}

/* Called by ec_lib.c, for every product of this method */

int slowhand_ossl_ec_wNAF_mul(const EC_GROUP *group, EC_POINT *r, const BIGNUM *scalar, size_t num,
                              const EC_POINT *points[], const BIGNUM *scalars[], BN_CTX *ctx)
{
    uint8_t result[POINT];
    if (!compute(group, scalar, num, points, scalars, result, ctx))
        return ossl_ec_wNAF_mul(group, r, scalar, num, points, scalars, ctx);
    /* One product is computed by a ladder, which blinds both of its points and inverts one number. A sum is computed by wNAF,
     * which inverts one number, and blinds the result: its coordinates are not affine, so that a caller inverts another. */
    int is_sum = scalar != NULL && num == 1;
    int is_read = draw_blindings(group, is_sum ? 1 : 3, ctx) && read_point(group, r, result, ctx)
        && (!is_sum || ossl_ec_point_blind_coordinates(group, r, ctx));
    OPENSSL_cleanse(result, sizeof result);
    return is_read;
}

/* Called by ecdsa_ossl.c */

int slowhand_ossl_ec_group_do_inverse_ord(const EC_GROUP *group, BIGNUM *res, const BIGNUM *x, BN_CTX *ctx)
{
    uint8_t number[NUMBER];
    if (!is_secp256r1(group) || !write_scalar(group, x, number) || !slowhand_host->p256_invert(number, number))
        return ossl_ec_group_do_inverse_ord(group, res, x, ctx);
    int is_read = BN_bin2bn(number, NUMBER, res) != NULL;
    OPENSSL_cleanse(number, sizeof number);
    return is_read;
}

/* Called by rsa_ossl.c. Negative numbers and the exponent 0 have ways of their own in the library. */

static int power(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m)
{
    uint8_t base[SLOWHAND_LONGEST], exponent[SLOWHAND_LONGEST], modulus[SLOWHAND_LONGEST];
    int length = BN_num_bytes(m);
    if (BN_is_negative(a) || BN_is_negative(p) || BN_is_zero(p) || BN_is_negative(m) || length > SLOWHAND_LONGEST
        || BN_bn2binpad(a, base, length) != length || BN_bn2binpad(p, exponent, SLOWHAND_LONGEST) != SLOWHAND_LONGEST
        || BN_bn2binpad(m, modulus, length) != length)
        return 0;
    size_t size = (size_t) length;
    int is_found = slowhand_host->power(base, base, size, exponent, sizeof exponent, modulus, size)
        && BN_bin2bn(base, length, r) != NULL;
    OPENSSL_cleanse(exponent, sizeof exponent);
    OPENSSL_cleanse(base, sizeof base);
    return is_found;
}

int slowhand_BN_mod_exp_mont(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, BN_CTX *ctx,
                             BN_MONT_CTX *in_mont)
{
    return power(r, a, p, m) || BN_mod_exp_mont(r, a, p, m, ctx, in_mont);
}

int slowhand_BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                          BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2, const BIGNUM *p2,
                                          const BIGNUM *m2, BN_MONT_CTX *in_mont2, BN_CTX *ctx)
{
    return (power(rr1, a1, p1, m1) || BN_mod_exp_mont_consttime(rr1, a1, p1, m1, ctx, in_mont1))
        && (power(rr2, a2, p2, m2) || BN_mod_exp_mont_consttime(rr2, a2, p2, m2, ctx, in_mont2));
}

/* Called by ecdsa_sig.c, through operations.c. If the signature is known, draws what its verification would have drawn. */

int slowhand_openssl_is_signed(const EC_KEY *key, const unsigned char *hash, int hash_len,
                               const unsigned char *signature, int length)
{
    const EC_GROUP *group = EC_KEY_get0_group(key);
    const EC_POINT *point = EC_KEY_get0_public_key(key);
    uint8_t octets[POINT];
    if (hash_len <= 0 || length <= 0 || !is_secp256r1(group) || point == NULL || !write_point(group, point, octets, NULL)
        || !slowhand_host->p256_is_signed(octets, hash, (size_t) hash_len, signature, (size_t) length))
        return 0;
    BN_CTX *ctx = BN_CTX_new_ex(group->libctx);
    int is_drawn = ctx != NULL && draw_blindings(group, OF_VERIFICATION, ctx);
    BN_CTX_free(ctx);
    return is_drawn;
}

void slowhand_openssl_signed(const EC_KEY *key, const unsigned char *hash, int hash_len,
                             const unsigned char *signature, size_t length)
{
    const EC_GROUP *group = EC_KEY_get0_group(key);
    const EC_POINT *point = EC_KEY_get0_public_key(key);
    uint8_t octets[POINT];
    if (hash_len > 0 && length > 0 && is_secp256r1(group) && point != NULL && write_point(group, point, octets, NULL))
        slowhand_host->p256_signed(octets, hash, (size_t) hash_len, signature, length);
}
