//! A world that its caller drives: `slowhand live` runs one against the wall clock.
//!
//! It is the same world as that of a run, event by event: the caller says until when, opens conversations while it runs,
//! and may put ends of its own into them. An end is the library of the scenario on its device, or a session of the
//! caller's, which passes everything to a program, or a host outside of the world, which sends and receives whole packets.

use crate::application::{Application, OpenAndStop};
use crate::explanation::{Air, Explanation, Told};
use crate::ids::EndId;
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::record::{Conversation as Report, Record};
use crate::scenario::Scenario;
use crate::world::live::{Outside, end_points};
use crate::world::silent::Silent;
use crate::world::{Opening, World};
use serde::{Deserialize, Serialize};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Network, SendError};
use slowhand_net::observer::Observer;
use slowhand_net::random::Streams;
use slowhand_sessions::{Role, Session, Status};
use std::collections::BTreeSet;

pub use crate::ids::ConversationId;
pub use crate::world::conversation::GivesUp;
pub use crate::world::ledger::DatagramCounts;
pub use crate::world::live::{ConversationState, StreamState};
pub use crate::world::{AFTERMATH, to_std};

/// A world, its conversations, and the time until which it has run.
pub struct Live<'a> {
    plan: &'a Plan,
    world: World<'a>,
    streams: Streams,
    seed: u64,
    /// The clients that had a conversation.
    clients: BTreeSet<NodeId>,
    /// The number of conversations opened.
    opened: u64,
    /// The time until which the world has run.
    now: Instant,
}

/// The hosts that are outside of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    /// All nodes of the mesh but the border router.
    pub nodes: bool,
    /// The border router, and the hosts on the Internet.
    pub internet: bool,
}

/// One end of a conversation.
pub enum End {
    /// The library of the scenario on its device, with this application above it.
    Library(Box<dyn Application>),
    /// A session of the caller's. If the other end is none of a library, the conversation is not over before the caller
    /// says so ([`Live::complete`]).
    Own(Box<dyn Session>),
    /// A host that is outside, and what the caller knows of its session. The same holds as for a session of the caller's.
    Told(Box<dyn Fn() -> Status + Send>),
    /// A host that is outside. What it verifies is not known: the handshake is complete when the other end has completed it.
    Outside,
}

/// A conversation to open.
pub struct NewConversation {
    /// The node of the client.
    pub client: NodeId,
    /// The client's port. `None`: that of the scenario.
    pub client_port: Option<u16>,
    /// The server's port. `None`: that of the scenario.
    pub server_port: Option<u16>,
    /// When it begins. `None`: when the scenario says.
    pub at: Option<Instant>,
    /// The client's end and the server's.
    pub ends: [End; 2],
    /// When it ends with the outcome `gave_up`.
    pub gives_up: GivesUp,
}

impl<'a> Live<'a> {
    /// The world of a seed, without conversations. The flows of other traffic begin in it.
    pub fn new(plan: &'a Plan, seed: u64, outside: Hosts) -> Self {
        let Hosts { nodes, internet } = outside;
        let world = World::live(plan, seed, Outside::new(nodes, internet));
        Self { plan, world, streams: Streams::new(seed), seed, clients: BTreeSet::new(), opened: 0, now: Instant::ZERO }
    }

    /// Makes this world keep what its ends do, to explain a handshake.
    pub fn with_trace(self) -> Self {
        Self { world: self.world.with_trace(), ..self }
    }

    /// Where the time of the handshake of a conversation went, in a world with a trace that is over. `air` has observed it from its
    /// beginning.
    pub fn explain(&mut self, conversation: ConversationId, scenario: &Scenario, air: Air) -> Option<Explanation> {
        let trace = self.world.take_trace()?;
        let upto = trace.clients.ids().take_while(|&one| one <= conversation);
        let records: Vec<Record> = upto.map(|one| self.world.report_now(one).handshake).collect();
        let last = records.len().checked_sub(1)?;
        Told::new(records, trace, air).explain(scenario, self.plan, last, &Interrupt::default())
    }

