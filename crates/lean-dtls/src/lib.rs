//! A DTLS 1.2 engine for class-1 devices.
//!
//! It is `no_std`, allocates nothing, does no I/O and has no `unsafe`. The owner gives it datagrams and the time, takes out
//! the datagrams that it sends, and asks for its next deadline.
//!
//! ```
//! use lean_dtls::{Client, Config, Instant, Psk, RustCrypto, Server, Status, Timeouts};
//!
//! let keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
//! let config = Config::new(keys, 256, Timeouts::default()).expect("a key, and room for a record");
//! // A device has a source of random numbers that nobody can predict. This is none.
//! let random = |seed: u8| move |octets: &mut [u8]| octets.fill(seed);
//!
//! let mut client = Client::<_, _, 192>::new(config, RustCrypto::new(random(1)));
//! let mut server = Server::<_, _, [u8; 6], 3, 192>::new(config, RustCrypto::new(random(2)));
//! let (address, now) = ([192, 0, 2, 1, 0, 42], Instant::from_millis(0));
//!
//! client.connect();
//! let mut datagram = [0; 256];
//! while client.status() == Status::Handshaking {
//!     while let length @ 1.. = client.poll_transmit(now, &mut datagram) {
//!         server.receive(address, &mut datagram[..length], |_| {});
//!     }
//!     while let Some((_, length)) = server.poll_transmit(now, &mut datagram) {
//!         client.receive(&mut datagram[..length], |_| {});
//!     }
//! }
//! assert_eq!(client.status(), Status::Established);
//!
//! let length = client.send(b"22.5 C", &mut datagram).expect("the connection is established");
//! server.receive(address, &mut datagram[..length], |data| assert_eq!(data, b"22.5 C"));
//! ```
//!
//! # What it speaks
//!
//! DTLS 1.2 (RFC 6347), client and server, with TLS_PSK_WITH_AES_128_CCM_8 (RFC 6655, RFC 4279), extended master secret
//! (RFC 7627) and the cookie exchange. It never renegotiates (RFC 5746), resumes no session, and offers no other extension.
//!
//! DTLS 1.3 (RFC 9147) in its place, if the configuration says so: pre-shared keys alone or with key agreement, raw public keys
//! and X.509 certificates; AES-128 in CCM_8, CCM and GCM; cookies in a HelloRetryRequest, connection IDs, key updates, and
//! acknowledgements. Tickets are acknowledged, and not used. Early data are not offered.
//!
//! # How it behaves
//!
//! - A server keeps nothing about a client before the client's cookie has returned. One buffer puts fragments of a
//!   ClientHello together, for one client at a time.
//! - Messages longer than the MTU are sent in fragments, down to datagrams of 64 octets. Fragments may arrive in any order,
//!   overlap, or arrive twice. Messages that overtake others wait, as far as the buffer has room.
//! - A flight is sent again when its timer expires, and when the peer repeats the flight before it: this end's was lost.
//!   A server keeps its last flight until application data arrives.
//! - Records that are malformed, old, repeated or not the peer's are discarded in silence (RFC 6347, section 4.1.2.7). So are
//!   alerts in clear, because anybody can send them; the last one is named if the handshake then times out.
//! - Verify data, cookies and tags are compared in constant time. The engine wipes its secrets when they are no longer used;
//!   what the implementation of [`Crypto`] keeps is its own.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod client;
mod codec;
mod config;
mod connection;
mod credentials;
pub mod crypto;
#[cfg(feature = "certificates")]
mod der;
mod dtls12;
#[cfg(feature = "dtls13")]
mod dtls13;
mod flight;
mod handshake;
mod lean;
mod ranges;
mod reassembly;
mod replay;
mod reply;
mod server;
mod status;
mod time;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use client::Client;
#[cfg(feature = "record-limits")]
pub use config::MaxFragmentLength;
#[cfg(feature = "dtls13")]
pub use config::Versions;
pub use config::{Admission, Config, ConfigError, MIN_MTU};
pub use credentials::*;
pub use crypto::Crypto;
#[cfg(feature = "rustcrypto")]
pub use crypto::RustCrypto;
#[cfg(feature = "connection-id")]
pub use dtls12::MAX_CONNECTION_ID;
pub use dtls12::record::OVERHEAD;
pub use dtls12::{MAX_PSK, Suite};
#[cfg(feature = "lean")]
pub use lean::Lean;
pub use server::Server;
pub use status::{Failure, SendError, Status};
pub use time::{Instant, Timeouts};
