//! A DTLS 1.2 and 1.3 engine for class-1 devices.
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
//! let whose = server.receive(address, &mut datagram[..length], |data| assert_eq!(data, b"22.5 C"));
//! // Who has sent the data, the server knows. The address is only where its answers go.
//! assert_eq!(whose.and_then(|client| server.peer_identity(client)), Some(&b"sensor-17"[..]));
//! ```
//!
//! # What it speaks
//!
//! DTLS 1.2 (RFC 6347), client and server, with the cookie exchange and the extended master secret (RFC 7627). It never
//! renegotiates (RFC 5746).
//!
//! | both ends prove themselves by | suites | feature |
//! | --- | --- | --- |
//! | a pre-shared key (RFC 4279) | [`Suite::TLS_PSK_WITH_AES_128_CCM_8`], the smallest | |
//! | a pre-shared key with key agreement (RFC 5489, RFC 8442) | `TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256` | `ecdhe` |
//! | raw public keys (RFC 7250) or X.509 chains of up to 3; the client only if the server asks | `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8` (RFC 7251) | `certificates` |
//!
//! The feature `gcm` adds the same three with AES-128-GCM, `x25519` adds X25519 to P-256 (RFC 8422) for key agreement. Keys of
//! certificates are keys of P-256. With the feature `webpki`, `X509` checks chains by rustls-webpki; otherwise
//! [`Credentials`] has a hook that does.
//!
//! If the configuration asks for it, each with a cargo feature: max_fragment_length (RFC 6066) and record_size_limit
//! (RFC 8449), `record-limits`; connection IDs (RFC 9146), `connection-id`; heartbeats (RFC 6520), `heartbeat`; resumption by
//! session ID and by ticket (RFC 5077), `resumption`.
//!
//! With the feature `lean` it has the lean profile (docs/lean-profile.md), an extension of its own for plain pre-shared keys: both
//! ends leave out messages, copies in records and most of the record header, if both agree. See [`Lean`].
//!
//! DTLS 1.3 (RFC 9147) in its place or beside it, if the configuration says so ([`Versions`]): pre-shared keys alone or with key agreement,
//! used as they are or imported (RFC 9258, [`ImportedPsk`]), raw public keys and X.509 certificates; AES-128 in CCM_8, CCM and GCM;
//! cookies in a HelloRetryRequest, connection IDs, key updates, and
//! acknowledgements. Tickets are acknowledged, and not used. Early data are not offered.
//!
//! An end with both versions speaks DTLS 1.3 with every peer that speaks it. A client offers both in one ClientHello. A server that
//! speaks both and chooses DTLS 1.2 says so in its random number, and a client that has offered both then refuses it
//! (RFC 8446, section 4.1.3): somebody on the path has changed the offer. Who takes out that sign too changes the transcript, from
//! which both ends derive their keys (RFC 7627).
//!
//! # One pre-shared key in both versions
//!
//! An end with [`Versions::Both`] uses its pre-shared key in both. No way is known in which the two versions derive related secrets
//! from one key, but little analysis was done (RFC 8446, appendix E.7). So:
//!
//! - Best is a key that DTLS 1.3 imports (RFC 9258), an [`ImportedPsk`]: what it then uses is another key than that of DTLS 1.2
//!   (section 6 there). Both
//!   ends have to do so.
//! - Otherwise one key in both versions is as good as each of them, as far as is known, because this engine uses it with SHA-256
//!   only, as appendix E.7 asks for. Give it at least 128 random bits, and to two ends only, whose roles do not change (RFC 9257,
//!   section 4).
//! - A key that is to be safe for certain belongs to one version: [`Versions::Dtls13`] as soon as every peer speaks it.
//! - Without key agreement, who learns the key later can read what was sent before, in either version. An end that wants
//!   agreement has to ask for it in both: `Config::with_psk_agreement`, and suites with ECDHE_PSK.
//!
//! # How it behaves
//!
//! - A server keeps nothing about a client before the client's cookie has returned, unless its policy knows the address
//!   ([`Credentials::is_known`]). One buffer puts fragments of a
//!   ClientHello together, for one client at a time.
//! - Messages longer than the MTU are sent in fragments, down to datagrams of 64 octets. Fragments may arrive in any order,
//!   overlap, or arrive twice. Messages that overtake others wait, as far as the buffer has room.
//! - A flight is sent again when its timer expires, and when the peer repeats the flight before it: this end's was lost. What
//!   anybody can send, in clear, does that at most once in a wait. The end that sends the last flight keeps it until application
//!   data or a heartbeat arrives.
//! - What is forged in clear costs a wait, and no handshake: a message whose pieces contradict each other begins anew, and a client
//!   goes back to its first hello if that is answered after all. SECURITY.md has what was tried.
//! - A client that begins again at the same address has its old connection until the new one has proved itself, if there is another
//!   slot.
//! - A close is answered, and what the peer sent before it heard of it is still delivered (RFC 5246, section 7.2.1).
//! - A client keeps a session to resume it if its owner takes it out of the client. A server keeps it in what its owner gives
//!   it for that, or seals it into a ticket. A session without extended master secret is not kept (RFC 7627, section 5.3).
//! - Records that are malformed, old, repeated or not the peer's are discarded in silence (RFC 6347, section 4.1.2.7). So are
//!   alerts in clear, because anybody can send them; the last one is named if the handshake then times out.
//! - A server computes nothing with public keys before the client's cookie has returned. A client may have to prove that it has
//!   its certificate's key, or the server refuses it: [`Credentials`] decide.
//! - Verify data, cookies and tags are compared in constant time. The engine wipes its secrets when they are no longer used;
//!   what the implementation of [`Crypto`] keeps is its own.
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row.
//!
//! | modules | hold |
//! | --- | --- |
//! | `features` | the cargo features as constants, and the types of what only one of them needs |
//! | `codec`, `octets`, `alert`, `extension`, `time`, `crypto` | numbers and vectors; octets of a bounded number; the numbers of alerts and extensions, and a list of extensions on the wire; the clock and the timer of a flight; the cryptography as a trait, and RustCrypto |
//! | `der`, `signature`, `credentials`, `certificates` | signatures and keys in DER; a signature in a message; the credentials as a trait: pre-shared keys, raw public keys, X.509; certificates in messages |
//! | `lean` | the switches of the lean profile, and its extension (docs/lean-profile.md) |
//! | `suite`, `connection_id` | the cipher suites of DTLS 1.2, and which of them an end can use; connection IDs and their extension |
//! | `config`, `status`, `session`, `association` | what an end is told; how a connection is; what ends keep to resume a session; the name of a connection of a server |
//! | `content_type`, `handshake`, `ranges`, `reassembly`, `replay` | content types of records; headers of messages; messages from fragments; the window against replays |
//! | `flight` | a flight, kept until it is answered, cut into datagrams; which record carried what, for acknowledgements |
//! | `limits`, `agreement` | how long a record may be, and its extensions; the ephemeral key pair that a client of DTLS 1.3 sends at once |
//! | `allowance` | how much may be sent to an address that nobody has verified |
//! | `both` | what each version asks of the other, which it does not know, if a client offers both in one ClientHello |
//! | `dtls12/` | DTLS 1.2: `record`, `schedule`, `hello`; `extensions` and what follows from each (`heartbeat`, `public_keys`); `resumption`, `key_agreement`, `certificates`; `connection` (what both ends have in common), `client`, `server` |
//! | `dtls13/` | DTLS 1.3: its records, key schedule, pre-shared keys, hellos, acknowledgements, certificates, and the handshake of each end |
//! | `connection` | one connection, of whichever version; from DTLS 1.2 to 1.3, if a client has offered both |
//! | `client`, `server`, `reply`, `eviction` | the faces of the engine; the slots of a server, its answers to clients without one, and which of them ends for another |
//! | `decisions` | a page of its documentation: what an engineer decides, and the price of each answer |
//!
//! `dtls12` and `dtls13` take nothing from each other: `connection`, `server` and `reply` know both. All modules are compiled with every
//! set of features. What a feature needs takes no room without it, and is in no image: see `features`.

