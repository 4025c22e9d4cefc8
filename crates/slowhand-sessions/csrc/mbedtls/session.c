/* Mbed TLS.
 *
 * The library runs unmodified. Its public callbacks give it the device's I/O (one datagram or one write at a time), timers
 * (`mbedtls_ssl_set_timer_cb`), calendar and randomness. Sessions do not share a configuration, because the library writes into it (keys
 * cache precomputed points). A configuration takes microseconds to set up. */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "certificate.h"

#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "compatibility.h"

#include "mbedtls/aes.h"
#include "mbedtls/cipher.h"
#include "mbedtls/ecp.h"
#include "mbedtls/error.h"
#include "mbedtls/platform.h"
#include "mbedtls/platform_time.h"
#include "mbedtls/ssl_ciphersuites.h"
#include "mbedtls/ssl_cookie.h"
#if defined(MBEDTLS_PSA_CRYPTO_C)
#include "mbedtls/psa_util.h"
#include "psa/crypto.h"
#endif

#define NS_PER_MS 1000000u
#define MS_PER_S 1000u
#define MASTER_SECRET 48 /* octets, RFC 5246 section 8.1 */
#define TICKET_LIFETIME_S 86400 /* a day, as ssl_ticket.h recommends */

/* The name and the key of a server's tickets. */
struct ticket_key {
    unsigned char name[MBEDTLS_SSL_TICKET_KEY_NAME_BYTES], key[MBEDTLS_SSL_TICKET_MAX_KEY_BYTES];
};

struct session {
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_x509_crt trusted, certificate;
    mbedtls_pk_context key;
    mbedtls_ssl_cookie_ctx cookie;
    const unsigned char *password; /* of EC-JPAKE; NULL: none */
    size_t password_len;
    int suites[2];
    struct slowhand_lists lists;
    mbedtls_x509_crt_profile profile;
    int resumption;
    struct ticket_key ticket_key;
    mbedtls_ssl_ticket_context tickets;
    struct slowhand_kept cached; /* the session of this end, in the format of mbedtls_ssl_session_save */
    int is_complete;
    uint64_t intermediate_ns, final_ns;
    struct slowhand_input input;
};

static const unsigned char TRANSPORT_ID[] = SLOWHAND_TRANSPORT_ID;

/* The platform */

static mbedtls_time_t world_time(mbedtls_time_t *out)
{
    mbedtls_time_t now = (mbedtls_time_t) (slowhand_host->unix_time_ms() / MS_PER_S);
    if (out != NULL)
        *out = now;
    return now;
}

#if SLOWHAND_MBEDTLS_3
/* Also for the age of tickets, so it counts from before the beginning of the world. */
mbedtls_ms_time_t mbedtls_ms_time(void)
{
    return (mbedtls_ms_time_t) slowhand_host->unix_time_ms();
}
#endif

int slowhand_mbedtls_random(void *unused, unsigned char *output, size_t length)
{
    (void) unused;
    slowhand_host->random(output, length);
    return 0;
}

#if defined(MBEDTLS_PSA_CRYPTO_C)
psa_status_t mbedtls_psa_external_get_random(mbedtls_psa_external_random_context_t *unused, uint8_t *output,
                                             size_t size, size_t *length)
{
    (void) unused;
    slowhand_host->random(output, size);
    *length = size;
    return PSA_SUCCESS;
}
#endif

static void initialise_once(void)
{
    /* The library writes its global state at the first call of each of these functions, without a lock. After this, it only
     * reads the state. */
    mbedtls_platform_set_time(world_time);
    mbedtls_ssl_list_ciphersuites();
    mbedtls_cipher_list();
    mbedtls_ecp_grp_id_list();
#if defined(MBEDTLS_PSA_CRYPTO_C)
    psa_crypto_init();
#endif
    /* Detects the instructions of the processor. */
    static const unsigned char ANY_KEY[16];
    mbedtls_aes_context aes;
    mbedtls_aes_init(&aes);
    mbedtls_aes_setkey_enc(&aes, ANY_KEY, 8 * sizeof ANY_KEY);
    mbedtls_aes_free(&aes);
}

void slowhand_mbedtls_initialise(void)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise_once);
}

