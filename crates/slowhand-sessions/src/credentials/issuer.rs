//! Issues certificates at run time, with mbedTLS. The interface of `csrc/mbedtls/certificate.h`.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::Arc;

use crate::device::Device;
use crate::operation::Weightless;
use crate::session::Failure;

/// A certificate to be issued.
pub(crate) struct Request<'a> {
    /// An X.509 certificate, DER: the new one has its subject, key, validity and extensions.
    pub(crate) like: &'a [u8],
    /// The issuer's certificate, DER.
    pub(crate) issuer: &'a [u8],
    /// The issuer's private key: ECPrivateKey of RFC 5915 or RSAPrivateKey of RFC 8017, DER.
    pub(crate) issuer_key: &'a [u8],
    /// The serial number, a positive INTEGER without leading zeros: 1 to 20 octets (RFC 5280 section 4.1.2.2).
    pub(crate) serial: &'a [u8],
    /// The text of one more extension, the certificate comment of Netscape (2.16.840.1.113730.1.13): ASCII, at most
    /// 8192 octets.
    pub(crate) comment: Option<&'a [u8]>,
}

/// Issues it, DER, signed with SHA-256. No session hears of it: this happens on a device of its own, whose randomness
/// (it blinds; the nonce of ECDSA is that of RFC 6979) is always the same.
///
/// # Errors
/// The library's own.
pub(crate) fn issue(request: &Request<'_>) -> Result<Vec<u8>, Failure> {
    // Twice the longest comment has room for all the rest, and for all of it without one.
    let mut buffer = vec![0; 16_384];
    let wanted = slowhand_mbedtls_certificate {
        like: request.like.as_ptr(),
        issuer: request.issuer.as_ptr(),
        issuer_key: request.issuer_key.as_ptr(),
        like_len: request.like.len(),
        issuer_len: request.issuer.len(),
        issuer_key_len: request.issuer_key.len(),
        serial: request.serial.as_ptr(),
        serial_len: request.serial.len(),
        comment: request.comment.map_or(ptr::null(), <[u8]>::as_ptr),
        comment_len: request.comment.map_or(0, <[u8]>::len),
    };
    let mut device = Device::new(Arc::new(Weightless), [0; 32]);
    // SAFETY: `wanted` points to the slices of `request` with their lengths, the buffer is writable and its size is
    // given; the function keeps none of them.
    let outcome = device.run(|| unsafe { slowhand_mbedtls_issue(&wanted, buffer.as_mut_ptr(), buffer.len()) });
    let length = usize::try_from(outcome).map_err(|_| library_failure(outcome))?;
    Ok(buffer.split_off(buffer.len() - length))
}

fn library_failure(code: i32) -> Failure {
    let mut text: [c_char; 128] = [0; 128];
    // SAFETY: the buffer is writable and its size is given; the function ends the text with a zero.
    let text = unsafe {
        slowhand_mbedtls_error_text(code, text.as_mut_ptr(), text.len());
        CStr::from_ptr(text.as_ptr())
    };
    Failure::Library { code, text: text.to_string_lossy().into_owned() }
}

#[allow(non_camel_case_types)]
#[repr(C)]
struct slowhand_mbedtls_certificate {
    like: *const u8,
    issuer: *const u8,
    issuer_key: *const u8,
    like_len: usize,
    issuer_len: usize,
    issuer_key_len: usize,
    serial: *const u8,
    serial_len: usize,
    comment: *const u8,
    comment_len: usize,
}

unsafe extern "C" {
    fn slowhand_mbedtls_error_text(error: i32, text: *mut c_char, size: usize);
    fn slowhand_mbedtls_issue(certificate: *const slowhand_mbedtls_certificate, buffer: *mut u8, size: usize) -> i32;
}

include!(concat!(env!("OUT_DIR"), "/slowhand_mbedtls_certificate.rs"));
