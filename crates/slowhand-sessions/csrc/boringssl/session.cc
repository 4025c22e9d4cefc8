/* Sessions of BoringSSL. */
#include "boringssl/sessions.h"
#include "libssl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <openssl/ec_key.h>
#include <openssl/nid.h>
#include <openssl/x509.h>

#include "ssl/internal.h"

using slowhand_boringssl::Locals;

namespace {

constexpr uint64_t NS_PER_MS = 1000000, NS_PER_US = 1000, US_PER_S = 1000000, US_PER_MS = 1000;

constexpr uint32_t SESSION_LIFETIME_S = 86400; /* a day, as for the other libraries; the library has 2 h, and 2 days in 1.3 */

constexpr size_t NUMBER = 32; /* octets of a number of secp256r1 */

constexpr size_t TICKET_KEYS = 48; /* octets: `SSL_TICKET_KEY_NAME_LEN` and two keys of 16 */

constexpr uint16_t SUITE_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xC02C;

struct Session {
    slowhand_options options;
    SSL_CTX *ctx;
    SSL *ssl;
    SSL_SESSION *kept;   /* to resume it later */
    EVP_PKEY *peer;      /* the raw public key that the peer has to prove */
    uint8_t ticket_keys[TICKET_KEYS];
    slowhand_input input;
    Locals locals;
    Locals *outer;       /* those of the session that was running before this one */
};

/* The library's version has no other name (include/openssl/base.h). */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
const char VERSION[] = "API " TEXT(BORINGSSL_API_VERSION);

const char *version()
{
    return VERSION;
}

Session *enter(void *context)
{
    Session *session = static_cast<Session *>(context);
    session->outer = slowhand_boringssl::use(&session->locals);
    return session;
}

void leave(Session *session)
{
    ERR_clear_error();
    slowhand_boringssl::use(session->outer);
}

Session *session_of(const SSL *ssl)
{
    return static_cast<Session *>(SSL_get_app_data(ssl));
}

/* Callbacks of the library */

/* The calendar, with the fraction of a millisecond that only the clock has: both go together. */
void current_time(const SSL *, timeval *output)
{
    uint64_t us = slowhand_host->unix_time_ms() * US_PER_MS + slowhand_host->now_ns() / NS_PER_US % US_PER_MS;
    output->tv_sec = static_cast<time_t>(us / US_PER_S);
    output->tv_usec = static_cast<suseconds_t>(us % US_PER_S);
}

/* A line of a key log has a label, then the client random and a secret in hexadecimal. */
void log_key(const SSL *, const char *line)
{
    char label[64], random_hex[2 * 32 + 1], secret_hex[2 * EVP_MAX_MD_SIZE + 1];
    if (sscanf(line, "%63s %64s %128s", label, random_hex, secret_hex) != 3)
        return;
    uint8_t octets[2][EVP_MAX_MD_SIZE];
    size_t lengths[2];
    const char *texts[2] = {random_hex, secret_hex};
    for (int i = 0; i < 2; i++) {
        lengths[i] = strlen(texts[i]) / 2;
        for (size_t at = 0; at < lengths[i]; at++)
            if (sscanf(texts[i] + 2 * at, "%2hhx", &octets[i][at]) != 1)
                return;
    }
    if (lengths[0] == SSL3_RANDOM_SIZE)
        slowhand_host->key_log(label, octets[0], octets[1], lengths[1]);
}

int keep_session(SSL *ssl, SSL_SESSION *session)
{
    Session *of = session_of(ssl);
    SSL_SESSION_free(of->kept);
    of->kept = session;
    return 1;
}

/* A raw public key is the peer's if it is the expected one. */
ssl_verify_result_t verify_raw(SSL *ssl, uint8_t *alert)
{
    const EVP_PKEY *expected = session_of(ssl)->peer, *found = SSL_get0_peer_rpk(ssl);
    *alert = SSL_AD_CERTIFICATE_UNKNOWN;
    return found != nullptr && EVP_PKEY_cmp(expected, found) == 1 ? ssl_verify_ok : ssl_verify_invalid;
}

int receive_octets(BIO *bio, char *output, int size)
{
    Session *session = static_cast<Session *>(BIO_get_data(bio));
    return receive_from(&session->input, !session->options.is_stream, bio, output, size);
}

long control_transport(BIO *, int command, long, void *)
{
    return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *transport;

void initialise()
{
    CRYPTO_library_init();
    slowhand_boringssl::count_hashes();
    slowhand_boringssl::use_fast_arithmetic();
    transport = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "slowhand");
    BIO_meth_set_write(transport, send_octets);
    BIO_meth_set_read(transport, receive_octets);
    BIO_meth_set_ctrl(transport, control_transport);
}

/* Construction: each step returns true, or false after an error */

/* A key of secp256r1. Without a private key it is a public key. */
bssl::UniquePtr<EVP_PKEY> raw_key(const uint8_t *x, const uint8_t *y, const uint8_t *private_key)
{
    uint8_t point[1 + 2 * NUMBER] = {POINT_CONVERSION_UNCOMPRESSED};
    memcpy(point + 1, x, NUMBER);
    memcpy(point + 1 + NUMBER, y, NUMBER);
    bssl::UniquePtr<EC_KEY> key(EC_KEY_new_by_curve_name(NID_X9_62_prime256v1));
    bssl::UniquePtr<EVP_PKEY> result(EVP_PKEY_new());
    if (key == nullptr || result == nullptr || !EC_KEY_oct2key(key.get(), point, sizeof point, nullptr)
        || (private_key != nullptr && !EC_KEY_oct2priv(key.get(), private_key, NUMBER))
        || !EVP_PKEY_set1_EC_KEY(result.get(), key.get()))
        return nullptr;
    return result;
}

bool add(SSL_CTX *ctx, bssl::UniquePtr<SSL_CREDENTIAL> credential)
{
    return credential != nullptr && SSL_CTX_add1_credential(ctx, credential.get());
}

/* The library imports each pre-shared key (RFC 9258), and has no other in version 1.3. */
bool configure_psk(SSL_CTX *ctx, const slowhand_options *options)
{
    static const uint8_t NO_CONTEXT[1] = {};
    return add(ctx, bssl::UniquePtr<SSL_CREDENTIAL>(SSL_CREDENTIAL_new_pre_shared_key(
                        options->psk, options->psk_len, options->psk_identity, options->psk_identity_len, EVP_sha256(),
                        NO_CONTEXT, 0)));
}

bool configure_raw_keys(Session *session, const slowhand_options *options)
{
    const uint8_t types[] = {TLSEXT_cert_type_rpk};
    SSL_CTX *ctx = session->ctx;
    if (options->private_key != nullptr) {
        bssl::UniquePtr<EVP_PKEY> key = raw_key(options->public_x, options->public_y, options->private_key);
        if (key == nullptr || !add(ctx, bssl::UniquePtr<SSL_CREDENTIAL>(SSL_CREDENTIAL_new_raw_public_key(key.get()))))
            return false;
    }
    if (options->peer_x == nullptr)
        return true;
    session->peer = raw_key(options->peer_x, options->peer_y, nullptr).release();
    SSL_CTX_set_custom_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify_raw);
    return session->peer != nullptr && SSL_CTX_set1_accepted_peer_cert_types(ctx, types, sizeof types);
}

