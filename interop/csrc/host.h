/* The world around the end whose call runs on this thread. src/host.rs implements these functions. build.rs generates checks that
 * the functions in Rust have these types. */
#ifndef INTEROP_HOST_H
#define INTEROP_HOST_H

#include <stddef.h>
#include <stdint.h>

/* Milliseconds from the beginning of the world. */
uint64_t interop_now_ms(void);
/* The calendar time, in milliseconds from 1970. */
uint64_t interop_unix_time_ms(void);
void interop_random(uint8_t *output, size_t length);
void interop_transmit(const uint8_t *datagram, size_t length);
void interop_deliver(const uint8_t *data, size_t length);
/* The peer has answered this end's heartbeat. */
void interop_heartbeat_answered(void);

#endif
