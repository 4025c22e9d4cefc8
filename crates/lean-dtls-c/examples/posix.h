/* The parts of a POSIX system that the examples use: its headers, its random numbers and its clock. */
#define _POSIX_C_SOURCE 200809L
#include "lean_dtls.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void lean_dtls_random(uint8_t *octets, size_t length)
{
    FILE *source = fopen("/dev/urandom", "rb");
    if (source == NULL || fread(octets, 1, length, source) != length)
        abort();
    fclose(source);
}

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}
