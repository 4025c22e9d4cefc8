//! The host of C libraries: the functions of the current device, of the arithmetic and of the account of the heap, as the table that
//! a library gets. Nothing of it is found by name, so a library may be a shared object too.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::arithmetic::{self, ecdsa, powers};
use crate::device::{self, Violation};
use crate::heap;
use crate::interface::{SLOWHAND_STACK_VERSION, slowhand_host, slowhand_stack};
use crate::operation::{Aead, AeadMode, Cbc, Curve, Operation};

/// The table.
static HOST: slowhand_host = slowhand_host {
    version: SLOWHAND_STACK_VERSION,
    unix_time_ms,
    now_ns,
    random,
    transmit,
    deliver,
    key_log,
    verified,
    sha1,
    sha256,
    sha512,
    seal,
    open,
    cbc,
    ecdh_generate,
    ecdh_agree,
    ecdsa_sign,
    ecdsa_verify,
    rsa_sign,
    rsa_verify,
    rsa_encrypt,
    rsa_decrypt,
    p256_multiply,
    p256_multiply_add,
    p256_invert,
    p256_sign,
    p256_is_valid,
    p256_is_signed,
    p256_signed,
    power,
    inverse,
    allocate: heap::slowhand_malloc,
    allocate_zeros: heap::slowhand_calloc,
    allocate_aligned: heap::slowhand_posix_memalign,
    reallocate: heap::slowhand_realloc,
    release: heap::slowhand_free,
    violation,
    failed,
};

/// Gives a library its host. Only the first call has an effect, and none if the library has no place for it.
pub(crate) fn attach(stack: &slowhand_stack) {
    if !stack.host.is_null() {
        // SAFETY: the place is a variable of the library, which stays as long as the program, and only this function writes it:
        // always the same value. The library only reads it.
        let place = unsafe { AtomicPtr::from_ptr(stack.host.cast::<*mut slowhand_host>()) };
        place.store(ptr::from_ref(&HOST).cast_mut(), Ordering::Release);
    }
}

extern "C" fn unix_time_ms() -> u64 {
    // Fits: the clock has a limit of 64 bits of nanoseconds.
    device::unix_time().as_millis() as u64
}

extern "C" fn now_ns() -> u64 {
    // The clock has a limit of 64 bits: `CLOCK_LIMIT`.
    device::clock().as_nanos() as u64
}

unsafe extern "C" fn random(output: *mut u8, length: usize) {
    if length == 0 {
        return;
    }
    // A buffer of C may be uninitialised, but a slice must not be.
    // SAFETY: the caller passes `length` writable octets.
    let output = unsafe {
        ptr::write_bytes(output, 0, length);
        slice::from_raw_parts_mut(output, length)
    };
    device::fill_random(output);
}

unsafe extern "C" fn transmit(octets: *const u8, length: usize) {
    // There are no empty datagrams.
    if length > 0 {
        // SAFETY: the caller passes `length` readable octets.
        device::transmit(unsafe { slice::from_raw_parts(octets, length) });
    }
}

unsafe extern "C" fn deliver(octets: *const u8, length: usize) {
    if length > 0 {
        // SAFETY: the caller passes `length` readable octets.
        device::deliver(unsafe { slice::from_raw_parts(octets, length) });
    }
}

unsafe extern "C" fn key_log(label: *const c_char, client_random: *const u8, secret: *const u8, length: usize) {
    // SAFETY: the caller passes a C string, a client random of 32 octets and a secret of `length` octets.
    let (label, client_random, secret) = unsafe {
        (CStr::from_ptr(label), slice::from_raw_parts(client_random, 32), slice::from_raw_parts(secret, length))
    };
    device::log_key(&label.to_string_lossy(), client_random, secret);
}

extern "C" fn verified() {
    device::verified();
}

/// Functions that report an operation.
macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty),*) => $operation:expr;)*) => {$(
        extern "C" fn $name($($argument: $type),*) {
            device::perform($operation);
        }
    )*};
}

