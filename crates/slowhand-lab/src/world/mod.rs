//! A world: one network in virtual time, the conversations across it, and what they cost.
//!
//! A session never sees a radio and a radio never sees a session: they meet here. An end of a conversation is a
//! session, the application above it ([`Application`](crate::application::Application)), and the TCP connection below
//! it where the session needs a stream. A device that computes does nothing else meanwhile: datagrams and timeouts wait
//! for it.

mod conversation;
mod end;
mod ledger;
mod meter;
mod retransmission;
mod run;
mod segments;
mod stream;
mod tcp;
pub(crate) mod trace;
mod traffic;

use crate::application::Applications;
use crate::energy::Times;
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::record::{Conversation as Report, Failure, Outcome, Phase};
use conversation::Conversation;
use end::{Computer, End};
use ledger::Ledger;
use meter::Meter;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Event as NetworkEvent, Events as NetworkEvents, Network};
use slowhand_net::observer::Observer;
use slowhand_net::queue::EventQueue;
use slowhand_net::random::{Stream as Random, Streams};
use slowhand_sessions::Role;
use std::sync::Arc;
use stream::Stream;
use trace::{Cause, Lost, StepId, Trace};
use traffic::Traffic;

/// The longest time that the world goes on after the last conversation, so that datagrams on their way are
/// accounted for: the longest that reassembly waits (RFC 4944, section 5.3).
const AFTERMATH: Duration = Duration::from_secs(60);

/// A network and the conversations across it.
pub(crate) struct World<'a> {
    plan: &'a Plan,
    seed: u64,
    network: Network,
    events: EventQueue<Event>,
    /// The computer of every node, and last that of the Internet host.
    computers: Vec<Computer>,
    /// The client's and the server's end of every conversation in turn.
    ends: Vec<End>,
    conversations: Vec<Conversation>,
    /// How many conversations are not over.
    open: usize,
    ledger: Ledger,
    /// The random stream of each flow of other traffic.
    traffic: Vec<Random>,
    network_events: NetworkEvents,
    /// The segment that is being sent; kept for its memory.
    segment: Vec<u8>,
    /// What the ends do, each step with its cause. `None` if nobody asks.
    trace: Option<Box<Trace>>,
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
    /// What the ends did, if the world kept it.
    pub(crate) trace: Option<Box<Trace>>,
}

/// What is due in the world, apart from the network.
enum Event {
    /// A client begins.
    Start { conversation: usize },
    /// An end has a datagram ready, or writes to its stream. It belongs to this phase of the conversation or to a later
    /// one.
    Send { end: usize, phase: Phase, octets: Vec<u8>, by: StepId },
    /// A session's timer is due.
    SessionTimeout { end: usize },
    /// A timer of the connection below a session is due.
    StreamTimeout { end: usize },
    /// The application of an end may act: its session has something for it.
    Application { end: usize },
    /// The timer of an application is due.
    ApplicationTimeout { end: usize },
    /// A computer has finished what it computed.
    Resume { computer: usize },
    /// Both ends have verified the peer's Finished.
    Established { conversation: usize },
    /// A conversation has failed.
    Failed { conversation: usize, outcome: Outcome, failure: Failure },
    /// A conversation has taken too long.
    GaveUp { conversation: usize },
    /// A flow of other traffic sends.
    Traffic { flow: usize },
}

impl<'a> World<'a> {
    /// A world in which nothing has happened yet. `None` if it is interrupted: many sessions take time to make.
    pub(crate) fn new(
        plan: &'a Plan,
        seed: u64,
        applications: &Applications<'_>,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        let (streams, nonces) = (Streams::new(seed), plan.nonces(seed));
        let mut world = Self {
            plan,
            seed,
            network: plan.network(seed),
            events: EventQueue::default(),
            computers: (0..=plan.nodes()).map(|_| Computer::default()).collect(),
            ends: Vec::new(),
            conversations: Vec::new(),
            open: plan.clients().len(),
            ledger: Ledger::new(plan.clients().len(), plan.connection_id()),
            traffic: Vec::new(),
            network_events: NetworkEvents::default(),
            segment: Vec::new(),
            trace: None,
        };
        for (number, &client) in plan.clients().iter().enumerate() {
            if interrupt.is_set() {
                return None;
            }
            let [client_end, server_end] = plan.endpoints(client);
            let sessions = plan.sessions(client, &nonces);
            let hosts = [Host::Node(client), plan.server()];
            let endpoints = [(client_end, server_end), (server_end, client_end)];
            for (((session, host), (local, peer)), side) in sessions.into_iter().zip(hosts).zip(endpoints).zip(0..) {
                let stream = plan.transport(side).map(|transport| {
                    let mut initial = streams.stream("initial sequence number", 2 * u64::from(client.0) + side as u64);
                    Stream::new(transport, local, (side == 0).then_some(peer), initial.below(1 << 32) as u32)
                });
                let application = applications(client, [Role::Client, Role::Server][side]);
                let computer = world.computer_of(host);
                world.ends.push(End::new(session, stream, application, host, computer, [local, peer]));
            }
            world.conversations.push(Conversation::new(client));
            let mut start = streams.stream("start", client.0.into());
            let after = Duration::from_micros(start.below(plan.start_spread().as_micros().max(1)));
            world.events.push(Instant::ZERO + plan.start() + after, Event::Start { conversation: number });
        }
        for (number, flow) in plan.traffic().iter().enumerate() {
            let mut random = streams.stream("traffic", number as u64);
            let first = Instant::ZERO + plan.traffic_start() + flow.first(&mut random);
            world.traffic.push(random);
            world.events.push(first, Event::Traffic { flow: number });
        }
        Some(world)
    }

