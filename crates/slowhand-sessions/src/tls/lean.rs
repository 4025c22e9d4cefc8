//! The lean profile of lean-dtls.

use std::fmt;

use lean_dtls::Lean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch of the lean profile, or a set of them (`docs/lean-profile.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeanSwitch {
    /// No ServerHelloDone, ClientKeyExchange and ChangeCipherSpec.
    OmitMessages,
    /// No copy of epoch and sequence number in encrypted records.
    ShortNonce,
    /// The server's Finished travels with its ServerHello.
    ServerFinishedFirst,
    /// Encrypted records with a header of 3 octets.
    ShortHeader,
    /// Acknowledgements: only what is missing is sent again.
    Acknowledge,
    /// The client does not send its identity: the server knows it by its address.
    KnownAddress,
    /// A Finished message without its header.
    ShortFinished,
    /// Everything that Pittoli et al. 2016 leave out: messages, copies in records, and the identity.
    Slides,
    /// All of them.
    All,
}

impl LeanSwitch {
    /// The switches, one by one.
    pub const EACH: [Self; 7] = [
        Self::OmitMessages,
        Self::ShortNonce,
        Self::ServerFinishedFirst,
        Self::ShortHeader,
        Self::Acknowledge,
        Self::KnownAddress,
        Self::ShortFinished,
    ];

    const fn switches(self) -> Lean {
        match self {
            Self::OmitMessages => Lean::OMIT_MESSAGES,
            Self::ShortNonce => Lean::SHORT_NONCE,
            Self::ServerFinishedFirst => Lean::SERVER_FINISHED_FIRST,
            Self::ShortHeader => Lean::SHORT_HEADER,
            Self::Acknowledge => Lean::ACKNOWLEDGE,
            Self::KnownAddress => Lean::KNOWN_ADDRESS,
            Self::ShortFinished => Lean::SHORT_FINISHED,
            Self::Slides => Lean::SLIDES.with(Lean::KNOWN_ADDRESS),
            Self::All => Lean::ALL.with(Lean::KNOWN_ADDRESS),
        }
    }
}

/// Switches of the lean profile, as a set. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeanProfile(Lean);

impl LeanProfile {
    /// Plain DTLS 1.2.
    pub const NONE: Self = Self(Lean::NONE);

    pub(crate) const fn switches(self) -> Lean {
        self.0
    }
}

impl FromIterator<LeanSwitch> for LeanProfile {
    fn from_iter<T: IntoIterator<Item = LeanSwitch>>(switches: T) -> Self {
        Self(switches.into_iter().fold(Lean::NONE, |set, switch| set.with(switch.switches())))
    }
}

/// The switches in it.
impl fmt::Display for LeanProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = LeanSwitch::EACH.iter().filter(|switch| self.0.has(switch.switches())).map(ToString::to_string);
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}
