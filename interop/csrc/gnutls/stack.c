/* GnuTLS as a peer: the system's library. It reads the clock and the system's randomness itself, so this file also defines
 * clock_gettime() and getrandom(). During a call of the library they answer for the world. At all other times, and on all other
 * threads, they do what the C library does. No operation is counted. */
#define _GNU_SOURCE
#include "slowhand/stack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/dtls.h>
#include <gnutls/gnutls.h>

/* The time after which the library gives up, in milliseconds (assumed: six doublings of a first timeout of 1 s). */
#define TOTAL_TIMEOUT_MS 127000

/* Octets of a heartbeat as the library counts them: the least padding (RFC 6520, section 4), and a payload. It fails an assertion
 * without a payload. */
#define HEARTBEAT_LEN (16 + 4)

/* Octets of a coordinate of secp256r1. */
#define COORDINATE 32

/* The data that an end receives when its heartbeat was answered. */
static const uint8_t HEARTBEAT[] = {'h', 'e', 'a', 'r', 't', 'b', 'e', 'a', 't'};

/* The client's address for the cookie. There is only one client, so it is a constant. */
static char client_address[] = "client";

/* A SubjectPublicKeyInfo before its point: id-ecPublicKey and secp256r1 (RFC 5480 section 2.1.1), then a bit string with an
 * uncompressed point. */
static const uint8_t BEFORE_POINT[] = {0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
                                       0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
#define SPKI (sizeof BEFORE_POINT + 2 * COORDINATE)

struct end {
    struct slowhand_options options;
    int has_heartbeat;
    uint8_t public_key[SPKI], peer_public_key[SPKI]; /* raw public keys, DER */
    gnutls_session_t session;
    gnutls_psk_client_credentials_t psk_client;
    gnutls_psk_server_credentials_t psk_server;
    gnutls_certificate_credentials_t certificate;
    gnutls_datum_t cookie_key, ticket_key;
    gnutls_datum_t id, stored; /* a server's session for resumption by ID */
    const uint8_t *input;      /* the datagram that has arrived; NULL: it has been read */
    size_t input_len;
    int is_verified; /* the client's cookie has returned */
    enum slowhand_state state;
    int code;
};

/* The platform */

static _Thread_local int is_in_library;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!is_in_library)
        return (int) syscall(SYS_clock_gettime, clock, time);
    uint64_t now = slowhand_host->unix_time_ms();
    time->tv_sec = (time_t) (now / 1000);
    time->tv_nsec = (long) (now % 1000) * 1000000;
    return 0;
}

ssize_t getrandom(void *output, size_t length, unsigned flags)
{
    if (!is_in_library)
        return syscall(SYS_getrandom, output, length, flags);
    slowhand_host->random(output, length);
    return (ssize_t) length;
}

static time_t calendar_time(time_t *output)
{
    time_t now = is_in_library ? (time_t) (slowhand_host->unix_time_ms() / 1000) : time(NULL);
    if (output != NULL)
        *output = now;
    return now;
}

/* Runs before main(), like the library's own initialisation. */
__attribute__((constructor)) static void use_calendar(void)
{
    gnutls_global_set_time_function(calendar_time);
}

static ssize_t transmit(gnutls_transport_ptr_t pointer, const void *datagram, size_t length)
{
    (void) pointer;
    slowhand_host->transmit(datagram, length);
    return (ssize_t) length;
}

static ssize_t receive(gnutls_transport_ptr_t pointer, void *buffer, size_t size)
{
    struct end *end = pointer;
    if (end->input == NULL) {
        gnutls_transport_set_errno(end->session, EAGAIN);
        return -1;
    }
    size_t length = end->input_len < size ? end->input_len : size;
    memcpy(buffer, end->input, length);
    end->input = NULL;
    return (ssize_t) length;
}

static int has_input(gnutls_transport_ptr_t pointer, unsigned wait_ms)
{
    const struct end *end = pointer;
    (void) wait_ms;
    return end->input != NULL;
}

static gnutls_datum_t copy(const uint8_t *octets, size_t length)
{
    gnutls_datum_t made = {gnutls_malloc(length + 1), (unsigned) length};
    if (made.data == NULL)
        return (gnutls_datum_t){NULL, 0};
    memcpy(made.data, octets, length);
    return made;
}

