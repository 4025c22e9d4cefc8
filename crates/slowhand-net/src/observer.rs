//! The observer of a network, and the things that it sees: frames on the air, states of radios, levels of buffers.

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, NO_DATAGRAM};

named! {
    /// The purpose of a frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum FrameKind {
        /// A data frame.
        Data = "data",
        /// A link-layer acknowledgement.
        Ack = "acknowledgement",
        /// A message of the 6top protocol (RFC 8480): neighbours negotiate the cells they share.
        SixTop = "6P message",
        /// A beacon.
        Beacon = "beacon",
        /// A data request command: a child asks its parent for its pending frames.
        DataRequest = "data request",
        /// A strobe of a preamble-sampling MAC. It asks the destination to stay awake.
        Strobe = "strobe",
        /// The answer to a strobe: the node is awake.
        StrobeAck = "strobe acknowledgement",
        /// A DIO of RPL (RFC 6550): a node tells its neighbours of its rank.
        Dio = "DIO",
        /// An empty data frame that keeps a node synchronised with its parent.
        KeepAlive = "keep-alive",
        /// A DIS of RPL (RFC 6550) to all neighbours: a node asks for their DIOs.
        Dis = "DIS",
    }
}

impl FrameKind {
    /// True if it is for all neighbours.
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Beacon | Self::Dio)
    }

    /// True if one neighbour is to receive it, so that it can be lost. Strobes are sent until their receiver is awake.
    pub const fn is_for_one(self) -> bool {
        !self.is_for_all() && !matches!(self, Self::Strobe)
    }
}

/// One frame on the air. The observer sees all frames, also those that no node received.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// The time of its first symbol.
    pub at: Instant,
    /// The absolute slot number, under TSCH.
    pub asn: Option<u64>,
    /// The physical channel, 11..=26.
    pub channel: u8,
    /// Its purpose.
    pub kind: FrameKind,
    /// The sender.
    pub from: NodeId,
    /// The destination.
    pub to: NodeId,
    /// The datagram of which it carries or acknowledges a part; else [`NO_DATAGRAM`].
    pub datagram: DatagramId,
    /// When the data frame that it is, asks for or acknowledges came into the queue of its sender. Of other frames, the
    /// time at which the MAC made them.
    pub queued_at: Instant,
    /// The number of this attempt to send the frame, from 0.
    pub attempt: u8,
    /// True if the destination received it.
    pub received: bool,
    /// The frame without its FCS.
    pub octets: &'a [u8],
}

impl Transmission<'_> {
    /// A frame that the MAC made now, without its octets, that no node received.
    pub const fn new(at: Instant, channel: u8, kind: FrameKind, from: NodeId, to: NodeId) -> Self {
        let (datagram, queued_at, octets) = (NO_DATAGRAM, at, &[]);
        Self { at, asn: None, channel, kind, from, to, datagram, queued_at, attempt: 0, received: false, octets }
    }
}

/// Sees what happens on the air, in the radios and in the buffers. By default, every method does nothing.
pub trait Observer {
    /// A frame is sent.
    fn transmission(&mut self, _transmission: &Transmission<'_>) {}

    /// True if the network calls [`radio`](Self::radio). If not, a MAC keeps no timeline.
    fn watches_radios(&self) -> bool {
        false
    }

    /// True if the network calls [`reception`](Self::reception).
    fn watches_receptions(&self) -> bool {
        false
    }

    /// A node has handled a data frame that it received.
    fn reception(&mut self, _reception: &Reception) {}

    /// True if the network calls [`buffers`](Self::buffers).
    fn watches_buffers(&self) -> bool {
        false
    }

    /// The level of a node's buffers has changed. The changes come in the order of time. If a node has several changes
    /// at one instant, the last one counts.
    fn buffers(&mut self, _level: &BufferLevel) {}

    /// A node's radio was in a state. The intervals of a node come in order and do not overlap. Between them the radio
    /// was off. Idle listening may be reported late, at the latest when
    /// the driver asks for the rest of all timelines.
    fn radio(&mut self, _interval: &RadioInterval) {}
}

/// The observer that ignores everything.
impl Observer for () {}

/// A node has handled a data frame that its MAC received for the first time: the layer above has the payload. If
/// processors take time for a frame, this is later than the end of the frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// When.
    pub at: Instant,
    /// The node.
    pub node: NodeId,
    /// The neighbour that sent the frame.
    pub from: NodeId,
    /// The datagram of which it carries a part.
    pub datagram: DatagramId,
    /// True if the configuration of the network asks for its loss: the node discards it.
    pub discarded: bool,
}

