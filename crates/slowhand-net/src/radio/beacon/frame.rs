//! The beacons of a beacon-enabled PAN: versions 0 and 1 (IEEE Std 802.15.4-2006, 7.2 and 7.3), extended addresses.

use crate::address::{Eui64, PAN_ID};
use crate::radio::contention::version_of;
use crate::radio::frame::{
    Address, BeaconFields, FCS, Frame, FrameType, Header, MAX_FRAME, Security, SuperframeSpecification,
};

pub use crate::radio::frame::MAX_PENDING_ADDRESSES;

/// The last slot of the contention access period is that of the superframe: there are no guaranteed time slots.
const FINAL_CAP_SLOT: u8 = 15;

/// Octets of a beacon that lists `pending` extended addresses, FCS included.
pub const fn beacon_octets(pending: usize, security: Option<Security>) -> usize {
    let fields = fields(0, 0, false, &[]).length() + 8 * pending;
    MAX_FRAME - beacon_header(0, Eui64([0; 8]), security).payload_capacity() + fields + FCS
}

/// Writes a beacon and returns its length. It permits no association.
///
/// Orders must be at most 14. Only the first [`MAX_PENDING_ADDRESSES`] of `pending` are listed.
pub fn write_beacon(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Eui64,
    (beacon_order, superframe_order): (u8, u8),
    pan_coordinator: bool,
    pending: &[Eui64],
    security: Option<Security>,
) -> usize {
    let pending = &pending[..pending.len().min(MAX_PENDING_ADDRESSES)];
    let mut octets = [0; MAX_FRAME];
    let length = fields(beacon_order.min(15), superframe_order.min(15), pan_coordinator, pending).emit(&mut octets);
    let payload = &octets[..length.expect("orders and number of addresses are in range")];
    Frame { payload, ..Frame::new(beacon_header(sequence, from, security)) }
        .emit(out)
        .expect("the longest beacon is shorter than the longest frame")
}

const fn fields(
    beacon_order: u8,
    superframe_order: u8,
    pan_coordinator: bool,
    pending_extended: &[Eui64],
) -> BeaconFields<'_> {
    let superframe = SuperframeSpecification {
        beacon_order,
        superframe_order,
        final_cap_slot: FINAL_CAP_SLOT,
        battery_life_extension: false,
        pan_coordinator,
        association_permit: false,
    };
    BeaconFields { superframe, gts_permit: false, gts: &[], pending_short: &[], pending_extended, payload: &[] }
}

const fn beacon_header(sequence: u8, from: Eui64, security: Option<Security>) -> Header {
    Header {
        sequence: Some(sequence),
        source_pan: Some(PAN_ID),
        source: Some(Address::Extended(from)),
        security,
        ..Header::new(FrameType::Beacon, version_of(security))
    }
}
