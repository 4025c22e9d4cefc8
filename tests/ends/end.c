/* The sockets and the order of what an end does; see end.h. */
#define _GNU_SOURCE
#include "end.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#ifndef IS_STREAM
#define IS_STREAM 0
#endif

const unsigned char psk[] = "slowhand-testkey";
const size_t psk_length = sizeof psk - 1;

int is_server;
int the_socket;
struct sockaddr_storage the_peer;
socklen_t the_peers_length = sizeof the_peer;

uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t) time.tv_sec * 1000 + (uint64_t) time.tv_nsec / 1000000;
}

int wait_ms(long most)
{
    struct pollfd polled = {.fd = the_socket, .events = POLLIN};
    int found = poll(&polled, 1, most < 0 ? -1 : (int) most);
    if (found < 0)
        fail("poll", errno);
    return found;
}

ssize_t take(void *octets, size_t room)
{
    return recv(the_socket, octets, room, 0);
}

ssize_t put(const void *octets, size_t length)
{
    return send(the_socket, octets, length, MSG_NOSIGNAL);
}

void fill_randomly(unsigned char *octets, size_t length)
{
    while (length > 0) {
        ssize_t filled = getrandom(octets, length, 0);
        if (filled < 0)
            fail("getrandom", errno);
        octets += filled;
        length -= (size_t) filled;
    }
}

unsigned char *content(const char *name, size_t *length)
{
    FILE *file = fopen(name, "rb");
    unsigned char *octets = malloc(1 << 16);
    if (file == NULL || octets == NULL)
        fail(name, errno);
    *length = fread(octets, 1, 1 << 16, file);
    fclose(file);
    return octets;
}

static const char *file_of(int server, const char *suffix)
{
    static char name[2][40];
    snprintf(name[server], sizeof name[server], "%s%s", server ? "server" : "client", suffix);
    return name[server];
}

const char *own(const char *suffix)
{
    return file_of(is_server, suffix);
}

const char *peers(const char *suffix)
{
    return file_of(!is_server, suffix);
}

_Noreturn void fail(const char *what, long code)
{
    printf("failed: %s: %ld (0x%lx)\n", what, code, (unsigned long) (code < 0 ? -code : code));
    exit(1);
}

/* A socket that the first client is connected to. */
static void serve(int listening)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listening, (struct sockaddr *) &address, length) != 0 || (IS_STREAM && listen(listening, 1) != 0)
        || getsockname(listening, (struct sockaddr *) &address, &length) != 0)
        fail("bind", errno);
    printf("port %d.\n", ntohs(address.sin_port));
    if (IS_STREAM) {
        the_socket = accept(listening, (struct sockaddr *) &the_peer, &the_peers_length);
        return;
    }
    char first; /* it stays there to be read */
    the_socket = listening;
    if (recvfrom(listening, &first, 1, MSG_PEEK, (struct sockaddr *) &the_peer, &the_peers_length) < 0
        || connect(listening, (struct sockaddr *) &the_peer, the_peers_length) != 0)
        fail("recvfrom", errno);
}

int main(int count, char **arguments)
{
    char octets[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    is_server = count > 1 && strcmp(arguments[1], "server") == 0;
    the_socket = socket(AF_INET, IS_STREAM ? SOCK_STREAM : SOCK_DGRAM, 0);
    if (is_server) {
        serve(the_socket);
    } else {
        struct sockaddr_in *server = (struct sockaddr_in *) &the_peer;
        *server = (struct sockaddr_in) {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        server->sin_port = htons((uint16_t) atoi(arguments[count - 1]));
        the_peers_length = sizeof *server;
        if (connect(the_socket, (struct sockaddr *) server, the_peers_length) != 0)
            fail("connect", errno);
    }
    fcntl(the_socket, F_SETFL, O_NONBLOCK);
    open_session();
    printf("established\n");
    if (!is_server)
        write_data("22.5 C", 6);
    size_t length = read_data(octets, sizeof octets - 1);
    if (is_server)
        write_data(octets, length);
    octets[length] = '\0';
    printf("data: %s\n", octets);
    return 0;
}
