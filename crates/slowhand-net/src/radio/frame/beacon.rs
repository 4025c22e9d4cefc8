//! The fields of a beacon of versions 0 and 1 (IEEE Std 802.15.4-2020, 7.3.1). They are the payload of the frame.
//!
//! ```text
//! | superframe specification (16) | GTS specification (8) | GTS directions (0 or 8) | GTS descriptors (24 each)
//! | pending address specification (8) | short addresses (16 each) | extended addresses (64 each) | beacon payload |
//! ```

use super::cursor::{Reader, Writer};
use super::error::Error;
use crate::address::Eui64;

/// The most pending addresses in a beacon, short and extended ones together (7.3.1.6).
pub const MAX_PENDING_ADDRESSES: usize = 7;

/// The most guaranteed time slots in a beacon (7.3.1.5).
pub const MAX_GTS: usize = 7;

const GTS_PERMIT: u8 = 1 << 7;

/// The superframe specification (7.3.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SuperframeSpecification {
    /// The beacon order BO: the beacon interval is 15.36 ms times 2^BO. 15 means that no beacons follow.
    pub beacon_order: u8,
    /// The superframe order SO: the active period is 15.36 ms times 2^SO.
    pub superframe_order: u8,
    /// The last slot of the contention access period.
    pub final_cap_slot: u8,
    /// True if devices may start to send only shortly after the beacon (BLE).
    pub battery_life_extension: bool,
    /// True if the PAN coordinator sends the beacon.
    pub pan_coordinator: bool,
    /// True if the coordinator accepts devices.
    pub association_permit: bool,
}

impl SuperframeSpecification {
    fn bits(self) -> Result<u16, Error> {
        let Self { beacon_order, superframe_order, final_cap_slot, .. } = self;
        if beacon_order.max(superframe_order).max(final_cap_slot) > 0xf {
            return Err(Error::Range("superframe specification"));
        }
        Ok(u16::from(beacon_order)
            | u16::from(superframe_order) << 4
            | u16::from(final_cap_slot) << 8
            | u16::from(self.battery_life_extension) << 12
            | u16::from(self.pan_coordinator) << 14
            | u16::from(self.association_permit) << 15)
    }

    fn from_bits(bits: u16) -> Self {
        let nibble = |shift: u32| (bits >> shift & 0xf) as u8;
        let bit = |shift: u32| bits >> shift & 1 != 0;
        Self {
            beacon_order: nibble(0),
            superframe_order: nibble(4),
            final_cap_slot: nibble(8),
            battery_life_extension: bit(12),
            pan_coordinator: bit(14),
            association_permit: bit(15),
        }
    }
}

/// A guaranteed time slot (7.3.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gts {
    /// The short address of the device that may use it.
    pub device: u16,
    /// The first slot of the superframe that belongs to it.
    pub starting_slot: u8,
    /// The number of slots that belong to it.
    pub slots: u8,
    /// True if the device only receives in it.
    pub receive_only: bool,
}

/// The fields of a beacon as values, to write them.
#[derive(Clone, Copy, Debug)]
pub struct BeaconFields<'a> {
    /// The superframe specification.
    pub superframe: SuperframeSpecification,
    /// True if the PAN coordinator accepts requests for guaranteed time slots.
    pub gts_permit: bool,
    /// The guaranteed time slots, at most [`MAX_GTS`].
    pub gts: &'a [Gts],
    /// The short addresses for which frames wait.
    pub pending_short: &'a [u16],
    /// The extended addresses for which frames wait. Both lists together have at most [`MAX_PENDING_ADDRESSES`].
    pub pending_extended: &'a [Eui64],
    /// The payload of the next higher layer.
    pub payload: &'a [u8],
}

