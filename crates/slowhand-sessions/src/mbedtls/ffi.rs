//! The C interface of `csrc/mbedtls/session.h`.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int};

/// `mbedtls/ssl.h`: the handshake timed out.
pub(super) const MBEDTLS_ERR_SSL_TIMEOUT: c_int = -0x6800;
/// `mbedtls/ssl.h`: a fatal alert was received.
pub(super) const MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE: c_int = -0x7780;

pub(super) const SLOWHAND_RESUMPTION_NONE: c_int = 0;
pub(super) const SLOWHAND_RESUMPTION_ID: c_int = 1;
pub(super) const SLOWHAND_RESUMPTION_TICKET: c_int = 2;

/// A session of the library.
#[repr(C)]
pub(super) struct slowhand_mbedtls {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct slowhand_mbedtls_options {
    pub(super) is_server: c_int,
    pub(super) is_stream: c_int,
    pub(super) version: u16,
    pub(super) suite: u16,
    pub(super) group: u16,
    pub(super) signature: u16,
    pub(super) request_client_certificate: c_int,
    pub(super) psk: *const u8,
    pub(super) psk_identity: *const u8,
    pub(super) psk_len: usize,
    pub(super) psk_identity_len: usize,
    pub(super) trusted: *const u8,
    pub(super) certificate: *const u8,
    pub(super) key: *const u8,
    pub(super) trusted_len: usize,
    pub(super) certificate_len: usize,
    pub(super) key_len: usize,
    pub(super) cookie: c_int,
    pub(super) mtu: u16,
    pub(super) mfl: u8,
    pub(super) timeout_min_ms: u32,
    pub(super) timeout_max_ms: u32,
    pub(super) resumption: c_int,
    pub(super) previous: *const u8,
    pub(super) previous_len: usize,
    pub(super) cid: c_int,
}

unsafe extern "C" {
    pub(super) fn slowhand_mbedtls_initialise();
    pub(super) fn slowhand_mbedtls_version() -> u32;
    pub(super) fn slowhand_mbedtls_error_text(error: c_int, text: *mut c_char, size: usize);

    pub(super) fn slowhand_mbedtls_new(
        options: *const slowhand_mbedtls_options,
        error: *mut c_int,
    ) -> *mut slowhand_mbedtls;
    pub(super) fn slowhand_mbedtls_free(session: *mut slowhand_mbedtls);
    pub(super) fn slowhand_mbedtls_drive(session: *mut slowhand_mbedtls, input: *const u8, length: usize) -> c_int;

    pub(super) fn slowhand_mbedtls_resumable(session: *mut slowhand_mbedtls, output: *mut u8, size: usize) -> usize;
    pub(super) fn slowhand_mbedtls_deadline_ns(session: *const slowhand_mbedtls) -> u64;
    pub(super) fn slowhand_mbedtls_secrets(
        session: *const slowhand_mbedtls,
        client_random: *mut [u8; 32],
        master_secret: *mut [u8; 48],
    ) -> c_int;
    pub(super) fn slowhand_mbedtls_suite(session: *const slowhand_mbedtls) -> u16;
    pub(super) fn slowhand_mbedtls_peer_cid(session: *mut slowhand_mbedtls) -> c_int;
    pub(super) fn slowhand_mbedtls_received_alert(session: *const slowhand_mbedtls) -> u8;
}
