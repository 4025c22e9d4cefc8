//! DTLS 1.2 (RFC 6347).

mod certificates;
pub(crate) mod client;
mod connection;
mod extensions;
mod heartbeat;
mod hello;
mod key_agreement;
mod public_keys;
pub(crate) mod record;
mod resumption;
mod schedule;
pub(crate) mod server;

pub(crate) use connection::Connection;
pub(crate) use extensions::Offer;
pub(crate) use hello::ClientHello;
pub(crate) use resumption::{Resuming, TicketKeys, find as find_session};
pub(crate) use server::COOKIE;