impl BeaconFields<'_> {
    /// Octets of the fields.
    pub const fn length(&self) -> usize {
        let gts = if self.gts.is_empty() { 0 } else { 1 + 3 * self.gts.len() };
        2 + 1 + gts + 1 + 2 * self.pending_short.len() + 8 * self.pending_extended.len() + self.payload.len()
    }

    /// Writes the fields and returns their length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`]; [`Error::Range`] for a number that does not fit its field or a list that is too long.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let Self { superframe, gts_permit, gts, pending_short, pending_extended, payload } = *self;
        if gts.len() > MAX_GTS {
            return Err(Error::Range("GTS descriptor count"));
        }
        if pending_short.len() + pending_extended.len() > MAX_PENDING_ADDRESSES {
            return Err(Error::Range("number of pending addresses"));
        }
        let mut writer = Writer::new(out);
        writer.u16(superframe.bits()?)?;
        writer.u8(gts.len() as u8 | if gts_permit { GTS_PERMIT } else { 0 })?;
        if !gts.is_empty() {
            let directions = gts.iter().enumerate().map(|(index, gts)| u8::from(gts.receive_only) << index);
            writer.u8(directions.sum())?;
        }
        for gts in gts {
            if gts.starting_slot.max(gts.slots) > 0xf {
                return Err(Error::Range("GTS descriptor"));
            }
            writer.u16(gts.device)?;
            writer.u8(gts.starting_slot | gts.slots << 4)?;
        }
        writer.u8(pending_short.len() as u8 | (pending_extended.len() as u8) << 4)?;
        for &address in pending_short {
            writer.u16(address)?;
        }
        for address in pending_extended {
            writer.u64(u64::from_be_bytes(address.0))?;
        }
        writer.slice(payload)?;
        Ok(writer.written())
    }
}

/// The fields of a beacon as checked octets.
#[derive(Clone, Copy, Debug)]
pub struct BeaconView<'a> {
    superframe: SuperframeSpecification,
    gts_permit: bool,
    directions: u8,
    gts: &'a [[u8; 3]],
    short: &'a [[u8; 2]],
    extended: &'a [[u8; 8]],
    payload: &'a [u8],
}

impl<'a> BeaconView<'a> {
    /// Checks the payload of a beacon frame of version 0 or 1.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Range`] if there are more than [`MAX_PENDING_ADDRESSES`].
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(octets);
        let superframe = SuperframeSpecification::from_bits(reader.u16()?);
        let specification = reader.u8()?;
        let count = usize::from(specification & 0b111);
        let directions = if count > 0 { reader.u8()? } else { 0 };
        let gts = reader.slice(3 * count)?.as_chunks().0;
        let pending = reader.u8()?;
        let (short, extended) = (usize::from(pending & 0b111), usize::from(pending >> 4 & 0b111));
        if short + extended > MAX_PENDING_ADDRESSES {
            return Err(Error::Range("number of pending addresses"));
        }
        let short = reader.slice(2 * short)?.as_chunks().0;
        let extended = reader.slice(8 * extended)?.as_chunks().0;
        let gts_permit = specification & GTS_PERMIT != 0;
        Ok(Self { superframe, gts_permit, directions, gts, short, extended, payload: reader.rest() })
    }

    /// The superframe specification.
    pub const fn superframe(&self) -> SuperframeSpecification {
        self.superframe
    }

    /// True if the PAN coordinator accepts requests for guaranteed time slots.
    pub const fn gts_permit(&self) -> bool {
        self.gts_permit
    }

    /// The guaranteed time slots.
    pub fn gts(&self) -> impl Iterator<Item = Gts> + 'a {
        let directions = self.directions;
        self.gts.iter().enumerate().map(move |(index, &[low, high, slots])| Gts {
            device: u16::from_le_bytes([low, high]),
            starting_slot: slots & 0xf,
            slots: slots >> 4,
            receive_only: directions >> index & 1 != 0,
        })
    }

    /// The short addresses for which frames wait.
    pub fn pending_short(&self) -> impl Iterator<Item = u16> + 'a {
        self.short.iter().map(|octets| u16::from_le_bytes(*octets))
    }

    /// The extended addresses for which frames wait.
    pub fn pending_extended(&self) -> impl Iterator<Item = Eui64> + 'a {
        self.extended.iter().map(|octets| Eui64(u64::from_le_bytes(*octets).to_be_bytes()))
    }

    /// The payload of the next higher layer.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}
