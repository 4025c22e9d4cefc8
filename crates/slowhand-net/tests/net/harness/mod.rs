//! Helpers that the tests of the network share: a recording observer, networks to begin with, run loops, captures.

mod capture;
mod conversation;
mod networks;
mod recorder;
mod run;

pub use capture::{DATA_PACKET, address, capture};
pub use conversation::Conversation;
pub use networks::*;
pub use recorder::{Frame, Recorder};
pub use run::*;

use slowhand_net::clock::{Duration, Instant};

/// The instant `us` microseconds after the beginning.
pub fn at(us: u64) -> Instant {
    Instant::from_micros(us)
}

/// The instant `seconds` seconds after the beginning.
pub fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// A duration of `us` microseconds.
pub fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}