bool configure_certificates(SSL_CTX *ctx, const slowhand_options *options)
{
    if (options->certificate != nullptr) {
        const uint8_t *der = options->key;
        bssl::UniquePtr<EVP_PKEY> key(d2i_AutoPrivateKey(nullptr, &der, static_cast<long>(options->key_len)));
        if (key == nullptr || !SSL_CTX_use_certificate_ASN1(ctx, options->certificate_len, options->certificate)
            || !SSL_CTX_use_PrivateKey(ctx, key.get()))
            return false;
    }
    if (options->trusted != nullptr) {
        const uint8_t *der = options->trusted;
        bssl::UniquePtr<X509> trusted(d2i_X509(nullptr, &der, static_cast<long>(options->trusted_len)));
        if (trusted == nullptr || !X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), trusted.get()))
            return false;
        if (!options->is_server || options->request_client_certificate)
            SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    return true;
}

/* The groups and the signatures to offer and to accept. In version 1.2, the keys of certificates must be on one of the groups too,
 * and mbedTLS signs with the hash of the suite, so a suite of SHA-384 needs both hashes. */
bool configure_curves(SSL_CTX *ctx, const slowhand_options *options)
{
    const uint16_t groups[] = {options->group, SSL_GROUP_SECP256R1};
    const uint16_t signatures[] = {SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_ECDSA_SECP384R1_SHA384};
    bool has_12 = options->version == TLS1_2_VERSION || options->other_suite != 0;
    size_t count = has_12 && options->group != SSL_GROUP_SECP256R1 ? 2 : 1;
    bool has_sha384 = options->suite == SUITE_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        || options->other_suite == SUITE_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384;
    size_t hashes = has_sha384 ? 2 : 1;
    return SSL_CTX_set1_group_ids(ctx, groups, count) && SSL_CTX_set_verify_algorithm_prefs(ctx, signatures, hashes)
        && SSL_CTX_set_signing_algorithm_prefs(ctx, signatures, hashes);
}

