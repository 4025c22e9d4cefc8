//! The network's side of the [`gateway`](super::gateway): it gives the gateway the packets that reach the border
//! router, and sends the packets that the gateway makes or releases.

use super::Network;
use super::events::Events;
use super::gateway::Gateway;
use super::gateway::suppression::{Action, Verdict};
use super::schedule_path::SchedulePath;
use crate::address::{Host, NodeId};
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::{Ipv6Header, TcpPacket, UdpDatagram, next_header};
use crate::transport::pep::{Proxy, Side};

impl Network {
    /// The border router's TCP proxy, if it has one.
    pub fn tcp_proxy(&self) -> Option<&Proxy> {
        self.gateway.as_ref()?.proxy.as_ref()
    }

    /// Gives the gateway a whole packet that is at the border router. Returns true if the gateway keeps it.
    pub(super) fn intercept(&mut self, packet: &[u8], datagram: DatagramId, events: &mut Events) -> bool {
        if self.gateway.is_none() {
            return false;
        }
        let Some(side) = side_of(packet) else { return false };
        match TcpPacket::of(packet) {
            Some(packet) => self.give_to_proxy(side, packet, datagram, events),
            None => self.validate(side, packet, datagram, events) || self.suppress(side, packet, datagram, events),
        }
    }

    /// Does what is due at the gateway. `first` is the index of the first event of this instant: the gateway learns of
    /// the losses in the border router's own queue.
    pub(super) fn handle_gateway(&mut self, first: usize, events: &mut Events) {
        let Some((gateway, path, now)) = self.gateway_and_path() else { return };
        if let Some(suppression) = &mut gateway.suppression {
            suppression.handle_timeout(now, &path);
        }
        if let Some(proxy) = &mut gateway.proxy {
            proxy.handle_timeout(now);
        }
        self.carry_out_actions(events);
        self.handle_losses(first, events);
        self.transmit(events);
    }

    /// Tells the suppression which frames the border router's own link layer has given up, from event `first` on. A
    /// datagram that is released because of that may find the queue full: then this is told too. The loop ends, because
    /// no datagram is released twice.
    fn handle_losses(&mut self, first: usize, events: &mut Events) {
        let mut told = first;
        while told < events.count() {
            let Some((Gateway { suppression: Some(suppression), .. }, path, now)) = self.gateway_and_path() else {
                return;
            };
            for (_, datagram, _) in events.losses_from(told).filter(is_given_up_at_border) {
                suppression.handle_loss(now, datagram, &path);
            }
            told = events.count();
            self.carry_out_actions(events);
        }
    }

    /// The border router begins to send a datagram in fragments that it recovers.
    pub(super) fn tell_gateway_of_recovery(&mut self, datagram: DatagramId) {
        if let Some(Gateway { suppression: Some(suppression), .. }) = self.gateway.as_deref_mut() {
            suppression.handle_recovery(self.now, datagram);
        }
    }

    /// All fragments of a datagram of the border router are acknowledged.
    pub(super) fn tell_gateway_of_arrival(&mut self, datagram: DatagramId) {
        let Some((Gateway { suppression: Some(suppression), .. }, path, now)) = self.gateway_and_path() else { return };
        suppression.handle_arrival(now, datagram, &path);
    }

    /// Gives the proxy a segment. Returns true if there is a proxy.
    fn give_to_proxy(&mut self, side: Side, packet: TcpPacket<'_>, datagram: DatagramId, events: &mut Events) -> bool {
        let Some((Gateway { proxy: Some(proxy), .. }, _, now)) = self.gateway_and_path() else { return false };
        match proxy.handle_segment(now, side, packet) {
            Ok(()) => events.intercepted(Host::Node(NodeId::ROOT), datagram),
            Err(_) => events.lost(Host::Node(NodeId::ROOT), datagram, DropReason::Malformed),
        }
        self.transmit(events);
        true
    }

    /// Sends all segments that the proxy has ready.
    fn transmit(&mut self, events: &mut Events) {
        while let Some((mut packet, datagram)) = self.next_of_proxy() {
            events.originated(datagram, &packet);
            self.originate(Host::Node(NodeId::ROOT), &mut packet, datagram, events);
            if let Some(gateway) = &mut self.gateway {
                gateway.packet = packet;
            }
        }
    }

