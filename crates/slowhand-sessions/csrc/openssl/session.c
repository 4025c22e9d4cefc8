#define OPENSSL_SUPPRESS_DEPRECATED
#include "session.h"

#include "slowhand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#define NS_PER_US 1000u
#define US_PER_S 1000000u
#define NO_TIMER UINT64_MAX

/* A cookie as the library's own s_server makes it: HMAC-SHA-1 with a key of 16 octets (apps/lib/s_cb.c). */
#define COOKIE_SECRET_LENGTH 16
#define COOKIE_LENGTH 20

/* What the library's own datagram BIO says of IPv6 (crypto/bio/bss_dgram.c). */
#define IPV6_AND_UDP_HEADERS 48

struct slowhand_openssl {
    SSL_CTX *ctx;
    SSL *ssl;
    struct slowhand_openssl_options options;
    uint8_t cookie_secret[COOKIE_SECRET_LENGTH];
    const uint8_t *input; /* what has arrived and is not yet read */
    size_t input_len;
    uint64_t deadline_ns;
    unsigned long error;
};

/* The client's address as the server's cookie sees it: one session has one peer. */
static const unsigned char TRANSPORT_ID[] = "client";

static BIO_METHOD *transport;

/* The platform. build.rs compiles the library with time and gettimeofday renamed to these. */

time_t slowhand_time(time_t *out)
{
    time_t now = (time_t) slowhand_unix_time();
    if (out != NULL)
        *out = now;
    return now;
}

/* Of the world's beginning: the library takes differences only. One second more than nothing, since 0 is its
 * "no timer". */
int slowhand_gettimeofday(struct timeval *restrict out, void *restrict unused)
{
    (void) unused;
    uint64_t us = slowhand_now_ns() / NS_PER_US + US_PER_S;
    out->tv_sec = (time_t) (us / US_PER_S);
    out->tv_usec = (suseconds_t) (us % US_PER_S);
    return 0;
}

static int random_octets(unsigned char *output, int length)
{
    slowhand_random(output, (size_t) length);
    return 1;
}

static int random_status(void)
{
    return 1;
}

/* The transport, a BIO: a datagram at a time, or what is there of a stream */

static int send_octets(BIO *bio, const char *octets, int length)
{
    (void) bio;
    slowhand_transmit((const uint8_t *) octets, (size_t) length);
    return length;
}

static int receive_octets(BIO *bio, char *output, int size)
{
    slowhand_openssl *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (session->input_len == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t length = session->input_len < (size_t) size ? session->input_len : (size_t) size;
    memcpy(output, session->input, length);
    session->input += length;
    session->input_len -= session->options.is_stream ? length : session->input_len; /* as recv() truncates */
    return (int) length;
}

static long control_transport(BIO *bio, int command, long number, void *pointer)
{
    (void) bio;
    (void) number;
    (void) pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
        return 1;
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD:
        return IPV6_AND_UDP_HEADERS;
    default:
        return 0;
    }
}

void slowhand_openssl_initialise(void)
{
    static const RAND_METHOD DEVICE = {
        .bytes = random_octets,
        .pseudorand = random_octets,
        .status = random_status,
    };
    /* Sessions of other threads may live on when the process ends. */
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    RAND_set_rand_method(&DEVICE);
    transport = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "slowhand");
    BIO_meth_set_write(transport, send_octets);
    BIO_meth_set_read(transport, receive_octets);
    BIO_meth_set_ctrl(transport, control_transport);
}

const char *slowhand_openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

int slowhand_openssl_error_reason(unsigned long error)
{
    return ERR_GET_REASON(error);
}

void slowhand_openssl_error_text(unsigned long error, char *text, size_t size)
{
    const char *reason = ERR_reason_error_string(error);
    if (reason != NULL)
        OPENSSL_strlcpy(text, reason, size);
    else
        ERR_error_string_n(error, text, size);
}

/* What the library calls back */

static unsigned int next_timeout_us(SSL *ssl, unsigned int previous_us)
{
    const struct slowhand_openssl_options *options = &((slowhand_openssl *) SSL_get_app_data(ssl))->options;
    uint64_t doubled = 2 * (uint64_t) previous_us;
    if (previous_us == 0)
        return options->timeout_first_us;
    return doubled < options->timeout_max_us ? (unsigned int) doubled : options->timeout_max_us;
}