/* Sessions for resumption by ID. A server here has one. */

static int store(void *context, gnutls_datum_t key, gnutls_datum_t data)
{
    struct end *end = context;
    gnutls_free(end->id.data);
    gnutls_free(end->stored.data);
    end->id = copy(key.data, key.size);
    end->stored = copy(data.data, data.size);
    return 0;
}

static gnutls_datum_t retrieve(void *context, gnutls_datum_t key)
{
    const struct end *end = context;
    if (end->id.size != key.size || memcmp(end->id.data, key.data, key.size) != 0)
        return (gnutls_datum_t){NULL, 0};
    return copy(end->stored.data, end->stored.size);
}

static int forget(void *context, gnutls_datum_t key)
{
    (void) context;
    (void) key;
    return 0;
}

/* Credentials */

static int find_key(gnutls_session_t session, const char *identity, gnutls_datum_t *key)
{
    const struct end *end = gnutls_session_get_ptr(session);
    if (strlen(identity) != end->options.psk_identity_len
        || memcmp(identity, end->options.psk_identity, end->options.psk_identity_len) != 0)
        return -1;
    *key = copy(end->options.psk, end->options.psk_len);
    return 0;
}

/* A raw public key is the peer's if it is the expected one. */
static int verify_raw(gnutls_session_t session)
{
    const struct end *end = gnutls_session_get_ptr(session);
    unsigned count = 0;
    const gnutls_datum_t *peer = gnutls_certificate_get_peers(session, &count);
    if (peer != NULL && count == 1 && peer->size == SPKI && memcmp(peer->data, end->peer_public_key, SPKI) == 0)
        return 0;
    return GNUTLS_E_CERTIFICATE_ERROR;
}

static int set_psk(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    gnutls_datum_t key = {(unsigned char *) options->psk, (unsigned) options->psk_len};
    gnutls_datum_t identity = {(unsigned char *) options->psk_identity, (unsigned) options->psk_identity_len};
    int error;
    if (options->is_server) {
        error = gnutls_psk_allocate_server_credentials(&end->psk_server);
        if (error < 0)
            return error;
        gnutls_psk_set_server_credentials_function(end->psk_server, find_key);
        return gnutls_credentials_set(end->session, GNUTLS_CRD_PSK, end->psk_server);
    }
    error = gnutls_psk_allocate_client_credentials(&end->psk_client);
    if (error >= 0)
        error = gnutls_psk_set_client_credentials2(end->psk_client, &identity, &key, GNUTLS_PSK_KEY_RAW);
    return error < 0 ? error : gnutls_credentials_set(end->session, GNUTLS_CRD_PSK, end->psk_client);
}

static void encode(uint8_t output[SPKI], const uint8_t *x, const uint8_t *y)
{
    memcpy(output, BEFORE_POINT, sizeof BEFORE_POINT);
    memcpy(output + sizeof BEFORE_POINT, x, COORDINATE);
    memcpy(output + sizeof BEFORE_POINT + COORDINATE, y, COORDINATE);
}

/* An end that asks for no key of its peer has none of it, and one that is not asked has none of its own. */
static int has_raw_keys(const struct slowhand_options *options)
{
    return options->private_key != NULL || options->peer_x != NULL;
}

static int is_verifying(const struct slowhand_options *options)
{
    return !options->is_server || options->request_client_certificate;
}

static int set_own_raw_key(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    gnutls_datum_t x = {(unsigned char *) options->public_x, COORDINATE}, y = {(unsigned char *) options->public_y, COORDINATE};
    gnutls_datum_t k = {(unsigned char *) options->private_key, COORDINATE}, key = {NULL, 0};
    gnutls_datum_t public_key = {end->public_key, SPKI};
    gnutls_privkey_t private_key = NULL;
    gnutls_x509_privkey_t exported = NULL;
    encode(end->public_key, options->public_x, options->public_y);
    int error = gnutls_privkey_init(&private_key);
    if (error >= 0)
        error = gnutls_privkey_import_ecc_raw(private_key, GNUTLS_ECC_CURVE_SECP256R1, &x, &y, &k);
    if (error >= 0)
        error = gnutls_privkey_export_x509(private_key, &exported);
    if (error >= 0)
        error = gnutls_x509_privkey_export2(exported, GNUTLS_X509_FMT_DER, &key);
    if (error >= 0)
        error = gnutls_certificate_set_rawpk_key_mem(end->certificate, &public_key, &key, GNUTLS_X509_FMT_DER, NULL, 0,
                                                     NULL, 0, 0);
    gnutls_free(key.data);
    if (exported != NULL)
        gnutls_x509_privkey_deinit(exported);
    if (private_key != NULL)
        gnutls_privkey_deinit(private_key);
    return error;
}

