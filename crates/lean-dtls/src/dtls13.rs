//! DTLS 1.3 (RFC 9147).

mod ack;
#[cfg(feature = "certificates")]
mod certificate_types;
#[cfg(feature = "certificates")]
mod certificates;
pub(crate) mod client;
mod connection;
mod hello;
mod psk;
pub(crate) mod record;
mod schedule;
pub(crate) mod server;
#[cfg(all(test, feature = "rustcrypto"))]
mod tests;

pub(crate) use connection::{Connection, transcript_header};
pub(crate) use hello::ClientHello;
