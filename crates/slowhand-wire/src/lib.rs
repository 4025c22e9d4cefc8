//! Reads what sessions send: records, handshake messages and fragments of DTLS and TLS, types of QUIC packets.
//!
//! This crate is the only reader of these formats in the project. It copies nothing: a [`dtls::Record`] or a
//! [`tls::Record`] is a view of the octets. It has no keys. So it reads the content of a record only if the record is
//! not protected; of a protected record it reads the header. No input makes it panic. Malformed input gives a
//! [`WireError`].
//!
//! | module | reads | defined in |
//! | --- | --- | --- |
//! | [`dtls`] | records of DTLS 1.0 and 1.2, also with a connection ID; fragments of messages | RFC 6347, RFC 9146 |
//! | [`dtls13`] | records of every version of DTLS, also with the unified header | RFC 9147 section 4 |
//! | [`tls`] | records of TLS 1.0 to 1.3; handshake messages | RFC 5246, RFC 8446 |
//! | [`quic`] | the types of packets of QUIC version 1 | RFC 9000 section 17 |
//! | [`flight`] | which parts of a flight a datagram carries, and which were carried before | RFC 6347 section 4.2.4 |
//!
//! # Goals
//!
//! - One answer to the question "was this sent before?". A DTLS library may cut a message into other fragments each
//!   time it sends it (RFC 6347 section 4.2.3). So the comparison is octet by octet: [`Coverage`] is a set of octets of
//!   messages.
//! - No copies. Only [`Coverage`] and [`RangeSet`] allocate.
//!
//! # Non-goals
//!
//! - To decrypt, to reassemble messages, or to read the content of a handshake message. One exception is the version that a
//!   ServerHello chooses ([`tls::chosen_version`]): a record of TLS does not say it.
//!
//! # Example
//!
//! ```
//! use slowhand_wire::{Coverage, dtls, flight};
//!
//! // A HelloVerifyRequest (RFC 6347 section 4.2.1): record header, message header, server_version, cookie.
//! let datagram = [
//!     22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, //
//!     3, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, //
//!     0xfe, 0xff, 2, 0xab, 0xcd,
//! ];
//! let mut sent = Coverage::default();
//! for record in dtls::records(&datagram, None) {
//!     for part in flight::parts(&record?) {
//!         assert!(!sent.covers(&part?), "it is sent for the first time");
//!         sent.insert(&part?);
//!     }
//! }
//! # Ok::<(), slowhand_wire::WireError>(())
//! ```
#![forbid(unsafe_code)]

pub mod dtls;
pub mod dtls13;
mod error;
pub mod flight;
mod octets;
pub mod quic;
mod ranges;
pub mod tls;
mod types;

pub use error::WireError;
pub use flight::{Coverage, FlightPart, MessageId};
pub use ranges::RangeSet;
pub use types::{ContentType, MessageType};
