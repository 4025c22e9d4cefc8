/* One mbedTLS session behind an opaque handle. Mirrored by src/mbedtls/ffi.rs. */
#ifndef SLOWHAND_MBEDTLS_SESSION_H
#define SLOWHAND_MBEDTLS_SESSION_H

#include <stddef.h>
#include <stdint.h>

typedef struct slowhand_mbedtls slowhand_mbedtls;

enum {
    SLOWHAND_RESUMPTION_NONE,
    SLOWHAND_RESUMPTION_ID,        /* the server keeps the session (RFC 5246 section 7.4.1.2) */
    SLOWHAND_RESUMPTION_TICKET,    /* the client does (RFC 5077; TLS 1.3: RFC 8446 section 4.6.1) */
};

struct slowhand_mbedtls_options {
    int is_server;
    int is_stream;                 /* TLS over bytes, not DTLS over datagrams */
    uint16_t version;              /* ProtocolVersion as in TLS: 0x0303 1.2, 0x0304 1.3 */
    uint16_t suite;                /* IANA cipher suite */
    uint16_t group;                /* TLS NamedGroup; 0: no elliptic curve */
    uint16_t signature;            /* TLS SignatureScheme; 0: no signatures */
    int request_client_certificate;
    const uint8_t *psk, *psk_identity;       /* NULL: no pre-shared key */
    size_t psk_len, psk_identity_len;
    const uint8_t *trusted, *certificate, *key; /* DER; NULL: none */
    size_t trusted_len, certificate_len, key_len;
    int cookie;                    /* server: HelloVerifyRequest */
    uint16_t mtu;                  /* UDP payload octets; 0: no limit */
    uint8_t mfl;                   /* MBEDTLS_SSL_MAX_FRAG_LEN_*; 0: not negotiated */
    uint32_t timeout_min_ms, timeout_max_ms;
    int resumption;                /* SLOWHAND_RESUMPTION_* */
    const uint8_t *previous;       /* what slowhand_mbedtls_resumable gave for the session before; NULL: none */
    size_t previous_len;
    int cid;                       /* octets of our connection ID; -1: not negotiated */
};

/* NULL when a step failed; then *error is the library's error code. */
slowhand_mbedtls *slowhand_mbedtls_new(const struct slowhand_mbedtls_options *options, int *error);
void slowhand_mbedtls_free(slowhand_mbedtls *session);

/* Go on as far as possible with the datagram or the bytes given (length 0: none) and the clock.
 * 0: the handshake goes on; 1: it is complete; negative: it failed with that error code. */
int slowhand_mbedtls_drive(slowhand_mbedtls *session, const uint8_t *input, size_t length);

/* What this end keeps to resume its session later: for a client the session, for a server the session or the key of
 * its tickets. Returns its length, 0 where there is nothing; writes it if it fits. */
size_t slowhand_mbedtls_resumable(slowhand_mbedtls *session, uint8_t *output, size_t size);

/* Nanoseconds since the world began; UINT64_MAX: no timer runs. */
uint64_t slowhand_mbedtls_deadline_ns(const slowhand_mbedtls *session);
/* 1 and the values of a session of version 1.2, or 0 while they do not exist. */
int slowhand_mbedtls_secrets(const slowhand_mbedtls *session, uint8_t client_random[32], uint8_t master_secret[48]);
/* IANA number of the negotiated suite, 0 before. */
uint16_t slowhand_mbedtls_suite(const slowhand_mbedtls *session);
/* Octets of the connection ID that our records carry, or -1 when none was negotiated. */
int slowhand_mbedtls_peer_cid(slowhand_mbedtls *session);
/* Description of the fatal alert received (after MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE). */
uint8_t slowhand_mbedtls_received_alert(const slowhand_mbedtls *session);

/* To be called once in the process before any other function. */
void slowhand_mbedtls_initialise(void);
uint32_t slowhand_mbedtls_version(void);
void slowhand_mbedtls_error_text(int error, char *text, size_t size);

#endif
