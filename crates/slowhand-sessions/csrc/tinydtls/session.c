/* Eclipse tinyDTLS.
 *
 * The library runs unmodified. Its clock and randomness (`dtls_ticks`, `dtls_prng`) are the device's. It sends each handshake *message* in
 * a datagram of its own, with a timer of its own; the head of its send queue has the next deadline.
 *
 * The first timeout is always 2,000 ticks of its clock and doubles with each retransmission. With the default of 2 s, a tick is one
 * millisecond. Another first timeout changes the length of a tick. This affects only one other thing: how long the library keeps an alert
 * that it has sent. After its last retransmission, the library does nothing more and reports nothing. The adapter reports this as
 * SLOWHAND_TIMED_OUT.
 *
 * Its buffer for a record has 1,400 octets (`DTLS_MAX_BUF` in `global.h`). Header, nonce and tag take 37 octets of it. So application data
 * has at most 1,363 octets. */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tinydtls.h"
#include "alert.h"
#include "dtls.h"
#include "dtls_debug.h"
#include "dtls_prng.h"
#include "dtls_time.h"
#include "netq.h"

/* The library's first timeout, in ticks of its clock (dtls_send_multi in dtls.c). */
#define FIRST_TIMEOUT_TICKS (2 * CLOCK_SECOND)
#define RECEIVE_BUFFER 2048 /* more than DTLS_MAX_BUF, the longest record that the library makes */
/* The octets that the library may read after the end of a message that is too short: at most a certificate of its own form, whose length
 * check_server_certificate in dtls.c does not check (header of 12 octets, length of 3, key of 91). */
#define READ_BEYOND 128

/* Octets that AES-CCM adds to a record (RFC 6655). */
#define EXPLICIT_NONCE 8
#define TAG 16

#define RAW_KEY 32 /* octets of a secp256r1 coordinate or scalar */

struct session {
    struct session *outer; /* the session that was running before this one */
    dtls_context_t *context;
    dtls_handler_t handler;
    session_t peer;
    struct slowhand_options options; /* psk, psk_identity and the raw keys live as long as the session */
#ifdef DTLS_ECC
    dtls_ecdsa_key_t key;
#endif
    enum slowhand_state state;
    int error; /* the negative error code of the library, or the description of the alert received */
};

/* The session whose library call runs on this thread. The call may be inside one of another session: while that one
 * computes. */
static _Thread_local struct session *running;

static struct session *enter(void *context)
{
    struct session *session = context;
    session->outer = running;
    running = session;
    return session;
}

static void leave(struct session *session)
{
    running = session->outer;
}

/* The platform, instead of the library's dtls_time.c and dtls_prng.c */

/* Only the timers of the library use ticks (it also stores the age of the cookie secret, but never reads it). The first timeout
 * is a fixed number of ticks, and the platform defines the length of a tick. So the chosen first timeout defines it. */

static uint64_t ticks_now(const struct session *session)
{
    return (uint64_t) ((unsigned __int128) slowhand_host->now_ns() * FIRST_TIMEOUT_TICKS
                       / session->options.first_timeout_ns);
}

/* The first nanosecond at which the clock shows this number of ticks. */
static uint64_t ns_at(const struct session *session, uint64_t ticks)
{
    unsigned __int128 scaled = (unsigned __int128) ticks * session->options.first_timeout_ns;
    return (uint64_t) ((scaled + FIRST_TIMEOUT_TICKS - 1) / FIRST_TIMEOUT_TICKS);
}

void dtls_clock_init(void) {}

void dtls_ticks(dtls_tick_t *ticks)
{
    *ticks = (dtls_tick_t) ticks_now(running);
}

void dtls_prng_init(unsigned seed)
{
    (void) seed;
}

int dtls_prng(unsigned char *buffer, size_t length)
{
    slowhand_host->random(buffer, length);
    return 1;
}

static void initialise(void)
{
    /* The library's other global state is the cipher context of crypto.c and a counter of ccm.c. One lock protects both, and
     * both keep nothing between calls. */
    dtls_init();
    dtls_set_log_level(DTLS_LOG_EMERG);
}

static const char *version(void)
{
    return dtls_package_version();
}

/* Callbacks of the library */

