#include "session.h"

#include "operations.h"
#include "slowhand.h"

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
#define NO_TIMER UINT64_MAX
#define RECEIVE_BUFFER 2048 /* more than DTLS_MAX_BUF, the longest record that the library makes */

struct slowhand_tinydtls {
    dtls_context_t *context;
    dtls_handler_t handler;
    session_t peer;
    struct slowhand_tinydtls_options options; /* its pointers are the caller's, alive as long as we are */
    dtls_ecdsa_key_t key;
    enum slowhand_tinydtls_outcome outcome;
    int error;
    uint64_t deadline_ns;
    int has_secrets;
    uint8_t client_random[DTLS_RANDOM_LENGTH], master_secret[DTLS_MASTER_SECRET_LENGTH];
};

/* The session whose library call runs on this thread. */
static _Thread_local slowhand_tinydtls *running;

/* The platform: what the library's dtls_time.c and dtls_prng.c would be */

/* The timers are the only thing in the library that ticks (the age of the cookie secret is written and never
 * read), and its first timeout is a fixed number of ticks. How long a tick lasts is the platform's to say: as
 * long as makes that number of ticks the timeout chosen. */

static uint64_t ticks_now(const slowhand_tinydtls *session)
{
    return (uint64_t) ((unsigned __int128) slowhand_now_ns() * FIRST_TIMEOUT_TICKS
                       / session->options.first_timeout_ns);
}

/* The first nanosecond at which the clock shows that many ticks. */
static uint64_t ns_at(const slowhand_tinydtls *session, uint64_t ticks)
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
    slowhand_random(buffer, length);
    return 1;
}

void slowhand_tinydtls_initialise(void)
{
    /* The library's other global state, the cipher context of crypto.c and a counter of ccm.c that is
     * used under the same lock, holds nothing from one call to the next. */
    dtls_init();
    dtls_set_log_level(DTLS_LOG_EMERG);
}

const char *slowhand_tinydtls_version(void)
{
    return dtls_package_version();
}

/* What the library calls back */

static slowhand_tinydtls *session_of(struct dtls_context_t *context)
{
    return dtls_get_app_data(context);
}

static int send_datagram(struct dtls_context_t *context, session_t *peer, uint8 *datagram, size_t length)
{
    (void) context;
    (void) peer;
    slowhand_transmit(datagram, length);
    return (int) length;
}

static int receive_application_data(struct dtls_context_t *context, session_t *peer, uint8 *data, size_t length)
{
    (void) context;
    (void) peer;
    (void) data;
    return (int) length;
}

static int handle_event(struct dtls_context_t *context, session_t *peer, dtls_alert_level_t level,
                        unsigned short code)
{
    slowhand_tinydtls *session = session_of(context);
    (void) peer;
    if (level == 0 && code == DTLS_EVENT_CONNECTED) {
        /* The library says so again with each handshake message that comes late. */
        if (session->outcome != SLOWHAND_TINYDTLS_CONNECTED)
            slowhand_verified();
        session->outcome = SLOWHAND_TINYDTLS_CONNECTED;
    } else if (level == DTLS_ALERT_LEVEL_FATAL && session->outcome == SLOWHAND_TINYDTLS_HANDSHAKING) {
        session->outcome = SLOWHAND_TINYDTLS_ALERT_RECEIVED;
        session->error = code;
    }
    return 0;
}

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
    const struct slowhand_tinydtls_options *options = &session_of(context)->options;
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

static int get_ecdsa_key(struct dtls_context_t *context, const session_t *peer, const dtls_ecdsa_key_t **result)
{
    (void) peer;
    *result = &session_of(context)->key;
    return 0;
}

static int verify_ecdsa_key(struct dtls_context_t *context, const session_t *peer, const unsigned char *x,
                            const unsigned char *y, size_t length)
{
    const struct slowhand_tinydtls_options *options = &session_of(context)->options;
    (void) peer;
    if (length != SLOWHAND_RAW_KEY || memcmp(x, options->peer_x, length) != 0
        || memcmp(y, options->peer_y, length) != 0)
        return dtls_alert_fatal_create(DTLS_ALERT_BAD_CERTIFICATE);
    return 0;
}

static void offer_only_our_suite(struct dtls_context_t *context, session_t *peer, dtls_user_parameters_t *parameters)
{
    (void) peer;
    parameters->cipher_suites[0] = (dtls_cipher_t) session_of(context)->options.suite;
    parameters->cipher_suites[1] = TLS_NULL_WITH_NULL_NULL;
}

void slowhand_tinydtls_learn_secrets(const unsigned char *master_secret, size_t master_secret_len,
                                     const unsigned char *client_random, size_t client_random_len)
{
    if (running == NULL || master_secret_len != sizeof running->master_secret
        || client_random_len != sizeof running->client_random)
        return;
    memcpy(running->master_secret, master_secret, master_secret_len);
    memcpy(running->client_random, client_random, client_random_len);
    running->has_secrets = 1;
}

/* Construction */

