//! Fast arithmetic of secp256r1 and of RSA, for every library.
//!
//! Multiplications of points, or powers, are nearly all that a handshake with certificates costs. So the libraries hand
//! them to these functions. On x86-64 they compute with OpenSSL's assembly (`csrc/openssl/nistz256.c`,
//! `csrc/openssl/montgomery.c`). On other processors the crate `p256` computes with points (`portable`), and the libraries
//! compute powers with their own code. The results are the same, to the bit. What a library reports to the device does not depend
//! on who computes.
//!
//! Much is computed twice. Both ends of a session compute the same shared secret, and one end verifies the signature
//! that the other end has just made. So results are kept in a [`Memo`]: one for the process, because a result depends
//! on nothing but the operands. It is not important what the memo holds and for how long.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

use crate::config::Arithmetic;
use crate::device;

pub(crate) mod ecdsa;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
pub(crate) mod powers;
#[cfg(test)]
mod tests;

/// Octets of a number.
const NUMBER: usize = 32;
/// Octets of a point: x, then y.
const POINT: usize = 2 * NUMBER;

/// The parts of a memo. Each has a lock of its own, so that threads seldom wait for each other.
const PARTS: usize = 64;
/// The most young results of a part of a memo. With as many old ones, a memo has at most 16,384 results, which take less
/// than 8 MB. *Assumed*: enough for the sessions that are open at a time, and for 64 sets of nonces.
const MOST: usize = 128;

/// A number, big-endian.
pub(crate) type Number = [u8; NUMBER];
/// A point that is not infinite: x, then y.
pub(crate) type Point = [u8; POINT];

/// The products of points, by their factors.
static PRODUCTS: Memo<Point> = Memo::new();
/// The signatures that are valid, by key, hash and signature.
static SIGNATURES: Memo<()> = Memo::new();

/// The product of a point, or of the generator. `None` if the library has to compute it, or if there is none: the point
/// is not on the curve, or the product is infinite.
pub(crate) fn multiply(scalar: &Number, point: Option<&Point>) -> Option<Point> {
    PRODUCTS.result(|| factors(scalar, point), || assembly::multiply(scalar, point))
}

/// The sum of two products: of the generator and of a point. `None` as for [`multiply`].
pub(crate) fn multiply_add(of_generator: &Number, of_point: &Number, point: &Point) -> Option<Point> {
    (device::arithmetic() != Arithmetic::Library).then(|| assembly::multiply_add(of_generator, of_point, point))?
}

/// The inverse modulo the order of the group. `None` if the library has to compute it.
pub(crate) fn invert(number: &Number) -> Option<Number> {
    (device::arithmetic() != Arithmetic::Library).then(|| assembly::invert(number))?
}

/// True if this signature of a hash, in DER, is known to be valid.
pub(crate) fn is_signed(point: &Point, hash: &[u8], signature: &[u8]) -> bool {
    device::arithmetic() == Arithmetic::Memo && SIGNATURES.get(&signed_by(point, hash, signature)).is_some()
}

/// Keeps that this signature is valid.
pub(crate) fn signed(point: &Point, hash: &[u8], signature: &[u8]) {
    if device::arithmetic() == Arithmetic::Memo {
        SIGNATURES.insert(&signed_by(point, hash, signature), ());
    }
}

/// The key of a signature. Hashes have several lengths.
fn signed_by(point: &Point, hash: &[u8], signature: &[u8]) -> Vec<u8> {
    [&point[..], &hash.len().to_le_bytes(), hash, signature].concat()
}

/// The key of a product. The two ends of a key agreement have the same key, if the public point of this end is known:
/// the two public points, the lesser first.
fn factors(scalar: &Number, point: Option<&Point>) -> Vec<u8> {
    let Some(point) = point else { return scalar.to_vec() };
    match PRODUCTS.get(scalar) {
        Some(own) => [own.min(*point), own.max(*point)].concat(),
        None => [&scalar[..], point].concat(),
    }
}

/// Results by their operands. If there are too many, those that have not been asked for go first.
struct Memo<V>([Mutex<Generations<V>>; PARTS]);

/// The results of a part. The old ones are replaced by the young ones if these are enough.
struct Generations<V> {
    young: BTreeMap<Box<[u8]>, V>,
    old: BTreeMap<Box<[u8]>, V>,
}

