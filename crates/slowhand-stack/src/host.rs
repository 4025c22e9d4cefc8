//! Services of the device of a session for a stack. The functions are for calls of [`Stack`](crate::Stack), on the thread of the call.
//!
//! The functions that report an operation are called after it. Each advances the device's clock by the time that the device takes for
//! it.
//!
//! # Panics
//! Outside a stack that slowhand has loaded, as in a unit test of a stack: there is no device. Nor is there one outside the calls of a
//! stack: a variable of a thread (`thread_local!`) whose `Drop` calls a function of the host, or panics, ends the program.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use crate::interface::slowhand_host;

/// Where slowhand writes its table before the first call.
#[cfg(not(slowhand_object))]
static HOST: AtomicPtr<slowhand_host> = AtomicPtr::new(ptr::null_mut());

#[cfg(slowhand_object)]
unsafe extern "C" {
    /// The pointer to the host in an object, which the guard uses too: a variable of guard.c.
    #[link_name = "slowhand_host"]
    safe static HOST: AtomicPtr<slowhand_host>;
}

pub(crate) const fn place() -> *mut *const slowhand_host {
    // slowhand writes it once, as an atomic variable, and the table is never changed.
    (&raw const HOST).cast_mut().cast()
}

fn host() -> &'static slowhand_host {
    attached().expect("a stack has a host only when slowhand has loaded it")
}

fn attached() -> Option<&'static slowhand_host> {
    // SAFETY: NULL, or what slowhand has written: its table, which is a constant of the program.
    unsafe { HOST.load(Ordering::Acquire).as_ref() }
}

/// Says why the stack has failed in a call that returns no progress. In a unit test of a stack nobody is told.
pub(crate) fn failed(words: &str) {
    let Some(host) = attached() else { return };
    // A string of C ends with its first zero.
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the host reads the words during the call.
    unsafe { (host.failed)(words.as_ptr()) }
}

/// The device's clock, from the beginning of the world.
pub fn now() -> Duration {
    // SAFETY: the function has no condition.
    Duration::from_nanos(unsafe { (host().now_ns)() })
}

/// The device's calendar, from 1970.
pub fn unix_time() -> Duration {
    // SAFETY: the function has no condition.
    Duration::from_millis(unsafe { (host().unix_time_ms)() })
}

/// Lets the clocks of the standard library show the device's time meanwhile: `Instant::now` the clock, `SystemTime::now` the calendar.
/// For a library that reads a clock where it does not matter, or only once: in [`Stack::load`](crate::Stack::load), where it is 0. Two
/// sessions have two clocks, so nothing of them may stay in a variable of the library.
///
/// Only in an object that `slowhand stacks add` has made: elsewhere it is the computer's clock.
pub fn with_std_clock<T>(call: impl FnOnce() -> T) -> T {
    struct Opened;

    impl Drop for Opened {
        fn drop(&mut self) {
            open_clock(-1);
        }
    }

    open_clock(1);
    let _opened = Opened;
    call()
}

#[cfg(slowhand_object)]
fn open_clock(more: std::ffi::c_int) {
    unsafe extern "C" {
        /// Of guard.c.
        fn slowhand_guard_clock(more: std::ffi::c_int);
    }
    // SAFETY: the function counts in a variable of this thread.
    unsafe { slowhand_guard_clock(more) }
}

#[cfg(not(slowhand_object))]
fn open_clock(_more: std::ffi::c_int) {}

/// The device's clock as an [`Instant`], for libraries that are told the time so.
pub fn instant() -> Instant {
    beginning() + now()
}

/// The time from the beginning of the world to an [`Instant`] of [`instant`].
pub fn since_beginning(instant: Instant) -> Duration {
    instant.saturating_duration_since(beginning())
}

/// Makes what sessions share, before there is one: they may not wait for each other.
pub(crate) fn prepare() {
    beginning();
}

/// The beginning of the world as an [`Instant`]. All sessions have the same one: with it, no `Instant` depends on the computer.
fn beginning() -> Instant {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    *BEGINNING.get_or_init(|| with_std_clock(Instant::now) - now_of_object())
}

/// The device's clock where [`with_std_clock`] shows it.
fn now_of_object() -> Duration {
    if cfg!(slowhand_object) { now() } else { Duration::ZERO }
}

/// Fills the buffer with random octets of the device.
pub fn random(output: &mut [u8]) {
    // SAFETY: the buffer has that length, and the host writes nothing else.
    unsafe { (host().random)(output.as_mut_ptr(), output.len()) }
}

/// Sends one datagram, or writes these octets to the stream, at the time of the device's clock. Nothing, if there is no octet.
pub fn transmit(octets: &[u8]) {
    // SAFETY: the host reads the octets during the call.
    unsafe { (host().transmit)(octets.as_ptr(), octets.len()) }
}

/// Delivers application data to the user of the session. Nothing, if there is no octet.
pub fn deliver(octets: &[u8]) {
    // SAFETY: the host reads the octets during the call.
    unsafe { (host().deliver)(octets.as_ptr(), octets.len()) }
}

/// Adds a secret of the session to the key log, with its label there (SSLKEYLOGFILE).
pub fn key_log(label: &CStr, client_random: &[u8; 32], secret: &[u8]) {
    // SAFETY: the host reads its arguments during the call.
    unsafe { (host().key_log)(label.as_ptr(), client_random.as_ptr(), secret.as_ptr(), secret.len()) }
}

