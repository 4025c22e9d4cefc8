//! A block of SHA-256 for the AVR, by loops (FIPS 180-4, section 6.2.2). The crate `sha2` keeps more numbers in registers than an
//! AVR has: it takes 700 octets more there, for 8 % less time of a handshake.

use super::super::HASH_BLOCK;

/// The first 32 bits of the fractional parts of the cube roots of the first primes (section 4.2.2).
const CONSTANTS: [u32; 64] = constants();

const fn constants() -> [u32; 64] {
    let mut constants = [0; 64];
    let (mut found, mut number) = (0, 2_u128);
    while found < 64 {
        if is_prime(number) {
            // The largest root whose cube is not above number * 2^96. It has at most 3 + 32 bits.
            let (mut root, mut bit) = (0, 1_u128 << 35);
            while bit > 0 {
                let more = root | bit;
                if more * more * more <= number << 96 {
                    root = more;
                }
                bit >>= 1;
            }
            constants[found] = root as u32;
            found += 1;
        }
        number += 1;
    }
    constants
}

const fn is_prime(number: u128) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

pub(super) fn compress(state: &mut [u32; 8], block: &[u8; HASH_BLOCK]) {
    let mut words = [0; 16];
    words.iter_mut().zip(block.as_chunks().0).for_each(|(word, octets)| *word = u32::from_be_bytes(*octets));
    let mut working = *state;
    for (round, constant) in CONSTANTS.iter().enumerate() {
        if round >= 16 {
            extend(&mut words, round);
        }
        step(&mut working, words[round % 16].wrapping_add(*constant));
    }
    state.iter_mut().zip(working).for_each(|(word, worked)| *word = word.wrapping_add(worked));
}

/// The next word of the schedule, in place of the one before the last 15.
#[inline(never)]
fn extend(words: &mut [u32; 16], round: usize) {
    let [early, late] = [words[(round + 1) % 16], words[(round + 14) % 16]];
    let early = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
    let late = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
    let more = early.wrapping_add(words[(round + 9) % 16]).wrapping_add(late);
    words[round % 16] = words[round % 16].wrapping_add(more);
}

#[inline(never)]
fn step(working: &mut [u32; 8], word: u32) {
    let first = first(working).wrapping_add(word);
    let second = second(working);
    for place in (1..8).rev() {
        working[place] = working[place - 1];
    }
    working[4] = working[4].wrapping_add(first);
    working[0] = first.wrapping_add(second);
}

/// In functions of their own, so that an AVR has registers for all of it.
#[inline(never)]
fn first(&[_, _, _, _, e, f, g, h]: &[u32; 8]) -> u32 {
    h.wrapping_add(sum(e, [14, 5, 6])).wrapping_add(g ^ e & (f ^ g))
}

#[inline(never)]
fn second(&[a, b, c, ..]: &[u32; 8]) -> u32 {
    sum(a, [9, 11, 2]).wrapping_add(a & b | c & (a | b))
}

/// A word in three rotations, by the last number, by the last two together, and by all: an AVR shifts by one bit at a time, so
/// fewer bits are less code and time.
#[inline(always)]
const fn sum(word: u32, [first, second, third]: [u32; 3]) -> u32 {
    ((word.rotate_right(first) ^ word).rotate_right(second) ^ word).rotate_right(third)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the crate `sha2`.
        #[test]
        fn the_crate_sha2_gives_the_same(state: [u32; 8], block: [[u8; 32]; 2]) {
            let block: [u8; HASH_BLOCK] = block.as_flattened().try_into().unwrap();
            let (mut own, mut theirs) = (state, state);
            compress(&mut own, &block);
            sha2::block_api::compress256(&mut theirs, &[block]);
            prop_assert_eq!(own, theirs);
        }
    }
}
