//! A world: one network in virtual time, the conversations across it, and what they cost.
//!
//! A session never sees a radio and a radio never sees a session: they meet here. An end of a conversation is a
//! session, the application above it ([`Application`](crate::application::Application)), and the connection below
//! it: TCP where the session needs a stream, DCCP where the scenario asks for it. A device that computes does nothing else
//! meanwhile: datagrams and timeouts wait for it.
//!
//! # Modules
//!
//! | modules | hold |
//! | --- | --- |
//! | `end` | one end of a conversation: its session, its application, and the computer that runs both |
//! | `stream`, `tcp` | the TCP connection below a session of TLS |
//! | `carrier`, `dccp` | the DCCP connection below a session of DTLS |
//! | `conversation` | the phases of a conversation (handshake, data, closing), and its record |
//! | `attempts` | clients that try again after a handshake that failed: each attempt is a conversation of its own |
//! | `part`, `delegation` | what a conversation is of an attempt; a delegate opens the session of a client: the conversations of such an attempt, one after the other |
//! | `slots` | who gets a session slot of a server, in front of its sessions |
//! | `traffic` | sends the datagrams of other traffic, and keeps their account |
//! | `ledger`, `meter` | the account of every datagram; the observer that counts its frames |
//! | `retransmission`, `segments` | which DTLS datagrams and TCP segments were sent before |
//! | `payload` | what a session sends, as the network takes it |
//! | `trace` | what the ends did, each step with its cause; kept only for an explanation or a capture |
//! | `run` | runs the world of a plan and a seed to its end |
//! | `silent` | a session that takes nothing and sends nothing |
//! | `live` | conversations that are opened while the world runs, and hosts outside of it |

mod attempts;
mod carrier;
pub(crate) mod conversation;
mod dccp;
mod delegation;
mod end;
pub(crate) mod ledger;
pub(crate) mod live;
pub(crate) mod meter;
mod part;
mod payload;
pub(crate) mod retransmission;
mod run;
mod segments;
pub(crate) mod silent;
pub(crate) mod slots;
mod stream;
mod tcp;
pub(crate) mod trace;
mod traffic;

use crate::admission::Slots;
use crate::application::{Application, Applications};
use crate::energy::Times;
use crate::ids::{ComputerId, ConversationId, EndId, FlowId, Table};
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::record::{Conversation as Report, Failure, Outcome, Phase};
use attempts::Retries;
use carrier::Dccp;
use conversation::{Conversation, GivesUp};
use end::{Computer, End};
use ledger::Ledger;
use live::Outside;
use meter::Meter;
use part::Part;
use payload::Payload;
use retransmission::Reader;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Event as NetworkEvent, Events as NetworkEvents, Network};
use slowhand_net::observer::Observer;
use slowhand_net::queue::EventQueue;
use slowhand_net::random::{Stream as Random, Streams};
use slowhand_sessions::{Role, Session};
use std::collections::BTreeMap;
use stream::Stream;
use trace::{Attempt, Cause, Lost, StepId, Trace};
use traffic::Traffic;

/// The longest time that the world goes on after the last conversation, so that datagrams on their way are
/// accounted for: the longest that reassembly waits (RFC 4944, section 5.3).
pub const AFTERMATH: Duration = Duration::from_secs(60);

