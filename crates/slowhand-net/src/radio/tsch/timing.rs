//! The times within a timeslot (IEEE 802.15.4-2015, 6.2.6.3 and figure 6-30).

use super::frame::ENHANCED_ACK;
use crate::clock::{Duration, Instant};
use crate::radio::phy::{MAX_PSDU, air_time};

/// A timeslot template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Length of a timeslot (macTsTimeslotLength).
    pub slot: Duration,
    /// From the start of the slot to the first symbol of the data frame (macTsTxOffset).
    pub transmit_offset: Duration,
    /// A receiver waits for the frame this long before and after that moment (half of macTsRxWait; OpenWSN's TsLongGT).
    pub guard: Duration,
    /// From the end of the data frame to the first symbol of the acknowledgement (macTsTxAckDelay).
    pub ack_delay: Duration,
    /// The sender waits for it this long before and after that moment (half of macTsAckWait; OpenWSN's TsShortGT).
    pub ack_guard: Duration,
}

impl Timing {
    /// Slots of 10 ms. Source: OpenWSN firmware, `IEEE802154E.h`, commit 7ee5f2033 (2021-11-09).
    pub const SLOT_10_MS: Self = Self {
        slot: Duration::from_micros(10_000),
        transmit_offset: Duration::from_micros(2_120),
        guard: Duration::from_micros(1_100),
        ack_delay: Duration::from_micros(1_000),
        ack_guard: Duration::from_micros(500),
    };

    /// Slots of 20 ms, as on the OpenMote CC2538. Same source.
    pub const SLOT_20_MS: Self = Self {
        slot: Duration::from_micros(20_000),
        transmit_offset: Duration::from_micros(5_215),
        guard: Duration::from_micros(1_311),
        ack_delay: Duration::from_micros(5_521),
        ack_guard: Duration::from_micros(700),
    };

    /// The absolute slot number (ASN) at an instant.
    pub const fn asn(&self, at: Instant) -> u64 {
        at.as_micros() / self.slot.as_micros()
    }

    /// The start of a slot.
    pub const fn start(&self, asn: u64) -> Instant {
        Instant::from_micros(asn * self.slot.as_micros())
    }

    /// The shortest slot that has room for the largest frame and its acknowledgement.
    pub fn shortest_slot(&self) -> Duration {
        self.transmit_offset + air_time(MAX_PSDU) + self.ack_delay + air_time(ENHANCED_ACK)
    }
}