static const char *version(void)
{
    return MBEDTLS_VERSION_STRING;
}

void slowhand_mbedtls_error_text(int error, char *text, size_t size)
{
    mbedtls_strerror(error, text, size);
}

/* Callbacks of the library */

static int is_datagram(const struct session *session)
{
    return session->conf.transport == MBEDTLS_SSL_TRANSPORT_DATAGRAM;
}

/* Sends one datagram, or makes one write to a stream. */
static int send_octets(void *unused, const unsigned char *octets, size_t length)
{
    (void) unused;
    slowhand_host->transmit(octets, length);
    return (int) length;
}

static int receive_octets(void *context, unsigned char *buffer, size_t size)
{
    struct session *session = context;
    size_t length = slowhand_take(&session->input, is_datagram(session), buffer, size);
    return length == 0 ? MBEDTLS_ERR_SSL_WANT_READ : (int) length;
}

static void set_timer(void *context, uint32_t intermediate_ms, uint32_t final_ms)
{
    struct session *session = context;
    if (final_ms == 0) {
        session->intermediate_ns = session->final_ns = SLOWHAND_NO_TIMER;
        return;
    }
    uint64_t now = slowhand_host->now_ns();
    session->intermediate_ns = now + (uint64_t) intermediate_ms * NS_PER_MS;
    session->final_ns = now + (uint64_t) final_ms * NS_PER_MS;
}

static int get_timer(void *context)
{
    const struct session *session = context;
    uint64_t now = slowhand_host->now_ns();
    if (session->final_ns == SLOWHAND_NO_TIMER)
        return -1;
    return now >= session->final_ns ? 2 : now >= session->intermediate_ns ? 1 : 0;
}

/* A server's cache holds one session. */
static int find(const struct session *own, unsigned char const *id, size_t id_len, mbedtls_ssl_session *session)
{
    if (own->cached.octets == NULL || mbedtls_ssl_session_load(session, own->cached.octets, own->cached.length) != 0)
        return MBEDTLS_ERR_SSL_CACHE_ENTRY_NOT_FOUND;
    if (session->id_len == id_len && memcmp(session->id, id, id_len) == 0)
        return 0;
    mbedtls_ssl_session_free(session);
    mbedtls_ssl_session_init(session);
    return MBEDTLS_ERR_SSL_CACHE_ENTRY_NOT_FOUND;
}

static int keep_session(struct session *own, const mbedtls_ssl_session *session)
{
    size_t length = 0;
    mbedtls_ssl_session_save(session, NULL, 0, &length); /* returns the length */
    unsigned char *octets = malloc(length);
    if (octets == NULL)
        return MBEDTLS_ERR_SSL_ALLOC_FAILED;
    int ret = mbedtls_ssl_session_save(session, octets, length, &length);
    if (ret == 0 && !slowhand_keep(&own->cached, octets, length))
        ret = MBEDTLS_ERR_SSL_ALLOC_FAILED;
    free(octets);
    return ret;
}

#if SLOWHAND_MBEDTLS_3
static int cache_get(void *context, unsigned char const *id, size_t id_len, mbedtls_ssl_session *session)
{
    return find(context, id, id_len, session);
}

static int cache_set(void *context, unsigned char const *id, size_t id_len, const mbedtls_ssl_session *session)
{
    (void) id;
    (void) id_len;
    return keep_session(context, session);
}

