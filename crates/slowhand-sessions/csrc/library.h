/* The common part of the adapters to libraries in C. */
#ifndef SLOWHAND_LIBRARY_H
#define SLOWHAND_LIBRARY_H

#include "slowhand/stack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Octets that a session keeps on the heap, so that a later session can resume it. */
struct slowhand_kept {
    uint8_t *octets; /* NULL: none */
    size_t length;
};

/* Keeps these in the place of others. Returns 1, or 0 if there is no memory. Each adapter compiles it, because the memory of each is
 * counted. */
static inline int slowhand_keep(struct slowhand_kept *kept, const uint8_t *octets, size_t length)
{
    uint8_t *copy = (uint8_t *) malloc(length);
    if (copy == NULL)
        return 0;
    memcpy(copy, octets, length);
    free(kept->octets);
    kept->octets = copy;
    kept->length = length;
    return 1;
}

/* For `resumable`: writes octets if they fit. Returns their length, or 0 if there are none. */
size_t slowhand_copy_out(const void *octets, size_t length, uint8_t *output, size_t size);
/* Adds the master secret of a session of version 1.2 to the key log. */
static inline void slowhand_master_secret(const uint8_t client_random[32], const uint8_t *secret, size_t length)
{
    slowhand_host->key_log("CLIENT_RANDOM", client_random, secret, length);
}
/* Adds to the words of a failure, like printf(). */
__attribute__((format(printf, 2, 3))) void slowhand_describe(struct slowhand_progress *progress, const char *format, ...);
/* The name of an alert in its RFC. */
const char *slowhand_alert_name(int description);
/* For the callbacks for a pre-shared key of libraries that take C strings: the identity and the key of a client, and the key for an
 * identity. They return the length of the key, or 0 if there is none or no room for it. */
unsigned slowhand_client_psk(const struct slowhand_options *options, char *identity, unsigned identity_size, unsigned char *psk,
                             unsigned psk_size);
unsigned slowhand_server_psk(const struct slowhand_options *options, const char *identity, unsigned char *psk, unsigned psk_size);
/* `resumable` for a library without resumption, and `connection_id` for one without connection IDs. */
size_t slowhand_not_resumable(void *session, uint8_t *output, size_t size);
int slowhand_no_connection_id(const void *session);

/* Defines the table of a library. Those of its functions that are not named here have the same names in every adapter. */
#define SLOWHAND_LIBRARY(library_of, start_of, handle_timeout_of, connection_id_of, resumable_of)                                \
    extern const struct slowhand_library library_of;                                                                             \
    const struct slowhand_library library_of = {                                                                                 \
        .create = create,                                                                                                        \
        .destroy = destroy,                                                                                                      \
        .start = start_of,                                                                                                       \
        .handle_input = handle_input,                                                                                            \
        .handle_timeout = handle_timeout_of,                                                                                     \
        .write = write_data,                                                                                                     \
        .close = close_session,                                                                                                  \
        .max_data = max_data,                                                                                                    \
        .suite = suite,                                                                                                          \
        .connection_id = connection_id_of,                                                                                       \
        .resumable = resumable_of,                                                                                               \
        .version = version,                                                                                                      \
    }

#ifdef __cplusplus
}
#endif

#endif
