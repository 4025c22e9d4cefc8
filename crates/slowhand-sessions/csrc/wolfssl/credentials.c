#include "adapter.h"

#include <string.h>

#define COORDINATE 32 /* octets of a number of secp256r1 */

/* The DER of keys of secp256r1, before and between their numbers (RFC 5480 section 2, RFC 5915 section 3). */
static const uint8_t SPKI[] = {0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
                               0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
static const uint8_t EC_KEY[] = {0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20};
static const uint8_t EC_PUBLIC[] = {0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03,
                                    0x01, 0x07, 0xA1, 0x44, 0x03, 0x42, 0x00, 0x04};
#define SPKI_LENGTH (sizeof SPKI + 2 * COORDINATE)
#define EC_KEY_LENGTH (sizeof EC_KEY + sizeof EC_PUBLIC + 3 * COORDINATE)

/* The pre-shared key. */

#ifndef NO_PSK
static unsigned client_key(WOLFSSL *ssl, const char *hint, char *identity, unsigned identity_size, unsigned char *key,
                           unsigned key_size)
{
    const struct session *session = wolfSSL_get_psk_callback_ctx(ssl);
    (void) hint;
    return slowhand_client_psk(&session->options, identity, identity_size, key, key_size);
}

static unsigned server_key(WOLFSSL *ssl, const char *identity, unsigned char *key, unsigned key_size)
{
    const struct session *session = wolfSSL_get_psk_callback_ctx(ssl);
    return slowhand_server_psk(&session->options, identity, key, key_size);
}

#ifdef WOLFSSL_TLS13
/* The suites of version 1.3 begin with 0x13 (RFC 8446 appendix B.4). */
static const char *name_of_13(const struct session *session)
{
    const struct slowhand_options *options = &session->options;
    return name_of(options->suite >> 8 == 0x13 ? options->suite : options->other_suite);
}

static unsigned client_key_13(WOLFSSL *ssl, const char *hint, char *identity, unsigned identity_size,
                              unsigned char *key, unsigned key_size, const char **suite)
{
    *suite = name_of_13(wolfSSL_get_psk_callback_ctx(ssl));
    return client_key(ssl, hint, identity, identity_size, key, key_size);
}

static unsigned server_key_13(WOLFSSL *ssl, const char *identity, unsigned char *key, unsigned key_size,
                              const char **suite)
{
    *suite = name_of_13(wolfSSL_get_psk_callback_ctx(ssl));
    return server_key(ssl, identity, key, key_size);
}
#endif

static int use_psk(struct session *session)
{
    wolfSSL_CTX_set_psk_client_callback(session->context, client_key);
    wolfSSL_CTX_set_psk_server_callback(session->context, server_key);
#ifdef WOLFSSL_TLS13
    if (has_13(session)) {
        wolfSSL_CTX_set_psk_client_tls13_callback(session->context, client_key_13);
        wolfSSL_CTX_set_psk_server_tls13_callback(session->context, server_key_13);
        if (session->options.group == 0)
            return wolfSSL_CTX_no_dhe_psk(session->context) == 0;
#ifdef HAVE_SUPPORTED_CURVES
        return wolfSSL_CTX_only_dhe_psk(session->context) == 0;
#endif
    }
#endif
    return 1;
}
#endif

#ifndef NO_CERTS
static int use_key(WOLFSSL_CTX *context, const uint8_t *certificate, size_t certificate_len, const uint8_t *key,
                   size_t key_len)
{
    return wolfSSL_CTX_use_certificate_buffer(context, certificate, (long) certificate_len, WOLFSSL_FILETYPE_ASN1)
               == WOLFSSL_SUCCESS
           && wolfSSL_CTX_use_PrivateKey_buffer(context, key, (long) key_len, WOLFSSL_FILETYPE_ASN1) == WOLFSSL_SUCCESS;
}

#ifdef HAVE_RPK
static uint8_t *append(uint8_t *end, const uint8_t *octets, size_t length)
{
    memcpy(end, octets, length);
    return end + length;
}

static void write_spki(uint8_t der[SPKI_LENGTH], const uint8_t *x, const uint8_t *y)
{
    append(append(append(der, SPKI, sizeof SPKI), x, COORDINATE), y, COORDINATE);
}

static int use_raw_keys(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    const char raw[] = {WOLFSSL_CERT_TYPE_RPK};
    WOLFSSL_CTX *context = session->context;
    uint8_t spki[SPKI_LENGTH], key[EC_KEY_LENGTH];
    if (wolfSSL_CTX_set_client_cert_type(context, raw, sizeof raw) != WOLFSSL_SUCCESS
        || wolfSSL_CTX_set_server_cert_type(context, raw, sizeof raw) != WOLFSSL_SUCCESS)
        return 0;
    if (options->private_key != NULL) {
        write_spki(spki, options->public_x, options->public_y);
        uint8_t *end = append(append(key, EC_KEY, sizeof EC_KEY), options->private_key, COORDINATE);
        end = append(append(end, EC_PUBLIC, sizeof EC_PUBLIC), options->public_x, COORDINATE);
        append(end, options->public_y, COORDINATE);
        int is_used = use_key(context, spki, sizeof spki, key, sizeof key);
        memset(key, 0, sizeof key);
        if (!is_used)
            return 0;
    }
    if (options->peer_x == NULL)
        return 1;
    write_spki(spki, options->peer_x, options->peer_y);
    return wolfSSL_CTX_set_expected_rpk(context, spki, sizeof spki) == WOLFSSL_SUCCESS;
}
#endif

static int use_certificates(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    int is_verifying = !options->is_server || options->request_client_certificate;
    wolfSSL_CTX_set_verify(session->context,
                           is_verifying ? WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT : WOLFSSL_VERIFY_NONE,
                           NULL);
#ifdef HAVE_RPK
    if (options->private_key != NULL || options->peer_x != NULL)
        return use_raw_keys(session);
#endif
    if (options->certificate != NULL
        && !use_key(session->context, options->certificate, options->certificate_len, options->key, options->key_len))
        return 0;
    return options->trusted == NULL
           || wolfSSL_CTX_load_verify_buffer(session->context, options->trusted, (long) options->trusted_len,
                                             WOLFSSL_FILETYPE_ASN1) == WOLFSSL_SUCCESS;
}
#endif

/* slowhand asks for no credential that stack.c does not name. */
int slowhand_wolfssl_use_credentials(struct session *session)
{
#ifndef NO_PSK
    if (session->options.psk != NULL)
        return use_psk(session);
#endif
#ifndef NO_CERTS
    return use_certificates(session);
#else
    return 0;
#endif
}
