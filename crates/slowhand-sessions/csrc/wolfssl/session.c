#include "adapter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wolfssl/error-ssl.h>

#define NS_PER_MS 1000000u
#define MS_PER_S 1000u
#define SESSION_LIFETIME_S 86400 /* a day, as for mbedTLS; the library's default is 500 s */
#define MOST_MTU 16384           /* octets: `MAX_RECORD_SIZE` of internal.h */
#define MOST_CONTENT 16384       /* octets of a record (RFC 8446 section 5.1) */

static _Thread_local struct session *running;

/* When the library last repeated a flight of version 1.3, on the device's calendar. */
static int64_t repeated_ms(const struct session *session)
{
#ifdef WOLFSSL_DTLS13
    return session->ssl == NULL ? 0 : (int64_t) session->ssl->dtls13Rtx.lastRtx;
#else
    (void) session;
    return 0;
#endif
}

static struct session *enter(void *context)
{
    struct session *session = context;
    session->outer = running;
    session->flight_ns = SLOWHAND_NO_TIMER;
    session->repeated_ms = repeated_ms(session);
    running = session;
    return session;
}

static void leave(struct session *session)
{
    slowhand_wolfssl_notice();
    running = session->outer;
}

/* The platform */

time_t slowhand_wolfssl_time(time_t *output)
{
    time_t now = (time_t) (slowhand_host->unix_time_ms() / MS_PER_S);
    if (output != NULL)
        *output = now;
    return now;
}

word32 LowResTimer(void)
{
    return (word32) (slowhand_host->unix_time_ms() / MS_PER_S);
}

sword64 TimeNowInMilliseconds(void)
{
    return (sword64) slowhand_host->unix_time_ms();
}

int slowhand_wolfssl_random(unsigned char *output, unsigned int length)
{
    slowhand_host->random(output, length);
    return 0;
}

static void initialise(void)
{
    wolfSSL_Init();
}

static const char *version(void)
{
    return LIBWOLFSSL_VERSION_STRING;
}

/* The kind of the session */

static int is_dtls(const struct session *session)
{
    return !session->options.is_stream;
}

/* True if the version is 1.3, as far as it is known. */
static int is_13(const struct session *session)
{
    return session->ssl != NULL && IsAtLeastTLSv1_3(session->ssl->version);
}

void slowhand_wolfssl_notice(void)
{
    struct session *session = running;
    if (session == NULL || session->is_verified || session->ssl == NULL)
        return;
    const Options *options = &session->ssl->options;
    session->is_verified = session->options.is_server ? options->clientState == CLIENT_FINISHED_COMPLETE
                                                      : options->serverState == SERVER_FINISHED_COMPLETE;
    if (!session->is_verified)
        return;
    slowhand_host->verified();
    /* The library does not tell the secret of a session that is resumed. */
    const Arrays *arrays = session->ssl->arrays;
    if (options->resuming && !is_13(session) && arrays != NULL)
        slowhand_master_secret(arrays->clientRandom, arrays->masterSecret, SECRET_LEN);
}

/* Callbacks of the library */

static int receive_octets(WOLFSSL *ssl, char *buffer, int size, void *context)
{
    struct session *session = context;
    (void) ssl;
    size_t length = slowhand_take(&session->input, is_dtls(session), buffer, (size_t) size);
    return length == 0 ? WOLFSSL_CBIO_ERR_WANT_READ : (int) length;
}

/* True while the library sends an acknowledgement: it has one variable for that and for repetitions. */
static int is_acknowledging(const struct session *session)
{
#ifdef WOLFSSL_DTLS13
    return session->ssl->dtls13SendingAckOrRtx && repeated_ms(session) == session->repeated_ms;
#else
    (void) session;
    return 0;
#endif
}

static int send_octets(WOLFSSL *ssl, char *octets, int length, void *context)
{
    struct session *session = context;
    (void) ssl;
    slowhand_wolfssl_notice();
    if (session->repeat_ns == SLOWHAND_NO_TIMER || !is_acknowledging(session))
        session->flight_ns = slowhand_host->now_ns();
    slowhand_host->transmit((const uint8_t *) octets, (size_t) length);
    return length;
}

