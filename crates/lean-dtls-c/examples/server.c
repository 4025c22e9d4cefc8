/* Sends back over DTLS what arrives, for one client at a time after the other: server PORT COUNT. It ends after COUNT messages,
 * when their client has closed its connection. */
#include "posix.h"

/* An IPv4 address and a port, as the 18 octets that the server knows a peer by. */
static lean_dtls_address to_address(const struct sockaddr_in *from)
{
    lean_dtls_address address = {{0}};
    memcpy(address.octets + 12, &from->sin_addr, 4);
    memcpy(address.octets + 16, &from->sin_port, 2);
    return address;
}

static struct sockaddr_in from_address(const lean_dtls_address *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    memcpy(&to.sin_addr, address->octets + 12, 4);
    memcpy(&to.sin_port, address->octets + 16, 2);
    return to;
}

/* The data of a client. The answer is sent when the call that delivers them has returned. */
typedef struct {
    uint8_t octets[256];
    size_t length;
} message;

static void keep(void *context, const uint8_t *data, size_t length)
{
    message *kept = context;
    kept->length = length <= sizeof kept->octets ? length : 0;
    memcpy(kept->octets, data, kept->length);
}

static void send_all(lean_dtls_server *server, int descriptor)
{
    uint8_t datagram[256];
    lean_dtls_address peer;
    size_t length;
    while ((length = lean_dtls_server_poll_transmit(server, now_ms(), &peer, datagram, sizeof datagram)) > 0) {
        struct sockaddr_in to = from_address(&peer);
        sendto(descriptor, datagram, length, 0, (struct sockaddr *)&to, sizeof to);
    }
}

int main(int count, char **arguments)
{
    static lean_dtls_server server;
    static const char *const names[] = {"sensor-16", "sensor-17"}, *const keys[] = {"fedcba9876543210", "0123456789abcdef"};
    lean_dtls_psk psks[2];
    lean_dtls_config config = {.keys = psks, .key_count = 2, .mtu = 256, .timeout_ms = 1000};
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (count != 3)
        return 2;
    for (int i = 0; i < 2; i++) {
        psks[i] = (lean_dtls_psk){(const uint8_t *)names[i], strlen(names[i]), (const uint8_t *)keys[i], strlen(keys[i])};
    }
    own.sin_port = htons((uint16_t)atoi(arguments[1]));
    lean_dtls_error error = lean_dtls_server_new(&server, sizeof server, &config);
    if (error != LEAN_DTLS_OK || bind(descriptor, (struct sockaddr *)&own, sizeof own) != 0) {
        fprintf(stderr, "cannot start: %s\n", lean_dtls_error_name(error));
        return 2;
    }
    int messages = 0;
    bool is_closed = false;
    while (messages < atoi(arguments[2]) || !is_closed) {
        uint64_t deadline = lean_dtls_server_deadline(&server), now = now_ms();
        int wait = deadline == LEAN_DTLS_NEVER ? 20000 : deadline > now ? (int)(deadline - now) : 0;
        struct pollfd polled = {.fd = descriptor, .events = POLLIN};
        if (poll(&polled, 1, wait) == 1) {
            uint8_t datagram[256];
            struct sockaddr_in from = {0};
            socklen_t size = sizeof from;
            ssize_t received = recvfrom(descriptor, datagram, sizeof datagram, 0, (struct sockaddr *)&from, &size);
            if (received <= 0)
                continue;
            lean_dtls_address peer = to_address(&from);
            message kept = {.length = 0};
            size_t length;
            /* Whose data they are, the server knows. The address is only where its answers go. */
            lean_dtls_association client
                = lean_dtls_server_receive(&server, &peer, datagram, (size_t)received, keep, &kept);
            if (kept.length > 0
                && lean_dtls_server_send(&server, client, kept.octets, kept.length, datagram, sizeof datagram, &length)
                       == LEAN_DTLS_OK
                && lean_dtls_server_address(&server, client, &peer)) {
                struct sockaddr_in to = from_address(&peer);
                sendto(descriptor, datagram, length, 0, (struct sockaddr *)&to, sizeof to);
                messages++;
            }
            if (client != LEAN_DTLS_NONE)
                is_closed = lean_dtls_server_status(&server, client) == LEAN_DTLS_CLOSED;
        } else if (deadline == LEAN_DTLS_NEVER) {
            return 1;
        } else {
            lean_dtls_server_handle_timeout(&server, now_ms());
        }
        send_all(&server, descriptor);
    }
    lean_dtls_server_drop(&server);
    close(descriptor);
    return 0;
}
