//! Addresses and PAN identifiers (IEEE Std 802.15.4-2020, 7.2.2.6, 7.2.2.9, 7.2.2.11).

use super::cursor::{Reader, Writer};
use super::error::Error;
use super::kind::Version;
use crate::address::Eui64;

/// The address of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A short address of 16 bits, as a PAN coordinator assigns it; 0xffff is the broadcast address.
    Short(u16),
    /// An extended address of 64 bits.
    Extended(Eui64),
}

/// The addressing mode of an address field: two bits of the frame control field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    None,
    Short,
    Extended,
}

impl Mode {
    #[inline]
    pub(super) const fn of(address: Option<Address>) -> Self {
        match address {
            None => Self::None,
            Some(Address::Short(_)) => Self::Short,
            Some(Address::Extended(_)) => Self::Extended,
        }
    }

    /// Octets of the address.
    #[inline]
    pub(super) const fn length(self) -> usize {
        match self {
            Self::None => 0,
            Self::Short => 2,
            Self::Extended => 8,
        }
    }

    #[inline]
    pub(super) const fn bits(self) -> u16 {
        match self {
            Self::None => 0b00,
            Self::Short => 0b10,
            Self::Extended => 0b11,
        }
    }

    #[inline]
    pub(super) const fn from_bits(bits: u16) -> Result<Self, Error> {
        match bits & 0b11 {
            0b00 => Ok(Self::None),
            0b10 => Ok(Self::Short),
            0b11 => Ok(Self::Extended),
            reserved => Err(Error::AddressingMode(reserved as u8)),
        }
    }

    #[inline]
    pub(super) fn read(self, reader: &mut Reader<'_>) -> Result<Option<Address>, Error> {
        Ok(match self {
            Self::None => None,
            Self::Short => Some(Address::Short(reader.u16()?)),
            Self::Extended => Some(Address::Extended(Eui64(reader.u64()?.to_be_bytes()))),
        })
    }
}

#[inline]
pub(super) fn write(address: Option<Address>, writer: &mut Writer<'_>) -> Result<(), Error> {
    match address {
        None => Ok(()),
        Some(Address::Short(address)) => writer.u16(address),
        Some(Address::Extended(address)) => writer.u64(u64::from_be_bytes(address.0)),
    }
}

/// True for each PAN ID that a frame has: destination PAN ID, source PAN ID.
pub(super) type PanIds = (bool, bool);

/// The PAN IDs that belong to these addresses and this value of the PAN ID Compression field.
///
/// In versions 0 and 1 each address has a PAN ID. With compression, which needs two addresses, the source PAN ID is
/// left out: it is that of the destination. Version 2 follows table 7-2.
#[inline]
pub(super) const fn pan_ids(
    version: Version,
    destination: Mode,
    source: Mode,
    compression: bool,
) -> Result<PanIds, Error> {
    use Mode::{Extended, None};
    if matches!(version, Version::V2) {
        return Ok(match (destination, source, compression) {
            (None, None, compression) => (compression, false),
            (_, None, compression) => (!compression, false),
            (None, _, compression) => (false, !compression),
            (Extended, Extended, compression) => (!compression, false),
            (_, _, compression) => (true, !compression),
        });
    }
    match (destination, source, compression) {
        (None, None, false) => Ok((false, false)),
        (_, None, false) => Ok((true, false)),
        (None, _, false) => Ok((false, true)),
        (None, _, true) | (_, None, true) => Err(Error::PanIds),
        (_, _, compression) => Ok((true, !compression)),
    }
}

/// Octets of addresses and PAN IDs, by [`addressing_index`]. [`INVALID`] if the frame control field is not valid.
///
/// Most frames of a network have neither security nor information elements. This table gives the start of their
/// payload without reading the addresses.
const ADDRESSING_LENGTH: [u8; 1 << 7] = {
    let mut table = [INVALID; 1 << 7];
    let mut index = 0;
    while index < table.len() {
        let bits = index as u16;
        let (destination, source) = (Mode::from_bits(bits >> 1), Mode::from_bits(bits >> 5));
        if let (Ok(version), Ok(destination), Ok(source)) = (Version::from_bits(bits >> 3), destination, source)
            && let Ok((to_pan, from_pan)) = pan_ids(version, destination, source, bits & 1 != 0)
        {
            let pans = to_pan as usize + from_pan as usize;
            table[index] = (destination.length() + source.length() + 2 * pans) as u8;
        }
        index += 1;
    }
    table
};

const INVALID: u8 = u8::MAX;

/// PAN ID Compression, destination mode, version and source mode of a frame control field.
#[inline]
const fn addressing_index(control: u16) -> usize {
    (control >> 6 & 1 | control >> 9 & 0x7e) as usize
}

/// Octets of addresses and PAN IDs. `None` if the frame control field is not valid.
#[inline]
pub(super) fn addressing_length(control: u16) -> Option<usize> {
    let length = ADDRESSING_LENGTH[addressing_index(control)];
    (length != INVALID).then_some(usize::from(length))
}

/// The value of the PAN ID Compression field for a frame with exactly these PAN IDs.
#[inline]
pub(super) fn pan_id_compression(
    version: Version,
    destination: Mode,
    source: Mode,
    present: PanIds,
) -> Result<bool, Error> {
    let gives = |compression| pan_ids(version, destination, source, compression) == Ok(present);
    match (gives(false), gives(true)) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => Err(Error::PanIds),
    }
}
