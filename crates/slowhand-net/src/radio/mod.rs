//! The radio: frames, links, and the medium access controls that share them.
//!
//! A [`Mac`] is one struct that holds the state of all its nodes. Three calls drive it: `enqueue` gives it a frame,
//! `deadline` tells when it wants to be called next, and `handle_deadline` does everything that is due.

pub mod beacon;
mod contention;
pub mod csma;
pub mod frame;
pub mod medium;
mod meter;
pub mod phy;
mod pool;
mod processor;
mod queue;
pub mod security;
mod sequence;
pub mod sixtop;
pub mod tsch;
pub mod xmac;

use crate::address::{Addressing, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioTimes, RadioWork, Slots};
pub use contention::{PanError, TURNAROUND};
use phy::MAX_PSDU;
pub use processor::Processor;
pub use queue::NodeQueue;
pub use sequence::Sequence;
use std::any::Any;
use std::fmt::Debug;

/// A medium access control, with the state of all nodes of its network.
pub trait Mac: Any + Debug + Send {
    /// Gives a node the payload of a frame to send to a neighbour. The MAC treats all frames alike.
    ///
    /// # Errors
    /// [`DropReason::QueueFull`]; [`DropReason::NoCell`] if the node cannot send to that neighbour;
    /// [`DropReason::Malformed`] if the payload is longer than the [`payload_capacity`](Self::payload_capacity).
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason>;

    /// The most octets of payload in one frame from a node to a neighbour.
    fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize;

    /// The addresses in its frames. Header compression leaves out what follows from them.
    fn addressing(&self) -> Addressing {
        Addressing::Extended
    }

    /// The instant of the next event. `None` if nothing is planned.
    fn deadline(&self) -> Option<Instant>;

    /// Does everything that is due at `now`, which is the [`deadline`](Self::deadline). Adds to `indications` what the
    /// layer above must know.
    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer);

    /// An upper bound on the time that `frames` frames take from a node to a neighbour, if each arrives at the first
    /// attempt and no other frames wait. A node can compute this from its schedule.
    fn sending_time(&self, node: NodeId, next_hop: NodeId, frames: u64) -> Duration;

    /// The number of frames that wait at a node, and its processor.
    fn queue(&self, node: NodeId) -> &NodeQueue;

    /// The queue of a node, to change it.
    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue;

    /// Gives a node a queue of another length than the configuration says. Before the first frame.
    fn set_queue(&mut self, node: NodeId, frames: usize) {
        self.queue_mut(node).set_limit(frames);
    }

    /// These nodes have no key and no short address of the network yet: their frames, and those for them, have extended
    /// addresses and no security. Before the first frame. A MAC that cannot do this ignores it.
    fn set_joiners(&mut self, _joiners: &[NodeId]) {}

    /// The links between the nodes, to change how well they work. `None` if the MAC has none.
    fn links_mut(&mut self) -> Option<&mut Links> {
        None
    }

    /// Switches a node's radio off or on. While it is off, the node hears nothing and sends nothing, and its frames
    /// wait in its queue. A slot that has begun is finished. Returns false if the MAC cannot do this.
    fn switch_radio(&mut self, _now: Instant, _node: NodeId, _on: bool) -> bool {
        false
    }

    /// The time that a node's radio has been in each state since the start of the simulation.
    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes;

    /// The other work of its radio since then.
    fn radio_work(&self, _node: NodeId, _now: Instant) -> RadioWork {
        RadioWork::default()
    }

    /// The frames of the link layer itself that a node's processor has handled without an event, such as beacons.
    fn regular_frames(&self, _node: NodeId, _now: Instant) -> u64 {
        0
    }

    /// The slots in which its radio has been on since then. `None` if the MAC has no slots.
    fn slots(&self, _node: NodeId, _now: Instant) -> Option<Slots> {
        None
    }

    /// The time that the MAC has kept a node's processor busy since the start of the simulation, in addition to handling
    /// frames. Zero unless the MAC waits actively.
    fn processor_time(&self, _node: NodeId) -> Duration {
        Duration::ZERO
    }

    /// Shows the observer the part of the radios' timelines before `now` that it has not seen yet. A MAC that reports
    /// every interval when it ends has nothing to do here.
    fn report_radios(&mut self, _now: Instant, _observer: &mut dyn Observer) {}

    /// A node is about to exchange many frames with the root, for example in a handshake. A MAC may prepare for it.
    fn begin_burst(&mut self, _now: Instant, _node: NodeId) {}

    /// The exchange announced by [`begin_burst`](Self::begin_burst) is over.
    fn end_burst(&mut self, _now: Instant, _node: NodeId) {}
}

/// The payload of one frame that the layer above gives to a MAC: a MAC service data unit.
#[derive(Clone, Copy, Debug)]
pub struct Msdu<'a> {
    /// The sender.
    pub node: NodeId,
    /// The neighbour for which it is.
    pub next_hop: NodeId,
    /// The octets.
    pub payload: &'a [u8],
    /// The datagram that it belongs to.
    pub datagram: DatagramId,
    /// The MAC gives it back with [`Indication::Received`].
    pub discard: bool,
}

impl<'a> Msdu<'a> {
    /// A payload that the layer above of its receiver does not discard.
    pub const fn new(node: NodeId, next_hop: NodeId, payload: &'a [u8], datagram: DatagramId) -> Self {
        Self { node, next_hop, payload, datagram, discard: false }
    }
}

/// The messages of a MAC to the layer above.
#[derive(Clone, Debug)]
pub enum Indication {
    /// A frame's payload arrived.
    Received {
        /// The receiver.
        node: NodeId,
        /// The neighbour that sent it.
        from: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
        /// The payload.
        payload: Payload,
        /// True if the layer above discards the payload: the scenario asks for its loss.
        discard: bool,
        /// When the node's processor has handled the frame: the layer above gets the payload then.
        handled_at: Instant,
    },
    /// A node has heard a beacon. Only a network that [forms](tsch::Tsch::forming) tells it.
    Beacon {
        /// The node, synchronised or not.
        node: NodeId,
        /// The neighbour that sent it.
        from: NodeId,
        /// The join metric: the smaller, the nearer the root.
        join_metric: u8,
    },
    /// A node has received a frame for all. Only a network that forms tells it.
    Multicast {
        /// The receiver.
        node: NodeId,
        /// The neighbour that sent it.
        from: NodeId,
        /// The payload.
        payload: Payload,
    },
    /// A frame was lost after it was sent, and its sender does not know it.
    Lost {
        /// The receiver.
        node: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
        /// The reason.
        reason: DropReason,
    },
    /// A frame was acknowledged, or sent if it asks for no acknowledgement.
    Sent {
        /// The sender.
        node: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
    },
    /// The sender gave up a frame.
    Dropped {
        /// The sender.
        node: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
        /// The reason.
        reason: DropReason,
    },
}

/// The payload of one frame, by value: a MAC's buffers are free again once it has indicated a frame.
#[derive(Clone, Debug)]
pub struct Payload {
    octets: [u8; MAX_PSDU],
    length: u8,
}

impl Payload {
    /// A copy of `octets`, cut to the length of the longest frame.
    pub fn new(octets: &[u8]) -> Self {
        let mut copy = [0; MAX_PSDU];
        let length = octets.len().min(MAX_PSDU);
        copy[..length].copy_from_slice(&octets[..length]);
        Self { octets: copy, length: length as u8 }
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}
