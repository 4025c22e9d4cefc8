/* Reports the operations of wolfSSL to the device.
 *
 * sources.json names the functions of the library that its other files call as slowhand_<function>. The functions below have these
 * names. Each calls the real function, then reports the operation. The library's sources are unmodified. */
#include "adapter.h"
#include "hashing.h"
#include "slowhand/stack.h"

#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/sha.h>
#include <wolfssl/wolfcrypt/sha256.h>
#include <wolfssl/wolfcrypt/sha512.h>

/* Hash functions. `GetHash` finishes a copy, inside the file that defines it. */

#define COUNTED_END(function, type, block, count)                                                                                \
    int slowhand_##function(type *hash, byte *output)                                                                            \
    {                                                                                                                            \
        uint32_t blocks = padding_blocks(hash->buffLen, block);                                                                  \
        slowhand_wolfssl_notice();                                                                                               \
        int ret = function(hash, output);                                                                                        \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }

#define COUNTED_HASH(name, type, block, count)                                                                                   \
    int slowhand_wc_##name##Update(type *hash, const byte *data, word32 length)                                                  \
    {                                                                                                                            \
        uint32_t blocks = (hash->buffLen + length) / (block);                                                                    \
        slowhand_wolfssl_notice();                                                                                               \
        int ret = wc_##name##Update(hash, data, length);                                                                         \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }                                                                                                                            \
    COUNTED_END(wc_##name##Final, type, block, count)                                                                            \
    COUNTED_END(wc_##name##GetHash, type, block, count)

#ifndef NO_SHA
COUNTED_HASH(Sha, wc_Sha, WC_SHA_BLOCK_SIZE, count_sha1)
#endif
COUNTED_HASH(Sha256, wc_Sha256, WC_SHA256_BLOCK_SIZE, count_sha256)
#ifdef WOLFSSL_SHA384
COUNTED_HASH(Sha384, wc_Sha384, WC_SHA384_BLOCK_SIZE, count_sha512)
#endif
#ifdef WOLFSSL_SHA512
COUNTED_HASH(Sha512, wc_Sha512, WC_SHA512_BLOCK_SIZE, count_sha512)
#endif

/* AES. Records are sealed by `Encrypt_ex`, which counts the nonces itself and calls `Encrypt` inside its file; tickets are sealed by
 * `Encrypt`. */

static uint32_t key_bits(const Aes *aes)
{
    return 8 * (uint32_t) aes->keylen;
}

#define COUNTED_AEAD(function, iv_type, tag_type, report, is_gcm)                                                                \
    int slowhand_##function(Aes *aes, byte *out, const byte *in, word32 length, iv_type *iv, word32 iv_length, tag_type *tag,    \
                            word32 tag_length, const byte *additional, word32 additional_length)                                 \
    {                                                                                                                            \
        slowhand_wolfssl_notice();                                                                                               \
        int ret = function(aes, out, in, length, iv, iv_length, tag, tag_length, additional, additional_length);                 \
        slowhand_host->report(is_gcm, key_bits(aes), tag_length, length, additional_length);                                     \
        return ret;                                                                                                              \
    }

#ifdef HAVE_AESCCM
COUNTED_AEAD(wc_AesCcmEncrypt, const byte, byte, seal, 0)
COUNTED_AEAD(wc_AesCcmEncrypt_ex, byte, byte, seal, 0)
COUNTED_AEAD(wc_AesCcmDecrypt, const byte, const byte, open, 0)
#endif
#ifdef HAVE_AESGCM
COUNTED_AEAD(wc_AesGcmEncrypt, const byte, byte, seal, 1)
COUNTED_AEAD(wc_AesGcmEncrypt_ex, byte, byte, seal, 1)
COUNTED_AEAD(wc_AesGcmDecrypt, const byte, const byte, open, 1)
#endif

#ifdef WOLFSSL_AES_DIRECT
/* Called for the mask of a record number in DTLS 1.3 (RFC 9147 section 4.2.3): one block of AES. */
int slowhand_wc_AesEncryptDirect(Aes *aes, byte *out, const byte *in)
{
    slowhand_wolfssl_notice();
    int ret = wc_AesEncryptDirect(aes, out, in);
    slowhand_host->cbc(1, key_bits(aes), WC_AES_BLOCK_SIZE);
    return ret;
}
#endif

#ifdef HAVE_AES_CBC
int slowhand_wc_AesCbcEncrypt(Aes *aes, byte *out, const byte *in, word32 length)
{
    slowhand_wolfssl_notice();
    int ret = wc_AesCbcEncrypt(aes, out, in, length);
    slowhand_host->cbc(1, key_bits(aes), length);
    return ret;
}

int slowhand_wc_AesCbcDecrypt(Aes *aes, byte *out, const byte *in, word32 length)
{
    slowhand_wolfssl_notice();
    int ret = wc_AesCbcDecrypt(aes, out, in, length);
    slowhand_host->cbc(0, key_bits(aes), length);
    return ret;
}
#endif

/* Elliptic curves. Nothing is reported of X25519, of which no device has a time. */

#ifdef HAVE_ECC
/* The TLS NamedGroup, or 0 for a curve that no session here uses. */
static uint16_t named_group(const ecc_key *key)
{
    return key->dp != NULL && key->dp->id == ECC_SECP256R1 ? 23 : 0;
}

int slowhand_wc_ecc_make_key_ex(WC_RNG *rng, int size, ecc_key *key, int curve)
{
    slowhand_wolfssl_notice();
    int ret = wc_ecc_make_key_ex(rng, size, key, curve);
    slowhand_host->ecdh_generate(named_group(key));
    return ret;
}

int slowhand_wc_ecc_shared_secret(ecc_key *key, ecc_key *peer, byte *out, word32 *length)
{
    slowhand_wolfssl_notice();
    int ret = wc_ecc_shared_secret(key, peer, out, length);
    slowhand_host->ecdh_agree(named_group(key));
    return ret;
}

/* The public point of a key of secp256r1. Returns 0 if it is another one. */
static int read_point(const ecc_key *key, uint8_t point[64])
{
    return named_group(key) == 23 && mp_to_unsigned_bin_len(key->pubkey.x, point, 32) == MP_OKAY
           && mp_to_unsigned_bin_len(key->pubkey.y, point + 32, 32) == MP_OKAY;
}

int slowhand_wc_ecc_sign_hash(const byte *hash, word32 hash_length, byte *signature, word32 *length, WC_RNG *rng, ecc_key *key)
{
    uint8_t point[64];
    slowhand_wolfssl_notice();
    int ret = wc_ecc_sign_hash(hash, hash_length, signature, length, rng, key);
    if (ret == 0 && key->type == ECC_PRIVATEKEY && read_point(key, point))
        slowhand_host->p256_signed(point, hash, hash_length, signature, *length);
    slowhand_host->ecdsa_sign(named_group(key));
    return ret;
}

int slowhand_wc_ecc_verify_hash(const byte *signature, word32 length, const byte *hash, word32 hash_length, int *is_valid,
                                ecc_key *key)
{
    uint8_t point[64];
    int ret = 0, has_point = length > 0 && hash_length > 0 && read_point(key, point);
    slowhand_wolfssl_notice();
    if (has_point && slowhand_host->p256_is_signed(point, hash, hash_length, signature, length)) {
        *is_valid = 1;
    } else {
        ret = wc_ecc_verify_hash(signature, length, hash, hash_length, is_valid, key);
        if (has_point && ret == 0 && *is_valid == 1)
            slowhand_host->p256_signed(point, hash, hash_length, signature, length);
    }
    slowhand_host->ecdsa_verify(named_group(key));
    return ret;
}
#endif
