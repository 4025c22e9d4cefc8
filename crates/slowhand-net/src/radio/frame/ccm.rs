//! CCM* on the octets of a frame (IEEE Std 802.15.4-2020, 9.3 and annex B).
//!
//! ```text
//! nonce: source address (64) | frame counter (32) | security level (8)
//!        source address (64) | absolute slot number (40)                  with the ASN in the nonce
//! ```
//! All fields begin with their most significant octet. The private payload is encrypted: payload IEs and payload. Beacons
//! and MAC commands of versions 0 and 1 have fields in front of it that are not encrypted (IEEE Std 802.15.4-2006, table
//! 96): the fields of a beacon, and the command ID.

use super::beacon::BeaconView;
use super::error::Error;
use super::kind::{FrameType, MAX_FRAME, Version};
use super::security::{Security, SecurityLevel};
use super::view::FrameView;
use crate::address::Eui64;
use aes::Aes128;
use ccm::aead::array::ArraySize;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U4, U8, U13, U16};
use ccm::{Ccm, TagSize};

/// Octets of a nonce.
const NONCE: usize = 13;

/// A key of AES-128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u8; 16]);

/// Encrypts and authenticates a frame whose security header asks for it: writes ciphertext and message integrity code in
/// place. `source` is the extended address of the sender, whatever address the frame has. A frame without security stays
/// as it is.
///
/// # Errors
/// The errors of [`FrameView::parse`]; [`Error::FrameCounter`] if the frame has no frame counter and `asn` is `None`.
pub fn protect(octets: &mut [u8], key: &Key, source: Eui64, asn: Option<u64>) -> Result<(), Error> {
    let view = FrameView::parse(octets)?;
    let header = view.header();
    let Some(security) = header.security else { return Ok(()) };
    let private = match security.level.is_encrypted() {
        true => private_payload(header.frame_type, header.version, &view)?,
        false => view.payload_end(),
    };
    let payload_end = view.payload_end();
    let nonce = nonce(&security, source, asn)?;
    let (clear, rest) = octets.split_at_mut(private);
    let (secret, mic) = rest.split_at_mut(payload_end - private);
    match security.level {
        SecurityLevel::None => Ok(()),
        // The octets of the message integrity code do not change the ciphertext.
        SecurityLevel::Enc => seal::<U4>(key, &nonce, clear, secret, &mut []),
        SecurityLevel::Mic32 | SecurityLevel::EncMic32 => seal::<U4>(key, &nonce, clear, secret, mic),
        SecurityLevel::Mic64 | SecurityLevel::EncMic64 => seal::<U8>(key, &nonce, clear, secret, mic),
        SecurityLevel::Mic128 | SecurityLevel::EncMic128 => seal::<U16>(key, &nonce, clear, secret, mic),
    }
}

/// The position of the private payload.
fn private_payload(frame_type: FrameType, version: Version, view: &FrameView<'_>) -> Result<usize, Error> {
    match (frame_type, version) {
        (FrameType::Beacon, Version::V0 | Version::V1) => {
            Ok(view.payload_end() - BeaconView::parse(view.payload())?.payload().len())
        }
        (FrameType::Command, Version::V0 | Version::V1) if view.payload().is_empty() => Err(Error::Truncated),
        (FrameType::Command, Version::V0 | Version::V1) => Ok(view.header_end() + 1),
        _ => Ok(view.header_end()),
    }
}

fn nonce(security: &Security, source: Eui64, asn: Option<u64>) -> Result<[u8; NONCE], Error> {
    let mut nonce = [0; NONCE];
    nonce[..8].copy_from_slice(&source.0);
    match (security.frame_counter, asn) {
        (_, Some(asn)) if security.asn_in_nonce => nonce[8..].copy_from_slice(&asn.to_be_bytes()[3..]),
        (Some(counter), _) if !security.asn_in_nonce => {
            nonce[8..12].copy_from_slice(&counter.to_be_bytes());
            nonce[12] = security.level as u8;
        }
        _ => return Err(Error::FrameCounter),
    }
    Ok(nonce)
}

/// Encrypts `secret`, and writes the message integrity code over `clear` and `secret`, if it has a place.
fn seal<M: ArraySize + TagSize>(
    key: &Key,
    nonce: &[u8; NONCE],
    clear: &[u8],
    secret: &mut [u8],
    mic: &mut [u8],
) -> Result<(), Error> {
    let cipher = Ccm::<Aes128, M, U13>::new(&key.0.into());
    let tag = cipher.encrypt_inout_detached(&(*nonce).into(), clear, secret.into());
    // The only error is a payload of more than 65,535 octets.
    let tag = tag.map_err(|_| Error::BufferTooSmall(MAX_FRAME))?;
    if !mic.is_empty() {
        mic.copy_from_slice(&tag);
    }
    Ok(())
}
