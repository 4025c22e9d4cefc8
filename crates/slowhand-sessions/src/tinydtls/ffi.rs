//! The C interface of `csrc/tinydtls/session.h`.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int};

pub(super) const HANDSHAKING: c_int = 0;
pub(super) const CONNECTED: c_int = 1;
pub(super) const ALERT_RECEIVED: c_int = 2;
pub(super) const TIMED_OUT: c_int = 4;

/// A session of the library.
#[repr(C)]
pub(super) struct slowhand_tinydtls {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct slowhand_tinydtls_options {
    pub(super) is_server: c_int,
    pub(super) suite: u16,
    pub(super) first_timeout_ns: u64,
    pub(super) psk: *const u8,
    pub(super) psk_identity: *const u8,
    pub(super) psk_len: usize,
    pub(super) psk_identity_len: usize,
    pub(super) private_key: *const u8,
    pub(super) public_x: *const u8,
    pub(super) public_y: *const u8,
    pub(super) peer_x: *const u8,
    pub(super) peer_y: *const u8,
}

unsafe extern "C" {
    pub(super) fn slowhand_tinydtls_initialise();
    pub(super) fn slowhand_tinydtls_version() -> *const c_char;

    pub(super) fn slowhand_tinydtls_new(options: *const slowhand_tinydtls_options) -> *mut slowhand_tinydtls;
    pub(super) fn slowhand_tinydtls_free(session: *mut slowhand_tinydtls);
    pub(super) fn slowhand_tinydtls_connect(session: *mut slowhand_tinydtls) -> c_int;
    pub(super) fn slowhand_tinydtls_receive(
        session: *mut slowhand_tinydtls,
        datagram: *const u8,
        length: usize,
    ) -> c_int;
    pub(super) fn slowhand_tinydtls_expire(session: *mut slowhand_tinydtls) -> c_int;

    pub(super) fn slowhand_tinydtls_deadline_ns(session: *const slowhand_tinydtls) -> u64;
    pub(super) fn slowhand_tinydtls_secrets(
        session: *const slowhand_tinydtls,
        client_random: *mut [u8; 32],
        master_secret: *mut [u8; 48],
    ) -> c_int;
    pub(super) fn slowhand_tinydtls_error(session: *const slowhand_tinydtls) -> c_int;
}
