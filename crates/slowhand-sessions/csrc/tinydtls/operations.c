/* Reports the operations of tinyDTLS to the device.
 *
 * build.rs compiles the *calling* files of the library with -D<function>=slowhand_<function>. The functions below have these
 * names. Each calls the real function, then reports the operation. The library's sources are unmodified. */
#include "hashing.h"
#include "library.h"

#include <string.h>

#include "tinydtls.h"
#include "crypto.h"

#define SECP256R1 23 /* TLS NamedGroup, RFC 8422 section 5.1.1 */
#define KEY_BITS 128

/* Called by dtls.c, crypto.c, hmac.c */

void slowhand_dtls_sha256_update(dtls_sha256_ctx *ctx, const uint8_t *input, size_t length)
{
    size_t buffered = (size_t) (ctx->bitcount / 8 % 64);
    dtls_sha256_update(ctx, input, length);
    uint32_t blocks = (uint32_t) ((buffered + length) / 64);
    count_sha256(blocks);
}

void slowhand_dtls_sha256_final(uint8_t digest[DTLS_SHA256_DIGEST_LENGTH], dtls_sha256_ctx *ctx)
{
    size_t buffered = (size_t) (ctx->bitcount / 8 % 64);
    dtls_sha256_final(digest, ctx);
    count_sha256(padding_blocks(buffered, 64));
}

/* Called by dtls.c, outside of the lock of the cipher context: while the device computes, another session may run */

int slowhand_dtls_encrypt_params(const dtls_ccm_params_t *params, const unsigned char *src, size_t length,
                                 unsigned char *buf, const unsigned char *key, size_t keylen,
                                 const unsigned char *aad, size_t la)
{
    int ret = dtls_encrypt_params(params, src, length, buf, key, keylen, aad, la);
    slowhand_host->seal(0, KEY_BITS, params->tag_length, (uint32_t) length, (uint32_t) la);
    return ret;
}

int slowhand_dtls_decrypt_params(const dtls_ccm_params_t *params, const unsigned char *src, size_t length,
                                 unsigned char *buf, const unsigned char *key, size_t keylen,
                                 const unsigned char *aad, size_t la)
{
    int ret = dtls_decrypt_params(params, src, length, buf, key, keylen, aad, la);
    size_t tag = params->tag_length;
    slowhand_host->open(0, KEY_BITS, (uint32_t) tag, (uint32_t) (length >= tag ? length - tag : 0), (uint32_t) la);
    return ret;
}

#ifdef DTLS_ECC
void slowhand_dtls_ecdsa_generate_key(unsigned char *priv_key, unsigned char *pub_key_x, unsigned char *pub_key_y,
                                      size_t key_size)
{
    dtls_ecdsa_generate_key(priv_key, pub_key_x, pub_key_y, key_size);
    slowhand_host->ecdh_generate(SECP256R1); /* the library generates only the ephemeral key with it */
}

int slowhand_dtls_ecdh_pre_master_secret(unsigned char *priv_key, unsigned char *pub_key_x,
                                         unsigned char *pub_key_y, size_t key_size, unsigned char *result,
                                         size_t result_len)
{
    int ret = dtls_ecdh_pre_master_secret(priv_key, pub_key_x, pub_key_y, key_size, result, result_len);
    slowhand_host->ecdh_agree(SECP256R1);
    return ret;
}

void slowhand_dtls_ecdsa_create_sig(const unsigned char *priv_key, size_t key_size,
                                    const unsigned char *client_random, size_t client_random_size,
                                    const unsigned char *server_random, size_t server_random_size,
                                    const unsigned char *keyx_params, size_t keyx_params_size,
                                    uint32_t point_r[9], uint32_t point_s[9])
{
    dtls_ecdsa_create_sig(priv_key, key_size, client_random, client_random_size, server_random,
                          server_random_size, keyx_params, keyx_params_size, point_r, point_s);
    slowhand_host->ecdsa_sign(SECP256R1);
}

void slowhand_dtls_ecdsa_create_sig_hash(const unsigned char *priv_key, size_t key_size,
                                         const unsigned char *sign_hash, size_t sign_hash_size,
                                         uint32_t point_r[9], uint32_t point_s[9])
{
    dtls_ecdsa_create_sig_hash(priv_key, key_size, sign_hash, sign_hash_size, point_r, point_s);
    slowhand_host->ecdsa_sign(SECP256R1);
}

int slowhand_dtls_ecdsa_verify_sig(const unsigned char *pub_key_x, const unsigned char *pub_key_y, size_t key_size,
                                   const unsigned char *client_random, size_t client_random_size,
                                   const unsigned char *server_random, size_t server_random_size,
                                   const unsigned char *keyx_params, size_t keyx_params_size,
                                   unsigned char *result_r, unsigned char *result_s)
{
    int ret = dtls_ecdsa_verify_sig(pub_key_x, pub_key_y, key_size, client_random, client_random_size,
                                    server_random, server_random_size, keyx_params, keyx_params_size, result_r,
                                    result_s);
    slowhand_host->ecdsa_verify(SECP256R1);
    return ret;
}

int slowhand_dtls_ecdsa_verify_sig_hash(const unsigned char *pub_key_x, const unsigned char *pub_key_y,
                                        size_t key_size, const unsigned char *sign_hash, size_t sign_hash_size,
                                        unsigned char *result_r, unsigned char *result_s)
{
    int ret = dtls_ecdsa_verify_sig_hash(pub_key_x, pub_key_y, key_size, sign_hash, sign_hash_size, result_r,
                                         result_s);
    slowhand_host->ecdsa_verify(SECP256R1);
    return ret;
}
#endif

/* The hash functions above count the PRF. This function finds the master secret for the key log: the key block is
 * PRF(master_secret, "key expansion", server_random, client_random), RFC 5246 section 6.3. */
size_t slowhand_dtls_prf(const unsigned char *key, size_t keylen, const unsigned char *label, size_t labellen,
                         const unsigned char *random1, size_t random1len, const unsigned char *random2,
                         size_t random2len, unsigned char *buf, size_t buflen)
{
    static const char KEY_EXPANSION[] = "key expansion";
    if (labellen == sizeof KEY_EXPANSION - 1 && memcmp(label, KEY_EXPANSION, labellen) == 0)
        slowhand_master_secret(random2, key, keylen);
    return dtls_prf(key, keylen, label, labellen, random1, random1len, random2, random2len, buf, buflen);
}
