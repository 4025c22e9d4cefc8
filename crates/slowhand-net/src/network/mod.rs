//! The network: UDP datagrams and TCP segments in IPv6 between the nodes of a mesh and a host on the Internet.
//!
//! Each node is a router: it puts the fragments of a datagram together and passes the datagram on to the next
//! hop, or passes on the fragments themselves ([`Fragments`]). Node 0 is the border router; behind it, across the
//! [`internet`], is one host.

pub mod gateway;
mod hop;
pub mod internet;
mod levels;
mod loss;
mod recovering;

use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::{self, Endpoint, Ipv6Header, TcpPacket, UdpDatagram, next_header};
use crate::lowpan::reassembly::{Limits, Occupancy};
use crate::lowpan::{self, Contexts, FRAME_CAPACITY, forwarding, recovery};
use crate::observer::{Observer, RadioTimes};
use crate::queue::EventQueue;
use crate::radio::{Indication, Mac};
use crate::random::{Probability, Streams};
use crate::route::Routes;
use gateway::Gateway;
use hop::Node;
use internet::Internet;
use levels::Levels;
use loss::Losses;

pub use loss::LossSpread;

/// What a network is made of, its link layer apart.
#[derive(Clone, Debug)]
pub struct Config {
    /// The probability that a frame's payload is dropped before it reaches the MAC, at every hop.
    pub fragment_loss: Probability,
    /// Single frames that are dropped before they reach the MAC, counted from 1 over all nodes in the order in
    /// which they come to it; in ascending order.
    pub dropped_frames: Vec<u64>,
    /// What else is dropped then.
    pub loss_spread: LossSpread,
    /// The share of a node's queue from which on a node marks what it sends, where the transport understands that
    /// (RFC 3168): with so many frames or more in the queue when a packet comes. `None`: no node does.
    pub ecn_threshold: Option<f64>,
    /// Octets of a frame that 6LoWPAN may fill; [`FRAME_CAPACITY`] at most.
    pub frame_capacity: usize,
    /// How much each node can reassemble.
    pub reassembly: Limits,
    /// What becomes of fragments between the two ends of the mesh that a datagram crosses.
    pub fragments: Fragments,
    /// The way between border router and Internet host.
    pub internet: internet::Config,
    /// What the border router does beyond forwarding.
    pub gateway: gateway::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            fragment_loss: Probability::NEVER,
            dropped_frames: Vec::new(),
            loss_spread: LossSpread::default(),
            ecn_threshold: None,
            frame_capacity: FRAME_CAPACITY,
            reassembly: Limits::default(),
            fragments: Fragments::default(),
            internet: internet::Config::default(),
            gateway: gateway::Config::default(),
        }
    }
}

/// What becomes of fragments between the two ends of the mesh that a datagram crosses. What fits one frame goes from hop
/// to hop as it is.
#[derive(Clone, Copy, Debug, Default)]
pub enum Fragments {
    /// They are put together at every hop (RFC 4944; route-over as in RFC 6606).
    #[default]
    Reassembled,
    /// They are forwarded one by one, along the way of the first (RFC 8930).
    Forwarded(forwarding::Limits),
    /// They are forwarded so too, and those that are lost are sent again from the first end (RFC 8931).
    Recovered {
        /// What the first end does; the capacity is [`Config::frame_capacity`] where that is less.
        sender: recovery::Config,
        /// How many datagrams a node can forward; a path is forgotten when it was not used for the timeout.
        forwarding: forwarding::Limits,
    },
}

/// A mesh under one MAC, and the Internet host behind its border router.
#[derive(Debug)]
pub struct Network {
    mac: Box<dyn Mac>,
    routes: Routes,
    contexts: Contexts,
    config: Config,
    nodes: Vec<Node>,
    internet: Internet,
    gateway: Option<Box<Gateway>>,
    losses: Losses,
    levels: Levels,
    /// Nodes that may have to give something up, or to send a fragment again.
    timers: EventQueue<NodeId>,
    /// The last deadline that was handled.
    now: Instant,
    indications: Vec<Indication>,
    /// The packet that is being passed on; kept for its memory.
    packet: Vec<u8>,
}