static int log_master_secret(WOLFSSL *ssl, void *secret, int length, void *context)
{
    uint8_t client_random[RAN_LEN];
    (void) context;
    if (wolfSSL_get_client_random(ssl, client_random, sizeof client_random) == sizeof client_random)
        slowhand_master_secret(client_random, secret, (size_t) length);
    return 0;
}

#ifdef WOLFSSL_TLS13
static int log_secret(WOLFSSL *ssl, int id, const unsigned char *secret, int length, void *context)
{
    static const char *const LABELS[] = {
        [CLIENT_HANDSHAKE_TRAFFIC_SECRET] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
        [SERVER_HANDSHAKE_TRAFFIC_SECRET] = "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        [CLIENT_TRAFFIC_SECRET] = "CLIENT_TRAFFIC_SECRET_0",
        [SERVER_TRAFFIC_SECRET] = "SERVER_TRAFFIC_SECRET_0",
    };
    uint8_t client_random[RAN_LEN];
    (void) context;
    if (id >= 0 && id < (int) (sizeof LABELS / sizeof *LABELS) && LABELS[id] != NULL
        && wolfSSL_get_client_random(ssl, client_random, sizeof client_random) == sizeof client_random)
        slowhand_host->key_log(LABELS[id], client_random, secret, (size_t) length);
    return 0;
}
#endif

/* Sessions that a server keeps, to resume one by its ID: one session. */

/* The octets of a session. The caller frees them. Returns the length, or 0. */
static size_t write_session(WOLFSSL_SESSION *kept, unsigned char **octets)
{
    *octets = NULL;
    int length = wolfSSL_i2d_SSL_SESSION(kept, octets);
    return length > 0 ? (size_t) length : 0;
}

static int cache_set(WOLFSSL *ssl, WOLFSSL_SESSION *kept)
{
    struct session *session = wolfSSL_GetIOReadCtx(ssl);
    unsigned char *octets;
    size_t length = write_session(kept, &octets);
    if (length > 0)
        slowhand_keep(&session->cached, octets, length);
    free(octets);
    return 0; /* the library frees its reference */
}

static WOLFSSL_SESSION *cache_get(WOLFSSL *ssl, const unsigned char *id, int id_len, int *is_kept)
{
    struct session *session = wolfSSL_GetIOReadCtx(ssl);
    const unsigned char *octets = session->cached.octets;
    *is_kept = 0; /* the library frees it */
    if (octets == NULL)
        return NULL;
    WOLFSSL_SESSION *kept = wolfSSL_d2i_SSL_SESSION(NULL, &octets, (long) session->cached.length);
    if (kept != NULL && (kept->sessionIDSz != id_len || memcmp(kept->sessionID, id, (size_t) id_len) != 0)) {
        wolfSSL_SESSION_free(kept);
        return NULL;
    }
    return kept;
}

/* Construction. Each step returns 1, or 0 after an error. */

static WOLFSSL_METHOD *method(const struct session *session)
{
    int is_server = session->options.is_server;
    if (has_both(session)) {
        if (is_dtls(session))
            return is_server ? wolfDTLS_server_method() : wolfDTLS_client_method();
        return is_server ? wolfTLS_server_method() : wolfTLS_client_method();
    }
#ifdef WOLFSSL_TLS13
    if (has_13(session)) {
#ifdef WOLFSSL_DTLS13
        if (is_dtls(session))
            return is_server ? wolfDTLSv1_3_server_method() : wolfDTLSv1_3_client_method();
#endif
        return is_server ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method();
    }
#endif
    if (is_dtls(session))
        return is_server ? wolfDTLSv1_2_server_method() : wolfDTLSv1_2_client_method();
    return is_server ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method();
}

static int use_suites(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    const char *suite = name_of(options->suite), *other = has_both(session) ? name_of(options->other_suite) : "";
    char suites[120];
    if (suite == NULL || other == NULL)
        return 0;
    snprintf(suites, sizeof suites, "%s%s%s", suite, has_both(session) ? ":" : "", other);
    return wolfSSL_CTX_set_cipher_list(session->context, suites) == WOLFSSL_SUCCESS;
}

/* Prepares to resume the earlier session, and to let a later session resume this one. */
static int use_resumption(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    WOLFSSL_CTX *context = session->context;
    /* The internal cache is one for the whole process. */
    wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_NO_INTERNAL);
    if (wolfSSL_CTX_set_timeout(context, SESSION_LIFETIME_S) == 0)
        return 0;
