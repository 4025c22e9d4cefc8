/* Powers by Montgomery multiplication in assembly, and inverses. src/arithmetic/powers.rs calls these functions. */
#ifndef SLOWHAND_MONTGOMERY_H
#define SLOWHAND_MONTGOMERY_H

#include <stddef.h>
#include <stdint.h>

/* base ^ exponent modulo `modulus`. All are big-endian; the result has `length` octets. Returns 1, or 0 if there is no result: the
 * modulus is even, its first octet is zero, or its length is not a multiple of 32 from 32 to 512. `out` may be an input. */
int slowhand_montgomery_power(uint8_t *out, const uint8_t *base, size_t base_length, const uint8_t *exponent,
                              size_t exponent_length, const uint8_t *modulus, size_t length);
/* 1 / number, modulo `modulus`; both, and the result, have `length` octets. No result: as above, or there is no inverse. */
int slowhand_montgomery_invert(uint8_t *out, const uint8_t *number, const uint8_t *modulus, size_t length);

#endif
