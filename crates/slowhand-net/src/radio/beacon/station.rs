//! A sender in one cluster, and what it is doing.

use crate::address::NodeId;
use crate::clock::Instant;
use crate::random::Stream;

/// As what a node sends: as a child in its parent's active period, or as a coordinator in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Device,
    Coordinator,
}

/// One of the two ways in which a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationId {
    pub node: NodeId,
    pub role: Role,
}

/// The state of a sender in one cluster.
#[derive(Debug)]
pub struct Station {
    pub phase: Phase,
    /// What it is about, unless it is idle.
    pub task: Task,
    /// NB and BE of the standard.
    pub backoffs: u8,
    pub exponent: u8,
    /// CW of the standard: assessments that must still find the channel clear.
    pub window: u8,
    /// Back-off periods that were left when the active period ended.
    pub paused: Option<u64>,
    /// When the space after its last frame is over.
    pub ready: Instant,
    /// The last symbol of the frame that waits for its acknowledgement.
    pub sent_at: Instant,
    /// Whether the frame on the air says that more is to come.
    pub frame_pending: bool,
    /// The number of the data request, and its repetitions so far.
    pub request_sequence: u8,
    pub request_attempts: u8,
    /// Requests so far that led to waiting for data.
    pub requests: u32,
    pub random: Stream,
}

/// What a station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    Idle,
    /// It waits for the next superframe.
    Deferred,
    /// It backs off, assesses the channel, or is about to send.
    Contending,
    Sending,
    AwaitingAcknowledgement,
    /// The acknowledgement of its data request promised it a frame.
    AwaitingData,
}

impl Phase {
    /// Whether the radio of a child must stay on.
    pub fn is_under_way(self) -> bool {
        !matches!(self, Self::Idle | Self::Deferred)
    }
}

/// What a station has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A child's data request.
    Fetch,
    /// The oldest frame from a child to its parent.
    Up,
    /// The oldest frame from a coordinator to this child.
    Down(NodeId),
}

impl Station {
    /// A station with nothing to do.
    pub fn new(random: Stream) -> Self {
        Self {
            phase: Phase::Idle,
            task: Task::Up,
            backoffs: 0,
            exponent: 0,
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
