//! DTLS 1.2 (RFC 6347).

#[cfg(feature = "certificates")]
mod certificates;
pub(crate) mod client;
mod connection;
mod extensions;
#[cfg(feature = "heartbeat")]
mod heartbeat;
mod hello;
#[cfg(feature = "ecdhe")]
mod key_agreement;
#[cfg(feature = "ecdhe")]
mod public_keys;
pub(crate) mod record;
#[cfg(feature = "resumption")]
mod resumption;
mod schedule;
pub(crate) mod server;

#[cfg(not(feature = "resumption"))]
pub(crate) use crate::session::Resuming;
pub(crate) use connection::Connection;
pub(crate) use extensions::Offer;
pub(crate) use hello::ClientHello;
pub(crate) use record::ContentType;
#[cfg(feature = "resumption")]
pub(crate) use resumption::{Resuming, TicketKeys, find as find_session};
pub(crate) use server::COOKIE;
