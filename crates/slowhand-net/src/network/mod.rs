//! The network: IPv6 packets between the nodes of a mesh and hosts on the Internet.
//!
//! Each node is a router. It reassembles a packet and forwards it to the next hop, or it forwards the fragments one by
//! one ([`Fragments`]). Node 0 is the border router. Behind it, across the [`internet`], are hosts: every address
//! outside the prefix of the mesh belongs to one of them.
//!
//! The driver passes the time to a [`Network`]. [`deadline`](Network::deadline) says when the network has something to
//! do. [`handle_deadline`](Network::handle_deadline) does everything that is due, and adds what happened to [`Events`].
//! A late call loses nothing: everything happens at its own instant, in the order of time.
//!
//! # Modules
//!
//! | modules | hold |
//! | --- | --- |
//! | `mod.rs` | `send`, `send_packet`, `send_segment`, `deadline`, `handle_deadline` |
//! | `events` | what the network tells its caller: delivered, lost, sent by a router |
//! | `destination`, `errors`, `error_limit` | where a packet goes next; the ICMPv6 errors of routers, and their rate limit |
//! | `hop`, `adaptation` | one hop: from a packet to frames and back; what each node keeps for that |
//! | `handling` | received frames that the processors of their nodes have not handled yet |
//! | `payload`, `capabilities` | to whom a node sends compressed payloads; what neighbours tell each other of that |
//! | `config` | the settings of a network |
//! | `rpl` | which headers RPL adds to a packet, and what each node does with them |
//! | `mesh_under` | frames with mesh headers, which routers pass on below IPv6 |
//! | `recovering`, `recovery` | fragments that are acknowledged and sent again (RFC 8931) |
//! | `internet`, `loss` | delay and loss behind the border router; injected losses |
//! | `on_link` | packets that do not leave their link, and parents that change: for a network that forms |
//! | `levels` | buffer levels, and frames that nodes have handled, for the observer |
//! | `joiner_router`, `relaying` | who joins, and the messages of joiner routers; what the nodes between a joiner and the commissioner do |
//! | `schedule_path` | how long packets take through the mesh, by its schedule |
//! | `gateway`, `border_router` | state of the TCP proxy, of the suppression of flights and of the validation of certificates; what the network does with it |

mod adaptation;
mod border_router;
mod capabilities;
mod config;
mod destination;
mod error_limit;
mod errors;
mod events;
pub mod gateway;
mod handling;
mod hop;
pub mod internet;
pub mod joiner_router;
mod levels;
mod loss;
mod mesh_under;
mod on_link;
mod payload;
mod recovering;
mod recovery;
mod relaying;
mod rpl;
mod schedule_path;

use crate::address::{Addressing, Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, ROUTER_DATAGRAMS};
use crate::drop_reason::DropReason;
use crate::ip::{self, Endpoint, Ipv6Header, TcpPacket, UdpDatagram, next_header};
use crate::link::{Course, LinkQuality};
use crate::lowpan::Contexts;
use crate::lowpan::reassembly::Occupancy;
use crate::observer::{HandledFrames, Observer, Reception};
use crate::queue::EventQueue;
use crate::radio::{Indication, Mac};
use crate::random::{Probability, Streams};
use crate::route::Routes;
use adaptation::AdaptationLayer;
use capabilities::Capabilities;
use destination::{destination, host, is_global_unicast, is_on_link, last_node, source};
use error_limit::ErrorLimit;
use gateway::Gateway;
use handling::Unhandled;
use internet::{Direction, Internet};
use joiner_router::Joining;
use levels::{Levels, Watched};
use loss::Losses;
use std::net::Ipv6Addr;

pub use config::{BufferCounts, Fragments, LossSpread, NetworkConfig, Outage, RplConfig, RplEncoding, RplMode};
pub use events::{Event, Events};
pub use mesh_under::MeshUnderConfig;
pub use rpl::smallest_frame;

/// A mesh with one MAC, and the Internet behind its border router.
#[derive(Debug)]
pub struct Network {
    mac: Box<dyn Mac>,
    /// That of the MAC.
    addressing: Addressing,
    routes: Routes,
    contexts: Contexts,
    /// The contexts without compression of payloads.
    plain: Contexts,
    config: NetworkConfig,
    /// By node.
    nodes: Vec<AdaptationLayer>,
    /// By node.
    error_limits: Vec<ErrorLimit>,
    internet: Internet,
    gateway: Option<Box<Gateway>>,
    joining: Option<Box<Joining>>,
    capabilities: Option<Capabilities>,
    losses: Losses,
    levels: Levels,
    receptions: Watched<Reception>,
    /// Received frames that are not handled yet.
    unhandled: Unhandled,
    timers: EventQueue<Timer>,
    /// The latest time that the driver has passed.
    now: Instant,
    /// The earliest deadline of all parts. Every public method that changes a part computes it again.
    deadline: Option<Instant>,
    /// The number of datagrams that routers have sent themselves.
    of_routers: DatagramId,
    indications: Vec<Indication>,
    /// The packet that is being forwarded; kept for its memory.
    packet: Vec<u8>,
    /// The addresses of a source route; kept for their memory.
    route: Vec<Ipv6Addr>,
}