/// Something the layer above has to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A datagram arrived.
    Delivered {
        /// Where.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// Who sent it.
        source: Endpoint,
        /// To whom.
        destination: Endpoint,
        /// What is in it.
        payload: &'a [u8],
    },
    /// A TCP segment arrived.
    Segment {
        /// Where.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// The segment, with its addresses.
        packet: TcpPacket<'a>,
    },
    /// The border router sends a TCP segment of its own, in the name of one of the ends.
    Originated {
        /// The number that the border router gave it: one from [`GATEWAY_DATAGRAMS`](crate::datagram::GATEWAY_DATAGRAMS)
        /// on.
        datagram: DatagramId,
        /// The segment, with its addresses.
        packet: TcpPacket<'a>,
    },
    /// A TCP segment arrived at the border router, whose proxy took it in its addressee's place.
    Taken {
        /// Where: the border router.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
    },
    /// A part of a datagram was lost, and with it the datagram; but where acknowledgements are lost, a frame
    /// is given up that has arrived, and a delivery may still follow. Where fragments are recovered, one that is lost
    /// is no loss of the datagram: that its sender gives it up is.
    Lost {
        /// Where: the node that gave it up, or the host on the way to whom it was lost.
        host: Host,
        /// The number its sender gave it.
        datagram: DatagramId,
        /// Why.
        reason: DropReason,
    },
}

/// Events in the order in which they happened.
#[derive(Debug, Default)]
pub struct Events {
    happened: Vec<Happened>,
    octets: Vec<u8>,
}

#[derive(Debug)]
enum Happened {
    Delivered { host: Host, datagram: DatagramId, packet: std::ops::Range<usize> },
    Originated { datagram: DatagramId, packet: std::ops::Range<usize> },
    Taken { host: Host, datagram: DatagramId },
    Lost { host: Host, datagram: DatagramId, reason: DropReason },
}

impl Events {
    /// The events.
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        self.happened.iter().filter_map(|event| match *event {
            Happened::Lost { host, datagram, reason } => Some(Event::Lost { host, datagram, reason }),
            Happened::Taken { host, datagram } => Some(Event::Taken { host, datagram }),
            Happened::Originated { datagram, ref packet } => {
                Some(Event::Originated { datagram, packet: tcp_packet(&self.octets[packet.clone()])? })
            }
            Happened::Delivered { host, datagram, ref packet } => {
                // Only packets that could be parsed are delivered.
                let packet = &self.octets[packet.clone()];
                if let Some(packet) = tcp_packet(packet) {
                    return Some(Event::Segment { host, datagram, packet });
                }
                let udp = UdpDatagram::parse(packet).ok()?;
                let (source, destination, payload) = (udp.source, udp.destination, udp.payload);
                Some(Event::Delivered { host, datagram, source, destination, payload })
            }
        })
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.happened.is_empty()
    }

    /// Forgets them, and keeps the memory.
    pub fn clear(&mut self) {
        self.happened.clear();
        self.octets.clear();
    }

    fn delivered(&mut self, host: Host, datagram: DatagramId, packet: &[u8]) {
        if tcp_packet(packet).is_none() && UdpDatagram::parse(packet).is_err() {
            return self.lost(host, datagram, DropReason::Malformed);
        }
        let packet = self.keep(packet);
        self.happened.push(Happened::Delivered { host, datagram, packet });
    }

    fn originated(&mut self, datagram: DatagramId, packet: &[u8]) {
        let packet = self.keep(packet);
        self.happened.push(Happened::Originated { datagram, packet });
    }

    fn taken(&mut self, host: Host, datagram: DatagramId) {
        self.happened.push(Happened::Taken { host, datagram });
    }

    fn keep(&mut self, packet: &[u8]) -> std::ops::Range<usize> {
        let start = self.octets.len();
        self.octets.extend_from_slice(packet);
        start..self.octets.len()
    }

    fn lost(&mut self, host: Host, datagram: DatagramId, reason: DropReason) {
        self.happened.push(Happened::Lost { host, datagram, reason });
    }
}