#ifdef HAVE_SESSION_TICKET
    if (options->resumption != SLOWHAND_RESUMPTION_TICKET) {
        if (wolfSSL_CTX_NoTicketTLSv12(context) != WOLFSSL_SUCCESS)
            return 0;
#ifdef WOLFSSL_TLS13
        if (options->is_server && has_13(session) && wolfSSL_CTX_no_ticket_TLSv13(context) != 0)
            return 0;
#endif
    } else if (options->is_server && options->previous != NULL
               && wolfSSL_CTX_set_tlsext_ticket_keys(context, options->previous, (int) options->previous_len)
                      != WOLFSSL_SUCCESS) {
        return 0;
    }
#endif
    if (options->is_server && options->resumption == SLOWHAND_RESUMPTION_ID) {
        wolfSSL_CTX_sess_set_new_cb(context, cache_set);
        wolfSSL_CTX_sess_set_get_cb(context, cache_get);
        return options->previous == NULL || slowhand_keep(&session->cached, options->previous, options->previous_len);
    }
    return 1;
}

static int set_up_context(struct session *session)
{
    session->context = wolfSSL_CTX_new(method(session));
    if (session->context == NULL)
        return 0;
    wolfSSL_CTX_SetIORecv(session->context, receive_octets);
    wolfSSL_CTX_SetIOSend(session->context, send_octets);
    return use_suites(session) && slowhand_wolfssl_use_credentials(session) && use_resumption(session);
}

static int use_groups(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    if (options->group == 0) {
#ifdef WOLFSSL_TLS13
        /* A client sends a key share with psk_ke too, unless it is told not to. */
        if (options->version == TLS1_3_VERSION && !options->is_server)
            return wolfSSL_NoKeyShares(session->ssl) == WOLFSSL_SUCCESS;
#endif
        return 1;
    }
#ifdef HAVE_SUPPORTED_CURVES
    WOLFSSL *ssl = session->ssl;
    if (!options->is_server && wolfSSL_UseSupportedCurve(ssl, options->group) != WOLFSSL_SUCCESS)
        return 0;
#ifdef WOLFSSL_TLS13
    int groups[] = {options->group};
    if (has_13(session))
        return wolfSSL_set_groups(ssl, groups, 1) == WOLFSSL_SUCCESS;
#endif
    /* The keys of certificates must be on one of the groups too (RFC 8422 section 5.1). */
    return options->is_server || options->group == WOLFSSL_ECC_SECP256R1
           || wolfSSL_UseSupportedCurve(ssl, WOLFSSL_ECC_SECP256R1) == WOLFSSL_SUCCESS;
#else
    return 0;
#endif
}

static int use_extensions(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    WOLFSSL *ssl = session->ssl;
#ifdef HAVE_SESSION_TICKET
    if (options->resumption == SLOWHAND_RESUMPTION_TICKET && !options->is_server
        && options->version != TLS1_3_VERSION && wolfSSL_UseSessionTicket(ssl) != WOLFSSL_SUCCESS)
        return 0;
#endif
#ifdef HAVE_MAX_FRAGMENT
    /* A server grants what is asked for. */
    if (options->max_fragment_length != 0 && !options->is_server
        && wolfSSL_UseMaxFragment(ssl, options->max_fragment_length) != WOLFSSL_SUCCESS)
        return 0;
#endif
#ifdef WOLFSSL_DTLS_CID
    if (options->connection_id >= 0) {
        unsigned char id[DTLS_CID_MAX_SIZE];
        slowhand_host->random(id, (size_t) options->connection_id);
        if (wolfSSL_dtls_cid_use(ssl) != WOLFSSL_SUCCESS
            || wolfSSL_dtls_cid_set(ssl, id, (unsigned) options->connection_id) != WOLFSSL_SUCCESS)
            return 0;
    }
#endif
    return 1;
}

/* The library counts the timeouts of DTLS in whole seconds for applications that wait with its own functions. It only doubles and
 * compares them, so here they are milliseconds. */
