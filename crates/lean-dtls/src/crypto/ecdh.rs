//! Key agreement in software: P-256, and X25519.

use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
#[cfg(feature = "x25519")]
use subtle::ConstantTimeEq;

use super::{Failed, Group, SCALAR};

/// Writes the public key of a private key.
pub(super) fn public(group: Group, private: &[u8; SCALAR], public: &mut [u8]) -> Result<(), Failed> {
    let public = public.get_mut(..group.public()).ok_or(Failed)?;
    match group {
        Group::P256 => {
            let private = SecretKey::from_slice(private).map_err(|_| Failed)?;
            public.copy_from_slice(private.public_key().to_sec1_point(false).as_bytes());
            Ok(())
        }
        #[cfg(feature = "x25519")]
        Group::X25519 => {
            public.copy_from_slice(&x25519_dalek::x25519(*private, x25519_dalek::X25519_BASEPOINT_BYTES));
            Ok(())
        }
        #[cfg(not(feature = "x25519"))]
        Group::X25519 => Err(Failed),
    }
}

/// The shared secret.
pub(super) fn agree(group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
    match group {
        Group::P256 => {
            // A key of another form, compressed for example, was not agreed on (RFC 8422, section 5.1.2).
            let public = Some(public).filter(|public| public.len() == group.public()).ok_or(Failed)?;
            let private = SecretKey::from_slice(private).map_err(|_| Failed)?;
            // It is on the curve, and not the point at infinity.
            let public = PublicKey::from_sec1_bytes(public).map_err(|_| Failed)?;
            Ok((*private.diffie_hellman(&public).raw_secret_bytes()).into())
        }
        #[cfg(feature = "x25519")]
        Group::X25519 => {
            let secret = x25519_dalek::x25519(*private, public.try_into().map_err(|_| Failed)?);
            // A point of small order gives zeros (RFC 7748, section 6.1).
            if bool::from(secret.ct_eq(&[0; SCALAR])) { Err(Failed) } else { Ok(secret) }
        }
        #[cfg(not(feature = "x25519"))]
        Group::X25519 => Err(Failed),
    }
}
