/* Fast powers and inverses for RSA, which src/arithmetic/powers.rs implements. build.rs generates checks that the functions in Rust
 * have these types. Numbers are big-endian. */
#ifndef SLOWHAND_POWER_H
#define SLOWHAND_POWER_H

#include <stddef.h>
#include <stdint.h>

#define LONGEST 512 /* octets of the longest modulus: of RSA-4096 */

/* base ^ exponent, modulo an odd number of `length` octets, which is the length of the result too. `out` may be an input. Returns
 * 0 if the library has to compute with its own code: the session asks for that, this processor has no fast arithmetic, or the
 * numbers are unusual. */
int slowhand_power(uint8_t *out, const uint8_t *base, size_t base_length, const uint8_t *exponent, size_t exponent_length,
                   const uint8_t *modulus, size_t length);
/* 1 / number, modulo an odd number. The lengths are all `length`, and the rest is as for the power. */
int slowhand_inverse(uint8_t *out, const uint8_t *number, const uint8_t *modulus, size_t length);

#endif