static struct session *session_of(struct dtls_context_t *context)
{
    return dtls_get_app_data(context);
}

static int send_datagram(struct dtls_context_t *context, session_t *peer, uint8 *datagram, size_t length)
{
    (void) context;
    (void) peer;
    slowhand_host->transmit(datagram, length);
    return (int) length;
}

static int receive_application_data(struct dtls_context_t *context, session_t *peer, uint8 *data, size_t length)
{
    (void) context;
    (void) peer;
    if (length > 0)
        slowhand_host->deliver(data, length);
    return (int) length;
}

static int handle_event(struct dtls_context_t *context, session_t *peer, dtls_alert_level_t level,
                        unsigned short code)
{
    struct session *session = session_of(context);
    (void) peer;
    if (level == 0 && code == DTLS_EVENT_CONNECTED) {
        /* The library repeats this event for each late handshake message. */
        if (session->state != SLOWHAND_ESTABLISHED)
            slowhand_host->verified();
        session->state = SLOWHAND_ESTABLISHED;
    } else if (level == DTLS_ALERT_LEVEL_FATAL
               && (session->state == SLOWHAND_HANDSHAKING
                   || (session->state == SLOWHAND_ESTABLISHED && code != DTLS_ALERT_CLOSE_NOTIFY))) {
        /* The library removes the peer, also after the handshake. */
        session->state = SLOWHAND_ALERT_RECEIVED;
        session->error = code;
    } else if (level == DTLS_ALERT_LEVEL_WARNING && code == DTLS_ALERT_CLOSE_NOTIFY
               && session->state == SLOWHAND_ESTABLISHED) {
        session->state = SLOWHAND_CLOSED_BY_PEER;
    }
    return 0;
}

#ifdef DTLS_PSK
static int copy(unsigned char *result, size_t size, const uint8_t *octets, size_t length)
{
    if (length > size)
        return dtls_alert_fatal_create(DTLS_ALERT_INTERNAL_ERROR);
    memcpy(result, octets, length);
    return (int) length;
}

static int get_psk_info(struct dtls_context_t *context, const session_t *peer, dtls_credentials_type_t type,
                        const unsigned char *identity, size_t identity_len, unsigned char *result, size_t size)
{
    const struct slowhand_options *options = &session_of(context)->options;
    (void) peer;
    switch (type) {
    case DTLS_PSK_HINT:
        return 0;
    case DTLS_PSK_IDENTITY:
        return copy(result, size, options->psk_identity, options->psk_identity_len);
    case DTLS_PSK_KEY:
        if (options->is_server
            && (identity_len != options->psk_identity_len
                || memcmp(identity, options->psk_identity, identity_len) != 0))
            return dtls_alert_fatal_create(DTLS_ALERT_DECRYPT_ERROR);
        return copy(result, size, options->psk, options->psk_len);
    }
    return dtls_alert_fatal_create(DTLS_ALERT_INTERNAL_ERROR);
}
#endif

#ifdef DTLS_ECC
static int get_ecdsa_key(struct dtls_context_t *context, const session_t *peer, const dtls_ecdsa_key_t **result)
{
    (void) peer;
    *result = &session_of(context)->key;
    return 0;
}

static int verify_ecdsa_key(struct dtls_context_t *context, const session_t *peer, const unsigned char *x,
                            const unsigned char *y, size_t length)
{
    const struct slowhand_options *options = &session_of(context)->options;
    (void) peer;
    if (length != RAW_KEY || memcmp(x, options->peer_x, length) != 0
        || memcmp(y, options->peer_y, length) != 0)
        return dtls_alert_fatal_create(DTLS_ALERT_BAD_CERTIFICATE);
    return 0;
}
#endif

static void offer_only_our_suite(struct dtls_context_t *context, session_t *peer, dtls_user_parameters_t *parameters)
{
    (void) peer;
    parameters->cipher_suites[0] = (dtls_cipher_t) session_of(context)->options.suite;
    parameters->cipher_suites[1] = TLS_NULL_WITH_NULL_NULL;
}

/* Construction */

