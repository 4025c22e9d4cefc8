//! Powers and inverses modulo the numbers of RSA.

use sha2::{Digest, Sha256};

use super::Memo;

/// The powers and the inverses, by the digest of their operands, which are long. 16,384 results of 512 octets take about
/// 10 MB.
static POWERS: Memo<Box<[u8]>> = Memo::new();

/// A power modulo an odd number, as long as the modulus. All are big-endian. `None` if the library has to compute it.
pub(crate) fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Option<Box<[u8]>> {
    POWERS.result(|| digest([base, exponent, modulus]), || assembly::power(base, exponent, modulus))
}

/// The inverse modulo an odd number, as long as the modulus. `None` if the library has to compute it, or if there is none.
pub(crate) fn invert(number: &[u8], modulus: &[u8]) -> Option<Box<[u8]>> {
    POWERS.result(|| digest([number, modulus]), || assembly::invert(number, modulus))
}

fn digest<const N: usize>(operands: [&[u8]; N]) -> Vec<u8> {
    let mut digest = Sha256::new();
    for operand in operands {
        digest.update(operand.len().to_le_bytes());
        digest.update(operand);
    }
    digest.finalize().to_vec()
}

/// OpenSSL's assembly.
#[cfg(target_arch = "x86_64")]
mod assembly {
    mod c {
        use std::ffi::c_int;

        unsafe extern "C" {
            pub(super) fn slowhand_montgomery_power(
                out: *mut u8,
                base: *const u8,
                base_length: usize,
                exponent: *const u8,
                exponent_length: usize,
                modulus: *const u8,
                length: usize,
            ) -> c_int;
            pub(super) fn slowhand_montgomery_invert(
                out: *mut u8,
                number: *const u8,
                modulus: *const u8,
                length: usize,
            ) -> c_int;
        }
    }

    pub(super) fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Option<Box<[u8]>> {
        let mut out = vec![0; modulus.len()].into_boxed_slice();
        // SAFETY: the function reads the three slices, and writes as many octets as the modulus has.
        let is_found = unsafe {
            c::slowhand_montgomery_power(
                out.as_mut_ptr(),
                base.as_ptr(),
                base.len(),
                exponent.as_ptr(),
                exponent.len(),
                modulus.as_ptr(),
                modulus.len(),
            )
        };
        (is_found == 1).then_some(out)
    }

    pub(super) fn invert(number: &[u8], modulus: &[u8]) -> Option<Box<[u8]>> {
        let mut out = vec![0; modulus.len()].into_boxed_slice();
        if number.len() != modulus.len() {
            return None;
        }
        // SAFETY: the function reads two slices of this length, and writes as many octets.
        let is_found = unsafe {
            c::slowhand_montgomery_invert(out.as_mut_ptr(), number.as_ptr(), modulus.as_ptr(), modulus.len())
        };
        (is_found == 1).then_some(out)
    }
}

/// No assembly: the libraries compute.
#[cfg(not(target_arch = "x86_64"))]
mod assembly {
    pub(super) fn power(_: &[u8], _: &[u8], _: &[u8]) -> Option<Box<[u8]>> {
        None
    }

    pub(super) fn invert(_: &[u8], _: &[u8]) -> Option<Box<[u8]>> {
        None
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::assembly;

    /// A modulus, and pow(2, -1, modulus).
    const MODULUS: &str = "afbd67f9619699cfe1988ad9f06c144a025b413f8a9a021ea648a7dd06839eb905b6e6e307d4bedc51431193e6c3f3391a2b8f1ff1fd42a29755d4c13a902931";
    const HALF: &str = "57deb3fcb0cb4ce7f0cc456cf8360a25012da09fc54d010f532453ee8341cf5c82db737183ea5f6e28a188c9f361f99c8d15c78ff8fea1514baaea609d481499";

    fn octets(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
    }

    /// Base, exponent, modulus and power.
    #[test]
    fn powers_are_those_of_python() {
        for line in include_str!("powers.txt").lines().filter(|line| !line.starts_with('#')) {
            let [base, exponent, modulus, power] =
                line.split(' ').map(octets).collect::<Vec<_>>().try_into().expect("four numbers");
            assert_eq!(assembly::power(&base, &exponent, &modulus).expect(line)[..], power, "{line}");
        }
    }

    #[test]
    fn unusual_moduli_are_left_to_the_library() {
        let odd = [0xff; 64];
        assert!(assembly::power(&[2], &[3], &odd).is_some());
        let (mut even, mut short) = (odd, odd);
        even[63] = 2;
        short[0] = 0;
        for modulus in [&even[..], &short, &odd[..33], &[]] {
            assert_eq!(assembly::power(&[2], &[3], modulus), None, "{modulus:?}");
        }
        assert_eq!(assembly::power(&[2], &[3], &[0xff; 544]), None);
    }

    #[test]
    fn inverses_are_those_of_python() {
        let modulus = octets(MODULUS);
        let mut two = vec![0; modulus.len()];
        two[modulus.len() - 1] = 2;
        assert_eq!(assembly::invert(&two, &modulus).expect("an inverse")[..], octets(HALF));
        assert_eq!(assembly::invert(&modulus, &modulus), None, "zero has no inverse");
    }
}
