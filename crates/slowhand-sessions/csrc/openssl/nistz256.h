/* The arithmetic of secp256r1 in assembly. src/arithmetic.rs calls these functions. Numbers are big-endian and have 32 octets; a
 * point is x, then y. Each function returns 1, or 0 if it has no result. `out` may be one of the inputs. */
#ifndef SLOWHAND_NISTZ256_H
#define SLOWHAND_NISTZ256_H

#include <stdint.h>

/* point * scalar, or generator * scalar if the point is NULL. No result: it is infinite, or the point is not on the curve. */
int slowhand_nistz256_multiply(uint8_t out[64], const uint8_t scalar[32], const uint8_t *point);
/* generator * of_generator + point * of_point */
int slowhand_nistz256_multiply_add(uint8_t out[64], const uint8_t of_generator[32], const uint8_t of_point[32],
                                   const uint8_t point[64]);
/* 1 / number, modulo the order of the group. The number is not a multiple of the order. */
int slowhand_nistz256_invert(uint8_t out[32], const uint8_t number[32]);

#endif
