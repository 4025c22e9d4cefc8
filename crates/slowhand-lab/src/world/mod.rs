//! A world: one network in virtual time, the sessions that are opened across it, and what they cost.
//!
//! A session never sees a radio and a radio never sees a session: here is where they meet. A device that computes
//! answers nothing meanwhile; datagrams and timeouts wait for it.

mod ledger;
mod meter;
mod retransmission;
mod run;
mod segments;
mod stream;

use crate::energy::Times;
use crate::plan::Plan;
use crate::record::{Outcome, Record};
use ledger::Ledger;
use meter::Meter;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::{Ecn, Endpoint};
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::{Observer, RadioTimes};
use slowhand_net::queue::EventQueue;
use slowhand_net::random::Streams;
use slowhand_sessions::{Failure, Session, Status};
use std::collections::VecDeque;
use std::net::Ipv6Addr;
use std::sync::Arc;
use stream::Stream;

/// How long after the last handshake the world goes on at most, so that datagrams that are still on their way are
/// accounted for: the longest that reassembly waits (RFC 4944, section 5.3).
const AFTERMATH: Duration = Duration::from_secs(60);

/// A network and the sessions across it.
pub(crate) struct World<'a> {
    plan: &'a Plan,
    seed: u64,
    network: Network,
    happenings: EventQueue<Happening>,
    /// The computer of every node, and last that of the Internet host.
    computers: Vec<Computer>,
    /// The client's and the server's end of every handshake in turn.
    ends: Vec<End>,
    handshakes: Vec<Handshake>,
    /// How many of them are not over.
    open: usize,
    ledger: Ledger,
    events: Events,
    /// The segment that is being sent; kept for its memory.
    segment: Vec<u8>,
}

/// What is to be told of a world that has come to its end.
pub(crate) struct Finished {
    /// One for each handshake.
    pub(crate) records: Vec<Record>,
    /// The lines of a key log for all sessions.
    pub(crate) key_log: Vec<String>,
    /// When the last handshake was over.
    pub(crate) end: Instant,
    /// Where the time of each node has gone until then.
    pub(crate) times: Vec<Times>,
}

/// What the world itself has to remember to do.
enum Happening {
    /// A client begins.
    Start { handshake: usize },
    /// An end has a datagram ready, or writes to its stream.
    Send { end: usize, octets: Vec<u8> },
    /// A session's timer fires.
    Timeout { end: usize },
    /// A timer of the connection below a session fires.
    StreamTimeout { end: usize },
    /// A computer has finished what it computed.
    Resume { computer: usize },
    /// A handshake is over, one way or the other.
    Over { handshake: usize, outcome: Outcome },
}

/// Who can do one thing at a time.
#[derive(Default)]
struct Computer {
    busy_until: Instant,
    waiting: VecDeque<Work>,
}

/// What waits for a computer.
enum Work {
    /// A datagram for the session of an end.
    Datagram { end: usize, octets: Vec<u8> },
    /// A segment, where TCP waits too.
    Segment { end: usize, source: Ipv6Addr, ecn: Ecn, segment: Vec<u8> },
    /// The session of an end may take what its connection has.
    Read { end: usize },
}

/// One end of a session.
struct End {
    session: Box<dyn Session>,
    /// What carries the session, where that is not datagrams.
    stream: Option<Stream>,
    host: Host,
    computer: usize,
    local: Endpoint,
    peer: Endpoint,
    /// For when a timeout is in the queue.
    timer: Option<Instant>,
    computed: std::time::Duration,
    /// The part of that in which a TPM computed.
    tpm: std::time::Duration,
}

/// One handshake: the times that count.
struct Handshake {
    client: NodeId,
    begun: Option<Snapshot>,
    over: Option<(Snapshot, Outcome)>,
}

/// What the client's device has done until then.
#[derive(Clone, Copy, Default)]
struct Snapshot {
    at: Instant,
    radio: RadioTimes,
    waited: Duration,
    /// What client and server have computed for the handshake.
    computed: [std::time::Duration; 2],
    /// The part of the client's in which its TPM computed.
    tpm: std::time::Duration,
}

