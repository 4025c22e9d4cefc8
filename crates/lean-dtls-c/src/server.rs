//! The server.

use core::ffi::c_void;

use lean_dtls::{Association, Instant, SendError};

use crate::handle::{Handle, Marked};
use crate::settings::{Keys, Settings, config};
use crate::{
    BUFFER, Crypto, Deliver, Error, FAILED, NEVER, crypto, deliver_to, octets, octets_mut, put, send, status_number,
    value,
};

/// `LEAN_DTLS_SERVER_SIZE` of the header.
pub const SERVER_SIZE: usize = 12288;

/// The number of slots, if the environment of the compiler has no `LEAN_DTLS_SLOTS`. (Assumed: a device that is a server has few
/// peers.)
const DEFAULT_SLOTS: usize = 3;

/// `LEAN_DTLS_SLOTS` of the header.
pub const SLOTS: usize = match option_env!("LEAN_DTLS_SLOTS") {
    None => DEFAULT_SLOTS,
    Some(number) => match usize::from_str_radix(number, 10) {
        Ok(slots @ 1..) => slots,
        _ => panic!("LEAN_DTLS_SLOTS is a number of 1 or more"),
    },
};

/// `lean_dtls_address`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Address([u8; 18]);

impl AsRef<[u8]> for Address {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// `LEAN_DTLS_NONE` of the header.
pub const NONE: u32 = 0;

type Engine = lean_dtls::Server<Keys, Crypto, Address, SLOTS, BUFFER>;

/// The content of the storage of `lean_dtls_server`.
pub type Server = Handle<Engine>;

impl Marked for Engine {
    const MARK: u64 = u64::from_be_bytes(*b"a server");
}

const _: () =
    assert!(SLOTS > DEFAULT_SLOTS || size_of::<Server>() <= SERVER_SIZE, "the header's constant is too small");

common! {
    lean_dtls_server_size, lean_dtls_server_new, lean_dtls_server_deadline, lean_dtls_server_handle_timeout, lean_dtls_server_drop
}

/// Processes a datagram that says it comes from a peer. Returns the number of the association whose it is, or 0.
///
/// # Safety
/// `server` is null, or storage that was zeroed or used before. `peer` is null or points to an address, `datagram` to `length`
/// octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_receive(
    server: *mut Server,
    peer: *const Address,
    datagram: *mut u8,
    length: usize,
    deliver: Option<Deliver>,
    context: *mut c_void,
) -> u32 {
    // SAFETY: the caller's promises.
    unsafe {
        let (Some(peer), datagram) = (value(peer), octets_mut(datagram, length)) else { return NONE };
        let whose = Handle::with(server, |server| server.receive(peer, datagram, deliver_to(deliver, context)));
        whose.ok().flatten().map_or(NONE, Association::number)
    }
}

/// Writes the address of an association.
///
/// # Safety
/// As above. `peer` is null or has room for an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_address(server: *const Server, association: u32, peer: *mut Address) -> bool {
    // SAFETY: the caller's promises.
    unsafe {
        let address = look(server, association, |server, association| server.address(association)).flatten();
        let Some(address) = address.filter(|_| !peer.is_null()) else { return false };
        put(peer, address);
        true
    }
}

/// Writes the identity of the pre-shared key of an association's client.
///
/// # Safety
/// As above. `output` is null or points to `room` octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_identity(
    server: *const Server,
    association: u32,
    output: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promises.
    unsafe {
        let output = octets_mut(output, room);
        look(server, association, |server, association| {
            let identity = server.peer_identity(association)?;
            output.get_mut(..identity.len())?.copy_from_slice(identity);
            Some(identity.len())
        })
        .flatten()
        .unwrap_or(0)
    }
}

/// Looks at an association of a server.
///
/// # Safety
/// As above.
unsafe fn look<R>(server: *const Server, number: u32, call: impl FnOnce(&Engine, Association) -> R) -> Option<R> {
    let association = Association::with_number(number)?;
    // SAFETY: the caller's promise.
    unsafe { Handle::look(server, |server| call(server, association)).ok() }
}

/// Writes the next datagram.
///
/// # Safety
/// As above. `peer` has room for an address. `output` is null or points to `room` octets that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_poll_transmit(
    server: *mut Server,
    now_ms: u64,
    peer: *mut Address,
    output: *mut u8,
    room: usize,
) -> usize {
    if peer.is_null() {
        return 0; // nobody would know where to send the datagram
    }
    // SAFETY: the caller's promises.
    unsafe {
        let output = octets_mut(output, room);
        let next = Handle::with(server, |server| server.poll_transmit(Instant::from_millis(now_ms), output));
        let Ok(Some((to, length))) = next else { return 0 };
        put(peer, to);
        length
    }
}

/// Encrypts application data for the client of an association.
///
/// # Safety
/// As above. `data` is null or points to `length` octets, `output` to `room` others that nobody else uses meanwhile, `written` to
/// a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_send(
    server: *mut Server,
    association: u32,
    data: *const u8,
    length: usize,
    output: *mut u8,
    room: usize,
    written: *mut usize,
) -> Error {
    let call = |server: &mut Engine, data: &[u8], output: &mut [u8]| {
        let association = Association::with_number(association).ok_or(SendError::NotEstablished)?;
        server.send(association, data, output)
    };
    // SAFETY: the caller's promises.
    unsafe { send(server, octets(data, length), octets_mut(output, room), written, call) }
}

/// Closes an association.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_close(server: *mut Server, association: u32) {
    let Some(association) = Association::with_number(association) else { return };
    // SAFETY: the caller's promise.
    let _ = unsafe { Handle::with(server, |server| server.close(association)) };
}

/// The status of an association.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_status(server: *const Server, association: u32) -> i32 {
    // SAFETY: the caller's promise.
    let status = unsafe { look(server, association, |server, association| server.status(association)) };
    status.flatten().map_or(FAILED, status_number)
}

/// Makes other cookies.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_dtls_server_rotate_cookies(server: *mut Server) {
    // SAFETY: the caller's promise.
    let _ = unsafe { Handle::with(server, Engine::rotate_cookies) };
}
