/* Reports the operations of mbedTLS to the device.
 *
 * build.rs compiles the *calling* files of the library with -D<function>=slowhand_<function>. The functions below have these
 * names. Each calls the real function, then reports the operation. The library's sources are unmodified. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "arithmetic.h"
#include "hashing.h"
#include "compatibility.h"
#include "slowhand/stack.h"

#include "mbedtls/cipher.h"
#include "mbedtls/ecdh.h"
#include "mbedtls/ecdsa.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"

static uint16_t named_group(mbedtls_ecp_group_id id)
{
    const mbedtls_ecp_curve_info *info = mbedtls_ecp_curve_info_from_grp_id(id);
    return info == NULL ? 0 : info->tls_id;
}

/* Called by md.c, and by psa_crypto_hash.c for TLS 1.3 */

#define COUNTED_HASH(name, block, count)                                                                                         \
    int slowhand_mbedtls_##name##_update(mbedtls_##name##_context *ctx, const unsigned char *input, size_t ilen)                 \
    {                                                                                                                            \
        uint32_t blocks = (uint32_t) ((ctx->total[0] % (block) + ilen) / (block));                                               \
        int ret = mbedtls_##name##_update(ctx, input, ilen);                                                                     \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }                                                                                                                            \
    int slowhand_mbedtls_##name##_finish(mbedtls_##name##_context *ctx, unsigned char *output)                                   \
    {                                                                                                                            \
        uint32_t blocks = padding_blocks((size_t) ctx->total[0], block);                                                         \
        int ret = mbedtls_##name##_finish(ctx, output);                                                                          \
        count(blocks);                                                                                                           \
        return ret;                                                                                                              \
    }

#if defined(MBEDTLS_SHA1_C)
COUNTED_HASH(sha1, 64, count_sha1)

int slowhand_mbedtls_sha1(const unsigned char *input, size_t ilen, unsigned char *output)
{
    int ret = mbedtls_sha1(input, ilen, output);
    count_sha1((uint32_t) (ilen / 64) + padding_blocks(ilen, 64));
    return ret;
}
#endif

COUNTED_HASH(sha256, 64, count_sha256)

int slowhand_mbedtls_sha256(const unsigned char *input, size_t ilen, unsigned char *output, int is224)
{
    int ret = mbedtls_sha256(input, ilen, output, is224);
    count_sha256((uint32_t) (ilen / 64) + padding_blocks(ilen, 64));
    return ret;
}

#if defined(MBEDTLS_SHA512_C)
COUNTED_HASH(sha512, 128, count_sha512)

int slowhand_mbedtls_sha512(const unsigned char *input, size_t ilen, unsigned char *output, int is384)
{
    int ret = mbedtls_sha512(input, ilen, output, is384);
    count_sha512((uint32_t) (ilen / 128) + padding_blocks(ilen, 128));
    return ret;
}
#endif

/* Called by ssl_msg.c */

#define COUNTED_AEAD(direction, report, content)                                                                                 \
    int slowhand_mbedtls_cipher_auth_##direction##_ext(mbedtls_cipher_context_t *ctx, const unsigned char *iv, size_t iv_len,    \
                                                       const unsigned char *ad, size_t ad_len, const unsigned char *input,       \
                                                       size_t ilen, unsigned char *output, size_t output_len, size_t *olen,      \
                                                       size_t tag_len)                                                           \
    {                                                                                                                            \
        int ret = mbedtls_cipher_auth_##direction##_ext(ctx, iv, iv_len, ad, ad_len, input, ilen, output, output_len, olen,      \
                                                        tag_len);                                                                \
        slowhand_host->report(mbedtls_cipher_get_cipher_mode(ctx) == MBEDTLS_MODE_GCM,                                           \
                              (uint32_t) mbedtls_cipher_get_key_bitlen(ctx), (uint32_t) tag_len, (uint32_t) (content),           \
                              (uint32_t) ad_len);                                                                                \
        return ret;                                                                                                              \
    }

COUNTED_AEAD(encrypt, seal, ilen)
COUNTED_AEAD(decrypt, open, ilen - tag_len)

