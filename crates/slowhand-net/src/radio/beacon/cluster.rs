//! A cluster: a coordinator and its children, which share the coordinator's superframes.

use super::config::BACKOFF_PERIOD;
use super::frame::MAX_PENDING_ADDRESSES;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};

/// A coordinator's superframes.
#[derive(Debug)]
pub struct Cluster {
    /// The start of the first superframe, relative to the root's first.
    pub offset: Duration,
    /// The number of frames that wait in the cluster, in both directions.
    pub waiting: usize,
    /// The superframe whose start is in the event queue.
    pub scheduled: Option<u64>,
    /// The last superframe whose beacon was an event.
    pub beacon: Option<u64>,
    /// The last of these superframes whose beacon is over.
    pub open: Option<u64>,
    /// The children that this beacon lists.
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
    /// The first back-off period boundary at or after an instant. Back-off periods begin with the beacon (7.5.1.4).
    pub fn boundary(&self, at: Instant) -> Instant {
        let periods = at.since(self.begin).as_micros().div_ceil(BACKOFF_PERIOD.as_micros());
        self.begin + BACKOFF_PERIOD * periods
    }
}

impl Cluster {
    /// The superframes of a coordinator without waiting frames.
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

    /// The children that the beacon lists.
    pub fn listed(&self) -> &[NodeId] {
        &self.listed[..self.listed_count]
    }
}
