//! The radio: frames, links, and the medium access controls that share them.
//!
//! A [`Mac`] is one struct that holds the state of all its nodes. It is driven by three calls: `enqueue` gives it
//! a frame, `deadline` asks when it wants to be called, `handle_deadline` lets everything happen that is due.

pub mod beacon;
pub mod frame;
pub mod medium;
pub mod phy;
mod pool;
pub mod sixtop;
pub mod tsch;
pub mod xmac;

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::observer::{Observer, RadioTimes};
use phy::MAX_PSDU;
use std::any::Any;
use std::fmt::Debug;

/// A medium access control, with the state of all nodes of its network.
pub trait Mac: Any + Debug + Send {
    /// Gives `node` the payload of a frame to send to a neighbour.
    ///
    /// # Errors
    /// [`DropReason::QueueFull`]; [`DropReason::NoCell`] where nothing leads to that neighbour;
    /// [`DropReason::Malformed`] where the payload is longer than the [`payload_capacity`](Self::payload_capacity).
    fn enqueue(
        &mut self,
        now: Instant,
        node: NodeId,
        next_hop: NodeId,
        payload: &[u8],
        datagram: DatagramId,
    ) -> Result<(), DropReason>;

    /// How many octets the layer above may put into one frame from a node to a neighbour.
    fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize;

    /// When something happens next.
    fn deadline(&self) -> Option<Instant>;

    /// Lets happen what is due at `now`, which is the [`deadline`](Self::deadline), and adds to `indications`
    /// what the layer above has to know of.
    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer);

    /// How long `frames` frames take from a node to a neighbour at most where each arrives at the first attempt and
    /// no others are in their way: what a node can tell from its schedule.
    fn sending_time(&self, node: NodeId, next_hop: NodeId, frames: u64) -> Duration;

    /// How many frames wait at a node.
    fn queued(&self, node: NodeId) -> usize;

    /// How many frames of the layer above can wait at a node.
    fn queue_limit(&self) -> usize;

    /// How many frames have waited at a node at most.
    fn queue_peak(&self, node: NodeId) -> usize;

    /// How long a node's radio has been in each state since the world began.
    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes;

    /// How long the MAC has kept a node's processor busy since the world began, beyond handling frames; nothing unless
    /// it waits actively.
    fn processor_time(&self, _node: NodeId) -> Duration {
        Duration::ZERO
    }

    /// Shows the observer what of the radios' timelines before `now` it has not seen yet. A MAC that reports every
    /// interval as it ends has nothing to do here.
    fn report_radios(&mut self, _now: Instant, _observer: &mut dyn Observer) {}

    /// A node is about to exchange much with the root, as for a handshake: a MAC that can prepare for it does.
    fn begin_burst(&mut self, _now: Instant, _node: NodeId) {}

    /// The exchange announced by [`begin_burst`](Self::begin_burst) is over.
    fn end_burst(&mut self, _now: Instant, _node: NodeId) {}
}

/// What a MAC tells the layer above.
#[derive(Clone, Debug)]
pub enum Indication {
    /// A frame's payload arrived.
    Received {
        /// Where it arrived.
        node: NodeId,
        /// Which neighbour sent it.
        from: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
        /// The payload.
        payload: Payload,
    },
    /// A frame was acknowledged, or sent where no acknowledgement is asked for.
    Sent {
        /// Who sent it.
        node: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
    },
    /// A frame was given up.
    Dropped {
        /// Who gave it up.
        node: NodeId,
        /// The datagram it belongs to.
        datagram: DatagramId,
        /// Why.
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
    /// A copy of `octets`; of those that no frame could carry, none is kept.
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
