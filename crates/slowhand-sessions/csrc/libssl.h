/* The common part of the adapters to OpenSSL and BoringSSL, whose interfaces are largely the same. */
#ifndef SLOWHAND_LIBSSL_H
#define SLOWHAND_LIBSSL_H

#include "library.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

/* The largest datagram that OpenSSL sends: its buffer for a flight (DEFAULT_BUFFER_SIZE in bf_buff.c). *Assumed* for BoringSSL. */
#define LARGEST_DATAGRAM 4096

/* The longest list of certificates that a peer may send. The longest here has 8,000 octets (`LONGEST` in
 * src/credentials/issued.rs). OpenSSL's default is 100 KiB, and CVE-2026-35189 makes a hostile certificate of N octets cost
 * a multiple of N * N octets of memory. */
#define LONGEST_CERTIFICATES 16384

/* The reason of an error is SSL_R_SSL_ALERT_*: the description of a received fatal alert, plus SSL_AD_REASON_OFFSET. */
#define IS_ALERT(reason) ((reason) >= SSL_AD_REASON_OFFSET && (reason) <= SSL_AD_REASON_OFFSET + UINT8_MAX)

/* The transport is a BIO. Each call reads or writes one datagram, or some bytes of a stream. */

static inline int send_octets(BIO *bio, const char *octets, int length)
{
    (void) bio;
    slowhand_host->transmit((const uint8_t *) octets, (size_t) length);
    return length;
}

static inline int receive_from(struct slowhand_input *input, int is_datagram, BIO *bio, char *output, int size)
{
    BIO_clear_retry_flags(bio);
    size_t length = slowhand_take(input, is_datagram, output, (size_t) size);
    if (length == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    return (int) length;
}

/* Gives an SSL its transport, its end and the session that callbacks find. Returns 1, or 0 if there is no memory for one of them. */
static inline int connect_transport(SSL *ssl, BIO_METHOD *transport, void *session, int is_server)
{
    BIO *bio = BIO_new(transport);
    if (ssl == NULL || bio == NULL) {
        BIO_free(bio);
        return 0;
    }
    BIO_set_data(bio, session);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, session);
    if (is_server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    return 1;
}

static inline unsigned largest_datagram(const struct slowhand_options *options)
{
    return options->mtu != 0 && options->mtu < LARGEST_DATAGRAM ? options->mtu : LARGEST_DATAGRAM;
}

/* The state of a session that has failed for this reason of the library. */
static inline void set_failure(struct slowhand_progress *progress, int reason)
{
    progress->state = SLOWHAND_FAILED;
    progress->code = reason;
    if (reason == SSL_R_READ_TIMEOUT_EXPIRED) {
        progress->state = SLOWHAND_TIMED_OUT;
    } else if (IS_ALERT(reason)) {
        progress->state = SLOWHAND_ALERT_RECEIVED;
        progress->code = reason - SSL_AD_REASON_OFFSET;
    }
}

/* The suite of a session, or 0 if it has none yet. */
static inline uint16_t suite_of(const SSL *ssl)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    return cipher == NULL ? 0 : SSL_CIPHER_get_protocol_id(cipher);
}

#endif
