/* Powers modulo the numbers of RSA, by the Montgomery multiplication that OpenSSL has in assembly. The sessions of OpenSSL are
 * without it: the library is compiled without assembly. build.rs gives the functions of the assembly names of their own.
 *
 * The time depends on the exponent. That is no matter here: no key of the laboratory is secret. */
#include "montgomery.h"
#include "slowhand/stack.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/err.h>

#include "crypto/bn/bn_local.h"

#define MULTIPLE 32              /* octets; for such lengths the assembly has its fastest code */
#define MOST (SLOWHAND_LONGEST / sizeof(BN_ULONG))
#define WIDEST 5                 /* bits of a window */

/* OpenSSL's bn_mul_mont: out = first * second / 2^(64 count) mod modulus. All are in words, the least first, and less than the
 * modulus. */
int slowhand_bn_mul_mont(BN_ULONG *out, const BN_ULONG *first, const BN_ULONG *second, const BN_ULONG *modulus,
                         const BN_ULONG *n0, int count);

static int write_words(BN_ULONG *words, const BIGNUM *number, int count)
{
    int length = count * (int) sizeof *words;
    return BN_bn2lebinpad(number, (unsigned char *) words, length) == length;
}

/* The widths for which a table of powers pays, as in BN_mod_exp_mont. */
static int width_of(int bits)
{
    int width = BN_window_bits_for_exponent_size(bits);
    return width < WIDEST ? width : WIDEST;
}

static int window(const BIGNUM *exponent, int at, int width)
{
    int value = 0;
    for (int bit = width - 1; bit >= 0; bit--)
        value = 2 * value + BN_is_bit_set(exponent, at + bit);
    return value;
}

/* By windows of fixed width, from the first. */
static int compute(BN_ULONG *result, const BIGNUM *base, const BIGNUM *exponent, const BN_MONT_CTX *mont, int count)
{
    BN_ULONG modulus[MOST], square[MOST], one[MOST] = {1}, powers[1 << WIDEST][MOST];
    if (!write_words(modulus, &mont->N, count) || !write_words(square, &mont->RR, count)
        || !write_words(powers[1], base, count))
        return 0;
    const BN_ULONG *n0 = mont->n0;
    int bits = BN_num_bits(exponent), width = width_of(bits);
    slowhand_bn_mul_mont(powers[0], one, square, modulus, n0, count);
    slowhand_bn_mul_mont(powers[1], powers[1], square, modulus, n0, count);
    for (int i = 2; i < 1 << width; i++)
        slowhand_bn_mul_mont(powers[i], powers[i - 1], powers[1], modulus, n0, count);
    memcpy(result, powers[0], sizeof powers[0]);
    for (int at = (bits + width - 1) / width * width - width; at >= 0; at -= width) {
        for (int i = 0; i < width; i++)
            slowhand_bn_mul_mont(result, result, result, modulus, n0, count);
        int digit = window(exponent, at, width);
        if (digit != 0)
            slowhand_bn_mul_mont(result, result, powers[digit], modulus, n0, count);
    }
    slowhand_bn_mul_mont(result, result, one, modulus, n0, count);
    return 1;
}

static int is_usual(const uint8_t *modulus, size_t length)
{
    return length >= MULTIPLE && length <= SLOWHAND_LONGEST && length % MULTIPLE == 0 && modulus[0] != 0
        && modulus[length - 1] % 2 == 1;
}

int slowhand_montgomery_power(uint8_t *out, const uint8_t *base, size_t base_length, const uint8_t *exponent,
                              size_t exponent_length, const uint8_t *modulus, size_t length)
{
    if (!is_usual(modulus, length) || base_length > 2 * SLOWHAND_LONGEST || exponent_length > 2 * SLOWHAND_LONGEST)
        return 0;
    /* The library's queue of errors belongs to the session that runs on this thread. */
    ERR_set_mark();
    BN_CTX *ctx = BN_CTX_new();
    BN_MONT_CTX *mont = BN_MONT_CTX_new();
    BIGNUM *b = BN_bin2bn(base, (int) base_length, NULL), *e = BN_bin2bn(exponent, (int) exponent_length, NULL),
           *n = BN_bin2bn(modulus, (int) length, NULL), *number = BN_new();
    int count = (int) (length / sizeof(BN_ULONG));
    BN_ULONG result[MOST];
    int is_found = ctx != NULL && mont != NULL && b != NULL && e != NULL && n != NULL && number != NULL
        && BN_MONT_CTX_set(mont, n, ctx) && BN_nnmod(b, b, n, ctx) && compute(result, b, e, mont, count)
        && BN_lebin2bn((const unsigned char *) result, (int) length, number) != NULL
        && BN_bn2binpad(number, out, (int) length) == (int) length;
    BN_clear_free(number);
    BN_free(n);
    BN_clear_free(e);
    BN_clear_free(b);
    BN_MONT_CTX_free(mont);
    BN_CTX_free(ctx);
    ERR_pop_to_mark();
    return is_found;
}

int slowhand_montgomery_invert(uint8_t *out, const uint8_t *number, const uint8_t *modulus, size_t length)
{
    if (!is_usual(modulus, length))
        return 0;
    ERR_set_mark();
    BIGNUM *a = BN_bin2bn(number, (int) length, NULL), *n = BN_bin2bn(modulus, (int) length, NULL);
    int is_found = a != NULL && n != NULL && BN_mod_inverse(a, a, n, NULL) != NULL
        && BN_bn2binpad(a, out, (int) length) == (int) length;
    BN_free(n);
    BN_clear_free(a);
    ERR_pop_to_mark();
    return is_found;
}