bool configure_suite(SSL_CTX *ctx, uint16_t suite)
{
    if (suite >> 8 == 0x13)
        return SSL_CTX_set1_tls13_ciphers(ctx, &suite, nullptr, 1);
    const SSL_CIPHER *cipher = SSL_get_cipher_by_value(suite);
    return cipher != nullptr && SSL_CTX_set_strict_cipher_list(ctx, SSL_CIPHER_get_name(cipher));
}

/* The ProtocolVersion as the library has it: DTLS counts down. */
uint16_t version_of(const slowhand_options *options, uint16_t version)
{
    if (options->is_stream)
        return version;
    return version == TLS1_3_VERSION ? DTLS1_3_VERSION : DTLS1_2_VERSION;
}

bool configure_versions(SSL_CTX *ctx, const slowhand_options *options)
{
    uint16_t lowest = options->version, highest = options->version;
    if (options->other_suite != 0) {
        lowest = TLS1_2_VERSION;
        highest = TLS1_3_VERSION;
    }
    return SSL_CTX_set_min_proto_version(ctx, version_of(options, lowest))
        && SSL_CTX_set_max_proto_version(ctx, version_of(options, highest)) && configure_suite(ctx, options->suite)
        && (options->other_suite == 0 || configure_suite(ctx, options->other_suite));
}

/* A server that resumes by a ticket keeps its keys. */
bool configure_resumption(Session *session, const slowhand_options *options)
{
    static const uint8_t CONTEXT[] = "slowhand";
    SSL_CTX *ctx = session->ctx;
    if (options->resumption != SLOWHAND_RESUMPTION_TICKET)
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(
        ctx, options->resumption == SLOWHAND_RESUMPTION_NONE ? SSL_SESS_CACHE_OFF : SSL_SESS_CACHE_BOTH);
    SSL_CTX_sess_set_new_cb(ctx, keep_session);
    SSL_CTX_set_timeout(ctx, SESSION_LIFETIME_S);
    SSL_CTX_set_session_psk_dhe_timeout(ctx, SESSION_LIFETIME_S);
    if (!SSL_CTX_set_session_id_context(ctx, CONTEXT, sizeof CONTEXT))
        return false;
    if (!options->is_server || options->resumption != SLOWHAND_RESUMPTION_TICKET)
        return true;
    if (options->previous_len == TICKET_KEYS)
        memcpy(session->ticket_keys, options->previous, TICKET_KEYS);
    else
        slowhand_host->random(session->ticket_keys, TICKET_KEYS);
    return SSL_CTX_set_tlsext_ticket_keys(ctx, session->ticket_keys, TICKET_KEYS);
}

/* A client offers the earlier session; a server of identifiers has it in its memory. A handshake of version 1.2 that resumes it makes no
 * new one, so it stays; a ticket of version 1.3 is used once (RFC 8446 appendix C.4). */
bool resume(Session *session, const slowhand_options *options)
{
    if (options->previous == nullptr || (options->is_server && options->resumption == SLOWHAND_RESUMPTION_TICKET))
        return true;
    bssl::UniquePtr<SSL_SESSION> previous(
        SSL_SESSION_from_bytes(options->previous, options->previous_len, session->ctx));
    if (previous == nullptr
        || !(options->is_server ? SSL_CTX_add_session(session->ctx, previous.get())
                                : SSL_set_session(session->ssl, previous.get())))
        return false;
    if (!SSL_SESSION_should_be_single_use(previous.get()))
        session->kept = previous.release();
    return true;
}

