//! Other DTLS libraries as peers of lean-dtls, for tests only.
//!
//! Each library is a stack of slowhand-sessions (`csrc/slowhand/stack.h`): one of those that are built in there, or one that this
//! crate links. So [`slowhand_sessions::memory::Path`] runs any two of them against each other.
//!
//! wolfSSL is under the GPL. What links this crate is under the GPL too, so only the tests of this crate link it.
//!
//! The root is the list of peers. `linked` has those that this crate links itself: wolfSSL, BoringSSL and dimpl, with the adapters that
//! `slowhand stacks add` compiles, and GnuTLS with one that only tests have (`csrc/gnutls`).

mod linked;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::{
    Clock, Family, Resumable, Session, SessionConfig, Stack, Unchecked, Weightless, build_resuming,
};

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// lean-dtls.
    LeanDtls,
    /// Mbed TLS, as it is built in.
    Mbedtls,
    /// OpenSSL, as it is built in.
    Openssl,
    /// tinyDTLS, as it is built in.
    Tinydtls,
    /// dimpl.
    Dimpl,
    /// The system's GnuTLS.
    Gnutls,
    /// wolfSSL.
    Wolfssl,
    /// BoringSSL.
    #[cfg(feature = "boringssl")]
    Boringssl,
}

/// The longest datagram of lean-dtls if no limit is set: it fits into the buffers of every peer.
const LEAN_MTU: u16 = 1200;

impl Peer {
    /// Every library but lean-dtls.
    pub const OTHERS: &[Self] = &[
        Self::Mbedtls,
        Self::Openssl,
        Self::Tinydtls,
        Self::Dimpl,
        Self::Gnutls,
        Self::Wolfssl,
        #[cfg(feature = "boringssl")]
        Self::Boringssl,
    ];

    /// Makes one end of a session, whatever the stack of `config` is. The session begins so long `before` 2030-01-01, and resumes
    /// an earlier one.
    ///
    /// # Errors
    /// Why the library refuses this.
    pub fn build(
        self,
        mut config: SessionConfig,
        before: Duration,
        previous: Option<&Resumable>,
    ) -> Result<Box<dyn Session>, String> {
        config.stack = self.stack()?;
        let Family::Tls(tls) = &config.family else { return Err("it is no session of DTLS".to_owned()) };
        if let Some(lacking) = self.lacks(tls.unchecked) {
            return Err(format!("{self} has no {lacking} here"));
        }
        if self == Self::LeanDtls {
            config.mtu = config.mtu.or(Some(LEAN_MTU));
        }
        if self == Self::Gnutls {
            linked::set_heartbeats(tls.unchecked.heartbeats);
        }
        build_resuming(&config, Arc::new(Weightless), Clock::before(before), previous)
            .map_err(|error| error.to_string())
    }

    /// The option that the adapter of the library does not look at.
    fn lacks(self, asked: Unchecked) -> Option<&'static str> {
        let is_built_in = matches!(self, Self::Mbedtls | Self::Openssl | Self::Tinydtls);
        let has_both = matches!(self, Self::LeanDtls | Self::Wolfssl);
        let has_heartbeats = matches!(self, Self::LeanDtls | Self::Gnutls);
        [
            (asked.x25519 && is_built_in, "X25519"),
            (asked.other_suite.is_some() && !has_both, "two versions at once"),
            (asked.heartbeats && !has_heartbeats, "heartbeats"),
        ]
        .into_iter()
        .find_map(|(is_lacking, what)| is_lacking.then_some(what))
    }

    fn stack(self) -> Result<Stack, String> {
        match self {
            Self::LeanDtls => Ok(Stack::LEAN_DTLS),
            Self::Mbedtls => Ok(Stack::MBEDTLS),
            Self::Openssl => Ok(Stack::OPENSSL),
            Self::Tinydtls => Ok(Stack::TINYDTLS),
            Self::Dimpl => linked::dimpl(),
            Self::Gnutls => linked::gnutls(),
            Self::Wolfssl => linked::wolfssl(),
            #[cfg(feature = "boringssl")]
            Self::Boringssl => linked::boringssl(),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeanDtls => "lean-dtls",
            Self::Mbedtls => "mbedTLS",
            Self::Openssl => "OpenSSL",
            Self::Tinydtls => "tinyDTLS",
            Self::Dimpl => "dimpl",
            Self::Gnutls => "GnuTLS",
            Self::Wolfssl => "wolfSSL",
            #[cfg(feature = "boringssl")]
            Self::Boringssl => "BoringSSL",
        })
    }
}
