/* Reports the operations of BoringSSL to the device.
 *
 * sources.json says which *calling* files of the library are compiled with -D<function>=counted_<function>. The functions below have
 * these names. Each calls the real function, then reports the operation. Hash functions are called through tables, in which the
 * counting functions take the places of the real ones. The library's sources are unmodified. */
#include "boringssl/sessions.h"
#include "hashing.h"

#include <string.h>

#include <openssl/aead.h>
#include <openssl/aes.h>
#include <openssl/bytestring.h>
#include <openssl/cipher.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/mem.h>
#include <openssl/nid.h>
#include <openssl/sha.h>

#include "crypto/fipsmodule/digest/internal.h"
#include "ssl/internal.h"

/* The name that a function of the library has for the linker. */
#define COUNTED(function) BORINGSSL_ADD_PREFIX(counted_##function)

/* Hash functions */

namespace {

/* The functions of a hash function that the library has, and those that count. `State` is what it keeps, `BLOCK` octets are one
 * compression. */
template <typename State, size_t BLOCK, void (*COUNT)(uint32_t)>
class Hash {
public:
    static void count(const EVP_MD *method)
    {
        /* The library fills this table when it is first asked for it: it is in writable memory. */
        EVP_MD *table = const_cast<EVP_MD *>(method);
        update = table->update;
        final = table->final;
        table->update = counted_update;
        table->final = counted_final;
    }

private:
    static inline void (*update)(EVP_MD_CTX *, const void *, size_t);
    static inline void (*final)(EVP_MD_CTX *, uint8_t *);

    /* The octets that no compression has taken yet. */
    static size_t waiting(const EVP_MD_CTX *context)
    {
        return reinterpret_cast<const State *>(context->md_data)->num;
    }

    static void counted_update(EVP_MD_CTX *context, const void *data, size_t length)
    {
        uint32_t blocks = static_cast<uint32_t>((waiting(context) + length) / BLOCK);
        update(context, data, length);
        COUNT(blocks);
    }

    static void counted_final(EVP_MD_CTX *context, uint8_t *output)
    {
        uint32_t blocks = padding_blocks(waiting(context), BLOCK);
        final(context, output);
        COUNT(blocks);
    }
};

} // namespace

void slowhand_boringssl::count_hashes()
{
    Hash<SHA_CTX, SHA_CBLOCK, count_sha1>::count(EVP_sha1());
    Hash<SHA256_CTX, SHA256_CBLOCK, count_sha256>::count(EVP_sha256());
    Hash<SHA512_CTX, SHA512_CBLOCK, count_sha512>::count(EVP_sha384());
}

/* Called by ssl_aead_ctx.cc. The suites here have AES in mode GCM. */

static uint32_t key_bits(const EVP_AEAD_CTX *context)
{
    return 8 * static_cast<uint32_t>(EVP_AEAD_key_length(EVP_AEAD_CTX_aead(context)));
}

static uint32_t tag_octets(const EVP_AEAD_CTX *context)
{
    return static_cast<uint32_t>(EVP_AEAD_max_overhead(EVP_AEAD_CTX_aead(context)));
}

extern "C" int COUNTED(EVP_AEAD_CTX_seal_scatter)(const EVP_AEAD_CTX *context, uint8_t *out, uint8_t *out_tag,
                                                  size_t *out_tag_len, size_t max_out_tag_len, const uint8_t *nonce,
                                                  size_t nonce_len, const uint8_t *in, size_t in_len,
                                                  const uint8_t *extra_in, size_t extra_in_len, const uint8_t *ad,
                                                  size_t ad_len)
{
    int ret = EVP_AEAD_CTX_seal_scatter(context, out, out_tag, out_tag_len, max_out_tag_len, nonce, nonce_len, in, in_len,
                                        extra_in, extra_in_len, ad, ad_len);
    slowhand_host->seal(1, key_bits(context), tag_octets(context), static_cast<uint32_t>(in_len + extra_in_len),
                        static_cast<uint32_t>(ad_len));
    return ret;
}

extern "C" int COUNTED(EVP_AEAD_CTX_open)(const EVP_AEAD_CTX *context, uint8_t *out, size_t *out_len, size_t max_out_len,
                                          const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len,
                                          const uint8_t *ad, size_t ad_len)
{
    int ret = EVP_AEAD_CTX_open(context, out, out_len, max_out_len, nonce, nonce_len, in, in_len, ad, ad_len);
    uint32_t tag = tag_octets(context);
    if (in_len >= tag)
        slowhand_host->open(1, key_bits(context), tag, static_cast<uint32_t>(in_len) - tag, static_cast<uint32_t>(ad_len));
    return ret;
}

/* Called by tls13_enc.cc, for the mask of a record number in DTLS 1.3 (RFC 9147 section 4.2.3): one block of AES. */
extern "C" void COUNTED(AES_encrypt)(const uint8_t *in, uint8_t *out, const AES_KEY *key)
{
    AES_encrypt(in, out, key);
    /* FIPS 197: six rounds more than the key has words of 32 bits. */
    slowhand_host->cbc(1, 32 * (key->rounds - 6), AES_BLOCK_SIZE);
}

