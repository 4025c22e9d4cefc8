/**
 * @file
 * lean-dtls for firmware in C: a client and a server of DTLS 1.2 with pre-shared keys. No allocation, no I/O.
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
 * A mistake of the caller never ends the program: a null pointer, storage that holds no client or server (zeroed, or dropped), or a call
 * from inside a lean_dtls_deliver is refused. Such a call returns an error, 0, LEAN_DTLS_FAILED or LEAN_DTLS_NEVER, or does
 * nothing. What C cannot check is the caller's duty: that a pointer has as many octets behind it as its length says, that
 * storage was zeroed before its first use (static storage is), and that identities and keys stay where they are.
 *
 * One client or server is used by one thread at a time. It may be moved, but not copied: two copies would encrypt with the same
 * nonces, and so give away what they encrypt.
 */
#ifndef LEAN_DTLS_H
#define LEAN_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Octets of a client with all features of lean-dtls on a 64-bit computer. A device needs less: lean_dtls_client_size() says
 *  how much, and the constant may be defined as that. */
#ifndef LEAN_DTLS_CLIENT_SIZE
#define LEAN_DTLS_CLIENT_SIZE 4096
#endif

/** Octets of a server with LEAN_DTLS_SLOTS connections, as lean_dtls_server_size() says. */
#ifndef LEAN_DTLS_SERVER_SIZE
#define LEAN_DTLS_SERVER_SIZE 12288
#endif

/** Connections that a server has room for. Another number: `LEAN_DTLS_SLOTS=8 cargo build ...`, and define both constants. */
#ifndef LEAN_DTLS_SLOTS
#define LEAN_DTLS_SLOTS 3
#endif

/** There is no deadline. */
#define LEAN_DTLS_NEVER UINT64_MAX

/** The storage of a client. Its content belongs to the library. */
typedef struct {
    uint64_t storage[LEAN_DTLS_CLIENT_SIZE / 8];
} lean_dtls_client;

/** The storage of a server. Its content belongs to the library. */
typedef struct {
    uint64_t storage[LEAN_DTLS_SERVER_SIZE / 8];
} lean_dtls_server;

/** The status of a connection. */
typedef enum {
    /** The handshake has not begun, or is not complete. */
    LEAN_DTLS_HANDSHAKING = 0,
    /** Both ends have verified each other. */
    LEAN_DTLS_ESTABLISHED = 1,
    /** Closed here. What the peer sends until it hears of that is still delivered. */
    LEAN_DTLS_CLOSING = 2,
    /** Closed by the peer. */
    LEAN_DTLS_CLOSED = 3,
    /** It has failed: lean_dtls_client_failure() says why. Also: there is no client, or no such association. */
    LEAN_DTLS_FAILED = 4
} lean_dtls_status;

/** Why a call was refused. */
typedef enum {
    LEAN_DTLS_OK = 0,
    /** A pointer is null, or not aligned. */
    LEAN_DTLS_ERROR_NULL = 1,
    /** The storage is smaller than lean_dtls_client_size() or lean_dtls_server_size(). */
    LEAN_DTLS_ERROR_STORAGE = 2,
    /** The storage holds no client or server, or the call comes from inside a lean_dtls_deliver of the same one. */
    LEAN_DTLS_ERROR_NOT_MADE = 3,
    /** A key has less than 1 or more than 64 octets, or there is none. */
    LEAN_DTLS_ERROR_KEY = 4,
    /** The datagrams have less than 64 octets. */
    LEAN_DTLS_ERROR_MTU = 5,
    /** The connection is not established. */
    LEAN_DTLS_ERROR_NOT_ESTABLISHED = 6,
    /** The data do not fit into the datagram. */
    LEAN_DTLS_ERROR_TOO_LONG = 7
} lean_dtls_error;

/** Why a connection has failed. */
typedef enum {
    LEAN_DTLS_FAILURE_NONE = 0,
    /** The peer did not answer the last retransmission. The wrong key looks like this too. */
    LEAN_DTLS_FAILURE_TIMED_OUT = 1,
    /** The peer has sent a fatal alert, encrypted. */
    LEAN_DTLS_FAILURE_ALERT_RECEIVED = 2,
    /** This end has refused the peer with an alert. */
    LEAN_DTLS_FAILURE_ALERT_SENT = 3,
    /** A flight has no room in the buffers of the connection. */
    LEAN_DTLS_FAILURE_BUFFER = 4,
    /** The client has no key. */
    LEAN_DTLS_FAILURE_NO_KEY = 5
} lean_dtls_failure;

/** A pre-shared key and its name (RFC 4279). Both must stay where they are as long as the client or server is used. */
typedef struct {
    const uint8_t *identity;
    size_t identity_length;
    /** 1 to 64 octets, random: whoever guesses the key is the peer. */
    const uint8_t *key;
    size_t key_length;
} lean_dtls_psk;

/** The settings of an end. It is told them once. */
typedef struct {
    /** The keys: a client uses the first one, a server finds its client's by the identity. The array must stay where it is. */
    const lean_dtls_psk *keys;
    size_t key_count;
    /** The most octets of a datagram, 64 at least. */
    uint16_t mtu;
    /** The first wait for an answer, in milliseconds; 0 for the default of 9,000 (RFC 7925). */
    uint32_t timeout_ms;
} lean_dtls_config;

/** Where a datagram of a server goes, or says it comes from: IPv6 address and port, or any octets that say the same. */
typedef struct {
    uint8_t octets[18];
} lean_dtls_address;

