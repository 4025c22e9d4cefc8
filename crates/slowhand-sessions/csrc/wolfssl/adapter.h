/* The declarations that the files of this adapter share. */
#ifndef SLOWHAND_WOLFSSL_ADAPTER_H
#define SLOWHAND_WOLFSSL_ADAPTER_H

#include "library.h"

#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/internal.h>
#include <wolfssl/ssl.h>

struct session {
    struct slowhand_options options; /* what its pointers name, but for the pre-shared key, is gone after `create` */
    WOLFSSL_CTX *context;
    WOLFSSL *ssl;
    struct slowhand_input input;
    int state; /* enum slowhand_state */
    int code;
    int is_verified;              /* the peer's Finished */
    uint64_t flight_ns;           /* when the last datagram of a flight was sent in this call; SLOWHAND_NO_TIMER: none was */
    int64_t repeated_ms;          /* when the library had last repeated a flight of version 1.3, before this call */
    uint64_t repeat_ns, quick_ns; /* when the flight is due again, and when an acknowledgement is due */
    struct slowhand_kept cached;  /* a server's session that can be resumed by its ID, as i2d writes it */
    struct session *outer;        /* the session that was running on this thread before this one */
};

static inline int has_both(const struct session *session)
{
    return session->options.other_suite != 0;
}

/* True if this end may negotiate version 1.3. */
static inline int has_13(const struct session *session)
{
    return has_both(session) || session->options.version == TLS1_3_VERSION;
}

/* The library's name of a suite; NULL: it has none. */
static inline const char *name_of(uint16_t suite)
{
    return wolfSSL_get_cipher_name_from_suite((unsigned char) (suite >> 8), (unsigned char) suite);
}

/* Sets the keys and certificates of the context. Returns 1, or 0 if the library refuses them. */
int slowhand_wolfssl_use_credentials(struct session *session);

/* The library has no callback for the end of the handshake at this very moment. So the session that runs on this thread looks at
 * its state before each operation that is counted and each datagram, and reports that the peer's Finished has been verified. No
 * time passes in between, because only these advance the device's clock. */
void slowhand_wolfssl_notice(void);

#endif
