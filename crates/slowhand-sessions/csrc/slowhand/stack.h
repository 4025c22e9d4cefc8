/* A stack of one's own: a library of DTLS or TLS, or a protocol, as a shared object that slowhand loads. docs/own-stack.md is its
 * page, with an example. The libraries that are built in use the same tables.
 *
 * Times are in nanoseconds, lengths in octets. Lists of numbers end with 0. */
#ifndef SLOWHAND_STACK_H
#define SLOWHAND_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface. slowhand refuses an object with another one. */
#define SLOWHAND_STACK_VERSION 4

/* Services of the device of a session for a stack. A stack calls these functions on the thread of the call that it is in, and only
 * during that call. Pointers that it passes are read or written during the call, and not kept. */
struct slowhand_host {
    uint32_t version; /* SLOWHAND_STACK_VERSION of slowhand */

    /* The device's clock, from the beginning of the world. */
    uint64_t (*now_ns)(void);
    /* The device's calendar, in milliseconds from 1970. */
    uint64_t (*unix_time_ms)(void);
    /* Fills the buffer with random octets of the device. */
    void (*random)(uint8_t *output, size_t length);
    /* Sends one datagram, or writes these octets to the stream, at the time of the device's clock. At least one octet. */
    void (*transmit)(const uint8_t *octets, size_t length);
    /* Delivers application data to the user of the session. At least one octet. */
    void (*deliver)(const uint8_t *octets, size_t length);
    /* Adds a secret of the session to the key log, with its label there (SSLKEYLOGFILE). */
    void (*key_log)(const char *label, const uint8_t client_random[32], const uint8_t *secret, size_t length);
    /* Reports that the stack has just verified the peer's Finished: the end of the handshake. */
    void (*verified)(void);

    /* These report an operation that the stack has just performed. Each advances the device's clock by the time that the device
     * takes for it. Hash functions count compressions of a block. A curve is a TLS NamedGroup (RFC 8422 section 5.1.1):
     * 19 secp192r1, 23 secp256r1. Others are not counted. */
    void (*sha1)(uint32_t blocks);
    void (*sha256)(uint32_t blocks);
    void (*sha512)(uint32_t blocks);
    /* AES in mode CCM or GCM: the length of the tag, of the content and of the additional data. */
    void (*seal)(int is_gcm, uint32_t key_bits, uint32_t tag, uint32_t octets, uint32_t additional);
    void (*open)(int is_gcm, uint32_t key_bits, uint32_t tag, uint32_t octets, uint32_t additional);
    /* AES in mode CBC. */
    void (*cbc)(int is_encryption, uint32_t key_bits, uint32_t octets);
    void (*ecdh_generate)(uint16_t curve);
    void (*ecdh_agree)(uint16_t curve);
    void (*ecdsa_sign)(uint16_t curve);
    void (*ecdsa_verify)(uint16_t curve);
    /* The length of the key in bits. */
    void (*rsa_sign)(uint16_t bits);
    void (*rsa_verify)(uint16_t bits);
    void (*rsa_encrypt)(uint16_t bits);
    void (*rsa_decrypt)(uint16_t bits);

