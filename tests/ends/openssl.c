/* An end with OpenSSL; see end.h. */
#include "end.h"

#include <netinet/in.h>
#include <sys/time.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "settings.h"

/* The variables have the names of the arguments of the settings. */
static const char *authority = "ca.pem", *chain, *key;
static SSL_SESSION *earlier = NULL;

static SSL *ssl;

static void check(const char *what, int is_well)
{
    if (!is_well)
        fail(what, (long) ERR_get_error());
}

static int draw(unsigned char *octets, int length)
{
    fill_randomly(octets, (size_t) length);
    return 1;
}

static int always(void)
{
    return 1;
}

/* The only client is the one whose datagrams the socket has. */
static int make_cookie(SSL *of, unsigned char *cookie, unsigned *length)
{
    (void) of;
    for (*length = 0; *length < 16; ++*length)
        cookie[*length] = (unsigned char) *length;
    return 1;
}

static int check_cookie(SSL *of, const unsigned char *cookie, unsigned length)
{
    (void) of;
    return length == 16 && cookie[15] == 15;
}

static void wait_for_input(int result)
{
    int error = SSL_get_error(ssl, result);
    struct timeval left;
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        fail("OpenSSL", (long) ERR_get_error());
    if (IS_STREAM || !DTLSv1_get_timeout(ssl, &left)) {
        wait_ms(-1);
        return;
    }
    if (!wait_ms(left.tv_sec * 1000 + (left.tv_usec + 999) / 1000) && DTLSv1_handle_timeout(ssl) < 0)
        fail("DTLSv1_handle_timeout", (long) ERR_get_error());
}

void open_session(void)
{
    static const RAND_METHOD RANDOM = {.bytes = draw, .pseudorand = draw, .status = always};
    static char chain_name[40], key_name[40];
    int result;
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    RAND_set_rand_method(&RANDOM);
    chain = strcpy(chain_name, own(".pem"));
    key = strcpy(key_name, own(".key"));
    SSL_CTX *context = SSL_CTX_new(IS_STREAM ? TLS_method() : DTLS_method());
    check("SSL_CTX_new", context != NULL);
    SSL_CTX_set_cookie_generate_cb(context, make_cookie);
    SSL_CTX_set_cookie_verify_cb(context, check_cookie);
    check("settings", CONFIGURE(context));
    ssl = SSL_new(context);
    check("SSL_new", ssl != NULL);
    BIO *bio = IS_STREAM ? BIO_new_socket(the_socket, BIO_NOCLOSE) : BIO_new_dgram(the_socket, BIO_NOCLOSE);
    if (!IS_STREAM) {
        /* The library has its own form of an address. */
        BIO_ADDR *peer = BIO_ADDR_new();
        const struct sockaddr_in *address = (const struct sockaddr_in *) &the_peer;
        check("address", BIO_ADDR_rawmake(peer, AF_INET, &address->sin_addr, sizeof address->sin_addr, address->sin_port));
        BIO_ctrl_set_connected(bio, peer);
    }
    SSL_set_bio(ssl, bio, bio);
    check("settings", PREPARE(ssl));
    while ((result = is_server ? SSL_accept(ssl) : SSL_connect(ssl)) <= 0)
        wait_for_input(result);
    (void) authority, (void) earlier;
}

void write_data(const void *octets, size_t length)
{
    int result;
    while ((result = SSL_write(ssl, octets, (int) length)) <= 0)
        wait_for_input(result);
}

size_t read_data(void *octets, size_t room)
{
    int result;
    while ((result = SSL_read(ssl, octets, (int) room)) <= 0)
        wait_for_input(result);
    return (size_t) result;
}