/// A network and the conversations across it.
pub(crate) struct World<'a> {
    plan: &'a Plan,
    seed: u64,
    network: Network,
    events: EventQueue<Event>,
    /// The computer of every node, and last that of the Internet host.
    computers: Table<ComputerId, Computer>,
    ends: Table<EndId, End>,
    conversations: Table<ConversationId, Conversation>,
    /// The conversation of each client's port.
    of_port: BTreeMap<(Host, u16), ConversationId>,
    /// The numbers of conversations that are forgotten, for others.
    vacant: Vec<ConversationId>,
    /// The time that the nodes computed for conversations whose numbers others have now, and the part of their TPMs.
    computed_before: BTreeMap<NodeId, [std::time::Duration; 2]>,
    /// The number of conversations that are not over, and of clients that wait before their next attempt.
    open: usize,
    /// The policy by which clients try again. `None`: they do not.
    retries: Option<Retries>,
    /// The applications of clients and servers. `None` if each conversation comes with its own.
    applications: Option<&'a Applications<'a>>,
    /// The session slots of the servers. `None`: there is one for each client.
    slots: Option<Slots>,
    /// The lines of a key log for sessions that are gone.
    key_log: Vec<String>,
    ledger: Ledger,
    /// The random stream of each flow of other traffic.
    traffic: Table<FlowId, Random>,
    network_events: NetworkEvents,
    /// The segment that is being sent; kept for its memory.
    segment: Vec<u8>,
    /// The steps of the ends, each with its cause. `None` if nobody asks.
    trace: Option<Box<Trace>>,
    /// The hosts that are outside of this world, such as a kernel. `None` in virtual time.
    outside: Option<Box<Outside>>,
}

/// A conversation that begins.
pub(crate) struct Opening {
    /// By which its conversation is known: the node of its client; with servers at the leaves, of its server.
    pub(crate) client: NodeId,
    /// Where each end is, the client's first, as everything here.
    pub(crate) endpoints: [Endpoint; 2],
    pub(crate) sessions: [Box<dyn Session>; 2],
    pub(crate) applications: [Box<dyn Application>; 2],
    /// The initial sequence numbers of TCP or DCCP. Without effect over UDP.
    pub(crate) initial: [u32; 2],
}

/// The results of a world.
pub(crate) struct Finished {
    /// One for each conversation, by client.
    pub(crate) conversations: Vec<Report>,
    /// The lines of a key log for all sessions.
    pub(crate) key_log: Vec<String>,
    /// When the last conversation was over.
    pub(crate) end: Instant,
    /// The time of each node until then, by state.
    pub(crate) times: Vec<Times>,
    /// The steps of the ends, if the world kept them.
    pub(crate) trace: Option<Box<Trace>>,
}

/// The events that are due in the world, apart from the network.
enum Event {
    /// A client begins. The cause of a delegate is what it was asked.
    Start { conversation: ConversationId, cause: Cause },
    /// The client of a conversation that has failed tries again.
    Retry { conversation: ConversationId },
    /// An end has a datagram ready, or writes to its stream. It belongs to this phase of the conversation or to a later
    /// one.
    Send { end: EndId, phase: Phase, payload: Payload, by: StepId },
    /// A session's timer is due.
    SessionTimeout { end: EndId },
    /// A timer of the TCP connection below a session is due.
    StreamTimeout { end: EndId },
    /// A timer of the DCCP connection below a session is due.
    DccpTimeout { end: EndId },
    /// The application of an end may act: its session has something for it.
    Application { end: EndId },
    /// The timer of an application is due.
    ApplicationTimeout { end: EndId },
    /// A computer has finished what it computed.
    Resume { computer: ComputerId },
    /// Both ends have verified the peer's Finished.
    Established { conversation: ConversationId },
    /// A conversation has failed.
    Failed { conversation: ConversationId, outcome: Outcome, failure: Failure },
    /// A conversation has taken too long.
    GaveUp { conversation: ConversationId },
    /// A flow of other traffic sends.
    Traffic { flow: FlowId },
}

impl Event {
    /// True if it is of a conversation.
    fn is_of(&self, conversation: ConversationId) -> bool {
        match *self {
            Self::Start { conversation: of, .. }
            | Self::Retry { conversation: of }
            | Self::Established { conversation: of }
            | Self::Failed { conversation: of, .. }
            | Self::GaveUp { conversation: of } => of == conversation,
            Self::Send { end, .. }
            | Self::SessionTimeout { end }
            | Self::StreamTimeout { end }
            | Self::DccpTimeout { end }
            | Self::Application { end }
            | Self::ApplicationTimeout { end } => end.conversation() == conversation,
            Self::Resume { .. } | Self::Traffic { .. } => false,
        }
    }
}

