/* The guard that `slowhand stacks add` links with a stack of the user. The linker leads the calls of these functions here (--wrap):
 * memory is counted, and a function of the list below, which would make results depend on the computer, ends the session with a
 * message. A function that is not in the list is called as it is. */
#include "slowhand/stack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Memory. There is no host yet while the object is loaded: then the library of C++ allocates, and constructors of global objects.
 * The host can also release what the system has allocated. */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
int __real_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    return slowhand_host == NULL ? __real_malloc(size) : slowhand_host->allocate(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return slowhand_host == NULL ? __real_calloc(count, size) : slowhand_host->allocate_zeros(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return slowhand_host == NULL ? __real_realloc(block, size) : slowhand_host->reallocate(block, size);
}

void __wrap_free(void *block)
{
    if (slowhand_host == NULL)
        __real_free(block);
    else
        slowhand_host->release(block);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

char *__wrap_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = __wrap_calloc(1, length + 1);
    return copy == NULL ? NULL : memcpy(copy, text, length);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = length < 0 ? NULL : __wrap_malloc((size_t) length + 1);
    return *text == NULL ? -1 : vsnprintf(*text, (size_t) length + 1, format, arguments);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (slowhand_host == NULL)
        return __real_posix_memalign(block, alignment, size);
    return slowhand_host->allocate_aligned(block, alignment, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    /* The other function takes no alignment below that of a pointer. */
    size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    int status = __wrap_posix_memalign(&block, least, size);
    if (status != 0)
        errno = status;
    return block;
}

/* Functions that a stack may not call. Each returns a value for failure, and only this thread sees the error. The arguments do not
 * matter, so the functions have none. While the object is loaded, nobody needs to know: the result is the same on each computer. */
#define REFUSED(function, type, result)                                                                                          \
    type __wrap_##function(void)                                                                                                 \
    {                                                                                                                            \
        if (slowhand_host != NULL)                                                                                               \
            slowhand_host->violation(#function);                                                                                 \
        errno = EPERM;                                                                                                           \
        return result;                                                                                                           \
    }

/* Functions that would end the program as if all were well. They may not return, so it ends with a signal, also while the object is
 * loaded. slowhand says which stack it was (src/crash.rs). */
#define ENDS(function)                                                                                                           \
    _Noreturn void __wrap_##function(void)                                                                                       \
    {                                                                                                                            \
        static const char WORDS[] = "\nslowhand: a stack has called " #function ", which would end the program\n";              \
        if (write(STDERR_FILENO, WORDS, sizeof WORDS - 1) < 0)                                                                   \
            errno = EPERM;                                                                                                       \
        abort();                                                                                                                 \
    }

/* The host of a stack in Rust, which uses this one. SLOWHAND_STACK defines the one of a stack in C. */
__attribute__((weak)) const struct slowhand_host *slowhand_host;

/* Clocks */
static _Thread_local int opened;

/* slowhand-stack opens the clock for a library in Rust that reads it where it does not matter, and closes it again with -1. */
void slowhand_guard_clock(int more) { opened += more; }

/* Shows the device's time if the clock is open. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (slowhand_host == NULL || opened == 0) {
        if (slowhand_host != NULL)
            slowhand_host->violation("clock_gettime");
        errno = EPERM;
        return -1;
    }
    uint64_t calendar = slowhand_host->unix_time_ms();
    uint64_t ns = slowhand_host->now_ns();
    if (clock == CLOCK_REALTIME)
        *now = (struct timespec) {(time_t) (calendar / 1000), (long) (calendar % 1000 * 1000000)};
    else
        *now = (struct timespec) {(time_t) (ns / 1000000000), (long) (ns % 1000000000)};
    return 0;
}

REFUSED(clock_getres, int, -1)
REFUSED(time, long, -1)
REFUSED(clock, long, -1)
REFUSED(gettimeofday, int, -1)
REFUSED(timespec_get, int, 0)
REFUSED(times, long, -1)
REFUSED(localtime, void *, NULL)
REFUSED(localtime_r, void *, NULL)
REFUSED(mktime, long, -1)
/* Randomness */
REFUSED(rand, int, 0)
REFUSED(random, long, 0)
REFUSED(drand48, double, 0)
REFUSED(erand48, double, 0)
REFUSED(lrand48, long, 0)
REFUSED(nrand48, long, 0)
REFUSED(mrand48, long, 0)
REFUSED(jrand48, long, 0)
REFUSED(arc4random, unsigned, 0)
REFUSED(arc4random_uniform, unsigned, 0)
REFUSED(arc4random_buf, int, 0)
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
REFUSED(vfork, int, -1)
REFUSED(execl, int, -1)
REFUSED(execle, int, -1)
REFUSED(execlp, int, -1)
REFUSED(execv, int, -1)
REFUSED(execve, int, -1)
REFUSED(execvp, int, -1)
REFUSED(posix_spawn, int, EPERM)
REFUSED(system, int, -1)
REFUSED(popen, void *, NULL)
REFUSED(getpid, int, 0)
REFUSED(getuid, int, 0)
/* Files, sockets and the rest */
REFUSED(open, int, -1)
REFUSED(open64, int, -1)
REFUSED(fopen, void *, NULL)
REFUSED(fopen64, void *, NULL)
REFUSED(openat, int, -1)
REFUSED(opendir, void *, NULL)
REFUSED(readlink, long, -1)
REFUSED(access, int, -1)
REFUSED(stat, int, -1)
REFUSED(stat64, int, -1)
REFUSED(lstat, int, -1)
REFUSED(lstat64, int, -1)
REFUSED(fstat, int, -1)
REFUSED(fstat64, int, -1)
REFUSED(statx, int, -1)
REFUSED(socket, int, -1)
REFUSED(getaddrinfo, int, -1)
REFUSED(getenv, void *, NULL)
REFUSED(secure_getenv, void *, NULL)
REFUSED(sysconf, long, -1)
REFUSED(get_nprocs, int, 1)
REFUSED(uname, int, -1)
REFUSED(gethostname, int, -1)
REFUSED(getrusage, int, -1)
REFUSED(syscall, long, -1)
/* The end of the program */
ENDS(exit)
ENDS(_exit)
ENDS(_Exit)
ENDS(quick_exit)
ENDS(pthread_exit)
ENDS(thrd_exit)
