/* One OpenSSL session behind an opaque handle. Mirrored by src/openssl/ffi.rs. */
#ifndef SLOWHAND_OPENSSL_SESSION_H
#define SLOWHAND_OPENSSL_SESSION_H

#include <stddef.h>
#include <stdint.h>

typedef struct slowhand_openssl slowhand_openssl;

struct slowhand_openssl_options {
    int is_server;
    int is_stream;                 /* TLS over bytes, not DTLS over datagrams */
    uint16_t version;              /* ProtocolVersion as in TLS: 0x0303 1.2, 0x0304 1.3 */
    const char *suite;             /* IANA name of the cipher suite */
    uint16_t group;                /* TLS NamedGroup; 0: no elliptic curve */
    const char *signatures;        /* a list of signature algorithms as the library reads it */
    int request_client_certificate;
    const uint8_t *psk, *psk_identity;       /* NULL: no pre-shared key; they outlive the session */
    size_t psk_len, psk_identity_len;
    const uint8_t *trusted, *certificate, *key; /* DER; NULL: none */
    size_t trusted_len, certificate_len, key_len;
    int cookie;                    /* server: HelloVerifyRequest */
    uint16_t mtu;                  /* UDP payload octets; at least SLOWHAND_OPENSSL_MINIMUM_MTU */
    uint8_t mfl;                   /* code of RFC 6066 section 4; 0: not negotiated */
    uint32_t timeout_first_us, timeout_max_us;
};

/* NULL when a step failed; then *error is the library's error code. */
slowhand_openssl *slowhand_openssl_new(const struct slowhand_openssl_options *options, unsigned long *error);
void slowhand_openssl_free(slowhand_openssl *session);

enum { SLOWHAND_OPENSSL_FAILED = -1, SLOWHAND_OPENSSL_HANDSHAKING, SLOWHAND_OPENSSL_COMPLETE };

/* Go on as far as possible with the datagram or the bytes given (length 0: none) and the clock. */
int slowhand_openssl_drive(slowhand_openssl *session, const uint8_t *input, size_t length);

/* The error code with which it failed. */
unsigned long slowhand_openssl_error(const slowhand_openssl *session);
/* Nanoseconds since the world began, as of the last drive; UINT64_MAX: no timer runs. */
uint64_t slowhand_openssl_deadline_ns(const slowhand_openssl *session);
/* IANA number of the negotiated suite, 0 before. */
uint16_t slowhand_openssl_suite(const slowhand_openssl *session);

/* The fields of an error code: 1000 + description for a fatal alert that was received. */
int slowhand_openssl_error_reason(unsigned long error);
void slowhand_openssl_error_text(unsigned long error, char *text, size_t size);

/* To be called once in the process before any other function. */
void slowhand_openssl_initialise(void);
const char *slowhand_openssl_version(void);

#endif
