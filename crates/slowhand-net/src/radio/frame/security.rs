//! The auxiliary security header (IEEE Std 802.15.4-2020, 9.4).
//!
//! ```text
//! | security control (8) | frame counter (0 or 32) | key source (0, 32 or 64) | key index (0 or 8) |
//!
//! security control: level (3) | key identifier mode (2) | frame counter suppression (1) | ASN in nonce (1) | 0 (1)
//! ```
//! The codec reads and writes the fields. Keys and encryption are in [`ccm`](super::ccm).

use super::cursor::{Reader, Writer};
use super::error::Error;
use super::kind::Version;

const FRAME_COUNTER_SUPPRESSION: u8 = 1 << 5;
const ASN_IN_NONCE: u8 = 1 << 6;

/// The bits of a security level for the message integrity code. The other bit is encryption (table 9-6).
const MIC: usize = 0b11;

/// Octets of the longest message integrity code.
pub(super) const MAX_MIC: usize = 16;

listed! {
    /// A security level (IEEE 802.15.4-2020, table 9-6).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    #[repr(u8)]
    pub enum SecurityLevel {
        /// No security: frames have no security header.
        None = 0,
        /// A message integrity code of 4 octets.
        #[cfg_attr(feature = "serde", serde(rename = "mic-32"))]
        Mic32 = 1,
        /// A message integrity code of 8 octets.
        #[cfg_attr(feature = "serde", serde(rename = "mic-64"))]
        Mic64 = 2,
        /// A message integrity code of 16 octets.
        #[cfg_attr(feature = "serde", serde(rename = "mic-128"))]
        Mic128 = 3,
        /// Encryption alone.
        Enc = 4,
        /// Encryption and a message integrity code of 4 octets.
        #[cfg_attr(feature = "serde", serde(rename = "enc-mic-32"))]
        EncMic32 = 5,
        /// Encryption and a message integrity code of 8 octets.
        #[cfg_attr(feature = "serde", serde(rename = "enc-mic-64"))]
        EncMic64 = 6,
        /// Encryption and a message integrity code of 16 octets.
        #[cfg_attr(feature = "serde", serde(rename = "enc-mic-128"))]
        EncMic128 = 7,
    }
}

impl SecurityLevel {
    /// Octets of the message integrity code, which the two low bits of the level stand for.
    pub const fn mic_length(self) -> usize {
        [0, 4, 8, MAX_MIC][self as usize & MIC]
    }

    /// The level with the same message integrity code and no encryption. `None` if it has no code.
    pub const fn without_encryption(self) -> Option<Self> {
        match Self::ALL[self as usize & MIC] {
            Self::None => None,
            level => Some(level),
        }
    }

    /// True if payload IEs and payload are encrypted.
    pub const fn is_encrypted(self) -> bool {
        self as usize & !MIC != 0
    }
}

/// Which key protects a frame (the key identifier modes, table 9-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyIdentifier {
    /// Mode 0: source and destination of the frame determine the key.
    Implicit,
    /// Mode 1: the key with this index of the default key source.
    Index(u8),
    /// Mode 2: a key of the device with this PAN ID and short address, as they are sent.
    Source4 {
        /// The key source.
        source: [u8; 4],
        /// The key index.
        index: u8,
    },
    /// Mode 3: a key of the device with this extended address, as it is sent.
    Source8 {
        /// The key source.
        source: [u8; 8],
        /// The key index.
        index: u8,
    },
}

impl KeyIdentifier {
    const fn mode(self) -> u8 {
        match self {
            Self::Implicit => 0,
            Self::Index(_) => 1,
            Self::Source4 { .. } => 2,
            Self::Source8 { .. } => 3,
        }
    }

    const fn length(self) -> usize {
        [0, 1, 4 + 1, 8 + 1][self.mode() as usize]
    }
}

/// The auxiliary security header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Security {
    /// The security level.
    pub level: SecurityLevel,
    /// The frame counter. `None` if it is suppressed, which needs version 2.
    pub frame_counter: Option<u32>,
    /// True if the nonce has the absolute slot number instead of the frame counter; needs version 2.
    pub asn_in_nonce: bool,
    /// Which key protects the frame.
    pub key: KeyIdentifier,
}

impl Security {
    /// The position of the frame counter in the header, if there is one.
    pub const FRAME_COUNTER: usize = 1;

    /// Octets of the auxiliary security header.
    pub const fn length(&self) -> usize {
        let counter = if self.frame_counter.is_some() { 4 } else { 0 };
        1 + counter + self.key.length()
    }

    pub(super) fn write(&self, version: Version, writer: &mut Writer<'_>) -> Result<(), Error> {
        let suppressed = if self.frame_counter.is_none() { FRAME_COUNTER_SUPPRESSION } else { 0 };
        let asn_in_nonce = if self.asn_in_nonce { ASN_IN_NONCE } else { 0 };
        let control = self.level as u8 | self.key.mode() << 3 | suppressed | asn_in_nonce;
        check_version(version, control)?;
        writer.u8(control)?;
        if let Some(counter) = self.frame_counter {
            writer.u32(counter)?;
        }
        match self.key {
            KeyIdentifier::Implicit => Ok(()),
            KeyIdentifier::Index(index) => writer.u8(index),
            KeyIdentifier::Source4 { source, index } => writer.slice(&source).and_then(|()| writer.u8(index)),
            KeyIdentifier::Source8 { source, index } => writer.slice(&source).and_then(|()| writer.u8(index)),
        }
    }

    pub(super) fn read(version: Version, reader: &mut Reader<'_>) -> Result<Self, Error> {
        let control = reader.u8()?;
        check_version(version, control)?;
        let suppressed = control & FRAME_COUNTER_SUPPRESSION != 0;
        Ok(Self {
            level: SecurityLevel::ALL[usize::from(control & 0b111)],
            frame_counter: if suppressed { None } else { Some(reader.u32()?) },
            asn_in_nonce: control & ASN_IN_NONCE != 0,
            key: match control >> 3 & 0b11 {
                0 => KeyIdentifier::Implicit,
                1 => KeyIdentifier::Index(reader.u8()?),
                2 => KeyIdentifier::Source4 { source: reader.array()?, index: reader.u8()? },
                _ => KeyIdentifier::Source8 { source: reader.array()?, index: reader.u8()? },
            },
        })
    }
}

/// Security needs version 1. Frame counter suppression and the ASN in the nonce need version 2.
fn check_version(version: Version, control: u8) -> Result<(), Error> {
    match version {
        Version::V0 => Err(Error::LegacySecurity),
        Version::V1 if control & (FRAME_COUNTER_SUPPRESSION | ASN_IN_NONCE) != 0 => Err(Error::FrameCounter),
        Version::V1 | Version::V2 => Ok(()),
    }
}
