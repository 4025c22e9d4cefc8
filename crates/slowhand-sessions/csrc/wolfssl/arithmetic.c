/* Gives wolfSSL the fast arithmetic of secp256r1.
 *
 * ecc.c calls the functions below in the place of those of sp_c64.c or sp_c32.c (sources.json). They draw the same numbers in the
 * same order as these. Where the host has no result, the library computes with these numbers itself. All else stays the library's
 * own code: the checks, the encodings, the error codes. */
#include "slowhand/stack.h"

#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/error-crypt.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/sp.h>

#include <string.h>

#if defined(WOLFSSL_HAVE_SP_ECC) && !defined(WOLFSSL_SP_NO_256)

#define NUMBER 32 /* octets of a number */
#define POINT (2 * NUMBER)

static int write_number(const mp_int *number, uint8_t octets[NUMBER])
{
    return mp_to_unsigned_bin_len(number, octets, NUMBER);
}

static int write_point(const mp_int *x, const mp_int *y, uint8_t octets[POINT])
{
    int ret = write_number(x, octets);
    return ret != MP_OKAY ? ret : write_number(y, octets + NUMBER);
}

static int read_point(ecc_point *point, const uint8_t octets[POINT])
{
    int ret;
    if ((ret = mp_read_unsigned_bin(point->x, octets, NUMBER)) != MP_OKAY
        || (ret = mp_read_unsigned_bin(point->y, octets + NUMBER, NUMBER)) != MP_OKAY)
        return ret;
    return mp_set(point->z, 1);
}

/* A number from 1 to the order of the group less 1: as sp_256_ecc_gen_k_5 of sp_c64.c draws it. */
static int draw_scalar(WC_RNG *rng, uint8_t scalar[NUMBER])
{
    /* The order of secp256r1 less 2 (SEC 2 section 2.4.2). */
    static const uint8_t MOST[NUMBER] = {
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x4F,
    };
    int ret;
    do {
        if ((ret = wc_RNG_GenerateBlock(rng, scalar, NUMBER)) != 0)
            return ret;
    } while (memcmp(scalar, MOST, NUMBER) > 0);
    for (int at = NUMBER - 1; at >= 0 && ++scalar[at] == 0; at--)
        ;
    return 0;
}

int slowhand_sp_ecc_mulmod_base_256(const mp_int *scalar, ecc_point *out, int is_affine, void *heap)
{
    uint8_t number[NUMBER], point[POINT];
    if (is_affine && write_number(scalar, number) == MP_OKAY && slowhand_host->p256_multiply(point, number, NULL))
        return read_point(out, point);
    return sp_ecc_mulmod_base_256(scalar, out, is_affine, heap);
}

int slowhand_sp_ecc_make_key_256(WC_RNG *rng, mp_int *private_key, ecc_point *public_key, void *heap)
{
    uint8_t scalar[NUMBER];
    int ret = draw_scalar(rng, scalar);
    if (ret == 0)
        ret = mp_read_unsigned_bin(private_key, scalar, NUMBER);
    return ret != 0 ? ret : slowhand_sp_ecc_mulmod_base_256(private_key, public_key, 1, heap);
}

int slowhand_sp_ecc_secret_gen_256(const mp_int *private_key, const ecc_point *public_key, byte *out, word32 *length, void *heap)
{
    uint8_t scalar[NUMBER], point[POINT];
    if (*length < NUMBER || !mp_isone(public_key->z) || write_number(private_key, scalar) != MP_OKAY
        || write_point(public_key->x, public_key->y, point) != MP_OKAY
        || !slowhand_host->p256_multiply(point, scalar, point))
        return sp_ecc_secret_gen_256(private_key, public_key, out, length, heap);
    memcpy(out, point, NUMBER);
    *length = NUMBER;
    return MP_OKAY;
}

int slowhand_sp_ecc_sign_256(const byte *hash, word32 hash_length, WC_RNG *rng, const mp_int *private_key, mp_int *r, mp_int *s,
                             mp_int *nonce, void *heap)
{
    uint8_t key[NUMBER], drawn[NUMBER], signature[POINT];
    mp_int own;
    int ret;
    /* A nonce that the caller has chosen, and a hash that is shorter than the numbers, are left to the library. */
    if ((nonce != NULL && !mp_iszero(nonce)) || hash_length < NUMBER)
        return sp_ecc_sign_256(hash, hash_length, rng, private_key, r, s, nonce, heap);
    if ((ret = draw_scalar(rng, drawn)) != 0)
        return ret;
    if (write_number(private_key, key) == MP_OKAY && slowhand_host->p256_sign(signature, key, drawn, hash)) {
        ret = mp_read_unsigned_bin(r, signature, NUMBER);
        return ret != MP_OKAY ? ret : mp_read_unsigned_bin(s, signature + NUMBER, NUMBER);
    }
    if ((ret = mp_init(&own)) != MP_OKAY)
        return ret;
    if ((ret = mp_read_unsigned_bin(&own, drawn, NUMBER)) == MP_OKAY)
        ret = sp_ecc_sign_256(hash, hash_length, rng, private_key, r, s, &own, heap);
    mp_forcezero(&own);
    return ret;
}

int slowhand_sp_ecc_verify_256(const byte *hash, word32 hash_length, const mp_int *x, const mp_int *y, const mp_int *z,
                               const mp_int *r, const mp_int *s, int *is_valid, void *heap)
{
    uint8_t point[POINT], signature[POINT];
    if (hash_length >= NUMBER && mp_isone(z) && write_point(x, y, point) == MP_OKAY
        && write_point(r, s, signature) == MP_OKAY && slowhand_host->p256_is_valid(point, hash, signature)) {
        *is_valid = 1;
        return MP_OKAY;
    }
    return sp_ecc_verify_256(hash, hash_length, x, y, z, r, s, is_valid, heap);
}

#endif