static int set_raw_keys(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    if (options->peer_x != NULL) {
        encode(end->peer_public_key, options->peer_x, options->peer_y);
        gnutls_session_set_verify_function(end->session, verify_raw);
    }
    return options->private_key != NULL ? set_own_raw_key(end) : 0;
}

static int set_x509(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    gnutls_datum_t authority = {(unsigned char *) options->trusted, (unsigned) options->trusted_len};
    gnutls_datum_t own = {(unsigned char *) options->certificate, (unsigned) options->certificate_len};
    gnutls_datum_t key = {(unsigned char *) options->key, (unsigned) options->key_len};
    int error = 0;
    if (options->certificate != NULL)
        error = gnutls_certificate_set_x509_key_mem(end->certificate, &own, &key, GNUTLS_X509_FMT_DER);
    if (error >= 0 && options->trusted != NULL)
        error = gnutls_certificate_set_x509_trust_mem(end->certificate, &authority, GNUTLS_X509_FMT_DER);
    if (is_verifying(options))
        gnutls_session_set_verify_cert(end->session, NULL, 0);
    return error;
}

static int set_certificate(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    int error = gnutls_certificate_allocate_credentials(&end->certificate);
    if (error >= 0)
        error = has_raw_keys(options) ? set_raw_keys(end) : set_x509(end);
    if (error < 0)
        return error;
    if (options->is_server && options->request_client_certificate)
        gnutls_certificate_server_set_request(end->session, GNUTLS_CERT_REQUIRE);
    return gnutls_credentials_set(end->session, GNUTLS_CRD_CERTIFICATE, end->certificate);
}

/* Setting up. Each step returns a negative error if it fails. */

static const char *suite_priority(uint16_t suite)
{
    switch (suite) {
    case 0xC0A8:
        return "+PSK:+AES-128-CCM-8:+AEAD";
    case 0x00A8:
        return "+PSK:+AES-128-GCM:+AEAD";
    case 0xC037:
        return "+ECDHE-PSK:+AES-128-CBC:+SHA256";
    case 0xC0AE:
        return "+ECDHE-ECDSA:+AES-128-CCM-8:+AEAD";
    case 0xC02B:
        return "+ECDHE-ECDSA:+AES-128-GCM:+AEAD";
    default:
        return NULL;
    }
}

static int set_priority(struct end *end)
{
    char priority[300] = "NONE:+VERS-DTLS1.2:+SIGN-ECDSA-SHA256:";
    const char *suite = suite_priority(end->options.suite);
    if (suite == NULL)
        return GNUTLS_E_UNKNOWN_CIPHER_SUITE;
    strcat(priority, suite);
    strcat(priority, end->options.group == 29 ? ":+GROUP-X25519" : ":+GROUP-SECP256R1");
    if (end->options.record_size_limit != 0)
        strcat(priority, ":%ALLOW_SMALL_RECORDS");
    if (has_raw_keys(&end->options))
        strcat(priority, ":+CTYPE-CLI-RAWPK:+CTYPE-SRV-RAWPK");
    else
        strcat(priority, ":+CTYPE-X509");
    return gnutls_priority_set_direct(end->session, priority, NULL);
}

/* The record of a session that a server keeps for its ID: the length of the ID in one octet, the ID, the session. */
static void read_stored(struct end *end, const uint8_t *previous, size_t length)
{
    if (length < 1 || length < 1u + previous[0])
        return;
    end->id = copy(previous + 1, previous[0]);
    end->stored = copy(previous + 1 + previous[0], length - 1 - previous[0]);
}

