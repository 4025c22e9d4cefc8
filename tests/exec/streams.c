/* Sockets of TCP: how long each call takes by the program's own clock, and what it gives. Prints a line for each case.
 *
 * streams local: both ends on one host. streams client ADDRESS, streams server: the ends on two hosts. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static long long began;
static void begin(void) { began = now(); }
static void end(const char *name, long result) {
    printf("%s %lld %ld\n", name, now() - began, result);
    fflush(stdout);
}
static long failed(long result) { return result < 0 ? -errno : result; }

static struct sockaddr_in6 at(const char *address, int port) {
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    inet_pton(AF_INET6, address, &a.sin6_addr);
    return a;
}
static int stream(int flags) { return socket(AF_INET6, SOCK_STREAM | flags, 0); }
static int to(int s, const char *address, int port) {
    struct sockaddr_in6 a = at(address, port);
    return connect(s, (struct sockaddr *)&a, sizeof a);
}
static int bound(int port, int reuse) {
    int s = stream(0);
    struct sockaddr_in6 a = at("::", port);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    return bind(s, (struct sockaddr *)&a, sizeof a) ? -errno : s;
}
static int listening(int port) {
    int s = bound(port, 1);
    listen(s, 16);
    return s;
}
static void wait_at_most(int s, long millis, int option) {
    struct timeval t = {millis / 1000, millis % 1000 * 1000};
    setsockopt(s, SOL_SOCKET, option, &t, sizeof t);
}
static int number(int s, int level, int option) {
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(s, level, option, &value, &length) ? -errno : value;
}
static int port_of(int s, int (*of)(int, struct sockaddr *, socklen_t *)) {
    struct sockaddr_in6 a;
    socklen_t length = sizeof a;
    return of(s, (struct sockaddr *)&a, &length) ? -errno : ntohs(a.sin6_port);
}
static int watched(int s, int events) {
    int e = epoll_create1(0);
    struct epoll_event what = {.events = events};
    epoll_ctl(e, EPOLL_CTL_ADD, s, &what);
    return e;
}
static int seen(int e, int millis) {
    struct epoll_event what = {0};
    return epoll_wait(e, &what, 1, millis) > 0 ? (int)what.events : 0;
}
static void later(long seconds) { sleep(seconds); }
static void *reads_later(void *s) {
    static char b[65536];
    later(3);
    long n, sum = 0;
    while ((n = read((long)s, b, sizeof b)) > 0) sum += n;
    return (void *)sum;
}
static void *connects_later(void *port) {
    later(2);
    int s = stream(0);
    to(s, "::1", (long)port);
    later(100);
    return 0;
}
static void noted(int s) { (void)s; }

static void local(void) {
    char b[65536] = "";
    signal(SIGPIPE, SIG_IGN);
    int l = listening(4000), c, a, e;
    pthread_t t;
    begin(); end("refused", failed(to(stream(0), "::1", 9)));
    begin(); end("in_use", bound(4000, 1));
    int other = bound(4001, 0);
    begin(); end("in_use_not_listening", bound(4001, 1));
    close(other);
    begin(); end("in_use_closed", bound(4001, 0) > 0);
    begin(); end("connect", failed(to(c = stream(0), "::1", 4000)));
    struct sockaddr_in6 peer;
    socklen_t length = sizeof peer;
    begin(); a = accept4(l, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC); end("accept", a > 0);
    printf("address %d %d %d\n", length, ntohs(peer.sin6_port) == port_of(c, getsockname), IN6_IS_ADDR_LOOPBACK(&peer.sin6_addr));
    printf("ports %d %d\n", port_of(c, getpeername), port_of(a, getsockname));
    printf("socket %d %d %d\n", number(a, SOL_SOCKET, SO_DOMAIN), number(a, SOL_SOCKET, SO_PROTOCOL), number(a, SOL_SOCKET, SO_TYPE));
    begin(); end("connect_again", failed(to(c, "::1", 4000)));
    wait_at_most(a, 1500, SO_RCVTIMEO);
    begin(); end("recv_timeout", failed(recv(a, b, 10, 0)));
    write(c, "hello", 5);
    int there = 0;
    ioctl(a, FIONREAD, &there);
    length = sizeof peer;
    begin(); end("recvfrom", recvfrom(a, b, 10, 0, (struct sockaddr *)&peer, &length) * 100 + there * 10 + length);
    begin(); end("oob", failed(send(c, "x", 1, MSG_OOB)));
    shutdown(c, SHUT_WR);
    begin(); end("half_closed", recv(a, b, 10, 0));
    begin(); end("write_after_shutdown", failed(write(c, "x", 1)));
    write(a, "bye", 3);
    begin(); end("other_half", recv(c, b, 10, 0));
    close(a);
    begin(); end("end", recv(c, b, 10, 0));
    begin(); end("write_after_end", failed(write(c, "x", 1)));

    to(c = stream(0), "::1", 4000), a = accept(l, 0, 0);
    write(c, "unread", 6);
    close(a);
    begin(); end("reset", failed(recv(c, b, 10, 0)));

    to(c = stream(0), "::1", 4000), a = accept(l, 0, 0);
    pthread_create(&t, 0, reads_later, (void *)(long)a);
    static char much[400000];
    begin(); end("full", write(c, much, sizeof much));
    shutdown(c, SHUT_WR);
    void *sum = 0;
    pthread_join(t, &sum);
    printf("sum %ld\n", (long)sum);

    to(c = stream(0), "::1", 4000), a = accept(l, 0, 0);
    pthread_create(&t, 0, reads_later, (void *)(long)a);
    int file = memfd_create("file", 0);
    ftruncate(file, 400000);
    off_t sent = 0;
    begin();
    while (sent < 400000 && sendfile(c, file, &sent, 400000) > 0) ;
    end("sendfile", sent);

    c = stream(SOCK_NONBLOCK);
    e = watched(c, EPOLLIN | EPOLLOUT | EPOLLET);
    printf("unconnected %x\n", seen(e, 0));
    begin(); end("connect_nonblocking", failed(to(c, "::1", 4000)));
    printf("connected %x %d\n", seen(e, 1000), number(c, SOL_SOCKET, SO_ERROR));
    begin(); end("accept_nonblocking", accept(l, 0, 0) > 0);

    pthread_create(&t, 0, connects_later, (void *)4000);
    begin(); a = accept(l, 0, 0); end("accept_waits", a > 0);
    if (!fork()) { sleep(2); write(a, "child", 5); _exit(0); }
    close(a);

    int four = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(4000), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    begin(); end("connect_4_to_6", failed(connect(four, (struct sockaddr *)&v4, sizeof v4)));
    length = sizeof peer;
    a = accept(l, (struct sockaddr *)&peer, &length);
    printf("mapped %d %d\n", IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr), length);
    v4.sin_addr.s_addr = htonl(0x0a000001);
    begin(); end("unreachable", failed(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&v4, sizeof v4)));
    begin(); end("mptcp", failed(socket(AF_INET6, SOCK_STREAM, 262)));
    begin(); end("not_connected", failed(recv(stream(0), b, 1, 0)));
    wait(0); /* the child has the listener too */
    close(l);
    begin(); end("refused_when_closed", failed(to(stream(0), "::1", 4000)));
}