    /* Fast arithmetic of secp256r1, which a stack may use. It takes no time of the device. Numbers are big-endian and have 32
     * octets; a point is x, then y. `out` may be an input. Each function returns 0 if the stack has to compute with its own code:
     * the session asks for that, this processor has no fast arithmetic, or there is no result. */
    /* point * scalar, or generator * scalar if the point is NULL. */
    int (*p256_multiply)(uint8_t out[64], const uint8_t scalar[32], const uint8_t *point);
    /* generator * of_generator + point * of_point */
    int (*p256_multiply_add)(uint8_t out[64], const uint8_t of_generator[32], const uint8_t of_point[32],
                             const uint8_t point[64]);
    /* 1 / number, modulo the order of the group. */
    int (*p256_invert)(uint8_t out[32], const uint8_t number[32]);
    /* A signature with this nonce: r, then s. */
    int (*p256_sign)(uint8_t out[64], const uint8_t private_key[32], const uint8_t nonce[32], const uint8_t hash[32]);
    /* True if this signature, r and then s, is valid. If not, the stack has to verify it. */
    int (*p256_is_valid)(const uint8_t point[64], const uint8_t hash[32], const uint8_t signature[64]);
    /* True if this signature (DER) of a hash is known to be valid: it was made or verified before. */
    int (*p256_is_signed)(const uint8_t point[64], const uint8_t *hash, size_t hash_length, const uint8_t *signature,
                          size_t length);
    /* From now on, this signature is known to be valid. */
    void (*p256_signed)(const uint8_t point[64], const uint8_t *hash, size_t hash_length, const uint8_t *signature,
                        size_t length);
    /* Fast powers and inverses for RSA, in the same way. base ^ exponent, modulo an odd number of `length` octets, at most
     * SLOWHAND_LONGEST, which is the length of the result too. */
    int (*power)(uint8_t *out, const uint8_t *base, size_t base_length, const uint8_t *exponent, size_t exponent_length,
                 const uint8_t *modulus, size_t length);
    /* 1 / number, modulo an odd number. The lengths are all `length`. */
    int (*inverse)(uint8_t *out, const uint8_t *number, const uint8_t *modulus, size_t length);

    /* malloc and its relatives: what a stack allocates with them is counted for the end that it runs at. `slowhand stacks add`
     * leads the calls of a stack here. */
    void *(*allocate)(size_t size);
    void *(*allocate_zeros)(size_t count, size_t size);
    int (*allocate_aligned)(void **block, size_t alignment, size_t size); /* posix_memalign */
    void *(*reallocate)(void *block, size_t size);
    void (*release)(void *block);
    /* The stack has called a function of the system that would make results depend on the computer. Ends the session.
     * `slowhand stacks add` leads such calls here. */
    void (*violation)(const char *function);
    /* The session has failed in a call that returns no progress, and this is why: in `destroy`, `max_data`, `suite`,
     * `connection_id`, `resumable` or `version`. */
    void (*failed)(const char *words);
};

#define SLOWHAND_LONGEST 512 /* octets: of RSA-4096 */

/* The way in which a session resumes an earlier one. */
enum slowhand_resumption {
    SLOWHAND_RESUMPTION_NONE,
    SLOWHAND_RESUMPTION_ID,     /* the server keeps the session (RFC 5246 section 7.4.1.2) */
    SLOWHAND_RESUMPTION_TICKET, /* the client keeps it (RFC 5077; TLS 1.3: RFC 8446 section 4.6.1) */
};

/* The options of a session. slowhand has checked them against the capabilities of the stack. The pointers are valid during `create`;
 * psk, psk_identity, password and the raw keys are valid as long as the session. */
struct slowhand_options {
    int is_server;
    int is_stream;                                    /* TLS over octets, not DTLS over datagrams */
    uint16_t version;                                 /* ProtocolVersion as in TLS: 0x0303 1.2, 0x0304 1.3 */
    uint16_t suite;                                   /* IANA cipher suite */
    uint16_t other_suite;                             /* of the other version, which this end speaks too; 0: one version only */
    uint16_t group;                                   /* TLS NamedGroup; 0: no key agreement. 1.3 with a pre-shared key: psk_ke */
    uint16_t signature;                               /* TLS SignatureScheme; 0: no signatures */
    const char *suite_name;                           /* the IANA name */
    int request_client_certificate;
    const uint8_t *psk, *psk_identity;                /* NULL: no pre-shared key */
    size_t psk_len, psk_identity_len;
    const uint8_t *password;                          /* of EC-JPAKE; NULL: none */
    size_t password_len;
    const uint8_t *trusted, *certificate, *key;       /* DER; NULL: none */
    size_t trusted_len, certificate_len, key_len;
    int takes_any_chain;                              /* a client verifies no chain: its border router does */
    const uint8_t *private_key, *public_x, *public_y; /* this end's raw key; NULL: none */
    const uint8_t *peer_x, *peer_y;                   /* the peer's raw key; NULL: none */
    int cookie;                                       /* a server sends a HelloVerifyRequest */
    uint16_t mtu;                                     /* UDP payload octets; 0: no limit */
    uint8_t max_fragment_length;                      /* code of RFC 6066 section 4; 0: not negotiated */
    uint16_t record_size_limit;                       /* of records to this end (RFC 8449), in octets of content; 0: not told */
    uint64_t first_timeout_ns, maximum_timeout_ns;    /* of the retransmission timer, which doubles */
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
    SLOWHAND_FAILED,         /* code: the stack's own error */
};

