//! DTLS 1.2 (RFC 6347).

#[cfg(feature = "certificates")]
pub(crate) mod certificates;
pub(crate) mod client;
mod connection;
mod connection_id;
mod extensions;
#[cfg(feature = "heartbeat")]
mod heartbeat;
mod hello;
#[cfg(feature = "ecdhe")]
mod key_agreement;
#[cfg(feature = "record-limits")]
mod limits;
#[cfg(feature = "ecdhe")]
mod public_keys;
pub(crate) mod record;
#[cfg(feature = "resumption")]
mod resumption;
mod schedule;
pub(crate) mod server;
mod suite;

pub(crate) use connection::{Connection, Heard};
pub(crate) use connection_id::ConnectionId;
#[cfg(feature = "connection-id")]
pub use connection_id::MAX_CONNECTION_ID;
pub(crate) use extensions::Offer;
#[cfg(all(feature = "dtls13", feature = "record-limits"))]
pub(crate) use extensions::content_limit;
#[cfg(feature = "dtls13")]
pub(crate) use extensions::is_for_both;
pub(crate) use hello::ClientHello;
#[cfg(feature = "record-limits")]
pub(crate) use limits::LEAST_RECORD_SIZE;
pub(crate) use record::ContentType;
#[cfg(feature = "record-limits")]
pub(crate) use record::MAX_CONTENT;
#[cfg(feature = "resumption")]
pub(crate) use resumption::{Resuming, TicketKeys, find as find_session};
pub use schedule::MAX_PSK;
pub(crate) use schedule::Master;
#[cfg(not(feature = "dtls13"))]
pub(crate) use server::REPLY;
pub(crate) use server::{Arrived, COOKIE};
pub(crate) use suite::Abilities;
pub use suite::Suite;

/// The session that a client asks for, and then the one that it keeps.
#[cfg(feature = "resumption")]
pub(crate) type Kept = Option<crate::session::Session>;

#[cfg(not(feature = "resumption"))]
pub(crate) type Kept = ();

#[cfg(not(feature = "resumption"))]
pub(crate) type Resuming<'a> = core::marker::PhantomData<&'a ()>;
