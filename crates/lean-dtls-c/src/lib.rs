//! The client of `lean-dtls` for firmware in C. `include/lean_dtls.h` documents each function; the names are the same.
//!
//! The storage of a client is the caller's, because there is no allocator. Its size is a constant of the header, and
//! `lean_dtls_client_new` refuses less than a client needs. Random numbers come from a function that the firmware defines
//! (`lean_dtls_random`), as a device has one source of them. Application data goes to a function pointer with a context.

#![no_std]

use core::ffi::c_void;
use core::slice;

use lean_dtls::{Client, Config, Instant, Psk, RustCrypto, Status, Timeouts};

#[cfg(feature = "std")]
extern crate std;

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Octets of the buffers of a connection: enough for all that lean-dtls offers with all of its features.
const BUFFER: usize = 512;

/// `LEAN_DTLS_CLIENT_SIZE` of the header.
pub const CLIENT_SIZE: usize = 4096;

/// `LEAN_DTLS_NEVER` of the header.
const NEVER: u64 = u64::MAX;

/// What is in the storage of `lean_dtls_client`.
pub type Engine = Client<[Psk<'static>; 1], RustCrypto<fn(&mut [u8])>, BUFFER>;

const _: () = assert!(size_of::<Engine>() <= CLIENT_SIZE, "the header's constant is too small");
const _: () = assert!(align_of::<Engine>() <= align_of::<u64>(), "the header's storage is not aligned enough");

unsafe extern "C" {
    /// Defined by the firmware: fills `octets` with random numbers that nobody can predict.
    fn lean_dtls_random(octets: *mut u8, length: usize);
}

fn random(octets: &mut [u8]) {
    // SAFETY: the pointer and the length are those of a slice that is borrowed here alone.
    unsafe { lean_dtls_random(octets.as_mut_ptr(), octets.len()) }
}

/// `lean_dtls_config`.
#[repr(C)]
pub struct Settings {
    identity: *const u8,
    identity_length: usize,
    key: *const u8,
    key_length: usize,
    mtu: u16,
    timeout_ms: u32,
}

/// `lean_dtls_deliver`.
type Deliver = unsafe extern "C" fn(context: *mut c_void, data: *const u8, length: usize);

/// The octets at a pointer from C. A null pointer is no octets.
///
/// # Safety
/// If the pointer is not null, there are `length` octets that nobody changes while the result is used.
unsafe fn octets<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if pointer.is_null() { &[] } else { unsafe { slice::from_raw_parts(pointer, length) } }
}

/// The same for octets that are written.
///
/// # Safety
/// If the pointer is not null, there are `length` octets that nobody else uses while the result is used.
unsafe fn octets_mut<'a>(pointer: *mut u8, length: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    if pointer.is_null() { &mut [] } else { unsafe { slice::from_raw_parts_mut(pointer, length) } }
}

/// Octets that a client needs.
#[unsafe(no_mangle)]
pub const extern "C" fn lean_dtls_client_size() -> usize {
    size_of::<Engine>()
}

/// Makes a client in the caller's storage.
///
/// # Safety
/// `client` points to `size` octets, aligned as a `uint64_t`. The identity and the key stay where they are, and as they are,
/// as long as the client is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_new(client: *mut Engine, size: usize, settings: &Settings) -> bool {
    if size < size_of::<Engine>() {
        return false;
    }
    // SAFETY: the caller's promise about identity and key.
    let (identity, key) =
        unsafe { (octets(settings.identity, settings.identity_length), octets(settings.key, settings.key_length)) };
    let initial_ms = if settings.timeout_ms == 0 { Timeouts::DEFAULT.initial_ms } else { settings.timeout_ms };
    let timeouts = Timeouts { initial_ms, ..Timeouts::DEFAULT };
    let Ok(config) = Config::new([Psk { identity, key }], settings.mtu, timeouts) else { return false };
    // SAFETY: there is enough room, and it is aligned. What was there before is not read.
    unsafe { client.write(Client::new(config, RustCrypto::new(random))) };
    true
}

/// Begins the handshake.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_client_connect(client: &mut Engine) {
    client.connect();
}

/// Processes a datagram of the server.
///
/// # Safety
/// `datagram` points to `length` octets that nobody else uses meanwhile. `deliver` does not use the client.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_receive(
    client: &mut Engine,
    datagram: *mut u8,
    length: usize,
    deliver: Option<Deliver>,
    context: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let datagram = unsafe { octets_mut(datagram, length) };
    client.receive(datagram, |data| {
        if let Some(deliver) = deliver {
            // SAFETY: the data are there until the call returns. The context is the caller's own.
            unsafe { deliver(context, data.as_ptr(), data.len()) };
        }
    });
}

/// Writes the next datagram.
///
/// # Safety
/// `output` points to `room` octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_poll_transmit(
    client: &mut Engine,
    now_ms: u64,
    output: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promise.
    client.poll_transmit(Instant::from_millis(now_ms), unsafe { octets_mut(output, room) })
}

/// When to handle a timeout.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_client_deadline(client: &Engine) -> u64 {
    client.deadline().map_or(NEVER, Instant::as_millis)
}

/// Does what is due.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_client_handle_timeout(client: &mut Engine, now_ms: u64) {
    client.handle_timeout(Instant::from_millis(now_ms));
}

/// Encrypts application data.
///
/// # Safety
/// `data` points to `length` octets, `output` to `room` others that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_send(
    client: &mut Engine,
    data: *const u8,
    length: usize,
    output: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let (data, output) = unsafe { (octets(data, length), octets_mut(output, room)) };
    client.send(data, output).unwrap_or(0)
}

/// Closes the connection.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_client_close(client: &mut Engine) {
    client.close();
}

/// `lean_dtls_status` of the header.
#[unsafe(no_mangle)]
pub extern "C" fn lean_dtls_client_status(client: &Engine) -> i32 {
    match client.status() {
        Status::Handshaking => 0,
        Status::Established => 1,
        Status::Closing => 2,
        Status::Closed => 3,
        Status::Failed(_) => 4,
    }
}

/// Wipes the keys.
///
/// # Safety
/// The client was made by [`lean_dtls_client_new`], and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_drop(client: *mut Engine) {
    // SAFETY: the caller's promise.
    unsafe { client.drop_in_place() };
}
