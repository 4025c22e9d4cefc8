//! AES-128-CCM (RFC 3610) with the nonce of 12 octets that TLS uses (RFC 6655), one code for both lengths of the tag.
//!
//! The crate `ccm` computes the same (a test compares them), in 640 octets more on a Cortex-M3 for one length of the tag, and
//! as many again for the other.

use subtle::ConstantTimeEq;

use super::aes128::Aes128;
use super::{BLOCK, Failed, NONCE, Protection};

/// Octets of the length of the content, and of the counter of blocks: what the nonce leaves of a block (section 2.1).
const LENGTH: usize = BLOCK - 1 - NONCE;

/// There are associated data (section 2.2).
const HAS_ASSOCIATED: u8 = 1 << 6;

/// The longest associated data whose length takes two octets (section 2.2).
const MAX_ASSOCIATED: usize = 0xfeff;

/// Encrypts `content` in place and writes its tag.
pub(super) fn seal(with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
    let aes = Aes128::new(with.key);
    let mut mac = authenticate(&aes, with, content)?;
    crypt(&aes, with.nonce, &mut mac, content);
    tag.iter_mut().zip(mac).for_each(|(place, octet)| *place = octet);
    Ok(())
}

/// Decrypts `content` in place. The tag is compared in constant time.
pub(super) fn open(with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
    let aes = Aes128::new(with.key);
    let mut mask = [0; BLOCK];
    crypt(&aes, with.nonce, &mut mask, content);
    let mac = authenticate(&aes, with, content)?;
    mask.iter_mut().zip(mac).for_each(|(mask, mac)| *mask ^= mac);
    let expected = mask.get(..with.aead.tag()).ok_or(Failed)?;
    if bool::from(expected.ct_eq(tag)) { Ok(()) } else { Err(Failed) }
}

/// The tag before it is encrypted (section 2.2).
fn authenticate(aes: &Aes128, with: &Protection<'_>, content: &[u8]) -> Result<[u8; BLOCK], Failed> {
    let associated = with.associated;
    if associated.len() > MAX_ASSOCIATED || (content.len() as u64) >> (8 * LENGTH) != 0 {
        return Err(Failed);
    }
    let flags = ((with.aead.tag() as u8 - 2) / 2) << 3 | (LENGTH as u8 - 1);
    let has_associated = if associated.is_empty() { 0 } else { HAS_ASSOCIATED };
    let mut mac = block(flags | has_associated, with.nonce, content.len());
    aes.encrypt(&mut mac);
    if !associated.is_empty() {
        absorb(aes, &mut mac, &(associated.len() as u16).to_be_bytes(), associated);
    }
    absorb(aes, &mut mac, &[], content);
    Ok(mac)
}

/// Takes octets into the tag: those of `first` and of `rest`, and zeros to the end of the block.
fn absorb(aes: &Aes128, mac: &mut [u8; BLOCK], first: &[u8], rest: &[u8]) {
    let mut place = 0;
    for octet in first.iter().chain(rest) {
        mac[place] ^= octet;
        place = (place + 1) % BLOCK;
        if place == 0 {
            aes.encrypt(mac);
        }
    }
    if place > 0 {
        aes.encrypt(mac);
    }
}

/// Encrypts or decrypts the tag with the first block of the key stream, and the content with the others (section 2.3).
fn crypt(aes: &Aes128, nonce: &[u8; NONCE], tag: &mut [u8; BLOCK], content: &mut [u8]) {
    let blocks = core::iter::once(&mut tag[..]).chain(content.chunks_mut(BLOCK));
    for (counter, octets) in blocks.enumerate() {
        let mut stream = block(LENGTH as u8 - 1, nonce, counter);
        aes.encrypt(&mut stream);
        octets.iter_mut().zip(stream).for_each(|(octet, stream)| *octet ^= stream);
    }
}

/// Flags, nonce, and a number.
fn block(flags: u8, nonce: &[u8; NONCE], number: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let [_, n0, n1, n2] = (number as u32).to_be_bytes();
    block[0] = flags;
    block[1..=NONCE].copy_from_slice(nonce);
    block[1 + NONCE..].copy_from_slice(&[n0, n1, n2]);
    block
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use ccm::aead::{AeadInOut, KeyInit};
    use ccm::consts::{U8, U12, U16};
    use proptest::prelude::*;

    use super::super::Aead;
    use super::*;

    /// NIST SP 800-38C, example 3.
    #[test]
    fn the_published_example_comes_out() {
        let key: [u8; 16] = core::array::from_fn(|place| 0x40 + place as u8);
        let nonce: [u8; 12] = core::array::from_fn(|place| 0x10 + place as u8);
        let associated: [u8; 20] = core::array::from_fn(|place| place as u8);
        let mut content: [u8; 24] = core::array::from_fn(|place| 0x20 + place as u8);
        let with = Protection { aead: Aead::Ccm8, key: &key, nonce: &nonce, associated: &associated };
        let mut tag = [0; 8];
        seal(&with, &mut content, &mut tag).unwrap();
        assert_eq!(
            content,
            [
                0xe3, 0xb2, 0x01, 0xa9, 0xf5, 0xb7, 0x1a, 0x7a, 0x9b, 0x1c, 0xea, 0xec, 0xcd, 0x97, 0xe7, 0x0b, 0x61,
                0x76, 0xaa, 0xd9, 0xa4, 0x42, 0x8a, 0xa5,
            ]
        );
        assert_eq!(tag, [0x48, 0x43, 0x92, 0xfb, 0xc1, 0xb0, 0x99, 0x51]);
        open(&with, &mut content, &tag).unwrap();
        assert_eq!(content[..], Vec::from_iter(0x20..0x38)[..]);
    }

    proptest! {
        /// Both lengths of the tag, as the crate `ccm` has them; and a tag with a wrong bit is refused.
        #[test]
        fn the_crate_ccm_gives_the_same(
            key: [u8; 16],
            nonce: [u8; 12],
            associated in proptest::collection::vec(any::<u8>(), 0..70),
            content in proptest::collection::vec(any::<u8>(), 0..200),
            bit in 0_usize..64,
        ) {
            let (nonces, mut theirs) = ((&nonce).into(), [content.clone(), content.clone()]);
            let short = ccm::Ccm::<aes::Aes128, U8, U12>::new((&key).into());
            let short = short.encrypt_inout_detached(nonces, &associated, theirs[0].as_mut_slice().into()).unwrap();
            let long = ccm::Ccm::<aes::Aes128, U16, U12>::new((&key).into());
            let long = long.encrypt_inout_detached(nonces, &associated, theirs[1].as_mut_slice().into()).unwrap();
            for (aead, theirs, tag) in [(Aead::Ccm8, &theirs[0], &short[..]), (Aead::Ccm, &theirs[1], &long[..])] {
                let with = Protection { aead, key: &key, nonce: &nonce, associated: &associated };
                let (mut own, mut own_tag) = (content.clone(), [0; 16]);
                let own_tag = &mut own_tag[..aead.tag()];
                seal(&with, &mut own, own_tag).unwrap();
                prop_assert_eq!((&own, &*own_tag), (theirs, tag));
                open(&with, &mut own, own_tag).unwrap();
                prop_assert_eq!(&own, &content);
                own_tag[bit / 8] ^= 1 << (bit % 8);
                prop_assert_eq!(open(&with, &mut theirs.clone(), own_tag), Err(Failed));
                prop_assert_eq!(open(&with, &mut theirs.clone(), &tag[..4]), Err(Failed));
            }
        }
    }
}