/* With the suites here, the record layer calls this only for AES in CBC mode. */
int slowhand_mbedtls_cipher_crypt(mbedtls_cipher_context_t *ctx, const unsigned char *iv, size_t iv_len,
                                  const unsigned char *input, size_t ilen, unsigned char *output, size_t *olen)
{
    int ret = mbedtls_cipher_crypt(ctx, iv, iv_len, input, ilen, output, olen);
    slowhand_host->cbc(mbedtls_cipher_get_operation(ctx) == MBEDTLS_ENCRYPT,
                 (uint32_t) mbedtls_cipher_get_key_bitlen(ctx), (uint32_t) ilen);
    return ret;
}

/* Called by ssl_tls12_client.c and ssl_tls12_server.c, in 2.28 by ssl_cli.c and ssl_srv.c */

#if defined(MBEDTLS_ECDH_C)
#define COUNTED_ECDH(function, report)                                                                                           \
    int slowhand_##function(mbedtls_ecdh_context *ctx, size_t *olen, unsigned char *buf, size_t blen, slowhand_rng_t *f_rng,     \
                            void *p_rng)                                                                                         \
    {                                                                                                                            \
        int ret = function(ctx, olen, buf, blen, f_rng, p_rng);                                                                  \
        slowhand_host->report(named_group(ctx->grp_id));                                                                         \
        return ret;                                                                                                              \
    }

COUNTED_ECDH(mbedtls_ecdh_make_params, ecdh_generate)
COUNTED_ECDH(mbedtls_ecdh_make_public, ecdh_generate)
COUNTED_ECDH(mbedtls_ecdh_calc_secret, ecdh_agree)
#endif

/* Called by ecjpake.c. A multiplication of the base point counts as a key generation, one of another point as a shared secret. */

static void count_multiplication(const mbedtls_ecp_group *grp, const mbedtls_ecp_point *point)
{
    if (point == &grp->G)
        slowhand_host->ecdh_generate(named_group(grp->id));
    else
        slowhand_host->ecdh_agree(named_group(grp->id));
}

int slowhand_mbedtls_ecp_gen_keypair_base(mbedtls_ecp_group *grp, const mbedtls_ecp_point *G, mbedtls_mpi *d,
                                          mbedtls_ecp_point *Q, int (*f_rng)(void *, unsigned char *, size_t),
                                          void *p_rng)
{
    int ret = mbedtls_ecp_gen_keypair_base(grp, G, d, Q, f_rng, p_rng);
    count_multiplication(grp, G);
    return ret;
}

/* Like mbedtls_ecp_mul_shortcuts of ecp.c: the sum alone is no multiplication. */
static int is_multiplication(const mbedtls_mpi *scalar)
{
    return mbedtls_mpi_cmp_int(scalar, 0) != 0 && mbedtls_mpi_cmp_int(scalar, 1) != 0
           && mbedtls_mpi_cmp_int(scalar, -1) != 0;
}

int slowhand_mbedtls_ecp_muladd(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                                const mbedtls_ecp_point *P, const mbedtls_mpi *n, const mbedtls_ecp_point *Q)
{
    inside_signature = 1; /* 2.28 hashes to blind a multiplication */
    int ret = mbedtls_ecp_muladd(grp, R, m, P, n, Q);
    inside_signature = 0;
    if (is_multiplication(m))
        count_multiplication(grp, P);
    if (is_multiplication(n))
        count_multiplication(grp, Q);
    return ret;
}

/* Called by ecjpake.c, and by psa_crypto_ecp.c for TLS 1.3, which also calls mbedtls_ecdh_calc_secret. PSA generates only the scalar of a key pair.
 * It computes the point here, when it exports the public key for the KeyShareEntry. */

int slowhand_mbedtls_ecp_mul(mbedtls_ecp_group *grp, mbedtls_ecp_point *R, const mbedtls_mpi *m,
                             const mbedtls_ecp_point *P, int (*f_rng)(void *, unsigned char *, size_t), void *p_rng)
{
    int ret = mbedtls_ecp_mul(grp, R, m, P, f_rng, p_rng);
    count_multiplication(grp, P);
    return ret;
}

