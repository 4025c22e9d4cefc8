//! The cipher suites.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::CredentialKind;

/// The way in which the two ends agree on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyExchange {
    /// A pre-shared key (RFC 4279).
    Psk,
    /// A pre-shared key and ephemeral elliptic-curve Diffie-Hellman (RFC 5489).
    EcdhePsk,
    /// Ephemeral elliptic-curve Diffie-Hellman, signed with ECDSA (RFC 8422).
    EcdheEcdsa,
    /// Ephemeral elliptic-curve Diffie-Hellman, signed with RSA (RFC 8422).
    EcdheRsa,
    /// Proof of a common password (draft-cragie-tls-ecjpake-01).
    Ecjpake,
    /// The client encrypts the premaster secret with the server's RSA key (RFC 5246 section 7.4.7.1).
    Rsa,
}

impl KeyExchange {
    /// True if the key exchange uses a [`Curve`](crate::Curve).
    pub const fn has_curve(self) -> bool {
        matches!(self, Self::EcdhePsk | Self::EcdheEcdsa | Self::EcdheRsa | Self::Ecjpake)
    }

    /// True if both ends prove their identity with a pre-shared key.
    pub const fn has_psk(self) -> bool {
        matches!(self, Self::Psk | Self::EcdhePsk)
    }

    /// True if an end can prove its identity with this kind of credential.
    pub const fn fits(self, credential: CredentialKind) -> bool {
        match credential {
            CredentialKind::Psk => self.has_psk(),
            CredentialKind::Ecjpake => matches!(self, Self::Ecjpake),
            CredentialKind::RawPublicKey | CredentialKind::Certificate => {
                !self.has_psk() && !matches!(self, Self::Ecjpake)
            }
        }
    }

    /// True if the keys of the certificates are RSA keys.
    pub const fn has_rsa(self) -> bool {
        matches!(self, Self::EcdheRsa | Self::Rsa)
    }
}

/// The IANA name of a cipher suite.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum Suite {
    /// RFC 6655.
    TLS_PSK_WITH_AES_128_CCM,
    /// RFC 6655; mandatory for CoAP with pre-shared keys (RFC 7252 section 9.1.3.1).
    TLS_PSK_WITH_AES_128_CCM_8,
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM,
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM_8,
    /// RFC 5487.
    TLS_PSK_WITH_AES_128_GCM_SHA256,
    /// RFC 8442.
    TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
    /// RFC 8442.
    TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
    /// RFC 5489.
    TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256,
    /// RFC 5487.
    TLS_PSK_WITH_AES_256_GCM_SHA384,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
    /// RFC 7251; mandatory for CoAP with raw public keys and certificates (RFC 7252 section 9.1.3.2).
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    /// RFC 8422.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
    /// RFC 8422.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    /// RFC 5246 appendix A.5, which makes it mandatory for TLS 1.2.
    TLS_RSA_WITH_AES_128_CBC_SHA,
    /// RFC 5246 appendix A.5.
    TLS_RSA_WITH_AES_128_CBC_SHA256,
    /// RFC 5288.
    TLS_RSA_WITH_AES_128_GCM_SHA256,
    /// draft-cragie-tls-ecjpake-01, whose number Thread uses.
    TLS_ECJPAKE_WITH_AES_128_CCM_8,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_GCM_SHA256,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_256_GCM_SHA384,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_SHA256,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_8_SHA256,
}

impl Suite {
    /// Every suite that at least one library supports here.
    pub const ALL: &[Self] = &[
        Self::TLS_PSK_WITH_AES_128_CCM,
        Self::TLS_PSK_WITH_AES_128_CCM_8,
        Self::TLS_PSK_WITH_AES_256_CCM,
        Self::TLS_PSK_WITH_AES_256_CCM_8,
        Self::TLS_PSK_WITH_AES_128_GCM_SHA256,
        Self::TLS_PSK_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
        Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_RSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECJPAKE_WITH_AES_128_CCM_8,
        Self::TLS_AES_128_GCM_SHA256,
        Self::TLS_AES_256_GCM_SHA384,
        Self::TLS_AES_128_CCM_SHA256,
        Self::TLS_AES_128_CCM_8_SHA256,
    ];

