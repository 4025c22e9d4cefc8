/* An end with tinyDTLS; see end.h. */
#include "end.h"

#include "settings.h"

#include "dtls_debug.h"

static dtls_context_t *context;
static session_t peer;
static int is_established;
static unsigned char data[64];
static size_t data_length;

#ifdef HAS_RAW_PUBLIC_KEY
void load_keys(int server); /* tinydtls_keys.c */
#else
static void load_keys(int server)
{
    (void) server;
}
#endif

static int transmit(dtls_context_t *of, session_t *to, uint8 *octets, size_t length)
{
    (void) of;
    (void) to;
    return (int) put(octets, length);
}

static int deliver(dtls_context_t *of, session_t *from, uint8 *octets, size_t length)
{
    (void) of;
    (void) from;
    data_length = length < sizeof data ? length : sizeof data;
    memcpy(data, octets, data_length);
    return 0;
}

static int happened(dtls_context_t *of, session_t *with, dtls_alert_level_t level, unsigned short code)
{
    (void) of;
    (void) with;
    if (level == DTLS_ALERT_LEVEL_FATAL)
        fail("alert", code);
    is_established |= code == DTLS_EVENT_CONNECTED;
    return 0;
}

static void proceed(void)
{
    static uint8 octets[2000];
    clock_time_t next = 0;
    dtls_tick_t now;
    dtls_check_retransmit(context, &next);
    dtls_ticks(&now);
    if (wait_ms(next == 0 ? -1 : next <= now ? 0 : (long) ((next - now) * 1000 / CLOCK_SECOND + 1))) {
        ssize_t length = take(octets, sizeof octets);
        if (length > 0)
            dtls_handle_message(context, &peer, octets, (int) length);
    }
}

void open_session(void)
{
    static dtls_handler_t handler = {.write = transmit, .read = deliver, .event = happened};
    load_keys(is_server);
    dtls_init();
    dtls_set_log_level(DTLS_LOG_EMERG);
    context = dtls_new_context(NULL);
    configure(context, &handler);
    dtls_session_init(&peer);
    memcpy(&peer.addr, &the_peer, the_peers_length);
    peer.size = the_peers_length;
    if (!is_server && dtls_connect(context, &peer) < 0)
        fail("dtls_connect", 0);
    while (!is_established)
        proceed();
}

void write_data(const void *octets, size_t length)
{
    dtls_write(context, &peer, (uint8 *) octets, length);
}

size_t read_data(void *octets, size_t room)
{
    while (data_length == 0)
        proceed();
    size_t length = data_length < room ? data_length : room;
    memcpy(octets, data, length);
    return length;
}
