/* The interface of each C library to src/c_library.rs: a table of functions for one session of TLS or DTLS. build.rs generates
 * checks that these structs and their mirrors in Rust have the same layout, and the constants in Rust. */
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
    SLOWHAND_RESUMPTION_TICKET,  /* the client keeps it (RFC 5077; TLS 1.3: RFC 8446 section 4.6.1) */
};

/* The pointers are valid during `create`; psk, psk_identity, password and the raw keys are valid as long as the session. */
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
    const uint8_t *password;                          /* of EC-JPAKE; NULL: none */
    size_t password_len;
    const uint8_t *trusted, *certificate, *key;       /* DER; NULL: none */
    size_t trusted_len, certificate_len, key_len;
    const uint8_t *private_key, *public_x, *public_y; /* this end's raw key; NULL: none */
    const uint8_t *peer_x, *peer_y;                   /* the peer's raw key; NULL: none */
    int cookie;                                       /* a server sends a HelloVerifyRequest */
    uint16_t mtu;                                     /* UDP payload octets; 0: no limit */
    uint8_t max_fragment_length;                      /* code of RFC 6066 section 4; 0: not negotiated */
    uint64_t first_timeout_ns, maximum_timeout_ns;
    int resumption;                                   /* enum slowhand_resumption */
    const uint8_t *previous;                          /* from `resumable` of the earlier session; NULL: none */
    size_t previous_len;
    int connection_id;                                /* octets of this end's connection ID; -1: not negotiated */
};

enum slowhand_state {
    SLOWHAND_HANDSHAKING,
    SLOWHAND_ESTABLISHED,
    SLOWHAND_CLOSED_BY_PEER, /* a close_notify has arrived */
    SLOWHAND_TIMED_OUT,      /* the peer did not answer the last retransmission */
    SLOWHAND_ALERT_RECEIVED, /* code: the description of the alert */
    SLOWHAND_FAILED,         /* code: the library's error */
};

/* The result of a call. */
struct slowhand_progress {
    int state; /* enum slowhand_state */
    int code;
    uint64_t deadline_ns; /* from the beginning of the world; SLOWHAND_NO_TIMER: no timer runs */
    char words[256]; /* of a session that has failed: the library's description, ended with a zero */
};

struct slowhand_library {
    /* NULL if a step failed; then `progress` has the error. */
    void *(*create)(const struct slowhand_options *options, struct slowhand_progress *progress);
    void (*destroy)(void *session);
    /* Each call continues the session as far as possible. */
    void (*start)(void *session, struct slowhand_progress *progress);
    void (*handle_input)(void *session, const uint8_t *input, size_t length, struct slowhand_progress *progress);
    void (*handle_timeout)(void *session, struct slowhand_progress *progress);
    /* Sends all of the application data, at most `max_data` octets, in an established session. */
    void (*write)(void *session, const uint8_t *data, size_t length, struct slowhand_progress *progress);
    void (*close)(void *session, struct slowhand_progress *progress);
    /* The most octets of application data in one datagram, or SLOWHAND_NO_DATAGRAMS. */
    size_t (*max_data)(const void *session);
    /* The IANA number of the suite of an established session. */
    uint16_t (*suite)(const void *session);
    /* The length of the connection ID in the records that this end sends; -1 if none was negotiated. */
    int (*connection_id)(const void *session);
    /* What this end keeps to resume its session later. A client keeps the session; a server keeps the session or the key of
     * its tickets. Returns the length, or 0 if there is nothing. Writes it to `output` if it fits. */
    size_t (*resumable)(void *session, uint8_t *output, size_t size);
    const char *(*version)(void);
};

extern const struct slowhand_library slowhand_mbedtls, slowhand_openssl, slowhand_tinydtls;

/* The client's address for a server's cookie. Each session has only one peer, so it is a constant. */
#define SLOWHAND_TRANSPORT_ID "client"

/* Input that the library has not read yet. */
struct slowhand_input {
    const uint8_t *octets;
    size_t length;
};

/* Like recv(): copies input to `buffer`. The rest of a datagram that does not fit is lost. Returns the number of octets, or 0 if
 * there is no input. */
size_t slowhand_take(struct slowhand_input *input, int is_datagram, void *buffer, size_t size);
/* Adds the master secret of a session of version 1.2 to the key log. */
void slowhand_master_secret(const uint8_t client_random[32], const uint8_t *secret, size_t length);
/* Adds to the words of a failure, like printf(). */
__attribute__((format(printf, 2, 3))) void slowhand_describe(struct slowhand_progress *progress, const char *format, ...);
/* The name of an alert in its RFC. */
const char *slowhand_alert_name(int description);
/* `resumable` for a library without resumption, and `connection_id` for one without connection IDs. */
size_t slowhand_not_resumable(void *session, uint8_t *output, size_t size);
int slowhand_no_connection_id(const void *session);

#endif
