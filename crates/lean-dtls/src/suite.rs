//! Cipher suites: how both ends agree on keys, and with what they encrypt records.

use crate::credentials::CertificateType;
use crate::crypto::{Aead, Group};
use crate::features::{ECDHE, If, Slot};

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

/// The way in which both ends agree on the premaster secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyExchange {
    /// RFC 4279, section 2.
    Psk,
    /// RFC 5489, section 2.
    EcdhePsk,
    /// RFC 8422, section 2.1.
    EcdheEcdsa,
}

/// The parts of a suite.
struct Parts {
    suite: Suite,
    iana: u16,
    aead: Aead,
    key_exchange: KeyExchange,
}

const fn parts(suite: Suite, iana: u16, aead: Aead, key_exchange: KeyExchange) -> Parts {
    Parts { suite, iana, aead, key_exchange }
}

/// The suites in the order of their type, with their numbers in the IANA registry of TLS cipher suites.
const PARTS: &[Parts] = &[
    #[cfg(feature = "certificates")]
    parts(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, 0xc0ae, Aead::Ccm8, KeyExchange::EcdheEcdsa),
    #[cfg(all(feature = "certificates", feature = "gcm"))]
    parts(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 0xc02b, Aead::Gcm, KeyExchange::EcdheEcdsa),
    #[cfg(feature = "ecdhe")]
    parts(Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256, 0xd003, Aead::Ccm8, KeyExchange::EcdhePsk),
    #[cfg(all(feature = "ecdhe", feature = "gcm"))]
    parts(Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256, 0xd001, Aead::Gcm, KeyExchange::EcdhePsk),
    parts(Suite::TLS_PSK_WITH_AES_128_CCM_8, 0xc0a8, Aead::Ccm8, KeyExchange::Psk),
    #[cfg(feature = "gcm")]
    parts(Suite::TLS_PSK_WITH_AES_128_GCM_SHA256, 0x00a8, Aead::Gcm, KeyExchange::Psk),
];

impl Suite {
    /// All suites, the preferred one first: certificates before pre-shared keys, ephemeral keys before none.
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::TLS_PSK_WITH_AES_128_CCM_8; PARTS.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = PARTS[place].suite;
            assert!(all[place] as usize == place, "the parts are in the order of the suites");
            place += 1;
        }
        all
    };

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
        PARTS[self as usize].iana
    }

    /// With what records are encrypted.
    pub const fn aead(self) -> Aead {
        PARTS[self as usize].aead
    }

    pub(crate) const fn key_exchange(self) -> KeyExchange {
        PARTS[self as usize].key_exchange
    }
}

/// True if there is more than one suite.
pub(crate) const HAS_CHOICE: bool = PARTS.len() > 1;

/// The abilities of an end, by its configuration and its credentials.
#[derive(Clone, Copy)]
pub(crate) struct Abilities<'a> {
    pub(crate) suites: &'a [Suite],
    /// A client has a pre-shared key.
    pub(crate) has_psk: Option<If<HAS_CHOICE, ()>>,
    pub(crate) public: Slot<ECDHE, PublicAbilities<'a>>,
}

/// The abilities of an end with public keys.
#[derive(Clone, Copy)]
pub(crate) struct PublicAbilities<'a> {
    pub(crate) groups: &'a [Group],
    /// The type of this end's certificate, if it has one.
    pub(crate) own: Option<CertificateType>,
    /// The types that the peer's certificate may have.
    pub(crate) accepted: &'a [CertificateType],
}

impl<'a> Abilities<'a> {
    pub(crate) fn groups(&self) -> &'a [Group] {
        self.public.first().map_or(&[], |public| public.groups)
    }

    /// The type of this end's certificate, if it has one.
    pub(crate) fn own(&self) -> Option<CertificateType> {
        self.public.first().and_then(|public| public.own)
    }

    /// The types that the peer's certificate may have.
    pub(crate) fn accepted(&self) -> &'a [CertificateType] {
        self.public.first().map_or(&[], |public| public.accepted)
    }

    /// The client: true if a suite that it offers has key agreement.
    pub(crate) fn needs_groups(&self) -> bool {
        ECDHE && self.offered().any(|suite| suite.key_exchange() != KeyExchange::Psk)
    }

    /// The suites that a client offers, the preferred one first.
    pub(crate) fn offered(self) -> impl Iterator<Item = Suite> + use<'a> {
        // If there is only one, a client without a key notices it when it needs the key.
        let suites = if HAS_CHOICE { self.suites } else { Suite::DEFAULT };
        suites.iter().copied().filter(move |suite| match suite.key_exchange() {
            _ if !HAS_CHOICE => true,
            KeyExchange::Psk | KeyExchange::EcdhePsk => self.has_psk.is_some(),
            KeyExchange::EcdheEcdsa => !self.accepted().is_empty(),
        })
    }
}
