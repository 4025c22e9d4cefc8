//! The times within a timeslot (IEEE 802.15.4-2015, 6.2.6.3 and figure 6-30).

use super::frame::ENHANCED_ACK;
use crate::clock::{Duration, Instant};
use crate::radio::phy::{MAX_PSDU, SYNCHRONISATION_HEADER, air_time};

/// Which moment of a frame the offsets of a timeslot name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartOfFrame {
    /// The first symbol of the preamble. macTsTxOffset ends at "the start of frame transmission", and macTsMaxTx, the
    /// longest transmission from there, is 4256 us: 127 octets with preamble, SFD and length.
    #[default]
    FirstSymbol,
    /// The end of the start-of-frame delimiter, as in OpenWSN (`board_info.h`: `delayTx`, "between GO signal and SFD")
    /// and Contiki-NG (`tsch-timeslot-timing.c`: "start of frame TX (end of SFD)"). There a radio reports this moment.
    /// So the preamble is on the air before the offset, and a receiver waits for it 160 us less.
    Sfd,
}

/// A timeslot template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Length of a timeslot (macTsTimeslotLength).
    pub slot: Duration,
    /// From the start of the slot to the start of the data frame (macTsTxOffset).
    pub transmit_offset: Duration,
    /// A receiver waits for the frame this long before and after that moment (half of macTsRxWait; OpenWSN's TsLongGT).
    pub guard: Duration,
    /// From the end of the data frame to the start of the acknowledgement (macTsTxAckDelay).
    pub ack_delay: Duration,
    /// The sender waits for it this long before and after that moment (half of macTsAckWait; OpenWSN's TsShortGT).
    pub ack_guard: Duration,
    /// What the start of a frame is.
    pub start_of_frame: StartOfFrame,
}

impl Timing {
    /// Slots of 10 ms. Source: OpenWSN firmware, `IEEE802154E.h`, commit 7ee5f2033 (2021-11-09).
    pub const SLOT_10_MS: Self = Self {
        slot: Duration::from_micros(10_000),
        transmit_offset: Duration::from_micros(2_120),
        guard: Duration::from_micros(1_100),
        ack_delay: Duration::from_micros(1_000),
        ack_guard: Duration::from_micros(500),
        start_of_frame: StartOfFrame::FirstSymbol,
    };

    /// Slots of 20 ms, as on the OpenMote CC2538. Same source.
    pub const SLOT_20_MS: Self = Self {
        slot: Duration::from_micros(20_000),
        transmit_offset: Duration::from_micros(5_215),
        guard: Duration::from_micros(1_311),
        ack_delay: Duration::from_micros(5_521),
        ack_guard: Duration::from_micros(700),
        start_of_frame: StartOfFrame::FirstSymbol,
    };

    /// The absolute slot number (ASN) at an instant.
    pub const fn asn(&self, at: Instant) -> u64 {
        at.as_micros() / self.slot.as_micros()
    }

    /// The start of a slot.
    pub const fn start(&self, asn: u64) -> Instant {
        Instant::from_micros(asn * self.slot.as_micros())
    }

    /// From the first symbol of a frame to the moment that the offsets name.
    pub const fn lead(&self) -> Duration {
        match self.start_of_frame {
            StartOfFrame::FirstSymbol => Duration::ZERO,
            StartOfFrame::Sfd => SYNCHRONISATION_HEADER,
        }
    }

    /// When the first symbol of a data frame is sent in a slot that starts at `slot`.
    pub(super) fn first_symbol(&self, slot: Instant) -> Instant {
        slot + self.transmit_offset.saturating_sub(self.lead())
    }

    /// When the first symbol of the acknowledgement is sent, after a data frame that ends at `end`.
    pub(super) fn first_symbol_of_ack(&self, end: Instant) -> Instant {
        end + self.ack_delay.saturating_sub(self.lead())
    }

    /// When a radio that waits for a frame is switched on, `guard` before its start. It never misses the first symbol.
    pub(super) fn awaited_from(&self, first_symbol: Instant, guard: Duration) -> Instant {
        (first_symbol + self.lead() - guard).min(first_symbol)
    }

    /// When a radio stops waiting for a frame, `guard` after its start.
    pub(super) fn awaited_until(&self, first_symbol: Instant, guard: Duration) -> Instant {
        first_symbol + self.lead() + guard
    }

    /// The shortest slot that has room for the largest frame and its acknowledgement.
    pub fn shortest_slot(&self) -> Duration {
        let offsets = self.transmit_offset.saturating_sub(self.lead()) + self.ack_delay.saturating_sub(self.lead());
        offsets + air_time(MAX_PSDU) + air_time(ENHANCED_ACK)
    }
}
