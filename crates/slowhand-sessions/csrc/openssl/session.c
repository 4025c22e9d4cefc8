/* OpenSSL.
 *
 * The library runs unmodified. Its public callbacks give it I/O (a BIO, one datagram or one write at a time), randomness (a `RAND_METHOD`)
 * and the timeout of the handshake (`DTLS_set_timer_cb`). It has no callback for its clock, so build.rs compiles it with other names for
 * `time` and `gettimeofday`.
 *
 * Its behaviour as a DTLS endpoint, which its applications see too: it sends a flight in one datagram the first time and in several
 * datagrams when it retransmits. Its timer expires 15 ms early. The handshake fails after the twelfth retransmission without an answer.
 * Sessions do not share a configuration (`SSL_CTX`).
 *
 * Its configuration follows small devices and the other libraries here: one suite, one group and the signature algorithms for them;
 * security level 0, because other levels refuse tags of 8 octets; no tickets and no session cache. It sends its own certificate and not
 * that of the authority. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "libssl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#define NS_PER_US 1000u
#define US_PER_S 1000000u
#define MS_PER_S 1000u

/* Cookies are like those of the library's own s_server: HMAC-SHA-1 with a key of 16 octets (apps/lib/s_cb.c). */
#define COOKIE_SECRET_LENGTH 16
#define COOKIE_LENGTH 20

#define SIGNATURE_RSA_PKCS1_SHA256 0x0401
#define SUITE_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 0xC02C

#define ERROR_CODE_LENGTH 256 /* as ERR_error_string_n recommends */

/* The overhead that the library's own datagram BIO reports for IPv6 (crypto/bio/bss_dgram.c). */
#define IPV6_AND_UDP_HEADERS 48

struct session {
    SSL_CTX *ctx;
    SSL *ssl;
    struct slowhand_options options;
    uint8_t cookie_secret[COOKIE_SECRET_LENGTH];
    struct slowhand_input input;
    ERR_STATE *outer; /* the errors of the session that was running before this one */
};

static const unsigned char TRANSPORT_ID[] = SLOWHAND_TRANSPORT_ID;

static BIO_METHOD *transport;

/* The platform. build.rs compiles the library with `time` and `gettimeofday` renamed to these functions. */

time_t slowhand_time(time_t *out)
{
    time_t now = (time_t) (slowhand_host->unix_time_ms() / MS_PER_S);
    if (out != NULL)
        *out = now;
    return now;
}

/* The time from one second before the beginning of the world. The library uses only differences, and 0 means "no timer". */
int slowhand_gettimeofday(struct timeval *restrict out, void *restrict unused)
{
    (void) unused;
    uint64_t us = slowhand_host->now_ns() / NS_PER_US + US_PER_S;
    out->tv_sec = (time_t) (us / US_PER_S);
    out->tv_usec = (suseconds_t) (us % US_PER_S);
    return 0;
}

/* The library's queue of errors belongs to the thread. It is empty between calls. It may not be when a call begins inside one
 * of another session, which computes: then that session gets its errors back at the end. */
static struct session *enter(void *context)
{
    struct session *session = context;
    session->outer = NULL;
    if (ERR_peek_error() != 0) {
        session->outer = OSSL_ERR_STATE_new();
        OSSL_ERR_STATE_save(session->outer);
        ERR_clear_error(); /* if there was no memory for the state */
    }
    return session;
}

static void leave(struct session *session)
{
    ERR_clear_error();
    OSSL_ERR_STATE_restore(session->outer);
    OSSL_ERR_STATE_free(session->outer);
}

static int random_octets(unsigned char *output, int length)
{
    slowhand_host->random(output, (size_t) length);
    return 1;
}

static int random_status(void)
{
    return 1;
}

static int receive_octets(BIO *bio, char *output, int size)
{
    struct session *session = BIO_get_data(bio);
    return receive_from(&session->input, !session->options.is_stream, bio, output, size);
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

static void initialise(void)
{
    static const RAND_METHOD DEVICE = {
        .bytes = random_octets,
        .pseudorand = random_octets,
        .status = random_status,
    };
    /* No clean-up at exit: other threads may still have sessions then. */
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    RAND_set_rand_method(&DEVICE);
    transport = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "slowhand");
    BIO_meth_set_write(transport, send_octets);
    BIO_meth_set_read(transport, receive_octets);
    BIO_meth_set_ctrl(transport, control_transport);
}

static const char *version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/* Callbacks of the library */

