//! Certificates of a chosen length, issued at run time. They are like those in the files.
//!
//! A longer serial number fills up to 19 octets. A comment extension fills more. The length of the result is not known
//! before: the header of a DER element grows with its content, and an ECDSA signature varies in length. So this module
//! issues certificates with different serial numbers until one has the right length.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use super::files::{CertificateKey, Chain, End, in_file, issuer};
use super::issuer::{Request, issue};
use crate::config::Role;
use crate::session::Failure;

/// The length of the longest certificate (assumed). With it, a Certificate message fits into one record (2^14 octets,
/// RFC 5246 section 6.2.1), and the comment fits into the buffer of the issuer.
const LONGEST: u16 = 8_000;

/// The only length in the range that no certificate can have: content of 255 octets has a header of 3 octets, content
/// of 256 octets has a header of 4 (ITU-T X.690 section 8.1.3).
pub(crate) const IMPOSSIBLE_LENGTH: u16 = 259;

/// Octets of an extension with an empty comment: an OID of 11 octets, the headers of SEQUENCE, OCTET STRING and
/// IA5String.
const EMPTY_COMMENT: usize = 17;

/// The most octets of a serial number (RFC 5280 section 4.1.2.2).
const LONGEST_SERIAL: usize = 20;

/// The number of lengths of serial number to try with a comment. It is greater than the number of headers that can grow
/// at the same time: those of the extension, of the list of extensions, and of the certificate.
const SERIALS_BESIDE_COMMENT: usize = 4;

/// The text that comments repeat.
const COMMENT: &[u8] = b"padding ";

/// The lengths in octets that are possible for the certificate of an end, except [`IMPOSSIBLE_LENGTH`].
pub(crate) fn lengths(key: CertificateKey, role: Role) -> RangeInclusive<u16> {
    let shortest = in_file(key, role).own.certificate.len();
    // The file has some hundred octets.
    shortest as u16..=LONGEST
}

/// Certificates, by private key and length.
type Issued = BTreeMap<(&'static [u8], u16), &'static [u8]>;

/// The certificates of an end. Its own certificate has this length, which must be one of [`lengths`].
pub(super) fn chain(key: CertificateKey, role: Role, length: u16) -> Result<Chain, Failure> {
    // The process keeps each certificate and never frees it. The number of lengths is limited.
    static ISSUED: Mutex<Issued> = Mutex::new(BTreeMap::new());
    let (like, issuer) = (in_file(key, role).own, issuer(key));
    // A panic in another thread leaves the map valid.
    let mut issued = ISSUED.lock().unwrap_or_else(PoisonError::into_inner);
    let certificate = match issued.get(&(like.key, length)) {
        Some(certificate) => *certificate,
        None => {
            let certificate: &'static [u8] = issue_of_length(&like, role, &issuer, length.into())?.leak();
            issued.insert((like.key, length), certificate);
            certificate
        }
    };
    Ok(Chain { authority: issuer.certificate, own: End { certificate, key: like.key } })
}

fn issue_of_length(like: &End, role: Role, issuer: &End, length: usize) -> Result<Vec<u8>, Failure> {
    // The first try assumes that no header grows.
    let mut padding = length - like.certificate.len();
    for (attempt, first) in serials(role).enumerate() {
        let Filling { serial, comment } = Filling::of(padding, first, attempt);
        let certificate = issue(&Request {
            like: like.certificate,
            issuer: issuer.certificate,
            issuer_key: issuer.key,
            serial: &serial,
            comment: comment.as_deref(),
        })?;
        if certificate.len() == length {
            return Ok(certificate);
        }
        padding = (padding + length).saturating_sub(certificate.len());
    }
    // About one of three attempts has the right length, so 63 attempts are enough in practice.
    Err(Failure::library(0, format!("the library did not issue a certificate of {length} octets")))
}

/// The first octets of serial numbers. They differ from those of the other end, and make no negative number.
fn serials(role: Role) -> impl Iterator<Item = u8> {
    let first = match role {
        Role::Server => 2,
        Role::Client => 3,
    };
    (first..0x80).step_by(2)
}

/// The octets that make a certificate longer than the one in the file.
struct Filling {
    serial: Vec<u8>,
    comment: Option<Vec<u8>>,
}

impl Filling {
    /// `padding` octets. Different attempts divide them differently.
    fn of(padding: usize, first: u8, attempt: usize) -> Self {
        let beside = attempt % SERIALS_BESIDE_COMMENT;
        let (more, comment) = if padding < LONGEST_SERIAL {
            (padding, None)
        } else {
            let length = padding - EMPTY_COMMENT - beside;
            (beside, Some(COMMENT.iter().copied().cycle().take(length).collect()))
        };
        Self { serial: vec![first; 1 + more], comment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_divide_the_padding_differently() {
        for padding in [0, 1, LONGEST_SERIAL - 1, LONGEST_SERIAL, 100, 7_000] {
            let fillings: Vec<Filling> =
                (0..SERIALS_BESIDE_COMMENT).map(|attempt| Filling::of(padding, 2, attempt)).collect();
            let mut serials = Vec::new();
            for Filling { serial, comment } in fillings {
                // The serial number has one octet without padding.
                let in_comment = comment.map_or(0, |comment| EMPTY_COMMENT + comment.len());
                assert_eq!(serial.len() - 1 + in_comment, padding);
                assert!(serial.iter().all(|&octet| octet == 2) && serial.len() <= LONGEST_SERIAL);
                serials.push(serial.len());
            }
            // Without a comment there is only one way.
            serials.dedup();
            let ways = if padding < LONGEST_SERIAL { 1 } else { SERIALS_BESIDE_COMMENT };
            assert_eq!(serials.len(), ways, "{padding}");
        }
    }
}