impl<'a> World<'a> {
    /// A world in which nothing has happened yet. `None` if it is interrupted: many sessions take time to make.
    pub(crate) fn new(
        plan: &'a Plan,
        seed: u64,
        applications: &'a Applications<'a>,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        let mut world = Self::empty(plan, seed);
        let (streams, nonces) = (Streams::new(seed), plan.nonces(seed));
        world.retries = plan.retry.map(|policy| Retries::new(policy, streams));
        world.applications = Some(applications);
        world.slots = plan.slots.map(Slots::new);
        for &client in plan.clients() {
            if interrupt.is_set() {
                return None;
            }
            let conversation = world.open_attempt(client, &nonces, &streams, applications);
            world.events.push(
                Instant::ZERO + plan.start_of(client, &streams),
                Event::Start { conversation, cause: Cause::Start },
            );
        }
        world.begin_traffic();
        Some(world)
    }

    /// A world without conversations.
    fn empty(plan: &'a Plan, seed: u64) -> Self {
        Self {
            plan,
            seed,
            network: plan.network(seed),
            events: EventQueue::default(),
            computers: (0..=plan.nodes()).map(|_| Computer::default()).collect(),
            ends: Table::default(),
            conversations: Table::default(),
            of_port: BTreeMap::new(),
            vacant: Vec::new(),
            computed_before: BTreeMap::new(),
            open: 0,
            retries: None,
            applications: None,
            slots: None,
            key_log: Vec::new(),
            ledger: Ledger::new(),
            traffic: Table::default(),
            network_events: NetworkEvents::default(),
            segment: Vec::new(),
            trace: None,
            outside: None,
        }
    }

    /// Adds a conversation, in which nothing has happened yet; returns its number.
    fn open(&mut self, opening: Opening) -> ConversationId {
        self.open_part(opening, Part::Whole)
    }

    /// As [`open`](Self::open); the conversation is this part of an attempt.
    fn open_part(&mut self, opening: Opening, part: Part) -> ConversationId {
        let Opening { client, endpoints, sessions, applications, initial } = opening;
        let conversation = self.vacant.pop().unwrap_or_else(|| self.conversations.next());
        let hosts = part.hosts(self.plan, client);
        let [client_end, server_end] = endpoints;
        let endpoints = [(client_end, server_end), (server_end, client_end)];
        let ends = sessions.into_iter().zip(applications).zip(hosts).zip(endpoints).zip(Role::BOTH);
        for ((((session, application), host), (local, peer)), role) in ends {
            let peer_of_client = (role == Role::Client).then_some(peer);
            let stream = self
                .plan
                .transport(role)
                .filter(|_| !self.is_outside(host)) // it has a TCP of its own
                .map(|transport| Stream::new(transport, local, peer_of_client, initial[role]));
            let dccp = self
                .plan
                .dccp()
                .filter(|_| !self.is_outside(host))
                .map(|config| Dccp::new(config, local, peer_of_client, initial[role]));
            let computer = self.computer_of(host);
            let end = End::new(session, stream, dccp, application, host, computer, [local, peer]);
            if let Some(End { host: Host::Node(node), computed, tpm, .. }) =
                self.ends.put(EndId::of(conversation, role), end)
            {
                let before = self.computed_before.entry(node).or_default();
                *before = [before[0] + computed, before[1] + tpm];
            }
        }
        self.conversations.put(conversation, Conversation::new(client, part));
        self.of_port.insert((hosts[Role::Client], client_end.port), conversation);
        self.ledger.open(conversation, Reader::new(part.protocol(self.plan), self.plan.connection_id()));
        self.open += 1;
        conversation
    }

    /// Makes this world keep what its ends do.
    pub(crate) fn with_trace(self) -> Self {
        Self { trace: Some(Box::default()), ..self }
    }

