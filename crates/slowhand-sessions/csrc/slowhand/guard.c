/* What `slowhand stacks add` links with a stack of the user. The linker leads the calls of these functions here (--wrap):
 * memory is counted, and what would make results depend on the computer ends the session with a message. */
#include "slowhand/stack.h"

#include <errno.h>
#include <string.h>

/* Memory */

void *__wrap_malloc(size_t size)
{
    return slowhand_host->allocate(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return slowhand_host->allocate_zeros(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return slowhand_host->reallocate(block, size);
}

void __wrap_free(void *block)
{
    slowhand_host->release(block);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = slowhand_host->allocate(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

/* What a stack may not call. Each returns what says that it has failed, and only this thread sees the error. The arguments do not
 * matter, so the functions have none. */
#define REFUSED(function, type, result)                                                                                          \
    type __wrap_##function(void)                                                                                                 \
    {                                                                                                                            \
        slowhand_host->violation(#function);                                                                                     \
        errno = EPERM;                                                                                                           \
        return result;                                                                                                           \
    }

/* Clocks */
REFUSED(time, long, -1)
REFUSED(clock, long, -1)
REFUSED(clock_gettime, int, -1)
REFUSED(gettimeofday, int, -1)
REFUSED(timespec_get, int, 0)
REFUSED(times, long, -1)
/* Randomness */
REFUSED(rand, int, 0)
REFUSED(random, long, 0)
REFUSED(drand48, double, 0)
REFUSED(lrand48, long, 0)
REFUSED(arc4random, unsigned, 0)
REFUSED(getrandom, long, -1)
REFUSED(getentropy, int, -1)
/* Waiting */
REFUSED(sleep, unsigned, 0)
REFUSED(usleep, int, -1)
REFUSED(nanosleep, int, -1)
REFUSED(clock_nanosleep, int, EPERM)
REFUSED(poll, int, -1)
REFUSED(select, int, -1)
/* Threads and processes */
REFUSED(pthread_create, int, EPERM)
REFUSED(thrd_create, int, 1)
REFUSED(fork, int, -1)
REFUSED(getpid, int, 0)
/* Files, sockets and the rest */
REFUSED(open, int, -1)
REFUSED(open64, int, -1)
REFUSED(fopen, void *, NULL)
REFUSED(fopen64, void *, NULL)
REFUSED(socket, int, -1)
REFUSED(syscall, long, -1)