    /// The same world, which keeps what its ends do.
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
            let next = [self.network.deadline(), self.events.next_at()].into_iter().flatten().min();
            // A conversation that is not over has at least the event of its giving up before it.
            let Some(now) = next else { break };
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
        let mut key_log: Vec<String> = self.ends.iter().flat_map(|end| end.session.key_log()).collect();
        key_log.sort();
        key_log.dedup(); // both ends of a session have the same secrets
        let nodes = || (0..self.plan.nodes()).map(|node| NodeId(node as u16));
        let peaks: [Arc<[u64]>; 2] = [
            nodes().map(|node| self.network.queue_peak(node) as u64).collect(),
            nodes().map(|node| self.network.reassembly_peak(node).reserved as u64).collect(),
        ];
        let numbers = 0..self.conversations.len();
        let conversations = numbers.clone().map(|number| self.report(number, &peaks)).collect();
        let mut trace = self.trace.take();
        if let Some(trace) = &mut trace {
            trace.spans = numbers.clone().map(|number| self.handshake_span(number)).collect();
            trace.repeated = numbers.flat_map(|number| self.ledger.repeated(number)).collect();
        }
        Some(Finished { conversations, key_log, end, times, trace })
    }

    /// The time of each node, by state.
    fn times(&self, now: Instant) -> Vec<Times> {
        let mut times: Vec<Times> = (0..self.plan.nodes())
            .map(|node| NodeId(node as u16))
            .map(|node| Times {
                elapsed: to_std(now),
                radio: self.network.radio_times(node, now),
                computed: std::time::Duration::ZERO,
                tpm: std::time::Duration::ZERO,
                waited: std::time::Duration::from_micros(self.network.processor_time(node).as_micros()),
                handled: std::time::Duration::from_micros(self.network.handling_time(node, now).as_micros()),
            })
            .collect();
        for end in &self.ends {
            if let Host::Node(node) = end.host {
                times[node.index()].computed += end.computed;
                times[node.index()].tpm += end.tpm;
            }
        }
        times
    }

    /// Does what is due at `now`: first on the air, then at the ends.
    fn step(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.network.deadline() == Some(now) {
            self.run_network(now, observer);
        }
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Start { conversation } => self.start(now, conversation),
                Event::Send { end, phase, octets, by } => {
                    self.begin_step(now, end, Cause::Ready { by });
                    self.handle_send(now, end, phase, &octets);
                }
                Event::SessionTimeout { end } => self.handle_session_timeout(now, end),
                Event::StreamTimeout { end } => self.handle_stream_timeout(now, end),
                Event::Application { end } => self.handle_application(now, end),
                Event::ApplicationTimeout { end } => self.handle_application_timeout(now, end),
                Event::Resume { computer } => self.resume(now, computer),
                Event::Established { conversation } => self.establish(now, conversation),
                Event::Failed { conversation, outcome, failure } => {
                    self.end(now, conversation, outcome, Some(failure));
                }
                Event::GaveUp { conversation } => self.end(now, conversation, Outcome::GaveUp, None),
                Event::Traffic { flow } => self.send_traffic(now, flow),
            }
        }
    }

    fn run_network(&mut self, now: Instant, observer: &mut dyn Observer) {
        let mut events = std::mem::take(&mut self.network_events);
        let mut meter = Meter::new(&mut self.ledger, self.plan.is_acknowledged(), observer);
        self.network.handle_deadline(now, &mut events, &mut meter);
        self.handle_network_events(now, &mut events);
        self.network_events = events;
    }

    fn handle_network_events(&mut self, now: Instant, events: &mut NetworkEvents) {
        let step = self.step_number();
        self.note_events(events);
        for event in events.iter() {
            match event {
                NetworkEvent::Lost { datagram, reason, host, .. } => self.ledger.lost(datagram, reason, host),
                NetworkEvent::Segment { datagram, host, packet, .. } => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.receiver(host, &packet) {
                        self.receive_segment(now, end, datagram, &packet);
                    }
                }
                NetworkEvent::Intercepted { datagram, .. } => self.ledger.arrived(datagram),
                // An error of a router. No session asks for one.
                NetworkEvent::Packet { .. } => {}
                NetworkEvent::Originated { datagram, packet, .. } => {
                    let sender = self.sender(&packet).filter(|end| !self.conversations[end / 2].is_over());
                    if let Some(end) = sender {
                        let phase = self.conversations[end / 2].phase();
                        self.ledger.originated(datagram, end, phase, packet.segment);
                    }
                }
                NetworkEvent::Delivered { datagram, at, .. } if Traffic::has(datagram) => {
                    self.ledger.traffic.arrived(datagram, at);
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
        if let Some(trace) = &mut self.trace {
            trace.resume(step);
        }
    }

    /// Keeps what became of datagrams, if someone asks.
    fn note_events(&mut self, events: &NetworkEvents) {
        let Some(mut trace) = self.trace.take() else { return };
        for event in events.iter() {
            match event {
                NetworkEvent::Lost { at, host, datagram, reason } => {
                    trace.lose(Lost { at, datagram, host, reason });
                }
                NetworkEvent::Delivered { at, host, datagram, .. }
                | NetworkEvent::Segment { at, host, datagram, .. } => {
                    trace.arrive(at, host, datagram);
                }
                NetworkEvent::Intercepted { at, host, datagram } => trace.intercept(at, host, datagram),
                NetworkEvent::Originated { at, datagram, packet } => {
                    if let Some(end) = self.sender(&packet) {
                        trace.originate(at, end, datagram, packet.segment);
                    }
                }
                NetworkEvent::Packet { .. } => {}
            }
        }
        self.trace = Some(trace);
    }

    /// An end does something: a step of the trace.
    fn begin_step(&mut self, now: Instant, end: usize, cause: Cause) {
        if let Some(trace) = &mut self.trace {
            trace.begin(now, end, cause);
        }
    }

    /// The number of the present step.
    fn step_number(&self) -> StepId {
        self.trace.as_ref().map_or(0, |trace| trace.current())
    }

    /// The end of a conversation: ends are ordered by client, and clients by node.
    fn end_at(&self, host: Host, local: Endpoint, peer: Endpoint) -> Option<usize> {
        let of_client = |address| match Host::of_address(address) {
            Some(Host::Node(node)) => {
                self.conversations.binary_search_by_key(&node, |conversation| conversation.client).ok()
            }
            _ => None,
        };
        let ends =
            [of_client(local.address).map(client_end), of_client(peer.address).map(|client| client_end(client) + 1)];
        let is_this_end = |end: &usize| {
            let end = &self.ends[*end];
            end.host == host && end.local == local && end.peer == peer
        };
        ends.into_iter().flatten().find(is_this_end)
    }

    fn start(&mut self, now: Instant, conversation: usize) {
        let give_up = now + self.plan.give_up();
        self.events.push(give_up, Event::GaveUp { conversation });
        self.network.begin_burst(now, self.conversations[conversation].client);
        let end = client_end(conversation);
        self.begin_step(now, end, Cause::Start);
        if self.ends[end].stream.is_some() {
            return self.transmit(now, end);
        }
        self.ends[end].session.start(to_std(now));
        self.after_call(now, end);
    }

    fn computer_of(&self, host: Host) -> usize {
        match host {
            Host::Node(node) => node.index(),
            Host::Internet => self.computers.len() - 1,
        }
    }
}

/// The client's end of a conversation; the server's comes after it.
const fn client_end(conversation: usize) -> usize {
    2 * conversation
}

/// Which side of its conversation an end is.
const fn role_of(end: usize) -> Role {
    if end.is_multiple_of(2) { Role::Client } else { Role::Server }
}

/// Both ends of a conversation: the client's, then the server's.
const fn ends_of(conversation: usize) -> [usize; 2] {
    [client_end(conversation), client_end(conversation) + 1]
}

fn to_std(at: Instant) -> std::time::Duration {
    std::time::Duration::from_micros(at.as_micros())
}

/// The microsecond in which a session's time lies, rounded up: nothing happens early.
fn from_std(at: std::time::Duration) -> Instant {
    Instant::from_micros(at.as_nanos().div_ceil(1_000) as u64)
}