/* Called by pk_wrap.c */

#if defined(MBEDTLS_ECDSA_C)
int slowhand_mbedtls_ecdsa_write_signature(mbedtls_ecdsa_context *ctx, mbedtls_md_type_t md_alg,
                                           const unsigned char *hash, size_t hlen, unsigned char *sig,
                                           IN_3(size_t sig_size) size_t *slen,
                                           int (*f_rng)(void *, unsigned char *, size_t), void *p_rng)
{
    inside_signature = 1;
    int ret = mbedtls_ecdsa_write_signature(ctx, md_alg, hash, hlen, sig, IN_3(sig_size) slen, f_rng, p_rng);
    inside_signature = 0;
    if (ret == 0)
        slowhand_mbedtls_signed(ctx, hash, hlen, sig, *slen);
    slowhand_host->ecdsa_sign(named_group(ctx->grp.id));
    return ret;
}

int slowhand_mbedtls_ecdsa_read_signature(mbedtls_ecdsa_context *ctx, const unsigned char *hash, size_t hlen,
                                          const unsigned char *sig, size_t slen)
{
    int ret = 0;
    inside_signature = 1; /* as in mbedtls_ecp_muladd */
    if (!slowhand_mbedtls_is_signed(ctx, hash, hlen, sig, slen)
        && (ret = mbedtls_ecdsa_read_signature(ctx, hash, hlen, sig, slen)) == 0)
        slowhand_mbedtls_signed(ctx, hash, hlen, sig, slen);
    inside_signature = 0;
    slowhand_host->ecdsa_verify(named_group(ctx->grp.id));
    return ret;
}

#endif

#if defined(MBEDTLS_RSA_C)
static uint16_t rsa_bits(const mbedtls_rsa_context *ctx)
{
    return (uint16_t) mbedtls_rsa_get_bitlen(ctx);
}

int slowhand_mbedtls_rsa_pkcs1_sign(mbedtls_rsa_context *ctx, slowhand_rng_t *f_rng, void *p_rng, IN_2(int mode)
                                    mbedtls_md_type_t md_alg, unsigned int hashlen, const unsigned char *hash,
                                    unsigned char *sig)
{
    int ret = mbedtls_rsa_pkcs1_sign(ctx, f_rng, p_rng, IN_2(mode) md_alg, hashlen, hash, sig);
    slowhand_host->rsa_sign(rsa_bits(ctx));
    return ret;
}

int slowhand_mbedtls_rsa_pkcs1_verify(mbedtls_rsa_context *ctx, IN_2(slowhand_rng_t *f_rng) IN_2(void *p_rng) IN_2(int mode)
                                      mbedtls_md_type_t md_alg, unsigned int hashlen, const unsigned char *hash,
                                      const unsigned char *sig)
{
    int ret = mbedtls_rsa_pkcs1_verify(ctx, IN_2(f_rng) IN_2(p_rng) IN_2(mode) md_alg, hashlen, hash, sig);
    slowhand_host->rsa_verify(rsa_bits(ctx));
    return ret;
}

int slowhand_mbedtls_rsa_pkcs1_encrypt(mbedtls_rsa_context *ctx, slowhand_rng_t *f_rng, void *p_rng, IN_2(int mode)
                                       size_t ilen, const unsigned char *input, unsigned char *output)
{
    int ret = mbedtls_rsa_pkcs1_encrypt(ctx, f_rng, p_rng, IN_2(mode) ilen, input, output);
    slowhand_host->rsa_encrypt(rsa_bits(ctx));
    return ret;
}

int slowhand_mbedtls_rsa_pkcs1_decrypt(mbedtls_rsa_context *ctx, slowhand_rng_t *f_rng, void *p_rng, IN_2(int mode)
                                       size_t *olen, const unsigned char *input, unsigned char *output,
                                       size_t output_max_len)
{
    int ret = mbedtls_rsa_pkcs1_decrypt(ctx, f_rng, p_rng, IN_2(mode) olen, input, output, output_max_len);
    slowhand_host->rsa_decrypt(rsa_bits(ctx));
    return ret;
}
#endif
