// Firmware for Linux, as Zephyr's native_sim and RIOT's native are: an IPv6 of its own at an interface that it opens.
//
//     firmware tap|tun ADDRESS     asks the UDP port 9999 of ADDRESS twice, two seconds apart, and prints the answers
//
// At a TAP interface it asks for a router (RFC 4861) and makes its address of the prefix; at a TUN interface it was built with one.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { ETHERNET = 14, IPV6 = 40, UDP = 8, PORT = 4000 };

static int interface, has_frames;
static unsigned char mac[6], router[6], own[16];
static volatile sig_atomic_t signals;

static void on_input(int signal) { signals++; }

static int open_interface(int kind) {
    struct ifreq request = {0};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    request.ifr_flags = kind | IFF_NO_PI;
    strcpy(request.ifr_name, "firmware0");
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) {
        perror("firmware0");
        exit(1);
    }
    if (kind == IFF_TAP) {
        memset(&request, 0, sizeof request);
        strcpy(request.ifr_name, "firmware0");
        ioctl(fd, SIOCGIFHWADDR, &request);
        memcpy(mac, request.ifr_hwaddr.sa_data, 6);
        mac[5]++; // the host has the other one
    }
    signal(SIGIO, on_input);
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
    return fd;
}

static uint16_t checksum(const unsigned char *packet, int length) {
    uint32_t sum = length + packet[6];
    for (int i = 8; i < IPV6 + length; i += 2)
        sum += packet[i] << 8 | (i + 1 < IPV6 + length ? packet[i + 1] : 0);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

static void send_packet(const char *to_mac, int next, const unsigned char *source, const unsigned char *destination,
                        const unsigned char *body, int length, int place) {
    unsigned char frame[1514] = {0}, *packet = frame + (has_frames ? ETHERNET : 0);
    if (has_frames) {
        memcpy(frame, to_mac, 6);
        memcpy(frame + 6, mac, 6);
        frame[12] = 0x86, frame[13] = 0xdd;
    }
    packet[0] = 0x60, packet[5] = length, packet[6] = next, packet[7] = next == IPPROTO_ICMPV6 ? 255 : 64;
    memcpy(packet + 8, source, 16);
    memcpy(packet + 24, destination, 16);
    memcpy(packet + IPV6, body, length);
    uint16_t sum = htons(checksum(packet, length));
    memcpy(packet + IPV6 + place, &sum, 2);
    if (write(interface, frame, packet - frame + IPV6 + length) < 0) perror("write");
}

// The next packet for this firmware; its checksum must be right.
static unsigned char *receive(void) {
    static unsigned char frame[1514];
    for (;;) {
        int length = read(interface, frame, sizeof frame);
        if (length > 0) {
            unsigned char *packet = frame + (has_frames ? ETHERNET : 0);
            int body = packet[4] << 8 | packet[5];
            if (has_frames && !(frame[0] & 1) && memcmp(frame, mac, 6)) continue;
            if (checksum(packet, body)) {
                printf("a wrong checksum\n");
                exit(2);
            }
            return packet;
        }
        poll(&(struct pollfd){interface, POLLIN}, 1, 30000);
    }
}

static void find_router(void) {
    unsigned char nobody[16] = {0}, routers[16] = {0xff, 2, [15] = 2}, asks[8] = {133};
    send_packet("\x33\x33\0\0\0\2", IPPROTO_ICMPV6, nobody, routers, asks, sizeof asks, 2);
    unsigned char *packet = receive();
    unsigned char *message = packet + IPV6, *end = message + (packet[4] << 8 | packet[5]);
    printf("router: type %d, hop limit %d, lifetime %d s\n", message[0], packet[7], message[6] << 8 | message[7]);
    for (unsigned char *option = message + 16; option + 8 <= end && option[1]; option += 8 * option[1]) {
        if (option[0] == 1) memcpy(router, option + 2, 6);
        if (option[0] == 3) memcpy(own, option + 16, 8);
        if (option[0] == 5) printf("mtu %d\n", option[6] << 8 | option[7]);
    }
    memcpy(own + 8, (unsigned char[]){mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}, 8);
    // Where the router is once more, and from whom the answer comes (RFC 4861 section 7.2).
    unsigned char who[32] = {135, [8] = 0xfe, 0x80, [23] = 1, [24] = 1, 1};
    memcpy(who + 26, mac, 6);
    send_packet((char *)router, IPPROTO_ICMPV6, own, who + 8, who, sizeof who, 2);
    message = receive() + IPV6;
    printf("neighbour: type %d, %s\n", message[0], memcmp(message + 26, router, 6) ? "another" : "the router");
}

int main(int count, char **arguments) {
    unsigned char server[16], datagram[UDP + 4] = {PORT >> 8, PORT & 0xff, 9999 >> 8, 9999 & 0xff, 0, UDP + 4};
    has_frames = !strcmp(arguments[1], "tap");
    interface = open_interface(has_frames ? IFF_TAP : IFF_TUN);
    inet_pton(AF_INET6, arguments[2], server);
    if (has_frames)
        find_router();
    else
        inet_pton(AF_INET6, "fd00::302:304:506:708", own);
    for (int i = 0; i < 2; i++) {
        memcpy(datagram + UDP, i ? "two." : "one.", 4);
        send_packet((char *)router, IPPROTO_UDP, own, server, datagram, sizeof datagram, 6);
        unsigned char *packet = receive();
        int length = (packet[4] << 8 | packet[5]) - UDP;
        printf("%.*s for %s\n", length, packet + IPV6 + UDP, memcmp(packet + 24, own, 16) ? "another" : "it");
        for (struct timespec rest = {2, 0}; nanosleep(&rest, &rest) && errno == EINTR;) continue;
    }
    printf("%s\n", signals ? "signals came" : "no signal came");
    return 0;
}
