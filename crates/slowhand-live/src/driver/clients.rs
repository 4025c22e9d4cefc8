//! Clients that are programs, or behind an interface: how they come in, and which conversation they get.

use super::{Driver, NO_PLACE, Opened};
use crate::admission::{self, Refusal};
use crate::programs::{Conversation, Socket, Stream};
use crate::recording::{EndKind, Opening};
use slowhand_lab::live::GivesUp;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::ip::{Ipv6Header, UdpDatagram};
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_sessions::Role;
use std::io::ErrorKind;
use std::net::SocketAddr;

impl Driver<'_> {
    /// Reads a datagram of a client, or accepts its connection. True if there may be more.
    pub(super) fn read_listener(&mut self, listener: usize, buffer: &mut [u8]) -> bool {
        let Some(socket) = self.opened.udp(listener) else { return self.accept(listener) };
        match socket.recv_from(buffer) {
            Ok((length, address)) => {
                self.advance();
                self.take_datagram(listener, address, &buffer[..length]);
                true
            }
            // Any other error is one of an earlier datagram, such as one to a client that has gone.
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }

    /// A client has sent a datagram.
    fn take_datagram(&mut self, listener: usize, address: SocketAddr, octets: &[u8]) {
        self.end_earlier(listener, address, octets);
        let session = match self.of_client.get(&(listener, address)) {
            Some(&session) => session,
            None => match self.admit_datagram(listener, address, octets) {
                Ok(session) => session,
                Err(refusal) => return self.refuse(refusal.reason()),
            },
        };
        let Some(conversation) = self.conversations.get_mut(&session) else { return };
        if let Err(refusal) = admission::may_send(conversation, &self.world) {
            return self.refuse(refusal.reason());
        }
        conversation.active = self.world.now();
        if conversation.plug(Role::Client).is_some() {
            self.world.put(session, Role::Client, octets.to_vec());
            self.world.wake(session, Role::Client, &mut self.watch);
            self.hand_over();
        }
    }

    /// Another client may have the port of one whose session is closed, or is over. To an emulated server a client may also
    /// begin anew, as after a restart; what a real server does then is its own affair (RFC 6347 section 4.2.8).
    fn end_earlier(&mut self, listener: usize, address: SocketAddr, octets: &[u8]) {
        let Some(&session) = self.of_client.get(&(listener, address)) else { return };
        let Some(conversation) = self.conversations.get(&session) else { return };
        let is_over = conversation.ended.is_some() || conversation.is_closed();
        let is_emulated = conversation.plugs[Role::Server].is_none();
        let begins_anew = match conversation.is_secure() {
            true => conversation.is_established && is_emulated,
            false => conversation.is_answered, // until now it has spoken something else
        };
        if (is_over || begins_anew) && admission::is_client_hello(octets) {
            self.end_conversation(session);
            self.close_conversation(session);
        }
    }

    /// A client that is new has sent a datagram. In a flood, a place is looked for now and then only.
    fn admit_datagram(&mut self, listener: usize, address: SocketAddr, octets: &[u8]) -> Result<u64, Refusal> {
        let is_secure = |conversation: &Conversation| conversation.listener == listener && conversation.is_secure();
        if !admission::begins_session(octets)
            && (self.opened.speech(listener).is_dtls() || self.conversations.values().any(is_secure))
        {
            return Err(Refusal::NoSession);
        }
        if let Some((at, refusal)) = self.no_place
            && at.elapsed() < NO_PLACE
        {
            return Err(refusal);
        }
        let admitted = self.admit(listener, address);
        self.no_place = admitted.as_ref().err().map(|&refusal| (std::time::Instant::now(), refusal));
        admitted
    }

    /// A client that is new gets a node.
    fn admit(&mut self, listener: usize, address: SocketAddr) -> Result<u64, Refusal> {
        let place = self.place(&self.clients.clone())?;
        let server = self.opened.server_of(listener);
        let opening = Opening {
            node: place.node.0,
            client_port: Some(place.port),
            server_port: Some(self.server_port(listener)),
            starts_now: true,
            ends: [EndKind::Program, if server.is_none() { EndKind::Echoes } else { EndKind::Program }],
            gives_up: if server.is_none() { GivesUp::InHandshake } else { GivesUp::Never },
        };
        let sockets = [Some(Socket::OfListener), server.map(Socket::Unconnected)];
        let session = self.open(opening, sockets, Some((listener, address)));
        self.world.run_until(self.world.now(), &mut self.watch);
        Ok(session)
    }

    /// A place for a new client at one of these nodes. Another conversation may end for it.
    fn place(&mut self, nodes: &[NodeId]) -> Result<admission::Place, Refusal> {
        let most = admission::most_of_node(self.scenario.client.joining);
        let place = admission::place(nodes, &self.conversations, &self.world, most, &self.had)?;
        if let Some(session) = place.evicted {
            self.end_conversation(session);
            self.close_conversation(session);
        }
        Ok(place)
    }

    fn server_port(&self, listener: usize) -> u16 {
        self.scenario.session.server_port().wrapping_add(listener as u16).max(1)
    }

    /// Takes a new connection. One for which there is no room waits in the system's queue. True if there may be more.
    fn accept(&mut self, listener: usize) -> bool {
        self.advance();
        let most = admission::most_of_node(self.scenario.client.joining);
        if admission::place(&self.clients, &self.conversations, &self.world, most, &self.had).is_err() {
            self.opened.wait_for_place(listener);
            return false;
        }
        let Some((stream, address)) = self.opened.accept(listener) else { return false };
        let Ok(session) = self.admit(listener, address) else { return false };
        let token = Conversation::token(session, Role::Client, Opened::FIRST_CONVERSATION);
        let Some(conversation) = self.conversations.get_mut(&session) else { return false };
        let Some(plug) = conversation.plug(Role::Client) else { return false };
        match self.opened.register(stream, token) {
            Ok(stream) => plug.socket = Socket::Stream(Stream::new(stream, address)),
            Err(error) => {
                plug.socket = Socket::Gone;
                self.world.abort_stream(session, Role::Client);
                self.warn(format!("a connection from {address} is lost: {error}"));
            }
        }
        self.pump(session);
        true
    }

    /// Reads a datagram of a server. True if there may be more.
    pub(super) fn read_server(&mut self, session: u64, buffer: &mut [u8]) -> bool {
        let Some(conversation) = self.conversations.get_mut(&session) else { return false };
        let length = match conversation.plug(Role::Server).and_then(|plug| plug.receive_datagram(buffer)) {
            Some(Ok(length)) => length,
            Some(Err(message)) => {
                self.fail(session, Role::Server, message);
                return true;
            }
            None => return false,
        };
        self.advance();
        let now = self.world.now();
        let Some(conversation) = self.conversations.get_mut(&session) else { return false };
        (conversation.is_answered, conversation.active) = (true, now);
        let (listener, is_secure) = (conversation.listener, conversation.is_secure());
        self.opened.speech(listener).note_answer(is_secure);
        self.world.put(session, Role::Server, buffer[..length].to_vec());
        self.world.wake(session, Role::Server, &mut self.watch);
        self.hand_over();
        true
    }

    /// The first packet of a kernel's client to the emulated server opens a conversation.
    pub(super) fn admit_packet(&mut self, packet: &[u8]) {
        let Some((source, destination)) = slowhand_lab::live::end_points_of(packet, self.is_stream) else { return };
        let Some(Host::Node(node)) = Host::of_address(source.address) else { return };
        if !(1..self.parents.len()).contains(&node.index()) || !self.begins(packet) {
            return;
        }
        let [_, server] = self.world.endpoints(node);
        if destination != server || !self.has_ended_earlier(node, source.port) {
            return;
        }
        if let Err(refusal) = self.place(&[node]) {
            return self.refuse(refusal.reason());
        }
        let opening = Opening {
            node: node.0,
            client_port: Some(source.port),
            server_port: Some(server.port),
            starts_now: true,
            ends: [EndKind::Outside, EndKind::Echoes],
            gives_up: GivesUp::InHandshake,
        };
        let session = self.open(opening, [None, None], None);
        self.of_port.insert((node, source.port), session);
        self.world.run_until(self.world.now(), &mut self.watch);
    }

    /// A packet of a session of an interface's client has come, or goes to the client.
    pub(super) fn note_packet(&mut self, packet: &[u8], goes_to_client: bool) {
        if self.of_port.is_empty() {
            return;
        }
        let Some((source, destination)) = slowhand_lab::live::end_points_of(packet, self.is_stream) else { return };
        let client = if goes_to_client { destination } else { source };
        let Some(Host::Node(node)) = Host::of_address(client.address) else { return };
        let Some(session) = self.of_port.get(&(node, client.port)) else { return };
        if let Some(conversation) = self.conversations.get_mut(session) {
            conversation.active = self.world.now();
            conversation.is_answered |= goes_to_client;
        }
    }

    /// True if a packet is the first of a session: a ClientHello, or a SYN.
    fn begins(&self, packet: &[u8]) -> bool {
        match self.is_stream {
            true => packet
                .get(Ipv6Header::LENGTH..)
                .and_then(|segment| Segment::parse(segment).ok())
                .is_some_and(|segment| segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)),
            false => packet.get(UdpDatagram::HEADERS..).is_some_and(admission::is_client_hello),
        }
    }

    /// True if no session has this port of a node any more: one that is complete ends for the next one of its port.
    fn has_ended_earlier(&mut self, node: NodeId, port: u16) -> bool {
        let Some(&session) = self.of_port.get(&(node, port)) else { return true };
        let is_complete = |conversation: &Conversation| conversation.is_established || conversation.ended.is_some();
        let ends = self.conversations.get(&session).is_none_or(is_complete);
        if ends {
            self.end_conversation(session);
            self.close_conversation(session);
        }
        ends
    }
}
