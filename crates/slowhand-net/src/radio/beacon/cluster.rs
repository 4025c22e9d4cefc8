//! A cluster: a coordinator and its children, who share the coordinator's superframes.

use super::config::BACKOFF_PERIOD;
use super::frame::MAX_PENDING_ADDRESSES;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};

/// A coordinator's superframes.
#[derive(Debug)]
pub struct Cluster {
    /// When the first begins, counted from the root's first.
    pub offset: Duration,
    /// Frames that wait to be sent in them, in either direction.
    pub waiting: usize,
    /// The superframe for whose beginning an event is in the queue.
    pub scheduled: Option<u64>,
    /// The last one whose beacon took an event, and the last of those whose beacon is over.
    pub beacon: Option<u64>,
    pub open: Option<u64>,
    /// Whom that beacon lists.
    pub listed: [NodeId; MAX_PENDING_ADDRESSES],
    pub listed_count: usize,
}

/// One superframe.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    pub number: u64,
    /// The first symbol of the beacon.
    pub begin: Instant,
    /// The end of the active period.
    pub end: Instant,
}

impl Active {
    /// The last symbol of a beacon that takes so long.
    pub fn beacon_over(&self, air_time: Duration) -> Instant {
        self.begin + air_time
    }

    /// The first boundary of a back-off period at or after an instant: they are counted from the beacon on (7.5.1.4).
    pub fn boundary(&self, at: Instant) -> Instant {
        let periods = at.since(self.begin).as_micros().div_ceil(BACKOFF_PERIOD.as_micros());
        self.begin + BACKOFF_PERIOD * periods
    }
}

impl Cluster {
    /// The superframes of a coordinator with which nothing waits.
    pub fn new(offset: Duration) -> Self {
        Self {
            offset,
            waiting: 0,
            scheduled: None,
            beacon: None,
            open: None,
            listed: [NodeId::ROOT; MAX_PENDING_ADDRESSES],
            listed_count: 0,
        }
    }

    /// Whom the beacon lists.
    pub fn listed(&self) -> &[NodeId] {
        &self.listed[..self.listed_count]
    }
}