impl Network {
    /// A network of the nodes of `routes`, under `mac`.
    pub fn new(mac: Box<dyn Mac>, routes: Routes, config: Config, streams: &Streams) -> Self {
        let contexts = Contexts::mesh();
        Self {
            nodes: (0..routes.nodes()).map(|id| Node::new(NodeId(id as u16), &config, &contexts)).collect(),
            losses: Losses::new(&config, routes.nodes(), streams),
            levels: Levels::new(routes.nodes()),
            internet: Internet::new(config.internet.clone(), streams),
            gateway: Gateway::new(&config.gateway, streams),
            mac,
            routes,
            contexts,
            config,
            timers: EventQueue::default(),
            now: Instant::ZERO,
            indications: Vec::new(),
            packet: Vec::new(),
        }
    }

    /// Sends a UDP datagram from the host whose address `source` is.
    ///
    /// # Errors
    /// Where the payload is longer than a datagram can be. That the network loses it is an event, not an error.
    pub fn send(
        &mut self,
        now: Instant,
        source: Endpoint,
        destination: Endpoint,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), ip::Error> {
        let mut packet = std::mem::take(&mut self.packet);
        packet.resize(UdpDatagram::HEADERS + payload.len(), 0);
        let written = ip::udp_datagram(source, destination, payload, &mut packet);
        if written.is_ok() {
            let from = Host::of_address(source.address).unwrap_or(Host::Internet);
            self.originate(now, from, &mut packet, datagram, events);
        }
        self.packet = packet;
        written.map(drop)
    }

    /// Sends a TCP segment from the host whose address `source` is.
    ///
    /// # Errors
    /// Where the segment is longer than a packet can be. That the network loses it is an event, not an error.
    pub fn send_segment(
        &mut self,
        now: Instant,
        TcpPacket { source, destination, ecn, segment }: TcpPacket<'_>,
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), ip::Error> {
        let header = Ipv6Header {
            traffic_class: ecn as u8,
            flow_label: 0,
            payload_length: segment.len().try_into().map_err(|_| ip::Error::PayloadTooLong(segment.len()))?,
            next_header: next_header::TCP,
            hop_limit: Ipv6Header::DEFAULT_HOP_LIMIT,
            source,
            destination,
        };
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        packet.extend_from_slice(&header.emit());
        packet.extend_from_slice(segment);
        let from = Host::of_address(source).unwrap_or(Host::Internet);
        self.originate(now, from, &mut packet, datagram, events);
        self.packet = packet;
        Ok(())
    }

    /// When something happens next.
    pub fn deadline(&self) -> Option<Instant> {
        let gateway = self.gateway.as_ref().and_then(|gateway| gateway.deadline());
        [self.mac.deadline(), self.timers.next_at(), self.internet.deadline(), gateway].into_iter().flatten().min()
    }

    /// Lets happen what is due at `now`, which is the [`deadline`](Self::deadline).
    pub fn handle_deadline(&mut self, now: Instant, events: &mut Events, observer: &mut dyn Observer) {
        debug_assert!(now >= self.now, "time falls from {} to {now}", self.now);
        self.now = now;
        let earlier = events.happened.len();
        if self.mac.deadline() == Some(now) {
            let mut indications = std::mem::take(&mut self.indications);
            self.mac.handle_deadline(now, &mut indications, observer);
            for indication in indications.drain(..) {
                self.handle_indication(now, indication, events);
            }
            self.indications = indications;
        }
        while let Some(node) = self.timers.pop_due(now) {
            self.handle_timer(now, node, events);
        }
        while let Some(arrival) = self.internet.pop_due(now) {
            match arrival.to {
                Host::Internet => events.delivered(Host::Internet, arrival.datagram, self.internet.packet(&arrival)),
                Host::Node(_) => {
                    let mut packet = std::mem::take(&mut self.packet);
                    packet.clear();
                    packet.extend_from_slice(self.internet.packet(&arrival));
                    self.arrive(now, NodeId::ROOT, &mut packet, arrival.datagram, events);
                    self.packet = packet;
                }
            }
            self.internet.release(arrival);
        }
        self.handle_gateway(now, earlier, events);
        self.levels.show(observer);
    }

    /// The MAC.
    pub fn mac(&self) -> &dyn Mac {
        &*self.mac
    }

