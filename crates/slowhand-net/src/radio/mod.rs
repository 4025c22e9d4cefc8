//! The radio: frames, links, and the medium access controls that share them.
//!
//! A [`Mac`] is one struct that holds the state of all its nodes. It is driven by three calls: `enqueue` gives it
//! a frame, `deadline` asks when it wants to be called, `handle_deadline` lets everything happen that is due.

pub mod beacon;
pub mod frame;
pub mod link;
pub mod medium;
pub mod phy;
mod pool;
pub mod sixtop;
pub mod tsch;
pub mod xmac;

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use phy::MAX_PSDU;
use std::any::Any;
use std::fmt::Debug;

/// The datagram a frame carries a part of: a number that the sender of the datagram chose.
/// It travels beside the octets, not in them.
pub type DatagramId = u32;

/// What carries no part of a datagram, such as the frames by which nodes agree on their schedule.
pub const NO_DATAGRAM: DatagramId = DatagramId::MAX;

/// The first of the numbers that the border router gives to what it sends itself. All who send datagrams keep to
/// numbers below it.
pub const GATEWAY_DATAGRAMS: DatagramId = 1 << 31;

/// Whether a datagram is one that the border router sent itself.
pub const fn is_of_gateway(datagram: DatagramId) -> bool {
    datagram >= GATEWAY_DATAGRAMS && datagram != NO_DATAGRAM
}

/// Why something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue of the MAC was full.
    QueueFull,
    /// The frame was sent as often as allowed and never acknowledged.
    RetriesExhausted,
    /// No cell of the schedule leads to the next hop.
    NoCell,
    /// The channel was busy whenever the node wanted to send (CSMA/CA).
    ChannelAccessFailure,
    /// The addressee did not ask for the frame for too long (indirect transmission).
    TransactionExpired,
    /// A frame that nobody acknowledges did not arrive, and nobody below the session noticed.
    Unnoticed,
    /// The scenario dropped the fragment (`lowpan.fragment_loss`).
    InjectedLoss,
    /// All reassembly buffers were taken.
    ReassemblyFull,
    /// The datagram was longer than a reassembly buffer, or than its fragments can count.
    ReassemblyTooLong,
    /// A fragment was missing when the reassembly timer fired.
    ReassemblyTimeout,
    /// Fragments are forwarded one by one, and every virtual reassembly buffer was taken.
    ForwardingFull,
    /// Fragments are forwarded one by one, and not all came through before the node forgot where they go.
    ForwardingTimeout,
    /// Fragments are forwarded one by one, and this one came without the first, which says where they go.
    FirstFragmentMissing,
    /// The compressed header grew on its way, and its fragment did not fit a frame any more.
    NoSlack,
    /// Fragments are recovered, and one was sent as often as allowed and never acknowledged, or a node had no room.
    RecoveryFailed,
    /// The received octets were no valid 6LoWPAN.
    Malformed,
    /// No node of the mesh has the destination's address.
    NoRoute,
    /// The IPv6 hop limit was used up.
    HopLimit,
    /// The Internet between border router and server lost the datagram.
    Internet,
    /// The border router held it back, because it repeated a flight whose first copy was on its way.
    Suppressed,
}

impl DropReason {
    /// The reason as records and messages name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::RetriesExhausted => "retries_exhausted",
            Self::NoCell => "no_cell",
            Self::ChannelAccessFailure => "channel_access_failure",
            Self::TransactionExpired => "transaction_expired",
            Self::Unnoticed => "unnoticed",
            Self::InjectedLoss => "injected_loss",
            Self::ReassemblyFull => "reassembly_full",
            Self::ReassemblyTooLong => "reassembly_too_long",
            Self::ReassemblyTimeout => "reassembly_timeout",
            Self::ForwardingFull => "forwarding_full",
            Self::ForwardingTimeout => "forwarding_timeout",
            Self::FirstFragmentMissing => "first_fragment_missing",
            Self::NoSlack => "no_slack",
            Self::RecoveryFailed => "recovery_failed",
            Self::Malformed => "malformed",
            Self::NoRoute => "no_route",
            Self::HopLimit => "hop_limit",
            Self::Internet => "internet",
            Self::Suppressed => "suppressed",
        }
    }
}

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