/// A timer that is due at a node.
#[derive(Clone, Copy, Debug)]
enum Timer {
    /// Reassembly, forwarding or recovery of fragments.
    Fragments(NodeId),
    /// A node solicits its parent, or solicits it again.
    Solicitation(NodeId),
    /// The radio of the node is switched off, or on.
    Radio(NodeId, bool),
    /// The processor of its node has handled the received frame at this place.
    Handled(u32),
}

/// Why the network does not accept a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The octets are not a packet, or the payload is too long for one.
    #[error(transparent)]
    Packet(#[from] ip::Error),
    /// No host has the source address: it is in the mesh but no node has it, or it is not a global unicast address.
    #[error("no host of the network has the source address {0}")]
    Source(Ipv6Addr),
    /// The destination is not a global unicast address. Packets to other addresses do not leave their link.
    #[error("the destination {0} is not a global unicast address")]
    Destination(Ipv6Addr),
    /// The network has something to do before this packet.
    #[error("the network has something to do at {0}, before this packet is sent: call handle_deadline first")]
    Overdue(Instant),
}

impl Network {
    /// A network of the nodes of `routes`, with `mac` as its link layer.
    pub fn new(mut mac: Box<dyn Mac>, routes: Routes, config: NetworkConfig, streams: &Streams) -> Self {
        let (contexts, nodes) = (rpl::contexts(config.rpl, config.contexts.clone()), routes.nodes());
        let plain = contexts.clone().with_payload_compression(None);
        let mut timers = EventQueue::default();
        for outage in &config.outages {
            timers.push(outage.from, Timer::Radio(outage.node, false));
            timers.push(outage.until, Timer::Radio(outage.node, true));
        }
        if let Some(joining) = &config.joining {
            mac.set_joiners(&joining.joiners);
        }
        for (&node, &handling) in &config.frame_handling {
            mac.queue_mut(node).processor_mut().set_handling(handling);
        }
        let understands = |node| config.understands_compression(node);
        let capabilities =
            config.exchanges_capabilities.then(|| Capabilities::new(&routes, understands, streams, &mut timers));
        let deadline = earliest(mac.deadline(), timers.next_at()); // no other part has a deadline yet
        let addressing = mac.addressing();
        Self {
            nodes: adaptation::layers(addressing, &routes, &config, (&contexts, &plain)),
            error_limits: vec![ErrorLimit::default(); nodes],
            losses: Losses::new(&config, nodes, streams),
            levels: Levels::new(nodes),
            receptions: Watched::default(),
            internet: Internet::new(config.internet.clone(), streams),
            gateway: Gateway::new(&config.gateway, streams),
            joining: Joining::new(config.joining.as_ref(), nodes, streams),
            capabilities,
            mac,
            addressing,
            routes,
            contexts,
            plain,
            config,
            unhandled: Unhandled::default(),
            timers,
            now: Instant::ZERO,
            deadline,
            of_routers: 0,
            indications: Vec::new(),
            packet: Vec::new(),
            route: Vec::new(),
        }
    }

    /// Sends a UDP datagram from the host that has the address of `source`. If `now` is earlier than the latest time
    /// that was passed to the network, that time counts.
    ///
    /// # Errors
    /// See [`SendError`]; then nothing is sent. If the network loses the datagram, that is an event, not an error.
    pub fn send(
        &mut self,
        now: Instant,
        source: Endpoint,
        destination: Endpoint,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), SendError> {
        let write = |packet: &mut Vec<u8>| {
            packet.resize(UdpDatagram::HEADERS + payload.len(), 0);
            ip::udp_datagram(source, destination, payload, packet).map(drop)
        };
        self.send_written(now, [source.address, destination.address], write, datagram, events)
    }

