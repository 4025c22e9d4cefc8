//! What an end is told.

use std::fmt;
use std::time::Duration;

use slowhand_sessions::{CredentialKind, Resumption, Role};

/// What an end receives as data when its heartbeat was answered.
pub const HEARTBEAT: &[u8] = b"heartbeat";

/// One end of a session of DTLS. Both ends authenticate themselves.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which end this is.
    pub role: Role,
    /// The version of the session. It is the only one, unless the end has a suite of the other one.
    pub version: Version,
    /// The only cipher suite of this version.
    pub suite: Suite,
    /// The end speaks both versions: its cipher suite of the other one.
    pub other_suite: Option<Suite>,
    /// The only group of the key exchange. `None`: no Diffie-Hellman.
    pub group: Option<Group>,
    /// How the end proves its identity.
    pub credential: CredentialKind,
    /// The pre-shared key is imported, without a context (RFC 9258). Only lean-dtls can choose.
    pub imports_psk: bool,
    /// The server asks for a cookie.
    pub cookie: bool,
    /// How the session is resumed.
    pub resumption: Option<Resumption>,
    /// Octets of the connection ID in the records to this end.
    pub connection_id: Option<u8>,
    /// The most octets of content of the records of both ends (RFC 6066, section 4).
    pub max_fragment_length: Option<u16>,
    /// The most octets of content of the encrypted records for this end (RFC 8449).
    pub record_size_limit: Option<u16>,
    /// Heartbeats (RFC 6520): with the data that it writes, this end asks its peer for one. It receives [`HEARTBEAT`] as data
    /// when the answer is there.
    pub heartbeat: bool,
    /// The most octets of a datagram of this end. `None`: the library's default.
    pub mtu: Option<u16>,
    /// The first timeout of the handshake.
    pub first_timeout: Duration,
    /// How long before 2030-01-01 the world begins. The certificates are valid then.
    pub before: Duration,
    /// The seed of this end's randomness.
    pub seed: u64,
}

/// A version of DTLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// RFC 6347.
    Dtls12,
    /// RFC 9147.
    Dtls13,
}

impl Version {
    /// The number in hello messages.
    pub const fn on_the_wire(self) -> u16 {
        match self {
            Self::Dtls12 => 0xfefd,
            Self::Dtls13 => 0xfefc,
        }
    }
}

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

macro_rules! suites {
    ($($name:ident = $iana:literal),*$(,)?) => {
        /// A cipher suite, by its IANA name.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Suite { $($name = $iana),* }

        impl Suite {
            /// Every suite.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl fmt::Display for Suite {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => stringify!($name)),* })
            }
        }
    };
}

suites! {
    TLS_PSK_WITH_AES_128_CCM_8 = 0xC0A8,
    TLS_PSK_WITH_AES_128_GCM_SHA256 = 0x00A8,
    TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 = 0xD001,
    TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 = 0xD003,
    TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 = 0xC037,
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 = 0xC0AE,
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xC02B,
    TLS_AES_128_CCM_8_SHA256 = 0x1305,
    TLS_AES_128_CCM_SHA256 = 0x1304,
    TLS_AES_128_GCM_SHA256 = 0x1301,
}

impl Suite {
    /// The number in the IANA registry.
    pub const fn iana(self) -> u16 {
        self as u16
    }
}
