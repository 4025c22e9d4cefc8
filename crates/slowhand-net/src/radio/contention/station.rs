//! The steps of a node in an exchange of frames, and its progress.

use super::Backoff;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::random::Stream;

/// The role in which a node sends: as a child of its parent, or as the coordinator of its children. Where a node contends
/// for one channel access at a time, it does all as a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Device,
    Coordinator,
}

/// A node in one of its roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationId {
    pub node: NodeId,
    pub role: Role,
}

impl StationId {
    pub const fn device(node: NodeId) -> Self {
        Self { node, role: Role::Device }
    }

    pub const fn coordinator(node: NodeId) -> Self {
        Self { node, role: Role::Coordinator }
    }
}

/// The state of a sender.
#[derive(Debug)]
pub struct Station<S> {
    pub phase: Phase,
    /// The present task. Not valid while idle.
    pub task: Task,
    /// NB and BE of the standard.
    pub backoff: Backoff,
    /// The end of the interframe space after its last frame, or of the delay before its retransmission.
    pub ready: Instant,
    /// The datagram of its frame on the air, and of the acknowledgement.
    pub datagram: DatagramId,
    /// The last symbol of the frame that waits for its acknowledgement.
    pub sent_at: Instant,
    /// True if frame pending is set: in the frame for a child, or in the acknowledgement of its own frame.
    pub frame_pending: bool,
    /// The sequence number of the data request.
    pub request_sequence: u8,
    /// Transmissions of the data request so far.
    pub request_attempts: u8,
    /// The number of times that it has waited for an announced frame.
    pub waits: u32,
    pub random: Stream,
    /// The state that only this MAC has.
    pub mac: S,
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
    /// The channel is clear. The radio turns around to send, and cannot receive.
    Turning,
    Sending,
    AwaitingAcknowledgement,
    /// It waits for a frame after an acknowledgement with frame pending.
    AwaitingData,
}

/// The task of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Ask the parent for a frame.
    Request,
    /// Send the oldest frame of its own queue.
    Own,
    /// Send the oldest frame that it keeps for this child.
    Kept(NodeId),
}

impl<S> Station<S> {
    /// A station with nothing to do.
    pub fn new(random: Stream, mac: S) -> Self {
        Self {
            phase: Phase::Idle,
            task: Task::Own,
            backoff: Backoff::default(),
            ready: Instant::ZERO,
            datagram: NO_DATAGRAM,
            sent_at: Instant::ZERO,
            frame_pending: false,
            request_sequence: 0,
            request_attempts: 0,
            waits: 0,
            random,
            mac,
        }
    }
}