static void set_handler(struct session *session)
{
    const struct slowhand_options *options = &session->options;
    session->handler.write = send_datagram;
    session->handler.read = receive_application_data;
    session->handler.event = handle_event;
    /* The applications of the library offer all of its list, where the CCM-8 suites are first. */
    if (options->suite != TLS_PSK_WITH_AES_128_CCM_8 && options->suite != TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
        session->handler.get_user_parameters = offer_only_our_suite;
#ifdef DTLS_PSK
    if (options->psk != NULL)
        session->handler.get_psk_info = get_psk_info;
#endif
#ifdef DTLS_ECC
    if (options->private_key != NULL) {
        session->key.curve = DTLS_ECDH_CURVE_SECP256R1;
        session->key.priv_key = options->private_key;
        session->key.pub_key_x = options->public_x;
        session->key.pub_key_y = options->public_y;
        session->handler.get_ecdsa_key = get_ecdsa_key;
    }
    if (options->peer_x != NULL)
        session->handler.verify_ecdsa_key = verify_ecdsa_key;
#endif
    dtls_set_handler(session->context, &session->handler);
}

/* The peer's address for a server's cookie: a constant, since each session has only one peer. RFC 3849. */
static void set_peer_address(session_t *peer)
{
    static const uint8_t ADDRESS[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    dtls_session_init(peer);
    peer->size = sizeof peer->addr.sin6;
    peer->addr.sin6.sin6_family = AF_INET6;
    peer->addr.sin6.sin6_port = htons(5684);
    memcpy(&peer->addr.sin6.sin6_addr, ADDRESS, sizeof ADDRESS);
}

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    static pthread_once_t initialised = PTHREAD_ONCE_INIT;
    pthread_once(&initialised, initialise);
    struct session *session = calloc(1, sizeof *session);
    if (session != NULL) {
        session->options = *options;
        set_peer_address(&session->peer);
        enter(session);
        session->context = dtls_new_context(session);
        leave(session);
    }
    if (session == NULL || session->context == NULL) {
        progress->state = SLOWHAND_FAILED;
        progress->code = -1;
        slowhand_describe(progress, "no memory for a context");
        free(session);
        return NULL;
    }
    set_handler(session);
    return session;
}

static void destroy(void *context)
{
    struct session *session = enter(context); /* the library sends an alert, and sets a timer for it */
    dtls_free_context(session->context);
    leave(session);
    free(session);
}

/* The handshake */

static uint64_t deadline_ns(const struct session *session)
{
    const netq_t *next = netq_head(&session->context->sendqueue);
    if (next == NULL)
        return SLOWHAND_NO_TIMER;
    /* The library's clock has 32 bits, so only the difference to now is certain. It may be negative. */
    uint64_t now = ticks_now(session);
    int32_t distance = (int32_t) (next->t - (clock_time_t) now);
    return ns_at(session, (uint64_t) ((int64_t) now + distance));
}

/* The library has no descriptions. */
static void describe(const struct session *session, struct slowhand_progress *progress)
{
    int error = session->error;
    if (session->state == SLOWHAND_TIMED_OUT) {
        slowhand_describe(progress, "no answer to the last retransmission");
    } else if (session->state == SLOWHAND_ALERT_RECEIVED) {
        slowhand_describe(progress, "received the alert %s (%d)", slowhand_alert_name(error), error);
    } else if (session->state == SLOWHAND_FAILED && dtls_is_alert(error)) {
        /* An error is the alert that the library sends: -(level * 256 + description), alert.h. */
        slowhand_describe(progress, "sent the alert %s (%d)", slowhand_alert_name(-error % 256), -error % 256);
    } else if (session->state == SLOWHAND_FAILED) {
        slowhand_describe(progress, "the library refused a message (%d)", error);
    }
}

/* Reports the end of a library call that returned `result`. Error codes are negative. After a fatal error, the library removes
 * the peer. After a valid ClientHello from the same address, a server begins a new handshake. */
static void report(struct session *session, int result, struct slowhand_progress *progress)
{
    const dtls_peer_t *peer = dtls_get_peer(session->context, &session->peer);
    if (result < 0 && peer == NULL && session->state == SLOWHAND_HANDSHAKING) {
        session->state = SLOWHAND_FAILED;
        session->error = result;
    }
    if (peer != NULL
        && (peer->state == DTLS_STATE_WAIT_CLIENTCERTIFICATE || peer->state == DTLS_STATE_WAIT_CLIENTKEYEXCHANGE)
        && session->state == SLOWHAND_ESTABLISHED)
        session->state = SLOWHAND_HANDSHAKING;
    progress->deadline_ns = deadline_ns(session);
    progress->state = session->state;
    progress->code = session->error;
    describe(session, progress);
    leave(session);
}

static void start(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    report(session, dtls_connect(session->context, &session->peer), progress);
}

static void handle_input(void *context, const uint8_t *datagram, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    /* The library decrypts in place. After the end it finds zeros, which it refuses, and not what the stack has there. */
    unsigned char buffer[RECEIVE_BUFFER + READ_BEYOND] = {0};
    if (length > RECEIVE_BUFFER)
        length = RECEIVE_BUFFER; /* recv() truncates too */
    memcpy(buffer, datagram, length);
    report(session, dtls_handle_message(session->context, &session->peer, buffer, (int) length), progress);
}

/* True if a timer has expired and the library has already made its last retransmission of that message. */
static int is_exhausted(struct session *session)
{
    dtls_tick_t now;
    dtls_ticks(&now);
    for (netq_t *node = netq_head(&session->context->sendqueue);
         node != NULL && DTLS_IS_BEFORE_TIME(node->t, now); node = netq_next(node)) {
        if (node->job == RESEND && node->retransmit_cnt >= DTLS_DEFAULT_MAX_RETRANSMIT)
            return 1;
    }
    return 0;
}

static void handle_timeout(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    int exhausted = is_exhausted(session);
    dtls_check_retransmit(session->context, NULL);
    /* The library reports nothing. It has nothing left to send, so the handshake cannot complete. */
    if (exhausted && session->state == SLOWHAND_HANDSHAKING && netq_head(&session->context->sendqueue) == NULL)
        session->state = SLOWHAND_TIMED_OUT;
    report(session, 0, progress);
}

/* Application data */

/* The library checks that the content fits into its buffer for a record, but not that the tag fits too. */
static size_t max_data(const void *context)
{
    const struct session *session = context;
    /* A client that offers CCM-8 first may get CCM, which has the longer tag. */
    size_t overhead = sizeof(dtls_record_header_t) + EXPLICIT_NONCE + TAG;
    size_t datagram = DTLS_MAX_BUF;
    if (session->options.mtu != 0 && session->options.mtu < datagram)
        datagram = session->options.mtu;
    return datagram > overhead ? datagram - overhead : 0;
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    const dtls_peer_t *peer = dtls_get_peer(session->context, &session->peer);
    int result = -1;
    /* Without a peer, the library would begin a new session. The cast is safe: the library only reads the data. */
    if (peer != NULL && peer->state == DTLS_STATE_CONNECTED)
        result = dtls_write(session->context, &session->peer, (uint8 *) data, length);
    report(session, result, progress);
    if (result < 0) {
        progress->state = SLOWHAND_FAILED;
        progress->code = result;
        progress->words[0] = '\0'; /* in place of what `report` may have said */
        slowhand_describe(progress, "the record could not be sent (%d)", result);
    }
}

static void close_session(void *context, struct slowhand_progress *progress)
{
    struct session *session = enter(context);
    report(session, dtls_close(session->context, &session->peer), progress);
}

/* The negotiated suite, which is not always the configured one: a client that prefers CCM-8 also offers CCM. */
static uint16_t suite(const void *context)
{
    /* The library has a number of its own for each suite: the index in cipher_suite_params of dtls.c. */
    static const uint16_t SUITES[] = {
        TLS_NULL_WITH_NULL_NULL,
#ifdef DTLS_PSK
        TLS_PSK_WITH_AES_128_CCM_8,
        TLS_PSK_WITH_AES_128_CCM,
#endif
#ifdef DTLS_ECC
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
#endif
    };
    const struct session *session = context;
    dtls_peer_t *peer = dtls_get_peer(session->context, &session->peer);
    const dtls_security_parameters_t *security = peer == NULL ? NULL : dtls_security_params(peer);
    size_t index = security == NULL ? 0 : security->cipher_index;
    return index < sizeof SUITES / sizeof *SUITES ? SUITES[index] : 0;
}

SLOWHAND_LIBRARY(tinydtls_library, start, handle_timeout, slowhand_no_connection_id, slowhand_not_resumable);