/// Reports that the stack has just verified the peer's Finished: the end of the handshake.
pub fn verified() {
    // SAFETY: the function has no condition.
    unsafe { (host().verified)() }
}

macro_rules! operations {
    ($($(#[$documentation:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            $(#[$documentation])*
            pub fn $name($($argument: $type),*) {
                // SAFETY: the function has no condition.
                unsafe { (host().$name)($($argument.into()),*) }
            }
        )*
    };
}

operations! {
    /// Compressions of a block by SHA-1.
    sha1(blocks: u32);
    /// Compressions of a block by SHA-256.
    sha256(blocks: u32);
    /// Compressions of a block by SHA-384 or SHA-512.
    sha512(blocks: u32);
    /// Encrypted with AES in mode GCM or else CCM: the bits of the key, the octets of the tag, of the content and of the additional data.
    seal(is_gcm: bool, key_bits: u32, tag: u32, octets: u32, additional: u32);
    /// Decrypted, likewise.
    open(is_gcm: bool, key_bits: u32, tag: u32, octets: u32, additional: u32);
    /// AES in mode CBC.
    cbc(is_encryption: bool, key_bits: u32, octets: u32);
    /// A key pair for a key agreement on this curve: a TLS NamedGroup (RFC 8422 section 5.1.1), 19 secp192r1 or 23 secp256r1. Others are
    /// not counted.
    ecdh_generate(curve: u16);
    /// The shared secret of a key agreement.
    ecdh_agree(curve: u16);
    /// A signature.
    ecdsa_sign(curve: u16);
    /// The verification of a signature.
    ecdsa_verify(curve: u16);
    /// A signature with a key of so many bits.
    rsa_sign(bits: u16);
    /// The verification of one.
    rsa_verify(bits: u16);
    /// An encryption with a public key.
    rsa_encrypt(bits: u16);
    /// A decryption.
    rsa_decrypt(bits: u16);
}

/// A result of the host, which has said if there is one.
fn result<const N: usize>(fill: impl FnOnce(*mut u8) -> std::ffi::c_int) -> Option<[u8; N]> {
    let mut out = [0; N];
    (fill(out.as_mut_ptr()) != 0).then_some(out)
}

/// Fast arithmetic of secp256r1: the product of a point, or of the generator. It takes no time of the device. Numbers are big-endian; a
/// point is x, then y. `None`: the stack has to compute with its own code, because the session asks for that, this processor has no fast
/// arithmetic, or there is no result.
pub fn p256_multiply(scalar: &[u8; 32], point: Option<&[u8; 64]>) -> Option<[u8; 64]> {
    let point = point.map_or(ptr::null(), |point| point.as_ptr());
    // SAFETY: the host reads the arguments, and writes 64 octets.
    result(|out| unsafe { (host().p256_multiply)(out, scalar.as_ptr(), point) })
}

/// generator * of_generator + point * of_point, likewise.
pub fn p256_multiply_add(of_generator: &[u8; 32], of_point: &[u8; 32], point: &[u8; 64]) -> Option<[u8; 64]> {
    // SAFETY: the host reads the arguments, and writes 64 octets.
    result(|out| unsafe { (host().p256_multiply_add)(out, of_generator.as_ptr(), of_point.as_ptr(), point.as_ptr()) })
}

/// 1 / number, modulo the order of the group, likewise.
pub fn p256_invert(number: &[u8; 32]) -> Option<[u8; 32]> {
    // SAFETY: the host reads the argument, and writes 32 octets.
    result(|out| unsafe { (host().p256_invert)(out, number.as_ptr()) })
}

/// A signature with this nonce: r, then s; likewise.
pub fn p256_sign(private_key: &[u8; 32], nonce: &[u8; 32], hash: &[u8; 32]) -> Option<[u8; 64]> {
    // SAFETY: the host reads the arguments, and writes 64 octets.
    result(|out| unsafe { (host().p256_sign)(out, private_key.as_ptr(), nonce.as_ptr(), hash.as_ptr()) })
}

/// True if this signature, r and then s, is valid. If not, the stack has to verify it.
pub fn p256_is_valid(point: &[u8; 64], hash: &[u8; 32], signature: &[u8; 64]) -> bool {
    // SAFETY: the host reads the arguments.
    unsafe { (host().p256_is_valid)(point.as_ptr(), hash.as_ptr(), signature.as_ptr()) != 0 }
}

/// True if this signature (DER) of a hash is known to be valid: it was made or verified before.
pub fn p256_is_signed(point: &[u8; 64], hash: &[u8], signature: &[u8]) -> bool {
    // SAFETY: the host reads the arguments.
    unsafe {
        (host().p256_is_signed)(point.as_ptr(), hash.as_ptr(), hash.len(), signature.as_ptr(), signature.len()) != 0
    }
}

/// From now on, this signature (DER) is known to be valid.
pub fn p256_signed(point: &[u8; 64], hash: &[u8], signature: &[u8]) {
    // SAFETY: the host reads the arguments.
    unsafe { (host().p256_signed)(point.as_ptr(), hash.as_ptr(), hash.len(), signature.as_ptr(), signature.len()) }
}
