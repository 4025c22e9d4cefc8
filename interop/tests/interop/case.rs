//! What two ends have to agree on: a column of the matrix.

use std::fmt;
use std::time::Duration;

use slowhand_interop::{Group, Setup, Suite, Version};
use slowhand_sessions::{CredentialKind, Resumption, Role};

/// A version, a suite, a credential, and what comes beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    pub version: Version,
    pub suite: Suite,
    pub credential: CredentialKind,
    pub group: Option<Group>,
    pub beside: Option<Beside>,
}

/// What a session may have besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beside {
    /// Both ends receive records with a connection ID of 4 octets.
    ConnectionId,
    /// The session resumes an earlier one.
    Resumption(Resumption),
}

/// Octets of the connection IDs.
const CONNECTION_ID: u8 = 4;

impl Case {
    pub const fn new(version: Version, suite: Suite, credential: CredentialKind, group: Option<Group>) -> Self {
        Self { version, suite, credential, group, beside: None }
    }

    pub const fn with(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// One end of it. The seeds of the two ends differ.
    pub fn setup(&self, role: Role, mtu: Option<u16>) -> Setup {
        Setup {
            role,
            version: self.version,
            suite: self.suite,
            group: self.group,
            credential: self.credential,
            cookie: true,
            resumption: match self.beside {
                Some(Beside::Resumption(resumption)) => Some(resumption),
                _ => None,
            },
            connection_id: (self.beside == Some(Beside::ConnectionId)).then_some(CONNECTION_ID),
            mtu,
            first_timeout: Duration::from_secs(2),
            seed: 2 + role as u64,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self.version {
            Version::Dtls12 => "1.2",
            Version::Dtls13 => "1.3",
        };
        write!(f, "{version} {}", self.suite)?;
        match self.credential {
            CredentialKind::RawPublicKey => write!(f, ", raw public key")?,
            CredentialKind::Certificate => write!(f, ", X.509")?,
            _ => write!(f, ", PSK")?,
        }
        match self.group {
            Some(Group::P256) => write!(f, ", P-256")?,
            Some(Group::X25519) => write!(f, ", X25519")?,
            None => {}
        }
        match self.beside {
            Some(Beside::ConnectionId) => write!(f, ", connection ID"),
            Some(Beside::Resumption(Resumption::Id)) => write!(f, ", resumed by session ID"),
            Some(Beside::Resumption(Resumption::Ticket)) => write!(f, ", resumed by ticket"),
            None => Ok(()),
        }
    }
}
