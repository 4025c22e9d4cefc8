//! Other DTLS libraries as peers of lean-dtls, for tests only.
//!
//! Each library is an end without I/O, in virtual time and with randomness from a seed, behind the trait
//! [`Session`] of slowhand-sessions. So [`slowhand_sessions::memory::Path`] runs any two of them against each other.
//!
//! wolfSSL is under the GPL. What links this crate is under the GPL too, so only the tests of this crate link it.

mod c_peer;
mod credentials;
mod dimpl;
mod end;
mod host;
mod laboratory;
mod lean;
mod peer;
mod setup;

pub use peer::Peer;
pub use setup::{Group, HEARTBEAT, Setup, Suite, Version};

#[cfg(doc)]
use slowhand_sessions::Session;
