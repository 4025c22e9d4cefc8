//! The stacks that this crate links.
#![allow(non_upper_case_globals)]

use std::ffi::c_int;
use std::ptr;

use slowhand_sessions::Stack;

/// `struct slowhand_stack` of `csrc/slowhand/stack.h`.
#[repr(C)]
struct Table {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    #[cfg(feature = "boringssl")]
    static slowhand_stack_of_boringssl: Table;
    static slowhand_stack_of_gnutls: Table;
    static slowhand_stack_of_wolfssl: Table;

    fn interop_gnutls_heartbeats(has_heartbeats: c_int);
}

#[cfg(feature = "boringssl")]
pub(crate) fn boringssl() -> Result<Stack, String> {
    // SAFETY: C++ defines the constant by SLOWHAND_STACK of the header.
    unsafe { Stack::link("boringssl", ptr::from_ref(&slowhand_stack_of_boringssl).cast()) }
}

pub(crate) fn dimpl() -> Result<Stack, String> {
    // SAFETY: Rust defines the constant by the macro of slowhand-stack.
    unsafe { Stack::link("dimpl", slowhand_dimpl::SLOWHAND_STACK.as_ptr().cast()) }
}

pub(crate) fn gnutls() -> Result<Stack, String> {
    // SAFETY: C defines the constant by SLOWHAND_STACK of the header.
    unsafe { Stack::link("gnutls", ptr::from_ref(&slowhand_stack_of_gnutls).cast()) }
}

pub(crate) fn wolfssl() -> Result<Stack, String> {
    // SAFETY: C defines the constant by SLOWHAND_STACK of the header.
    unsafe { Stack::link("wolfssl", ptr::from_ref(&slowhand_stack_of_wolfssl).cast()) }
}

/// The sessions of GnuTLS that this thread makes from now on have heartbeats, or have none.
pub(crate) fn set_heartbeats(has_heartbeats: bool) {
    // SAFETY: it sets a variable of the thread.
    unsafe { interop_gnutls_heartbeats(has_heartbeats.into()) }
}