/* Each connection says what it wants by its port. */
enum { ECHO = 4000, CLOSES, RESETS, SLOW, LATE };

static void client(const char *address) {
    char b[65536];
    int c, e;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, noted);
    siginterrupt(SIGALRM, 1);
    begin(); end("refused", failed(to(c = stream(0), address, 9)));
    begin(); end("same_socket", failed(to(c, address, ECHO)));
    printf("ports %d %d\n", port_of(c, getpeername), port_of(c, getsockname) >= 49152);
    printf("options %d %d\n", number(c, IPPROTO_TCP, TCP_NODELAY), number(c, IPPROTO_TCP, TCP_MAXSEG));
    write(c, "hello", 5);
    begin(); end("echo", recv(c, b, 10, 0));
    wait_at_most(c, 1500, SO_RCVTIMEO);
    begin(); end("recv_timeout", failed(recv(c, b, 10, 0)));
    struct iovec parts[2] = {{"one", 3}, {"two", 3}};
    writev(c, parts, 2);
    shutdown(c, SHUT_WR);
    wait_at_most(c, 0, SO_RCVTIMEO);
    begin(); end("half_closed", recv(c, b, 6, MSG_WAITALL));
    begin(); end("end", recv(c, b, 10, 0));
    close(c);

    begin(); end("timeout", failed(to(stream(0), "2001:db8:1::77", 80)));
    c = stream(0);
    wait_at_most(c, 2000, SO_SNDTIMEO);
    begin(); end("connect_timeout", failed(to(c, "2001:db8:1::77", 80)));
    struct pollfd p = {c, POLLOUT, 0};
    begin(); end("still_opening", poll(&p, 1, 1000));
    close(c);
    alarm(3);
    begin(); end("connect_interrupted", failed(to(c = stream(0), "2001:db8:1::77", 80)));
    close(c);

    c = stream(SOCK_NONBLOCK);
    e = watched(c, EPOLLIN | EPOLLOUT | EPOLLET);
    printf("unconnected %x\n", seen(e, 0));
    begin(); end("connect_nonblocking", failed(to(c, address, ECHO)));
    printf("opening %x %ld %ld\n", seen(e, 0), failed(to(c, address, ECHO)), failed(write(c, "x", 1)));
    begin(); end("opened_before", seen(e, -1));
    printf("error %d\n", number(c, SOL_SOCKET, SO_ERROR));
    begin(); end("connect_now", failed(to(c, address, ECHO)));
    write(c, "x", 1);
    begin(); end("readable", seen(watched(c, EPOLLIN), -1));
    close(c);

    c = stream(SOCK_NONBLOCK);
    to(c, address, ECHO);
    e = watched(c, EPOLLOUT);
    begin(); end("opened_after", seen(e, -1));
    close(c);
    c = stream(SOCK_NONBLOCK);
    to(c, address, 9);
    e = watched(c, EPOLLOUT);
    begin(); end("refused_nonblocking", seen(e, -1));
    int error = number(c, SOL_SOCKET, SO_ERROR);
    printf("errors %d %d\n", error, number(c, SOL_SOCKET, SO_ERROR));

    to(c = stream(0), address, CLOSES);
    begin(); end("closed", recv(c, b, 10, 0));
    to(c = stream(0), address, RESETS);
    write(c, "unread", 6);
    begin(); end("reset", failed(recv(c, b, 10, 0)));
    begin(); end("write_after_reset", failed(write(c, "x", 1)));

    /* The server reads after 20 s: the buffers of both ends are full before. */
    to(c = stream(0), address, SLOW);
    fcntl(c, F_SETFL, O_NONBLOCK);
    long sum = 0, n;
    begin();
    do sum += (n = write(c, b, 2000)) > 0 ? n : 0;
    while (p.fd = c, p.events = POLLOUT, poll(&p, 1, 5000) > 0);
    printf("buffers %ld\n", sum);
    fcntl(c, F_SETFL, 0);
    n = write(c, b, 9000);
    sum += n;
    printf("waited %d %ld\n", now() - began > 20000000000ll, n);
    shutdown(c, SHUT_WR);
    long read_there = 0;
    recv(c, &read_there, sizeof read_there, MSG_WAITALL);
    printf("all %d\n", read_there == sum);

    to(c = stream(0), address, LATE);
    begin(); end("from_child", recv(c, b, 10, 0));
    begin(); end("end_of_child", recv(c, b, 10, 0));
}