static int set_resumption(struct end *end)
{
    const uint8_t *previous = end->options.previous;
    size_t length = end->options.previous_len;
    int error = 0;
    if (end->options.is_server && end->options.resumption == SLOWHAND_RESUMPTION_TICKET) {
        if (previous != NULL)
            end->ticket_key = copy(previous, length);
        else
            error = gnutls_session_ticket_key_generate(&end->ticket_key);
        return error < 0 ? error : gnutls_session_ticket_enable_server(end->session, &end->ticket_key);
    }
    if (end->options.is_server && end->options.resumption == SLOWHAND_RESUMPTION_ID) {
        if (previous != NULL)
            read_stored(end, previous, length);
        gnutls_db_set_ptr(end->session, end);
        gnutls_db_set_store_function(end->session, store);
        gnutls_db_set_retrieve_function(end->session, retrieve);
        gnutls_db_set_remove_function(end->session, forget);
    }
    if (!end->options.is_server && previous != NULL)
        return gnutls_session_set_data(end->session, previous, length);
    return 0;
}

static int set_up(struct end *end)
{
    const struct slowhand_options *options = &end->options;
    unsigned flags = GNUTLS_DATAGRAM | GNUTLS_NONBLOCK | (options->is_server ? GNUTLS_SERVER : GNUTLS_CLIENT);
    if (has_raw_keys(options))
        flags |= GNUTLS_ENABLE_RAWPK;
    if (options->resumption != SLOWHAND_RESUMPTION_TICKET)
        flags |= GNUTLS_NO_TICKETS;
    int error = gnutls_init(&end->session, flags);
    if (error < 0)
        return error;
    gnutls_session_set_ptr(end->session, end);
    gnutls_transport_set_ptr(end->session, end);
    gnutls_transport_set_push_function(end->session, transmit);
    gnutls_transport_set_pull_function(end->session, receive);
    gnutls_transport_set_pull_timeout_function(end->session, has_input);
    gnutls_dtls_set_timeouts(end->session, (unsigned) (options->first_timeout_ns / 1000000), TOTAL_TIMEOUT_MS);
    if (options->mtu > 0)
        gnutls_dtls_set_mtu(end->session, options->mtu);
    if (options->is_server)
        error = gnutls_key_generate(&end->cookie_key, GNUTLS_COOKIE_KEY_SIZE);
    if (error >= 0)
        error = set_priority(end);
    if (error >= 0)
        error = options->psk != NULL ? set_psk(end) : set_certificate(end);
    /* A client with the same size for both directions asks for a fragment length. A server grants what is asked for. */
    int asks = options->max_fragment_length != 0 && !options->is_server;
    uint16_t fragment = (uint16_t) (256u << options->max_fragment_length);
    if (error >= 0 && asks)
        error = (int) gnutls_record_set_max_size(end->session, fragment);
    uint16_t received = asks ? fragment : options->record_size_limit;
    if (error >= 0 && received != 0)
        error = (int) gnutls_record_set_max_recv_size(end->session, received);
    if (end->has_heartbeat)
        gnutls_heartbeat_enable(end->session, GNUTLS_HB_PEER_ALLOWED_TO_SEND);
    return error < 0 ? error : set_resumption(end);
}

/* The sessions that this thread makes have heartbeats. The interface of slowhand has no option for that. */
static _Thread_local int next_has_heartbeat;

void interop_gnutls_heartbeats(int has_heartbeat);

void interop_gnutls_heartbeats(int has_heartbeat)
{
    next_has_heartbeat = has_heartbeat;
}

static void destroy(void *context);

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    struct end *end = calloc(1, sizeof *end);
    if (end == NULL)
        return NULL;
    end->options = *options;
    end->has_heartbeat = next_has_heartbeat;
    is_in_library = 1;
    int error = set_up(end);
    is_in_library = 0;
    if (error >= 0)
        return end;
    progress->state = SLOWHAND_FAILED;
    progress->code = error;
    strncpy(progress->words, gnutls_strerror(error), sizeof progress->words - 1);
    destroy(end);
    return NULL;
}

static void destroy(void *context)
{
    struct end *end = context;
    is_in_library = 1;
    if (end->session != NULL)
        gnutls_deinit(end->session);
    if (end->psk_client != NULL)
        gnutls_psk_free_client_credentials(end->psk_client);
    if (end->psk_server != NULL)
        gnutls_psk_free_server_credentials(end->psk_server);
    if (end->certificate != NULL)
        gnutls_certificate_free_credentials(end->certificate);
    gnutls_free(end->cookie_key.data);
    gnutls_free(end->ticket_key.data);
    gnutls_free(end->id.data);
    gnutls_free(end->stored.data);
    is_in_library = 0;
    free(end);
}