static void export_keys(void *context, mbedtls_ssl_key_export_type type, const unsigned char *secret,
                        size_t secret_len, const unsigned char client_random[32],
                        const unsigned char server_random[32], mbedtls_tls_prf_types prf)
{
    (void) context;
    (void) server_random;
    (void) prf;
    switch (type) {
    case MBEDTLS_SSL_KEY_EXPORT_TLS12_MASTER_SECRET:
        slowhand_master_secret(client_random, secret, secret_len);
        break;
#if defined(MBEDTLS_SSL_PROTO_TLS1_3)
    case MBEDTLS_SSL_KEY_EXPORT_TLS1_3_CLIENT_HANDSHAKE_TRAFFIC_SECRET:
        slowhand_host->key_log("CLIENT_HANDSHAKE_TRAFFIC_SECRET", client_random, secret, secret_len);
        break;
    case MBEDTLS_SSL_KEY_EXPORT_TLS1_3_SERVER_HANDSHAKE_TRAFFIC_SECRET:
        slowhand_host->key_log("SERVER_HANDSHAKE_TRAFFIC_SECRET", client_random, secret, secret_len);
        break;
    case MBEDTLS_SSL_KEY_EXPORT_TLS1_3_CLIENT_APPLICATION_TRAFFIC_SECRET:
        slowhand_host->key_log("CLIENT_TRAFFIC_SECRET_0", client_random, secret, secret_len);
        break;
    case MBEDTLS_SSL_KEY_EXPORT_TLS1_3_SERVER_APPLICATION_TRAFFIC_SECRET:
        slowhand_host->key_log("SERVER_TRAFFIC_SECRET_0", client_random, secret, secret_len);
        break;
#endif
    default:
        break;
    }
}
#else
/* The wanted number is in `session`. */
static int cache_get(void *context, mbedtls_ssl_session *session)
{
    unsigned char id[sizeof session->id];
    size_t id_len = session->id_len;
    memcpy(id, session->id, sizeof id);
    return find(context, id, id_len, session);
}

static int cache_set(void *context, const mbedtls_ssl_session *session)
{
    return keep_session(context, session);
}

static int export_keys(void *context, const unsigned char *secret, const unsigned char *block, size_t mac_len, size_t key_len,
                       size_t iv_len, const unsigned char client_random[32], const unsigned char server_random[32],
                       mbedtls_tls_prf_types prf)
{
    (void) context, (void) block, (void) mac_len, (void) key_len, (void) iv_len, (void) server_random, (void) prf;
    slowhand_master_secret(client_random, secret, MASTER_SECRET);
    return 0;
}
#endif

/* Construction */

/* The groups and the signatures that a session offers: those of the scenario, or in a profile the library's own lists, which
 * follow from its options. */
static void offer_algorithms(struct session *session, const struct slowhand_options *options)
{
    mbedtls_ssl_config *conf = &session->conf;
#if !defined(SLOWHAND_OWN_LISTS)
    if (options->group != 0)
        slowhand_conf_group(conf, &session->lists, options->group);
    if (options->signature != 0)
        slowhand_conf_signature(conf, &session->lists, options->signature);
#else
    static const uint16_t WITHOUT_CERTIFICATE[] = SLOWHAND_SIGNATURES_WITHOUT_CERTIFICATE;
    if (options->signature == 0)
        mbedtls_ssl_conf_sig_algs(conf, WITHOUT_CERTIFICATE);
#endif
}

static int configure_credentials(struct session *session, const struct slowhand_options *options)
{
    int ret;
    if (options->psk != NULL) {
        ret = mbedtls_ssl_conf_psk(&session->conf, options->psk, options->psk_len, options->psk_identity,
                                   options->psk_identity_len);
        if (ret != 0)
            return ret;
    }
    offer_algorithms(session, options);
    if (options->signature != 0) {
        /* The default profile refuses secp192r1 and RSA-1024, but the papers use them. */
        session->profile = mbedtls_x509_crt_profile_default;
        session->profile.allowed_curves = 0xFFFFFFFF;
        session->profile.rsa_min_bitlen = 1024;
        mbedtls_ssl_conf_cert_profile(&session->conf, &session->profile);
    }
    if (options->certificate != NULL) {
        if ((ret = mbedtls_x509_crt_parse_der(&session->certificate, options->certificate,
                                              options->certificate_len)) != 0
            || (ret = mbedtls_pk_parse_key(&session->key, options->key, options->key_len, NULL, 0, slowhand_mbedtls_random,
                                           NULL)) != 0
            || (ret = mbedtls_ssl_conf_own_cert(&session->conf, &session->certificate, &session->key)) != 0)
            return ret;
    }
    if (options->takes_any_chain)
        mbedtls_ssl_conf_authmode(&session->conf, MBEDTLS_SSL_VERIFY_NONE);
    else if (options->trusted != NULL) {
        if ((ret = mbedtls_x509_crt_parse_der(&session->trusted, options->trusted, options->trusted_len)) != 0)
            return ret;
        mbedtls_ssl_conf_ca_chain(&session->conf, &session->trusted, NULL);
        mbedtls_ssl_conf_authmode(&session->conf, !options->is_server || options->request_client_certificate
                                                      ? MBEDTLS_SSL_VERIFY_REQUIRED
                                                      : MBEDTLS_SSL_VERIFY_NONE);
    }
    return 0;
}

