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
//! use slowhand_sessions::{Role, SessionConfig, Stack, Suite, Weightless, build, memory};
//!
//! let suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
//! let client = SessionConfig { seed: [1; 32], ..SessionConfig::new(Role::Client, Stack::Mbedtls, suite) };
//! let server = SessionConfig { seed: [2; 32], ..SessionConfig::new(Role::Server, Stack::Tinydtls, suite) };
//! let mut client = build(&client, Arc::new(Weightless))?;
//! let mut server = build(&server, Arc::new(Weightless))?;
//! let transcript = memory::Path::default().run(&mut *client, &mut *server);
//! assert_eq!(transcript.end, memory::End::Completed);
//! assert!(client.secrets().is_some());
//! # Ok::<(), slowhand_sessions::BuildError>(())
//! ```
//!
//! # The way of a datagram
//!
//! [`Session::handle_input`] sets the device's clock to the time of the call, makes the device the current one
//! of this thread, and calls the library. The library reads the datagram through its I/O callback; what it
//! computes, reads of the clock, draws at random and sends comes back through the few C functions of `csrc/slowhand.h`,
//! which act on the current device. [`Session::poll_transmit`] hands out what was sent.
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
//! [`SessionConfig`] says what a session is to be and [`SessionConfig::validate`] whether the library can do it;
//! [`stacks`] lists the libraries; [`build`] makes a [`Session`], [`build_pair`] both ends of one that may resume another.
//! [`memory`] joins two sessions without a network, the baseline for everything else; [`credentials`] are the public test keys, and issue certificates of other lengths.
//! All `unsafe` code is in the device and in the adapter of each library.

mod config;
pub mod credentials;
mod device;
mod mbedtls;
pub mod memory;
mod openssl;
mod operation;
mod resumption;
mod rustls;
mod session;
mod stack;
mod tinydtls;

use std::sync::Arc;

pub use config::{Auth, ConfigError, Credential, Curve, KeyExchange, Protocol, Resumption, Role, SessionConfig, Suite};
pub use operation::{Aead, AeadMode, Cbc, Operation, Performed, Processor, Weightless};
pub use resumption::{Resumable, build_pair};
pub use session::{Failure, Negotiated, Secrets, Session, Status, Transmit};
pub use stack::{Stack, StackInfo, stacks};

/// Why a session could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The library cannot do what the configuration asks for.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The library refused a configuration that should suit it.
    #[error("the library could not be set up: {0}")]
    Library(Failure),
}

/// Builds one end of a session on a device that computes as fast as `processor` says.
///
/// # Errors
/// What [`SessionConfig::validate`] finds, or the library's own error.
pub fn build(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Box<dyn Session>, BuildError> {
    build_with(config, processor, None)
}

/// As [`build`], with what an end has kept of the session before.
fn build_with(
    config: &SessionConfig,
    processor: Arc<dyn Processor>,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, BuildError> {
    config.validate()?;
    match config.stack {
        Stack::Mbedtls => {
            let previous = previous.and_then(Resumable::as_mbedtls);
            mbedtls::MbedtlsSession::new(config, processor, previous).map(|session| Box::new(session) as _)
        }
        Stack::Openssl => openssl::OpensslSession::new(config, processor).map(|session| Box::new(session) as _),
        Stack::Rustls => rustls::RustlsSession::new(config, processor, previous).map(|session| Box::new(session) as _),
        Stack::Tinydtls => tinydtls::TinydtlsSession::new(config, processor).map(|session| Box::new(session) as _),
    }
    .map_err(BuildError::Library)
}
