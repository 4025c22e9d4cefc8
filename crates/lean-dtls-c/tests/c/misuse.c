/* Calls of everything with what is wrong: each is refused, and none ends the program. Prints the line that is not as it should be. */
#include "lean_dtls.h"

#include <stdio.h>
#include <string.h>

void lean_dtls_random(uint8_t *octets, size_t length)
{
    memset(octets, 7, length);
}

#define EXPECT(condition)                                   \
    do {                                                    \
        if (!(condition)) {                                 \
            printf("line %d: %s\n", __LINE__, #condition);  \
            wrong++;                                        \
        }                                                   \
    } while (0)

static int wrong;
static lean_dtls_client client;
static lean_dtls_server server;
static uint8_t datagram[512];
static const lean_dtls_address peer = {{1}};

/* Everything but making one, with storage that holds nothing. */
static void use(lean_dtls_client *c, lean_dtls_server *s, lean_dtls_error expected)
{
    size_t sent = 9;
    uint8_t alert = 9;
    lean_dtls_address to;
    lean_dtls_client_connect(c);
    lean_dtls_client_receive(c, datagram, 100, NULL, NULL);
    lean_dtls_client_handle_timeout(c, 5);
    lean_dtls_client_close(c);
    lean_dtls_client_drop(c);
    EXPECT(lean_dtls_client_poll_transmit(c, 0, datagram, sizeof datagram) == 0);
    EXPECT(lean_dtls_client_deadline(c) == LEAN_DTLS_NEVER);
    EXPECT(lean_dtls_client_send(c, datagram, 1, datagram + 9, 100, &sent) == expected && sent == 0);
    EXPECT(lean_dtls_client_status(c) == LEAN_DTLS_FAILED);
    EXPECT(lean_dtls_client_failure(c, &alert) == LEAN_DTLS_FAILURE_NONE && alert == 0);
    sent = 9;
    EXPECT(lean_dtls_server_receive(s, &peer, datagram, 100, NULL, NULL) == LEAN_DTLS_NONE);
    lean_dtls_server_handle_timeout(s, 5);
    lean_dtls_server_close(s, 1);
    lean_dtls_server_rotate_cookies(s);
    lean_dtls_server_drop(s);
    EXPECT(lean_dtls_server_poll_transmit(s, 0, &to, datagram, sizeof datagram) == 0);
    EXPECT(lean_dtls_server_deadline(s) == LEAN_DTLS_NEVER);
    EXPECT(lean_dtls_server_send(s, 1, datagram, 1, datagram + 9, 100, &sent) == expected && sent == 0);
    EXPECT(lean_dtls_server_status(s, 1) == LEAN_DTLS_FAILED);
    EXPECT(!lean_dtls_server_address(s, 1, &to));
    EXPECT(lean_dtls_server_identity(s, 1, datagram, 100) == 0);
}

/* Arguments that are wrong, with a client and a server. */
static void pass_nothing(void)
{
    size_t sent = 9;
    lean_dtls_address to;
    lean_dtls_client_receive(&client, NULL, 100, NULL, NULL);
    lean_dtls_client_receive(&client, datagram, 0, NULL, NULL);
    lean_dtls_client_receive(&client, datagram, SIZE_MAX, NULL, NULL);
    EXPECT(lean_dtls_client_poll_transmit(&client, 0, NULL, 100) == 0);
    EXPECT(lean_dtls_client_poll_transmit(&client, 0, datagram, 3) == 0);
    EXPECT(lean_dtls_client_send(&client, NULL, 5, datagram, 100, &sent) == LEAN_DTLS_ERROR_NOT_ESTABLISHED && sent == 0);
    EXPECT(lean_dtls_client_send(&client, datagram, 5, NULL, 100, NULL) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_client_failure(&client, NULL) == LEAN_DTLS_FAILURE_NONE);
    EXPECT(lean_dtls_server_receive(&server, NULL, datagram, 100, NULL, NULL) == LEAN_DTLS_NONE);
    EXPECT(lean_dtls_server_receive(&server, &peer, NULL, 100, NULL, NULL) == LEAN_DTLS_NONE);
    lean_dtls_server_receive(&server, &peer, datagram, SIZE_MAX, NULL, NULL);
    EXPECT(lean_dtls_server_poll_transmit(&server, 0, NULL, datagram, 100) == 0);
    EXPECT(lean_dtls_server_send(&server, 1, datagram, 5, datagram, 100, NULL) == LEAN_DTLS_ERROR_NULL);
    for (lean_dtls_association none = LEAN_DTLS_NONE; none < 3; none++) {
        sent = 9;
        EXPECT(lean_dtls_server_send(&server, none, datagram, 5, datagram, 100, &sent) == LEAN_DTLS_ERROR_NOT_ESTABLISHED);
        EXPECT(sent == 0);
        EXPECT(lean_dtls_server_status(&server, none) == LEAN_DTLS_FAILED);
        EXPECT(!lean_dtls_server_address(&server, none, &to));
        EXPECT(lean_dtls_server_identity(&server, none, datagram, 100) == 0);
        lean_dtls_server_close(&server, none);
    }
}

static size_t delivered;

/* Uses the client that is delivering. */
static void call_back(void *context, const uint8_t *data, size_t length)
{
    size_t sent = 9;
    (void)context;
    delivered = length;
    EXPECT(lean_dtls_client_send(&client, data, length, datagram + 256, 200, &sent) == LEAN_DTLS_ERROR_NOT_MADE);
    EXPECT(lean_dtls_client_status(&client) == LEAN_DTLS_FAILED);
    lean_dtls_client_drop(&client);
}

/* A whole connection in memory, in which the client is used from inside its own callback. */
static void connect_and_call_back(void)
{
    size_t length;
    lean_dtls_address to = {.octets = {0}};
    lean_dtls_association association = LEAN_DTLS_NONE, last;
    lean_dtls_client_connect(&client);
    for (int round = 0; round < 6; round++) {
        while ((length = lean_dtls_client_poll_transmit(&client, 0, datagram, 256)) > 0)
            if ((last = lean_dtls_server_receive(&server, &peer, datagram, length, NULL, NULL)) != LEAN_DTLS_NONE)
                association = last;
        while ((length = lean_dtls_server_poll_transmit(&server, 0, &to, datagram, 256)) > 0)
            lean_dtls_client_receive(&client, datagram, length, NULL, NULL);
    }
    EXPECT(lean_dtls_client_status(&client) == LEAN_DTLS_ESTABLISHED);
    EXPECT(lean_dtls_server_status(&server, association) == LEAN_DTLS_ESTABLISHED);
    memset(&to, 0xff, sizeof to);
    EXPECT(lean_dtls_server_address(&server, association, &to) && memcmp(&to, &peer, sizeof to) == 0);
    EXPECT(!lean_dtls_server_address(&server, association, NULL));
    EXPECT(lean_dtls_server_identity(&server, association, datagram, 3) == 0);
    EXPECT(lean_dtls_server_identity(&server, association, NULL, 100) == 0);
    length = lean_dtls_server_identity(&server, association, datagram, 100);
    EXPECT(length == 4 && memcmp(datagram, "\0\0\0\0", 4) == 0);
    EXPECT(lean_dtls_client_send(&client, datagram, 200, datagram + 256, 100, &length) == LEAN_DTLS_ERROR_TOO_LONG);
    EXPECT(lean_dtls_server_send(&server, association, (const uint8_t *)"22.5 C", 6, datagram, 100, &length) == LEAN_DTLS_OK);
    lean_dtls_client_receive(&client, datagram, length, call_back, NULL);
    EXPECT(delivered == 6);
    EXPECT(lean_dtls_client_status(&client) == LEAN_DTLS_ESTABLISHED);
}

int main(void)
{
    static const uint8_t octets[65] = {0};
    lean_dtls_psk good = {octets, 4, octets, 16}, empty = {octets, 4, octets, 0}, missing = {octets, 4, NULL, 16},
                  long_one = {octets, 4, octets, 65};
    lean_dtls_psk wrong_second[2] = {good, empty};
    const lean_dtls_psk *wrong_keys[] = {&empty, &missing, &long_one};
    lean_dtls_config config = {.keys = &good, .key_count = 1, .mtu = 256, .timeout_ms = 0};

    use(NULL, NULL, LEAN_DTLS_ERROR_NULL);
    use(&client, &server, LEAN_DTLS_ERROR_NOT_MADE);
    EXPECT(lean_dtls_client_new(NULL, sizeof client, &config) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_client_new((lean_dtls_client *)((char *)&client + 1), sizeof client - 8, &config) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_client_new(&client, sizeof client, NULL) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_client_new(&client, lean_dtls_client_size() - 1, &config) == LEAN_DTLS_ERROR_STORAGE);
    EXPECT(lean_dtls_server_new(NULL, sizeof server, &config) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_server_new(&server, sizeof server, NULL) == LEAN_DTLS_ERROR_NULL);
    EXPECT(lean_dtls_server_new(&server, lean_dtls_server_size() - 1, &config) == LEAN_DTLS_ERROR_STORAGE);
    for (size_t i = 0; i < sizeof wrong_keys / sizeof *wrong_keys; i++) {
        config.keys = wrong_keys[i];
        EXPECT(lean_dtls_client_new(&client, sizeof client, &config) == LEAN_DTLS_ERROR_KEY);
    }
    config.keys = wrong_second, config.key_count = 2;
    EXPECT(lean_dtls_server_new(&server, sizeof server, &config) == LEAN_DTLS_ERROR_KEY);
    config.key_count = 0;
    EXPECT(lean_dtls_server_new(&server, sizeof server, &config) == LEAN_DTLS_ERROR_KEY);
    config.key_count = SIZE_MAX;
    EXPECT(lean_dtls_server_new(&server, sizeof server, &config) == LEAN_DTLS_ERROR_KEY);
    config.keys = NULL;
    EXPECT(lean_dtls_server_new(&server, sizeof server, &config) == LEAN_DTLS_ERROR_NULL);
    config.keys = &good, config.key_count = 1, config.mtu = 63;
    EXPECT(lean_dtls_client_new(&client, sizeof client, &config) == LEAN_DTLS_ERROR_MTU);
    use(&client, &server, LEAN_DTLS_ERROR_NOT_MADE);

    config.mtu = 256;
    EXPECT(lean_dtls_client_new(&client, sizeof client, &config) == LEAN_DTLS_OK);
    EXPECT(lean_dtls_server_new(&server, sizeof server, &config) == LEAN_DTLS_OK);
    EXPECT(lean_dtls_client_status((lean_dtls_client *)&server) == LEAN_DTLS_FAILED);
    pass_nothing();
    connect_and_call_back();
    lean_dtls_client_drop(&client);
    lean_dtls_server_drop(&server);
    use(&client, &server, LEAN_DTLS_ERROR_NOT_MADE);
    EXPECT(strcmp(lean_dtls_error_name(LEAN_DTLS_ERROR_MTU), "LEAN_DTLS_ERROR_MTU") == 0);
    EXPECT(strcmp(lean_dtls_error_name((lean_dtls_error)99), "unknown") == 0);
    return wrong != 0;
}