/* Prepares to resume the earlier session, and to let a later session resume this one. */
static int configure_resumption(struct session *session, const struct slowhand_options *options)
{
    mbedtls_ssl_config *conf = &session->conf;
    int ret;
    session->resumption = options->resumption;
    int has_tickets = options->resumption == SLOWHAND_RESUMPTION_TICKET;
    /* In TLS 1.3, resumption uses a pre-shared key, which comes from a ticket. */
#if defined(MBEDTLS_SSL_PROTO_TLS1_3)
    mbedtls_ssl_conf_tls13_key_exchange_modes(conf, has_tickets ? MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ALL
                                                                : MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL);
#endif
    if (!options->is_server) {
#if defined(MBEDTLS_SSL_SESSION_TICKETS)
        mbedtls_ssl_conf_session_tickets(conf, has_tickets ? MBEDTLS_SSL_SESSION_TICKETS_ENABLED
                                                           : MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
#endif
#if defined(MBEDTLS_SSL_PROTO_TLS1_3)
        mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
            conf, has_tickets ? MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED
                              : MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_DISABLED);
#endif
        return 0;
    }
    if (options->resumption == SLOWHAND_RESUMPTION_ID) {
        mbedtls_ssl_conf_session_cache(conf, session, cache_get, cache_set);
        int is_kept = options->previous == NULL || slowhand_keep(&session->cached, options->previous, options->previous_len);
        return is_kept ? 0 : MBEDTLS_ERR_SSL_ALLOC_FAILED;
    }
#if defined(MBEDTLS_SSL_SESSION_TICKETS)
    if (has_tickets) {
        struct ticket_key *key = &session->ticket_key;
        if (options->previous_len == sizeof *key)
            memcpy(key, options->previous, sizeof *key);
        else
            slowhand_host->random((uint8_t *) key, sizeof *key);
        if ((ret = mbedtls_ssl_ticket_setup(&session->tickets, slowhand_mbedtls_random, NULL, MBEDTLS_CIPHER_AES_256_GCM,
                                            TICKET_LIFETIME_S)) != 0
            || (ret = mbedtls_ssl_ticket_rotate(&session->tickets, key->name, sizeof key->name, key->key,
                                                sizeof key->key, TICKET_LIFETIME_S)) != 0)
            return ret;
        mbedtls_ssl_conf_session_tickets_cb(conf, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse,
                                            &session->tickets);
    }
#endif
    return 0;
}

static int configure(struct session *session, const struct slowhand_options *options)
{
    mbedtls_ssl_config *conf = &session->conf;
    int ret = mbedtls_ssl_config_defaults(conf, options->is_server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                          options->is_stream ? MBEDTLS_SSL_TRANSPORT_STREAM
                                                             : MBEDTLS_SSL_TRANSPORT_DATAGRAM,
                                          MBEDTLS_SSL_PRESET_DEFAULT);
    if (ret != 0)
        return ret;
    slowhand_conf_version(conf, options->version);
    mbedtls_ssl_conf_rng(conf, slowhand_mbedtls_random, NULL);
    session->suites[0] = options->suite;
    mbedtls_ssl_conf_ciphersuites(conf, session->suites);
    mbedtls_ssl_conf_handshake_timeout(conf, (uint32_t) (options->first_timeout_ns / NS_PER_MS),
                                       (uint32_t) (options->maximum_timeout_ns / NS_PER_MS));
    if ((ret = configure_credentials(session, options)) != 0)
        return ret;
#if defined(MBEDTLS_SSL_MAX_FRAGMENT_LENGTH)
    unsigned char length = options->max_fragment_length != 0 ? options->max_fragment_length : SLOWHAND_MAX_FRAGMENT_LENGTH;
    if (length != 0 && (ret = mbedtls_ssl_conf_max_frag_len(conf, length)) != 0)
        return ret;
#endif
#if defined(MBEDTLS_SSL_DTLS_CONNECTION_ID)
    if (options->connection_id >= 0
        && (ret = mbedtls_ssl_conf_cid(conf, (size_t) options->connection_id, MBEDTLS_SSL_UNEXPECTED_CID_IGNORE)) != 0)
        return ret;
#endif
    if (options->is_server && !options->is_stream) {
        if (options->cookie) {
            if ((ret = mbedtls_ssl_cookie_setup(&session->cookie, slowhand_mbedtls_random, NULL)) != 0)
                return ret;
            mbedtls_ssl_conf_dtls_cookies(conf, mbedtls_ssl_cookie_write, mbedtls_ssl_cookie_check,
                                          &session->cookie);
        } else {
            mbedtls_ssl_conf_dtls_cookies(conf, NULL, NULL, NULL);
        }
    }
    return configure_resumption(session, options);
}

