//! The C interface of `csrc/openssl/session.h`.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_ulong};

pub(super) const FAILED: c_int = -1;
pub(super) const HANDSHAKING: c_int = 0;

/// `SSL_AD_REASON_OFFSET` of `openssl/sslerr.h`: what the reason of a fatal alert received exceeds its description by.
pub(super) const ALERT_REASONS: c_int = 1000;
pub(super) const LAST_ALERT_REASON: c_int = ALERT_REASONS + u8::MAX as c_int;
/// `openssl/sslerr.h`: the last retransmission was in vain.
pub(super) const SSL_R_READ_TIMEOUT_EXPIRED: c_int = 312;

/// A session of the library.
#[repr(C)]
pub(super) struct slowhand_openssl {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct slowhand_openssl_options {
    pub(super) is_server: c_int,
    pub(super) is_stream: c_int,
    pub(super) version: u16,
    pub(super) suite: *const c_char,
    pub(super) group: u16,
    pub(super) signatures: *const c_char,
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
    pub(super) timeout_first_us: u32,
    pub(super) timeout_max_us: u32,
}

unsafe extern "C" {
    pub(super) fn slowhand_openssl_initialise();
    pub(super) fn slowhand_openssl_version() -> *const c_char;
    pub(super) fn slowhand_openssl_error_reason(error: c_ulong) -> c_int;
    pub(super) fn slowhand_openssl_error_text(error: c_ulong, text: *mut c_char, size: usize);

    pub(super) fn slowhand_openssl_new(
        options: *const slowhand_openssl_options,
        error: *mut c_ulong,
    ) -> *mut slowhand_openssl;
    pub(super) fn slowhand_openssl_free(session: *mut slowhand_openssl);
    pub(super) fn slowhand_openssl_drive(session: *mut slowhand_openssl, input: *const u8, length: usize) -> c_int;

    pub(super) fn slowhand_openssl_error(session: *const slowhand_openssl) -> c_ulong;
    pub(super) fn slowhand_openssl_deadline_ns(session: *const slowhand_openssl) -> u64;
    pub(super) fn slowhand_openssl_suite(session: *const slowhand_openssl) -> u16;
}