static void set_handler(slowhand_tinydtls *session)
{
    const struct slowhand_tinydtls_options *options = &session->options;
    session->handler.write = send_datagram;
    session->handler.read = receive_application_data;
    session->handler.event = handle_event;
    /* The CCM-8 suites stand first in the library's own list, which its applications offer whole. */
    if (options->suite != TLS_PSK_WITH_AES_128_CCM_8 && options->suite != TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
        session->handler.get_user_parameters = offer_only_our_suite;
    if (options->psk != NULL)
        session->handler.get_psk_info = get_psk_info;
    if (options->private_key != NULL) {
        session->key.curve = DTLS_ECDH_CURVE_SECP256R1;
        session->key.priv_key = options->private_key;
        session->key.pub_key_x = options->public_x;
        session->key.pub_key_y = options->public_y;
        session->handler.get_ecdsa_key = get_ecdsa_key;
    }
    if (options->peer_x != NULL)
        session->handler.verify_ecdsa_key = verify_ecdsa_key;
    dtls_set_handler(session->context, &session->handler);
}

/* The peer's address as the server's cookie sees it: one session has one peer. RFC 3849. */
static void set_peer_address(session_t *peer)
{
    static const uint8_t ADDRESS[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    dtls_session_init(peer);
    peer->size = sizeof peer->addr.sin6;
    peer->addr.sin6.sin6_family = AF_INET6;
    peer->addr.sin6.sin6_port = htons(5684);
    memcpy(&peer->addr.sin6.sin6_addr, ADDRESS, sizeof ADDRESS);
}

slowhand_tinydtls *slowhand_tinydtls_new(const struct slowhand_tinydtls_options *options)
{
    slowhand_tinydtls *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    session->deadline_ns = NO_TIMER;
    set_peer_address(&session->peer);
    running = session;
    session->context = dtls_new_context(session);
    running = NULL;
    if (session->context == NULL) {
        free(session);
        return NULL;
    }
    set_handler(session);
    return session;
}

void slowhand_tinydtls_free(slowhand_tinydtls *session)
{
    running = session; /* the library says goodbye, with a timer */
    dtls_free_context(session->context);
    running = NULL;
    free(session);
}

/* The handshake */

static void note_deadline(slowhand_tinydtls *session)
{
    const netq_t *next = netq_head(&session->context->sendqueue);
    if (next == NULL) {
        session->deadline_ns = NO_TIMER;
        return;
    }
    /* The library's clock has 32 bits; its distance to now has a sign. */
    uint64_t now = ticks_now(session);
    int32_t distance = (int32_t) (next->t - (clock_time_t) now);
    session->deadline_ns = ns_at(session, (uint64_t) ((int64_t) now + distance));
}

/* The library's error codes are negative; when it gives up on the peer it removes it. A server
 * that gets a valid ClientHello from the same address starts anew with it. */
static int leave(slowhand_tinydtls *session, int result)
{
    const dtls_peer_t *peer = dtls_get_peer(session->context, &session->peer);
    if (result < 0 && peer == NULL && session->outcome == SLOWHAND_TINYDTLS_HANDSHAKING) {
        session->outcome = SLOWHAND_TINYDTLS_ERROR;
        session->error = result;
    }
    if (peer != NULL
        && (peer->state == DTLS_STATE_WAIT_CLIENTCERTIFICATE || peer->state == DTLS_STATE_WAIT_CLIENTKEYEXCHANGE)
        && session->outcome == SLOWHAND_TINYDTLS_CONNECTED)
        session->outcome = SLOWHAND_TINYDTLS_HANDSHAKING;
    note_deadline(session);
    running = NULL;
    return session->outcome;
}

int slowhand_tinydtls_connect(slowhand_tinydtls *session)
{
    running = session;
    return leave(session, dtls_connect(session->context, &session->peer));
}

int slowhand_tinydtls_receive(slowhand_tinydtls *session, const uint8_t *datagram, size_t length)
{
    unsigned char buffer[RECEIVE_BUFFER]; /* the library decrypts in place */
    if (length > sizeof buffer)
        length = sizeof buffer; /* as recv() truncates */
    memcpy(buffer, datagram, length);
    running = session;
    return leave(session, dtls_handle_message(session->context, &session->peer, buffer, (int) length));
}

/* Whether a message whose timer has expired was already sent as often as the library does. */
static int is_exhausted(slowhand_tinydtls *session)
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

int slowhand_tinydtls_expire(slowhand_tinydtls *session)
{
    running = session;
    int exhausted = is_exhausted(session);
    dtls_check_retransmit(session->context, NULL);
    /* The library goes quiet; with nothing left to send it cannot come to an end by itself. */
    if (exhausted && session->outcome == SLOWHAND_TINYDTLS_HANDSHAKING
        && netq_head(&session->context->sendqueue) == NULL)
        session->outcome = SLOWHAND_TINYDTLS_TIMED_OUT;
    return leave(session, 0);
}

/* What is known of it */

uint64_t slowhand_tinydtls_deadline_ns(const slowhand_tinydtls *session)
{
    return session->deadline_ns;
}

int slowhand_tinydtls_secrets(const slowhand_tinydtls *session, uint8_t client_random[32], uint8_t master_secret[48])
{
    if (session->has_secrets) {
        memcpy(client_random, session->client_random, sizeof session->client_random);
        memcpy(master_secret, session->master_secret, sizeof session->master_secret);
    }
    return session->has_secrets;
}

int slowhand_tinydtls_error(const slowhand_tinydtls *session)
{
    return session->error;
}
