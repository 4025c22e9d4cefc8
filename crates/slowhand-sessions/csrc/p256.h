/* The fast arithmetic of secp256r1, which src/arithmetic.rs implements. build.rs generates checks that the functions in Rust have
 * these types. Numbers are big-endian and have 32 octets; a point is x, then y. `out` may be an input. Each function returns 0 if
 * the library has to compute with its own code: the session asks for that, this processor has no fast arithmetic, or there is no
 * result. */
#ifndef SLOWHAND_P256_H
#define SLOWHAND_P256_H

#include <stddef.h>
#include <stdint.h>

/* point * scalar, or generator * scalar if the point is NULL. */
int slowhand_p256_multiply(uint8_t out[64], const uint8_t scalar[32], const uint8_t *point);
/* generator * of_generator + point * of_point */
int slowhand_p256_multiply_add(uint8_t out[64], const uint8_t of_generator[32], const uint8_t of_point[32],
                               const uint8_t point[64]);
/* 1 / number, modulo the order of the group. */
int slowhand_p256_invert(uint8_t out[32], const uint8_t number[32]);
/* A signature with this nonce: r, then s. */
int slowhand_p256_sign(uint8_t out[64], const uint8_t private_key[32], const uint8_t nonce[32],
                       const uint8_t hash[32]);
/* True if this signature, r and then s, is valid. If not, the library has to verify it. */
int slowhand_p256_is_valid(const uint8_t point[64], const uint8_t hash[32], const uint8_t signature[64]);
/* True if this signature (DER) of a hash is known to be valid: it was made or verified before. */
int slowhand_p256_is_signed(const uint8_t point[64], const uint8_t *hash, size_t hash_length, const uint8_t *signature,
                            size_t length);
/* From now on, this signature is known to be valid. */
void slowhand_p256_signed(const uint8_t point[64], const uint8_t *hash, size_t hash_length, const uint8_t *signature,
                          size_t length);

#endif