    /// When the world has something to do next.
    pub fn deadline(&self) -> Option<Instant> {
        self.world.next_at()
    }

    /// Does everything that is due at `now` or before, each thing at its own instant and in the order of time. A late call
    /// changes nothing of that; only what the caller does with the results is late.
    pub fn run_until(&mut self, now: Instant, observer: &mut dyn Observer) {
        self.now = self.now.max(now);
        self.world.run_until(self.now, observer);
    }

    /// The time until which the world has run.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Opens a conversation.
    pub fn open(&mut self, new: NewConversation) -> ConversationId {
        let NewConversation { client, client_port, server_port, at, ends, gives_up } = new;
        let [mut client_end, mut server_end] = self.plan.endpoints(client);
        client_end.port = client_port.unwrap_or(client_end.port);
        server_end.port = server_port.unwrap_or(server_end.port);
        // The first conversation of each client has the random numbers that it has in a run.
        let [nonces, streams] = match self.clients.insert(client) {
            true => [self.plan.nonces(self.seed), self.streams],
            false => [self.again(), self.again()],
        };
        let has_library = ends.iter().any(|end| matches!(end, End::Library(_)));
        let libraries = match has_library {
            true => self.plan.sessions(client, &nonces).map(Some),
            false => [None, None],
        };
        let mut libraries = libraries.into_iter();
        let [(client_session, client_application), (server_session, server_application)] =
            ends.map(|end| end.parts(libraries.next().flatten(), !has_library));
        let opening = Opening {
            client,
            endpoints: [client_end, server_end],
            sessions: [client_session, server_session],
            applications: [client_application, server_application],
            initial: self.plan.initial_sequence_numbers(client, &streams),
        };
        self.opened += 1;
        let at = at.unwrap_or_else(|| Instant::ZERO + self.plan.start_of(client, &self.streams)).max(self.now);
        self.world.open_at(at, opening, gives_up)
    }

    /// The random numbers of the next conversation of a client that had one before.
    fn again(&self) -> Streams {
        self.streams.substreams("later conversation", self.opened)
    }

    /// A session of the caller's has something to send, or room for input again.
    pub fn wake(&mut self, conversation: ConversationId, role: Role, observer: &mut dyn Observer) {
        self.world.wake(self.now, EndId::of(conversation, role));
        self.world.run_until(self.now, observer);
    }

    /// The program of an end sends no more: its side of the TCP connection closes behind all that it sent.
    pub fn finish_stream(&mut self, conversation: ConversationId, role: Role) {
        self.world.finish_stream(self.now, EndId::of(conversation, role));
    }

    /// The program of an end has reset its connection.
    pub fn abort_stream(&mut self, conversation: ConversationId, role: Role) {
        self.world.abort_stream(self.now, EndId::of(conversation, role));
    }

    /// The TCP connection of an end. `None` over UDP.
    pub fn stream(&self, conversation: ConversationId, role: Role) -> Option<StreamState> {
        self.world.stream_state(EndId::of(conversation, role))
    }

    /// The state of a conversation.
    pub fn state(&self, conversation: ConversationId) -> ConversationState {
        self.world.conversation_state(conversation)
    }

    /// Ends a conversation, as if both applications had finished.
    pub fn complete(&mut self, conversation: ConversationId) {
        self.world.complete(self.now, conversation);
    }

    /// True if nothing of a conversation is on its way, and no end computes or has something to send again.
    pub fn is_settled(&self, conversation: ConversationId) -> bool {
        self.state(conversation).on_their_way == 0 && !self.world.is_at_work(self.now, conversation)
    }

    /// A conversation without handshake carries data from now on.
    pub fn skip_handshake(&mut self, conversation: ConversationId) {
        self.world.skip_handshake(self.now, conversation);
    }

    /// Ends a conversation: it has failed at this end.
    pub fn fail(&mut self, conversation: ConversationId, role: Role, reason: &str) {
        self.world.fail(self.now, EndId::of(conversation, role), reason);
    }