#define SLOWHAND_NO_TIMER UINT64_MAX
#define SLOWHAND_NO_DATAGRAMS SIZE_MAX

/* The result of a call. Before each call it is SLOWHAND_HANDSHAKING, without a timer. */
struct slowhand_progress {
    int state; /* enum slowhand_state */
    int code;
    uint64_t deadline_ns; /* when to call `handle_timeout`, on the device's clock; SLOWHAND_NO_TIMER: no timer runs */
    char words[256];      /* of a session that has failed: why, ended with a zero. The same failure has the same words */
};

/* The functions for one session: one end of it. Calls of one session come one after the other, but not always on the same thread;
 * other sessions may run on other threads meanwhile. */
struct slowhand_library {
    /* Makes a session. NULL if a step failed; then `progress` has the error. This is the boot of the device: what it sends is
     * sent, and its operations take no time. */
    void *(*create)(const struct slowhand_options *options, struct slowhand_progress *progress);
    void (*destroy)(void *session);
    /* Each of these continues the session as far as possible, and says in `progress` how it is. `start` is for clients. */
    void (*start)(void *session, struct slowhand_progress *progress);
    /* One datagram, or octets of the stream; at least one octet. */
    void (*handle_input)(void *session, const uint8_t *input, size_t length, struct slowhand_progress *progress);
    /* The deadline has come. */
    void (*handle_timeout)(void *session, struct slowhand_progress *progress);
    /* Sends all of the application data, at most `max_data` octets, in an established session. */
    void (*write)(void *session, const uint8_t *data, size_t length, struct slowhand_progress *progress);
    /* Sends a close_notify. */
    void (*close)(void *session, struct slowhand_progress *progress);
    /* `max_data`, `suite`, `connection_id` and `version` only answer. They have no device: what they do with the host has no
     * effect, and its clock shows 0. */
    /* The most octets of application data in one datagram, or SLOWHAND_NO_DATAGRAMS. */
    size_t (*max_data)(const void *session);
    /* The IANA number of the suite of an established session. */
    uint16_t (*suite)(const void *session);
    /* The length of the connection ID in the records that this end sends; -1 if none was negotiated. */
    int (*connection_id)(const void *session);
    /* The state that this end keeps to resume its session later. A client keeps the session; a server keeps the session or the key of
     * its tickets. Returns the length, or 0 if there is nothing. Writes it to `output` if it fits. */
    size_t (*resumable)(void *session, uint8_t *output, size_t size);
    /* The version of the library, as text. */
    const char *(*version)(void);
};

enum slowhand_protocol_name {
    SLOWHAND_NO_PROTOCOL, /* ends the list */
    SLOWHAND_DTLS12,
    SLOWHAND_DTLS13,
    SLOWHAND_TLS12,
    SLOWHAND_TLS13,
};

/* The capabilities of a stack in one version of DTLS or TLS. */
struct slowhand_protocol {
    int protocol;                     /* enum slowhand_protocol_name */
    uint32_t resumptions;             /* 1 << each of enum slowhand_resumption that it has */
    const uint16_t *curves;           /* TLS NamedGroups for key exchange and ECDSA; NULL: none */
    const uint16_t *fragment_lengths; /* the maximum fragment lengths that it can negotiate, in octets; NULL: none */
};

