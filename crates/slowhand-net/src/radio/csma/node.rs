//! One node: what it does, the frames that it keeps, and the frames that its parent keeps for it.

use super::polls::Polls;
use super::radio::Radio;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::radio::NodeQueue;
use crate::radio::contention::{Backoff, Sequence};
use crate::radio::pool::FrameQueue;
use crate::random::Stream;
use std::collections::VecDeque;

/// The state of one node.
#[derive(Debug)]
pub struct CsmaNode {
    pub station: Station,
    pub radio: Radio,
    /// The polls of a sleepy device. `None` for a node that always listens.
    pub polls: Option<Box<Polls>>,
    /// Frames that it sends when the channel is clear: to its parent, and to children that always listen.
    pub direct: FrameQueue,
    /// Sleepy children that have asked for a frame, in the order of their polls.
    pub asked: VecDeque<NodeId>,
    /// Frames that its parent keeps for it while it sleeps.
    pub indirect: Indirect,
    /// The numbers of its frames to its parent.
    pub up: Sequence,
    /// The numbers of its parent's frames to it.
    pub down: Sequence,
    /// True if it has no key and no short address of the network yet.
    pub joins: bool,
    pub queue: NodeQueue,
}

/// What a node sends, and how far it is.
#[derive(Debug)]
pub struct Station {
    pub phase: Phase,
    /// The present task. Not valid while idle.
    pub task: Task,
    /// NB and BE of the standard.
    pub backoff: Backoff,
    /// Retransmissions so far.
    pub retries: u8,
    /// The exponent of the delay before the next of them, if the present transmission is not acknowledged.
    pub retry_exponent: u8,
    /// The end of the interframe space after its last frame, or of the delay before its retransmission.
    pub ready: Instant,
    /// The datagram of its frame on the air, and of the acknowledgement.
    pub datagram: DatagramId,
    /// The last symbol of the frame that waits for its acknowledgement.
    pub sent_at: Instant,
    /// True if frame pending is set: in the frame for a sleepy child, or in the acknowledgement of its own frame.
    pub frame_pending: bool,
    /// True if it has a frame to acknowledge.
    pub is_acknowledging: bool,
    /// The sequence number of the poll.
    pub poll_sequence: u8,
    /// Transmissions of the poll so far.
    pub poll_attempts: u8,
    /// The number of times that it has waited for an announced frame.
    pub waits: u32,
    pub random: Stream,
}

/// The phase of a node's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has nothing to do.
    Idle,
    /// It backs off, or assesses the channel.
    Contending,
    /// The channel is clear. The radio turns around to send.
    Turning,
    Sending,
    AwaitingAcknowledgement,
    /// It waits for a frame after an acknowledgement with frame pending.
    AwaitingData,
}

/// A task of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Send the oldest frame of its own queue.
    Direct,
    /// Ask the parent for a frame.
    Poll,
    /// Send the oldest frame for this child, which has asked for it.
    Answer(NodeId),
    /// Send the oldest frame for this child into a sample of the child.
    Sample(NodeId),
}

/// The frames that a parent keeps for a sleepy child, and what it knows of the child.
#[derive(Debug, Default)]
pub struct Indirect {
    pub queue: FrameQueue,
    /// The number of frames in `queue`.
    pub waiting: usize,
    /// True if the child has asked, and the parent has not answered yet.
    pub has_asked: bool,
    /// Answers in a row that the child has not acknowledged.
    pub failures: u8,
    /// The instant at which the event queue has the end of the oldest frame's time.
    pub expires_at: Option<Instant>,
    /// The child's samples, as its parent knows them.
    pub samples: Option<Known>,
}

/// What a parent knows of a CSL receiver.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The time of a sample, rounded down to the unit of phases.
    pub sample: Instant,
    /// When the parent has heard the child last.
    pub heard: Instant,
    /// Frames in a row that the child has not acknowledged.
    pub failures: u8,
    /// True if the event queue has the next sample.
    pub is_scheduled: bool,
}

impl CsmaNode {
    /// A node with nothing to send.
    pub fn new(radio: Radio, polls: Option<Polls>, limit: usize, random: Stream) -> Self {
        Self {
            station: Station::new(random),
            radio,
            polls: polls.map(Box::new),
            direct: FrameQueue::default(),
            asked: VecDeque::new(),
            indirect: Indirect::default(),
            up: Sequence::default(),
            down: Sequence::default(),
            joins: false,
            queue: NodeQueue::new(limit),
        }
    }

    /// True if it sleeps when it has nothing to do.
    pub fn is_sleepy(&self) -> bool {
        self.polls.is_some()
    }

    /// True if its radio must listen or is about to send.
    pub fn is_awake(&self) -> bool {
        let Station { phase, is_acknowledging, .. } = self.station;
        if self.radio.is_off {
            // It finishes an exchange that has begun.
            return is_acknowledging || matches!(phase, Phase::Sending | Phase::AwaitingAcknowledgement);
        }
        !self.is_sleepy() || is_acknowledging || !matches!(phase, Phase::Idle | Phase::Contending)
    }
}

impl Station {
    fn new(random: Stream) -> Self {
        Self {
            phase: Phase::Idle,
            task: Task::Direct,
            backoff: Backoff::default(),
            retries: 0,
            retry_exponent: 0,
            ready: Instant::ZERO,
            datagram: NO_DATAGRAM,
            sent_at: Instant::ZERO,
            frame_pending: false,
            is_acknowledging: false,
            poll_sequence: 0,
            poll_attempts: 0,
            waits: 0,
            random,
        }
    }
}
