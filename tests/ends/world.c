/* The device below the libraries, as the laboratory has it for them (csrc/slowhand.h, csrc/library.h, interop/csrc/host.h): here it
 * is this computer. Who else computes has no result, so the libraries compute with their own code. */
#include "end.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t slowhand_now_ns(void)
{
    return now_ms() * 1000000;
}

uint64_t slowhand_unix_time_ms(void)
{
    return (uint64_t) time(NULL) * 1000;
}

/* Another clock would make timers jump. */
uint64_t interop_unix_time_ms(void)
{
    return (uint64_t) time(NULL) * 1000;
}

void slowhand_random(uint8_t *octets, size_t length)
{
    fill_randomly(octets, length);
}

void interop_random(uint8_t *octets, size_t length)
{
    fill_randomly(octets, length);
}

void *slowhand_malloc(size_t length)
{
    return malloc(length);
}

void *slowhand_calloc(size_t count, size_t length)
{
    return calloc(count, length);
}

void *slowhand_realloc(void *memory, size_t length)
{
    return realloc(memory, length);
}

int slowhand_posix_memalign(void **memory, size_t alignment, size_t length)
{
    return posix_memalign(memory, alignment, length);
}

char *slowhand_strdup(const char *text)
{
    return strdup(text);
}

void slowhand_free(void *memory)
{
    free(memory);
}

#define HAS_NO_RESULT(name) \
    int name(void)          \
    {                       \
        return 0;           \
    }
HAS_NO_RESULT(slowhand_p256_multiply)
HAS_NO_RESULT(slowhand_p256_multiply_add)
HAS_NO_RESULT(slowhand_p256_invert)
HAS_NO_RESULT(slowhand_p256_is_signed)
HAS_NO_RESULT(slowhand_p256_signed)
HAS_NO_RESULT(slowhand_power)
HAS_NO_RESULT(slowhand_inverse)
HAS_NO_RESULT(slowhand_sha1)
HAS_NO_RESULT(slowhand_sha256)
HAS_NO_RESULT(slowhand_sha512)
HAS_NO_RESULT(slowhand_seal)
HAS_NO_RESULT(slowhand_open)
HAS_NO_RESULT(slowhand_cbc)
HAS_NO_RESULT(slowhand_ecdh_generate)
HAS_NO_RESULT(slowhand_ecdh_agree)
HAS_NO_RESULT(slowhand_ecdsa_sign)
HAS_NO_RESULT(slowhand_ecdsa_verify)
HAS_NO_RESULT(slowhand_rsa_sign)
HAS_NO_RESULT(slowhand_rsa_verify)
HAS_NO_RESULT(slowhand_rsa_encrypt)
HAS_NO_RESULT(slowhand_rsa_decrypt)
HAS_NO_RESULT(slowhand_verified)