static int use_datagrams(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    WOLFSSL *ssl = session->ssl;
    wolfSSL_dtls_set_using_nonblock(ssl, 1);
    if (wolfSSL_dtls_set_timeout_max(ssl, (int) (options->maximum_timeout_ns / NS_PER_MS)) != WOLFSSL_SUCCESS
        || wolfSSL_dtls_set_timeout_init(ssl, (int) (options->first_timeout_ns / NS_PER_MS)) != WOLFSSL_SUCCESS)
        return 0;
    if (options->mtu != 0
        && wolfSSL_dtls_set_mtu(ssl, options->mtu < MOST_MTU ? options->mtu : MOST_MTU) != WOLFSSL_SUCCESS)
        return 0;
#ifdef WOLFSSL_DTLS13
    if (has_13(session) && options->is_server) {
        if (wolfSSL_dtls13_allow_ch_frag(ssl, 1) != WOLFSSL_SUCCESS)
            return 0;
        return options->cookie ? wolfSSL_send_hrr_cookie(ssl, NULL, 0) == WOLFSSL_SUCCESS
                               : wolfSSL_disable_hrr_cookie(ssl) == WOLFSSL_SUCCESS;
    }
#endif
    return 1;
}

static int set_up_session(struct session *session)
{
    WOLFSSL *ssl = session->ssl = wolfSSL_new(session->context);
    if (ssl == NULL)
        return 0;
    wolfSSL_SetIOReadCtx(ssl, session);
    wolfSSL_SetIOWriteCtx(ssl, session);
#ifndef NO_PSK
    wolfSSL_set_psk_callback_ctx(ssl, session);
#endif
    wolfSSL_set_secret_cb(ssl, log_master_secret, NULL);
#ifdef WOLFSSL_TLS13
    wolfSSL_set_tls13_secret_cb(ssl, log_secret, NULL);
#endif
    wolfSSL_KeepArrays(ssl); /* for the key log, until the handshake is complete */
    return use_groups(session) && use_extensions(session) && (!is_dtls(session) || use_datagrams(session));
}

/* A client offers to resume the earlier session. */
static int offer(struct session *session)
{
    const unsigned char *octets = session->options.previous;
    if (session->options.is_server || octets == NULL)
        return 1;
    WOLFSSL_SESSION *kept = wolfSSL_d2i_SSL_SESSION(NULL, &octets, (long) session->options.previous_len);
    int is_set = kept != NULL && wolfSSL_set_session(session->ssl, kept) == WOLFSSL_SUCCESS;
    wolfSSL_SESSION_free(kept);
    return is_set;
}

static void destroy(void *context)
{
    struct session *session = context;
    wolfSSL_free(session->ssl);
    wolfSSL_CTX_free(session->context);
    free(session->cached.octets);
    free(session);
}

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise);
    progress->state = SLOWHAND_FAILED;
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        slowhand_describe(progress, "no memory for a session");
        return NULL;
    }
    session->options = *options;
    session->state = SLOWHAND_HANDSHAKING;
    session->repeat_ns = session->quick_ns = SLOWHAND_NO_TIMER;
    enter(session);
    const char *refused = NULL;
    if (!set_up_context(session))
        refused = "suites, keys or certificates";
    else if (!set_up_session(session))
        refused = "extensions, groups or timeouts";
    else if (!offer(session))
        refused = "earlier session";
    leave(session);
    if (refused == NULL) {
        progress->state = SLOWHAND_HANDSHAKING;
        return session;
    }
    slowhand_describe(progress, "wolfSSL refuses the %s", refused);
    destroy(session);
    return NULL;
}

/* The handshake */

static int is_pending(const struct session *session)
{
#ifdef WOLFSSL_DTLS13
    return is_13(session) && wolfSSL_dtls13_has_pending_msg(session->ssl);
#else
    (void) session;
    return 0;
#endif
}

static int is_quick(const struct session *session)
{
#ifdef WOLFSSL_DTLS13
    return is_13(session) && wolfSSL_dtls13_use_quick_timeout(session->ssl);
#else
    (void) session;
    return 0;
#endif
}

static uint64_t timeout_ns(const struct session *session)
{
    uint64_t timeout = (uint64_t) wolfSSL_dtls_get_current_timeout(session->ssl) * NS_PER_MS;
    uint64_t most = session->options.maximum_timeout_ns;
    return timeout < most ? timeout : most;
}

