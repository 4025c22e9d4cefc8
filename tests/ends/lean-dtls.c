/* An end with the calls of lean-dtls in C; see end.h. */
#include "end.h"

#include <string.h>

#include "settings.h"

static lean_dtls_client client;
static lean_dtls_server server;
static lean_dtls_address address = {{1}};
static lean_dtls_association association;
static uint8_t data[64];
static size_t data_length;

void lean_dtls_random(uint8_t *octets, size_t length)
{
    fill_randomly(octets, length);
}

static void keep(void *unused, const uint8_t *octets, size_t length)
{
    (void) unused;
    data_length = length < sizeof data ? length : sizeof data;
    memcpy(data, octets, data_length);
}

static lean_dtls_status status(void)
{
    return is_server ? lean_dtls_server_status(&server, association) : lean_dtls_client_status(&client);
}

static void proceed(void)
{
    static uint8_t octets[2000];
    lean_dtls_address to;
    size_t length;
    while ((length = is_server ? lean_dtls_server_poll_transmit(&server, now_ms(), &to, octets, sizeof octets)
                               : lean_dtls_client_poll_transmit(&client, now_ms(), octets, sizeof octets)) > 0)
        put(octets, length);
    uint64_t deadline = is_server ? lean_dtls_server_deadline(&server) : lean_dtls_client_deadline(&client);
    uint64_t now = now_ms();
    if (!is_server && status() >= LEAN_DTLS_CLOSED)
        fail("handshake", lean_dtls_client_failure(&client, NULL));
    if (is_server ? association != LEAN_DTLS_NONE && status() == LEAN_DTLS_ESTABLISHED : status() == LEAN_DTLS_ESTABLISHED)
        if (data_length == 0 && deadline == LEAN_DTLS_NEVER)
            deadline = now + 50; /* the caller looks again */
    if (!wait_ms(deadline == LEAN_DTLS_NEVER ? -1 : deadline <= now ? 0 : (long) (deadline - now))) {
        if (is_server)
            lean_dtls_server_handle_timeout(&server, now_ms());
        else
            lean_dtls_client_handle_timeout(&client, now_ms());
        return;
    }
    ssize_t received = take(octets, sizeof octets);
    if (received <= 0)
        return;
    if (is_server)
        association = lean_dtls_server_receive(&server, &address, octets, (size_t) received, keep, NULL);
    else
        lean_dtls_client_receive(&client, octets, (size_t) received, keep, NULL);
}

void open_session(void)
{
    static lean_dtls_psk keys[1];
    lean_dtls_config config = configure(keys, psk, psk_length);
    lean_dtls_error error = is_server ? lean_dtls_server_new(&server, sizeof server, &config)
                                      : lean_dtls_client_new(&client, sizeof client, &config);
    if (error != LEAN_DTLS_OK)
        fail("lean_dtls_error", error);
    if (!is_server)
        lean_dtls_client_connect(&client);
    while (is_server ? association == LEAN_DTLS_NONE || status() != LEAN_DTLS_ESTABLISHED
                     : status() != LEAN_DTLS_ESTABLISHED)
        proceed();
}

void write_data(const void *octets, size_t length)
{
    uint8_t datagram[256];
    size_t sent = 0;
    lean_dtls_error error
        = is_server ? lean_dtls_server_send(&server, association, octets, length, datagram, sizeof datagram, &sent)
                    : lean_dtls_client_send(&client, octets, length, datagram, sizeof datagram, &sent);
    if (error != LEAN_DTLS_OK)
        fail("lean_dtls_send", error);
    put(datagram, sent);
}

size_t read_data(void *octets, size_t room)
{
    while (data_length == 0)
        proceed();
    size_t length = data_length < room ? data_length : room;
    memcpy(octets, data, length);
    return length;
}
