/* What each C library offers to src/c_library.rs: one session of TLS or DTLS behind a table of functions. build.rs holds the
 * structs and their mirrors in Rust together. */
#ifndef SLOWHAND_LIBRARY_H
#define SLOWHAND_LIBRARY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SLOWHAND_NO_TIMER UINT64_MAX
#define SLOWHAND_NO_DATAGRAMS SIZE_MAX

enum slowhand_resumption {
    SLOWHAND_RESUMPTION_NONE,
    SLOWHAND_RESUMPTION_ID,      /* the server keeps the session (RFC 5246 section 7.4.1.2) */
    SLOWHAND_RESUMPTION_TICKET,  /* the client does (RFC 5077; TLS 1.3: RFC 8446 section 4.6.1) */
};

/* Pointers are alive for the call that creates a session; psk, psk_identity, the raw keys as long as the session. */
struct slowhand_options {
    int is_server;
    int is_stream;                                    /* TLS over bytes, not DTLS over datagrams */
    uint16_t version;                                 /* ProtocolVersion as in TLS: 0x0303 1.2, 0x0304 1.3 */
    uint16_t suite;                                   /* IANA cipher suite */
    uint16_t group;                                   /* TLS NamedGroup; 0: no elliptic curve */
    uint16_t signature;                               /* TLS SignatureScheme; 0: no signatures */
    const char *suite_name;                           /* the IANA name */
    int request_client_certificate;
    const uint8_t *psk, *psk_identity;                /* NULL: no pre-shared key */
    size_t psk_len, psk_identity_len;
    const uint8_t *trusted, *certificate, *key;       /* DER; NULL: none */
    size_t trusted_len, certificate_len, key_len;
    const uint8_t *private_key, *public_x, *public_y; /* our raw key; NULL: we are not authenticated by one */
    const uint8_t *peer_x, *peer_y;                   /* the peer's; NULL: it is not authenticated by one */
    int cookie;                                       /* server: HelloVerifyRequest */
    uint16_t mtu;                                     /* UDP payload octets; 0: no limit */
    uint8_t max_fragment_length;                      /* code of RFC 6066 section 4; 0: not negotiated */
    uint64_t first_timeout_ns, maximum_timeout_ns;
    int resumption;                                   /* enum slowhand_resumption */
    const uint8_t *previous;                          /* what `resumable` gave for the session before; NULL: none */
    size_t previous_len;
    int connection_id;                                /* octets of our connection ID; -1: not negotiated */
};

enum slowhand_state {
    SLOWHAND_HANDSHAKING,
    SLOWHAND_ESTABLISHED,
    SLOWHAND_CLOSED_BY_PEER, /* its close_notify has arrived */
    SLOWHAND_TIMED_OUT,      /* the last retransmission was in vain */
    SLOWHAND_ALERT_RECEIVED, /* code: its description */
    SLOWHAND_FAILED,         /* code, text: the library's error */
};

/* What a call has led to. */
struct slowhand_progress {
    int state; /* enum slowhand_state */
    int code;
    uint64_t deadline_ns; /* since the world began; SLOWHAND_NO_TIMER: no timer runs */
    char text[128];
};

struct slowhand_library {
    /* NULL when a step failed; then the progress says why. */
    void *(*create)(const struct slowhand_options *options, struct slowhand_progress *progress);
    void (*destroy)(void *session);
    /* Each goes on as far as possible. */
    void (*start)(void *session, struct slowhand_progress *progress);
    void (*receive)(void *session, const uint8_t *input, size_t length, struct slowhand_progress *progress);
    void (*expire)(void *session, struct slowhand_progress *progress);
    /* Application data of an established session: all of them, at most `room`. */
    void (*write)(void *session, const uint8_t *data, size_t length, struct slowhand_progress *progress);
    void (*close)(void *session, struct slowhand_progress *progress);
    /* Most octets of application data in one datagram, or SLOWHAND_NO_DATAGRAMS. */
    size_t (*room)(const void *session);
    /* IANA number of the suite of an established session. */
    uint16_t (*suite)(const void *session);
    /* Octets of the connection ID that our records carry, or -1 if none was negotiated. */
    int (*connection_id)(const void *session);
    /* What this end keeps to resume its session later: for a client the session, for a server the session or the key of
     * its tickets. Returns its length, 0 if there is nothing; writes it if it fits. */
    size_t (*resumable)(void *session, uint8_t *output, size_t size);
    const char *(*version)(void);
};

extern const struct slowhand_library slowhand_mbedtls, slowhand_openssl, slowhand_tinydtls;

/* The client's address as a server's cookie sees it: one session has one peer. */
#define SLOWHAND_TRANSPORT_ID "client"

/* What has arrived and is not yet read. */
struct slowhand_input {
    const uint8_t *octets;
    size_t length;
};

/* As recv(): of a datagram, what does not fit is lost. Returns the number of octets, 0 if there are none. */
size_t slowhand_take(struct slowhand_input *input, int is_datagram, void *buffer, size_t size);
/* Keeps the secret of a session of version 1.2 for the key log. */
void slowhand_master_secret(const uint8_t client_random[32], const uint8_t *secret, size_t length);
/* The answer of a library that keeps nothing, and of one without connection IDs. */
size_t slowhand_not_resumable(void *session, uint8_t *output, size_t size);
int slowhand_no_connection_id(const void *session);

#endif