impl<'a> World<'a> {
    /// A world in which nothing has happened yet.
    pub(crate) fn new(plan: &'a Plan, seed: u64) -> Self {
        let streams = Streams::new(seed);
        let mut world = Self {
            plan,
            seed,
            network: plan.network(seed),
            happenings: EventQueue::default(),
            computers: (0..=plan.nodes()).map(|_| Computer::default()).collect(),
            ends: Vec::new(),
            handshakes: Vec::new(),
            open: plan.clients().len(),
            ledger: Ledger::new(plan.clients().len(), plan.connection_id()),
            events: Events::default(),
            segment: Vec::new(),
        };
        for (number, &client) in plan.clients().iter().enumerate() {
            let [client_end, server_end] = plan.endpoints(client);
            let sessions = plan.sessions(client, &streams);
            let hosts = [Host::Node(client), plan.server()];
            let ways = [(client_end, server_end), (server_end, client_end)];
            for (((session, host), (local, peer)), side) in sessions.into_iter().zip(hosts).zip(ways).zip(0..) {
                let stream = plan.transport(side).map(|transport| {
                    let mut initial = streams.stream("initial sequence number", 2 * u64::from(client.0) + side as u64);
                    Stream::new(transport, local, (side == 0).then_some(peer), initial.below(1 << 32) as u32)
                });
                let computer = world.computer_of(host);
                let (computed, tpm) = Default::default();
                world.ends.push(End { session, stream, host, computer, local, peer, timer: None, computed, tpm });
            }
            world.handshakes.push(Handshake { client, begun: None, over: None });
            let mut start = streams.stream("start", client.0.into());
            let after = Duration::from_micros(start.below(plan.start_spread().as_micros().max(1)));
            world.happenings.push(Instant::ZERO + plan.start() + after, Happening::Start { handshake: number });
        }
        world
    }

    /// Lets everything happen. The timelines of radios are shown to the end of the last handshake at least.
    pub(crate) fn run(mut self, observer: &mut dyn Observer) -> Finished {
        while self.open > 0 {
            let next = [self.network.deadline(), self.happenings.next_at()].into_iter().flatten().min();
            // Every handshake that has not ended has at least its giving up before it.
            let Some(now) = next else { break };
            self.step(now, observer);
        }
        let last = self.handshakes.iter().filter_map(|handshake| handshake.over.map(|(end, _)| end.at)).max();
        let end = last.unwrap_or_default();
        self.network.report_radios(end, observer);
        let times = self.times(end);
        let give_up = end + AFTERMATH;
        while let Some(now) = self.network.deadline().filter(|&at| at <= give_up && self.ledger.any_on_its_way()) {
            self.run_network(now, observer);
        }
        let mut key_log: Vec<String> = self.ends.iter().flat_map(|end| end.session.key_log()).collect();
        key_log.sort();
        key_log.dedup(); // both ends of a session have the same secrets
        let nodes = || (0..self.plan.nodes()).map(|node| NodeId(node as u16));
        let peaks = [
            nodes().map(|node| self.network.queue_peak(node) as u64).collect(),
            nodes().map(|node| self.network.reassembly_peak(node).reserved as u64).collect(),
        ];
        let records = (0..self.handshakes.len()).map(|number| self.record(number, &peaks)).collect();
        Finished { records, key_log, end, times }
    }

