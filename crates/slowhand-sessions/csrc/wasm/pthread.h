/* The part of POSIX threads that the libraries call, where there is one thread: WebAssembly. The names of the types are others than
 * those that a C library may have already. */
#ifndef SLOWHAND_WASM_PTHREAD_H
#define SLOWHAND_WASM_PTHREAD_H

#include <sys/types.h> /* has types of these names, if any header has */

typedef int slowhand_once_t;
typedef int slowhand_mutex_t;
#define pthread_once_t slowhand_once_t
#define pthread_mutex_t slowhand_mutex_t
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_once(pthread_once_t *once, void (*act)(void))
{
    if (!*once) {
        *once = 1;
        act();
    }
    return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    (void) mutex;
    (void) attributes;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void) mutex;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void) mutex;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void) mutex;
    return 0;
}

#endif