static void serve(int a, int port) {
    static char b[65536];
    long n, sum = 0;
    if (port == ECHO) while ((n = read(a, b, sizeof b)) > 0) write(a, b, n);
    if (port == RESETS) { struct pollfd p = {a, POLLIN, 0}; poll(&p, 1, -1); }
    if (port == SLOW) {
        sleep(20);
        while ((n = read(a, b, sizeof b)) > 0) sum += n;
        write(a, &sum, sizeof sum);
    }
    if (port == LATE) { sleep(5); write(a, "child", 5); }
    close(a);
}

static void server(void) {
    struct pollfd p[5];
    for (int n = 0; n < 5; n++) p[n] = (struct pollfd){listening(ECHO + n), POLLIN, 0};
    signal(SIGCHLD, SIG_IGN);
    while (poll(p, 5, -1) > 0 || errno == EINTR)
        for (int n = 0; n < 5; n++) if (p[n].revents & POLLIN) {
            int a = accept(p[n].fd, 0, 0);
            if (!fork()) { serve(a, ECHO + n); _exit(0); }
            close(a);
        }
}

int main(int argc, char **argv) {
    if (!strcmp(argv[1], "local")) local();
    if (!strcmp(argv[1], "client") && argc > 2) client(argv[2]);
    if (!strcmp(argv[1], "server")) server();
}