operations! {
    sha1(blocks: u32) => Operation::Sha1 { blocks };
    sha256(blocks: u32) => Operation::Sha256 { blocks };
    sha512(blocks: u32) => Operation::Sha512 { blocks };
    seal(is_gcm: c_int, key_bits: u32, tag: u32, octets: u32, additional: u32) =>
        Operation::Seal(aead(is_gcm, key_bits, tag, octets, additional));
    open(is_gcm: c_int, key_bits: u32, tag: u32, octets: u32, additional: u32) =>
        Operation::Open(aead(is_gcm, key_bits, tag, octets, additional));
    rsa_sign(bits: u16) => Operation::RsaSign(bits);
    rsa_verify(bits: u16) => Operation::RsaVerify(bits);
    rsa_encrypt(bits: u16) => Operation::RsaEncrypt(bits);
    rsa_decrypt(bits: u16) => Operation::RsaDecrypt(bits);
}

fn aead(is_gcm: c_int, key_bits: u32, tag: u32, octets: u32, additional: u32) -> Aead {
    let mode = if is_gcm != 0 { AeadMode::Gcm } else { AeadMode::Ccm };
    // A key has at most 256 bits, a tag at most 16 octets.
    Aead { mode, key_bits: key_bits as u16, tag: tag as u8, octets, additional }
}

extern "C" fn cbc(is_encryption: c_int, key_bits: u32, octets: u32) {
    let cbc = Cbc { key_bits: key_bits as u16, octets };
    device::perform(if is_encryption != 0 { Operation::CbcEncrypt(cbc) } else { Operation::CbcDecrypt(cbc) });
}

/// Functions that report an operation on the curve of a TLS NamedGroup (RFC 8422 section 5.1.1). They do nothing for any other group: no
/// session here uses one, and the library refuses a peer's key on it.
macro_rules! operations_on_a_curve {
    ($($name:ident => $operation:path;)*) => {$(
        extern "C" fn $name(named_group: u16) {
            if let Some(curve) = Curve::from_named_group(named_group) {
                device::perform($operation(curve));
            }
        }
    )*};
}

operations_on_a_curve! {
    ecdh_generate => Operation::EcdhKeyGeneration;
    ecdh_agree => Operation::EcdhSharedSecret;
    ecdsa_sign => Operation::EcdsaSign;
    ecdsa_verify => Operation::EcdsaVerify;
}

/// Copies octets of C.
///
/// # Safety
/// The pointer is to `N` octets that can be read.
unsafe fn read<const N: usize>(octets: *const u8) -> [u8; N] {
    // SAFETY: the caller's duty. An array of octets has no alignment.
    unsafe { octets.cast::<[u8; N]>().read() }
}

/// Writes a result for C. Returns 1, or 0 if there is none.
///
/// # Safety
/// The pointer is to as many octets as the result has, which can be written.
unsafe fn write(out: *mut u8, result: Option<impl AsRef<[u8]>>) -> c_int {
    let Some(result) = result else { return 0 };
    let octets = result.as_ref();
    // SAFETY: the caller's duty. No result is in a buffer of C.
    unsafe { out.copy_from_nonoverlapping(octets.as_ptr(), octets.len()) };
    1
}

unsafe extern "C" fn p256_multiply(out: *mut u8, scalar: *const u8, point: *const u8) -> c_int {
    // SAFETY: the caller passes a number, a point or NULL, and room for a point.
    unsafe {
        let point = (!point.is_null()).then(|| read(point));
        write(out, arithmetic::multiply(&read(scalar), point.as_ref()))
    }
}

unsafe extern "C" fn p256_multiply_add(
    out: *mut u8,
    of_generator: *const u8,
    of_point: *const u8,
    point: *const u8,
) -> c_int {
    // SAFETY: the caller passes two numbers, a point, and room for a point.
    unsafe { write(out, arithmetic::multiply_add(&read(of_generator), &read(of_point), &read(point))) }
}

unsafe extern "C" fn p256_invert(out: *mut u8, number: *const u8) -> c_int {
    // SAFETY: the caller passes a number, and room for a number.
    unsafe { write(out, arithmetic::invert(&read(number))) }
}

unsafe extern "C" fn p256_sign(out: *mut u8, private_key: *const u8, nonce: *const u8, hash: *const u8) -> c_int {
    // SAFETY: the caller passes three numbers, and room for a signature, which is as long as a point.
    unsafe { write(out, ecdsa::sign_with(&read(private_key), &read(nonce), &read(hash))) }
}

