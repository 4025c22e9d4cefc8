/* The system's randomness of BoringSSL, instead of its own files. */
extern "C" {
#include "host.h"
}

#include "crypto/internal.h"
#include "crypto/bcm_support.h"
#include "crypto/fipsmodule/rand/internal.h"

void bssl::CRYPTO_init_sysrand() {}

void bssl::CRYPTO_sysrand(uint8_t *output, size_t length)
{
    interop_random(output, length);
}
