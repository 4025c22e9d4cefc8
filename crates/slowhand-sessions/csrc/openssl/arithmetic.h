/* Signatures that are known to be valid; the arguments are those of ECDSA_verify. */
#ifndef SLOWHAND_OPENSSL_ARITHMETIC_H
#define SLOWHAND_OPENSSL_ARITHMETIC_H

#include <openssl/ec.h>

int slowhand_openssl_is_signed(const EC_KEY *key, const unsigned char *hash, int hash_len,
                               const unsigned char *signature, int length);
void slowhand_openssl_signed(const EC_KEY *key, const unsigned char *hash, int hash_len,
                             const unsigned char *signature, size_t length);

#endif
