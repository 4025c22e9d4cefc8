//! DTLS 1.3 (RFC 9147).

mod ack;
mod certificate_types;
mod certificates;
pub(crate) mod client;
mod connection;
pub(crate) mod hello;
mod psk;
pub(crate) mod record;
mod schedule;
pub(crate) mod server;
#[cfg(all(test, feature = "rustcrypto"))]
mod tests;

pub(crate) use connection::{Connection, transcript_header};