impl<V: Clone> Memo<V> {
    const fn new() -> Self {
        Self([const { Mutex::new(Generations { young: BTreeMap::new(), old: BTreeMap::new() }) }; PARTS])
    }

    fn part<T>(&self, operands: &[u8], act: impl FnOnce(&mut Generations<V>) -> T) -> T {
        // The last octet is one of a random number, a point, a hash, a signature or a digest: all are spread evenly.
        let part = operands.last().map_or(0, |octet| usize::from(*octet) % PARTS);
        act(&mut self.0[part].lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, operands: &[u8]) -> Option<V> {
        self.part(operands, |part| {
            part.young.get(operands).cloned().or_else(|| {
                let (operands, value) = part.old.remove_entry(operands)?;
                part.insert(operands, value.clone());
                Some(value)
            })
        })
    }

    fn insert(&self, operands: &[u8], value: V) {
        self.part(operands, |part| part.insert(operands.into(), value));
    }

    /// The result, as the session's [`Arithmetic`] has it: none, a computed one, or a known one. With a memo, a result that is not known is
    /// computed and kept. Nothing is locked meanwhile.
    fn result(&self, operands: impl FnOnce() -> Vec<u8>, compute: impl FnOnce() -> Option<V>) -> Option<V> {
        match device::arithmetic() {
            Arithmetic::Library => None,
            Arithmetic::Assembly => compute(),
            Arithmetic::Memo => {
                let operands = operands();
                self.get(&operands).or_else(|| compute().inspect(|value| self.insert(&operands, value.clone())))
            }
        }
    }
}

impl<V> Generations<V> {
    fn insert(&mut self, operands: Box<[u8]>, value: V) {
        if self.young.len() >= MOST {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(operands, value);
    }
}

/// OpenSSL's assembly.
#[cfg(target_arch = "x86_64")]
mod assembly {
    #[cfg(test)]
    use std::cell::Cell;
    use std::ptr;

    use super::{NUMBER, Number, POINT, Point};

    mod c {
        use std::ffi::c_int;

        unsafe extern "C" {
            pub(super) fn slowhand_nistz256_multiply(out: *mut u8, scalar: *const u8, point: *const u8) -> c_int;
            pub(super) fn slowhand_nistz256_multiply_add(
                out: *mut u8,
                of_generator: *const u8,
                of_point: *const u8,
                point: *const u8,
            ) -> c_int;
            pub(super) fn slowhand_nistz256_invert(out: *mut u8, number: *const u8) -> c_int;
        }
    }

    #[cfg(test)]
    thread_local! {
        /// The number of calls of [`multiply`] and [`multiply_add`] by this thread.
        pub(super) static CALLS: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
    }

    pub(super) fn multiply(scalar: &Number, point: Option<&Point>) -> Option<Point> {
        #[cfg(test)]
        CALLS.set([CALLS.get()[0] + 1, CALLS.get()[1]]);
        let mut out = [0; POINT];
        let point = point.map_or(ptr::null(), |point| point.as_ptr());
        // SAFETY: the function reads 32 octets and, if there is a point, 64, and writes 64.
        let is_found = unsafe { c::slowhand_nistz256_multiply(out.as_mut_ptr(), scalar.as_ptr(), point) };
        (is_found == 1).then_some(out)
    }

    pub(super) fn multiply_add(of_generator: &Number, of_point: &Number, point: &Point) -> Option<Point> {
        #[cfg(test)]
        CALLS.set([CALLS.get()[0], CALLS.get()[1] + 1]);
        let mut out = [0; POINT];
        let [first, second] = [of_generator, of_point].map(|number| number.as_ptr());
        // SAFETY: the function reads 32, 32 and 64 octets, and writes 64.
        let is_found = unsafe { c::slowhand_nistz256_multiply_add(out.as_mut_ptr(), first, second, point.as_ptr()) };
        (is_found == 1).then_some(out)
    }

    pub(super) fn invert(number: &Number) -> Option<Number> {
        let mut out = [0; NUMBER];
        // SAFETY: the function reads 32 octets and writes 32.
        let is_found = unsafe { c::slowhand_nistz256_invert(out.as_mut_ptr(), number.as_ptr()) };
        (is_found == 1).then_some(out)
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable as assembly;
