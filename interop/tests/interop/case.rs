//! The case that two ends have to agree on: a column of the matrix.

use std::fmt;
use std::time::Duration;

use slowhand_sessions::{
    CredentialKind, Dtls, Family, Protocol, PskMode, Resumption, Role, SessionConfig, Stack, Suite, Timers, Tls,
    Unchecked, Version,
};

/// A group of the key exchange (RFC 8446, section 4.2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// secp256r1.
    P256,
    /// x25519.
    X25519,
}

impl Group {
    /// The number in the IANA registry.
    pub const fn iana(self) -> u16 {
        match self {
            Self::P256 => 23,
            Self::X25519 => 29,
        }
    }
}

/// A version, a suite, a credential, and what comes beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    pub version: Protocol,
    pub suite: Suite,
    pub credential: CredentialKind,
    pub group: Option<Group>,
    pub beside: Option<Beside>,
    /// The suites of the other version, of ends that speak both: client first.
    pub other_suites: [Option<Suite>; 2],
}

/// The features that a session may have besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beside {
    /// Both ends receive records with a connection ID of 4 octets.
    ConnectionId,
    /// The session resumes an earlier one.
    Resumption(Resumption),
    /// Both ends import the pre-shared key.
    ImportedPsk,
    /// The client asks for short records in both directions.
    MaxFragmentLength,
    /// Each end says how long the records for it may be.
    RecordSizeLimit,
    /// Each end asks the other for a heartbeat.
    Heartbeat,
}

/// The most octets of content of a record, if the ends agree on that: the least of RFC 6066, and less than that.
const MAX_FRAGMENT_LENGTH: u16 = 512;
const RECORD_SIZE_LIMIT: u16 = 256;

/// Octets of the connection IDs.
const CONNECTION_ID: u8 = 4;

impl Case {
    pub const fn new(version: Protocol, suite: Suite, credential: CredentialKind, group: Option<Group>) -> Self {
        Self { version, suite, credential, group, beside: None, other_suites: [None; 2] }
    }

    pub const fn with(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }

    pub const fn with_other_suites(self, other_suites: [Option<Suite>; 2]) -> Self {
        Self { other_suites, ..self }
    }

    /// The most octets of content of a record, if the ends agree on that.
    pub fn record_size(&self) -> Option<u16> {
        match self.beside {
            Some(Beside::MaxFragmentLength) => Some(MAX_FRAGMENT_LENGTH),
            Some(Beside::RecordSizeLimit) => Some(RECORD_SIZE_LIMIT),
            _ => None,
        }
    }

    /// One end of it, of whatever library. The seeds of the two ends differ.
    pub fn config(&self, role: Role, mtu: Option<u16>) -> SessionConfig {
        let connection_id = (self.beside == Some(Beside::ConnectionId)).then_some(CONNECTION_ID);
        let has_psk = self.credential == CredentialKind::Psk;
        let is_alone = self.version == Protocol::Dtls12 || !has_psk || self.group.is_none();
        let psk_mode = if is_alone { PskMode::PskKe } else { PskMode::PskDheKe };
        let dtls = Dtls { connection_id, psk_mode, ..Dtls::DEFAULT };
        let version = if self.version == Protocol::Dtls13 { Version::Dtls13(dtls) } else { Version::Dtls12(dtls) };
        let tls = Tls {
            suite: Some(self.suite),
            resumption: match self.beside {
                Some(Beside::Resumption(resumption)) => Some(resumption),
                _ => None,
            },
            max_fragment_length: (self.beside == Some(Beside::MaxFragmentLength)).then_some(MAX_FRAGMENT_LENGTH),
            record_size_limit: (self.beside == Some(Beside::RecordSizeLimit)).then_some(RECORD_SIZE_LIMIT),
            unchecked: Unchecked {
                other_suite: self.other_suites[role as usize],
                x25519: self.group == Some(Group::X25519),
                imports_psk: self.beside == Some(Beside::ImportedPsk),
                heartbeats: self.beside == Some(Beside::Heartbeat),
            },
            ..Tls::new(version)
        };
        let mut seed = [0; 32];
        seed[0] = 2 + role as u8;
        SessionConfig {
            timers: Timers { first: Some(Duration::from_secs(2)), ..Timers::default() },
            mtu,
            seed,
            ..SessionConfig::new(role, Stack::LEAN_DTLS, Family::Tls(tls), self.credential.into())
        }
    }
}

impl Case {
    /// The difference between the cases of one version and credential, in words.
    pub fn within_section(&self) -> String {
        let group = match self.group {
            Some(Group::P256) => ", P-256",
            Some(Group::X25519) => ", X25519",
            None => "",
        };
        let beside = match self.beside {
            Some(Beside::ConnectionId) => ", connection ID",
            Some(Beside::Resumption(Resumption::Id)) => ", resumed by session ID",
            Some(Beside::Resumption(Resumption::Ticket)) => ", resumed by ticket",
            Some(Beside::ImportedPsk) => ", imported",
            Some(Beside::MaxFragmentLength) => ", max_fragment_length",
            Some(Beside::RecordSizeLimit) => ", record_size_limit",
            Some(Beside::Heartbeat) => ", heartbeats",
            None => "",
        };
        format!("{}{group}{beside}", self.suite)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self.version {
            Protocol::Dtls13 => "DTLS 1.3",
            _ => "DTLS 1.2",
        };
        let credential = match self.credential {
            CredentialKind::RawPublicKey => "raw public key",
            CredentialKind::Certificate => "X.509",
            _ => "pre-shared key",
        };
        write!(f, "{version}, {credential}, {}", self.within_section())
    }
}
