/* Issues a copy of a certificate, with another issuer and another length. src/credentials/issuer.rs mirrors the struct. */
#ifndef SLOWHAND_MBEDTLS_CERTIFICATE_H
#define SLOWHAND_MBEDTLS_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

struct slowhand_mbedtls_certificate {
    const uint8_t *like, *issuer, *issuer_key; /* DER */
    size_t like_len, issuer_len, issuer_key_len;
    const uint8_t *serial;                     /* a positive INTEGER, at most 20 octets */
    size_t serial_len;
    const uint8_t *comment;                    /* IA5String; NULL: none */
    size_t comment_len;
};

/* Writes the certificate (DER) to the end of the buffer. Returns its length, or the library's negative error code. */
int slowhand_mbedtls_issue(const struct slowhand_mbedtls_certificate *certificate, uint8_t *buffer, size_t size);

/* Call this before any other function of the library. Only the first call has an effect. */
void slowhand_mbedtls_initialise(void);
/* The device's randomness, for the parameter `f_rng` of the library. */
int slowhand_mbedtls_random(void *unused, unsigned char *output, size_t length);
void slowhand_mbedtls_error_text(int error, char *text, size_t size);

#endif
