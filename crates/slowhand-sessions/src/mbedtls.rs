//! Mbed TLS.
//!
//! The library runs unmodified. Its public callbacks give it the device's I/O (one datagram or one write at a time),
//! timers (`mbedtls_ssl_set_timer_cb`), calendar and randomness. Sessions do not share a configuration, because the
//! library writes into it (keys cache precomputed points). A configuration takes microseconds to set up.

use crate::interface::slowhand_stack;

unsafe extern "C" {
    static slowhand_mbedtls: slowhand_stack;
}

/// The library.
pub(crate) fn stack() -> &'static slowhand_stack {
    // SAFETY: it is a constant of csrc/mbedtls/stack.c.
    unsafe { &slowhand_mbedtls }
}
