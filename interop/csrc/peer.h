/* The interface of each C library to src/c_peer.rs: a table of functions for one end of a DTLS session. build.rs
 * generates checks that the structs and their mirrors in Rust have the same layout. */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include <stddef.h>
#include <stdint.h>

#define INTEROP_NO_TIMER UINT64_MAX

enum interop_credential {
    INTEROP_PSK,
    INTEROP_RAW_PUBLIC_KEY,
    INTEROP_CERTIFICATE,
};

enum interop_resumption {
    INTEROP_RESUMPTION_NONE,
    INTEROP_RESUMPTION_ID,
    INTEROP_RESUMPTION_TICKET,
};

/* The pointers are valid as long as the end, but `previous` only during `create`. */
struct interop_options {
    int is_server;
    uint16_t version;          /* as on the wire: 0xfefd DTLS 1.2, 0xfefc DTLS 1.3 */
    uint16_t suite;            /* IANA cipher suite */
    uint16_t other_suite;      /* IANA cipher suite of the other version; 0: the end speaks one version */
    uint16_t group;            /* TLS NamedGroup; 0: no elliptic curve */
    int credential;            /* enum interop_credential */
    int is_without_ephemeral;  /* DTLS 1.3 with a pre-shared key: psk_ke, not psk_dhe_ke */
    int has_cookie;            /* a server asks for the cookie */
    int resumption;            /* enum interop_resumption */
    int connection_id;         /* octets of the ID in records to this end; -1: no connection IDs */
    uint16_t max_fragment_length; /* octets; 0: not asked for */
    uint16_t record_size_limit;   /* octets; 0: not told to the peer */
    int has_heartbeat;         /* `write` asks for one too; interop_heartbeat_answered() tells the answer */
    uint16_t mtu;              /* octets of UDP payload; 0: the library's default */
    uint32_t first_timeout_ms;
    const uint8_t *psk, *psk_identity;
    size_t psk_len, psk_identity_len;
    const uint8_t *authority, *certificate, *key; /* DER: X.509, X.509, ECPrivateKey */
    size_t authority_len, certificate_len, key_len;
    const uint8_t *public_key, *peer_public_key;  /* DER: SubjectPublicKeyInfo */
    size_t public_key_len, peer_public_key_len;
    void *previous;            /* from `keep` of an end of an earlier session; NULL: none */
};

enum interop_state {
    INTEROP_HANDSHAKING,
    INTEROP_ESTABLISHED,
    INTEROP_CLOSED,     /* a close_notify has arrived */
    INTEROP_TIMED_OUT,  /* the peer did not answer the last retransmission */
    INTEROP_FAILED,     /* code: the library's error */
};

/* The result of a call. */
struct interop_progress {
    int state; /* enum interop_state */
    int code;
    uint64_t deadline_ms; /* from the beginning of the world; INTEROP_NO_TIMER: no timer runs */
    char words[200];      /* of an end that has failed: the library's description, ended with a zero */
};

struct interop_library {
    /* NULL if the library refuses; then `progress` says why. */
    void *(*create)(const struct interop_options *options, struct interop_progress *progress);
    void (*destroy)(void *end);
    /* Each call continues the session as far as possible. */
    void (*start)(void *end, struct interop_progress *progress);
    void (*input)(void *end, const uint8_t *datagram, size_t length, struct interop_progress *progress);
    void (*timeout)(void *end, struct interop_progress *progress);
    /* Sends application data, all in one datagram, in an established session. */
    void (*write)(void *end, const uint8_t *data, size_t length, struct interop_progress *progress);
    void (*close)(void *end, struct interop_progress *progress);
    /* What this end keeps to resume its session later; NULL: nothing. */
    void *(*keep)(void *end);
    void (*release)(void *kept);
};

extern const struct interop_library interop_boringssl, interop_gnutls, interop_wolfssl;

#endif
