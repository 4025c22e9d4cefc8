//! The client.

use core::ffi::c_void;

use lean_dtls::{Instant, Status};

use crate::handle::{Handle, Marked};
use crate::settings::{Keys, Settings, config};
use crate::{
    BUFFER, Crypto, Deliver, Error, FAILED, NEVER, crypto, deliver_to, failure_number, octets, octets_mut, put, send,
    status_number,
};

/// `LEAN_DTLS_CLIENT_SIZE` of the header.
pub const CLIENT_SIZE: usize = 4096;

type Engine = lean_dtls::Client<Keys, Crypto, BUFFER>;

/// The content of the storage of `lean_dtls_client`.
pub type Client = Handle<Engine>;

impl Marked for Engine {
    const MARK: u64 = u64::from_be_bytes(*b"a client");
}

const _: () = assert!(size_of::<Client>() <= CLIENT_SIZE, "the header's constant is too small");

common! {
    lean_dtls_client_size, lean_dtls_client_new, lean_dtls_client_deadline, lean_dtls_client_handle_timeout, lean_dtls_client_drop
}

/// Begins the handshake.
///
/// # Safety
/// `client` is null, or storage that was zeroed or used before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_connect(client: *mut Client) {
    // SAFETY: the caller's promise.
    let _ = unsafe { Handle::with(client, Engine::connect) };
}

/// Processes a datagram of the server.
///
/// # Safety
/// As above. `datagram` is null or points to `length` octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_receive(
    client: *mut Client,
    datagram: *mut u8,
    length: usize,
    deliver: Option<Deliver>,
    context: *mut c_void,
) {
    // SAFETY: the caller's promises.
    let _ = unsafe {
        let datagram = octets_mut(datagram, length);
        Handle::with(client, |client| client.receive(datagram, deliver_to(deliver, context)))
    };
}

/// Writes the next datagram.
///
/// # Safety
/// As above. `output` is null or points to `room` octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_poll_transmit(
    client: *mut Client,
    now_ms: u64,
    output: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promises.
    unsafe {
        let output = octets_mut(output, room);
        Handle::with(client, |client| client.poll_transmit(Instant::from_millis(now_ms), output)).unwrap_or(0)
    }
}

/// Encrypts application data.
///
/// # Safety
/// As above. `data` is null or points to `length` octets, `output` to `room` others that nobody else uses meanwhile, `written` to
/// a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_send(
    client: *mut Client,
    data: *const u8,
    length: usize,
    output: *mut u8,
    room: usize,
    written: *mut usize,
) -> Error {
    // SAFETY: the caller's promises.
    unsafe { send(client, octets(data, length), octets_mut(output, room), written, Engine::send) }
}

/// Closes the connection.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_close(client: *mut Client) {
    // SAFETY: the caller's promise.
    let _ = unsafe { Handle::with(client, Engine::close) };
}

/// The status of the connection.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_status(client: *const Client) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { Handle::look(client, Engine::status) }.map_or(FAILED, status_number)
}

/// Why the connection has failed.
///
/// # Safety
/// As above. `alert` is null or points to an octet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_client_failure(client: *const Client, alert: *mut u8) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        let (failure, heard) = failure_number(Handle::look(client, Engine::status).unwrap_or(Status::Handshaking));
        put(alert, heard);
        failure
    }
}