static int write_cookie(SSL *ssl, unsigned char *cookie, unsigned int *length)
{
    const slowhand_openssl *session = SSL_get_app_data(ssl);
    return HMAC(EVP_sha1(), session->cookie_secret, COOKIE_SECRET_LENGTH, TRANSPORT_ID, sizeof TRANSPORT_ID, cookie,
                length) != NULL;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, unsigned int length)
{
    unsigned char expected[COOKIE_LENGTH];
    unsigned int expected_len = sizeof expected;
    return write_cookie(ssl, expected, &expected_len) && length == expected_len
        && CRYPTO_memcmp(cookie, expected, length) == 0;
}

static unsigned int client_psk(SSL *ssl, const char *hint, char *identity, unsigned int identity_size,
                               unsigned char *psk, unsigned int psk_size)
{
    const struct slowhand_openssl_options *options = &((slowhand_openssl *) SSL_get_app_data(ssl))->options;
    (void) hint;
    if (options->psk_identity_len >= identity_size || options->psk_len > psk_size)
        return 0;
    memcpy(identity, options->psk_identity, options->psk_identity_len);
    identity[options->psk_identity_len] = '\0';
    memcpy(psk, options->psk, options->psk_len);
    return (unsigned int) options->psk_len;
}

static unsigned int server_psk(SSL *ssl, const char *identity, unsigned char *psk, unsigned int psk_size)
{
    const struct slowhand_openssl_options *options = &((slowhand_openssl *) SSL_get_app_data(ssl))->options;
    if (strlen(identity) != options->psk_identity_len
        || memcmp(identity, options->psk_identity, options->psk_identity_len) != 0 || options->psk_len > psk_size)
        return 0;
    memcpy(psk, options->psk, options->psk_len);
    return (unsigned int) options->psk_len;
}

/* A line of a key log: a label, the client's random and a secret, in hexadecimal. */
static void log_key(const SSL *ssl, const char *line)
{
    char label[64], random_hex[2 * 32 + 1], secret_hex[2 * EVP_MAX_MD_SIZE + 1];
    unsigned char client_random[32], secret[EVP_MAX_MD_SIZE];
    size_t random_len = 0, secret_len = 0;
    (void) ssl;
    if (sscanf(line, "%63s %64s %128s", label, random_hex, secret_hex) == 3
        && OPENSSL_hexstr2buf_ex(client_random, sizeof client_random, &random_len, random_hex, '\0')
        && OPENSSL_hexstr2buf_ex(secret, sizeof secret, &secret_len, secret_hex, '\0')
        && random_len == sizeof client_random)
        slowhand_key_log(label, client_random, secret, secret_len);
}

/* Construction: each step returns whether it could be done */

static int configure_credentials(SSL_CTX *ctx, const struct slowhand_openssl_options *options)
{
    /* The library sends this list even where a pre-shared key leaves nothing to sign. */
    if (!SSL_CTX_set1_sigalgs_list(ctx, options->signatures))
        return 0;
    if (options->psk != NULL) {
        SSL_CTX_set_psk_client_callback(ctx, client_psk);
        SSL_CTX_set_psk_server_callback(ctx, server_psk);
    }
    if (options->group != 0) {
        int group = options->group == 19 ? NID_X9_62_prime192v1 : NID_X9_62_prime256v1;
        if (!SSL_CTX_set1_groups(ctx, &group, 1))
            return 0;
    }
    if (options->certificate != NULL) {
        const unsigned char *der = options->key;
        EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &der, (long) options->key_len);
        int is_used = key != NULL
            && SSL_CTX_use_certificate_ASN1(ctx, (int) options->certificate_len, options->certificate)
            && SSL_CTX_use_PrivateKey(ctx, key);
        EVP_PKEY_free(key);
        if (!is_used)
            return 0;
    }
    if (options->trusted != NULL) {
        const unsigned char *der = options->trusted;
        X509 *trusted = d2i_X509(NULL, &der, (long) options->trusted_len);
        int is_added = trusted != NULL && X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), trusted);
        X509_free(trusted);
        if (!is_added)
            return 0;
        if (!options->is_server || options->request_client_certificate)
            SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return 1;
}

static int configure_suite(SSL_CTX *ctx, const struct slowhand_openssl_options *options)
{
    /* By default, the library refuses tags of 8 octets, secp192r1 and short RSA keys. */
    SSL_CTX_set_security_level(ctx, 0);
    if (options->version == TLS1_3_VERSION)
        return SSL_CTX_set_ciphersuites(ctx, options->suite);
    return SSL_CTX_set_cipher_list(ctx, OPENSSL_cipher_name(options->suite));
}

