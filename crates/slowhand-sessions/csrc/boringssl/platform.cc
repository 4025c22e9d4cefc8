/* The platform of BoringSSL: random numbers, the time, locks, and what it keeps for a thread. These take the place of its
 * own files (`left_out` in sources.json), which ask the system.
 *
 * State that the library keeps for a thread belongs to a session here. So sessions are the same on any number of threads, and a call that
 * begins inside one of another session does not see its errors. */
#include "boringssl/sessions.h"

#include "crypto/bcm_support.h"

#include <pthread.h>
#include <time.h>

namespace slowhand_boringssl {

static thread_local Locals *locals_in_use;
static bssl::thread_local_destructor_t destructors[bssl::NUM_OPENSSL_THREAD_LOCALS];

Locals *use(Locals *locals)
{
    Locals *before = locals_in_use;
    locals_in_use = locals;
    return before;
}

void clear(Locals *locals)
{
    for (unsigned index = 0; index < bssl::NUM_OPENSSL_THREAD_LOCALS; index++) {
        void *value = locals->values[index];
        locals->values[index] = nullptr;
        if (value != nullptr)
            __atomic_load_n(&destructors[index], __ATOMIC_ACQUIRE)(value);
    }
}

} // namespace slowhand_boringssl

/* The library is compiled with `time` renamed to this (sources.json). */
extern "C" time_t slowhand_boringssl_time(time_t *out)
{
    time_t now = static_cast<time_t>(slowhand_host->unix_time_ms() / 1000);
    if (out != nullptr)
        *out = now;
    return now;
}

using slowhand_boringssl::destructors;
using slowhand_boringssl::locals_in_use;

BSSL_NAMESPACE_BEGIN

void CRYPTO_init_sysrand() {}

/* The seed of a session's generator, which is AES in mode CTR (NIST SP 800-90A). */
void CRYPTO_sysrand(uint8_t *output, size_t length)
{
    slowhand_host->random(output, length);
}

/* Not 0: the process will not be copied while sessions run. */
uint64_t CRYPTO_get_fork_generation()
{
    return 1;
}

void *CRYPTO_get_thread_local(thread_local_data_t index)
{
    return locals_in_use == nullptr ? nullptr : locals_in_use->values[index];
}

int CRYPTO_set_thread_local(thread_local_data_t index, void *value, thread_local_destructor_t destructor)
{
    if (locals_in_use == nullptr) {
        destructor(value);
        return 0;
    }
    /* Always the same one for an index. */
    __atomic_store_n(&destructors[index], destructor, __ATOMIC_RELEASE);
    locals_in_use->values[index] = value;
    return 1;
}

void CRYPTO_once(CRYPTO_once_t *once, void (*init)())
{
    BSSL_CHECK(pthread_once(once, init) == 0);
}

void StaticMutex::LockRead()
{
    BSSL_CHECK(pthread_rwlock_rdlock(&lock_) == 0);
}

void StaticMutex::UnlockRead()
{
    BSSL_CHECK(pthread_rwlock_unlock(&lock_) == 0);
}

void StaticMutex::LockWrite()
{
    BSSL_CHECK(pthread_rwlock_wrlock(&lock_) == 0);
}

void StaticMutex::UnlockWrite()
{
    BSSL_CHECK(pthread_rwlock_unlock(&lock_) == 0);
}

Mutex::~Mutex()
{
    pthread_rwlock_destroy(&lock_);
}

BSSL_NAMESPACE_END
