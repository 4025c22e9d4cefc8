/* Gives tinyDTLS the fast arithmetic of secp256r1.
 *
 * build.rs compiles crypto.c with the functions of ecc.c renamed to these. For unusual input, and if the session asks for it, they
 * call the functions that they replace. A number of the library has eight words, the lowest first. */
#include "slowhand/stack.h"

#include "ecc/ecc.h"

#include <string.h>

#define NUMBER 32 /* octets of a number */
#define POINT (2 * NUMBER)

static void write_number(uint8_t octets[NUMBER], const uint32_t *words)
{
    for (int i = 0; i < NUMBER; i++)
        octets[NUMBER - 1 - i] = (uint8_t) (words[i / 4] >> i % 4 * 8);
}

static void read_number(uint32_t *words, const uint8_t octets[NUMBER])
{
    memset(words, 0, NUMBER);
    for (int i = 0; i < NUMBER; i++)
        words[i / 4] |= (uint32_t) octets[NUMBER - 1 - i] << i % 4 * 8;
}

void slowhand_ecc_ec_mult(const uint32_t *px, const uint32_t *py, const uint32_t *secret, uint32_t *resultx,
                          uint32_t *resulty)
{
    uint8_t scalar[NUMBER], point[POINT];
    write_number(scalar, secret);
    write_number(point, px);
    write_number(point + NUMBER, py);
    int is_generator = memcmp(px, ecc_g_point_x, NUMBER) == 0 && memcmp(py, ecc_g_point_y, NUMBER) == 0;
    if (slowhand_host->p256_multiply(point, scalar, is_generator ? NULL : point)) {
        read_number(resultx, point);
        read_number(resulty, point + NUMBER);
    } else {
        ecc_ec_mult(px, py, secret, resultx, resulty);
    }
    explicit_bzero(scalar, sizeof scalar);
    explicit_bzero(point, sizeof point);
}

int slowhand_ecc_ecdsa_sign(const uint32_t *d, const uint32_t *e, const uint32_t *k, uint32_t *r, uint32_t *s)
{
    uint8_t key[NUMBER], hash[NUMBER], nonce[NUMBER], signature[POINT];
    write_number(key, d);
    write_number(hash, e);
    write_number(nonce, k);
    int is_made = slowhand_host->p256_sign(signature, key, nonce, hash);
    explicit_bzero(key, sizeof key);
    explicit_bzero(nonce, sizeof nonce);
    if (!is_made)
        return ecc_ecdsa_sign(d, e, k, r, s);
    read_number(r, signature);
    read_number(s, signature + NUMBER);
    return 0;
}

int slowhand_ecc_ecdsa_validate(const uint32_t *x, const uint32_t *y, const uint32_t *e, const uint32_t *r,
                                const uint32_t *s)
{
    uint8_t point[POINT], hash[NUMBER], signature[POINT];
    write_number(point, x);
    write_number(point + NUMBER, y);
    write_number(hash, e);
    write_number(signature, r);
    write_number(signature + NUMBER, s);
    /* The library compares r with a coordinate that it does not reduce. So it refuses some valid signatures, all with a low r. */
    if (r[7] != 0 && slowhand_host->p256_is_valid(point, hash, signature))
        return 0;
    return ecc_ecdsa_validate(x, y, e, r, s);
}