/* The timer of a flight runs from its last datagram until the handshake is complete; in version 1.3, also while a message of this
 * end is not acknowledged. A server without a valid cookie keeps nothing that it could send again. If a message of the peer has a
 * gap, an acknowledgement is due after a quarter of the timeout, as the documentation of wolfSSL_dtls13_use_quick_timeout
 * recommends. */
static void set_timers(struct session *session)
{
    int is_waiting = session->state == SLOWHAND_HANDSHAKING
                         ? !session->options.is_server || wolfSSL_is_stateful(session->ssl)
                         : session->state == SLOWHAND_ESTABLISHED && is_pending(session);
    if (!is_dtls(session) || !is_waiting)
        session->repeat_ns = SLOWHAND_NO_TIMER;
    else if (session->flight_ns != SLOWHAND_NO_TIMER)
        session->repeat_ns = session->flight_ns + timeout_ns(session);
    if (!is_dtls(session) || session->state > SLOWHAND_ESTABLISHED || !is_quick(session))
        session->quick_ns = SLOWHAND_NO_TIMER;
    else if (session->quick_ns == SLOWHAND_NO_TIMER)
        session->quick_ns = slowhand_host->now_ns() + timeout_ns(session) / 4;
}

/* Keeps the reason why a call of the library returned `result`. */
static void fail(struct session *session, int result)
{
    int error = wolfSSL_get_error(session->ssl, result);
    if (error == WOLFSSL_ERROR_WANT_READ || error == WOLFSSL_ERROR_WANT_WRITE)
        return;
    WOLFSSL_ALERT_HISTORY alerts;
    session->state = SLOWHAND_FAILED;
    session->code = error;
    if (error == WOLFSSL_ERROR_ZERO_RETURN && session->is_verified) {
        session->state = SLOWHAND_CLOSED_BY_PEER;
    } else if (error == FATAL_ERROR && wolfSSL_get_alert_history(session->ssl, &alerts) == WOLFSSL_SUCCESS
               && alerts.last_rx.level == alert_fatal) {
        session->state = SLOWHAND_ALERT_RECEIVED;
        session->code = alerts.last_rx.code;
    }
}

static void report(struct session *session, struct slowhand_progress *progress)
{
    if (is_dtls(session))
        set_timers(session);
    progress->state = session->state;
    progress->code = session->code;
    progress->deadline_ns = session->repeat_ns < session->quick_ns ? session->repeat_ns : session->quick_ns;
    if (session->state == SLOWHAND_ALERT_RECEIVED) {
        slowhand_describe(progress, "the peer has sent a fatal alert: %s (%d)", slowhand_alert_name(session->code),
                          session->code);
    } else if (session->state == SLOWHAND_TIMED_OUT) {
        slowhand_describe(progress, "the peer did not answer the last retransmission");
    } else if (session->state == SLOWHAND_FAILED) {
        char words[WOLFSSL_MAX_ERROR_SZ];
        wolfSSL_ERR_error_string_n((unsigned long) session->code, words, sizeof words);
        slowhand_describe(progress, "%s (%d)", words, session->code);
    }
    leave(session);
}

/* Continues the handshake. After it, delivers application data. The library also answers a flight that the peer repeats. */
static void proceed(struct session *session)
{
    if (session->state == SLOWHAND_HANDSHAKING) {
        int result = session->options.is_server ? wolfSSL_accept(session->ssl) : wolfSSL_connect(session->ssl);
        if (result == WOLFSSL_SUCCESS)
            session->state = SLOWHAND_ESTABLISHED;
        else
            fail(session, result);
        if (session->state != SLOWHAND_HANDSHAKING) {
            slowhand_wolfssl_notice();
            wolfSSL_FreeArrays(session->ssl);
        }
    }
    while (session->state == SLOWHAND_ESTABLISHED) {
        uint8_t data[MOST_CONTENT];
        int length = wolfSSL_read(session->ssl, data, sizeof data);
        if (length <= 0) {
            fail(session, length);
            break;
        }
        slowhand_host->deliver(data, (size_t) length);
    }
}

static void start(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    proceed(session);
    report(session, progress);
}

static void handle_input(void *context, const uint8_t *input, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    session->input = (struct slowhand_input) {input, length};
    proceed(session);
    session->input.length = 0;
    report(session, progress);
}