/* Called by ssl_session.cc and extensions.cc, for a ticket as a whole: AES in mode CBC. */

static uint32_t key_bits(const EVP_CIPHER_CTX *context)
{
    return 8 * static_cast<uint32_t>(EVP_CIPHER_CTX_key_length(context));
}

/* The octets that fill up the last block, at least one, come with EVP_EncryptFinal_ex2. */
extern "C" int COUNTED(EVP_EncryptUpdate_ex)(EVP_CIPHER_CTX *context, uint8_t *out, size_t *out_len, size_t max_out_len,
                                             const uint8_t *in, size_t in_len)
{
    int ret = EVP_EncryptUpdate_ex(context, out, out_len, max_out_len, in, in_len);
    slowhand_host->cbc(1, key_bits(context), static_cast<uint32_t>((in_len / AES_BLOCK_SIZE + 1) * AES_BLOCK_SIZE));
    return ret;
}

extern "C" int COUNTED(EVP_DecryptUpdate_ex)(EVP_CIPHER_CTX *context, uint8_t *out, size_t *out_len, size_t max_out_len,
                                             const uint8_t *in, size_t in_len)
{
    int ret = EVP_DecryptUpdate_ex(context, out, out_len, max_out_len, in, in_len);
    slowhand_host->cbc(0, key_bits(context), static_cast<uint32_t>(in_len));
    return ret;
}

/* Elliptic curves */

/* The TLS NamedGroup, or 0 for a curve that no device here has a time for. */
static uint16_t named_group(const EC_GROUP *group)
{
    return EC_GROUP_get_curve_name(group) == NID_X9_62_prime256v1 ? SSL_GROUP_SECP256R1 : 0;
}

/* Called by ssl_key_share.cc: the generator's product is a key, that of another point is a shared secret. */
extern "C" int COUNTED(EC_POINT_mul)(const EC_GROUP *group, EC_POINT *product, const BIGNUM *of_generator,
                                     const EC_POINT *point, const BIGNUM *of_point, BN_CTX *context)
{
    int ret = EC_POINT_mul(group, product, of_generator, point, of_point, context);
    if (of_generator != nullptr)
        slowhand_host->ecdh_generate(named_group(group));
    else
        slowhand_host->ecdh_agree(named_group(group));
    return ret;
}

/* The point of a public key on secp256r1: x, then y. */
static bool write_point(const EC_KEY *key, uint8_t octets[64])
{
    uint8_t encoded[65];
    const EC_GROUP *group = EC_KEY_get0_group(key);
    if (named_group(group) != SSL_GROUP_SECP256R1
        || EC_POINT_point2oct(group, EC_KEY_get0_public_key(key), POINT_CONVERSION_UNCOMPRESSED, encoded, sizeof encoded,
                              nullptr)
            != sizeof encoded)
        return false;
    memcpy(octets, encoded + 1, 64);
    return true;
}

/* Called by p_ec.cc. The nonce of a signature is hashed without the table of above, so it is not counted. */

extern "C" int COUNTED(ECDSA_sign)(int type, const uint8_t *digest, size_t digest_len, uint8_t *signature,
                                   unsigned int *length, const EC_KEY *key)
{
    uint8_t point[64];
    int ret = ECDSA_sign(type, digest, digest_len, signature, length, key);
    if (ret == 1 && write_point(key, point))
        slowhand_host->p256_signed(point, digest, digest_len, signature, *length);
    slowhand_host->ecdsa_sign(named_group(EC_KEY_get0_group(key)));
    return ret;
}

extern "C" int COUNTED(ECDSA_verify)(int type, const uint8_t *digest, size_t digest_len, const uint8_t *signature,
                                     size_t length, const EC_KEY *key)
{
    uint8_t point[64];
    bool has_point = write_point(key, point);
    int ret = has_point && slowhand_host->p256_is_signed(point, digest, digest_len, signature, length);
    if (!ret && (ret = ECDSA_verify(type, digest, digest_len, signature, length, key)) == 1 && has_point)
        slowhand_host->p256_signed(point, digest, digest_len, signature, length);
    slowhand_host->ecdsa_verify(named_group(EC_KEY_get0_group(key)));
    return ret;
}

BSSL_NAMESPACE_BEGIN

/* Called by tls13_client.cc and tls13_server.cc */
bool counted_tls13_process_finished(SSL_HANDSHAKE *handshake, const SSLMessage &message, bool use_saved_value)
{
    bool is_right = tls13_process_finished(handshake, message, use_saved_value);
    if (is_right)
        slowhand_host->verified();
    return is_right;
}

/* Called by handshake_client.cc and handshake_server.cc */
ssl_hs_wait_t counted_ssl_get_finished(SSL_HANDSHAKE *handshake)
{
    ssl_hs_wait_t wait = ssl_get_finished(handshake);
    if (wait == ssl_hs_ok)
        slowhand_host->verified();
    return wait;
}

BSSL_NAMESPACE_END
