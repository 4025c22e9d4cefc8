//! OpenSSL.
//!
//! The library runs unmodified. Its public callbacks give it I/O (a BIO, one datagram or one write at a time),
//! randomness (a `RAND_METHOD`) and the timeout of the handshake (`DTLS_set_timer_cb`). It has no callback for its
//! clock, so `build.rs` compiles it with other names for `time` and `gettimeofday`.
//!
//! Its behaviour as a DTLS endpoint, which its applications see too: it sends a flight in one datagram the first time
//! and in several datagrams when it retransmits. Its timer expires 15 ms early. The handshake fails after the twelfth
//! retransmission without an answer. Sessions do not share a configuration (`SSL_CTX`).
//!
//! Its configuration follows small devices and the other libraries here: one suite, one group and the signature
//! algorithms for them; security level 0, because other levels refuse tags of 8 octets; no tickets and no session
//! cache. It sends its own certificate and not that of the authority.

use crate::interface::slowhand_stack;

unsafe extern "C" {
    static slowhand_openssl: slowhand_stack;
}

/// The library.
pub(crate) fn stack() -> &'static slowhand_stack {
    // SAFETY: it is a constant of csrc/openssl/stack.c.
    unsafe { &slowhand_openssl }
}