static unsigned int next_timeout_us(SSL *ssl, unsigned int previous_us)
{
    const struct slowhand_options *options = &((const struct session *) SSL_get_app_data(ssl))->options;
    uint64_t doubled = 2 * (uint64_t) previous_us;
    uint64_t maximum = options->maximum_timeout_ns / NS_PER_US;
    if (previous_us == 0)
        return (unsigned int) (options->first_timeout_ns / NS_PER_US);
    return (unsigned int) (doubled < maximum ? doubled : maximum);
}

static int write_cookie(SSL *ssl, unsigned char *cookie, unsigned int *length)
{
    const struct session *session = SSL_get_app_data(ssl);
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
    const struct session *session = SSL_get_app_data(ssl);
    (void) hint;
    return slowhand_client_psk(&session->options, identity, identity_size, psk, psk_size);
}

static unsigned int server_psk(SSL *ssl, const char *identity, unsigned char *psk, unsigned int psk_size)
{
    const struct session *session = SSL_get_app_data(ssl);
    return slowhand_server_psk(&session->options, identity, psk, psk_size);
}

/* A line of a key log has a label, then the client random and a secret in hexadecimal. */
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
        slowhand_host->key_log(label, client_random, secret, secret_len);
}

/* Construction: each step returns 1, or 0 after an error */

/* The signature algorithms to offer and accept. In version 1.2, mbedTLS signs with the hash of the suite even if it is not in
 * the list, so a suite of SHA-384 needs both hashes. */
static const char *signature_algorithms(const struct slowhand_options *options)
{
    if (options->signature == SIGNATURE_RSA_PKCS1_SHA256)
        return "RSA+SHA256";
    if (options->suite == SUITE_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384)
        return "ECDSA+SHA256:ECDSA+SHA384";
    return "ECDSA+SHA256";
}

static int configure_credentials(SSL_CTX *ctx, const struct slowhand_options *options)
{
    /* Also with a pre-shared key: the library sends this list although there is nothing to sign. */
    if (!SSL_CTX_set1_sigalgs_list(ctx, signature_algorithms(options)))
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

static int configure_suite(SSL_CTX *ctx, const struct slowhand_options *options)
{
    /* By default, the library refuses tags of 8 octets, secp192r1 and short RSA keys. */
    SSL_CTX_set_security_level(ctx, 0);
    if (options->version == TLS1_3_VERSION)
        return SSL_CTX_set_ciphersuites(ctx, options->suite_name);
    return SSL_CTX_set_cipher_list(ctx, OPENSSL_cipher_name(options->suite_name));
}

static int configure(struct session *session, const struct slowhand_options *options)
{
    int version = options->is_stream ? options->version : DTLS1_2_VERSION;
    SSL_CTX *ctx = session->ctx = SSL_CTX_new(options->is_stream ? TLS_method() : DTLS_method());
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, version) || !SSL_CTX_set_max_proto_version(ctx, version)
        || !configure_suite(ctx, options) || !configure_credentials(ctx, options)
        || !SSL_CTX_set_tlsext_max_fragment_length(ctx, options->max_fragment_length))
        return 0;
    /* No resumption. The library does not send the authority's certificate, because the peer has it. */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_max_cert_list(ctx, LONGEST_CERTIFICATES);
    SSL_CTX_set_keylog_callback(ctx, log_key);
    if (options->is_server && !options->is_stream && options->cookie) {
        SSL_CTX_set_options(ctx, SSL_OP_COOKIE_EXCHANGE);
        SSL_CTX_set_cookie_generate_cb(ctx, write_cookie);
        SSL_CTX_set_cookie_verify_cb(ctx, check_cookie);
        slowhand_host->random(session->cookie_secret, sizeof session->cookie_secret);
    }
    return 1;
}

static int set_up(struct session *session, const struct slowhand_options *options)
{
    SSL *ssl = session->ssl = SSL_new(session->ctx);
    if (!connect_transport(ssl, transport, session, options->is_server))
        return 0;
    if (!options->is_stream) {
        DTLS_set_timer_cb(ssl, next_timeout_us);
        SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);
        long mtu = largest_datagram(options);
        if (SSL_set_mtu(ssl, mtu) != mtu)
            return 0;
    }
    return 1;
}

static void destroy(void *context)
{
    struct session *session = enter(context);
    SSL_free(session->ssl);
    SSL_CTX_free(session->ctx);
    leave(session);
    free(session);
}