enum slowhand_credential_name {
    SLOWHAND_NO_CREDENTIAL, /* ends the list */
    SLOWHAND_PSK,
    SLOWHAND_ECJPAKE,
    SLOWHAND_RAW_PUBLIC_KEY,
    SLOWHAND_CERTIFICATE,
};

/* The way in which an end can prove its identity. */
struct slowhand_credential {
    int credential;       /* enum slowhand_credential_name */
    uint16_t minimum_mtu; /* the smallest `mtu` of a session with it; no effect without DTLS */
};

/* The use of a pre-shared key in version 1.3 (RFC 8446 section 4.2.9). */
enum slowhand_psk_mode {
    SLOWHAND_PSK_KE,     /* alone */
    SLOWHAND_PSK_DHE_KE, /* with key agreement */
};

/* The capabilities of a stack. slowhand refuses scenarios that ask for more, and names the key of the scenario. */
struct slowhand_capabilities {
    const char *licence;                           /* an SPDX expression */
    const struct slowhand_protocol *protocols;     /* oldest first; ended by SLOWHAND_NO_PROTOCOL */
    const struct slowhand_credential *credentials; /* the default first; ended by SLOWHAND_NO_CREDENTIAL */
    const uint16_t *suites;                        /* IANA numbers, in its order of preference */
    const uint16_t *rsa_bits;                      /* lengths of RSA keys; NULL: no RSA */
    const char *minimum_mtu_reason;                /* why a smaller `mtu` is not possible; NULL: not known */
    int fragments;                                 /* it cuts handshake messages to fit into smaller datagrams */
    int without_cookie;                            /* a server of DTLS can omit the cookie exchange */
    int cookieless;                                /* it has no cookie exchange: a server omits it always */
    int identity_with_nul;                         /* the identity of a pre-shared key may have the octet 0 */
    int connection_id;                             /* octets of the longest connection ID; -1: it has none */
    size_t longest_psk;                            /* octets; 0: it has no pre-shared keys */
    uint32_t psk_modes;                            /* 1 << each of enum slowhand_psk_mode that it has; 0: no such key in 1.3 */
    int imports_psk;                               /* it imports each pre-shared key of 1.3 (RFC 9258), without a context */
    int record_size_limit;                         /* it can tell the peer how long records may be (RFC 8449) */
    int takes_any_chain;                           /* a client can leave the verification of chains out */
    /* A server of DTLS 1.2 takes data as a sign that its last flight has arrived, and cannot send it again then. It is also 0 where
     * nobody has tried it. */
    int forgets_flight_on_data;
    /* The retransmission timer of DTLS: its default, the default of its maximum, and what a scenario may choose. A timer without
     * a maximum doubles up to `maximum_times_first` times the first timeout, and a scenario cannot choose otherwise. */
    uint64_t first_timeout_ns, maximum_timeout_ns, least_timeout_ns, most_timeout_ns;
    uint32_t maximum_times_first;                  /* 0: `maximum_timeout_ns` counts */
    const char *remark;                            /* other behaviour that a user has to know; NULL: none */
};

/* The exports of the object, under the name `slowhand_stack`. */
struct slowhand_stack {
    uint32_t version;                        /* SLOWHAND_STACK_VERSION */
    const struct slowhand_host **host;       /* slowhand writes the table of the host there, before the first call */
    const struct slowhand_capabilities *capabilities;
    const struct slowhand_library *library;
};

/* The host, for all files of a stack. */
extern const struct slowhand_host *slowhand_host __attribute__((visibility("hidden")));

/* Exports the stack: once in each stack. */
#define SLOWHAND_STACK(capabilities_of, library_of)                                                                              \
    const struct slowhand_host *slowhand_host;                                                                                   \
    extern const struct slowhand_stack slowhand_stack __attribute__((visibility("default")));                                    \
    const struct slowhand_stack slowhand_stack = {SLOWHAND_STACK_VERSION, &slowhand_host, &(capabilities_of), &(library_of)}

#ifdef __cplusplus
}
#endif

#endif
