/* What the C libraries may ask of the device they run on. Implemented in src/device.rs for the device that is the
 * current one of this thread: each library call is made with one. */
#ifndef SLOWHAND_H
#define SLOWHAND_H

#include <stddef.h>
#include <stdint.h>

/* The device's clock, in nanoseconds since the world began. */
uint64_t slowhand_now_ns(void);
/* The same as a calendar: seconds since 1970. */
uint64_t slowhand_unix_time(void);
/* The device's randomness. */
void slowhand_random(uint8_t *output, size_t length);
/* Hand one datagram to the network, or write these bytes to the stream, at the device's present time. */
void slowhand_transmit(const uint8_t *octets, size_t length);
/* Hand application data to whoever uses the session: at least one octet. */
void slowhand_receive(const uint8_t *octets, size_t length);
/* A secret of the session, by its label in a key log. */
void slowhand_key_log(const char *label, const uint8_t client_random[32], const uint8_t *secret, size_t length);
/* The peer's Finished has just been verified. */
void slowhand_verified(void);

/* What has just been computed; each call moves the device's clock.
 * Curves by their TLS NamedGroup (RFC 8422 section 5.1.1): 19 secp192r1, 23 secp256r1. */
void slowhand_sha1(uint32_t blocks);
void slowhand_sha256(uint32_t blocks);
void slowhand_sha512(uint32_t blocks);
void slowhand_seal(int is_gcm, uint32_t key_bits, uint32_t tag, uint32_t octets, uint32_t additional);
void slowhand_open(int is_gcm, uint32_t key_bits, uint32_t tag, uint32_t octets, uint32_t additional);
void slowhand_cbc(int is_encryption, uint32_t key_bits, uint32_t octets);
void slowhand_ecdh_generate(uint16_t curve);
void slowhand_ecdh_agree(uint16_t curve);
void slowhand_ecdsa_sign(uint16_t curve);
void slowhand_ecdsa_verify(uint16_t curve);
/* By the length of the key in bits. */
void slowhand_rsa_sign(uint16_t bits);
void slowhand_rsa_verify(uint16_t bits);
void slowhand_rsa_encrypt(uint16_t bits);
void slowhand_rsa_decrypt(uint16_t bits);

#endif