bool configure(Session *session, const slowhand_options *options)
{
    SSL_CTX *ctx = session->ctx = SSL_CTX_new(options->is_stream ? TLS_method() : DTLS_method());
    if (ctx == nullptr)
        return false;
    SSL_CTX_set_current_time_cb(ctx, current_time);
    SSL_CTX_set_keylog_callback(ctx, log_key);
    SSL_CTX_set_max_cert_list(ctx, LONGEST_CERTIFICATES);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    if (!configure_versions(ctx, options) || !configure_curves(ctx, options) || !configure_resumption(session, options))
        return false;
    if (options->psk != nullptr)
        return configure_psk(ctx, options);
    if (options->private_key != nullptr || options->peer_x != nullptr)
        return configure_raw_keys(session, options);
    return configure_certificates(ctx, options);
}

bool set_up(Session *session, const slowhand_options *options)
{
    SSL *ssl = session->ssl = SSL_new(session->ctx);
    if (!connect_transport(ssl, transport, session, options->is_server))
        return false;
    if (!options->is_stream) {
        SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);
        DTLSv1_set_initial_timeout_duration(ssl, static_cast<uint32_t>(options->first_timeout_ns / NS_PER_MS));
        if (!SSL_set_mtu(ssl, largest_datagram(options)))
            return false;
    }
    return resume(session, options);
}

/* Failures */

/* Takes all errors out of the library's queue, the oldest first: a later one often follows from an earlier one. */
void describe(slowhand_progress *progress)
{
    const char *separator = "", *file, *data;
    int line, flags;
    while (uint32_t error = ERR_get_error_line_data(&file, &line, &data, &flags)) {
        slowhand_describe(progress, "%s%s", separator, ERR_reason_error_string(error));
        if ((flags & ERR_FLAG_STRING) != 0 && data[0] != '\0')
            slowhand_describe(progress, ": %s", data);
        separator = "; ";
    }
    /* For example after a close_notify during the handshake. */
    if (progress->words[0] == '\0')
        slowhand_describe(progress, "the session ended, and the library gives no reason");
}

/* Reports the first error of the library's queue: what follows it says where it was seen. */
void fail(slowhand_progress *progress)
{
    set_failure(progress, ERR_GET_REASON(ERR_peek_error()));
    describe(progress);
}

void free_session(Session *session)
{
    SSL_free(session->ssl);
    SSL_SESSION_free(session->kept);
    SSL_CTX_free(session->ctx);
    EVP_PKEY_free(session->peer);
    leave(session);
    slowhand_boringssl::clear(&session->locals);
    free(session);
}

void destroy(void *context)
{
    free_session(enter(context));
}

void *create(const slowhand_options *options, slowhand_progress *progress)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise);
    Session *session = static_cast<Session *>(calloc(1, sizeof *session));
    if (session == nullptr) {
        progress->state = SLOWHAND_FAILED;
        slowhand_describe(progress, "no memory for a session");
        return nullptr;
    }
    session->options = *options;
    enter(session);
    if (!configure(session, options) || !set_up(session, options)) {
        fail(progress);
        free_session(session);
        return nullptr;
    }
    leave(session);
    return session;
}

/* Progress */

/* Over a stream, a server of version 1.3 keeps its tickets until it writes. Writing nothing sends them
 * (`do_send_new_session_ticket` in ssl/tls13_server.cc). */
void send_tickets(Session *session)
{
    const slowhand_options *options = &session->options;
    if (options->is_server && options->is_stream && options->resumption == SLOWHAND_RESUMPTION_TICKET)
        SSL_write(session->ssl, nullptr, 0);
}

/* Continues the handshake. After it, delivers application data. The library also answers a retransmitted flight of the peer. */
int proceed(Session *session)
{
    uint8_t data[SSL3_RT_MAX_PLAIN_LENGTH];
    int ret = 1;
    if (SSL_in_init(session->ssl)) {
        ret = SSL_do_handshake(session->ssl);
        if (ret > 0)
            send_tickets(session);
    }
    while (ret > 0) {
        ret = SSL_read(session->ssl, data, sizeof data);
        if (ret > 0)
            slowhand_host->deliver(data, static_cast<size_t>(ret));
    }
    return SSL_get_error(session->ssl, ret);
}

