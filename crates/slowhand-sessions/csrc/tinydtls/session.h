/* One tinyDTLS session behind an opaque handle. Mirrored by src/tinydtls/ffi.rs. */
#ifndef SLOWHAND_TINYDTLS_SESSION_H
#define SLOWHAND_TINYDTLS_SESSION_H

#include <stddef.h>
#include <stdint.h>

typedef struct slowhand_tinydtls slowhand_tinydtls;

#define SLOWHAND_RAW_KEY 32 /* octets of a secp256r1 coordinate or scalar */

struct slowhand_tinydtls_options {
    int is_server;
    uint16_t suite;                /* IANA cipher suite */
    uint64_t first_timeout_ns;     /* what the library's two seconds of ticks last */
    const uint8_t *psk, *psk_identity; /* NULL: raw public keys */
    size_t psk_len, psk_identity_len;
    const uint8_t *private_key, *public_x, *public_y;   /* ours; NULL: we are not authenticated */
    const uint8_t *peer_x, *peer_y;                     /* the peer's; NULL: it is not authenticated */
};

enum slowhand_tinydtls_outcome {
    SLOWHAND_TINYDTLS_HANDSHAKING = 0,
    SLOWHAND_TINYDTLS_CONNECTED = 1,
    SLOWHAND_TINYDTLS_ALERT_RECEIVED = 2,
    SLOWHAND_TINYDTLS_ERROR = 3,     /* the library gave up on the peer; see slowhand_tinydtls_error */
    SLOWHAND_TINYDTLS_TIMED_OUT = 4, /* the last retransmission was in vain */
};

slowhand_tinydtls *slowhand_tinydtls_new(const struct slowhand_tinydtls_options *options);
void slowhand_tinydtls_free(slowhand_tinydtls *session);

/* Each goes on as far as possible and returns an outcome. */
int slowhand_tinydtls_connect(slowhand_tinydtls *session);
int slowhand_tinydtls_receive(slowhand_tinydtls *session, const uint8_t *datagram, size_t length);
int slowhand_tinydtls_expire(slowhand_tinydtls *session);

/* Nanoseconds since the world began; UINT64_MAX: no timer runs. */
uint64_t slowhand_tinydtls_deadline_ns(const slowhand_tinydtls *session);
/* 1 and the values, or 0 while they do not exist. */
int slowhand_tinydtls_secrets(const slowhand_tinydtls *session, uint8_t client_random[32], uint8_t master_secret[48]);
/* The negative error code of the library, or the description of the alert received. */
int slowhand_tinydtls_error(const slowhand_tinydtls *session);

/* To be called once in the process before any other function. */
void slowhand_tinydtls_initialise(void);
const char *slowhand_tinydtls_version(void);

#endif