    /// The number in the IANA registry of TLS cipher suites.
    pub const fn iana(self) -> u16 {
        match self {
            Self::TLS_AES_128_GCM_SHA256 => 0x1301,
            Self::TLS_AES_256_GCM_SHA384 => 0x1302,
            Self::TLS_AES_128_CCM_SHA256 => 0x1304,
            Self::TLS_AES_128_CCM_8_SHA256 => 0x1305,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA => 0x002F,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA256 => 0x003C,
            Self::TLS_RSA_WITH_AES_128_GCM_SHA256 => 0x009C,
            Self::TLS_PSK_WITH_AES_128_GCM_SHA256 => 0x00A8,
            Self::TLS_PSK_WITH_AES_256_GCM_SHA384 => 0x00A9,
            Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 => 0xD001,
            Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 => 0xD003,
            Self::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 => 0xC037,
            Self::TLS_PSK_WITH_AES_128_CCM => 0xC0A4,
            Self::TLS_PSK_WITH_AES_256_CCM => 0xC0A5,
            Self::TLS_PSK_WITH_AES_128_CCM_8 => 0xC0A8,
            Self::TLS_PSK_WITH_AES_256_CCM_8 => 0xC0A9,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA => 0xC009,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA => 0xC013,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 => 0xC023,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 => 0xC027,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => 0xC02B,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => 0xC02C,
            Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => 0xC02F,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM => 0xC0AC,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM => 0xC0AD,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => 0xC0AE,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 => 0xC0AF,
            Self::TLS_ECJPAKE_WITH_AES_128_CCM_8 => 0xC0FF,
        }
    }

    /// The suite with this IANA number.
    pub fn from_iana(number: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|suite| suite.iana() == number)
    }

    /// True if it is a suite of TLS 1.3. The others are suites of TLS 1.2 and DTLS 1.2.
    pub const fn is_tls13(self) -> bool {
        self.iana() >> 8 == 0x13
    }

    /// True if records are encrypted with CBC.
    pub(crate) const fn is_cbc(self) -> bool {
        matches!(
            self,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA
                | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256
                | Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA
                | Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256
                | Self::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256
                | Self::TLS_RSA_WITH_AES_128_CBC_SHA
                | Self::TLS_RSA_WITH_AES_128_CBC_SHA256
        )
    }

    /// The way in which the two ends agree on a key. A suite of TLS 1.3 does not define this; here it is ECDHE with ECDSA.
    pub fn key_exchange(self) -> KeyExchange {
        match self {
            Self::TLS_PSK_WITH_AES_128_CCM
            | Self::TLS_PSK_WITH_AES_128_CCM_8
            | Self::TLS_PSK_WITH_AES_256_CCM
            | Self::TLS_PSK_WITH_AES_256_CCM_8
            | Self::TLS_PSK_WITH_AES_128_GCM_SHA256
            | Self::TLS_PSK_WITH_AES_256_GCM_SHA384 => KeyExchange::Psk,
            Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256
            | Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256
            | Self::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 => KeyExchange::EcdhePsk,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_AES_128_GCM_SHA256
            | Self::TLS_AES_256_GCM_SHA384
            | Self::TLS_AES_128_CCM_SHA256
            | Self::TLS_AES_128_CCM_8_SHA256 => KeyExchange::EcdheEcdsa,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA
            | Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => KeyExchange::EcdheRsa,
            Self::TLS_ECJPAKE_WITH_AES_128_CCM_8 => KeyExchange::Ecjpake,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA
            | Self::TLS_RSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_RSA_WITH_AES_128_GCM_SHA256 => KeyExchange::Rsa,
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