    /// How long a node's radio has been in each state since the world began.
    pub fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        self.mac.radio_times(node, now)
    }

    /// See [`Mac::report_radios`].
    pub fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        self.mac.report_radios(now, observer);
    }

    /// See [`Mac::begin_burst`].
    pub fn begin_burst(&mut self, now: Instant, node: NodeId) {
        self.mac.begin_burst(now, node);
    }

    /// See [`Mac::end_burst`].
    pub fn end_burst(&mut self, now: Instant, node: NodeId) {
        self.mac.end_burst(now, node);
    }

    /// How long the MAC has kept a node's processor busy since the world began.
    pub fn processor_time(&self, node: NodeId) -> Duration {
        self.mac.processor_time(node)
    }

    /// How many frames have waited at a node at most.
    pub fn queue_peak(&self, node: NodeId) -> usize {
        self.mac.queue_peak(node)
    }

    /// How much has been in reassembly at a node at most.
    pub fn reassembly_peak(&self, node: NodeId) -> Occupancy {
        self.nodes[node.index()].reassembly_peak()
    }

    /// A whole packet is at a node: it is for the node, or travels on with a hop less.
    fn arrive(&mut self, now: Instant, node: NodeId, packet: &mut [u8], datagram: DatagramId, events: &mut Events) {
        if destination(packet) == Some(Host::Node(node)) {
            return events.delivered(Host::Node(node), datagram, packet);
        }
        if node == NodeId::ROOT && self.intercept(now, packet, datagram, events) {
            return;
        }
        self.forward(now, node, packet, datagram, events);
    }

    /// Sends a packet that came to a node on its way, with a hop less.
    fn forward(&mut self, now: Instant, node: NodeId, packet: &mut [u8], datagram: DatagramId, events: &mut Events) {
        match ip::ipv6::take_hop(packet) {
            Ok(1..) => self.pass_on(now, Host::Node(node), packet, datagram, events),
            Ok(0) => events.lost(Host::Node(node), datagram, DropReason::HopLimit),
            Err(_) => events.lost(Host::Node(node), datagram, DropReason::Malformed),
        }
    }

    /// Sends a packet on its first hop, from the host that gives it to the network.
    fn originate(&mut self, now: Instant, from: Host, packet: &mut [u8], datagram: DatagramId, events: &mut Events) {
        if let Some(to) = destination(packet) {
            self.losses.sent(now, from, to, datagram);
        }
        self.pass_on(now, from, packet, datagram, events);
    }

    /// Sends a packet on its next hop from a host.
    fn pass_on(&mut self, now: Instant, from: Host, packet: &mut [u8], datagram: DatagramId, events: &mut Events) {
        let Some(to) = destination(packet) else {
            return events.lost(from, datagram, DropReason::Malformed);
        };
        if matches!(to, Host::Node(node) if node.index() >= self.routes.nodes()) {
            return events.lost(from, datagram, DropReason::NoRoute);
        }
        let hop = match (from, to) {
            (Host::Node(at), Host::Node(to)) => self.routes.next_hop(at, to).map(|next| (at, next)),
            (Host::Node(at), Host::Internet) => self.routes.next_hop(at, NodeId::ROOT).map(|next| (at, next)),
            (Host::Internet, _) => None,
        };
        match hop {
            Some((node, next_hop)) => self.cross(now, node, next_hop, packet, datagram, events),
            None if from == to => events.delivered(to, datagram, packet),
            None if self.internet.send(now, to, packet, datagram) => {}
            None => events.lost(to, datagram, DropReason::Internet),
        }
    }
}

/// The TCP segment in a packet, if it is one.
fn tcp_packet(packet: &[u8]) -> Option<TcpPacket<'_>> {
    let (header, segment) = Ipv6Header::parse_packet(packet).ok()?;
    let Ipv6Header { source, destination, .. } = header;
    (header.next_header == next_header::TCP).then_some(TcpPacket { source, destination, ecn: header.ecn(), segment })
}

/// To whom a packet is addressed; none where that is nobody in this world.
fn destination(packet: &[u8]) -> Option<Host> {
    Host::of_address(Ipv6Header::parse(packet).ok()?.destination)
}

// The sizes that the lowpan room counts in and those of a frame are one fact.
const _: () = assert!(lowpan::FRAME_CAPACITY == crate::radio::frame::DATA_PAYLOAD);
