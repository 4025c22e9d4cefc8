//! SHA-256 (FIPS 180-4). The crate `sha2` computes the blocks; its own code for what lies between blocks is made for all hashes,
//! and larger.

#[cfg(any(test, target_arch = "avr"))]
mod compress;

use super::{DIGEST, HASH_BLOCK, Hash};

/// The state before the first block (section 5.3.3).
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Octets of the length, which ends the last block (section 5.1.1).
const LENGTH: usize = 8;

/// A SHA-256 computation under way, of less than 2^29 octets.
#[derive(Clone)]
pub struct Sha256 {
    state: [u32; 8],
    /// The number of blocks in the state, and of octets that wait for the rest of theirs.
    blocks: u32,
    waiting: u8,
    block: [u8; HASH_BLOCK],
}

impl Sha256 {
    #[inline(never)] // as update
    pub(super) fn new() -> Self {
        Self { state: INITIAL, blocks: 0, waiting: 0, block: [0; HASH_BLOCK] }
    }

    /// Ends it: one bit, zeros, and the length at the end of a block (section 5.1.1).
    #[inline(never)]
    fn end(&mut self) -> [u8; DIGEST] {
        let bits = self.blocks << 9 | u32::from(self.waiting) << 3; // 512 in a block
        self.update(&[0x80]);
        while usize::from(self.waiting) > HASH_BLOCK - LENGTH {
            self.update(&[0]);
        }
        self.block[self.waiting.into()..].fill(0);
        self.waiting = (HASH_BLOCK - LENGTH) as u8;
        self.update(&u64::from(bits).to_be_bytes());
        let mut digest = [0; DIGEST];
        // The highest octet of a word comes first. So an AVR only copies octets.
        let octets = self.state.map(u32::to_le_bytes);
        digest.iter_mut().enumerate().for_each(|(place, octet)| *octet = octets.as_flattened()[place ^ 3]);
        digest
    }

    fn compress(&mut self) {
        #[cfg(target_arch = "avr")]
        compress::compress(&mut self.state, &self.block);
        #[cfg(not(target_arch = "avr"))]
        sha2::block_api::compress256(&mut self.state, core::slice::from_ref(&self.block));
        (self.blocks, self.waiting) = (self.blocks.wrapping_add(1), 0);
    }
}

impl Hash for Sha256 {
    #[inline(never)] // it is everywhere, and a copy is larger than a call
    fn update(&mut self, octets: &[u8]) {
        let mut octets = octets;
        while let Some(room) = self.block.get_mut(self.waiting.into()..) {
            let length = room.len().min(octets.len());
            let (now, later) = octets.split_at(length);
            room[..length].copy_from_slice(now);
            self.waiting += length as u8;
            if usize::from(self.waiting) < HASH_BLOCK {
                return;
            }
            self.compress();
            octets = later;
        }
    }

    #[inline(never)]
    fn digest(&self) -> [u8; DIGEST] {
        self.clone().end()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use sha2::Digest;

    use super::*;

    /// Each length up to three blocks, in pieces of each length, against the crate `sha2`.
    #[test]
    fn the_crate_sha2_gives_the_same() {
        let octets: Vec<u8> = (0..3 * HASH_BLOCK as u8).collect();
        for length in 0..=octets.len() {
            let expected: [u8; DIGEST] = sha2::Sha256::digest(&octets[..length]).into();
            for piece in [1, 7, 63, 64, 65, 192] {
                let mut hash = Sha256::new();
                octets[..length].chunks(piece).for_each(|octets| hash.update(octets));
                assert_eq!(hash.digest(), expected, "{length} octets in pieces of {piece}");
            }
        }
    }
}
