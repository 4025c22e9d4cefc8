/* Sends a message to an echo server over DTLS, and prints the answer: client PORT MESSAGE (the server is on this computer). */
#include "posix.h"

static void print(void *is_answered, const uint8_t *data, size_t length)
{
    printf("%.*s\n", (int)length, (const char *)data);
    *(bool *)is_answered = true;
}

int main(int count, char **arguments)
{
    static lean_dtls_client client;
    static const char identity[] = "sensor-17", key[] = "0123456789abcdef";
    lean_dtls_psk psk = {.identity = (const uint8_t *)identity, .identity_length = strlen(identity),
                         .key = (const uint8_t *)key, .key_length = strlen(key)};
    lean_dtls_config config = {.keys = &psk, .key_count = 1, .mtu = 256, .timeout_ms = 1000};
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    uint8_t datagram[256];
    size_t length;
    bool has_asked = false, is_answered = false;

    if (count != 3)
        return 2;
    server.sin_port = htons((uint16_t)atoi(arguments[1]));
    if (connect(descriptor, (struct sockaddr *)&server, sizeof server) != 0
        || lean_dtls_client_new(&client, sizeof client, &config) != LEAN_DTLS_OK)
        return 2;
    lean_dtls_client_connect(&client);
    for (;;) {
        while ((length = lean_dtls_client_poll_transmit(&client, now_ms(), datagram, sizeof datagram)) > 0)
            send(descriptor, datagram, length, 0);
        lean_dtls_status status = lean_dtls_client_status(&client);
        if (status >= LEAN_DTLS_CLOSING)
            break;
        if (status == LEAN_DTLS_ESTABLISHED && !has_asked) {
            has_asked = true;
            lean_dtls_error error = lean_dtls_client_send(&client, (const uint8_t *)arguments[2], strlen(arguments[2]),
                                                          datagram, sizeof datagram, &length);
            if (error == LEAN_DTLS_OK)
                send(descriptor, datagram, length, 0);
            else
                fprintf(stderr, "%s\n", lean_dtls_error_name(error));
        }
        uint64_t deadline = lean_dtls_client_deadline(&client), now = now_ms();
        int wait = deadline == LEAN_DTLS_NEVER ? 10000 : deadline > now ? (int)(deadline - now) : 0;
        struct pollfd polled = {.fd = descriptor, .events = POLLIN};
        if (poll(&polled, 1, wait) == 1) {
            ssize_t received = recv(descriptor, datagram, sizeof datagram, 0);
            if (received > 0)
                lean_dtls_client_receive(&client, datagram, (size_t)received, print, &is_answered);
        } else if (deadline == LEAN_DTLS_NEVER) {
            break;
        } else {
            lean_dtls_client_handle_timeout(&client, now_ms());
        }
        if (is_answered)
            lean_dtls_client_close(&client);
    }
    lean_dtls_status status = lean_dtls_client_status(&client);
    lean_dtls_client_drop(&client);
    close(descriptor);
    return status == LEAN_DTLS_CLOSING || status == LEAN_DTLS_CLOSED ? 0 : 1;
}
