//! Cipher suites: how both ends agree on keys, and with what they encrypt records.

#[cfg(feature = "certificates")]
use crate::credentials::CertificateType;
use crate::crypto::Aead;
#[cfg(feature = "ecdhe")]
use crate::crypto::Group;

/// The IANA name of a cipher suite.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suite {
    /// RFC 7251. The one that RFC 7925, sections 4.3 and 4.4, asks for with raw public keys and certificates.
    #[cfg(feature = "certificates")]
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
    /// RFC 5289.
    #[cfg(all(feature = "certificates", feature = "gcm"))]
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    /// RFC 8442. Who learns a pre-shared key later cannot read what was sent before.
    #[cfg(feature = "ecdhe")]
    TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
    /// RFC 8442.
    #[cfg(all(feature = "ecdhe", feature = "gcm"))]
    TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
    /// RFC 6655. The one that RFC 7925, section 4.2, asks for with pre-shared keys.
    TLS_PSK_WITH_AES_128_CCM_8,
    /// RFC 5487.
    #[cfg(feature = "gcm")]
    TLS_PSK_WITH_AES_128_GCM_SHA256,
}

/// How both ends agree on the premaster secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyExchange {
    /// RFC 4279, section 2.
    Psk,
    /// RFC 5489, section 2.
    #[cfg(feature = "ecdhe")]
    EcdhePsk,
    /// RFC 8422, section 2.1.
    #[cfg(feature = "certificates")]
    EcdheEcdsa,
}

impl Suite {
    /// All suites, the preferred one first: certificates before pre-shared keys, ephemeral keys before none.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "certificates")]
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        #[cfg(all(feature = "certificates", feature = "gcm"))]
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        #[cfg(feature = "ecdhe")]
        Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
        #[cfg(all(feature = "ecdhe", feature = "gcm"))]
        Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
        Self::TLS_PSK_WITH_AES_128_CCM_8,
        #[cfg(feature = "gcm")]
        Self::TLS_PSK_WITH_AES_128_GCM_SHA256,
    ];

    /// The suites of an end that is not told others: those that RFC 7925 makes mandatory.
    ///
    /// See [Which suites?](crate::decisions#which-suites)
    pub const DEFAULT: &'static [Self] = &[
        #[cfg(feature = "certificates")]
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        Self::TLS_PSK_WITH_AES_128_CCM_8,
    ];

    /// The number in the IANA registry of TLS cipher suites.
    pub const fn iana(self) -> u16 {
        match self {
            #[cfg(feature = "certificates")]
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => 0xc0ae,
            #[cfg(all(feature = "certificates", feature = "gcm"))]
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => 0xc02b,
            #[cfg(feature = "ecdhe")]
            Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 => 0xd003,
            #[cfg(all(feature = "ecdhe", feature = "gcm"))]
            Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 => 0xd001,
            Self::TLS_PSK_WITH_AES_128_CCM_8 => 0xc0a8,
            #[cfg(feature = "gcm")]
            Self::TLS_PSK_WITH_AES_128_GCM_SHA256 => 0x00a8,
        }
    }

    /// With what records are encrypted.
    pub const fn aead(self) -> Aead {
        match self {
            #[cfg(all(feature = "certificates", feature = "gcm"))]
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => Aead::Gcm,
            #[cfg(all(feature = "ecdhe", feature = "gcm"))]
            Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 => Aead::Gcm,
            #[cfg(feature = "gcm")]
            Self::TLS_PSK_WITH_AES_128_GCM_SHA256 => Aead::Gcm,
            _ => Aead::Ccm8,
        }
    }

    pub(crate) const fn key_exchange(self) -> KeyExchange {
        match self {
            #[cfg(feature = "certificates")]
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => KeyExchange::EcdheEcdsa,
            #[cfg(all(feature = "certificates", feature = "gcm"))]
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => KeyExchange::EcdheEcdsa,
            #[cfg(feature = "ecdhe")]
            Self::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 => KeyExchange::EcdhePsk,
            #[cfg(all(feature = "ecdhe", feature = "gcm"))]
            Self::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 => KeyExchange::EcdhePsk,
            _ => KeyExchange::Psk,
        }
    }
}

/// What an end can do, by its configuration and its credentials.
#[derive(Clone, Copy)]
pub(crate) struct Abilities<'a> {
    pub(crate) suites: &'a [Suite],
    /// A client has a pre-shared key.
    #[cfg(any(feature = "ecdhe", feature = "gcm"))]
    pub(crate) has_psk: bool,
    #[cfg(feature = "ecdhe")]
    pub(crate) groups: &'a [Group],
    /// The type of this end's certificate, if it has one.
    #[cfg(feature = "certificates")]
    pub(crate) own: Option<CertificateType>,
    /// The types that the peer's certificate may have.
    #[cfg(feature = "certificates")]
    pub(crate) accepted: &'a [CertificateType],
}

impl<'a> Abilities<'a> {
    /// The client: true if a suite that it offers has key agreement.
    #[cfg(any(feature = "ecdhe", feature = "dtls13"))]
    pub(crate) fn needs_groups(&self) -> bool {
        self.offered().any(|suite| suite.key_exchange() != KeyExchange::Psk)
    }

    /// The suites that a client offers, the preferred one first.
    #[cfg(not(any(feature = "ecdhe", feature = "gcm")))]
    pub(crate) fn offered(self) -> impl Iterator<Item = Suite> {
        // There is only one. A client without a key notices it when it needs the key.
        core::iter::once(Suite::TLS_PSK_WITH_AES_128_CCM_8)
    }

    /// The suites that a client offers, the preferred one first.
    #[cfg(any(feature = "ecdhe", feature = "gcm"))]
    pub(crate) fn offered(self) -> impl Iterator<Item = Suite> + use<'a> {
        self.suites.iter().copied().filter(move |suite| match suite.key_exchange() {
            KeyExchange::Psk => self.has_psk,
            #[cfg(feature = "ecdhe")]
            KeyExchange::EcdhePsk => self.has_psk,
            #[cfg(feature = "certificates")]
            KeyExchange::EcdheEcdsa => !self.accepted.is_empty(),
        })
    }
}