    /// Sends a TCP segment from the host that has the address `source`. For `now` see [`send`](Self::send).
    ///
    /// # Errors
    /// See [`SendError`]; then nothing is sent. If the network loses the segment, that is an event, not an error.
    pub fn send_segment(
        &mut self,
        now: Instant,
        TcpPacket { source, destination, ecn, segment }: TcpPacket<'_>,
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), SendError> {
        let write = |packet: &mut Vec<u8>| {
            let length = segment.len().try_into().map_err(|_| ip::Error::PayloadTooLong(segment.len()))?;
            packet.extend(Ipv6Header::new(source, destination, next_header::TCP, length).with_ecn(ecn).emit());
            packet.extend_from_slice(segment);
            Ok(())
        };
        self.send_written(now, [source, destination], write, datagram, events)
    }

    /// Sends an IPv6 packet of any protocol, unchanged, from the host that has its source address. For `now` see
    /// [`send`](Self::send).
    ///
    /// Every address outside the prefix of the mesh belongs to a host on the Internet. Routers send errors (RFC 4443):
    /// Destination Unreachable if no node has the address, Packet Too Big if the border router must send the
    /// packet into the mesh and the nodes cannot reassemble it, Time Exceeded if the hop limit reaches zero. The errors
    /// arrive at the source as [`Event::Packet`].
    ///
    /// # Errors
    /// See [`SendError`]; then nothing is sent. If the network loses the packet, that is an event, not an error.
    pub fn send_packet(
        &mut self,
        now: Instant,
        packet: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), SendError> {
        let (header, _) = Ipv6Header::parse_packet(packet)?;
        let write = |octets: &mut Vec<u8>| {
            octets.extend_from_slice(packet);
            Ok(())
        };
        self.send_written(now, [header.source, header.destination], write, datagram, events)
    }