/* Repeats the flight, or acknowledges what has come of the peer's. */
static void repeat(struct session *session)
{
    if (wolfSSL_dtls_got_timeout(session->ssl) == WOLFSSL_SUCCESS)
        return;
    /* The error of the library after the last repetition: in version 1.3, and in 1.2. */
    int error = session->ssl->error;
    if (error == WOLFSSL_FATAL_ERROR || error == SOCKET_ERROR_E)
        session->state = SLOWHAND_TIMED_OUT;
    else
        fail(session, WOLFSSL_FATAL_ERROR);
}

static void handle_timeout(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    uint64_t now = slowhand_host->now_ns();
    int is_quick_due = session->quick_ns <= now, is_repeat_due = session->repeat_ns <= now;
    if (is_quick_due)
        session->quick_ns = SLOWHAND_NO_TIMER;
    if (is_dtls(session) && (is_quick_due || is_repeat_due)) {
        uint64_t before = timeout_ns(session);
        int may_be_ignored = is_repeat_due && is_quick(session);
        repeat(session);
        /* While the library waits for the quick timeout, it may take this one for that. Then it has not doubled the timer. */
        if (may_be_ignored && session->state <= SLOWHAND_ESTABLISHED && timeout_ns(session) == before)
            repeat(session);
        /* It may have nothing to send, or may find it too early. Then it is asked again. An acknowledgement does not start the
         * timer of the flight again. */
        if (is_repeat_due)
            session->repeat_ns = now + timeout_ns(session);
        else
            session->flight_ns = SLOWHAND_NO_TIMER;
    }
    proceed(session);
    report(session, progress);
}

/* Application data */

/* The library only reads the session in the functions below, although their parameters are not const. */

static size_t max_data(const void *context)
{
    const struct session *session = context;
    if (!is_dtls(session))
        return SLOWHAND_NO_DATAGRAMS;
    int most = wolfSSL_GetMaxOutputSize(session->ssl);
    return most < 0 ? 0 : (size_t) most;
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    while (length > 0) {
        int most = length < INT_MAX ? (int) length : INT_MAX;
        int written = wolfSSL_write(session->ssl, data, most);
        if (written <= 0) {
            fail(session, written);
            break;
        }
        data += written;
        length -= (size_t) written;
    }
    /* Application data does not start the timer of a flight again. */
    if (session->repeat_ns != SLOWHAND_NO_TIMER)
        session->flight_ns = SLOWHAND_NO_TIMER;
    report(session, progress);
}

static void close_session(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    wolfSSL_shutdown(session->ssl);
    report(session, progress);
}

/* Results */

static uint16_t suite(const void *context)
{
    const struct session *session = context;
    return (uint16_t) wolfSSL_get_current_cipher_suite(session->ssl);
}

static int connection_id(const void *context)
{
    const struct session *session = context;
#ifdef WOLFSSL_DTLS_CID
    unsigned length = 0;
    if (wolfSSL_dtls_cid_is_enabled(session->ssl)
        && wolfSSL_dtls_cid_get_tx_size(session->ssl, &length) == WOLFSSL_SUCCESS)
        return (int) length;
#else
    (void) session;
#endif
    return -1;
}

static size_t resumable(void *context, uint8_t *output, size_t size)
{
    struct session *session = context;
    size_t length = 0;
    if (session->options.resumption == SLOWHAND_RESUMPTION_NONE)
        return 0;
    if (session->options.is_server && session->options.resumption == SLOWHAND_RESUMPTION_ID)
        return slowhand_copy_out(session->cached.octets, session->cached.length, output, size);
    if (session->options.is_server) {
#ifdef HAVE_SESSION_TICKET
        unsigned char keys[WOLFSSL_TICKET_KEYS_SZ];
        if (wolfSSL_CTX_get_tlsext_ticket_keys(session->context, keys, sizeof keys) == WOLFSSL_SUCCESS)
            length = slowhand_copy_out(keys, sizeof keys, output, size);
#endif
        return length;
    }
    WOLFSSL_SESSION *kept = wolfSSL_get1_session(session->ssl);
    unsigned char *octets;
    length = write_session(kept, &octets);
    length = slowhand_copy_out(octets, length, output, size);
    free(octets);
    wolfSSL_SESSION_free(kept);
    return length;
}

SLOWHAND_LIBRARY(wolfssl_library, start, handle_timeout, connection_id, resumable);
