/* What the files of this adapter share. */
#ifndef SLOWHAND_WOLFSSL_ADAPTER_H
#define SLOWHAND_WOLFSSL_ADAPTER_H

/* The library has no callback for the end of the handshake at this very moment. So the session that runs on this thread looks at
 * its state before each operation that is counted and each datagram, and reports that the peer's Finished has been verified. No
 * time passes in between, because only these advance the device's clock. */
void slowhand_wolfssl_notice(void);

#endif