    /// The time at which the network has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        debug_assert_eq!(self.deadline, self.earliest_deadline(), "the deadline was not worked out again");
        self.deadline
    }

    /// Computes the deadline.
    fn earliest_deadline(&self) -> Option<Instant> {
        let gateway = self.gateway.as_ref().and_then(|gateway| gateway.deadline());
        let own = earliest(self.timers.next_at(), self.internet.deadline());
        earliest(self.mac.deadline(), earliest(own, gateway))
    }

    /// Does everything that is due at `now` or before, each thing at its own instant and in the order of time. So a
    /// driver may call it at every [`deadline`](Self::deadline) or later, with the same result. If it calls late, only
    /// its own answers to events are late.
    pub fn handle_deadline(&mut self, now: Instant, events: &mut Events, observer: &mut dyn Observer) {
        while let Some(at) = self.deadline.filter(|&at| at <= now) {
            debug_assert!(self.now <= at, "the time went back from {} to {at}", self.now);
            self.now = at;
            self.handle_instant(events, observer);
            self.deadline = self.earliest_deadline();
        }
        self.now = self.now.max(now);
    }

    /// Does everything that is due at one instant.
    fn handle_instant(&mut self, events: &mut Events, observer: &mut dyn Observer) {
        events.set_now(self.now);
        let earlier = events.count();
        if self.mac.deadline() == Some(self.now) {
            let mut indications = std::mem::take(&mut self.indications);
            self.mac.handle_deadline(self.now, &mut indications, observer);
            for indication in &indications {
                self.handle_indication(indication, events);
            }
            indications.clear();
            self.indications = indications;
        }
        while let Some(timer) = self.timers.pop_due(self.now) {
            match timer {
                Timer::Fragments(node) => self.handle_timer(node, events),
                Timer::Solicitation(node) => self.solicit(node, events),
                Timer::Radio(node, on) => drop(self.mac.switch_radio(self.now, node, on)),
                Timer::Handled(place) => self.handle_received(place, events),
            }
        }
        while let Some(arrival) = self.internet.pop_due(self.now) {
            match arrival.direction {
                Direction::ToInternet => {
                    events.delivered(Host::Internet, arrival.datagram, self.internet.packet(&arrival));
                }
                Direction::ToMesh => {
                    let mut packet = std::mem::take(&mut self.packet);
                    packet.clear();
                    packet.extend_from_slice(self.internet.packet(&arrival));
                    self.arrive(NodeId::ROOT, &mut packet, arrival.datagram, events);
                    self.packet = packet;
                }
            }
            self.internet.release(arrival);
        }
        self.handle_gateway(earlier, events);
        self.levels.show(observer);
        self.receptions.show(observer.watches_receptions(), |reception| observer.reception(reception));
    }

    /// The MAC.
    pub fn mac(&self) -> &dyn Mac {
        &*self.mac
    }

    /// See [`Mac::report_radios`].
    pub fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        self.mac.report_radios(now, observer);
    }

    /// See [`Mac::begin_burst`]. If `now` is earlier than the latest time that was passed to the network, that time
    /// counts. Handle every deadline before `now` first.
    pub fn begin_burst(&mut self, now: Instant, node: NodeId) {
        self.with_mac(now, |mac, now| mac.begin_burst(now, node));
    }

    /// See [`Mac::end_burst`]. For `now` see [`begin_burst`](Self::begin_burst).
    pub fn end_burst(&mut self, now: Instant, node: NodeId) {
        self.with_mac(now, |mac, now| mac.end_burst(now, node));
    }

    /// Switches the radio of a node off or on ([`Mac::switch_radio`]). Returns false if the link layer cannot do this.
    /// For `now` see [`begin_burst`](Self::begin_burst).
    pub fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) -> bool {
        self.with_mac(now, |mac, now| mac.switch_radio(now, node, on))
    }

    /// Sets the delivery ratio of a link in one direction ([`Links::set_delivery`](crate::link::Links::set_delivery))
    /// for frames that end from now on.
    pub fn set_delivery(&mut self, from: NodeId, to: NodeId, pdr: f64) {
        if let Some(links) = self.mac.links_mut() {
            links.set_delivery(from, to, pdr);
        }
    }

    /// Sets all that a link is in one direction ([`Links::set_quality`](crate::link::Links::set_quality)) for frames that
    /// end from now on. Under the MAC of [`beacon`](crate::radio::beacon), beacons keep the ratio that they have.
    pub fn set_link(&mut self, quality: &LinkQuality) {
        if let Some(links) = self.mac.links_mut() {
            links.set_quality(quality);
        }
    }

    /// Gives a link a course over time in one direction ([`Links::set_course`](crate::link::Links::set_course)). For beacons
    /// see [`set_link`](Self::set_link).
    pub fn set_course(&mut self, from: NodeId, to: NodeId, course: Course) {
        if let Some(links) = self.mac.links_mut() {
            links.set_course(from, to, course);
        }
    }

    /// Changes the injected losses ([`NetworkConfig::fragment_loss`] and [`NetworkConfig::frame_loss`]) for frames that
    /// 6LoWPAN gives to the MAC from now on.
    pub fn set_losses(&mut self, fragment_loss: Probability, frame_loss: Probability) {
        self.losses.set(fragment_loss, frame_loss);
    }

    /// Changes the path to the Internet for packets that enter it from now on
    /// ([`InternetConfig`](internet::InternetConfig)). Those on their way arrive when they would have.
    pub fn set_internet(&mut self, delay: Duration, jitter: Duration, loss: Probability) {
        self.internet.set(delay, jitter, loss);
    }

    /// The time that frames have kept a node's processor busy until `now` ([`NetworkConfig::frame_handling`]).
    pub fn handling_time(&self, node: NodeId, now: Instant) -> Duration {
        self.mac.queue(node).processor().busy(now)
    }

    /// The frames that a node's processor has handled until `now`.
    pub fn handled_frames(&self, node: NodeId, now: Instant) -> HandledFrames {
        let HandledFrames { all, untimed } = self.mac.queue(node).processor().frames();
        let regular = self.mac.regular_frames(node, now);
        HandledFrames { all: all + regular, untimed: untimed + regular }
    }

    /// The largest number of frames in a node's queue so far.
    pub fn queue_peak(&self, node: NodeId) -> usize {
        self.mac.queue(node).peak()
    }

    /// The largest amount in reassembly at a node so far.
    pub fn reassembly_peak(&self, node: NodeId) -> Occupancy {
        self.nodes[node.index()].reassembly_peak()
    }

    /// Changes the MAC at a time.
    fn with_mac<T>(&mut self, now: Instant, act: impl FnOnce(&mut dyn Mac, Instant) -> T) -> T {
        let now = self.advance(now);
        let done = act(&mut *self.mac, now);
        self.deadline = self.earliest_deadline();
        done
    }

    /// The time that counts for a call that cannot be refused: not earlier than the latest time, not later than the
    /// deadline.
    fn advance(&mut self, now: Instant) -> Instant {
        debug_assert!(self.deadline.is_none_or(|at| at >= now), "call handle_deadline before {now}");
        self.now = self.now.max(self.deadline.map_or(now, |at| at.min(now)));
        self.now
    }

    /// Sends a packet from one address to another, if the source may send now. `write` writes it into an empty vector.
    fn send_written(
        &mut self,
        now: Instant,
        [source, destination]: [Ipv6Addr; 2],
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ip::Error>,
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), SendError> {
        let from = host(&self.routes, source).filter(|_| is_global_unicast(source)).ok_or(SendError::Source(source))?;
        if !is_global_unicast(destination) {
            return Err(SendError::Destination(destination));
        }
        if let Some(at) = self.deadline.filter(|&at| at < now) {
            return Err(SendError::Overdue(at));
        }
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        let written = write(&mut packet);
        if written.is_ok() {
            self.now = self.now.max(now);
            events.set_now(self.now);
            self.originate(from, &mut packet, datagram, events);
            self.deadline = self.earliest_deadline();
        }
        self.packet = packet;
        Ok(written?)
    }

    /// The number of the next datagram that a router sends itself.
    fn next_datagram(&mut self) -> DatagramId {
        let datagram = ROUTER_DATAGRAMS + self.of_routers;
        self.of_routers += 1;
        datagram
    }

    /// Handles a whole packet at a node: the node delivers it, or forwards it.
    fn arrive(&mut self, node: NodeId, packet: &mut Vec<u8>, datagram: DatagramId, events: &mut Events) {
        if self.config.rpl.is_some() {
            rpl::receive(&self.routes, node, packet);
        }
        if self.joining.is_some() && self.relay(node, packet, datagram, events) {
            return;
        }
        if self.capabilities.is_some() && self.discover(node, packet, events) {
            return;
        }
        let to = destination(packet);
        if to.is_some_and(is_on_link) || to.and_then(Host::of_address) == Some(Host::Node(node)) {
            return events.delivered(Host::Node(node), datagram, packet);
        }
        if node == NodeId::ROOT && self.intercept(packet, datagram, events) {
            return;
        }
        self.forward(node, packet, datagram, events);
    }

    /// Forwards a packet at a node, with a hop limit that is lower by one. Reports an error to the source if that is
    /// not possible.
    fn forward(&mut self, node: NodeId, packet: &mut Vec<u8>, datagram: DatagramId, events: &mut Events) {
        let forwarded = match ip::ipv6::take_hop(packet) {
            Ok(1..) if self.is_too_big(node, packet) => Err(DropReason::ReassemblyTooLong),
            Ok(1..) => self
                .forward_by_rpl(node, packet)
                .and_then(|()| self.send_to_next_hop(Host::Node(node), packet, datagram, events)),
            Ok(0) => Err(DropReason::HopLimit),
            Err(_) => Err(DropReason::Malformed),
        };
        if let Err(reason) = forwarded {
            events.lost(Host::Node(node), datagram, reason);
            self.report_error(node, packet, reason, events);
        }
    }

    /// Sends a packet from its source host over the first hop.
    fn originate(&mut self, from: Host, packet: &mut Vec<u8>, datagram: DatagramId, events: &mut Events) {
        if let Some(to) = destination(packet) {
            self.losses.sent(self.now, from, to, datagram);
        }
        if let (Host::Node(node), true) = (from, self.joining.is_some())
            && self.relay(node, packet, datagram, events)
        {
            return;
        }
        let sent = self.enter_rpl(from, packet).and_then(|()| self.send_to_next_hop(from, packet, datagram, events));
        events.lost_if_failed(from, datagram, sent);
    }

    /// Sends a packet from a host over the next hop, if this host can.
    #[inline] // for every frame that a node passes on
    fn send_to_next_hop(
        &mut self,
        from: Host,
        packet: &mut [u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), DropReason> {
        let address = destination(packet).ok_or(DropReason::Malformed)?;
        let to = host(&self.routes, address);
        if let Host::Node(node) = from
            && let Some(next_hop) = self.routes.next_hop(node, last_node(to))
        {
            return self.send_over_hop(node, next_hop, packet, datagram, events);
        }
        // The packet leaves the mesh here, or comes from the Internet.
        let (direction, host) = match (from, to) {
            // Two hosts on the Internet are as far from each other as from the border router (assumed).
            (Host::Internet, Some(Host::Internet)) if source(packet) != Some(address) => {
                (Direction::ToInternet, Host::Internet)
            }
            (_, Some(to)) if to == from => {
                events.delivered(to, datagram, packet);
                return Ok(());
            }
            (Host::Node(_), None) => return Err(DropReason::NoRoute),
            (Host::Node(_), Some(to)) => (Direction::ToInternet, to),
            (Host::Internet, to) => (Direction::ToMesh, to.unwrap_or(Host::Node(NodeId::ROOT))),
        };
        if !self.internet.send(self.now, direction, packet, datagram) {
            events.lost(host, datagram, DropReason::Internet);
        }
        Ok(())
    }
}

/// The earlier of two deadlines.
fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}
