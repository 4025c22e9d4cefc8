//! The events that a network gives to the layer above.

use crate::address::{Host, NodeId};
use crate::clock::Instant;
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::ip::{self, Endpoint, TcpPacket, UdpDatagram};
use std::ops::Range;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A UDP datagram arrived.
    Delivered {
        /// When.
        at: Instant,
        /// Where.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// Who sent it.
        source: Endpoint,
        /// To whom.
        destination: Endpoint,
        /// The octets in it.
        payload: &'a [u8],
    },
    /// A TCP segment arrived.
    Segment {
        /// When.
        at: Instant,
        /// Where.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// The segment, with its addresses.
        packet: TcpPacket<'a>,
    },
    /// A packet arrived that is neither UDP nor TCP, such as an ICMPv6 message. The network does not answer it: an echo
    /// reply, for example, must come from the layer above.
    Packet {
        /// When.
        at: Instant,
        /// Where.
        host: Host,
        /// The number its sender gave it. The ICMPv6 errors of routers have numbers from
        /// [`ROUTER_DATAGRAMS`](crate::datagram::ROUTER_DATAGRAMS) on.
        datagram: DatagramId,
        /// The whole packet, from the IPv6 header on.
        packet: &'a [u8],
    },
    /// The TCP proxy of the border router sends a segment, with the address of one of the two ends.
    Originated {
        /// When.
        at: Instant,
        /// The number that the border router gave it, from
        /// [`ROUTER_DATAGRAMS`](crate::datagram::ROUTER_DATAGRAMS) on.
        datagram: DatagramId,
        /// The segment, with its addresses.
        packet: TcpPacket<'a>,
    },
    /// The TCP proxy of the border router took a segment in place of its destination.
    Intercepted {
        /// When.
        at: Instant,
        /// Where: the border router.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
    },
    /// A node has heard a beacon while the network forms.
    Beacon {
        /// When.
        at: Instant,
        /// The node.
        node: NodeId,
        /// The neighbour that sent it.
        from: NodeId,
        /// The join metric: the smaller, the nearer the root.
        join_metric: u8,
    },
    /// A part of a datagram was lost, and with it the datagram. If only acknowledgements were lost, the frame has
    /// arrived although the MAC gave it up: a delivery may still follow. With fragment recovery, this event comes only
    /// when the source gives the datagram up.
    Lost {
        /// When.
        at: Instant,
        /// Where: the node that gave it up, or the host to which it was on its way.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// Why.
        reason: DropReason,
        /// Where it found the reassembly buffers of a node full: the datagrams in them. Else nothing.
        holders: &'a [DatagramId],
    },
}

/// Events in the order in which they happened.
#[derive(Debug, Default)]
pub struct Events {
    /// The time of the events that are added now.
    now: Instant,
    happened: Vec<Happened>,
    /// The packets of all events, one after the other.
    octets: Vec<u8>,
    /// The holders of all losses, one after the other.
    holders: Vec<DatagramId>,
}

#[derive(Debug)]
struct Happened {
    at: Instant,
    datagram: DatagramId,
    what: What,
}

/// The content of an event. A UDP datagram that was delivered has its ends here: its checksum is verified once.
#[derive(Debug)]
enum What {
    Delivered { host: Host, packet: Range<usize>, udp: Option<[Endpoint; 2]> },
    Originated { packet: Range<usize> },
    Intercepted { host: Host },
    Beacon { node: NodeId, from: NodeId, join_metric: u8 },
    Lost { host: Host, reason: DropReason, holders: Range<usize> },
}

