/* The device below the libraries, as the laboratory has it for them (csrc/slowhand/stack.h): here it is this
 * computer. Who else computes has no result, so the libraries compute with their own code. */
#include "end.h"

#include "../../crates/slowhand-sessions/csrc/slowhand/stack.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t device_now_ns(void)
{
    return now_ms() * 1000000;
}

static uint64_t device_unix_time_ms(void)
{
    return (uint64_t) time(NULL) * 1000;
}

static void device_random(uint8_t *octets, size_t length)
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

static int no_result()
{
    return 0;
}

static void nothing()
{
}

static void nothing_of(uint16_t number)
{
    (void) number;
}

/* The functions that a library calls in a session here. */
static const struct slowhand_host DEVICE = {
    .version = SLOWHAND_STACK_VERSION,
    .now_ns = device_now_ns,
    .unix_time_ms = device_unix_time_ms,
    .random = device_random,
    .verified = nothing,
    .sha1 = nothing,
    .sha256 = nothing,
    .sha512 = nothing,
    .seal = nothing,
    .open = nothing,
    .cbc = nothing,
    .ecdh_generate = nothing_of,
    .ecdh_agree = nothing_of,
    .ecdsa_sign = nothing_of,
    .ecdsa_verify = nothing_of,
    .rsa_sign = nothing_of,
    .rsa_verify = nothing_of,
    .rsa_encrypt = nothing_of,
    .rsa_decrypt = nothing_of,
    .p256_multiply = no_result,
    .p256_multiply_add = no_result,
    .p256_invert = no_result,
    .p256_sign = no_result,
    .p256_is_valid = no_result,
    .p256_is_signed = no_result,
    .p256_signed = nothing,
    .power = no_result,
    .inverse = no_result,
};

/* Where the library of this program looks for its device, if it is one of the laboratory. */
extern const struct slowhand_host *slowhand_host_of_mbedtls __attribute__((weak));
extern const struct slowhand_host *slowhand_host_of_openssl __attribute__((weak));
extern const struct slowhand_host *slowhand_host_of_wolfssl __attribute__((weak));

__attribute__((constructor)) static void attach(void)
{
    if (&slowhand_host_of_mbedtls != NULL)
        slowhand_host_of_mbedtls = &DEVICE;
    if (&slowhand_host_of_openssl != NULL)
        slowhand_host_of_openssl = &DEVICE;
    if (&slowhand_host_of_wolfssl != NULL)
        slowhand_host_of_wolfssl = &DEVICE;
}
