//! The configuration of the images, by features.

use lean_dtls::{Config, Timeouts};

use crate::echo::MTU;

#[cfg(feature = "ecdsa")]
#[path = "settings/ecdsa.rs"]
mod credentials;
#[cfg(not(any(feature = "ecdsa", feature = "x509")))]
#[path = "settings/psk.rs"]
mod credentials;
#[cfg(feature = "x509")]
#[path = "settings/x509.rs"]
mod credentials;

pub use credentials::{BUFFER, Keys};

/// An end of a connection.
#[derive(Clone, Copy)]
pub enum End {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The configuration of an end.
pub fn config(end: End) -> Option<Config<Keys>> {
    let config = Config::new(credentials::keys(end), MTU as u16, Timeouts::DEFAULT).ok()?;
    #[cfg(feature = "dtls13")]
    let config = config.with_versions(lean_dtls::Versions::Dtls13);
    #[cfg(feature = "lean")]
    let config = config.with_lean(lean_dtls::Lean::ALL);
    // The messages and the nonce of Pittoli et al. 2016, whose ends know each other.
    #[cfg(feature = "slides")]
    let config = config.with_lean(lean_dtls::Lean::SLIDES.with(lean_dtls::Lean::KNOWN_ADDRESS));
    Some(config)
}