    /// Runs the world to its end. The observer sees the timelines of the radios to the end of the last conversation at
    /// least. `None` if it is interrupted.
    pub(crate) fn run(mut self, interrupt: &Interrupt, observer: &mut dyn Observer) -> Option<Finished> {
        while self.open > 0 {
            if interrupt.is_set() {
                return None;
            }
            // A conversation that is not over has at least the event of its giving up before it, a client that waits that of
            // its next attempt.
            let Some(now) = self.deadline() else { break };
            self.step(now, observer);
        }
        let end = self.conversations.iter().filter_map(Conversation::end).max().unwrap_or_default();
        self.network.report_radios(end, observer);
        let times = self.times(end);
        let give_up = end + AFTERMATH;
        while let Some(now) = self.network.deadline().filter(|&at| at <= give_up && self.ledger.any_on_its_way()) {
            if interrupt.is_set() {
                return None;
            }
            self.run_network(now, observer);
        }
        let mut key_log = std::mem::take(&mut self.key_log);
        key_log.extend(self.ends.iter().flat_map(|end| end.session.key_log()));
        key_log.sort();
        key_log.dedup(); // both ends of a session have the same secrets
        let peaks = self.peaks();
        let last_attempts = self.last_attempts();
        let conversations = last_attempts.iter().map(|&number| self.report(number, &peaks)).collect();
        let trace = self.take_trace();
        Some(Finished { conversations, key_log, end, times, trace })
    }

    /// The steps of the ends, if they were kept, at the end of the world.
    pub(crate) fn take_trace(&mut self) -> Option<Box<Trace>> {
        let mut trace = self.trace.take()?;
        let numbers = self.conversations.ids();
        trace.spans = numbers.clone().map(|number| self.handshake_span(number)).collect();
        let hosts = |number: ConversationId| number.ends().map(|end| self.ends[end].host);
        trace.hosts = numbers.clone().map(hosts).collect();
        let parts = self.conversations.iter().map(|conversation| conversation.part);
        trace.protocols = parts.map(|part| part.protocol(self.plan)).collect();
        trace.clients = self.conversations.iter().map(|conversation| conversation.client).collect();
        let attempt = |number: ConversationId| Attempt {
            conversation: number,
            outcome: self.conversations[number].outcome_of_handshake(),
            is_hand_over: self.conversations[number].part.is_hand_over(),
        };
        // The client waits for what its delegate does, as a part of the hand-over.
        let is_own = |number: &ConversationId| !self.conversations[*number].part.is_delegated();
        let attempts = |&last: &ConversationId| self.attempts(last).into_iter().filter(is_own).map(attempt).collect();
        trace.attempts = self.last_attempts().iter().map(attempts).collect();
        trace.repeated = numbers.flat_map(|number| self.ledger.repeated(number)).collect();
        Some(trace)
    }

    /// The time of each node, by state.
    fn times(&self, now: Instant) -> Vec<Times> {
        let nodes = (0..self.plan.nodes()).map(|node| NodeId(node as u16));
        let mut times: Vec<Times> = nodes.map(|node| Times::of(&self.network, node, now)).collect();
        for (node, computed, tpm) in self.computed() {
            times[node.index()].computed += computed;
            times[node.index()].tpm += tpm;
        }
        times
    }

    /// The time of a node, by state.
    fn times_of(&self, node: NodeId, now: Instant) -> Times {
        let mut times = Times::of(&self.network, node, now);
        for (_, computed, tpm) in self.computed().filter(|&(at, ..)| at == node) {
            times.computed += computed;
            times.tpm += tpm;
        }
        times
    }