/** A connection of a server with one client. It stays the same when the address of the client changes. */
typedef uint32_t lean_dtls_association;

/** No association. */
#define LEAN_DTLS_NONE 0

/** Defined by the firmware: fills octets with random numbers that nobody can predict. */
void lean_dtls_random(uint8_t *octets, size_t length);

/** Gets application data, which are there until it returns. */
typedef void (*lean_dtls_deliver)(void *context, const uint8_t *data, size_t length);

/** The name of an error, as above. */
const char *lean_dtls_error_name(lean_dtls_error error);

/** @name The client
 *  @{ */

/** Octets that a client needs. */
size_t lean_dtls_client_size(void);

/** Makes a client. `size` is sizeof *client. */
lean_dtls_error lean_dtls_client_new(lean_dtls_client *client, size_t size, const lean_dtls_config *config);

/** Begins the handshake. */
void lean_dtls_client_connect(lean_dtls_client *client);

/** Processes a datagram of the server, which is decrypted in place. */
void lean_dtls_client_receive(lean_dtls_client *client, uint8_t *datagram, size_t length, lean_dtls_deliver deliver,
                              void *context);

/** Writes the next datagram, and returns its length; 0 if there is none. Call it after each other call until it returns 0. */
size_t lean_dtls_client_poll_transmit(lean_dtls_client *client, uint64_t now_ms, uint8_t *output, size_t room);

/** When to call lean_dtls_client_handle_timeout(); LEAN_DTLS_NEVER if there is nothing to wait for. */
uint64_t lean_dtls_client_deadline(const lean_dtls_client *client);

/** Does what is due. */
void lean_dtls_client_handle_timeout(lean_dtls_client *client, uint64_t now_ms);

/** Encrypts application data into a datagram, whose length is in `sent` (0 after an error). */
lean_dtls_error lean_dtls_client_send(lean_dtls_client *client, const uint8_t *data, size_t length, uint8_t *output,
                                      size_t room, size_t *sent);

/** Closes the connection: lean_dtls_client_poll_transmit() then has the alert for the server. */
void lean_dtls_client_close(lean_dtls_client *client);

lean_dtls_status lean_dtls_client_status(const lean_dtls_client *client);

/** Why the connection has failed. `alert` gets the number of the alert (RFC 5246, section 7.2); it may be null. */
lean_dtls_failure lean_dtls_client_failure(const lean_dtls_client *client, uint8_t *alert);

/** Wipes the keys. The storage then holds no client. */
void lean_dtls_client_drop(lean_dtls_client *client);

/** @}
 *  @name The server
 *  A client without a free slot is ignored until a connection has ended.
 *  @{ */

/** Octets that a server needs. */
size_t lean_dtls_server_size(void);

/** Makes a server. `size` is sizeof *server. */
lean_dtls_error lean_dtls_server_new(lean_dtls_server *server, size_t size, const lean_dtls_config *config);

/** Processes a datagram that says it comes from `peer`, and decrypts it in place. Returns whose it is: the association whose client
 *  alone can have sent a record in it, and whose are all data that were delivered. LEAN_DTLS_NONE if nothing in it proves that. */
lean_dtls_association lean_dtls_server_receive(lean_dtls_server *server, const lean_dtls_address *peer, uint8_t *datagram, size_t length,
                              lean_dtls_deliver deliver, void *context);

/** Writes the next datagram and the address that it goes to, and returns its length; 0 if there is none. Call it after each
 *  other call until it returns 0. */
size_t lean_dtls_server_poll_transmit(lean_dtls_server *server, uint64_t now_ms, lean_dtls_address *peer, uint8_t *output,
                                      size_t room);

/** When to call lean_dtls_server_handle_timeout(); LEAN_DTLS_NEVER if there is nothing to wait for. */
uint64_t lean_dtls_server_deadline(const lean_dtls_server *server);

/** Does what is due. */
void lean_dtls_server_handle_timeout(lean_dtls_server *server, uint64_t now_ms);

/** Encrypts application data for the client of an association into a datagram for its address. The length is in `sent` (0 after an
 *  error). */
lean_dtls_error lean_dtls_server_send(lean_dtls_server *server, lean_dtls_association association, const uint8_t *data,
                                      size_t length, uint8_t *output, size_t room, size_t *sent);

/** Writes where the datagrams of an association go. False if there is no such association any more. */
bool lean_dtls_server_address(const lean_dtls_server *server, lean_dtls_association association, lean_dtls_address *peer);

/** Writes the identity of the pre-shared key that the client has proved to have, and returns its length. 0 if the association is not
 *  established, if `room` is too small, or if the identity has more than 32 octets. */
size_t lean_dtls_server_identity(const lean_dtls_server *server, lean_dtls_association association, uint8_t *output,
                                 size_t room);

/** Closes an association: lean_dtls_server_poll_transmit() then has the alert for its client. */
void lean_dtls_server_close(lean_dtls_server *server, lean_dtls_association association);

/** The status of an association. */
lean_dtls_status lean_dtls_server_status(const lean_dtls_server *server, lean_dtls_association association);

/** Makes other cookies from now on; those from before are taken until the next call. Call it every few minutes (RFC 6347,
 *  section 4.2.1). */
void lean_dtls_server_rotate_cookies(lean_dtls_server *server);

/** Wipes the keys. The storage then holds no server. */
void lean_dtls_server_drop(lean_dtls_server *server);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
