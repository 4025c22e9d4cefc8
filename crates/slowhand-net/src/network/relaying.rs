//! The network's side of the [`joiner_router`](super::joiner_router): what the nodes on the way between a joiner and the
//! commissioner do with a packet.

use super::Network;
use super::events::Events;
use super::joiner_router::relay::{Direction, Relay};
use super::joiner_router::{JOINER_PORT, Joining, MANAGEMENT_PORT};
use crate::address::{
    Addressing, Eui64, Host, NodeId, address_of_identifier, link_local_address, locator_address, mesh_address,
};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::{Endpoint, UdpDatagram, udp_datagram};
use crate::lowpan::Link;

/// The next step of a datagram at a node.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The node sends it to a neighbour, from one link-local address to another.
    OverLink { to: NodeId, ports: [u16; 2] },
    /// The node sends it in a message to another one.
    Relayed { to: NodeId, direction: Direction, joiner_port: u16, identifier: [u8; 8], joiner_router: NodeId },
    /// It goes on to the commissioner, which is at this node or on the Internet.
    ToCommissioner { source: Endpoint },
    /// It has arrived at the joiner.
    ToJoiner { port: u16 },
}

impl Network {
    /// The link between two neighbours. A joiner has no short address yet.
    #[inline] // for every frame
    pub(super) fn link(&self, source: NodeId, destination: NodeId) -> Link {
        let joins = |joining: &Joining| joining.has(source) || joining.has(destination);
        let addressing =
            if self.joining.as_deref().is_some_and(joins) { Addressing::Extended } else { self.addressing };
        Link { source: addressing.of_node(source), destination: addressing.of_node(destination) }
    }

    /// Handles a packet at a node if it is on its way between a joiner and the commissioner. Returns true if it is.
    pub(super) fn relay(&mut self, node: NodeId, packet: &[u8], datagram: DatagramId, events: &mut Events) -> bool {
        let Some(joining) = self.joining.as_deref() else { return false };
        let Ok(udp) = UdpDatagram::parse(packet) else { return false };
        let (source, destination) = (udp.source, udp.destination);
        let step = if destination.address.is_unicast_link_local() {
            Ok((self.take_from_link(joining, node, &udp), udp.payload))
        } else if destination == Endpoint::new(locator_address(node), MANAGEMENT_PORT) {
            self.take_from_message(joining, node, udp.payload)
        } else if joining.has(node) && destination == joining.commissioner {
            self.parent(node).map(|to| (Step::OverLink { to, ports: [source.port, JOINER_PORT] }, udp.payload))
        } else {
            match Host::of_address(destination.address) {
                Some(Host::Node(joiner)) if joining.has(joiner) && node == joining.border_agent() => {
                    self.take_from_commissioner(node, joiner, destination.port).map(|step| (step, udp.payload))
                }
                _ => return false,
            }
        };
        let done = step.and_then(|(step, payload)| self.pass_on(node, step, payload, datagram, events));
        events.lost_if_failed(Host::Node(node), datagram, done);
        true
    }

    /// A joiner or its joiner router has received a datagram over their link.
    fn take_from_link(&self, joining: &Joining, node: NodeId, udp: &UdpDatagram<'_>) -> Step {
        if joining.has(node) {
            return Step::ToJoiner { port: udp.destination.port };
        }
        let identifier = Eui64::of_address(udp.source.address).interface_identifier();
        let (to, joiner_port) = (joining.border_agent(), udp.source.port);
        match to == node {
            true => to_commissioner(identifier, joiner_port),
            false => {
                Step::Relayed { to, direction: Direction::FromJoiner, joiner_port, identifier, joiner_router: node }
            }
        }
    }

