//! Real TLS and DTLS libraries behind one sans-I/O session trait, in virtual time.

mod config;
pub mod credentials;
mod device;
mod mbedtls;
pub mod memory;
mod operation;
mod session;
mod stack;
mod tinydtls;
pub mod wire;

use std::sync::Arc;

pub use config::{Auth, ConfigError, Credential, Curve, KeyExchange, Protocol, Role, SessionConfig, Suite};
pub use operation::{Aead, AeadMode, Operation, Performed, Processor, Weightless};
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
    config.validate()?;
    match config.stack {
        Stack::Mbedtls => mbedtls::MbedtlsSession::new(config, processor).map(|session| Box::new(session) as _),
        Stack::Tinydtls => tinydtls::TinydtlsSession::new(config, processor).map(|session| Box::new(session) as _),
    }
    .map_err(BuildError::Library)
}
