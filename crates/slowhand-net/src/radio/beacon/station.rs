//! The state of a sender in one cluster.

use crate::address::NodeId;
use crate::clock::Instant;
use crate::radio::contention::Backoff;
use crate::random::Stream;

/// The role in which a node sends: as a child in its parent's active period, or as a coordinator in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Device,
    Coordinator,
}

/// A node in one of its two roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationId {
    pub node: NodeId,
    pub role: Role,
}

/// The state of a sender in one cluster.
#[derive(Debug)]
pub struct Station {
    pub phase: Phase,
    /// The present task. Not valid while idle.
    pub task: Task,
    /// NB and BE of the standard.
    pub backoff: Backoff,
    /// CW of the standard: assessments that must still find the channel clear.
    pub window: u8,
    /// Back-off periods that were left when the active period ended.
    pub paused: Option<u64>,
    /// The end of the interframe space after its last frame.
    pub ready: Instant,
    /// The last symbol of the frame that waits for its acknowledgement.
    pub sent_at: Instant,
    /// True if the frame pending field of the frame on the air is set.
    pub frame_pending: bool,
    /// The sequence number of the data request.
    pub request_sequence: u8,
    /// Attempts at the data request so far.
    pub request_attempts: u8,
    /// The number of data requests so far after which the station waited for data.
    pub requests: u32,
    pub random: Stream,
}

/// The phase of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has nothing to do.
    Idle,
    /// It waits for the next superframe.
    Deferred,
    /// It backs off, assesses the channel, or is about to send.
    Contending,
    Sending,
    AwaitingAcknowledgement,
    /// It waits for a frame after an acknowledgement with frame pending.
    AwaitingData,
}

impl Phase {
    /// True if the radio of a child must stay on.
    pub fn is_in_progress(self) -> bool {
        !matches!(self, Self::Idle | Self::Deferred)
    }
}

/// The task of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Send a child's data request.
    Fetch,
    /// Send the oldest frame of a child to its parent.
    Up,
    /// Send the oldest frame of a coordinator to this child.
    Down(NodeId),
}

impl Station {
    /// A station with nothing to do.
    pub fn new(random: Stream) -> Self {
        Self {
            phase: Phase::Idle,
            task: Task::Up,
            backoff: Backoff::default(),
            window: 0,
            paused: None,
            ready: Instant::ZERO,
            sent_at: Instant::ZERO,
            frame_pending: false,
            request_sequence: 0,
            request_attempts: 0,
            requests: 0,
            random,
        }
    }
}