    /// The border agent or a joiner router has received a message.
    fn take_from_message<'a>(
        &self,
        joining: &Joining,
        node: NodeId,
        message: &'a [u8],
    ) -> Result<(Step, &'a [u8]), DropReason> {
        let relay = Relay::parse(message).ok_or(DropReason::Malformed)?;
        let identifier = relay.joiner_identifier;
        let step = match relay.direction {
            Direction::FromJoiner if node == joining.border_agent() => to_commissioner(identifier, relay.joiner_port),
            Direction::ToJoiner => {
                let to = Eui64::of_address(address_of_identifier(identifier)).node();
                if !joining.has(to) || self.parent(to)? != node {
                    return Err(DropReason::NoRoute);
                }
                Step::OverLink { to, ports: [JOINER_PORT, relay.joiner_port] }
            }
            Direction::FromJoiner => return Err(DropReason::NoRoute),
        };
        Ok((step, relay.datagram))
    }

    /// The border agent has a datagram of the commissioner for a joiner.
    fn take_from_commissioner(&self, node: NodeId, joiner: NodeId, joiner_port: u16) -> Result<Step, DropReason> {
        let joiner_router = self.parent(joiner)?;
        let identifier = Eui64::of_node(joiner).interface_identifier();
        Ok(match joiner_router == node {
            true => Step::OverLink { to: joiner, ports: [JOINER_PORT, joiner_port] },
            false => {
                let direction = Direction::ToJoiner;
                Step::Relayed { to: joiner_router, direction, joiner_port, identifier, joiner_router }
            }
        })
    }

    fn parent(&self, joiner: NodeId) -> Result<NodeId, DropReason> {
        self.routes.parent(joiner).ok_or(DropReason::NoRoute)
    }

    /// Writes the next packet of a datagram, and sends it.
    fn pass_on(
        &mut self,
        node: NodeId,
        step: Step,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), DropReason> {
        let Some(joining) = self.joining.as_deref_mut() else { return Ok(()) };
        let commissioner = joining.commissioner;
        let (mut message, mut packet) = (std::mem::take(&mut joining.message), std::mem::take(&mut joining.packet));
        let (source, destination, payload) = match step {
            Step::OverLink { to, ports: [from_port, to_port] } => (
                Endpoint::new(link_local_address(node), from_port),
                Endpoint::new(link_local_address(to), to_port),
                payload,
            ),
            Step::Relayed { to, direction, joiner_port, identifier: joiner_identifier, joiner_router } => {
                let (message_id, token) = joining.next_message(node);
                let joiner_router = joiner_router.0;
                message.clear();
                Relay {
                    direction,
                    message_id,
                    token,
                    joiner_port,
                    joiner_identifier,
                    joiner_router,
                    datagram: payload,
                }
                .emit(&mut message);
                let endpoint = |node| Endpoint::new(locator_address(node), MANAGEMENT_PORT);
                (endpoint(node), endpoint(to), &message[..])
            }
            Step::ToCommissioner { source } => (source, commissioner, payload),
            Step::ToJoiner { port } => (commissioner, Endpoint::new(mesh_address(node), port), payload),
        };
        packet.resize(UdpDatagram::HEADERS + payload.len(), 0);
        let written = udp_datagram(source, destination, payload, &mut packet).map_err(|_| DropReason::Malformed);
        let sent = written.and_then(|_| match step {
            Step::OverLink { to, .. } => self.send_over_hop(node, to, &mut packet, datagram, events),
            Step::Relayed { .. } => self.send_to_next_hop(Host::Node(node), &mut packet, datagram, events),
            Step::ToCommissioner { .. } if Host::of_address(commissioner.address) == Some(Host::Internet) => {
                self.send_to_next_hop(Host::Node(node), &mut packet, datagram, events)
            }
            Step::ToCommissioner { .. } | Step::ToJoiner { .. } => {
                events.delivered(Host::Node(node), datagram, &packet);
                Ok(())
            }
        });
        if let Some(joining) = self.joining.as_deref_mut() {
            (joining.message, joining.packet) = (message, packet);
        }
        sent
    }
}

/// The commissioner sees a joiner at its identifier in the mesh (`Commissioner::HandleTmf<kUriRelayRx>`).
fn to_commissioner(identifier: [u8; 8], port: u16) -> Step {
    Step::ToCommissioner { source: Endpoint::new(address_of_identifier(identifier), port) }
}
