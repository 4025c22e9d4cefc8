/* One system call after the other: how long it takes by the program's own clock. Prints a line for each case. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static struct timespec after(int clock, long long nanos) {
    struct timespec t;
    clock_gettime(clock, &t);
    nanos += t.tv_sec * 1000000000ll + t.tv_nsec;
    return (struct timespec){nanos / 1000000000, nanos % 1000000000};
}

static long long began;
static void begin(void) { began = now(); }
static void end(const char *name, long result) {
    printf("%s %lld %ld\n", name, now() - began, result);
    fflush(stdout);
}
static long failed(long result) { return result < 0 ? -errno : result; }

static volatile sig_atomic_t caught;
static void catch(int signal) { caught = signal; }
static void handle(int signal, int flags) {
    struct sigaction action = {.sa_handler = catch, .sa_flags = flags};
    sigaction(signal, &action, 0);
    caught = 0;
}

static int silent(void) { /* a UDP socket to which nobody sends */
    int s = socket(AF_INET6, SOCK_DGRAM, 0);
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bind(s, (struct sockaddr *)&a, sizeof a);
    return s;
}

static void *sleeper(void *nanos) {
    struct timespec t = {(long)nanos / 1000000000, (long)nanos % 1000000000};
    nanosleep(&t, 0);
    return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;
static void *signaller(void *nanos) {
    sleeper(nanos);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    return 0;
}
static void *writer(void *fd) {
    sleeper((void *)2000000000);
    write((long)fd, "x", 1);
    return 0;
}
static void *reader(void *fd) {
    static char b[1 << 20];
    sleeper((void *)3000000000);
    long n, sum = 0;
    while ((n = read((long)fd, b, sizeof b)) > 0) sum += n;
    return (void *)sum;
}
static void *killer(void *main_thread) {
    sleeper((void *)1500000000);
    pthread_kill((pthread_t)main_thread, SIGUSR1);
    return 0;
}
static volatile int notified;
static void notify(union sigval v) { notified = v.sival_int; }

static void sleeping(void) {
    struct timespec t = {1, 500}, rest = {0, 0};
    begin(); end("nanosleep", failed(nanosleep(&t, 0)));
    t = after(CLOCK_MONOTONIC, 2000000001);
    begin(); end("clock_nanosleep", -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0));
    t = after(CLOCK_REALTIME, 750000000);
    begin(); end("clock_nanosleep_realtime", -clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, 0));
    begin(); end("usleep", usleep(250000));
    begin(); end("sleep", sleep(3));
    t = (struct timespec){0, 1000000000};
    begin(); end("nanosleep_invalid", failed(nanosleep(&t, 0)));
    handle(SIGALRM, 0);
    alarm(2);
    t = (struct timespec){5, 0};
    begin(); end("nanosleep_interrupted", failed(nanosleep(&t, &rest)));
    printf("rest %ld\n", (long)rest.tv_sec * 1000 + rest.tv_nsec / 1000000);
    signal(SIGALRM, SIG_IGN);
    alarm(2);
    begin(); end("nanosleep_ignored", failed(nanosleep(&t, 0)));
}

static void polling(void) {
    int s = silent(), p[2];
    pipe(p);
    struct pollfd f = {s, POLLIN, 0};
    struct timespec t = {1, 250000000};
    sigset_t none;
    sigemptyset(&none);
    begin(); end("poll", poll(&f, 1, 1234));
    begin(); end("poll_now", poll(&f, 1, 0));
    begin(); end("ppoll", ppoll(&f, 1, &t, &none));
    fd_set r;
    FD_ZERO(&r); FD_SET(s, &r); FD_SET(p[0], &r);
    struct timeval v = {2, 500000};
    begin(); end("select", select(p[0] + 1, &r, 0, 0, &v));
    printf("left %ld isset %d\n", (long)v.tv_sec * 1000000 + v.tv_usec, FD_ISSET(s, &r));
    FD_ZERO(&r); FD_SET(s, &r); FD_SET(p[0], &r);
    begin(); end("pselect", pselect(p[0] + 1, &r, 0, 0, &t, &none));
    pthread_t w;
    pthread_create(&w, 0, writer, (void *)(long)p[1]);
    FD_ZERO(&r); FD_SET(s, &r); FD_SET(p[0], &r);
    v = (struct timeval){10, 0};
    begin(); end("select_ready", select(p[0] + 1, &r, 0, 0, &v));
    printf("left %ld isset %d %d\n", (long)v.tv_sec * 1000000 + v.tv_usec, FD_ISSET(s, &r), FD_ISSET(p[0], &r));
    pthread_join(w, 0);
    int e = epoll_create1(0);
    struct epoll_event ev = {EPOLLIN, {.u32 = 7}}, got[4];
    epoll_ctl(e, EPOLL_CTL_ADD, s, &ev);
    begin(); end("epoll_wait", epoll_wait(e, got, 4, 321));
    begin(); end("epoll_pwait", epoll_pwait(e, got, 4, 4321, &none));
    begin(); end("epoll_pwait2", failed(syscall(SYS_epoll_pwait2, e, got, 4, &t, 0, 8)));
    epoll_ctl(e, EPOLL_CTL_ADD, p[0], &ev);
    begin(); end("epoll_ready", epoll_wait(e, got, 4, -1));
    /* A signal that is blocked but in the call's own mask. */
    sigset_t block;
    sigemptyset(&block); sigaddset(&block, SIGALRM);
    sigprocmask(SIG_BLOCK, &block, 0);
    handle(SIGALRM, 0);
    alarm(3);
    begin(); end("ppoll_signal", failed(ppoll(&f, 1, 0, &none)));
    alarm(3);
    FD_ZERO(&r); FD_SET(s, &r);
    begin(); end("pselect_signal", failed(pselect(s + 1, &r, 0, 0, 0, &none)));
    alarm(3);
    int e2 = epoll_create1(0);
    epoll_ctl(e2, EPOLL_CTL_ADD, s, &ev);
    begin(); end("epoll_pwait_signal", failed(epoll_pwait(e2, got, 4, -1, &none)));
    alarm(2);
    begin(); end("sigsuspend", failed(sigsuspend(&none)));
    printf("caught %d\n", (int)caught);
}

