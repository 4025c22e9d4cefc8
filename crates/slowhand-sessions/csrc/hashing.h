/* Counts the compressions of hash functions. Each operations.c that includes this file has its own `inside_signature`. */
#ifndef SLOWHAND_HASHING_H
#define SLOWHAND_HASHING_H

#include "slowhand/stack.h"

/* True during an operation of public keys that hashes: for the deterministic nonce of a signature (as in RFC 6979), or for the numbers
 * that blind a multiplication. That is part of the operation, so it is not counted. */
static __thread int inside_signature;

/* The deterministic nonce does not use SHA-1. */
static inline void count_sha1(uint32_t blocks)
{
    if (blocks > 0)
        slowhand_host->sha1(blocks);
}

static inline void count_sha256(uint32_t blocks)
{
    if (blocks > 0 && !inside_signature)
        slowhand_host->sha256(blocks);
}

static inline void count_sha512(uint32_t blocks)
{
    if (blocks > 0 && !inside_signature)
        slowhand_host->sha512(blocks);
}

/* The number of compressions to finish a hash after `length` octets. The padding needs one octet, and an eighth of a block for
 * the length (FIPS 180-4 section 5.1). */
static inline uint32_t padding_blocks(size_t length, size_t block)
{
    return length % block < block - block / 8 ? 1 : 2;
}

#endif
