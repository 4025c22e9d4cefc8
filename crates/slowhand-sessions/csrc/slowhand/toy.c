/* A stack in C to start from: a toy protocol with a pre-shared key. It protects nothing: data are not encrypted, and a tag has 64
 * bits. docs/own-stack.md explains it.
 *
 *   client                           server
 *   HELLO, random C         -->
 *                           <--      CHALLENGE, random S, tag
 *   PROOF, tag              -->
 *                           <--      DONE, tag
 *   DATA, number, tag, octets, and CLOSE in both directions
 *
 * The client repeats its last message until it is answered. A tag is SipHash-2-4 (Aumasson and Bernstein 2012) of the type of the
 * message, both random numbers, the number of the message and its octets. */
#include "slowhand/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 16, RANDOM = 16, TAG = 8, HEAD = 1 + 4 + TAG, MOST = 1200, RETRANSMISSIONS = 7 };
enum type { HELLO = 1, CHALLENGE, PROOF, DONE, DATA, CLOSE };

static const uint8_t NOTHING[1];

struct session {
    int is_server, state, mtu;
    uint8_t key[KEY], random[2 * RANDOM]; /* the client's, then the server's */
    uint8_t flight[HEAD + 2 * RANDOM];    /* the client's last message, and its length */
    size_t length;
    uint64_t first_ns, timeout_ns, deadline_ns;
    int repeated;
    uint32_t sent, received; /* numbers of the last message with data, from 1 */
};

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void mix(uint64_t v[4], int rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1], v[2] += v[3], v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2], v[0] = rotate(v[0], 32);
        v[2] += v[1], v[0] += v[3], v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0], v[2] = rotate(v[2], 32);
    }
}

static uint64_t siphash(const uint8_t key[KEY], const uint8_t *octets, size_t length)
{
    uint64_t k[2], word = 0;
    memcpy(k, key, KEY); /* little-endian, as x86-64 and ARM are */
    uint64_t v[4] = {k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d, k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573};
    for (size_t at = 0; at <= length; at++) {
        if (at == length)
            word |= (uint64_t) length << 56;
        else
            word |= (uint64_t) octets[at] << 8 * (at % 8);
        if (at % 8 == 7 || at == length)
            v[3] ^= word, mix(v, 2), v[0] ^= word, word = 0;
    }
    v[2] ^= 0xff, mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Writes the tag of a message. A table of a device has no SipHash: it counts as one compression of SHA-256. */
static void write_tag(const struct session *session, uint8_t type, uint32_t number, const uint8_t *data, size_t length, uint8_t *tag)
{
    uint8_t octets[1 + 4 + 2 * RANDOM + MOST] = {type};
    memcpy(octets + 1, &number, 4);
    memcpy(octets + 5, session->random, 2 * RANDOM);
    memcpy(octets + 5 + 2 * RANDOM, data, length);
    uint64_t value = siphash(session->key, octets, 5 + 2 * RANDOM + length);
    memcpy(tag, &value, TAG);
    slowhand_host->sha256(1);
}

/* Sends a message: its type, a number, its tag and its octets. A client keeps it and starts its timer. */
static void send_message(struct session *session, uint8_t type, uint32_t number, const uint8_t *data, size_t length)
{
    uint8_t message[HEAD + MOST] = {type};
    memcpy(message + 1, &number, 4);
    if (type != HELLO) /* there is no random number of the server yet */
        write_tag(session, type, number, data, length, message + 5);
    memcpy(message + HEAD, data, length);
    slowhand_host->transmit(message, HEAD + length);
    if (type == HELLO || type == PROOF) {
        memcpy(session->flight, message, session->length = HEAD + length);
        session->timeout_ns = session->first_ns, session->repeated = 0;
        session->deadline_ns = slowhand_host->now_ns() + session->timeout_ns;
    }
}

static void report(const struct session *session, struct slowhand_progress *progress)
{
    progress->state = session->state;
    progress->deadline_ns = session->deadline_ns;
    if (session->state == SLOWHAND_FAILED)
        snprintf(progress->words, sizeof progress->words, "the peer has another key");
}

static void *create(const struct slowhand_options *options, struct slowhand_progress *progress)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL || options->psk_len > KEY) {
        snprintf(progress->words, sizeof progress->words, "no memory, or a key that is too long");
        free(session);
        return NULL;
    }
    session->is_server = options->is_server;
    session->mtu = options->mtu == 0 || options->mtu > HEAD + MOST ? HEAD + MOST : options->mtu;
    memcpy(session->key, options->psk, options->psk_len);
    session->first_ns = options->first_timeout_ns;
    session->deadline_ns = SLOWHAND_NO_TIMER;
    return session;
}

static void destroy(void *session) { free(session); }

static void start(void *context, struct slowhand_progress *progress)
{
    struct session *session = context;
    slowhand_host->random(session->random, RANDOM);
    send_message(session, HELLO, 0, session->random, RANDOM);
    report(session, progress);
}