    /// The next packet of the proxy. The caller returns its memory to the gateway.
    fn next_of_proxy(&mut self) -> Option<(Vec<u8>, DatagramId)> {
        let (Gateway { proxy: Some(proxy), packet, .. }, path, now) = self.gateway_and_path()? else {
            return None;
        };
        packet.resize(Ipv6Header::LENGTH + proxy.max_segment_len(), 0);
        let transmit = proxy.poll_transmit(now, &path, &mut packet[Ipv6Header::LENGTH..])?;
        let length = transmit.length as u16; // fits: an MSS has 16 bits, and the proxy's is far smaller
        let header = Ipv6Header::new(transmit.source, transmit.destination, next_header::TCP, length);
        packet[..Ipv6Header::LENGTH].copy_from_slice(&header.with_ecn(transmit.ecn).emit());
        packet.truncate(Ipv6Header::LENGTH + transmit.length);
        let packet = std::mem::take(packet);
        Some((packet, self.next_datagram()))
    }

    /// Shows the validation a UDP datagram. Returns true if it may not enter the mesh.
    fn validate(&mut self, side: Side, packet: &[u8], datagram: DatagramId, events: &mut Events) -> bool {
        let Some(Gateway { validation: Some(validation), .. }) = self.gateway.as_deref_mut() else { return false };
        let Ok(udp) = UdpDatagram::parse(packet) else { return false };
        let is_admitted = match side {
            Side::Internet => validation.admits(self.now, &udp),
            Side::Mesh => {
                validation.handle_upward(self.now, &udp);
                true
            }
        };
        if !is_admitted {
            events.lost(Host::Node(NodeId::ROOT), datagram, DropReason::Unvalidated);
        }
        !is_admitted
    }

    /// Asks the suppression about a UDP datagram. Returns true if it holds the datagram back.
    fn suppress(&mut self, side: Side, packet: &[u8], datagram: DatagramId, events: &mut Events) -> bool {
        let Some((Gateway { suppression: Some(suppression), .. }, path, now)) = self.gateway_and_path() else {
            return false;
        };
        let Ok(udp) = UdpDatagram::parse(packet) else { return false };
        let verdict = match side {
            Side::Internet => suppression.handle_downward(now, &udp, packet, datagram, &path),
            Side::Mesh => suppression.handle_upward(now, &udp, &path),
        };
        self.carry_out_actions(events);
        verdict == Verdict::Hold
    }

    /// Carries out the decisions of the suppression about the datagrams that it held.
    fn carry_out_actions(&mut self, events: &mut Events) {
        while let Some(action) = self.gateway.as_mut().and_then(|gateway| gateway.suppression.as_mut()?.poll_action()) {
            match action {
                Action::Discard { datagram } => {
                    events.lost(Host::Node(NodeId::ROOT), datagram, DropReason::Suppressed);
                }
                Action::Release { datagram, mut packet } => {
                    self.forward(NodeId::ROOT, &mut packet, datagram, events);
                }
            }
        }
    }

    /// The gateway, and what it is told: the paths through the mesh, and the time.
    fn gateway_and_path(&mut self) -> Option<(&mut Gateway, SchedulePath<'_>, Instant)> {
        let Self { gateway, mac, routes, config, now, .. } = self;
        Some((gateway.as_deref_mut()?, SchedulePath { mac: &**mac, routes, config }, *now))
    }

    /// The paths through the mesh, with the times of its schedule.
    pub(super) fn schedule_path(&self) -> SchedulePath<'_> {
        SchedulePath { mac: &*self.mac, routes: &self.routes, config: &self.config }
    }
}

/// True if the border router's link layer gave the datagram up. A real border router cannot see what a scenario drops.
fn is_given_up_at_border(&(host, _, reason): &(Host, DatagramId, DropReason)) -> bool {
    host == Host::Node(NodeId::ROOT) && !matches!(reason, DropReason::InjectedLoss | DropReason::Suppressed)
}

/// The side from which a packet crosses the border; none if it does not cross.
fn side_of(packet: &[u8]) -> Option<Side> {
    let header = Ipv6Header::parse(packet).ok()?;
    match (Host::of_address(header.source)?, Host::of_address(header.destination)?) {
        (Host::Internet, Host::Node(node)) if node != NodeId::ROOT => Some(Side::Internet),
        (Host::Node(node), Host::Internet) if node != NodeId::ROOT => Some(Side::Mesh),
        _ => None,
    }
}