#![no_std]
#![forbid(unsafe_code)]
#![allow(clippy::result_large_err)] // there is no heap to put an error on
#![cfg_attr(not(feature = "default"), allow(dead_code))] // all modules are compiled, whatever the features: see `features`

#[cfg(test)]
extern crate std;

mod agreement;
mod alert;
mod allowance;
mod association;
mod both;
mod certificates;
mod client;
mod codec;
mod config;
mod connection;
mod connection_id;
mod content_type;
mod credentials;
pub mod crypto;
#[cfg(doc)]
pub mod decisions;
mod der;
mod dtls12;
mod dtls13;
mod eviction;
mod extension;
mod features;
mod flight;
#[cfg(fuzzing)]
pub mod fuzzing;
mod handshake;
mod lean;
mod limits;
mod octets;
mod ranges;
mod reassembly;
mod replay;
mod reply;
mod server;
mod session;
mod signature;
mod status;
mod suite;
mod time;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use association::Association;
pub use client::Client;
#[cfg(feature = "record-limits")]
pub use config::MaxFragmentLength;
#[cfg(feature = "dtls13")]
pub use config::Versions;
pub use config::{Admission, Config, ConfigError, MIN_MTU, Packing, frame_mtu};
#[cfg(feature = "connection-id")]
pub use connection_id::MAX_CONNECTION_ID;
#[cfg(feature = "dtls13")]
pub use credentials::ImportedPsk;
#[cfg(feature = "certificates")]
pub use credentials::{
    Certificate, CertificateError, CertificateType, CertifiedKey, MAX_CHAIN, RawPublicKey, Role, SPKI, spki,
};
pub use credentials::{Credentials, MAX_IDENTITY, MAX_PSK, Psk};
#[cfg(feature = "webpki")]
pub use credentials::{EcdsaP256Sha256, X509};
pub use crypto::Crypto;
#[cfg(feature = "rustcrypto")]
pub use crypto::RustCrypto;
pub use dtls12::record::OVERHEAD;
#[cfg(feature = "lean")]
pub use lean::Lean;
pub use server::Server;
#[cfg(feature = "resumption")]
pub use session::{MAX_SESSION, MAX_TICKET, Session, SessionCache};
pub use session::{SessionState, Sessions};
pub use status::{Failure, SendError, Status};
#[cfg(feature = "heartbeat")]
pub use status::{HeartbeatError, Liveness};
pub use suite::Suite;
#[cfg(feature = "variable-backoff")]
pub use time::Growth;
pub use time::{Instant, Timeouts};