    /// Forgets what no report asks for any more. Call it now and then, with times between that are longer than a datagram
    /// takes.
    pub fn prune(&mut self) {
        self.world.prune(self.now);
    }

    /// The report of a conversation that is over, as far as it is known now: datagrams may still be on their
    /// way ([`ConversationState::on_their_way`]).
    pub fn report(&self, conversation: ConversationId) -> Report {
        self.world.report_now(conversation)
    }

    /// The time that the handshake of a conversation took, in seconds, or has taken.
    pub fn handshake_s(&self, conversation: ConversationId) -> f64 {
        self.world.handshake_s(conversation)
    }

    /// Forgets a conversation: nothing of it stays in memory.
    pub fn close(&mut self, conversation: ConversationId) {
        self.world.forget(conversation);
    }

    /// True if a conversation has this port of a client.
    pub fn is_port_taken(&self, client: NodeId, port: u16) -> bool {
        self.world.is_port_taken(client, port)
    }

    /// The two ends of a client's first conversation.
    pub fn endpoints(&self, client: NodeId) -> [Endpoint; 2] {
        self.plan.endpoints(client)
    }

    /// True if all conversations are over, and none of their datagrams is on its way (or it is for more than 60 s).
    pub fn has_ended(&self) -> bool {
        self.world.has_ended(self.now)
    }

    /// The lines of a key log for the sessions of a conversation whose ends are libraries.
    pub fn key_log(&self, conversation: ConversationId) -> Vec<String> {
        let mut lines: Vec<String> =
            Role::BOTH.into_iter().flat_map(|role| self.world.key_log(EndId::of(conversation, role))).collect();
        lines.sort();
        lines.dedup(); // both ends have the same secrets
        lines
    }

    /// Sends a packet from a host that is outside.
    ///
    /// # Errors
    /// The network refuses it: see [`Network::send_packet`].
    pub fn send_packet(&mut self, packet: &[u8], observer: &mut dyn Observer) -> Result<(), SendError> {
        let sent = self.world.send_packet(self.now, packet);
        self.world.run_until(self.now, observer);
        sent
    }

    /// Takes the packets that have arrived at hosts that are outside.
    pub fn take_packets(&mut self, packets: &mut Vec<(Host, Vec<u8>)>) {
        self.world.take_packets(packets);
    }

    /// The fate of all datagrams and segments so far.
    pub fn datagrams(&self) -> &DatagramCounts {
        self.world.datagram_counts().0
    }

    /// The number of datagrams and segments on their way.
    pub fn datagrams_on_their_way(&self) -> u64 {
        self.world.datagram_counts().1
    }

    /// The network, to change it or to look at it. Run until now before.
    pub fn network(&mut self) -> &mut Network {
        self.world.network()
    }
}

impl End {
    /// The session and the application. The conversation `is_endless` if no library is in it.
    fn parts(self, library: Option<Box<dyn Session>>, is_endless: bool) -> (Box<dyn Session>, Box<dyn Application>) {
        let application =
            || -> Box<dyn Application> { if is_endless { Box::new(Endless) } else { Box::new(OpenAndStop) } };
        match self {
            Self::Library(application) => (library.expect("built for every end that is one"), application),
            Self::Own(session) => (session, application()),
            Self::Told(status) => (Box::new(Silent::telling(status)), application()),
            Self::Outside => (Box::new(Silent::established()), application()),
        }
    }
}

/// Source and destination of an IPv6 packet with a UDP datagram, or with a TCP segment if `is_stream`.
pub fn end_points_of(packet: &[u8], is_stream: bool) -> Option<(Endpoint, Endpoint)> {
    let (source, destination, is_tcp) = end_points(packet)?;
    (is_tcp == is_stream).then_some((source, destination))
}

/// The application of two programs, whose end no one else knows.
struct Endless;

impl Application for Endless {
    fn is_finished(&self) -> bool {
        false
    }
}
