//! The constants of a beacon-enabled PAN, and their limits.
//!
//! Sections and tables are those of IEEE 802.15.4-2006, which has the most complete description of this mode. The
//! editions of 2011 and 2015 kept the mode.

use super::frame::{MAX_PENDING_ADDRESSES, beacon_octets};
use crate::address::{Addressing, NodeId};
use crate::clock::Duration;
use crate::radio::contention::{Form, Kind, PanError, symbols};
use crate::radio::frame::Security;
use crate::radio::phy::{MAX_PSDU, air_time};

pub use crate::radio::contention::{ACK_WAIT, BACKOFF_PERIOD, LIFS, TURNAROUND, interframe_space};

/// aBaseSuperframeDuration: 16 slots of 60 symbols, 15.36 ms (table 85).
pub const BASE_SUPERFRAME: Duration = symbols(960);

/// aMinCAPLength: 440 symbols (table 85).
pub const MIN_CAP: Duration = symbols(440);

/// Clear channel assessments before a frame (CW, 7.5.1.4).
pub const CONTENTION_WINDOW: u8 = 2;

/// The beacon interval and the active period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superframe {
    /// From one beacon of a coordinator to its next.
    pub interval: Duration,
    /// From the first symbol of the beacon to the end of the contention access period. There are no guaranteed time
    /// slots, so the contention access period is the whole active period.
    pub cap: Duration,
}

impl Superframe {
    /// The superframe with these orders. The interval is 15.36 ms times 2^BO, the active period 15.36 ms times 2^SO
    /// (7.5.1.1).
    ///
    /// # Errors
    /// [`BeaconConfigError::Orders`] unless `superframe_order <= beacon_order <= 14`.
    pub fn of_orders(beacon_order: u8, superframe_order: u8) -> Result<Self, BeaconConfigError> {
        if superframe_order > beacon_order || beacon_order > 14 {
            return Err(BeaconConfigError::Orders { beacon_order, superframe_order });
        }
        Ok(Self { interval: BASE_SUPERFRAME * (1 << beacon_order), cap: BASE_SUPERFRAME * (1 << superframe_order) })
    }

    /// The orders that a beacon announces. They are exact for the superframes of the standard, and rounded up for all
    /// others.
    pub fn orders(self) -> (u8, u8) {
        let order = |span: Duration| (0..14).find(|&order| BASE_SUPERFRAME * (1 << order) >= span).unwrap_or(14);
        (order(self.interval), order(self.cap))
    }
}

/// The way of frames from a coordinator to its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Downward {
    /// The beacon lists the children for which frames wait, and the child requests its frame (IEEE 802.15.4-2006,
    /// 7.5.6.3).
    #[default]
    Indirect,
    /// The coordinator contends for the channel like its children. They must listen (`rx_on_when_idle`). Not in the
    /// standard.
    // Small stacks send directly: it saves the data requests, and an answer can be sent in the active period of the question.
    Direct,
}

/// The constants of a beacon-enabled PAN.
#[derive(Clone, Debug)]
pub struct BeaconConfig {
    /// The beacon interval and the active period, the same for all coordinators.
    pub superframe: Superframe,
    /// The channel, 11..=26.
    pub channel: u8,
    /// Smallest and largest back-off exponent (macMinBE, macMaxBE).
    pub backoff_exponents: (u8, u8),
    /// The most back-offs after a busy channel before the frame is given up (macMaxCSMABackoffs).
    pub max_csma_backoffs: u8,
    /// The most retransmissions of a frame without acknowledgement (macMaxFrameRetries).
    pub max_retries: u8,
    /// The number of beacon intervals for which a coordinator keeps a frame that its child does not ask for
    /// (macTransactionPersistenceTime).
    pub transaction_persistence: u16,
    /// The transmission of frames to the children.
    pub downward: Downward,
    /// True if a child listens during the whole active period of its parent (macRxOnWhenIdle). If false, it switches
    /// off after the beacon. If it has a frame to send or fetch, it switches off when that is done or deferred.
    pub rx_on_when_idle: bool,
    /// True if a station may contend for a frame in the same active period in which the frame was enqueued. The
    /// standard allows it. A node whose upper layers run only while its radio is off cannot do it. (This does not
    /// concern frames that children ask for.)
    pub late_frames: bool,
    /// Receivers switch on this long before a beacon.
    pub guard: Duration,
    /// The security of beacons, data frames and data requests. `None`: none. It carries a frame counter.
    pub security: Option<Security>,
    /// The most frames in a node's queue, those for its parent and its children together.
    pub queue: usize,
    /// True if the observer sees the beacons of superframes in which nothing else happens. This costs two events for
    /// each beacon. The beacons are sent, received and accounted in any case. The only other effect is on the order of
    /// clusters that act at the same instant and do not hear each other.
    pub trace_idle_beacons: bool,
}

impl BeaconConfig {
    /// The defaults of the standard.
    ///
    /// Exponents 3..5, 4 back-offs, 3 retries, 500 intervals of persistence, receiver off when idle: table 86.
    /// Channel 26: assumed (clear of IEEE 802.11). Queue 8: assumed. Guard 320 us: assumed; it is the drift
    /// between two crystals of 40 ppm, the standard's limit (6.9.4), in 3.93 s, the longest interval that Vučinić et
    /// al. (2015) measure.
    pub const fn standard(superframe: Superframe) -> Self {
        Self {
            superframe,
            channel: 26,
            backoff_exponents: (3, 5),
            max_csma_backoffs: 4,
            max_retries: 3,
            transaction_persistence: 500,
            downward: Downward::Indirect,
            rx_on_when_idle: false,
            late_frames: true,
            guard: Duration::from_micros(320),
            security: None,
            queue: 8,
            trace_idle_beacons: false,
        }
    }