static void timers(void) {
    int t = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec its = {{1, 0}, {2, 500000000}}, old;
    uint64_t n = 0;
    timerfd_settime(t, 0, &its, 0);
    begin(); read(t, &n, 8); end("timerfd", n);
    timerfd_gettime(t, &old);
    printf("timerfd_left %ld\n", (long)old.it_value.tv_sec * 1000 + old.it_value.tv_nsec / 1000000);
    begin(); read(t, &n, 8); end("timerfd_interval", n);
    its = (struct itimerspec){{0, 0}, after(CLOCK_REALTIME, 4000000000)};
    int u = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
    timerfd_settime(u, TFD_TIMER_ABSTIME, &its, 0);
    struct pollfd f = {u, POLLIN, 0};
    begin(); end("timerfd_absolute", poll(&f, 1, -1));
    handle(SIGALRM, 0);
    alarm(4);
    begin(); end("alarm_pause", failed(pause()));
    struct itimerval it = {{0, 300000}, {1, 0}};
    setitimer(ITIMER_REAL, &it, 0);
    begin(); pause(); end("setitimer", caught);
    begin(); pause(); end("setitimer_interval", caught);
    memset(&it, 0, sizeof it);
    setitimer(ITIMER_REAL, &it, 0);
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
    timer_t id;
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set); sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, 0);
    timer_create(CLOCK_MONOTONIC, &e, &id);
    its = (struct itimerspec){{0, 0}, {1, 750000000}};
    timer_settime(id, 0, &its, 0);
    begin(); sigwaitinfo(&set, &info); end("timer_create", info.si_value.sival_int);
    timer_delete(id);
    struct timespec ts = {2, 0};
    begin(); end("sigtimedwait", failed(sigtimedwait(&set, &info, &ts)));
    e = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify, .sigev_value.sival_int = 5};
    timer_create(CLOCK_REALTIME, &e, &id);
    its = (struct itimerspec){{0, 0}, {3, 0}};
    timer_settime(id, 0, &its, 0);
    begin();
    while (!notified) usleep(100000);
    end("timer_thread", notified);
    timer_delete(id);
    sigemptyset(&set); sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, 0);
    int s = signalfd(-1, &set, 0);
    struct signalfd_siginfo si;
    alarm(2);
    begin(); read(s, &si, sizeof si); end("signalfd", si.ssi_signo);
}

static void threads(void) {
    pthread_t t;
    struct timespec ts = after(CLOCK_REALTIME, 1500000000);
    pthread_mutex_lock(&mutex);
    begin(); end("cond_timedwait", pthread_cond_timedwait(&cond, &mutex, &ts));
    pthread_create(&t, 0, signaller, (void *)2500000000);
    begin();
    while (!ready) pthread_cond_wait(&cond, &mutex);
    end("cond_wait", ready);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, 0);
    pthread_create(&t, 0, sleeper, (void *)1250000000);
    begin(); end("join", pthread_join(t, 0));
    sem_t s;
    sem_init(&s, 0, 0);
    ts = after(CLOCK_REALTIME, 600000000);
    begin(); end("sem_timedwait", failed(sem_timedwait(&s, &ts)));
    ts = (struct timespec){0, 333000000};
    int word = 3;
    begin(); end("futex_wait", failed(syscall(SYS_futex, &word, FUTEX_WAIT, 3, &ts, 0, 0)));
    pthread_barrier_t b;
    pthread_barrier_init(&b, 0, 1);
    begin(); pthread_barrier_wait(&b); end("barrier", 0);
    /* Between processes. */
    sem_t *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(shared, 1, 0);
    if (!fork()) { usleep(1700000); sem_post(shared); _exit(3); }
    begin(); end("sem_of_processes", sem_wait(shared));
    int status = 0;
    begin(); wait(&status); end("wait", WEXITSTATUS(status));
    handle(SIGUSR1, 0);
    pthread_create(&t, 0, killer, (void *)pthread_self());
    begin(); end("pause_killed", failed(pause()));
    pthread_join(t, 0);
    ts = (struct timespec){100, 0};
    pthread_create(&t, 0, sleeper, (void *)100000000000);
    pthread_cancel(t);
    begin(); end("cancelled", pthread_join(t, 0));
}

