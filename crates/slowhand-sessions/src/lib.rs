//! Real TLS and DTLS libraries behind one sans-I/O session trait, in virtual time.
//!
//! The libraries are the unmodified sources of [Mbed TLS](https://www.trustedfirmware.org/projects/mbed-tls/),
//! [OpenSSL](https://www.openssl.org), [Eclipse tinyDTLS](https://github.com/eclipse/tinydtls) and
//! [rustls](https://github.com/rustls/rustls): client and server, DTLS over datagrams and TLS over a stream. QUIC is that of
//! [quinn-proto](https://github.com/quinn-rs/quinn), with the TLS 1.3 of rustls. They send
//! the same bytes as on a device. The platform below them is replaced: the world gives them clock, randomness and
//! socket. By default their arithmetic of secp256r1 and RSA is replaced too, with the same results to the bit
//! ([`Arithmetic`]). This crate has no network. The owner of a network drives the sessions:
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
//! let client = end(Role::Client, Stack::MBEDTLS, 1);
//! let server = end(Role::Server, Stack::TINYDTLS, 2);
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
//! # The path of a datagram
//!
//! [`Session::handle_input`] sets the device's clock to the time of the call, makes the device the current one of this
//! thread, and calls the library. The library reads the datagram through its I/O callback. It reads the clock, draws
//! random numbers, reports operations, delivers data and sends through the table `struct slowhand_host`
//! (`csrc/slowhand/stack.h`), whose functions use the current device. [`Session::poll_transmit`] returns the datagrams that it sends,
//! [`Session::poll_received`] the
//! application data that it has received. [`Session::write`] sends application data.
//!
//! # The device's clock advances while it computes
//!
//! A [`Processor`] says how long each [`Operation`] takes. When the library has performed one, the device's clock
//! advances by that time before the library continues. So a flight after a signature is sent later, and its
//! retransmission timer starts later. To count the operations without a change to the sources, `build.rs` compiles the
//! files that *call* the cryptographic functions with other names for these functions, on the compiler's command line.
//! The functions with these names, in `csrc/*/operations.c`, call the real function and then report it:
//!
//! - mbedTLS: the calls of hash functions in `md.c` (transcript, HMAC, PRF, certificates), of AEAD and AES-CBC in the
//!   record layer, of ECDH in the handshake, of ECDSA and RSA in `pk_wrap.c`. TLS 1.3 computes through PSA: the calls
//!   of SHA-2 in `psa_crypto_hash.c` and of ECDH in `psa_crypto_ecp.c`.
//! - OpenSSL: the calls in the files of its default provider. They include SHA-1 for the fingerprint that the library
//!   keeps of each certificate.
//! - rustls: its cryptography is a parameter. The adapter's own provider (RustCrypto) reports its operations.
//! - tinyDTLS: the calls of SHA-256 in `dtls.c`, `hmac.c` and `crypto.c`, of CCM, ECDH and ECDSA in `dtls.c`.
//!
//! In the same way the libraries hand their arithmetic of secp256r1 and RSA to the module `arithmetic`, which computes with
//! OpenSSL's assembly and keeps results. With [`SessionConfig::arithmetic`] set to [`Arithmetic::Library`] each library
//! computes with its own code. All octets, times and operations are the same with it and without it
//! (`tests/sessions/arithmetic.rs`).
//!
//! [`Operation`] lists what is not counted. Computations before the handshake (the MAC key for cookies, the own
//! certificate) are part of the device's boot and take no time.
//!
//! # Many worlds at once
//!
//! One thread at a time uses a session, and sessions share nothing: the same seeds give the same bytes on any number of
//! threads. The libraries write their global state once, before the first session. There are four exceptions, which
//! have locks: tinyDTLS's cipher context, which keeps nothing between calls; the key store of mbedTLS's PSA, where each
//! session of TLS 1.3 has its own keys; OpenSSL's caches of algorithms; and the memo of `arithmetic`, which only saves
//! time.
//!
//! # Modules
//!
//! A [`SessionConfig`] has the protocol with the options of its family ([`Family`]: [`Tls`]), the [`Credential`], the
//! [`Timers`] and sizes. [`SessionConfig::validate`] checks it against the [`Capabilities`] of the library: a constant
//! of its adapter in Rust, a table of its adapter in C. [`stacks`] lists the libraries. [`build`] makes a [`Session`]; [`build_pair`] makes
//! both ends, which may resume an earlier session. [`memory`] runs two sessions without a network. [`credentials`] has
//! the public test keys, and issues certificates of other lengths.
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row. But `stacks` asks
//! `messages` what is below a session of CoAP.
//!
//! | modules | hold |
//! | --- | --- |
//! | `operation`, `names`, `tls`, `coap`, `config`, `session` | cryptographic operations; the names of protocols and of kinds of credentials; the configuration of a session, its parts for TLS and for CoAP; the `Session` trait |
//! | `heap` | counts what the libraries allocate |
//! | `interface`, `host`, `device`, `arithmetic`, `credentials` | `csrc/slowhand/stack.h` in Rust, generated from it; the table of functions that a library in C gets; clock, randomness and transmissions of the device that a library runs on; fast arithmetic of secp256r1 and RSA for every library; keys and certificates |
//! | `capabilities`, `check`, `features` | what a library can do; whether a configuration is possible; both in words |
//! | `declared`, `holes` | what a library in C says of itself, as capabilities; the known holes of the libraries |
//! | `library`, `crash`, `c_library` | a library on a device; what is said if a stack of the user crashes; the part that all C libraries share |
//! | `lean`, `rustls` | the adapters in Rust. Each has a constant of `Capabilities`. Those in C (`csrc/mbedtls`, `csrc/openssl`, `csrc/tinydtls`) have a table of `csrc/slowhand/stack.h`. `csrc/boringssl` and `csrc/wolfssl` are compiled by `slowhand stacks add`, and for `interop/`. `rustls/quic` is QUIC, by quinn-proto with the cryptography of `rustls/packets` |
//! | `own` | stacks of the user: shared objects that are loaded by name (docs/own-stack.md) |
//! | `stacks` | the list of libraries: those that are built in, and those of the user that something has asked for |
//! | `messages` | sessions whose data are CoAP messages: alone, with OSCORE and EDHOC, or above a session of DTLS or of `messages/less`. `messages/observers`: who observes, and what they are told. `messages/in_coap`: a session of DTLS whose flights are in CoAP messages |
//! | `anchor` | a session of DTLS whose pre-shared key comes from a trust anchor |
//! | `objects` | objects of slowhand-coap on a device whose operations take time |
//! | `building`, `memory` | makes sessions; joins two sessions without a network |
//! | `hand_over`, `validation` | a session that a delegate hands to a node, over OSCORE; the validation of certificates in the place of a client |
//! | `footprint` | how much heap a session takes |
//! | `trial` | tries a stack without a network: losses, small datagrams, memory that is not given back |
//! | `export` | the credentials of a session as files, for programs that take the place of one of its ends |
//!
//! All `unsafe` code is in the account of the heap, in the table, in the arithmetic, in the adapters of C and what they say of
//! themselves, in the loading of stacks, in what tells their crash, in what asks the system about a trial, and in the module that
//! issues certificates.
//!
//! # Add a library
//!
//! `ARCHITECTURE.md` has the list of the places to change ("Add a library").