static int configure(slowhand_openssl *session, const struct slowhand_openssl_options *options)
{
    int version = options->is_stream ? options->version : DTLS1_2_VERSION;
    SSL_CTX *ctx = session->ctx = SSL_CTX_new(options->is_stream ? TLS_method() : DTLS_method());
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, version) || !SSL_CTX_set_max_proto_version(ctx, version)
        || !configure_suite(ctx, options) || !configure_credentials(ctx, options)
        || !SSL_CTX_set_tlsext_max_fragment_length(ctx, options->mfl))
        return 0;
    /* Nothing to resume by; and the authority's certificate is not sent, since the peer has it. */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_keylog_callback(ctx, log_key);
    if (options->is_server && !options->is_stream && options->cookie) {
        SSL_CTX_set_options(ctx, SSL_OP_COOKIE_EXCHANGE);
        SSL_CTX_set_cookie_generate_cb(ctx, write_cookie);
        SSL_CTX_set_cookie_verify_cb(ctx, check_cookie);
        slowhand_random(session->cookie_secret, sizeof session->cookie_secret);
    }
    return 1;
}

static int set_up(slowhand_openssl *session, const struct slowhand_openssl_options *options)
{
    SSL *ssl = session->ssl = SSL_new(session->ctx);
    BIO *bio = BIO_new(transport);
    if (ssl == NULL || bio == NULL) {
        BIO_free(bio);
        return 0;
    }
    BIO_set_data(bio, session);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, session);
    if (options->is_server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    if (!options->is_stream) {
        DTLS_set_timer_cb(ssl, next_timeout_us);
        SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);
        if (SSL_set_mtu(ssl, options->mtu) != options->mtu)
            return 0;
    }
    return 1;
}

slowhand_openssl *slowhand_openssl_new(const struct slowhand_openssl_options *options, unsigned long *error)
{
    slowhand_openssl *session = calloc(1, sizeof *session);
    *error = ERR_PACK(ERR_LIB_SSL, 0, ERR_R_MALLOC_FAILURE);
    if (session == NULL)
        return NULL;
    session->options = *options;
    session->deadline_ns = NO_TIMER;
    ERR_clear_error();
    if (!configure(session, options) || !set_up(session, options)) {
        *error = ERR_peek_error();
        slowhand_openssl_free(session);
        return NULL;
    }
    return session;
}

void slowhand_openssl_free(slowhand_openssl *session)
{
    SSL_free(session->ssl);
    SSL_CTX_free(session->ctx);
    free(session);
}

/* The handshake; after it, reading lets the library answer a flight that the peer sends again. */
static int proceed(slowhand_openssl *session)
{
    unsigned char application_data[64];
    int ret = 1;
    if (!SSL_is_init_finished(session->ssl))
        ret = SSL_do_handshake(session->ssl);
    while (ret > 0)
        ret = SSL_read(session->ssl, application_data, sizeof application_data);
    return SSL_get_error(session->ssl, ret);
}

static uint64_t deadline_ns(const slowhand_openssl *session)
{
    struct timeval left;
    if (session->options.is_stream || !DTLSv1_get_timeout(session->ssl, &left))
        return NO_TIMER;
    return slowhand_now_ns() + ((uint64_t) left.tv_sec * US_PER_S + (uint64_t) left.tv_usec) * NS_PER_US;
}

int slowhand_openssl_drive(slowhand_openssl *session, const uint8_t *input, size_t length)
{
    int error = SSL_ERROR_SSL;
    ERR_clear_error();
    session->input = input;
    session->input_len = length;
    if (session->options.is_stream || length > 0 || DTLSv1_handle_timeout(session->ssl) >= 0)
        error = proceed(session);
    session->input_len = 0;
    session->deadline_ns = deadline_ns(session);
    if (error == SSL_ERROR_WANT_READ)
        return SSL_is_init_finished(session->ssl) ? SLOWHAND_OPENSSL_COMPLETE : SLOWHAND_OPENSSL_HANDSHAKING;
    session->error = ERR_peek_last_error();
    return SLOWHAND_OPENSSL_FAILED;
}

/* What is known of it */

unsigned long slowhand_openssl_error(const slowhand_openssl *session)
{
    return session->error;
}

uint64_t slowhand_openssl_deadline_ns(const slowhand_openssl *session)
{
    return session->deadline_ns;
}

uint16_t slowhand_openssl_suite(const slowhand_openssl *session)
{
    const SSL_CIPHER *suite = SSL_get_current_cipher(session->ssl);
    return suite == NULL ? 0 : SSL_CIPHER_get_protocol_id(suite);
}
