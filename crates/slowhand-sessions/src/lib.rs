//! Real TLS and DTLS libraries behind one sans-I/O session trait, in virtual time.
//!
//! What runs here are the unmodified sources of [Mbed TLS](https://www.trustedfirmware.org/projects/mbed-tls/),
//! [OpenSSL](https://www.openssl.org), [Eclipse tinyDTLS](https://github.com/eclipse/tinydtls) and
//! [rustls](https://github.com/rustls/rustls), client and server, DTLS over datagrams and TLS over a stream, byte for
//! byte what a device sends.
//! Only what they stand on is replaced: their clock, their randomness and their socket are the world's. The network is
//! nobody's concern in this room; whoever has one drives the sessions:
//!
//! ```
//! use std::sync::Arc;
//! use slowhand_sessions::{
//!     CredentialKind, Family, Role, SessionConfig, Stack, Suite, Tls, Version, Weightless, build, memory,
//! };
//!
//! let suite = Some(Suite::TLS_PSK_WITH_AES_128_CCM_8);
//! let end = |role, stack, seed| {
//!     let family = Family::Tls(Tls { suite, ..Tls::new(Version::DTLS12) });
//!     SessionConfig { seed: [seed; 32], ..SessionConfig::new(role, stack, family, CredentialKind::Psk.into()) }
//! };
//! let client = end(Role::Client, Stack::Mbedtls, 1);
//! let server = end(Role::Server, Stack::Tinydtls, 2);
//! let mut client = build(&client, Arc::new(Weightless))?;
//! let mut server = build(&server, Arc::new(Weightless))?;
//! let transcript = memory::Path::default().run(&mut *client, &mut *server);
//! assert_eq!(transcript.end, memory::End::Completed);
//!
//! client.write(transcript.at, b"22.5 C")?;
//! let datagram = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()).unwrap_or_default();
//! server.handle_input(transcript.at, &datagram);
//! assert_eq!(server.poll_received().map(|received| received.bytes), Some(&b"22.5 C"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The way of a datagram
//!
//! [`Session::handle_input`] sets the device's clock to the time of the call, makes the device the current one
//! of this thread, and calls the library. The library reads the datagram through its I/O callback; what it
//! computes, reads of the clock, draws at random, receives and sends comes back through the few C functions of `csrc/slowhand.h`,
//! which act on the current device. [`Session::poll_transmit`] hands out what was sent, [`Session::poll_received`] the
//! application data. [`Session::write`] goes the other way.
//!
//! # The device's clock runs as it computes
//!
//! A [`Processor`] says how long each [`Operation`] takes. When the library has performed one, the
//! device's clock moves by that much before the library goes on: a flight behind a signature is stamped
//! later, and its retransmission timer starts there. To hear of the operations without touching the
//! sources, `build.rs` compiles the files that *call* the cryptographic functions with those names
//! redefined on the compiler's command line; the stand-ins in `csrc/*/operations.c` call the real function,
//! then report it. Where:
//!
//! - mbedTLS: SHA-256 and SHA-512 as `md.c` calls them (transcript, HMAC, PRF, certificates), AEAD and AES-CBC as the
//!   record layer calls it, ECDH as the handshake calls it, ECDSA and RSA as `pk_wrap.c` calls them. SHA-1 within HMAC
//!   as `md.c` calls it.
//!   For TLS 1.3, which computes through PSA: SHA-2 as `psa_crypto_hash.c` and ECDH as `psa_crypto_ecp.c` call it.
//! - OpenSSL: all of it as the files of its default provider call it, so SHA-1 also for the fingerprint that the library
//!   keeps of each certificate.
//! - rustls takes its cryptography from outside; ours (RustCrypto) reports what it does.
//! - tinyDTLS: SHA-256 as `dtls.c`, `hmac.c` and `crypto.c` call it, CCM as `crypto.c` calls it, ECDH and
//!   ECDSA as `dtls.c` calls them.
//!
//! What is not counted stands at [`Operation`]. What a library computes before the handshake (a cookie secret's
//! MAC key, its own certificate) belongs to the boot of the device and takes no time.
//!
//! # Many worlds at once
//!
//! A session belongs to one thread at a time and shares nothing with others: the same seeds give the same
//! bytes on any number of threads. The libraries' global state is written once, before the first session; the
//! exceptions lock themselves: tinyDTLS's cipher context, which keeps nothing between calls, and the key store of
//! mbedTLS's PSA, in which each session of TLS 1.3 finds its own keys, and OpenSSL's caches of algorithms.
//!
//! # The rooms
//!
//! A [`SessionConfig`] says what a session is to be: the protocol with what only its family has ([`Family`]: [`Tls`]), the
//! [`Credential`], the [`Timers`] and sizes. [`SessionConfig::validate`] says whether the library can do it, by the
//! [`Capabilities`] of the library, one constant beside its adapter; [`stacks`] lists the libraries. [`build`] makes a
//! [`Session`], [`build_pair`] both ends of one that may resume another. [`memory`] joins two sessions without a network;
//! [`credentials`] are the public test keys, and issue certificates of other lengths.
//!
//! On the ground floor are operations, configurations and the trait. Above them: the device and the credentials; the
//! capabilities and their check; the library that runs on a device; the adapters; the list of libraries; building and
//! memory. Imports run downwards only. All `unsafe` code is in the device, in the adapters and in the issuer of
//! certificates.
//!
//! # Add a library
//!
//! Its name in [`Stack`]; a file beside `openssl.rs` with its constant of [`Capabilities`]; its entry in `stacks.rs`. A C
//! library implements the table of functions of `csrc/library.h` in a folder of `csrc`, and `build.rs` compiles it; a Rust
//! library implements the trait `Library` of `library.rs`, as `rustls.rs` does.

mod building;
mod c_library;
mod capabilities;
mod check;
mod config;
pub mod credentials;
mod device;
mod library;
mod mbedtls;
pub mod memory;
mod openssl;
mod operation;
mod rustls;
mod session;
mod stacks;
mod tinydtls;
mod tls;
mod words;

pub use building::{BuildError, build, build_pair};
pub use capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
pub use config::{
    ConfigError, Credential, CredentialKind, Family, Negotiated, Protocol, Role, SessionConfig, Stack, Timers,
};
pub use operation::{Aead, AeadMode, Cbc, Curve, Operation, Performed, Processor, Weightless};
pub use session::{Failure, Received, Resumable, Session, Status, Transmit, WriteError};
pub use stacks::{StackInfo, best_common_suite, stacks};
pub use tls::{Auth, Dtls12, KeyExchange, Resumption, Suite, Tls, Version};