/// What a frame on the air is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FrameKind {
    /// A data frame.
    Data,
    /// A link-layer acknowledgement.
    Ack,
    /// A message of the 6top protocol (RFC 8480): neighbours negotiate the cells they share.
    SixTop,
    /// A beacon.
    Beacon,
    /// A data request command: a child asks its parent for what waits there.
    DataRequest,
    /// A strobe of a preamble-sampling MAC: it asks its addressee to stay awake.
    Strobe,
    /// The answer to a strobe: its sender is awake.
    StrobeAck,
}

/// One frame on the air, as an omniscient sniffer sees it: also those that nobody received.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// When its first symbol is sent.
    pub at: Instant,
    /// The absolute slot number, under TSCH.
    pub asn: Option<u64>,
    /// The physical channel, 11..=26.
    pub channel: u8,
    /// What it is for.
    pub kind: FrameKind,
    /// Who sends it.
    pub from: NodeId,
    /// To whom it is addressed.
    pub to: NodeId,
    /// The datagram it carries a part of, or acknowledges a part of; else [`NO_DATAGRAM`].
    pub datagram: DatagramId,
    /// Which attempt at this frame it is; the first is 0.
    pub attempt: u8,
    /// Whether the addressee received it.
    pub received: bool,
    /// The frame without its FCS (see [`frame::fcs`]).
    pub octets: &'a [u8],
}

impl Transmission<'_> {
    /// Octets of the PSDU, FCS included.
    pub fn psdu(&self) -> usize {
        self.octets.len() + frame::FCS
    }
}

/// Watches the air. Every method does nothing unless it is overridden.
pub trait Observer {
    /// A frame is sent.
    fn transmission(&mut self, _transmission: &Transmission<'_>) {}

    /// Whether [`radio`](Self::radio) is to be called. No MAC keeps a timeline that nobody watches.
    fn watches_radios(&self) -> bool {
        false
    }

    /// Whether [`buffers`](Self::buffers) is to be called.
    fn watches_buffers(&self) -> bool {
        false
    }

    /// What is in a node's buffers has changed. The changes come in order of time; of several at one node at one instant
    /// the last counts.
    fn buffers(&mut self, _level: &BufferLevel) {}

    /// A node's radio was in a state. The intervals of a node come in order and do not overlap; between them its
    /// radio was off. Listening for frames that did not come may be reported late, at last by
    /// [`Mac::report_radios`].
    fn radio(&mut self, _interval: &RadioInterval) {}
}

/// Watches nothing.
impl Observer for () {}

/// What a radio that is on does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RadioState {
    /// It sends.
    Transmit,
    /// It receives a frame.
    Receive,
    /// It listens for a frame that is not (or not yet) there.
    Listen,
}

impl RadioState {
    /// The state as timelines name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transmit => "transmit",
            Self::Receive => "receive",
            Self::Listen => "listen",
        }
    }
}

/// A span of a node's radio timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioInterval {
    /// Whose radio.
    pub node: NodeId,
    /// What it did.
    pub state: RadioState,
    /// From when ...
    pub from: Instant,
    /// ... to when.
    pub to: Instant,
}

/// What is in a node's buffers from an instant on, until that changes again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferLevel {
    /// From when.
    pub at: Instant,
    /// Whose buffers.
    pub node: NodeId,
    /// Frames that wait in the queue of the MAC, its own included.
    pub queued: usize,
    /// Fragments in reassembly.
    pub fragments: usize,
    /// Octets in them.
    pub octets: usize,
    /// Virtual reassembly buffers taken (RFC 8930, RFC 8931).
    pub forwarding: usize,
}

/// How long a node's radio was in each state. The four add up to the time that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioTimes {
    /// Sending.
    pub transmit: Duration,
    /// Receiving a frame.
    pub receive: Duration,
    /// Switched on for a frame that is not (or not yet) there.
    pub listen: Duration,
    /// Switched off.
    pub sleep: Duration,
}

impl RadioTimes {
    /// What was added since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            transmit: self.transmit.saturating_sub(earlier.transmit),
            receive: self.receive.saturating_sub(earlier.receive),
            listen: self.listen.saturating_sub(earlier.listen),
            sleep: self.sleep.saturating_sub(earlier.sleep),
        }
    }
}