mod anchor;
mod arithmetic;
mod building;
mod c_library;
mod capabilities;
mod check;
mod coap;
mod config;
mod crash;
pub mod credentials;
mod declared;
mod device;
mod export;
mod features;
mod footprint;
mod hand_over;
mod heap;
mod holes;
mod host;
mod interface;
mod lean;
mod library;
pub mod memory;
mod messages;
mod names;
mod objects;
mod operation;
mod own;
mod rustls;
mod session;
mod stacks;
mod tls;
mod trial;
mod validation;

pub use building::{BuildError, build, build_pair, build_resuming};
pub use capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
pub use coap::{
    Coap, Congestion, Delivery, Edhoc, MAX_BODY, OSCORE_IDS, REQUEST_OVERHEAD, RESPONSE_OVERHEAD, Security, Transfer,
};
pub use config::{
    Arithmetic, Carrier, ConfigError, Credential, CredentialKind, Cryptography, Family, Growth, Negotiated, Protocol,
    Role, SessionConfig, Stack, Timers,
};
pub use device::Clock;
pub use export::credential_files;
pub use footprint::session_heap;
pub use hand_over::build_hand_over;
pub use heap::CountingAllocator;
pub use holes::Holes;
pub use messages::max_message;
pub use objects::ObjectDevice;
pub use operation::{Aead, AeadMode, Cbc, Curve, Operation, Performed, Processor, Weightless};
pub use own::{STACKS_FOLDER, StackError, StackProblem, own_names, stack_file, stacks_folder};
pub use session::{Failure, FailureKind, Received, Resumable, Session, Status, Transmit, WriteError};
pub use stacks::{NameError, StackInfo, best_common_suite, implementations, named as stack_named, stacks};
pub use tls::{
    Auth, CertificateCompression, Dtls, HEARTBEAT, KeyExchange, LeanProfile, LeanSwitch, PskMode, Resumption, Suite,
    Tls, Unchecked, Version,
};
pub use trial::{SessionTrial, Trial, trial};
pub use validation::Validator;
