//! Issues certificates at run time, with mbedTLS: the Rust side of `csrc/mbedtls/certificate.h`.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::config::Arithmetic;
use crate::device::{Device, WORLD_BEGAN};
use crate::host;
use crate::interface::slowhand_mbedtls;
use crate::session::Failure;
use c::slowhand_mbedtls_certificate;

/// The certificate to issue.
pub(crate) struct Request<'a> {
    /// An X.509 certificate, DER. The new one has the same subject, key, validity and extensions.
    pub(crate) like: &'a [u8],
    /// The issuer's certificate, DER.
    pub(crate) issuer: &'a [u8],
    /// The issuer's private key: ECPrivateKey of RFC 5915 or RSAPrivateKey of RFC 8017, DER.
    pub(crate) issuer_key: &'a [u8],
    /// The serial number, a positive INTEGER without leading zeros: 1 to 20 octets (RFC 5280 section 4.1.2.2).
    pub(crate) serial: &'a [u8],
    /// The text of an additional extension, the Netscape certificate comment (2.16.840.1.113730.1.13): ASCII, at most
    /// 8192 octets.
    pub(crate) comment: Option<&'a [u8]>,
}

/// Issues a certificate, DER, signed with SHA-256. It uses a device of its own, so it takes no time of a session. The
/// randomness of that device is always the same. (The library uses it only for blinding. The nonce of ECDSA follows
/// RFC 6979.)
///
/// # Errors
/// The library's own error.
pub(crate) fn issue(request: &Request<'_>) -> Result<Vec<u8>, Failure> {
    // Twice the length of the longest comment: enough for the comment and all the rest.
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
    host::attach(&slowhand_mbedtls);
    let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
    // SAFETY: `wanted` has pointers to the slices of `request`, with their lengths. The buffer is writable and has the
    // given size. The function keeps no pointer.
    let outcome = device.run(|| unsafe { slowhand_mbedtls_issue(&wanted, buffer.as_mut_ptr(), buffer.len()) });
    let length = usize::try_from(outcome).map_err(|_| library_failure(outcome))?;
    Ok(buffer.split_off(buffer.len() - length))
}

fn library_failure(code: i32) -> Failure {
    let mut text: [c_char; 128] = [0; 128];
    // SAFETY: the buffer is writable and has the given size. The function ends the text with a zero.
    let text = unsafe {
        slowhand_mbedtls_error_text(code, text.as_mut_ptr(), text.len());
        CStr::from_ptr(text.as_ptr())
    };
    Failure::library(code, text.to_string_lossy())
}

unsafe extern "C" {
    fn slowhand_mbedtls_error_text(error: i32, text: *mut c_char, size: usize);
    fn slowhand_mbedtls_issue(certificate: *const slowhand_mbedtls_certificate, buffer: *mut u8, size: usize) -> i32;
}

/// The bindings that build.rs generates from `csrc/mbedtls/certificate.h`.
#[allow(non_camel_case_types)]
mod c {
    include!(concat!(env!("OUT_DIR"), "/mirrors/certificate.rs"));
}
