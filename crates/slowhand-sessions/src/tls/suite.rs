//! The cipher suites.

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

/// Declares the suites, each with its number in the IANA registry of TLS cipher suites, and with its key exchange. A suite of TLS 1.3
/// does not define that; here it is ECDHE with ECDSA.
macro_rules! suites {
    ($($(#[$documentation:meta])* $name:ident = $number:literal, $exchange:ident;)*) => {
        /// The IANA name of a cipher suite.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Suite {
            $($(#[$documentation])* $name = $number,)*
        }

        impl Suite {
            /// Every suite that at least one library supports here.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The way in which the two ends agree on a key.
            pub const fn key_exchange(self) -> KeyExchange {
                match self {
                    $(Self::$name => KeyExchange::$exchange,)*
                }
            }
        }
    };
}

suites! {
    /// RFC 6655.
    TLS_PSK_WITH_AES_128_CCM = 0xC0A4, Psk;
    /// RFC 6655; mandatory for CoAP with pre-shared keys (RFC 7252 section 9.1.3.1).
    TLS_PSK_WITH_AES_128_CCM_8 = 0xC0A8, Psk;
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM = 0xC0A5, Psk;
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM_8 = 0xC0A9, Psk;
    /// RFC 5487.
    TLS_PSK_WITH_AES_128_GCM_SHA256 = 0x00A8, Psk;
    /// RFC 8442.
    TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 = 0xD003, EcdhePsk;
    /// RFC 8442.
    TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 = 0xD001, EcdhePsk;
    /// RFC 5489.
    TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 = 0xC037, EcdhePsk;
    /// RFC 5487.
    TLS_PSK_WITH_AES_256_GCM_SHA384 = 0x00A9, Psk;
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM = 0xC0AC, EcdheEcdsa;
    /// RFC 7251; mandatory for CoAP with raw public keys and certificates (RFC 7252 section 9.1.3.2).
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 = 0xC0AE, EcdheEcdsa;
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM = 0xC0AD, EcdheEcdsa;
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 = 0xC0AF, EcdheEcdsa;
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xC02B, EcdheEcdsa;
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xC02C, EcdheEcdsa;
    /// RFC 8422.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xC009, EcdheEcdsa;
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = 0xC023, EcdheEcdsa;
    /// RFC 8422.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xC013, EcdheRsa;
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xC027, EcdheRsa;
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xC02F, EcdheRsa;
    /// RFC 5246 appendix A.5, which makes it mandatory for TLS 1.2.
    TLS_RSA_WITH_AES_128_CBC_SHA = 0x002F, Rsa;
    /// RFC 5246 appendix A.5.
    TLS_RSA_WITH_AES_128_CBC_SHA256 = 0x003C, Rsa;
    /// RFC 5288.
    TLS_RSA_WITH_AES_128_GCM_SHA256 = 0x009C, Rsa;
    /// draft-cragie-tls-ecjpake-01, whose number Thread uses.
    TLS_ECJPAKE_WITH_AES_128_CCM_8 = 0xC0FF, Ecjpake;
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_GCM_SHA256 = 0x1301, EcdheEcdsa;
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_256_GCM_SHA384 = 0x1302, EcdheEcdsa;
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_SHA256 = 0x1304, EcdheEcdsa;
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_8_SHA256 = 0x1305, EcdheEcdsa;
}

impl Suite {
    /// The number in the IANA registry of TLS cipher suites.
    pub const fn iana(self) -> u16 {
        self as u16
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
}
