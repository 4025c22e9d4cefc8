//! `lean-dtls` for firmware in C. `include/lean_dtls.h` documents each function; the names are the same.
//!
//! The storage of a client or a server is the caller's, because there is no allocator. Its size is a constant of the header, and
//! less than is needed is refused. Random numbers come from a function that the firmware defines (`lean_dtls_random`), as a
//! device has one source of them. Application data goes to a function pointer with a context.

#![no_std]

#[macro_use]
mod common;
mod client;
mod handle;
mod server;
mod settings;

use core::ffi::{CStr, c_char, c_void};
use core::slice;

use lean_dtls::{Failure, RustCrypto, SendError, Status};

use handle::Marked;

pub use client::{CLIENT_SIZE, Client};
pub use handle::Handle;
pub use server::{Address, SERVER_SIZE, SLOTS, Server};
pub use settings::{PskOfC, Settings};

#[cfg(feature = "std")]
extern crate std;

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Octets of the buffers of a connection: enough for all that lean-dtls offers with all of its features.
const BUFFER: usize = 512;

/// `LEAN_DTLS_NEVER` of the header.
const NEVER: u64 = u64::MAX;

/// `lean_dtls_deliver`.
type Deliver = unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize);

type Crypto = RustCrypto<fn(&mut [u8])>;

unsafe extern "C" {
    /// Defined by the firmware: fills `octets` with random numbers that nobody can predict.
    fn lean_dtls_random(octets: *mut u8, length: usize);
}

fn crypto() -> Crypto {
    RustCrypto::new(|octets| {
        // SAFETY: the pointer and the length are those of a slice that is borrowed here alone.
        unsafe { lean_dtls_random(octets.as_mut_ptr(), octets.len()) }
    })
}

/// `lean_dtls_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Error {
    /// No error.
    Ok,
    /// A pointer is null, or not aligned.
    Null,
    /// The storage is too small.
    Storage,
    /// The storage holds nothing, or is in use.
    NotMade,
    /// A key is missing, or its length is wrong.
    Key,
    /// The datagrams are too short.
    Mtu,
    /// The connection is not established.
    NotEstablished,
    /// The data do not fit.
    TooLong,
}

impl Error {
    /// All of them with their names in C. The number of each is its place.
    pub const NAMES: [(Self, &'static CStr); 8] = [
        (Self::Ok, c"LEAN_DTLS_OK"),
        (Self::Null, c"LEAN_DTLS_ERROR_NULL"),
        (Self::Storage, c"LEAN_DTLS_ERROR_STORAGE"),
        (Self::NotMade, c"LEAN_DTLS_ERROR_NOT_MADE"),
        (Self::Key, c"LEAN_DTLS_ERROR_KEY"),
        (Self::Mtu, c"LEAN_DTLS_ERROR_MTU"),
        (Self::NotEstablished, c"LEAN_DTLS_ERROR_NOT_ESTABLISHED"),
        (Self::TooLong, c"LEAN_DTLS_ERROR_TOO_LONG"),
    ];
}

/// The name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_error_name(error: i32) -> *const c_char {
    let named = usize::try_from(error).ok().and_then(|place| Error::NAMES.get(place));
    named.map_or(c"unknown", |(_, name)| name).as_ptr()
}

/// `lean_dtls_status` of the header.
fn status_number(status: Status) -> i32 {
    match status {
        Status::Handshaking => 0,
        Status::Established => 1,
        Status::Closing => 2,
        Status::Closed => 3,
        Status::Failed(_) => FAILED,
    }
}

/// `LEAN_DTLS_FAILED`.
const FAILED: i32 = 4;

/// `lean_dtls_failure` of the header, and the alert.
fn failure_number(status: Status) -> (i32, u8) {
    let Status::Failed(failure) = status else { return (0, 0) };
    match failure {
        Failure::TimedOut(alert) => (1, alert.unwrap_or(0)),
        Failure::AlertReceived(alert) => (2, alert),
        Failure::AlertSent(alert) => (3, alert),
        Failure::BufferTooSmall => (4, 0),
        Failure::NoKey => (5, 0),
    }
}

/// The octets at a pointer from C. A null pointer is no octets.
///
/// # Safety
/// If the pointer is not null, there are `length` octets that nobody changes while the result is used.
unsafe fn octets<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: the caller's promise. No object is longer than `isize::MAX`, so a greater length is a mistake.
    if is_range(pointer, length) { unsafe { slice::from_raw_parts(pointer, length) } } else { &[] }
}

/// Octets of the caller that are written.
///
/// # Safety
/// If the pointer is not null, there are `length` octets that nobody else uses while the result is used.
unsafe fn octets_mut<'a>(pointer: *mut u8, length: usize) -> &'a mut [u8] {
    // SAFETY: as above.
    if is_range(pointer, length) { unsafe { slice::from_raw_parts_mut(pointer, length) } } else { &mut [] }
}

fn is_range(pointer: *const u8, length: usize) -> bool {
    !pointer.is_null() && isize::try_from(length).is_ok()
}

/// The value at a pointer from C, if it can be one.
///
/// # Safety
/// If the pointer is neither null nor misaligned, there is a value of this type.
unsafe fn value<T: Copy>(pointer: *const T) -> Option<T> {
    let is_one = !pointer.is_null() && pointer.is_aligned();
    // SAFETY: the caller's promise.
    is_one.then(|| unsafe { pointer.read() })
}

/// Puts a value where C wants it, if it does.
///
/// # Safety
/// If the pointer is neither null nor misaligned, there is room for the value.
unsafe fn put<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() && pointer.is_aligned() {
        // SAFETY: the caller's promise.
        unsafe { pointer.write(value) };
    }
}

/// Gives application data to C.
fn deliver_to(deliver: Option<Deliver>, context: *mut c_void) -> impl FnMut(&[u8]) {
    move |data| {
        if let Some(deliver) = deliver {
            // SAFETY: the data are there until the call returns. The context is the caller's own.
            unsafe { deliver(context, data.as_ptr(), data.len()) };
        }
    }
}

/// Encrypts data with `call`, and writes the length of the datagram where C wants it.
///
/// # Safety
/// As for [`Handle::with`] and [`put`].
unsafe fn send<E: Marked>(
    this: *mut Handle<E>,
    data: &[u8],
    output: &mut [u8],
    written: *mut usize,
    call: impl FnOnce(&mut E, &[u8], &mut [u8]) -> Result<usize, SendError>,
) -> Error {
    if written.is_null() {
        return Error::Null; // the length is lost, and so is the number of the record
    }
    // SAFETY: the caller's promise.
    let (length, error) = match unsafe { Handle::with(this, |engine| call(engine, data, output)) } {
        Ok(Ok(length)) => (length, Error::Ok),
        Ok(Err(SendError::NotEstablished)) => (0, Error::NotEstablished),
        Ok(Err(SendError::TooLong)) => (0, Error::TooLong),
        Err(error) => (0, error),
    };
    // SAFETY: the same.
    unsafe { put(written, length) };
    error
}