impl Events {
    /// The events.
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        self.happened.iter().filter_map(|&Happened { at, datagram, ref what }| match *what {
            What::Lost { host, reason, ref holders } => {
                Some(Event::Lost { at, host, datagram, reason, holders: &self.holders[holders.clone()] })
            }
            What::Beacon { node, from, join_metric } => Some(Event::Beacon { at, node, from, join_metric }),
            What::Intercepted { host } => Some(Event::Intercepted { at, host, datagram }),
            What::Originated { ref packet } => {
                Some(Event::Originated { at, datagram, packet: TcpPacket::of(&self.octets[packet.clone()])? })
            }
            What::Delivered { host, ref packet, udp: Some([source, destination]) } => {
                let payload = &self.octets[packet.start + UdpDatagram::HEADERS..packet.end];
                Some(Event::Delivered { at, host, datagram, source, destination, payload })
            }
            What::Delivered { host, ref packet, udp: None } => {
                let packet = &self.octets[packet.clone()];
                Some(match TcpPacket::of(packet) {
                    Some(packet) => Event::Segment { at, host, datagram, packet },
                    None => Event::Packet { at, host, datagram, packet },
                })
            }
        })
    }

    /// The packets that arrived, whatever they carry: when, where, the number that its sender gave it, and the whole
    /// packet from the IPv6 header on. They are in the order of [`iter`](Self::iter).
    pub fn deliveries(&self) -> impl Iterator<Item = (Instant, Host, DatagramId, &[u8])> {
        self.happened.iter().filter_map(|happened| match &happened.what {
            What::Delivered { host, packet, .. } => {
                Some((happened.at, *host, happened.datagram, &self.octets[packet.clone()]))
            }
            _ => None,
        })
    }

    /// True if nothing happened.
    pub fn is_empty(&self) -> bool {
        self.happened.is_empty()
    }

    /// Removes all events, and keeps the memory.
    pub fn clear(&mut self) {
        self.happened.clear();
        self.octets.clear();
        self.holders.clear();
    }

    /// The number of events.
    pub(super) fn count(&self) -> usize {
        self.happened.len()
    }

    /// The losses among the events from index `first` on: where, which datagram, why.
    pub(super) fn losses_from(&self, first: usize) -> impl Iterator<Item = (Host, DatagramId, DropReason)> {
        self.happened[first..].iter().filter_map(|happened| match happened.what {
            What::Lost { host, reason, .. } => Some((host, happened.datagram, reason)),
            _ => None,
        })
    }

    /// Sets the time of the events that follow.
    pub(super) fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    pub(super) fn delivered(&mut self, host: Host, datagram: DatagramId, packet: &[u8]) {
        let udp = match UdpDatagram::parse(packet) {
            Ok(UdpDatagram { source, destination, .. }) => Some([source, destination]),
            Err(ip::Error::Protocol { .. }) => None,
            Err(_) => return self.lost(host, datagram, DropReason::Malformed),
        };
        let packet = self.keep(packet);
        self.push(datagram, What::Delivered { host, packet, udp });
    }

    pub(super) fn originated(&mut self, datagram: DatagramId, packet: &[u8]) {
        let packet = self.keep(packet);
        self.push(datagram, What::Originated { packet });
    }

    pub(super) fn intercepted(&mut self, host: Host, datagram: DatagramId) {
        self.push(datagram, What::Intercepted { host });
    }

    pub(super) fn beacon(&mut self, node: NodeId, from: NodeId, join_metric: u8) {
        self.push(NO_DATAGRAM, What::Beacon { node, from, join_metric });
    }

    pub(super) fn lost(&mut self, host: Host, datagram: DatagramId, reason: DropReason) {
        self.push(datagram, What::Lost { host, reason, holders: 0..0 });
    }

    /// A datagram is lost at this host if what the host did with it has failed.
    pub(super) fn lost_if_failed(&mut self, host: Host, datagram: DatagramId, done: Result<(), DropReason>) {
        if let Err(reason) = done {
            self.lost(host, datagram, reason);
        }
    }

    /// A datagram found no reassembly buffer at this host, or lost its own to another: these were in the buffers.
    pub(super) fn lost_to(&mut self, holders: impl Iterator<Item = DatagramId>, host: Host, datagram: DatagramId) {
        let start = self.holders.len();
        self.holders.extend(holders);
        let holders = start..self.holders.len();
        self.push(datagram, What::Lost { host, reason: DropReason::ReassemblyFull, holders });
    }

    fn push(&mut self, datagram: DatagramId, what: What) {
        self.happened.push(Happened { at: self.now, datagram, what });
    }

    fn keep(&mut self, packet: &[u8]) -> Range<usize> {
        let start = self.octets.len();
        self.octets.extend_from_slice(packet);
        start..self.octets.len()
    }
}
