//! The world around one end: its clock, its randomness, and what it sends and receives.
//!
//! The C libraries call the functions of `csrc/peer.h`, which have no argument that names the end. So [`Host::run`] makes each
//! call of a library: during the call, this host is the current one of the thread. The adapters of Rust libraries use the same
//! functions.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr;
use std::slice;
use std::time::Duration;

use crate::setup::HEARTBEAT;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The calendar time at which worlds begin: 2030-01-01, as in slowhand-sessions.
const WORLD_BEGAN: Duration = Duration::from_secs(1_893_456_000);

/// The world around one end.
pub(crate) struct Host {
    /// The calendar time, since 1970, at which the world begins.
    began: Duration,
    pub(crate) now: Duration,
    random: Xoshiro256PlusPlus,
    pub(crate) sent: VecDeque<Vec<u8>>,
    pub(crate) received: VecDeque<Vec<u8>>,
}

thread_local! {
    static CURRENT: Cell<*mut Host> = const { Cell::new(ptr::null_mut()) };
}

impl Host {
    pub(crate) fn new(seed: u64, before: Duration) -> Self {
        let began = WORLD_BEGAN.saturating_sub(before);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { began, now: Duration::ZERO, random, sent: VecDeque::new(), received: VecDeque::new() }
    }

    /// Makes a call of a library with this host as the current one of the thread.
    pub(crate) fn run<T>(&mut self, call: impl FnOnce() -> T) -> T {
        struct Reset(*mut Host);
        impl Drop for Reset {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _reset = Reset(CURRENT.replace(self));
        call()
    }
}

/// Uses the current host.
///
/// # Panics
/// If there is none: a library is called outside [`Host::run`]. In a callback from C, this ends the process.
fn with_current<T>(call: impl FnOnce(&mut Host) -> T) -> T {
    let current = CURRENT.get();
    assert!(!current.is_null(), "a library is called without a host");
    // SAFETY: `Host::run` has the only reference to the host, and does not use it during the call. The functions of this module
    // do not call each other, so this is the only one.
    call(unsafe { &mut *current })
}

pub(crate) fn now() -> Duration {
    with_current(|host| host.now)
}

pub(crate) fn fill_random(octets: &mut [u8]) {
    with_current(|host| host.random.fill_bytes(octets));
}

pub(crate) fn transmit(datagram: &[u8]) {
    with_current(|host| host.sent.push_back(datagram.to_vec()));
}

pub(crate) fn deliver(data: &[u8]) {
    with_current(|host| host.received.push_back(data.to_vec()));
}

/// The calendar time, since 1970.
pub(crate) fn calendar() -> Duration {
    with_current(|host| host.began + host.now)
}

/// The time since the beginning of the world, of a calendar time.
pub(crate) fn since_beginning(calendar: Duration) -> Duration {
    with_current(|host| calendar.saturating_sub(host.began))
}

/// Seconds since 1970.
pub(crate) fn unix_time() -> u64 {
    calendar().as_secs()
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn interop_now_ms() -> u64 {
    milliseconds(now())
}

#[unsafe(no_mangle)]
extern "C" fn interop_unix_time_ms() -> u64 {
    milliseconds(calendar())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn interop_random(output: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: the caller gives a buffer of this length.
        fill_random(unsafe { slice::from_raw_parts_mut(output, length) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn interop_transmit(datagram: *const u8, length: usize) {
    // SAFETY: the caller gives a datagram of this length, at least one octet.
    transmit(unsafe { slice::from_raw_parts(datagram, length) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn interop_deliver(data: *const u8, length: usize) {
    // SAFETY: the caller gives data of this length, at least one octet.
    deliver(unsafe { slice::from_raw_parts(data, length) });
}

#[unsafe(no_mangle)]
extern "C" fn interop_heartbeat_answered() {
    deliver(HEARTBEAT);
}

// Checks of the types of these functions.
include!(concat!(env!("OUT_DIR"), "/mirrors/host.rs"));
