//! Certificates of a length that is asked for: like those in the files, but issued at run time.
//!
//! What is missing to the length is filled with octets of the serial number, as long as they are few, else with a comment.
//! An extension of its own for the comment costs more octets than some lengths leave, the header of a DER element grows
//! with its content, and the signature of ECDSA varies in length: so certificates are issued, with other serial
//! numbers, until one has the length.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use super::files::{CertificateKey, Chain, End, in_file};
use super::issuer::{Request, issue};
use crate::config::Role;
use crate::operation::Curve;
use crate::session::Failure;

/// The longest certificate: with it, a Certificate message fits into one record (2^14 octets, RFC 5246 section 6.2.1)
/// and the comment into the buffer of the issuer. Else assumed.
const LONGEST: u16 = 8_000;

/// The one length between that no certificate can have: content of 255 octets has a header of 3, content of 256
/// one of 4 (ITU-T X.690 section 8.1.3).
pub(crate) const IMPOSSIBLE_LENGTH: u16 = 259;

/// An extension with an empty comment: an OID of 11 octets, the headers of SEQUENCE, OCTET STRING and IA5String.
const EMPTY_COMMENT: usize = 17;

/// The longest serial number that conforms (RFC 5280 section 4.1.2.2).
const LONGEST_SERIAL: usize = 20;

/// How many octets of serial number are tried beside a comment. More than the headers that can grow at once: an extension
/// inside the list of extensions inside a certificate.
const SERIALS_BESIDE_COMMENT: usize = 4;

/// The text of comments, again and again.
const COMMENT: &[u8] = b"padding ";

/// An issuer: its certificate and private key, DER.
struct Issuer {
    certificate: &'static [u8],
    key: &'static [u8],
}

fn issuer(key: CertificateKey) -> Issuer {
    macro_rules! issuer {
        ($name:literal) => {
            Issuer {
                certificate: include_bytes!(concat!("../../credentials/", $name, "-issuer.der")),
                key: include_bytes!(concat!("../../credentials/", $name, "-issuer-key.der")),
            }
        };
    }
    match key {
        CertificateKey::Curve(Curve::Secp192r1) => issuer!("secp192r1"),
        CertificateKey::Curve(Curve::Secp256r1) => issuer!("secp256r1"),
        CertificateKey::Rsa(1024) => issuer!("rsa1024"),
        CertificateKey::Rsa(3072) => issuer!("rsa3072"),
        CertificateKey::Rsa(_) => issuer!("rsa2048"),
    }
}

/// The lengths in octets that the certificate of an end can have.
pub(crate) fn lengths(key: CertificateKey, role: Role) -> RangeInclusive<u16> {
    let shortest = in_file(key, role).own.certificate.len();
    // A file of some hundred octets.
    shortest as u16..=LONGEST
}

/// Certificates by the private key of the end and their length.
type Issued = BTreeMap<(&'static [u8], u16), &'static [u8]>;

/// The certificates of an end, its own of exactly this length, one of [`lengths`].
pub(super) fn chain(key: CertificateKey, role: Role, length: u16) -> Result<Chain, Failure> {
    // Each is issued once in the process and kept: there are only so many lengths.
    static ISSUED: Mutex<Issued> = Mutex::new(BTreeMap::new());
    let (like, issuer) = (in_file(key, role).own, issuer(key));
    // A panic elsewhere has left the map whole.
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

fn issue_of_length(like: &End, role: Role, issuer: &Issuer, length: usize) -> Result<Vec<u8>, Failure> {
    // What fills it, if only the header of nothing else grew.
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
        match certificate.len().cmp(&length) {
            Ordering::Equal => return Ok(certificate),
            Ordering::Less => padding += length - certificate.len(),
            Ordering::Greater => padding = padding.saturating_sub(certificate.len() - length),
        }
    }
    // About one of three attempts hits; nobody has seen all of them fail.
    Err(Failure::Library { code: 0, text: format!("no certificate of {length} octets could be issued") })
}

/// The first octets of serial numbers: never those of the other end, never of a negative number.
fn serials(role: Role) -> impl Iterator<Item = u8> {
    let first = match role {
        Role::Server => 2,
        Role::Client => 3,
    };
    (first..0x80).step_by(2)
}

/// What a certificate has more than the one that it is like.
struct Filling {
    serial: Vec<u8>,
    comment: Option<Vec<u8>>,
}

impl Filling {
    /// So many octets, in a way that depends on the attempt.
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
