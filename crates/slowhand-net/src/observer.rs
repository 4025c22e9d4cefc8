//! What an observer of the network is shown: frames on the air, the states of radios, the contents of buffers.

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;

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
    /// A strobe of a preamble-sampling MAC: it asks its destination to stay awake.
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
    /// The datagram it carries a part of, or acknowledges a part of; else [`NO_DATAGRAM`](crate::datagram::NO_DATAGRAM).
    pub datagram: DatagramId,
    /// Which attempt at this frame it is; the first is 0.
    pub attempt: u8,
    /// True if the destination received it.
    pub received: bool,
    /// The frame without its FCS.
    pub octets: &'a [u8],
}

/// Is shown what happens on the air, in the radios and in the buffers. Every method does nothing unless it is overridden.
pub trait Observer {
    /// A frame is sent.
    fn transmission(&mut self, _transmission: &Transmission<'_>) {}

    /// True if [`radio`](Self::radio) is to be called. A MAC keeps no timeline if not.
    fn watches_radios(&self) -> bool {
        false
    }

    /// True if [`buffers`](Self::buffers) is to be called.
    fn watches_buffers(&self) -> bool {
        false
    }

    /// What is in a node's buffers has changed. The changes come in order of time; of several at one node at one instant
    /// the last counts.
    fn buffers(&mut self, _level: &BufferLevel) {}

    /// A node's radio was in a state. The intervals of a node come in order and do not overlap; between them its
    /// radio was off. Listening for frames that did not come may be reported late, at last by
    /// [`Network::report_radios`](crate::network::Network::report_radios).
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