    /// Where the time of each node has gone.
    fn times(&self, now: Instant) -> Vec<Times> {
        let mut times: Vec<Times> = (0..self.plan.nodes())
            .map(|node| NodeId(node as u16))
            .map(|node| Times {
                elapsed: to_std(now),
                radio: self.network.radio_times(node, now),
                computed: std::time::Duration::ZERO,
                tpm: std::time::Duration::ZERO,
                waited: std::time::Duration::from_micros(self.network.processor_time(node).as_micros()),
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

    /// What is due at `now`: first on the air, then at the ends.
    fn step(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.network.deadline() == Some(now) {
            self.run_network(now, observer);
        }
        while let Some(happening) = self.happenings.pop_due(now) {
            match happening {
                Happening::Start { handshake } => self.start(now, handshake),
                Happening::Send { end, octets } if self.ends[end].stream.is_some() => self.write(now, end, &octets),
                Happening::Send { end, octets } => self.send(now, end, &octets),
                Happening::Timeout { end } => self.time_out(now, end),
                Happening::StreamTimeout { end } => self.time_out_stream(now, end),
                Happening::Resume { computer } => self.resume(now, computer),
                Happening::Over { handshake, outcome } => self.end_handshake(now, handshake, outcome),
            }
        }
    }

    fn run_network(&mut self, now: Instant, observer: &mut dyn Observer) {
        let mut events = std::mem::take(&mut self.events);
        self.network.handle_deadline(
            now,
            &mut events,
            &mut Meter::new(&mut self.ledger, self.plan.is_acknowledged(), observer),
        );
        self.handle_events(now, &mut events);
        self.events = events;
    }

    fn handle_events(&mut self, now: Instant, events: &mut Events) {
        for event in events.iter() {
            match event {
                Event::Lost { datagram, reason, .. } => self.ledger.lost(datagram, reason),
                Event::Segment { datagram, host, packet, .. } => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.receiver(host, &packet) {
                        self.receive_segment(now, end, &packet);
                    }
                }
                Event::Intercepted { datagram, .. } => self.ledger.arrived(datagram),
                // An error of a router. No session asks for one.
                Event::Packet { .. } => {}
                Event::Originated { datagram, packet, .. } => {
                    let sender = self.sender(&packet).filter(|end| self.handshakes[end / 2].over.is_none());
                    if let Some(end) = sender {
                        self.ledger.originated(datagram, end, packet.segment);
                    }
                }
                Event::Delivered { datagram, host, source, destination, payload, .. } => {
                    self.ledger.arrived(datagram);
                    if let Some(end) = self.end_at(host, destination, source) {
                        self.receive(now, end, payload);
                    }
                }
            }
        }
        events.clear();
    }

    /// The end of a conversation: ends are ordered by client, and clients by node.
    fn end_at(&self, host: Host, local: Endpoint, peer: Endpoint) -> Option<usize> {
        let of_client = |address| match Host::of_address(address) {
            Some(Host::Node(node)) => self.handshakes.binary_search_by_key(&node, |handshake| handshake.client).ok(),
            _ => None,
        };
        let ends =
            [of_client(local.address).map(client_end), of_client(peer.address).map(|client| client_end(client) + 1)];
        let is_it = |end: &usize| {
            let end = &self.ends[*end];
            end.host == host && end.local == local && end.peer == peer
        };
        ends.into_iter().flatten().find(is_it)
    }

    fn start(&mut self, now: Instant, handshake: usize) {
        let give_up = now + self.plan.give_up();
        self.happenings.push(give_up, Happening::Over { handshake, outcome: Outcome::GaveUp });
        self.network.begin_burst(now, self.handshakes[handshake].client);
        let end = client_end(handshake);
        if self.ends[end].stream.is_some() {
            return self.transmit(now, end);
        }
        self.ends[end].session.start(to_std(now));
        self.after_call(now, end);
    }

    /// The clock of a handshake starts with the first that the client hands to the network.
    fn begin(&mut self, now: Instant, handshake: usize) {
        if self.handshakes[handshake].begun.is_none() {
            self.handshakes[handshake].begun = Some(self.snapshot(now, handshake));
        }
    }

    /// Hands a datagram to the network.
    fn send(&mut self, now: Instant, end: usize, datagram: &[u8]) {
        if self.handshakes[end / 2].over.is_some() {
            return;
        }
        self.begin(now, end / 2);
        let id = self.ledger.sent(end, datagram);
        let mut events = std::mem::take(&mut self.events);
        let End { local, peer, .. } = self.ends[end];
        let sent = self.network.send(now, local, peer, datagram, id, &mut events);
        if sent.is_err() {
            self.ledger.lost(id, DropReason::Malformed); // longer than a UDP datagram can be
        }
        self.handle_events(now, &mut events);
        self.events = events;
    }

    fn receive(&mut self, now: Instant, end: usize, datagram: &[u8]) {
        if self.is_busy(now, end) {
            return self.put_off(end, Work::Datagram { end, octets: datagram.to_vec() });
        }
        self.ends[end].session.handle_input(to_std(now), datagram);
        self.after_call(now, end);
    }

    /// Whether the computer of an end computes, or has something to do before.
    fn is_busy(&self, now: Instant, end: usize) -> bool {
        let computer = &self.computers[self.ends[end].computer];
        computer.busy_until > now || !computer.waiting.is_empty()
    }

    fn put_off(&mut self, end: usize, work: Work) {
        self.computers[self.ends[end].computer].waiting.push_back(work);
    }

    fn time_out(&mut self, now: Instant, end: usize) {
        if self.ends[end].timer != Some(now) || self.handshakes[end / 2].over.is_some() {
            return; // the timer was stopped or set anew
        }
        self.ends[end].timer = None;
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        if busy_until > now {
            self.ends[end].timer = Some(busy_until);
            self.happenings.push(busy_until, Happening::Timeout { end });
            return;
        }
        self.ends[end].session.handle_timeout(to_std(now));
        self.after_call(now, end);
    }

    /// A computer takes up what waited for it, one after the other.
    fn resume(&mut self, now: Instant, computer: usize) {
        while self.computers[computer].busy_until <= now {
            let Some(work) = self.computers[computer].waiting.pop_front() else { return };
            match work {
                Work::Datagram { end, octets } => {
                    self.ends[end].session.handle_input(to_std(now), &octets);
                    self.after_call(now, end);
                }
                Work::Segment { end, source, ecn, segment } => self.take_segment(now, end, source, ecn, &segment),
                Work::Read { end } => self.read(now, end),
            }
        }
    }

    /// Takes from a session what a call has made of it.
    fn after_call(&mut self, now: Instant, end: usize) {
        let device = self.plan.device_of_side(end % 2);
        let End { session, computer, timer, computed, tpm, .. } = &mut self.ends[end];
        while let Some(transmit) = session.poll_transmit() {
            let octets = transmit.bytes.to_vec();
            self.happenings.push(from_std(transmit.at).max(now), Happening::Send { end, octets });
        }
        session.drain_operations(&mut |performed| {
            *computed += performed.took;
            if device.is_for_tpm(performed.operation) {
                *tpm += performed.took;
            }
        });
        let busy_until = from_std(session.busy_until());
        if busy_until > now {
            self.computers[*computer].busy_until = busy_until;
            self.happenings.push(busy_until, Happening::Resume { computer: *computer });
        }
        let deadline = session.deadline().map(|at| from_std(at).max(now + Duration::from_micros(1)));
        if deadline != *timer {
            *timer = deadline;
            if let Some(at) = deadline {
                self.happenings.push(at, Happening::Timeout { end });
            }
        }
        self.check_status(now, end / 2);
    }

    /// Sees whether a handshake has ended. Verifying may end later than the call that began it.
    fn check_status(&mut self, now: Instant, handshake: usize) {
        let status = [client_end(handshake), client_end(handshake) + 1].map(|end| self.ends[end].session.status());
        let over = match status {
            [Status::Established { at: client }, Status::Established { at: server }] => {
                Some((from_std(client.max(server)), Outcome::Completed))
            }
            [Status::Failed(failure), _] | [_, Status::Failed(failure)] => Some((now, outcome_of(&failure))),
            _ => None,
        };
        if let Some((at, outcome)) = over {
            self.happenings.push(at.max(now), Happening::Over { handshake, outcome });
        }
    }

    fn end_handshake(&mut self, now: Instant, handshake: usize, outcome: Outcome) {
        if self.handshakes[handshake].over.is_none() {
            self.open -= 1;
            self.handshakes[handshake].over = Some((self.snapshot(now, handshake), outcome));
            self.network.end_burst(now, self.handshakes[handshake].client);
        }
    }

    fn snapshot(&self, at: Instant, handshake: usize) -> Snapshot {
        let client = self.handshakes[handshake].client;
        Snapshot {
            at,
            radio: self.network.radio_times(client, at),
            waited: self.network.processor_time(client),
            computed: [0, 1].map(|side| self.ends[client_end(handshake) + side].computed),
            tpm: self.ends[client_end(handshake)].tpm,
        }
    }

    /// The peaks of every node are the world's, and the same for all its handshakes.
    fn record(&self, number: usize, [queue_peak, reassembly_peak_bytes]: &[Arc<[u64]>; 2]) -> Record {
        let Handshake { client, begun, over } = &self.handshakes[number];
        let (end, outcome) = over.unwrap_or((Snapshot::default(), Outcome::GaveUp));
        let start = begun.unwrap_or(end);
        let elapsed = end.at.since(start.at);
        let costs = self.ledger.costs(number);
        let [of_client, of_server] = self.ledger.retransmissions(number);
        let repetitions = of_client + of_server;
        let losses = self.ledger.losses(number);
        let suppressed = DropReason::Suppressed.name();
        Record {
            seed: self.seed,
            client: client.0,
            outcome,
            duration_s: (outcome == Outcome::Completed).then(|| elapsed.as_secs_f64()),
            bytes_phy: costs.bytes_phy,
            bytes_ack: costs.bytes_ack,
            bytes_control: costs.bytes_control,
            frames: costs.frames,
            frames_ack: costs.frames_ack,
            frames_control: costs.frames_control,
            datagrams: costs.datagrams,
            bytes_payload: costs.bytes_payload,
            retransmissions_needed: repetitions.needed,
            retransmissions_spurious: repetitions.spurious,
            retransmissions_spurious_server: of_server.spurious,
            datagrams_lost: losses.iter().filter(|(reason, _)| **reason != suppressed).map(|(_, count)| count).sum(),
            lost_because: losses,
            compute_client_s: end.computed[0].as_secs_f64(),
            compute_server_s: end.computed[1].as_secs_f64(),
            energy_client: self.plan.client_energy(Times {
                elapsed: std::time::Duration::from_micros(elapsed.as_micros()),
                radio: end.radio.since(start.radio),
                computed: end.computed[0].saturating_sub(start.computed[0]),
                tpm: end.tpm.saturating_sub(start.tpm),
                waited: std::time::Duration::from_micros(end.waited.saturating_sub(start.waited).as_micros()),
            }),
            queue_peak: Arc::clone(queue_peak),
            reassembly_peak_bytes: Arc::clone(reassembly_peak_bytes),
        }
    }

    fn computer_of(&self, host: Host) -> usize {
        match host {
            Host::Node(node) => node.index(),
            Host::Internet => self.computers.len() - 1,
        }
    }
}

/// The client's end of a handshake; the server's comes after it.
const fn client_end(handshake: usize) -> usize {
    2 * handshake
}

fn outcome_of(failure: &Failure) -> Outcome {
    match failure {
        Failure::TimedOut => Outcome::TimedOut,
        Failure::AlertReceived { .. } => Outcome::Alert,
        _ => Outcome::Error,
    }
}

fn to_std(at: Instant) -> std::time::Duration {
    std::time::Duration::from_micros(at.as_micros())
}

/// The microsecond in which a session's time lies, rounded up: nothing happens early.
fn from_std(at: std::time::Duration) -> Instant {
    Instant::from_micros(at.as_nanos().div_ceil(1_000) as u64)
}