/* Prepares the connection for a handshake. The library forgets this with each reset. */
static int prepare_handshake(struct session *session)
{
    mbedtls_ssl_context *ssl = &session->ssl;
    int is_server = session->conf.endpoint == MBEDTLS_SSL_IS_SERVER;
    int ret;
    if (is_server && is_datagram(session)
        && (ret = mbedtls_ssl_set_client_transport_id(ssl, TRANSPORT_ID, sizeof TRANSPORT_ID)) != 0)
        return ret;
#if defined(MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED)
    if (session->password != NULL)
        return mbedtls_ssl_set_hs_ecjpake_password(ssl, session->password, session->password_len);
#endif
    return 0;
}

/* A client offers to resume the earlier session. */
static int offer(mbedtls_ssl_context *ssl, const unsigned char *octets, size_t length)
{
    mbedtls_ssl_session previous;
    mbedtls_ssl_session_init(&previous);
    int ret = mbedtls_ssl_session_load(&previous, octets, length);
    if (ret == 0)
        ret = mbedtls_ssl_set_session(ssl, &previous);
    mbedtls_ssl_session_free(&previous);
    return ret;
}

static int set_up(struct session *session, const struct slowhand_options *options)
{
    mbedtls_ssl_context *ssl = &session->ssl;
    int ret = mbedtls_ssl_setup(ssl, &session->conf);
    if (ret != 0)
        return ret;
#if defined(MBEDTLS_SSL_DTLS_CONNECTION_ID)
    if (options->connection_id >= 0) {
        unsigned char cid[MBEDTLS_SSL_CID_IN_LEN_MAX];
        slowhand_host->random(cid, (size_t) options->connection_id);
        if ((ret = mbedtls_ssl_set_cid(ssl, MBEDTLS_SSL_CID_ENABLED, cid, (size_t) options->connection_id)) != 0)
            return ret;
    }
#endif
    session->password = options->password;
    session->password_len = options->password_len;
    if ((ret = prepare_handshake(session)) != 0)
        return ret;
    if (!options->is_server && options->trusted != NULL && (ret = mbedtls_ssl_set_hostname(ssl, NULL)) != 0) {
        return ret; /* NULL: the server has no name to check */
    }
    if (options->mtu != 0 || SLOWHAND_MTU != 0)
        mbedtls_ssl_set_mtu(ssl, options->mtu != 0 ? options->mtu : SLOWHAND_MTU);
    mbedtls_ssl_set_bio(ssl, session, send_octets, receive_octets, NULL);
    if (!options->is_stream)
        mbedtls_ssl_set_timer_cb(ssl, session, set_timer, get_timer);
#if SLOWHAND_MBEDTLS_3
    mbedtls_ssl_set_export_keys_cb(ssl, export_keys, session);
#else
    mbedtls_ssl_conf_export_keys_ext_cb(&session->conf, export_keys, session);
#endif
    if (!options->is_server && options->previous != NULL)
        return offer(ssl, options->previous, options->previous_len);
    return 0;
}

static void destroy(void *context)
{
    struct session *session = context;
    mbedtls_ssl_free(&session->ssl);
    mbedtls_ssl_config_free(&session->conf);
    mbedtls_x509_crt_free(&session->trusted);
    mbedtls_x509_crt_free(&session->certificate);
    mbedtls_pk_free(&session->key);
    mbedtls_ssl_cookie_free(&session->cookie);
#if defined(MBEDTLS_SSL_SESSION_TICKETS)
    mbedtls_ssl_ticket_free(&session->tickets);
#endif
    free(session->cached.octets);
    free(session);
}