    /// The form of data frames and data requests.
    pub(super) const fn form(&self) -> Form {
        Form { addressing: Addressing::Extended, kind: Kind::Plain, security: self.security }
    }

    /// Air time of a beacon that lists no address.
    pub const fn idle_beacon(&self) -> Duration {
        air_time(beacon_octets(0, self.security))
    }

    /// The time that a child waits for a frame after an acknowledgement with frame pending (macMaxFrameTotalWaitTime,
    /// 7.4.2).
    pub fn max_frame_total_wait(&self) -> Duration {
        let (min, max) = self.backoff_exponents;
        let growing = (max - min).min(self.max_csma_backoffs);
        let windows: u64 = (0..growing).map(|step| 1 << (min + step)).sum();
        let full = ((1 << max) - 1) * u64::from(self.max_csma_backoffs - growing);
        BACKOFF_PERIOD * (windows + full) + air_time(MAX_PSDU)
    }

    /// The number of longest frames that one station can exchange in an active period, with back-offs of mean length
    /// and without contention. At least one.
    pub(super) fn frames_per_superframe(&self) -> u64 {
        let contention = BACKOFF_PERIOD * ((1 << self.backoff_exponents.0) / 2 + u64::from(CONTENTION_WINDOW));
        let frame = contention + self.longest_exchange();
        (self.superframe.cap.as_micros() / frame.as_micros()).max(1)
    }

    /// Checks the constants, independent of the network.
    ///
    /// # Errors
    /// The variant of [`BeaconConfigError`] for the invalid field.
    pub(super) fn check(&self) -> Result<(), BeaconConfigError> {
        let Superframe { interval, cap } = self.superframe;
        PanError::check(self.channel, self.backoff_exponents)?;
        let shortest = self.shortest_cap();
        if cap < shortest {
            return Err(BeaconConfigError::ActivePeriodTooShort { cap, shortest });
        }
        if cap > interval {
            return Err(BeaconConfigError::ActivePeriodTooLong { cap, interval });
        }
        if self.downward == Downward::Direct && !self.rx_on_when_idle {
            return Err(BeaconConfigError::NobodyListens);
        }
        Ok(())
    }

    /// The shortest active period in which the longest frame can be exchanged after the longest beacon. With indirect
    /// transmission, this includes the data request.
    fn shortest_cap(&self) -> Duration {
        let beacon = air_time(beacon_octets(MAX_PENDING_ADDRESSES, self.security)) + LIFS + BACKOFF_PERIOD;
        let contention = BACKOFF_PERIOD * u64::from(CONTENTION_WINDOW);
        (beacon + contention + self.longest_exchange()).max(MIN_CAP)
    }

    /// The time that the longest frame takes: its data request with indirect transmission, the frame, the acknowledgements, and the
    /// interframe space.
    fn longest_exchange(&self) -> Duration {
        let acknowledged = |psdu| air_time(psdu) + TURNAROUND + BACKOFF_PERIOD + air_time(self.form().ack_octets());
        let request = match self.downward {
            Downward::Indirect => acknowledged(self.form().data_request_octets()) + TURNAROUND + BACKOFF_PERIOD,
            Downward::Direct => Duration::ZERO,
        };
        request + acknowledged(MAX_PSDU) + LIFS
    }
}

/// The reason why a beacon-enabled PAN cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BeaconConfigError {
    /// Orders that the standard does not allow.
    #[error(
        "beacon order {beacon_order} and superframe order {superframe_order}: \
         the superframe order must not exceed the beacon order, and the beacon order must not exceed 14"
    )]
    Orders {
        /// BO.
        beacon_order: u8,
        /// SO.
        superframe_order: u8,
    },
    /// A constant of CSMA/CA, or the tree.
    #[error(transparent)]
    Pan(#[from] PanError),
    /// The active period is too short for one frame.
    #[error("an active period of {cap} is too short to exchange a frame; it must last at least {shortest}")]
    ActivePeriodTooShort {
        /// The active period.
        cap: Duration,
        /// The shortest that works.
        shortest: Duration,
    },
    /// The active period does not end before the next beacon.
    #[error("an active period of {cap} is longer than the beacon interval of {interval}")]
    ActivePeriodTooLong {
        /// The active period.
        cap: Duration,
        /// The beacon interval.
        interval: Duration,
    },
    /// Direct transmission to children that do not listen.
    #[error("direct downward frames need children that listen: set rx_on_when_idle, or use indirect transmission")]
    NobodyListens,
    /// The active periods do not fit into the beacon interval.
    #[error(
        "no time is left for the active period of coordinator {coordinator}: {room} fit into the beacon interval, \
         and clusters that hear each other need one each; lengthen the interval or shorten the active period"
    )]
    NoRoom {
        /// The coordinator for which no time is left.
        coordinator: NodeId,
        /// The number of active periods that fit into an interval.
        room: u64,
    },
}

#[cfg(test)]
mod tests;
