/* Reports the operations of OpenSSL to the device.
 *
 * build.rs compiles the *calling* files of the library with -D<function>=slowhand_<function>. The functions below have these
 * names. Each calls the real function, then reports the operation. The library's sources are unmodified. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "openssl/arithmetic.h"
#include "hashing.h"
#include "slowhand/stack.h"

#include <openssl/ec.h>
#include <openssl/obj_mac.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

#include "prov/ciphercommon.h"
#include "prov/ciphercommon_ccm.h"
#include "prov/ciphercommon_gcm.h"
#include "ssl/ssl_local.h"
#include "ssl/statem/statem_local.h"

/* The TLS NamedGroup, or 0 for a curve that no session here uses. */
static uint16_t named_group(const EC_KEY *key)
{
    switch (EC_GROUP_get_curve_name(EC_KEY_get0_group(key))) {
    case NID_X9_62_prime192v1:
        return 19;
    case NID_X9_62_prime256v1:
        return 23;
    default:
        return 0;
    }
}

/* Called by sha2_prov.c */

/* OpenSSL 4 calls the functions with `_thunk`. */
#define COUNTED_HASH(name, type, block, count)                                                                                   \
    int slowhand_##name##_Update(type *ctx, const void *data, size_t length)                                                     \
    {                                                                                                                            \
        uint32_t blocks = (uint32_t) ((ctx->num + length) / (block));                                                            \
        int ret = name##_Update(ctx, data, length);                                                                              \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }                                                                                                                            \
    int slowhand_##name##_Update_thunk(void *ctx, const unsigned char *data, size_t length)                                      \
    {                                                                                                                            \
        return slowhand_##name##_Update(ctx, data, length);                                                                      \
    }                                                                                                                            \
    int slowhand_##name##_Final(unsigned char *output, type *ctx)                                                                \
    {                                                                                                                            \
        uint32_t blocks = padding_blocks(ctx->num, block);                                                                       \
        int ret = name##_Final(output, ctx);                                                                                     \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }

COUNTED_HASH(SHA1, SHA_CTX, SHA_CBLOCK, count_sha1)
COUNTED_HASH(SHA256, SHA256_CTX, SHA256_CBLOCK, count_sha256)
COUNTED_HASH(SHA512, SHA512_CTX, SHA512_CBLOCK, count_sha512)

/* Called by cipher_aes_ccm_hw.c: first with the additional data of a record, then with its content */

static _Thread_local size_t additional;

int slowhand_ossl_ccm_generic_setaad(PROV_CCM_CTX *ctx, const unsigned char *data, size_t length)
{
    additional = length;
    return ossl_ccm_generic_setaad(ctx, data, length);
}

int slowhand_ossl_ccm_generic_auth_encrypt(PROV_CCM_CTX *ctx, const unsigned char *in, unsigned char *out,
                                           size_t length, unsigned char *tag, size_t tag_len)
{
    int ret = ossl_ccm_generic_auth_encrypt(ctx, in, out, length, tag, tag_len);
    slowhand_host->seal(0, 8 * (uint32_t) ctx->keylen, (uint32_t) ctx->m, (uint32_t) length, (uint32_t) additional);
    return ret;
}

int slowhand_ossl_ccm_generic_auth_decrypt(PROV_CCM_CTX *ctx, const unsigned char *in, unsigned char *out,
                                           size_t length, unsigned char *expected_tag, size_t tag_len)
{
    int ret = ossl_ccm_generic_auth_decrypt(ctx, in, out, length, expected_tag, tag_len);
    slowhand_host->open(0, 8 * (uint32_t) ctx->keylen, (uint32_t) ctx->m, (uint32_t) length, (uint32_t) additional);
    return ret;
}

/* Called by cipher_aes_gcm_hw.c */

int slowhand_ossl_gcm_cipher_final(PROV_GCM_CTX *ctx, unsigned char *tag)
{
    uint32_t additional_octets = (uint32_t) ctx->gcm.len.u[0], octets = (uint32_t) ctx->gcm.len.u[1];
    int is_sealed = ctx->enc;
    int ret = ossl_gcm_cipher_final(ctx, tag);
    (is_sealed ? slowhand_host->seal : slowhand_host->open)(1, 8 * (uint32_t) ctx->keylen, GCM_TAG_MAX_SIZE, octets,
                                                additional_octets);
    return ret;
}

/* Called by cipher_aes_hw.c */

int slowhand_ossl_cipher_hw_generic_cbc(PROV_CIPHER_CTX *ctx, unsigned char *out, const unsigned char *in,
                                        size_t length)
{
    int ret = ossl_cipher_hw_generic_cbc(ctx, out, in, length);
    slowhand_host->cbc(ctx->enc, 8 * (uint32_t) ctx->keylen, (uint32_t) length);
    return ret;
}

/* Called by ec_kmgmt.c */

int slowhand_EC_KEY_generate_key(EC_KEY *key)
{
    int ret = EC_KEY_generate_key(key);
    slowhand_host->ecdh_generate(named_group(key));
    return ret;
}

/* Called by ecdh_exch.c */

int slowhand_ECDH_compute_key(void *out, size_t out_len, const EC_POINT *public_key, const EC_KEY *key,
                              void *(*derive)(const void *, size_t, void *, size_t *))
{
    int ret = ECDH_compute_key(out, out_len, public_key, key, derive);
    slowhand_host->ecdh_agree(named_group(key));
    return ret;
}

/* Called by ecdsa_sig.c */

int slowhand_ECDSA_sign_ex(int type, const unsigned char *hash, int hash_len, unsigned char *signature,
                           unsigned int *length, const BIGNUM *kinv, const BIGNUM *r, EC_KEY *key)
{
    inside_signature = 1;
    int ret = ECDSA_sign_ex(type, hash, hash_len, signature, length, kinv, r, key);
    inside_signature = 0;
    if (ret == 1)
        slowhand_openssl_signed(key, hash, hash_len, signature, *length);
    slowhand_host->ecdsa_sign(named_group(key));
    return ret;
}

int slowhand_ECDSA_verify(int type, const unsigned char *hash, int hash_len, const unsigned char *signature,
                          int length, EC_KEY *key)
{
    int ret = 1;
    if (!slowhand_openssl_is_signed(key, hash, hash_len, signature, length)
        && (ret = ECDSA_verify(type, hash, hash_len, signature, length, key)) == 1)
        slowhand_openssl_signed(key, hash, hash_len, signature, (size_t) length);
    slowhand_host->ecdsa_verify(named_group(key));
    return ret;
}

/* Called by rsa_sig.c */

static uint16_t rsa_bits(const RSA *key)
{
    return (uint16_t) RSA_bits(key);
}

int slowhand_RSA_sign(int type, const unsigned char *hash, unsigned int hash_len, unsigned char *signature,
                      unsigned int *length, RSA *key)
{
    int ret = RSA_sign(type, hash, hash_len, signature, length, key);
    slowhand_host->rsa_sign(rsa_bits(key));
    return ret;
}

int slowhand_RSA_verify(int type, const unsigned char *hash, unsigned int hash_len, const unsigned char *signature,
                        unsigned int length, RSA *key)
{
    int ret = RSA_verify(type, hash, hash_len, signature, length, key);
    slowhand_host->rsa_verify(rsa_bits(key));
    return ret;
}

/* Called by rsa_enc.c */

int slowhand_RSA_public_encrypt(int length, const unsigned char *in, unsigned char *out, RSA *key, int padding)
{
    int ret = RSA_public_encrypt(length, in, out, key, padding);
    slowhand_host->rsa_encrypt(rsa_bits(key));
    return ret;
}

int slowhand_RSA_private_decrypt(int length, const unsigned char *in, unsigned char *out, RSA *key, int padding)
{
    int ret = RSA_private_decrypt(length, in, out, key, padding);
    slowhand_host->rsa_decrypt(rsa_bits(key));
    return ret;
}

/* Called by statem_clnt.c and statem_srvr.c */

MSG_PROCESS_RETURN slowhand_tls_process_finished(SSL_CONNECTION *connection, PACKET *message)
{
    MSG_PROCESS_RETURN ret = tls_process_finished(connection, message);
    if (ret != MSG_PROCESS_ERROR)
        slowhand_host->verified();
    return ret;
}