unsafe extern "C" fn p256_is_valid(point: *const u8, hash: *const u8, signature: *const u8) -> c_int {
    // SAFETY: the caller passes a point, a hash of 32 octets, and a signature, which is as long as a point.
    let (point, hash, signature) = unsafe { (read(point), read(hash), read(signature)) };
    ecdsa::is_valid_octets(&point, &hash, &signature).into()
}

unsafe extern "C" fn p256_is_signed(
    point: *const u8,
    hash: *const u8,
    hash_length: usize,
    signature: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes a point, a hash and a signature; neither is empty.
    let (point, hash, signature) =
        unsafe { (read(point), slice::from_raw_parts(hash, hash_length), slice::from_raw_parts(signature, length)) };
    arithmetic::is_signed(&point, hash, signature).into()
}

unsafe extern "C" fn p256_signed(
    point: *const u8,
    hash: *const u8,
    hash_length: usize,
    signature: *const u8,
    length: usize,
) {
    // SAFETY: the caller passes a point, a hash and a signature; neither is empty.
    let (point, hash, signature) =
        unsafe { (read(point), slice::from_raw_parts(hash, hash_length), slice::from_raw_parts(signature, length)) };
    arithmetic::signed(&point, hash, signature);
}

unsafe extern "C" fn power(
    out: *mut u8,
    base: *const u8,
    base_length: usize,
    exponent: *const u8,
    exponent_length: usize,
    modulus: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes three numbers of these lengths.
    let [base, exponent, modulus] = [(base, base_length), (exponent, exponent_length), (modulus, length)]
        .map(|(octets, length)| unsafe { slice::from_raw_parts(octets, length) });
    let result = powers::power(base, exponent, modulus);
    // SAFETY: the caller passes room for as many octets as the modulus has. The slices above are not used any more.
    unsafe { write(out, result) }
}

unsafe extern "C" fn inverse(out: *mut u8, number: *const u8, modulus: *const u8, length: usize) -> c_int {
    // SAFETY: the caller passes two numbers of this length.
    let [number, modulus] = [number, modulus].map(|octets| unsafe { slice::from_raw_parts(octets, length) });
    let result = powers::invert(number, modulus);
    // SAFETY: as above.
    unsafe { write(out, result) }
}

unsafe extern "C" fn violation(function: *const c_char) {
    // SAFETY: the caller passes a C string.
    let function = unsafe { CStr::from_ptr(function) };
    device::violated(Violation::Calls(function.to_string_lossy().into_owned()));
}

unsafe extern "C" fn failed(words: *const c_char) {
    // SAFETY: the caller passes a C string.
    let words = unsafe { CStr::from_ptr(words) };
    device::violated(Violation::Fails(words.to_string_lossy().into_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Arithmetic;
    use crate::device::{Device, WORLD_BEGAN};

    #[test]
    fn an_operation_on_an_unknown_curve_is_not_counted() {
        let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
        // RFC 8422 section 5.1.1: 19 is secp192r1, 23 secp256r1, 24 secp384r1. 0 is reserved.
        device.run(|| [0, 19, 24, 23].into_iter().for_each(|group| ecdsa_verify(group)));
        let mut operations = Vec::new();
        device.drain_operations(&mut |performed| operations.push(performed.operation));
        assert_eq!(operations, [Curve::Secp192r1, Curve::Secp256r1].map(Operation::EcdsaVerify));
    }

    #[test]
    fn the_largest_operations_are_counted() {
        let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
        device.run(|| {
            seal(0, 7, 99, u32::MAX, u32::MAX);
            sha256(u32::MAX);
            sha256(u32::MAX);
        });
        let mut operations = Vec::new();
        device.drain_operations(&mut |performed| operations.push(performed.operation));
        let [Operation::Seal(aead), Operation::Sha256 { blocks: u32::MAX }] = operations[..] else {
            panic!("{operations:?}");
        };
        // RFC 3610: 2^32 / 16 blocks of additional data, twice as many of content, the first one and that of the tag.
        assert_eq!(aead.aes_blocks(), 3 * (1 << 28) + 2);
    }
}
