/*
 * The client of lean-dtls: DTLS 1.2 with a pre-shared key. No allocation, no I/O.
 *
 * The caller gives storage, datagrams and the time, takes out the datagrams to send, and asks for the next deadline:
 *
 *     lean_dtls_client_connect(&client);
 *     for (;;) {
 *         while ((length = lean_dtls_client_poll_transmit(&client, now(), datagram, sizeof datagram)) > 0)
 *             send(datagram, length);
 *         if (wait_for_datagram(lean_dtls_client_deadline(&client)))
 *             lean_dtls_client_receive(&client, datagram, length, deliver, context);
 *         else
 *             lean_dtls_client_handle_timeout(&client, now());
 *     }
 *
 * One client is used by one thread at a time. It must not be moved or copied after lean_dtls_client_new.
 */
#ifndef LEAN_DTLS_H
#define LEAN_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Octets of a client with all features of lean-dtls on a 64-bit computer. A device needs less: lean_dtls_client_size() says
 * how much, and the constant may be defined as that. */
#ifndef LEAN_DTLS_CLIENT_SIZE
#define LEAN_DTLS_CLIENT_SIZE 4096
#endif

/* There is no deadline. */
#define LEAN_DTLS_NEVER UINT64_MAX

/* The storage of a client. Its content belongs to the library. */
typedef struct {
    uint64_t storage[LEAN_DTLS_CLIENT_SIZE / 8];
} lean_dtls_client;

typedef enum {
    LEAN_DTLS_HANDSHAKING = 0,
    LEAN_DTLS_ESTABLISHED = 1,
    /* Closed here. What the server sends until it hears of that is still delivered. */
    LEAN_DTLS_CLOSING = 2,
    LEAN_DTLS_CLOSED = 3,
    LEAN_DTLS_FAILED = 4
} lean_dtls_status;

typedef struct {
    /* The pre-shared key (1 to 64 octets) and its name. Both must stay where they are as long as the client is used. */
    const uint8_t *identity;
    size_t identity_length;
    const uint8_t *key;
    size_t key_length;
    /* The most octets of a datagram, 64 at least. */
    uint16_t mtu;
    /* The first wait for an answer, in milliseconds; 0 for the default of 9,000 (RFC 7925). */
    uint32_t timeout_ms;
} lean_dtls_config;

/* Defined by the firmware: fills octets with random numbers that nobody can predict. */
void lean_dtls_random(uint8_t *octets, size_t length);

/* Gets application data. */
typedef void (*lean_dtls_deliver)(void *context, const uint8_t *data, size_t length);

/* Octets that a client needs. */
size_t lean_dtls_client_size(void);

/* Makes a client. False if the storage is too small (`size` is sizeof *client) or the configuration cannot work. */
bool lean_dtls_client_new(lean_dtls_client *client, size_t size, const lean_dtls_config *config);

/* Begins the handshake. */
void lean_dtls_client_connect(lean_dtls_client *client);

/* Processes a datagram of the server, which is decrypted in place. */
void lean_dtls_client_receive(lean_dtls_client *client, uint8_t *datagram, size_t length, lean_dtls_deliver deliver,
                              void *context);

/* Writes the next datagram, and returns its length; 0 if there is none. Call it after each other call until it returns 0. */
size_t lean_dtls_client_poll_transmit(lean_dtls_client *client, uint64_t now_ms, uint8_t *output, size_t room);

/* When to call lean_dtls_client_handle_timeout; LEAN_DTLS_NEVER if there is nothing to wait for. */
uint64_t lean_dtls_client_deadline(const lean_dtls_client *client);

/* Does what is due. */
void lean_dtls_client_handle_timeout(lean_dtls_client *client, uint64_t now_ms);

/* Encrypts application data into a datagram, and returns its length; 0 if the connection is not established or the data do
 * not fit. */
size_t lean_dtls_client_send(lean_dtls_client *client, const uint8_t *data, size_t length, uint8_t *output, size_t room);

/* Closes the connection: lean_dtls_client_poll_transmit then has the alert for the server. */
void lean_dtls_client_close(lean_dtls_client *client);

lean_dtls_status lean_dtls_client_status(const lean_dtls_client *client);

/* Wipes the keys. The client must not be used any more, except with lean_dtls_client_new. */
void lean_dtls_client_drop(lean_dtls_client *client);

#ifdef __cplusplus
}
#endif
#endif
