/* Programs that do what programs should not, one for each name. None may hang or crash who runs them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *sleeps(void *a) { sleep(1000); return a; }
static char *self;
static void *executes(void *a) { sleep(1); execl(self, self, "says", (char *)0); return a; }
static void handler(int s) { (void)s; }
static volatile int flag;
static void *sets(void *a) { sleep(1); flag = 1; return a; }

int main(int argc, char **argv) {
    (void)argc;
    self = argv[0];
    const char *what = argv[1];
    struct sockaddr_in6 far = {.sin6_family = AF_INET6, .sin6_port = htons(5684)};
    inet_pton(AF_INET6, "2001:db8:1::1", &far.sin6_addr);
    if (!strcmp(what, "spin")) { volatile unsigned n = 0; while (1) n++; }
    if (!strcmp(what, "spin_for_thread")) { pthread_t t; pthread_create(&t, 0, sets, 0); while (!flag) ; puts("set"); }
    if (!strcmp(what, "yield_for_thread")) { pthread_t t; pthread_create(&t, 0, sets, 0); while (!flag) sched_yield(); puts("set"); }
    if (!strcmp(what, "forks")) { while (1) fork(); }
    if (!strcmp(what, "threads")) { pthread_t t; while (!pthread_create(&t, 0, sleeps, 0)) ; puts("no more"); }
    if (!strcmp(what, "closes")) { for (int n = 0; n < 1024; n++) close(n); sleep(2); return 3; }
    if (!strcmp(what, "writes")) { char b[65536]; memset(b, 'x', sizeof b); while (write(1, b, sizeof b) > 0) ; return 4; }
    if (!strcmp(what, "sleeps")) { while (1) sleep(10); }
    if (!strcmp(what, "ticks")) { signal(SIGALRM, handler); struct itimerval i = {{0, 1}, {0, 1}}; setitimer(ITIMER_REAL, &i, 0); while (1) pause(); }
    if (!strcmp(what, "semop")) { int s = semget(IPC_PRIVATE, 1, 0600); struct sembuf o = {0, -1, 0}; alarm(5); signal(SIGALRM, handler); semop(s, &o, 1); semctl(s, 0, IPC_RMID); return 5; }
    if (!strcmp(what, "message")) {
        /* The child waits, and goes on before its parent does. */
        int q = msgget(IPC_PRIVATE, 0600);
        struct { long kind; char text[8]; } m = {1, "hi"};
        if (!fork()) _exit(msgrcv(q, &m, 8, 0, 0));
        for (int n = 0; n < 5; n++) sched_yield();
        msgsnd(q, &m, 3, 0);
        int status = 0;
        wait(&status);
        msgctl(q, IPC_RMID, 0);
        return WEXITSTATUS(status);
    }
    if (!strcmp(what, "kills_all")) { for (int n = 0; n < 5; n++) if (!fork()) { pause(); } sleep(1); kill(-1, SIGKILL); puts("alive"); }
    if (!strcmp(what, "stops")) { raise(SIGSTOP); kill(getpid(), SIGTSTP); puts("goes on"); }
    if (!strcmp(what, "aborts")) { sleep(1); abort(); }
    if (!strcmp(what, "segfault")) { sleep(1); *(volatile int *)8 = 1; }
    if (!strcmp(what, "thread_executes")) { pthread_t t; pthread_create(&t, 0, executes, 0); pthread_create(&t, 0, sleeps, 0); pause(); }
    if (!strcmp(what, "says")) { sleep(1); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); printf("at %ld\n", (long)t.tv_sec - 1000); return 7; }
    if (!strcmp(what, "daemon")) { daemon(1, 1); sleep(3); puts("daemon"); return 0; }
    if (!strcmp(what, "ends_with_thread")) { pthread_t t; pthread_create(&t, 0, sleeps, 0); sleep(1); return 6; }
    if (!strcmp(what, "untraced")) {
        /* It would have no virtual time, and nobody would count it. */
        long start = time(0), child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
        if (!child) { sleep(5); _exit(time(0) - start); }
        int status = 0;
        waitpid(child, &status, 0);
        unsigned long long a[8] = {CLONE_UNTRACED, 0, 0, 0, SIGCHLD}; /* struct clone_args: the signal is its fifth */
        start = time(0);
        child = syscall(SYS_clone3, a, sizeof a);
        if (!child) { sleep(5); _exit(time(0) - start); }
        int second = 0;
        waitpid(child, &second, 0);
        printf("%d %d\n", WEXITSTATUS(status), WEXITSTATUS(second));
    }
    if (!strcmp(what, "sets_clock")) {
        struct timex t = {0};
        int state = adjtimex(&t);
        printf("%d %d\n", state, (int)(t.time.tv_sec - time(0)));
        struct timeval v = {1, 0};
        struct timespec s = {1, 0};
        printf("%d", settimeofday(&v, 0) ? errno : 0);
        printf(" %d", clock_settime(CLOCK_REALTIME, &s) ? errno : 0);
        t.modes = ADJ_OFFSET;
        printf(" %d\n", adjtimex(&t) < 0 ? errno : 0);
    }
    if (!strcmp(what, "bad_signal")) {
        struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 200};
        timer_t t;
        printf("%d\n", timer_create(CLOCK_MONOTONIC, &e, &t) ? errno : 0);
    }
    if (!strcmp(what, "closed_timers")) {
        struct itimerspec i = {{1, 0}, {1, 0}};
        for (int n = 0; n < 200; n++) { int f = timerfd_create(CLOCK_MONOTONIC, 0); timerfd_settime(f, 0, &i, 0); close(f); }
        fd_set none; FD_ZERO(&none);
        select(0, &none, 0, 0, 0);
    }
    if (!strcmp(what, "bursts")) {
        int s = socket(AF_INET6, SOCK_DGRAM, 0), sent = 0;
        for (int n = 0; n < 900; n++) sent += sendto(s, "x", 1, 0, (struct sockaddr *)&far, sizeof far) == 1;
        printf("%d\n", sent);
    }
    if (!strcmp(what, "traces")) { printf("%ld\n", ptrace(PTRACE_TRACEME, 0, 0, 0)); }
    if (!strcmp(what, "urandom")) {
        int f = open("/dev/urandom", O_RDONLY);
        unsigned char b[8];
        for (int n = 0; n < 3; n++) { read(f, b, 8); for (int k = 0; k < 8; k++) printf("%02x", b[k]); puts(""); }
        syscall(SYS_getrandom, b, 8, 0);
        for (int k = 0; k < 8; k++) printf("%02x", b[k]);
        printf("\n%d %p %p\n", getpid(), (void *)b, malloc(10));
    }
    return 0;
}
