//! The list of libraries.

use std::fmt;

use slowhand_sessions::{Resumable, Session, Stack};

use crate::c_peer::{self, CPeer};
use crate::dimpl::Dimpl;
use crate::end::{End, Engine};
use crate::laboratory;
use crate::lean::LeanDtls;
use crate::setup::Setup;

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// lean-dtls.
    LeanDtls,
    /// A library of the laboratory, by its adapter in slowhand-sessions.
    Laboratory(Stack),
    /// dimpl 0.9.0.
    Dimpl,
    /// The system's GnuTLS.
    Gnutls,
    /// wolfSSL 5.9.4.
    Wolfssl,
    /// BoringSSL.
    #[cfg(feature = "boringssl")]
    Boringssl,
}

impl Peer {
    /// Every library but lean-dtls.
    pub const OTHERS: &[Self] = &[
        Self::Laboratory(Stack::MBEDTLS),
        Self::Laboratory(Stack::OPENSSL),
        Self::Laboratory(Stack::TINYDTLS),
        Self::Dimpl,
        Self::Gnutls,
        Self::Wolfssl,
        #[cfg(feature = "boringssl")]
        Self::Boringssl,
    ];

    /// Makes one end of a session, which resumes an earlier one.
    ///
    /// # Errors
    /// Why the library refuses this.
    pub fn build(self, setup: &Setup, previous: Option<&Resumable>) -> Result<Box<dyn Session>, String> {
        if setup.other_suite.is_some() && !matches!(self, Self::LeanDtls | Self::Wolfssl) {
            return Err(format!("the adapter of {self} speaks one version at a time"));
        }
        match self {
            Self::LeanDtls => end(setup, || LeanDtls::new(setup, previous)),
            Self::Laboratory(stack) => laboratory::build(stack, setup, previous),
            Self::Dimpl => end(setup, || Dimpl::new(setup)),
            Self::Gnutls => end(setup, || CPeer::new(c_peer::gnutls(), setup, previous)),
            Self::Wolfssl => end(setup, || CPeer::new(c_peer::wolfssl(), setup, previous)),
            #[cfg(feature = "boringssl")]
            Self::Boringssl => end(setup, || CPeer::new(c_peer::boringssl(), setup, previous)),
        }
    }
}

fn end<E: Engine + 'static>(
    setup: &Setup,
    make: impl FnOnce() -> Result<E, String>,
) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(End::new(setup, make)?))
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeanDtls => "lean-dtls",
            Self::Laboratory(Stack::MBEDTLS) => "mbedTLS",
            Self::Laboratory(Stack::OPENSSL) => "OpenSSL",
            Self::Laboratory(Stack::TINYDTLS) => "tinyDTLS",
            Self::Laboratory(stack) => return stack.fmt(f),
            Self::Dimpl => "dimpl",
            Self::Gnutls => "GnuTLS",
            Self::Wolfssl => "wolfSSL",
            #[cfg(feature = "boringssl")]
            Self::Boringssl => "BoringSSL",
        })
    }
}
