//! Eclipse tinyDTLS.
//!
//! The library runs unmodified. Its clock and randomness (`dtls_ticks`, `dtls_prng`) are the device's. It sends each
//! handshake *message* in a datagram of its own, with a timer of its own; the head of its send queue has the next
//! deadline.
//!
//! The first timeout is always 2,000 ticks of its clock and doubles with each retransmission. With the default of 2 s,
//! a tick is one millisecond. Another first timeout changes the length of a tick. This affects only one other thing:
//! how long the library keeps an alert that it has sent. After its last retransmission, the library does nothing more
//! and reports nothing. The adapter reports this as [`FailureKind::TimedOut`](crate::FailureKind::TimedOut).
//!
//! Its buffer for a record has 1,400 octets (`DTLS_MAX_BUF` in `global.h`). Header, nonce and tag take 37 octets of it.
//! So application data has at most 1,363 octets.

use crate::interface::slowhand_stack;

unsafe extern "C" {
    static slowhand_tinydtls: slowhand_stack;
}

/// The library.
pub(crate) fn stack() -> &'static slowhand_stack {
    // SAFETY: it is a constant of csrc/tinydtls/stack.c.
    unsafe { &slowhand_tinydtls }
}