/* Takes all errors out of the library's queue, the oldest first: a later one often follows from an earlier one. */
static void describe(struct slowhand_progress *progress)
{
    const char *separator = "", *data;
    int flags;
    unsigned long error;
    while ((error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0) {
        const char *reason = ERR_reason_error_string(error);
        char code[ERROR_CODE_LENGTH];
        if (reason == NULL) {
            ERR_error_string_n(error, code, sizeof code);
            reason = code;
        }
        slowhand_describe(progress, "%s%s", separator, reason);
        if ((flags & ERR_TXT_STRING) != 0 && data[0] != '\0')
            slowhand_describe(progress, ": %s", data);
        separator = "; ";
    }
    /* For example after a close_notify during the handshake. */
    if (progress->words[0] == '\0')
        slowhand_describe(progress, "the session ended, and the library gives no reason");
}

/* Reports the last error of the library's queue. */
static void fail(struct slowhand_progress *progress)
{
    set_failure(progress, ERR_GET_REASON(ERR_peek_last_error()));
    describe(progress);
}

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise);
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        progress->state = SLOWHAND_FAILED;
        slowhand_describe(progress, "no memory for a session");
        return NULL;
    }
    session->options = *options;
    enter(session);
    if (!configure(session, options) || !set_up(session, options)) {
        fail(progress);
        leave(session);
        destroy(session);
        return NULL;
    }
    leave(session);
    return session;
}

/* Continues the handshake. After it, delivers application data. The library also answers a retransmitted flight of the peer. */
static int proceed(struct session *session)
{
    unsigned char data[SSL3_RT_MAX_PLAIN_LENGTH];
    int ret = 1;
    if (!SSL_is_init_finished(session->ssl))
        ret = SSL_do_handshake(session->ssl);
    while (ret > 0) {
        ret = SSL_read(session->ssl, data, sizeof data);
        if (ret > 0)
            slowhand_host->deliver(data, (size_t) ret);
    }
    return SSL_get_error(session->ssl, ret);
}

static uint64_t deadline_ns(const struct session *session)
{
    struct timeval left;
    if (session->options.is_stream || !DTLSv1_get_timeout(session->ssl, &left))
        return SLOWHAND_NO_TIMER;
    return slowhand_host->now_ns() + ((uint64_t) left.tv_sec * US_PER_S + (uint64_t) left.tv_usec) * NS_PER_US;
}

/* Reports a library call with this result (SSL_ERROR_*). */
static void report(struct session *session, int result, struct slowhand_progress *progress)
{
    progress->deadline_ns = deadline_ns(session);
    switch (result) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
        progress->state = SSL_is_init_finished(session->ssl) ? SLOWHAND_ESTABLISHED : SLOWHAND_HANDSHAKING;
        break;
    case SSL_ERROR_ZERO_RETURN:
        if (SSL_is_init_finished(session->ssl)) {
            progress->state = SLOWHAND_CLOSED_BY_PEER;
            break;
        }
        /* fall through */
    default:
        fail(progress);
    }
    leave(session);
}

static void handle_input(void *context, const uint8_t *input, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    session->input = (struct slowhand_input) {input, length};
    int result = proceed(session);
    session->input.length = 0;
    report(session, result, progress);
}

static void start(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    report(session, proceed(session), progress);
}

static void handle_timeout(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    int result = SSL_ERROR_SSL;
    if (session->options.is_stream || DTLSv1_handle_timeout(session->ssl) >= 0)
        result = proceed(session);
    report(session, result, progress);
}

/* Application data */

static size_t max_data(const void *context)
{
    const struct session *session = context;
    if (session->options.is_stream)
        return SLOWHAND_NO_DATAGRAMS;
    size_t datagram = DTLS_get_data_mtu(session->ssl);
    uint8_t code = SSL_SESSION_get_max_fragment_length(SSL_get0_session(session->ssl));
    /* RFC 6066 section 4: code 1 is 512 octets, and each further code doubles that. */
    size_t fragment = code == 0 ? datagram : (size_t) 256 << code;
    return fragment < datagram ? fragment : datagram;
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    size_t written;
    /* The transport accepts all octets, so the library writes all. */
    int ret = SSL_write_ex(session->ssl, data, length, &written);
    report(session, ret == 1 ? SSL_ERROR_NONE : SSL_ERROR_SSL, progress);
}

static void close_session(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    int ret = SSL_shutdown(session->ssl);
    report(session, ret >= 0 ? SSL_ERROR_NONE : SSL_ERROR_SSL, progress);
}

/* Results */

static uint16_t suite(const void *context)
{
    return suite_of(((const struct session *) context)->ssl);
}

SLOWHAND_LIBRARY(openssl_library, start, handle_timeout, slowhand_no_connection_id, slowhand_not_resumable);
