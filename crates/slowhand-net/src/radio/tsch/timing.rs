//! The times within a timeslot (IEEE 802.15.4-2015, 6.2.6.3 and figure 6-30).

use crate::clock::{Duration, Instant};
use crate::radio::phy::{MAX_PSDU, SYNCHRONISATION_HEADER, air_time};

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
    /// The guard times lie around the moment this long after the first symbol: zero, or see [`to_sfd`](Self::to_sfd).
    pub lead: Duration,
}

/// When a frame and its acknowledgement are on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AirTimes {
    pub(super) start: Instant,
    pub(super) end: Instant,
    pub(super) ack_start: Instant,
    pub(super) ack_end: Instant,
}

impl Timing {
    /// Slots of 10 ms. Source: OpenWSN firmware, `IEEE802154E.h`, commit 7ee5f2033 (2021-11-09).
    pub const SLOT_10_MS: Self = Self {
        slot: Duration::from_micros(10_000),
        transmit_offset: Duration::from_micros(2_120),
        guard: Duration::from_micros(1_100),
        ack_delay: Duration::from_micros(1_000),
        ack_guard: Duration::from_micros(500),
        lead: Duration::ZERO,
    };

    /// Slots of 20 ms, as on the OpenMote CC2538. Same source.
    pub const SLOT_20_MS: Self = Self {
        slot: Duration::from_micros(20_000),
        transmit_offset: Duration::from_micros(5_215),
        guard: Duration::from_micros(1_311),
        ack_delay: Duration::from_micros(5_521),
        ack_guard: Duration::from_micros(700),
        lead: Duration::ZERO,
    };

    /// The absolute slot number (ASN) at an instant.
    pub const fn asn(&self, at: Instant) -> u64 {
        at.as_micros() / self.slot.as_micros()
    }

    /// The first slot that begins at an instant or later.
    pub const fn asn_from(&self, at: Instant) -> u64 {
        at.as_micros().div_ceil(self.slot.as_micros())
    }

    /// The start of a slot.
    pub const fn start(&self, asn: u64) -> Instant {
        Instant::from_micros(asn * self.slot.as_micros())
    }

    /// The timeslot whose offsets have the same values but end with the start-of-frame delimiter (SFD) of each frame,
    /// as in OpenWSN (`board_info.h`: `delayTx`, "between GO signal and SFD") and Contiki-NG (`tsch-timeslot-timing.c`:
    /// "start of frame TX (end of SFD)"). There a radio reports this moment. So the preamble is on the air before the
    /// offset, and a receiver waits for it 160 us less.
    ///
    /// In the standard macTsTxOffset ends at "the start of frame transmission", and macTsMaxTx, the longest
    /// transmission from there, is 4256 us: 127 octets with preamble, SFD and length. So it ends before the preamble.
    pub fn to_sfd(self) -> Self {
        let lead = SYNCHRONISATION_HEADER;
        Self {
            transmit_offset: self.transmit_offset.saturating_sub(lead),
            ack_delay: self.ack_delay.saturating_sub(lead),
            lead,
            ..self
        }
    }

    /// A frame and an acknowledgement of these lengths, in the slot that begins at `slot`.
    pub(super) fn on_air(&self, slot: Instant, frame: Duration, ack: Duration) -> AirTimes {
        let start = slot + self.transmit_offset;
        let end = start + frame;
        let ack_start = end + self.ack_delay;
        AirTimes { start, end, ack_start, ack_end: ack_start + ack }
    }

    /// When a radio that waits for a frame is switched on, `guard` before its start. It never misses the first symbol.
    pub(super) fn awaited_from(&self, first_symbol: Instant, guard: Duration) -> Instant {
        first_symbol - guard.saturating_sub(self.lead)
    }

    /// When a radio stops waiting for a frame, `guard` after its start.
    pub(super) fn awaited_until(&self, first_symbol: Instant, guard: Duration) -> Instant {
        first_symbol + self.lead + guard
    }

    /// The shortest slot that has room for the largest frame and its acknowledgement of `ack` octets, FCS included.
    pub fn shortest_slot(&self, ack: usize) -> Duration {
        self.transmit_offset + air_time(MAX_PSDU) + self.ack_delay + air_time(ack)
    }
}