static void describe(struct slowhand_progress *progress, int error)
{
    mbedtls_strerror(error, progress->words, sizeof progress->words);
    slowhand_describe(progress, " (-0x%04X)", (unsigned) -error);
}

static void fail(struct slowhand_progress *progress, int error)
{
    progress->state = SLOWHAND_FAILED;
    progress->code = error;
    describe(progress, error);
}

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    slowhand_mbedtls_initialise();
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        fail(progress, MBEDTLS_ERR_SSL_ALLOC_FAILED);
        return NULL;
    }
    mbedtls_ssl_init(&session->ssl);
    mbedtls_ssl_config_init(&session->conf);
    mbedtls_x509_crt_init(&session->trusted);
    mbedtls_x509_crt_init(&session->certificate);
    mbedtls_pk_init(&session->key);
    mbedtls_ssl_cookie_init(&session->cookie);
#if defined(MBEDTLS_SSL_SESSION_TICKETS)
    mbedtls_ssl_ticket_init(&session->tickets);
#endif
    session->intermediate_ns = session->final_ns = SLOWHAND_NO_TIMER;
    int error = configure(session, options);
    if (error == 0)
        error = set_up(session, options);
    if (error != 0) {
        fail(progress, error);
        destroy(session);
        return NULL;
    }
    return session;
}

/* The handshake */

static int peer_finished_state(const struct session *session)
{
    return session->conf.endpoint == MBEDTLS_SSL_IS_SERVER ? MBEDTLS_SSL_CLIENT_FINISHED
                                                           : MBEDTLS_SSL_SERVER_FINISHED;
}

static int handshake(struct session *session)
{
    mbedtls_ssl_context *ssl = &session->ssl;
    /* The condition is that of mbedtls_ssl_handshake. In TLS 1.3, the states for tickets have higher numbers than the end of the
     * handshake. */
    while (ssl->state != MBEDTLS_SSL_HANDSHAKE_OVER) {
        int before = ssl->state;
        int ret = mbedtls_ssl_handshake_step(ssl);
        if (ret == MBEDTLS_ERR_SSL_HELLO_VERIFY_REQUIRED) {
            /* The library has sent the cookie. It needs a reset before the next ClientHello. */
            if ((ret = mbedtls_ssl_session_reset(ssl)) != 0 || (ret = prepare_handshake(session)) != 0)
                return ret;
            continue;
        }
        if (ret != 0)
            return ret;
        if (before == peer_finished_state(session) && ssl->state != before)
            slowhand_host->verified();
    }
    session->is_complete = 1;
    return 0;
}

/* After the handshake: delivers application data. The library also answers a retransmitted flight of the peer. */
static int read_records(struct session *session)
{
    unsigned char data[MBEDTLS_SSL_IN_CONTENT_LEN];
    int ret;
    do {
        ret = mbedtls_ssl_read(&session->ssl, data, sizeof data);
        if (ret > 0)
            slowhand_host->deliver(data, (size_t) ret);
    } while (ret > 0 || slowhand_reads_ticket(&session->ssl, ret));
    if (ret == MBEDTLS_ERR_SSL_CLIENT_RECONNECT)
        session->is_complete = 0; /* a valid ClientHello of epoch 0: the library begins a new handshake */
    return ret;
}

static int proceed(struct session *session)
{
    int ret = 0;
    if (session->is_complete)
        ret = read_records(session);
    if (!session->is_complete)
        ret = handshake(session);
    return ret;
}

