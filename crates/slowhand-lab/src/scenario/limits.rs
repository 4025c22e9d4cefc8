//! `[limits]`: what a scenario may take of the machine that runs it.

use super::keys::table;
use crate::input::Integer;

table! {
    /// The bounds of what a scenario may take of the machine that runs it. A scenario that needs more is refused.
    pub struct Limits {
        /// The most memory of one world, in millions of octets. Each thread runs one world at a time. Default: 2000. That
        /// is enough for 12,000 clients, or for a mesh of 65,535 nodes with a few thousand clients.
        pub memory_mb: Integer<1, 1_000_000> { Integer::constant(2_000) },
    }
}

/// Octets that a node takes in a world: its radio, its buffers, its schedule. Measured: 6,200 with X-MAC, 20,000 nodes.
const NODE: u64 = 8_000;

/// Octets that a client takes: both ends of its session, and its record. Measured with 500 clients at the same time:
/// 138,000 with OpenSSL, 116,000 with mbedTLS, 65,000 with rustls, 17,000 with tinyDTLS.
const CLIENT: u64 = 150_000;

/// Octets that a datagram of other traffic takes: it is remembered until the end, in a list that doubles when it is full.
const DATAGRAM: u64 = 48;

/// The memory that a world of this size takes, in octets: an estimate, rather too much than too little.
pub(super) fn memory(nodes: usize, clients: usize, datagrams: u64) -> u64 {
    (NODE * nodes as u64 + CLIENT * clients as u64).saturating_add(datagrams.saturating_mul(DATAGRAM))
}
