//! DTLS 1.2 (RFC 6347).

pub(crate) mod client;
mod connection;
mod extensions;
mod hello;
pub(crate) mod record;
mod schedule;
pub(crate) mod server;

pub(crate) use connection::Connection;
pub(crate) use hello::ClientHello;
pub(crate) use record::ContentType;
pub use schedule::MAX_PSK;
#[cfg(not(feature = "dtls13"))]
pub(crate) use server::REPLY;
pub(crate) use server::{Arrived, COOKIE};
