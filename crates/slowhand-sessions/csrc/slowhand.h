/* The functions of the device on which a C library runs. src/device.rs implements them for the current device of this thread.
 * During each library call, there is one. build.rs generates checks that the functions in Rust have these types. */
#ifndef SLOWHAND_H
#define SLOWHAND_H

#include <stddef.h>
#include <stdint.h>

/* The device's clock, in nanoseconds from the beginning of the world. */
uint64_t slowhand_now_ns(void);
/* The device's calendar time, in milliseconds from 1970. */
uint64_t slowhand_unix_time_ms(void);
/* Fills the buffer with random octets of the device. */
void slowhand_random(uint8_t *output, size_t length);
/* Sends one datagram, or writes these bytes to the stream, at the time of the device's clock. At least one octet. */
void slowhand_transmit(const uint8_t *octets, size_t length);
/* Delivers application data to the user of the session. At least one octet. */
void slowhand_deliver(const uint8_t *octets, size_t length);
/* Adds a secret of the session to the key log, with its label. */
void slowhand_key_log(const char *label, const uint8_t client_random[32], const uint8_t *secret, size_t length);
/* Reports that the library has just verified the peer's Finished. */
void slowhand_verified(void);

/* The functions below report an operation that the library has just performed. Each advances the device's clock.
 * A curve is a TLS NamedGroup (RFC 8422 section 5.1.1): 19 secp192r1, 23 secp256r1. Others are not counted. */
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
/* `bits` is the length of the key. */
void slowhand_rsa_sign(uint16_t bits);
void slowhand_rsa_verify(uint16_t bits);
void slowhand_rsa_encrypt(uint16_t bits);
void slowhand_rsa_decrypt(uint16_t bits);

#endif
