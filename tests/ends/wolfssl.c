/* An end with wolfSSL; see end.h. */
#include "end.h"

#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/error-ssl.h>
#include <wolfssl/ssl.h>

#include "settings.h"

/* The variables have the names of the arguments of the settings. */
static const unsigned char *authority, *certificate, *key, *public_key, *peers_key;
static long authority_length, certificate_length, key_length, public_key_length, peers_key_length;
static unsigned char connection_id[32];
static WOLFSSL_SESSION *earlier = NULL;

static WOLFSSL *ssl;
static uint64_t sent_ms; /* when this end has last sent something */

static void check(const char *what, int is_well)
{
    if (!is_well)
        fail(what, ssl == NULL ? 0 : wolfSSL_get_error(ssl, 0));
}

static int receive(WOLFSSL *of, char *octets, int room, void *unused)
{
    (void) of;
    (void) unused;
    ssize_t length = take(octets, (size_t) room);
    return length < 0 ? WOLFSSL_CBIO_ERR_WANT_READ : (int) length;
}

static int transmit(WOLFSSL *of, char *octets, int length, void *unused)
{
    (void) of;
    (void) unused;
    sent_ms = now_ms();
    put(octets, (size_t) length);
    return length;
}

static int make_cookie(WOLFSSL *of, unsigned char *cookie, int room, void *unused)
{
    (void) of;
    (void) unused;
    memset(cookie, 7, (size_t) room);
    return room;
}

static void wait_for_input(int result)
{
    int error = wolfSSL_get_error(ssl, result);
    if (error != WOLFSSL_ERROR_WANT_READ && error != WOLFSSL_ERROR_WANT_WRITE)
        fail("wolfSSL", error);
    if (IS_STREAM || (wolfSSL_is_init_finished(ssl) && !IS_13)) {
        wait_ms(-1);
        return;
    }
    uint64_t timeout = 1000 * (uint64_t) wolfSSL_dtls_get_current_timeout(ssl), now = now_ms();
    if (IS_13 && wolfSSL_dtls13_use_quick_timeout(ssl))
        timeout /= 4;
    uint64_t due = sent_ms + timeout;
    if (!wait_ms(due <= now ? 0 : (long) (due - now))) {
        sent_ms = now_ms();
        check("wolfSSL_dtls_got_timeout", wolfSSL_dtls_got_timeout(ssl) == WOLFSSL_SUCCESS);
    }
}

static const unsigned char *load(const char *name, long *length)
{
    size_t octets;
    const unsigned char *found = content(name, &octets);
    *length = (long) octets;
    return found;
}

static WOLFSSL_METHOD *method(void)
{
#if IS_STREAM && IS_13
    return is_server ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method();
#elif IS_STREAM
    return is_server ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method();
#elif IS_13
    return is_server ? wolfDTLSv1_3_server_method() : wolfDTLSv1_3_client_method();
#else
    return is_server ? wolfDTLSv1_2_server_method() : wolfDTLSv1_2_client_method();
#endif
}

void open_session(void)
{
    int result;
    check("wolfSSL_Init", wolfSSL_Init() == WOLFSSL_SUCCESS);
    fill_randomly(connection_id, sizeof connection_id);
#ifdef HAS_CERTIFICATE
    authority = load("ca.der", &authority_length);
    if (is_server || !IS_SERVER_ONLY) {
        certificate = load(own(".der"), &certificate_length);
        key = load(own("_key.der"), &key_length);
    }
#endif
#ifdef HAS_RAW_PUBLIC_KEY
    if (is_server || !IS_SERVER_ONLY) {
        public_key = load(own("_public.der"), &public_key_length);
        key = load(own("_key.der"), &key_length);
    }
    if (!is_server || !IS_SERVER_ONLY)
        peers_key = load(peers("_public.der"), &peers_key_length);
#endif
    WOLFSSL_CTX *context = wolfSSL_CTX_new(method());
    check("wolfSSL_CTX_new", context != NULL);
    wolfSSL_CTX_SetIORecv(context, receive);
    wolfSSL_CTX_SetIOSend(context, transmit);
    wolfSSL_CTX_SetGenCookie(context, make_cookie);
    check("settings", CONFIGURE(context));
    ssl = wolfSSL_new(context);
    check("wolfSSL_new", ssl != NULL);
    if (!IS_STREAM)
        wolfSSL_dtls_set_using_nonblock(ssl, 1);
    check("settings", PREPARE(ssl));
    while ((result = is_server ? wolfSSL_accept(ssl) : wolfSSL_connect(ssl)) != WOLFSSL_SUCCESS)
        wait_for_input(result);
    (void) authority, (void) certificate, (void) key, (void) public_key, (void) peers_key, (void) earlier;
    (void) authority_length, (void) certificate_length, (void) key_length, (void) public_key_length, (void) peers_key_length;
    (void) connection_id, (void) load;
}

void write_data(const void *octets, size_t length)
{
    int result;
    while ((result = wolfSSL_write(ssl, octets, (int) length)) <= 0)
        wait_for_input(result);
}

size_t read_data(void *octets, size_t room)
{
    int result;
    while ((result = wolfSSL_read(ssl, octets, (int) room)) <= 0)
        wait_for_input(result);
    return (size_t) result;
}