static void sockets(void) {
    int s = silent();
    char b[4];
    struct timeval v = {1, 500000};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &v, sizeof v);
    begin(); end("recv", failed(recv(s, b, 4, 0)));
    begin(); end("read", failed(read(s, b, 4)));
    struct iovec io = {b, 4};
    struct mmsghdr m[3] = {{{.msg_iov = &io, .msg_iovlen = 1}}, {{.msg_iov = &io, .msg_iovlen = 1}}};
    begin(); end("recvmmsg", failed(recvmmsg(s, m, 2, 0, 0)));
    struct sockaddr_in6 a;
    socklen_t l = sizeof a;
    getsockname(s, (struct sockaddr *)&a, &l);
    int c = socket(AF_INET6, SOCK_DGRAM, 0);
    connect(c, (struct sockaddr *)&a, l);
    send(c, "1", 1, 0);
    begin(); end("recvmmsg_one", failed(recvmmsg(s, m, 2, 0, 0)));
    send(c, "1", 1, 0); send(c, "22", 2, 0);
    begin(); end("recvmmsg_two", failed(recvmmsg(s, m, 2, 0, 0)));
    begin(); end("recv_dontwait", failed(recv(s, b, 4, MSG_DONTWAIT)));
    struct sockaddr_in6 me;
    l = sizeof me;
    getsockname(c, (struct sockaddr *)&me, &l);
    printf("port %d\n", ntohs(me.sin6_port));
}

static void processes(void) {
    int status, p[2];
    pid_t child = fork();
    if (!child) { sleep(2); exit(9); }
    begin(); waitpid(child, &status, 0); end("waitpid", WEXITSTATUS(status));
    child = fork();
    if (!child) { sleep(2); exit(4); }
    siginfo_t i;
    begin(); waitid(P_PID, child, &i, WEXITED); end("waitid", i.si_status);
    begin();
    child = vfork();
    if (!child) { execl("/bin/sleep", "sleep", "1.5", (char *)0); _exit(1); }
    waitpid(child, &status, 0);
    end("vfork", WEXITSTATUS(status));
    begin(); end("system", WEXITSTATUS(system("sleep 0.5; exit 6")));
    child = fork();
    if (!child) { while (1) pause(); }
    sleep(1);
    kill(child, SIGKILL);
    begin(); waitpid(child, &status, 0); end("killed", WTERMSIG(status));
    child = fork();
    if (!child) { pthread_t t; for (int n = 0; n < 5; n++) pthread_create(&t, 0, sleeper, (void *)9000000000); sleep(1); exit(8); }
    begin(); waitpid(child, &status, 0); end("exit_with_threads", WEXITSTATUS(status));
    child = fork();
    if (!child) { pthread_t t; pthread_create(&t, 0, sleeper, (void *)2000000000); pthread_exit(0); }
    begin(); waitpid(child, &status, 0); end("first_thread_ends", WEXITSTATUS(status));
    /* A pipe that is full: 64 KiB go into it, and then the writer waits. */
    static char big[200000];
    pthread_t t;
    void *sum;
    pipe(p);
    pthread_create(&t, 0, reader, (void *)(long)p[0]);
    begin(); end("full_pipe", write(p[1], big, sizeof big));
    close(p[1]);
    pthread_join(t, &sum);
    printf("sum %ld\n", (long)sum);
    /* A file that the same program in another world does not have. */
    int one = memfd_create("lock", 0);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", one);
    flock(one, LOCK_EX);
    child = fork();
    if (!child) { sleep(1); flock(one, LOCK_UN); exit(0); }
    int two = open(path, O_RDWR);
    begin(); end("flock", flock(two, LOCK_EX));
    wait(0);
}

static void clocks(void) {
    struct timespec t;
    struct timeval v;
    struct tms m;
    clock_gettime(CLOCK_REALTIME, &t);
    gettimeofday(&v, 0);
    printf("realtime %ld %ld time %ld gettimeofday %ld\n", (long)t.tv_sec, t.tv_nsec, (long)time(0), (long)v.tv_sec);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    printf("cpu %ld %ld clock %ld\n", (long)t.tv_sec, t.tv_nsec, (long)clock());
    unsigned long long a = __builtin_ia32_rdtsc();
    sleep(1);
    printf("rdtsc %llu\n", __builtin_ia32_rdtsc() - a);
    long from = times(&m);
    sleep(2);
    printf("times %ld\n", times(&m) - from);
    /* Who looks at the clock only lets time pass. */
    long long start = now();
    while (now() < start + 50000000) ;
    printf("spin %lld\n", (now() - start) / 1000000);
}

int main(int argc, char **argv) {
    (void)argc;
    void (*cases[])(void) = {sleeping, polling, timers, threads, sockets, processes, clocks};
    const char *names[] = {"sleeping", "polling", "timers", "threads", "sockets", "processes", "clocks"};
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++)
        if (!strcmp(argv[1], names[n])) cases[n]();
    return 0;
}
