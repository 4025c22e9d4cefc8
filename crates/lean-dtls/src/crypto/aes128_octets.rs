//! AES-128 one octet after the other (FIPS 197), for the AVR.
//!
//! The crate `aes` computes with words of 16 bits and no table, which takes 4,450 octets more there. A table in memory is as
//! good as none on a processor without a cache: each octet of it takes the same time. An AVR has none, so the time does not
//! depend on the key.

use super::{BLOCK, KEY};

/// The bits of the polynomial beyond which no number goes, without the highest (section 4.2).
const POLYNOMIAL: u8 = 0x1b;

const S_BOX: [u8; 256] = s_box();

/// The inverse of each number, and then an affine transformation (section 5.1.1).
const fn s_box() -> [u8; 256] {
    let mut table = [0x63; 256]; // 0 has no inverse, and is taken as its own
    let (mut number, mut inverse) = (1_u8, 1_u8);
    loop {
        let turned = inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4);
        table[number as usize] = 0x63 ^ inverse ^ turned;
        // 3 generates all numbers but 0. Its inverse is 0xf6: times 3, with the bits of that.
        number ^= double(number);
        inverse = divide_by_three(inverse);
        if number == 1 {
            return table;
        }
    }
}

/// The number that is this one after a multiplication by 3, that is 1 + 2.
const fn divide_by_three(number: u8) -> u8 {
    // 0xf6 = 0b1111_0110.
    let two = double(number);
    let four = double(two);
    let sixteen = double(double(four));
    let thirty_two = double(sixteen);
    let sixty_four = double(thirty_two);
    two ^ four ^ sixteen ^ thirty_two ^ sixty_four ^ double(sixty_four)
}

/// Twice a number (section 4.2.1). No branch: its time would depend on the number.
const fn double(number: u8) -> u8 {
    number << 1 ^ POLYNOMIAL & (number >> 7).wrapping_neg()
}

/// AES-128 with a key. The keys of the rounds are computed on the way.
pub(super) struct Aes128([u8; KEY]);

impl Aes128 {
    pub(super) const fn new(key: &[u8; KEY]) -> Self {
        Self(*key)
    }

    /// Encrypts a block in place.
    #[inline(never)]
    pub(super) fn encrypt(&self, block: &mut [u8; BLOCK]) {
        let (mut key, mut constant) = (self.0, 1);
        add(block, &key);
        for round in 1..=10 {
            substitute_and_shift(block);
            if round < 10 {
                mix_columns(block);
            }
            expand(&mut key, constant);
            constant = double(constant);
            add(block, &key);
        }
    }
}

fn add(block: &mut [u8; BLOCK], key: &[u8; KEY]) {
    block.iter_mut().zip(key).for_each(|(octet, key)| *octet ^= key);
}

/// SubBytes and ShiftRows (sections 5.1.1 and 5.1.2): row r of a column moves by r columns, of four octets each.
fn substitute_and_shift(block: &mut [u8; BLOCK]) {
    let before = *block;
    for (place, octet) in block.iter_mut().enumerate() {
        *octet = S_BOX[usize::from(before[place * 5 % BLOCK])];
    }
}

/// MixColumns (section 5.1.3).
fn mix_columns(block: &mut [u8; BLOCK]) {
    for column in block.as_chunks_mut::<4>().0 {
        let [first, second, third, fourth] = *column;
        let all = first ^ second ^ third ^ fourth;
        column[0] ^= all ^ double(first ^ second);
        column[1] ^= all ^ double(second ^ third);
        column[2] ^= all ^ double(third ^ fourth);
        column[3] ^= all ^ double(fourth ^ first);
    }
}

/// The key of the next round (section 5.2).
fn expand(key: &mut [u8; KEY], constant: u8) {
    for place in 0..4 {
        key[place] ^= S_BOX[usize::from(key[12 + (place + 1) % 4])];
    }
    key[0] ^= constant;
    for place in 4..KEY {
        key[place] ^= key[place - 4];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the crate `aes`. Random blocks use each octet of the table.
        #[test]
        fn the_crate_aes_gives_the_same(key: [u8; 16], block: [u8; 16]) {
            let (mut own, mut theirs) = (block, block);
            Aes128::new(&key).encrypt(&mut own);
            super::super::aes128::Aes128::new(&key).encrypt(&mut theirs);
            prop_assert_eq!(own, theirs);
        }
    }
}