/* The library's timer doubles up to 60 s. This is the maximum that the session has. */
void limit_timeout(Session *session)
{
    bssl::DTLS1_STATE *state = bssl::FromOpaque(session->ssl)->d1;
    uint32_t maximum_ms = static_cast<uint32_t>(session->options.maximum_timeout_ns / NS_PER_MS);
    if (state->timeout_duration_ms <= maximum_ms)
        return;
    state->timeout_duration_ms = maximum_ms;
    if (state->retransmit_timer.IsSet())
        state->retransmit_timer.UpdateDuration(maximum_ms * US_PER_MS);
}

uint64_t deadline_ns(Session *session)
{
    timeval left;
    if (session->options.is_stream)
        return SLOWHAND_NO_TIMER;
    limit_timeout(session);
    if (!DTLSv1_get_timeout(session->ssl, &left))
        return SLOWHAND_NO_TIMER;
    uint64_t us = static_cast<uint64_t>(left.tv_sec) * US_PER_S + static_cast<uint64_t>(left.tv_usec);
    return slowhand_host->now_ns() + us * NS_PER_US;
}

/* Reports a library call with this result (SSL_ERROR_*). */
void report(Session *session, int result, slowhand_progress *progress)
{
    progress->deadline_ns = deadline_ns(session);
    switch (result) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
        progress->state = SSL_in_init(session->ssl) ? SLOWHAND_HANDSHAKING : SLOWHAND_ESTABLISHED;
        break;
    case SSL_ERROR_ZERO_RETURN:
        if (!SSL_in_init(session->ssl)) {
            progress->state = SLOWHAND_CLOSED_BY_PEER;
            break;
        }
        /* fall through */
    default:
        fail(progress);
    }
    leave(session);
}

void handle_input(void *context, const uint8_t *input, size_t length, slowhand_progress *progress)
{
    Session *session = enter(context);
    session->input = {input, length};
    int result = proceed(session);
    session->input.length = 0;
    report(session, result, progress);
}

void start(void *context, slowhand_progress *progress)
{
    Session *session = enter(context);
    report(session, proceed(session), progress);
}

void handle_timeout(void *context, slowhand_progress *progress)
{
    Session *session = enter(context);
    int result = SSL_ERROR_SSL;
    if (session->options.is_stream || DTLSv1_handle_timeout(session->ssl) >= 0)
        result = proceed(session);
    report(session, result, progress);
}

/* Application data */

size_t max_data(const void *context)
{
    const Session *session = static_cast<const Session *>(context);
    if (session->options.is_stream)
        return SLOWHAND_NO_DATAGRAMS;
    size_t mtu = bssl::FromOpaque(session->ssl)->d1->mtu, overhead = SSL_max_seal_overhead(session->ssl);
    return mtu > overhead ? mtu - overhead : 0;
}

void write_data(void *context, const uint8_t *data, size_t length, slowhand_progress *progress)
{
    Session *session = enter(context);
    /* The transport accepts all octets, so the library writes all. */
    int ret = SSL_write(session->ssl, data, static_cast<int>(length));
    report(session, ret > 0 ? SSL_ERROR_NONE : SSL_ERROR_SSL, progress);
}

void close_session(void *context, slowhand_progress *progress)
{
    Session *session = enter(context);
    int ret = SSL_shutdown(session->ssl);
    report(session, ret >= 0 ? SSL_ERROR_NONE : SSL_ERROR_SSL, progress);
}

/* Results */

uint16_t suite(const void *context)
{
    return suite_of(static_cast<const Session *>(context)->ssl);
}

size_t resumable(void *context, uint8_t *output, size_t size)
{
    Session *session = enter(context);
    const uint8_t *kept = session->ticket_keys;
    size_t length = TICKET_KEYS;
    uint8_t *octets = nullptr;
    if (!session->options.is_server || session->options.resumption != SLOWHAND_RESUMPTION_TICKET) {
        bool has = session->kept != nullptr && SSL_SESSION_is_resumable(session->kept)
            && SSL_SESSION_to_bytes(session->kept, &octets, &length);
        kept = octets;
        length = has ? length : 0;
    }
    length = slowhand_copy_out(kept, length, output, size);
    OPENSSL_free(octets);
    leave(session);
    return length;
}

} // namespace

SLOWHAND_LIBRARY(boringssl_library, start, handle_timeout, slowhand_no_connection_id, resumable);