    /// The time that sessions have computed on nodes, and the part of their TPMs. A node may be there more than once.
    fn computed(&self) -> impl Iterator<Item = (NodeId, std::time::Duration, std::time::Duration)> + '_ {
        let ends = self.ends.iter().filter_map(|end| match end.host {
            Host::Node(node) => Some((node, end.computed, end.tpm)),
            Host::Internet => None,
        });
        ends.chain(self.computed_before.iter().map(|(&node, &[computed, tpm])| (node, computed, tpm)))
    }

    /// When something is due.
    fn deadline(&self) -> Option<Instant> {
        [self.network.deadline(), self.events.next_at()].into_iter().flatten().min()
    }

    /// Does what is due at `now`: first on the air, then at the ends.
    fn step(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.network.deadline() == Some(now) {
            self.run_network(now, observer);
        }
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Start { conversation, cause } => self.start(now, conversation, cause),
                Event::Retry { conversation } => self.retry(now, conversation),
                Event::Send { end, phase, payload, by } => {
                    self.begin_step(now, end, Cause::Ready { by });
                    self.handle_send(now, end, phase, payload);
                }
                Event::SessionTimeout { end } => self.handle_session_timeout(now, end),
                Event::StreamTimeout { end } => self.handle_stream_timeout(now, end),
                Event::DccpTimeout { end } => self.handle_dccp_timeout(now, end),
                Event::Application { end } => self.handle_application(now, end),
                Event::ApplicationTimeout { end } => self.handle_application_timeout(now, end),
                Event::Resume { computer } => self.resume(now, computer),
                Event::Established { conversation } => self.establish(now, conversation),
                Event::Failed { conversation, outcome, failure } => {
                    self.end(now, conversation, outcome, Some(failure));
                }
                Event::GaveUp { conversation } => {
                    let Conversation { gives_up, .. } = self.conversations[conversation];
                    if gives_up == GivesUp::Always || !self.conversations[conversation].is_established() {
                        self.end(now, conversation, Outcome::GaveUp, None);
                    }
                }
                Event::Traffic { flow } => self.send_traffic(now, flow),
            }
        }
    }

    fn run_network(&mut self, now: Instant, observer: &mut dyn Observer) {
        let mut events = std::mem::take(&mut self.network_events);
        let mut meter = Meter::new(&mut self.ledger, self.plan.is_acknowledged, observer);
        self.network.handle_deadline(now, &mut events, &mut meter);
        self.handle_network_events(now, &mut events);
        self.network_events = events;
    }

    fn handle_network_events(&mut self, now: Instant, events: &mut NetworkEvents) {
        let step = self.step_number();
        self.note_events(events);
        self.hand_over(events);
        for event in events.iter() {
            match event {
                NetworkEvent::Lost { at, datagram, reason, host, holders } => {
                    let holders = self.ledger.holders(holders);
                    self.note(|trace| trace.lose(Lost { at, datagram, host, reason, holders }));
                    self.ledger.lost(datagram, reason, host, holders);
                }
                NetworkEvent::Delivered { datagram, at, .. } if Traffic::has(datagram) => {
                    self.ledger.traffic.arrived(datagram, at);
                }
                NetworkEvent::Delivered { host, datagram, source, destination, .. } if self.is_outside(host) => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.end_at(host, destination, source) {
                        self.begin_outside(now, end, Some(datagram));
                    }
                }
                NetworkEvent::Segment { host, datagram, .. } | NetworkEvent::Packet { host, datagram, .. }
                    if self.is_outside(host) =>
                {
                    self.ledger.arrived(datagram);
                }
                NetworkEvent::Segment { datagram, host, packet, .. } => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.receiver(host, &packet) {
                        self.receive_segment(now, end, datagram, &packet);
                    }
                }
                NetworkEvent::Intercepted { datagram, .. } => self.ledger.arrived(datagram),
                NetworkEvent::Beacon { .. } => {} // all nodes have joined
                // A packet of DCCP; or an error of a router, or an ICMPv6 message of a kernel, for which no session asks.
                NetworkEvent::Packet { datagram, host, packet, .. } => {
                    self.ledger.arrived(datagram);
                    self.receive_dccp(now, host, datagram, packet);
                }
                NetworkEvent::Originated { datagram, packet, .. } => {
                    let sender = self.sender(&packet).filter(|end| !self.conversations[end.conversation()].is_over());
                    if let Some(end) = sender {
                        let phase = self.conversations[end.conversation()].phase();
                        self.ledger.originated(datagram, end, phase, packet.segment);
                    }
                }
                NetworkEvent::Delivered { datagram, host, source, destination, payload, .. } => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.end_at(host, destination, source) {
                        self.receive(now, end, datagram, payload);
                    }
                }
            }
        }
        // An event of the last phases may have been the last thing that a conversation waited for.
        while let Some(conversation) = self.ledger.pop_settled() {
            self.end_if_finished(now, conversation);
        }
        events.clear();
        self.note(|trace| trace.resume(step));
    }

    /// Keeps what became of datagrams, if someone asks.
    fn note_events(&mut self, events: &NetworkEvents) {
        let Some(mut trace) = self.trace.take() else { return };
        for event in events.iter() {
            match event {
                NetworkEvent::Delivered { at, host, datagram, .. }
                | NetworkEvent::Segment { at, host, datagram, .. } => {
                    trace.arrive(at, host, datagram);
                }
                NetworkEvent::Packet { at, host, datagram, packet } if dccp::is_packet(packet) => {
                    trace.arrive(at, host, datagram);
                }
                NetworkEvent::Intercepted { at, host, datagram } => trace.intercept(at, host, datagram),
                NetworkEvent::Originated { at, datagram, packet } => {
                    if let Some(end) = self.sender(&packet) {
                        trace.originate(at, end, datagram, packet.segment);
                    }
                }
                NetworkEvent::Lost { .. } | NetworkEvent::Packet { .. } | NetworkEvent::Beacon { .. } => {}
            }
        }
        self.trace = Some(trace);
    }

    /// Keeps something in the trace, if there is one.
    fn note(&mut self, keep: impl FnOnce(&mut Trace)) {
        if let Some(trace) = &mut self.trace {
            keep(trace);
        }
    }

    /// An end does something: a step of the trace.
    fn begin_step(&mut self, now: Instant, end: EndId, cause: Cause) {
        self.note(|trace| trace.begin(now, end, cause));
    }

    /// An end outside of the world does something: the same.
    fn begin_outside(&mut self, now: Instant, end: EndId, arrived: Option<DatagramId>) {
        self.note(|trace| trace.begin_outside(now, end, arrived));
    }

    /// The number of the present step.
    fn step_number(&self) -> StepId {
        self.trace.as_ref().map_or(0, |trace| trace.current())
    }

    /// The end of a conversation.
    fn end_at(&self, host: Host, local: Endpoint, peer: Endpoint) -> Option<EndId> {
        let of_client = |endpoint: Endpoint| match Host::of_address(endpoint.address) {
            Some(host) => self.of_port.get(&(host, endpoint.port)).copied(),
            None => None,
        };
        let clients = [local, peer].into_iter().zip(Role::BOTH);
        let mut ends = clients.filter_map(|(client, role)| Some(EndId::of(of_client(client)?, role)));
        let is_this_end = |end: &EndId| {
            let end = &self.ends[*end];
            end.host == host && end.local == local && end.peer == peer
        };
        ends.find(is_this_end)
    }

    fn start(&mut self, now: Instant, conversation: ConversationId, cause: Cause) {
        if self.conversations[conversation].gives_up != GivesUp::Never {
            let at = self.attempt_began(now, conversation) + self.plan.give_up;
            self.events.push(at.max(now), Event::GaveUp { conversation });
        }
        self.network.begin_burst(now, self.client_node(conversation));
        let end = EndId::of(conversation, Role::Client);
        self.begin_step(now, end, cause);
        if self.ends[end].stream.is_some() {
            return self.transmit(now, end);
        }
        if self.ends[end].dccp.is_some() {
            return self.transmit_dccp(now, end);
        }
        let asked = self.snapshot(now, conversation);
        self.ends[end].session.start(to_std(now));
        self.after_call(now, end);
        if self.ends[end].has_unsent() {
            self.begin_with(asked, conversation);
        }
    }

    /// The node of a conversation's client.
    fn client_node(&self, conversation: ConversationId) -> NodeId {
        match self.ends[EndId::of(conversation, Role::Client)].host {
            Host::Node(node) => node,
            Host::Internet => NodeId::ROOT, // no client is there
        }
    }

    fn computer_of(&self, host: Host) -> ComputerId {
        ComputerId::of(host, self.plan.nodes(), 0)
    }
}

/// The time of the network, as sessions have it.
pub fn to_std(at: Instant) -> std::time::Duration {
    std::time::Duration::from_micros(at.as_micros())
}

/// The microsecond in which a session's time lies, rounded up: nothing happens early.
pub(crate) fn from_std(at: std::time::Duration) -> Instant {
    Instant::from_micros(at.as_nanos().div_ceil(1_000) as u64)
}