/* The state */

static void fail(struct end *end, int error)
{
    if (error == GNUTLS_E_AGAIN || error == GNUTLS_E_INTERRUPTED || !gnutls_error_is_fatal(error))
        return;
    end->state = error == GNUTLS_E_TIMEDOUT ? SLOWHAND_TIMED_OUT : SLOWHAND_FAILED;
    end->code = error;
    if (error == GNUTLS_E_FATAL_ALERT_RECEIVED) {
        end->state = SLOWHAND_ALERT_RECEIVED;
        end->code = gnutls_alert_get(end->session);
    }
}

/* A server answers a ClientHello without the right cookie, and keeps nothing about it. */
static void verify_cookie(struct end *end)
{
    gnutls_dtls_prestate_st prestate;
    memset(&prestate, 0, sizeof prestate);
    size_t address_len = sizeof client_address;
    int error = gnutls_dtls_cookie_verify(&end->cookie_key, client_address, address_len, (void *) end->input,
                                          end->input_len, &prestate);
    if (error < 0) {
        gnutls_dtls_cookie_send(&end->cookie_key, client_address, address_len, &prestate, end, transmit);
        end->input = NULL;
        return;
    }
    gnutls_dtls_prestate_set(end->session, &prestate);
    end->is_verified = 1;
}

static void proceed(struct end *end, struct slowhand_progress *progress)
{
    is_in_library = 1;
    if (end->options.is_server && !end->is_verified && end->input != NULL) {
        if (end->options.cookie)
            verify_cookie(end);
        else
            end->is_verified = 1;
    }
    int may_begin = !end->options.is_server || end->is_verified;
    if (end->state == SLOWHAND_HANDSHAKING && may_begin) {
        int result;
        do
            result = gnutls_handshake(end->session);
        while (result < 0 && end->input != NULL && !gnutls_error_is_fatal(result));
        if (result == GNUTLS_E_SUCCESS) {
            end->state = SLOWHAND_ESTABLISHED;
            slowhand_host->verified();
        } else {
            fail(end, result);
        }
    }
    while (end->state == SLOWHAND_ESTABLISHED) {
        uint8_t data[16384]; /* the most octets of a record (RFC 5246, section 6.2.1) */
        ssize_t length = gnutls_record_recv(end->session, data, sizeof data);
        if (length > 0) {
            slowhand_host->deliver(data, (size_t) length);
        } else if (length == 0) {
            end->state = SLOWHAND_CLOSED_BY_PEER;
        } else if (length == GNUTLS_E_HEARTBEAT_PING_RECEIVED) {
            gnutls_heartbeat_pong(end->session, 0);
        } else if (length == GNUTLS_E_HEARTBEAT_PONG_RECEIVED) {
            slowhand_host->deliver(HEARTBEAT, sizeof HEARTBEAT);
        } else {
            fail(end, (int) length);
            if (end->input == NULL)
                break;
        }
    }
    progress->state = end->state;
    progress->code = end->code;
    if (end->state == SLOWHAND_HANDSHAKING && may_begin) {
        /* 0: the timer has expired, but the library does not send a flight again of whose answer it has the first message. */
        unsigned left = gnutls_dtls_get_timeout(end->session);
        uint64_t wait_ns = left > 0 ? left * UINT64_C(1000000) : end->options.first_timeout_ns;
        progress->deadline_ns = slowhand_host->now_ns() + wait_ns;
    }
    if (end->state == SLOWHAND_FAILED)
        strncpy(progress->words, gnutls_strerror(end->code), sizeof progress->words - 1);
    if (end->state == SLOWHAND_ALERT_RECEIVED) {
        const char *name = gnutls_alert_get_name((gnutls_alert_description_t) end->code);
        snprintf(progress->words, sizeof progress->words, "the peer has sent a fatal alert: %s (%d)",
                 name == NULL ? "unknown" : name, end->code);
    }
    is_in_library = 0;
}