named! {
    /// The states of a radio that is on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RadioState {
        /// It sends.
        Transmit = "transmit",
        /// It receives a frame.
        Receive = "receive",
        /// It listens, and receives no frame (idle listening).
        Listen = "listen",
    }
}

/// A span of a node's radio timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioInterval {
    /// The node.
    pub node: NodeId,
    /// The state of its radio.
    pub state: RadioState,
    /// The start of the interval.
    pub from: Instant,
    /// The end of the interval.
    pub to: Instant,
}

/// The level of a node's buffers, from an instant until the next change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferLevel {
    /// The instant.
    pub at: Instant,
    /// The node.
    pub node: NodeId,
    /// Frames in the queue of the MAC, those that the MAC made itself included.
    pub queued: usize,
    /// Fragments in reassembly.
    pub fragments: usize,
    /// Octets of these fragments.
    pub octets: usize,
    /// Virtual reassembly buffers taken (RFC 8930, RFC 8931).
    pub forwarding: usize,
}

/// The time that a node's radio was in each state. The sum of the four is the time that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioTimes {
    /// Sending.
    pub transmit: Duration,
    /// Receiving a frame.
    pub receive: Duration,
    /// Listening without receiving a frame.
    pub listen: Duration,
    /// Switched off.
    pub sleep: Duration,
}

impl RadioTimes {
    /// The time in a state.
    pub(crate) fn of_mut(&mut self, state: RadioState) -> &mut Duration {
        match state {
            RadioState::Transmit => &mut self.transmit,
            RadioState::Receive => &mut self.receive,
            RadioState::Listen => &mut self.listen,
        }
    }
}

/// The work of a node's radio besides the states in [`RadioTimes`]. A device that says what it costs pays for it in energy; nothing
/// of it takes time of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioWork {
    /// The number of times that the radio left sleep: its oscillator started.
    pub starts: u64,
    /// The number of times that its receiver or its transmitter ramped up, after sleep or from ready.
    pub ramps: u64,
    /// The number of these from ready.
    pub ramps_from_ready: u64,
    /// The time that it was ready: its oscillator ran, and it neither listened nor sent. It is a part of [`RadioTimes::sleep`].
    pub ready: Duration,
}

/// The slots of TSCH in which a node's radio was on, by what was sent and received. The names are those of Vilajosana et al., "A
/// Realistic Energy Consumption Model for TSCH Networks" (IEEE Sensors Journal, 2014).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// It listened, and nothing came.
    pub rx_idle: u64,
    /// It sent a frame, and received an acknowledgement.
    pub tx_data_rx_ack: u64,
    /// It sent a frame, and listened in vain for an acknowledgement.
    pub tx_data_rx_ack_none: u64,
    /// It sent a frame that asks for no acknowledgement.
    pub tx_data: u64,
    /// It received a frame, and acknowledged it.
    pub rx_data_tx_ack: u64,
    /// It received a frame that it did not acknowledge: one for another node.
    pub rx_data: u64,
}

impl Slots {
    /// All of them.
    pub fn sum(&self) -> u64 {
        let Self { rx_idle, tx_data_rx_ack, tx_data_rx_ack_none, tx_data, rx_data_tx_ack, rx_data } = self;
        rx_idle + tx_data_rx_ack + tx_data_rx_ack_none + tx_data + rx_data_tx_ack + rx_data
    }
}

/// The frames that a node's processor handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandledFrames {
    /// All of them, sent and received: those of the layer above, and those of the link layer itself.
    pub all: u64,
    /// The frames among them that took no time of the network: all if the processor takes none, else those of the link layer itself.
    pub untimed: u64,
}

/// The difference of two counts of one node.
macro_rules! differences {
    ($($counts:ident { $($field:ident)* })*) => {
        $(impl $counts {
            /// The difference to `earlier`.
            pub fn since(self, earlier: Self) -> Self {
                Self { $($field: self.$field.saturating_sub(earlier.$field)),* }
            }
        })*
    };
}

differences! {
    RadioTimes { transmit receive listen sleep }
    RadioWork { starts ramps ramps_from_ready ready }
    Slots { rx_idle tx_data_rx_ack tx_data_rx_ack_none tx_data rx_data_tx_ack rx_data }
    HandledFrames { all untimed }
}