/* Reports the result of a library call that returned `ret`. */
static void report(const struct session *session, int ret, struct slowhand_progress *progress)
{
    progress->deadline_ns = session->final_ns;
    switch (ret) {
    case 0:
    case MBEDTLS_ERR_SSL_WANT_READ:
    case MBEDTLS_ERR_SSL_WANT_WRITE:
        progress->state = session->is_complete ? SLOWHAND_ESTABLISHED : SLOWHAND_HANDSHAKING;
        break;
    case MBEDTLS_ERR_SSL_TIMEOUT:
        progress->state = SLOWHAND_TIMED_OUT;
        describe(progress, ret);
        break;
    case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
        progress->state = SLOWHAND_ALERT_RECEIVED;
        progress->code = session->ssl.in_msg != NULL ? session->ssl.in_msg[1] : 0;
        describe(progress, ret);
        slowhand_describe(progress, ": %s (%d)", slowhand_alert_name(progress->code), progress->code);
        break;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
        if (session->is_complete) {
            progress->state = SLOWHAND_CLOSED_BY_PEER;
            break;
        }
        /* fall through */
    default:
        fail(progress, ret);
    }
}

/* Continues as far as possible with the input and the clock. */
static void handle_input(void *context, const uint8_t *input, size_t length, struct slowhand_progress *progress)
{
    struct session *session = context;
    session->input = (struct slowhand_input) {input, length};
    int ret = proceed(session);
    /* The library checks its timer first, and may return before it reads the input. In a stream, more input may follow the end
     * of the handshake. */
    if ((ret == 0 || ret == MBEDTLS_ERR_SSL_WANT_READ) && session->input.length > 0)
        ret = proceed(session);
    session->input.length = 0;
    report(session, ret, progress);
}

static void drive(void *context, struct slowhand_progress *progress)
{
    handle_input(context, NULL, 0, progress);
}

/* Application data */

static size_t max_data(const void *context)
{
    const struct session *session = context;
    if (!is_datagram(session))
        return SLOWHAND_NO_DATAGRAMS;
    int ret = mbedtls_ssl_get_max_out_record_payload(&session->ssl);
    return ret < 0 ? 0 : (size_t) ret;
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct session *session = context;
    int ret = 0;
    while (length > 0 && (ret = mbedtls_ssl_write(&session->ssl, data, length)) > 0) {
        data += ret;
        length -= (size_t) ret;
    }
    if (length > 0 && ret == MBEDTLS_ERR_SSL_WANT_READ)
        fail(progress, ret); /* the library is in a handshake again */
    else
        report(session, length == 0 ? 0 : ret, progress);
}

static void close_session(void *context, struct slowhand_progress *progress)
{
    struct session *session = context;
    report(session, mbedtls_ssl_close_notify(&session->ssl), progress);
}

/* Results */

/* Keeps a client's session, which the library exports only once. */
static void keep_own(struct session *session)
{
    mbedtls_ssl_session own;
    mbedtls_ssl_session_init(&own);
    if (mbedtls_ssl_get_session(&session->ssl, &own) == 0)
        keep_session(session, &own);
    mbedtls_ssl_session_free(&own);
}

static size_t resumable(void *context, uint8_t *output, size_t size)
{
    struct session *session = context;
    int is_server = session->conf.endpoint == MBEDTLS_SSL_IS_SERVER;
    if (session->resumption == SLOWHAND_RESUMPTION_NONE)
        return 0;
    if (is_server && session->resumption == SLOWHAND_RESUMPTION_TICKET)
        return slowhand_copy_out(&session->ticket_key, sizeof session->ticket_key, output, size);
    if (!is_server && session->cached.octets == NULL)
        keep_own(session);
    return slowhand_copy_out(session->cached.octets, session->cached.length, output, size);
}

static uint16_t suite(const void *context)
{
    const struct session *session = context;
    return (uint16_t) mbedtls_ssl_get_ciphersuite_id_from_ssl(&session->ssl);
}

static int connection_id(const void *context)
{
    const struct session *session = context;
#if defined(MBEDTLS_SSL_DTLS_CONNECTION_ID)
    int enabled = MBEDTLS_SSL_CID_DISABLED;
    unsigned char cid[MBEDTLS_SSL_CID_OUT_LEN_MAX];
    size_t length = 0;
    /* The library only reads the session, although its parameter is not const. */
    if (mbedtls_ssl_get_peer_cid((mbedtls_ssl_context *) &session->ssl, &enabled, cid, &length) != 0
        || enabled != MBEDTLS_SSL_CID_ENABLED)
        return -1;
    return (int) length;
#else
    (void) session;
    return -1;
#endif
}

SLOWHAND_LIBRARY(mbedtls_library, drive, drive, connection_id, resumable);
