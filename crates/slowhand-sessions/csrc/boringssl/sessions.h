/* The declarations that the files of the adapter to BoringSSL share. */
#ifndef SLOWHAND_BORINGSSL_SESSIONS_H
#define SLOWHAND_BORINGSSL_SESSIONS_H

#include "slowhand/stack.h"

#include "crypto/internal.h"

namespace slowhand_boringssl {

/* The state that the library keeps for a thread (platform.cc): its queue of errors and its generator of random numbers. */
struct Locals {
    void *values[bssl::NUM_OPENSSL_THREAD_LOCALS];
};

/* Makes `locals` those of this thread. Returns the ones before. NULL: the library has none, and does without. */
Locals *use(Locals *locals);
/* Frees what is in them. */
void clear(Locals *locals);

/* Let the library count its operations and use the host's arithmetic. Once, before the first session. */
void count_hashes();
void use_fast_arithmetic();

} // namespace slowhand_boringssl

#endif
