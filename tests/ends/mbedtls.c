/* An end with mbedTLS; see end.h. */
#include "end.h"

#include <mbedtls/ecp.h>
#include <mbedtls/platform.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_cookie.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/x509_crt.h>
#include <psa/crypto.h>

#include "settings.h"

/* The variables have the names of the arguments of the settings. */
#ifdef HAS_CERTIFICATE
static mbedtls_x509_crt the_authority, the_certificate;
static mbedtls_pk_context the_key;
static mbedtls_x509_crt *authority = &the_authority, *certificate = &the_certificate;
static mbedtls_pk_context *key = &the_key;
#else
static const unsigned char *key = psk;
#define key_length psk_length
#endif
static mbedtls_ssl_cookie_ctx the_cookies;
static mbedtls_ssl_cookie_ctx *cookies;
static mbedtls_ssl_ticket_context tickets;
static const mbedtls_ssl_session *earlier = NULL;
static const unsigned char *password = (const unsigned char *) "J01NME";
static const size_t password_length = 6;
static unsigned char connection_id[32];

static mbedtls_ssl_context ssl;
static mbedtls_ssl_config conf;
static uint64_t intermediate_ms, final_ms; /* 0: no timer runs */

static int draw(void *unused, unsigned char *octets, size_t length)
{
    (void) unused;
    fill_randomly(octets, length);
    return 0;
}

static int transmit(void *unused, const unsigned char *octets, size_t length)
{
    (void) unused;
    return (int) put(octets, length);
}

static int receive(void *unused, unsigned char *octets, size_t room)
{
    (void) unused;
    ssize_t length = take(octets, room);
    return length < 0 ? MBEDTLS_ERR_SSL_WANT_READ : (int) length;
}

static void set_timer(void *unused, uint32_t intermediate, uint32_t final)
{
    (void) unused;
    intermediate_ms = final == 0 ? 0 : now_ms() + intermediate;
    final_ms = final == 0 ? 0 : now_ms() + final;
}

static int get_timer(void *unused)
{
    (void) unused;
    if (final_ms == 0)
        return -1;
    return now_ms() >= final_ms ? 2 : now_ms() >= intermediate_ms ? 1 : 0;
}

static void wait_for_input(int result)
{
    if (result != MBEDTLS_ERR_SSL_WANT_READ && result != MBEDTLS_ERR_SSL_WANT_WRITE)
        fail("mbedTLS", result);
    uint64_t now = now_ms();
    wait_ms(final_ms == 0 ? -1 : final_ms <= now ? 0 : (long) (final_ms - now));
}

static void check(const char *what, int result)
{
    if (result != 0)
        fail(what, result);
}

static void load(void)
{
#ifdef HAS_CERTIFICATE
    size_t length;
    const unsigned char *octets;
    mbedtls_x509_crt_init(authority);
    mbedtls_x509_crt_init(certificate);
    mbedtls_pk_init(key);
    octets = content("ca.der", &length);
    check("authority", mbedtls_x509_crt_parse_der(authority, octets, length));
    if (!is_server && IS_SERVER_ONLY)
        return;
    octets = content(own(".der"), &length);
    check("certificate", mbedtls_x509_crt_parse_der(certificate, octets, length));
    octets = content(own("_key.der"), &length);
    check("key", mbedtls_pk_parse_key(key, octets, length, NULL, 0, draw, NULL));
#endif
}

static void set_up(void)
{
    check("settings", PREPARE(&ssl));
    if (!IS_STREAM && is_server)
        check("address", mbedtls_ssl_set_client_transport_id(&ssl, (unsigned char *) &the_peer, the_peers_length));
}

void open_session(void)
{
    int result;
    mbedtls_ssl_init(&ssl);
    mbedtls_ssl_config_init(&conf);
    check("psa_crypto_init", (int) psa_crypto_init());
    fill_randomly(connection_id, sizeof connection_id);
    load();
    check("defaults",
          mbedtls_ssl_config_defaults(&conf, is_server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                      IS_STREAM ? MBEDTLS_SSL_TRANSPORT_STREAM : MBEDTLS_SSL_TRANSPORT_DATAGRAM,
                                      MBEDTLS_SSL_PRESET_DEFAULT));
    mbedtls_ssl_conf_rng(&conf, draw, NULL);
    if (is_server && !IS_STREAM) {
        mbedtls_ssl_cookie_init(&the_cookies);
        check("cookies", mbedtls_ssl_cookie_setup(&the_cookies, draw, NULL));
        cookies = &the_cookies;
    }
    if (is_server && HAS_TICKETS) { /* the text says so */
        mbedtls_ssl_ticket_init(&tickets);
        check("tickets", mbedtls_ssl_ticket_setup(&tickets, draw, NULL, MBEDTLS_CIPHER_AES_256_GCM, 86400));
        mbedtls_ssl_conf_session_tickets_cb(&conf, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse, &tickets);
    }
    check("settings", CONFIGURE(&conf));
    check("setup", mbedtls_ssl_setup(&ssl, &conf));
    check("name", mbedtls_ssl_set_hostname(&ssl, NULL));
    mbedtls_ssl_set_bio(&ssl, NULL, transmit, receive, NULL);
    if (!IS_STREAM)
        mbedtls_ssl_set_timer_cb(&ssl, NULL, set_timer, get_timer);
    set_up();
    while ((result = mbedtls_ssl_handshake(&ssl)) != 0) {
        if (result == MBEDTLS_ERR_SSL_HELLO_VERIFY_REQUIRED) {
            check("reset", mbedtls_ssl_session_reset(&ssl));
            set_up();
        } else {
            wait_for_input(result);
        }
    }
    (void) cookies, (void) earlier, (void) password, (void) password_length, (void) connection_id, (void) key;
}

void write_data(const void *octets, size_t length)
{
    int result;
    while ((result = mbedtls_ssl_write(&ssl, octets, length)) < 0)
        wait_for_input(result);
}

size_t read_data(void *octets, size_t room)
{
    int result;
    while ((result = mbedtls_ssl_read(&ssl, octets, room)) <= 0)
        wait_for_input(result);
    return (size_t) result;
}