static void establish(struct session *session)
{
    session->state = SLOWHAND_ESTABLISHED;
    session->deadline_ns = SLOWHAND_NO_TIMER;
    slowhand_host->verified();
}

static void handle_input(void *context, const uint8_t *input, size_t length, struct slowhand_progress *progress)
{
    struct session *session = context;
    uint32_t number = 0;
    uint8_t tag[TAG], type = input[0];
    int waits = session->state == SLOWHAND_HANDSHAKING;
    if (length >= HEAD && length <= HEAD + MOST) {
        const uint8_t *data = input + HEAD;
        size_t data_length = length - HEAD;
        memcpy(&number, input + 1, 4);
        if (type == HELLO && session->is_server && waits && data_length == RANDOM) {
            if (memcmp(session->random, data, RANDOM) != 0) { /* a repeated HELLO gets the same answer */
                memcpy(session->random, data, RANDOM);
                slowhand_host->random(session->random + RANDOM, RANDOM);
            }
            send_message(session, CHALLENGE, 0, session->random + RANDOM, RANDOM);
        } else if (type == CHALLENGE && data_length == RANDOM && !session->is_server && waits && session->flight[0] == HELLO) {
            memcpy(session->random + RANDOM, data, RANDOM);
        }
        write_tag(session, type, number, data, data_length, tag);
        int is_true = memcmp(tag, input + 5, TAG) == 0;
        if (type == CHALLENGE && !session->is_server && waits && session->flight[0] == HELLO) {
            if (is_true)
                send_message(session, PROOF, 0, NOTHING, 0);
            else
                session->state = SLOWHAND_FAILED;
        } else if (type == PROOF && session->is_server && is_true) {
            if (waits)
                establish(session);
            send_message(session, DONE, 0, NOTHING, 0);
        } else if (type == DONE && !session->is_server && waits && is_true) {
            establish(session);
        } else if ((type == DATA || type == CLOSE) && !waits && is_true && number > session->received) {
            session->received = number;
            if (type == CLOSE)
                session->state = SLOWHAND_CLOSED_BY_PEER;
            else
                slowhand_host->deliver(data, data_length);
        }
    }
    report(session, progress);
}

static void handle_timeout(void *context, struct slowhand_progress *progress)
{
    struct session *session = context;
    if (slowhand_host->now_ns() >= session->deadline_ns) {
        if (session->repeated++ == RETRANSMISSIONS) {
            session->state = SLOWHAND_TIMED_OUT;
        } else {
            slowhand_host->transmit(session->flight, session->length);
            session->deadline_ns = slowhand_host->now_ns() + (session->timeout_ns *= 2);
        }
    }
    report(session, progress);
}

static void write_data(void *context, const uint8_t *data, size_t length, struct slowhand_progress *progress)
{
    struct session *session = context;
    send_message(session, DATA, ++session->sent, data, length);
    report(session, progress);
}

static void close_session(void *context, struct slowhand_progress *progress)
{
    struct session *session = context;
    send_message(session, CLOSE, ++session->sent, NOTHING, 0);
    report(session, progress);
}

static size_t max_data(const void *session) { return (size_t) ((const struct session *) session)->mtu - HEAD; }
static uint16_t suite(const void *session) { return (void) session, 0xC0A8; }
static int connection_id(const void *session) { return (void) session, -1; }
static size_t resumable(void *session, uint8_t *output, size_t size) { return (void) session, (void) output, (void) size, 0; }
static const char *version(void) { return "1.0"; }

static const struct slowhand_library LIBRARY = {create, destroy, start, handle_input, handle_timeout, write_data, close_session,
                                                max_data, suite, connection_id, resumable, version};

/* It stands in the place of DTLS 1.2 with the suite TLS_PSK_WITH_AES_128_CCM_8. */
static const struct slowhand_protocol PROTOCOLS[] = {{SLOWHAND_DTLS12, 0, NULL, NULL}, {SLOWHAND_NO_PROTOCOL, 0, NULL, NULL}};
static const struct slowhand_credential CREDENTIALS[] = {{SLOWHAND_PSK, HEAD + RANDOM}, {SLOWHAND_NO_CREDENTIAL, 0}};
static const uint16_t SUITES[] = {0xC0A8, 0};

static const struct slowhand_capabilities CAPABILITIES = {
    .licence = "MIT OR Apache-2.0",
    .protocols = PROTOCOLS,
    .credentials = CREDENTIALS,
    .suites = SUITES,
    .fragments = 1, /* all messages fit into the smallest datagram */
    .identity_with_nul = 1,
    .connection_id = -1,
    .longest_psk = KEY,
    .first_timeout_ns = 1000000000,
    .maximum_times_first = 1 << RETRANSMISSIONS,
    .least_timeout_ns = 1000000,
    .most_timeout_ns = 1000000000000,
    .remark = "a toy that protects nothing, in the place of DTLS",
};

SLOWHAND_STACK(CAPABILITIES, LIBRARY);