static void start(void *context, struct slowhand_progress *progress)
{
    proceed(context, progress);
}

static void handle_input(void *context, const uint8_t *datagram, size_t length, struct slowhand_progress *progress)
{
    struct end *end = context;
    end->input = datagram;
    end->input_len = length;
    proceed(end, progress);
    end->input = NULL;
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct end *end = context;
    is_in_library = 1;
    ssize_t result = gnutls_record_send(end->session, data, length);
    if (result >= 0 && end->has_heartbeat)
        result = gnutls_heartbeat_ping(end->session, HEARTBEAT_LEN, 1, 0);
    is_in_library = 0;
    if (result < 0)
        fail(end, (int) result);
    proceed(end, progress);
}

static void close_end(void *context, struct slowhand_progress *progress)
{
    struct end *end = context;
    is_in_library = 1;
    gnutls_bye(end->session, GNUTLS_SHUT_WR);
    is_in_library = 0;
    proceed(end, progress);
}

static size_t resumable(void *context, uint8_t *output, size_t size)
{
    const struct end *end = context;
    gnutls_datum_t session = {NULL, 0};
    size_t length = 0;
    is_in_library = 1;
    if (!end->options.is_server) {
        if (gnutls_session_get_data2(end->session, &session) >= 0)
            length = session.size;
        if (length > 0 && length <= size)
            memcpy(output, session.data, length);
    } else if (end->ticket_key.data != NULL) {
        length = end->ticket_key.size;
        if (length <= size)
            memcpy(output, end->ticket_key.data, length);
    } else if (end->id.data != NULL) {
        length = 1 + end->id.size + end->stored.size;
        if (length <= size) {
            output[0] = (uint8_t) end->id.size;
            memcpy(output + 1, end->id.data, end->id.size);
            memcpy(output + 1 + end->id.size, end->stored.data, end->stored.size);
        }
    }
    gnutls_free(session.data);
    is_in_library = 0;
    return length;
}

static size_t max_data(const void *context)
{
    const struct end *end = context;
    return gnutls_dtls_get_data_mtu(end->session);
}

static uint16_t suite(const void *context)
{
    const struct end *end = context;
    return end->options.suite;
}

static int connection_id(const void *context)
{
    (void) context;
    return -1;
}

static const char *version(void)
{
    return gnutls_check_version(NULL);
}

static const struct slowhand_library LIBRARY = {
    .create = create,
    .destroy = destroy,
    .start = start,
    .handle_input = handle_input,
    .handle_timeout = start,
    .write = write_data,
    .close = close_end,
    .max_data = max_data,
    .suite = suite,
    .connection_id = connection_id,
    .resumable = resumable,
    .version = version,
};

/* TLS NamedGroup (RFC 8422 section 5.1.1): secp256r1. */
static const uint16_t CURVES[] = {23, 0};
static const uint16_t FRAGMENT_LENGTHS[] = {512, 1024, 2048, 4096, 0};
static const uint16_t SUITES[] = {0xC0A8, 0x00A8, 0xC037, 0xC0AE, 0xC02B, 0};
static const struct slowhand_protocol PROTOCOLS[] = {
    {SLOWHAND_DTLS12, 1u << SLOWHAND_RESUMPTION_ID | 1u << SLOWHAND_RESUMPTION_TICKET, CURVES, FRAGMENT_LENGTHS},
    {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL},
};
static const struct slowhand_credential CREDENTIALS[] = {
    {SLOWHAND_PSK, 0},
    {SLOWHAND_RAW_PUBLIC_KEY, 0},
    {SLOWHAND_CERTIFICATE, 0},
    {SLOWHAND_NO_CREDENTIAL, 0},
};

#define S UINT64_C(1000000000)

/* The timer is the library's: 1 s, at most 60 s (`gnutls_dtls_set_timeouts`). */
static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "LGPL-2.1-or-later",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .fragments = 1,
    .without_cookie = 1,
    .connection_id = -1,
    .longest_psk = 64,
    .record_size_limit = 1,
    .first_timeout_ns = S,
    .maximum_timeout_ns = 60 * S,
    .least_timeout_ns = S / 1000,
    .most_timeout_ns = 60 * S,
};

SLOWHAND_STACK(CAPABILITIES, LIBRARY);
