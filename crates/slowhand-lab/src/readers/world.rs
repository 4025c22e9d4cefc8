//! A world of readers: the events of the network, of sessions and of what runs above them, in the order of time.

use std::collections::BTreeMap;
use std::sync::Arc;

use slowhand_coap::endpoint::{self, Delivery, Incoming};
use slowhand_coap::message::{self, Class, CoapOption, Packet, RequestType, ResponseType};
use slowhand_coap::objects::{self, AccessSecret, CONTENT_FORMAT, Consumer, Grant, Producer, PublicKey};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip;
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::queue::EventQueue;
use slowhand_net::radio::frame::FCS;
use slowhand_net::random::Streams;
use slowhand_sessions::{Arithmetic, ObjectDevice, Session, SessionConfig, Status, build_pair};

use super::ReadersPlan;
use super::ends::{Computer, End, Member, Part, State, peer};
use super::record::{ReadersRecord, Way};
use crate::energy::{Times, energy};
use crate::interrupt::Interrupt;
use crate::world::slots::{Sent, of_datagrams};
use crate::world::{from_std, to_std};

/// The name of the value at the producer and at the proxy, and that of the access secret (assumed: short ones).
const VALUE: &str = "v";
const SECRET: &str = "s";

/// CoAP's Content-Formats of a value and of an access secret (RFC 7252 section 12.3; RFC 9052 section 11.3.2).
const OCTET_STREAM: u32 = 42;
const COSE_KEY_SET: u32 = 102;

/// Max-Age where a response does not say it (RFC 7252 section 5.10.5), in seconds.
const DEFAULT_MAX_AGE: u32 = 60;

/// The least time until the next timer, as in other worlds: a timer in the past would stop the clock.
const MIN_TIMER: Duration = Duration::from_micros(1);

/// The name of the producer in objects (assumed: one octet).
const PRODUCER: &[u8] = b"p";

/// What is due, apart from the network.
enum Due {
    /// A reader reads.
    Reading(usize),
    /// The last reading of a reader is too late now.
    Last(usize),
    /// A client opens its session.
    Open(usize),
    /// It has taken too long.
    GiveUp(usize),
    /// An end has a datagram ready. True if it is of setting up.
    Send {
        end: usize,
        is_setup: bool,
        octets: Vec<u8>,
    },
    /// A datagram arrives that has not been in the mesh.
    Arrival {
        end: usize,
        octets: Vec<u8>,
    },
    Timer(usize),
    /// A computer is free again.
    Resume(usize),
    /// The producer has made an object.
    Made(Vec<u8>),
    /// A reader has opened an object.
    Opened(usize),
}

/// A reader.
#[derive(Default)]
struct Reader {
    begin: Instant,
    /// How many of its readings were due.
    due: u64,
    /// Since when it waits for a value.
    since: Option<Instant>,
    /// True if it has asked, and no answer has come.
    is_asking: bool,
    has_value: bool,
    /// What opens objects, once it has the access secret.
    consumer: Option<Consumer>,
    /// An object whose access secret it has asked for.
    object: Option<Vec<u8>>,
    /// True if the producer has a slot for its session, or has refused it.
    has_slot: bool,
    is_refused: bool,
}

/// An object that somebody keeps.
struct Kept {
    octets: Vec<u8>,
    fresh_until: Instant,
}

impl Kept {
    /// The seconds for which it is still fresh. `None`: it is not.
    fn max_age(&self, now: Instant) -> Option<u32> {
        let left = (now < self.fresh_until).then(|| self.fresh_until.since(now))?;
        u32::try_from(left.as_micros() / 1_000_000).ok().filter(|&seconds| seconds > 0)
    }
}

/// Whoever keeps an object, and who waits for one.
#[derive(Default)]
struct Shelf {
    kept: Option<Kept>,
    waiting: Vec<(usize, Incoming)>,
    /// True if a new one is being made or fetched.
    is_renewing: bool,
}

/// What frames have cost.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    frames: u64,
    octets: u64,
}

pub(super) struct World<'a> {
    plan: &'a ReadersPlan,
    way: Way,
    streams: Streams,
    network: Network,
    due: EventQueue<Due>,
    computers: Vec<Computer>,
    ends: Vec<End>,
    /// The ends by their own address and that of the other end.
    by_address: BTreeMap<[ip::Endpoint; 2], usize>,
    readers: Vec<Reader>,
    /// What makes objects, once it has the access secret, and until when that counts.
    producer: Option<(Producer, Instant)>,
    private: [u8; 32],
    public: PublicKey,
    at_producer: Shelf,
    at_proxy: Shelf,
    /// For each datagram, if it is of setting up.
    datagrams: Vec<bool>,
    /// Those of reading, and of setting up.
    costs: [Costs; 2],
    events: Events,
    slots_held: usize,
    /// How long later readings took, and how many there were.
    later: (Duration, u64),
    first: (Duration, u64),
    record: ReadersRecord,
}

impl<'a> World<'a> {
    /// A world in which nothing has happened. `None` if it is interrupted: many sessions take time to make.
    pub(super) fn new(
        plan: &'a ReadersPlan,
        way: Way,
        readers: usize,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        let streams = Streams::new(seed);
        let private = private_key(&streams);
        let arithmetic = plan.sessions[0].arithmetic;
        let computer = |side| Computer::new(object_device(plan, side, arithmetic));
        let nodes = (0..plan.plan.nodes()).map(|_| computer(0));
        // Each reader on the Internet is a host of its own, and so is the authorization server.
        let hosts = (0..=readers).map(|_| computer(1));
        let period = plan.readers.period_s.duration();
        let readings = u64::from(plan.readers.readings.get());
        let mut world = Self {
            plan,
            way,
            streams,
            network: plan.plan.network(seed),
            due: EventQueue::default(),
            computers: nodes.chain(hosts).collect(),
            ends: Vec::new(),
            by_address: BTreeMap::new(),
            readers: Vec::new(),
            producer: None,
            private,
            public: objects::public_key(&private).expect("a key below the order of the curve"),
            at_producer: Shelf::default(),
            at_proxy: Shelf::default(),
            datagrams: Vec::new(),
            costs: [Costs::default(); 2],
            events: Events::default(),
            slots_held: 0,
            later: (Duration::ZERO, 0),
            first: (Duration::ZERO, 0),
            record: empty(seed, way, readers as u32, readings, plan.start + period * (readings + 1)),
        };
        if way == Way::Oscar {
            let client = world.connect_to_authority(Member::Producer, Host::Node(plan.producer), readers);
            world.due.push(Instant::ZERO + plan.start, Due::Open(client));
            if plan.readers.proxy {
                world.connect_proxy();
            }
        }
        for reader in 0..readers {
            if interrupt.is_set() {
                return None;
            }
            world.add_reader(reader, readers);
        }
        Some(world)
    }

    fn add_reader(&mut self, reader: usize, readers: usize) {
        let plan = self.plan;
        let period = plan.readers.period_s.duration();
        let mut start = self.streams.stream("reader", reader as u64);
        let begin = Instant::ZERO + plan.start + Duration::from_micros(start.below(period.as_micros().max(1)));
        self.readers.push(Reader { begin, ..Reader::default() });
        let host = plan.nodes.as_ref().map_or(Host::Internet, |nodes| Host::Node(nodes[reader]));
        let client = match self.way {
            Way::Dtls => self.connect_to_producer(reader, host),
            Way::Oscar => {
                self.connect_to_source(reader, host);
                self.connect_to_authority(Member::Reader(reader), host, readers)
            }
        };
        self.due.push(begin, Due::Open(client));
        self.due.push(begin, Due::Reading(reader));
        self.due.push(begin + period * u64::from(plan.readers.readings.get()), Due::Last(reader));
    }

    // Who is connected to whom.

    /// A reader's session with the producer.
    fn connect_to_producer(&mut self, reader: usize, host: Host) -> usize {
        let producer = self.plan.producer;
        let ports = [self.port(reader), self.plan.ports.coaps];
        let parts = [Part::Reader(reader), Part::Producer(Some(reader))];
        let computers = [self.computer_of(host, reader), producer.index()];
        let sessions = self.sessions(2 * reader as u64, [self.plan.side_of_readers(), 0]);
        self.connect(parts, [host, Host::Node(producer)], computers, ports, sessions.map(Some))
    }

    /// A reader without a session, towards the proxy or the producer.
    fn connect_to_source(&mut self, reader: usize, host: Host) -> usize {
        let (node, part) = match self.plan.readers.proxy {
            true => (NodeId::ROOT, Part::Proxy),
            false => (self.plan.producer, Part::Producer(Some(reader))),
        };
        let computers = [self.computer_of(host, reader), node.index()];
        let ports = [self.port(reader), self.plan.ports.coap];
        self.connect([Part::Reader(reader), part], [host, Host::Node(node)], computers, ports, [None, None])
    }

    fn connect_proxy(&mut self) -> usize {
        let nodes = [NodeId::ROOT, self.plan.producer];
        let ports = [self.plan.ports.coap, self.plan.ports.coap];
        let parts = [Part::Fetch, Part::Producer(None)];
        self.connect(parts, nodes.map(Host::Node), nodes.map(NodeId::index), ports, [None, None])
    }

    /// A member's session with the authorization server.
    fn connect_to_authority(&mut self, member: Member, host: Host, readers: usize) -> usize {
        let authority = self.plan.authority;
        let (port, computer, side, number) = match member {
            Member::Producer => (self.plan.ports.first.wrapping_sub(1), self.plan.producer.index(), 0, u64::MAX / 2),
            Member::Reader(reader) => {
                let side = self.plan.side_of_readers();
                (self.port(reader), self.computer_of(host, reader), side, 2 * reader as u64 + 1)
            }
        };
        let computers = [computer, self.computer_of(authority, readers)];
        let sessions = self.sessions(number, [side, 1]);
        let parts = [Part::Member(member), Part::Authority(member)];
        self.connect(parts, [host, authority], computers, [port, self.plan.ports.coaps], sessions.map(Some))
    }

    fn port(&self, reader: usize) -> u16 {
        self.plan.ports.first.wrapping_add(reader as u16)
    }

    /// The computer of a host: on the Internet, that of this number.
    fn computer_of(&self, host: Host, on_internet: usize) -> usize {
        match host {
            Host::Node(node) => node.index(),
            Host::Internet => self.plan.plan.nodes() + on_internet,
        }
    }

    /// The sessions of both ends of a path, on these devices.
    fn sessions(&self, path: u64, sides: [usize; 2]) -> [Box<dyn Session>; 2] {
        let nonces = self.plan.plan.nonces(self.record.seed);
        let configs = [0, 1].map(|end| {
            let seed = nonces.derive("session of a reader", path.wrapping_mul(2) + end);
            SessionConfig { seed, ..self.plan.sessions[end as usize].clone() }
        });
        let processors = sides.map(|side| self.plan.processor(side));
        // The plan has built sessions of these configurations, which succeed with all seeds or with none.
        build_pair(configs.each_ref(), processors).expect("sessions of checked configurations")
    }

    /// Adds both ends of a path; returns the client's.
    fn connect(
        &mut self,
        parts: [Part; 2],
        hosts: [Host; 2],
        computers: [usize; 2],
        ports: [u16; 2],
        sessions: [Option<Box<dyn Session>>; 2],
    ) -> usize {
        let client = self.ends.len();
        let places = [0, 1].map(|side| ip::Endpoint::new(hosts[side].address(), ports[side]));
        for (side, session) in sessions.into_iter().enumerate() {
            let mut random = self.streams.stream("coap of a reader", (client + side) as u64);
            let addresses = [places[side], places[1 - side]];
            self.by_address.insert(addresses, client + side);
            self.ends.push(End {
                part: parts[side],
                host: hosts[side],
                computer: computers[side],
                addresses,
                state: if session.is_some() { State::New } else { State::Open },
                session,
                coap: endpoint::Endpoint::new(self.plan.coap.clone(), move || random.below(u64::MAX)),
                timer: None,
            });
        }
        client
    }

    /// Runs to the end. `None` if it is interrupted.
    pub(super) fn run(mut self, interrupt: &Interrupt, observer: &mut dyn Observer) -> Option<ReadersRecord> {
        let end = Instant::ZERO + self.record.world;
        loop {
            let now = self.network.deadline().into_iter().chain(self.due.next_at()).min();
            let Some(now) = now.filter(|&now| now < end) else { break };
            if interrupt.is_set() {
                return None;
            }
            if self.network.deadline() == Some(now) {
                let mut events = std::mem::take(&mut self.events);
                let (datagrams, costs) = (&self.datagrams[..], &mut self.costs);
                self.network.handle_deadline(now, &mut events, &mut Watch { datagrams, costs, next: observer });
                self.deliver(now, &mut events);
                self.events = events;
            }
            while let Some(due) = self.due.pop_due(now) {
                self.handle(now, due);
            }
        }
        let idle = idle(self.plan, self.record.seed, end, interrupt)?;
        Some(self.finish(end, &idle))
    }

    /// The record; `idle` is the same network in which nobody reads.
    fn finish(mut self, end: Instant, idle: &Network) -> ReadersRecord {
        for node in (1..self.plan.plan.nodes() as u16).map(NodeId) {
            let mut times = Times::of(&self.network, node, end);
            let computer = &self.computers[node.index()];
            (times.computed, times.tpm) = (computer.computed, computer.tpm);
            let device = self.plan.plan.device(node);
            let [used, of_idle] = [times, Times::of(idle, node, end)].map(|times| energy(device, times).total_mj());
            let record = &mut self.record;
            let (sum, sum_of_idle) = match node == self.plan.producer {
                true => (&mut record.producer_mj, &mut record.producer_idle_mj),
                false => (&mut record.others_mj, &mut record.others_idle_mj),
            };
            (*sum, *sum_of_idle) = (*sum + used, *sum_of_idle + of_idle);
        }
        let mean = |(sum, count): (Duration, u64)| (count > 0).then(|| sum.as_secs_f64() / count as f64);
        let [reading, setup] = self.costs;
        ReadersRecord {
            setup_frames: setup.frames,
            setup_octets: setup.octets,
            reading_frames: reading.frames,
            reading_octets: reading.octets,
            first_s: mean(self.first),
            later_s: mean(self.later),
            refused: self.readers.iter().filter(|reader| reader.is_refused && !reader.has_slot).count() as u64,
            producer_compute_s: self.computers[self.plan.producer.index()].computed.as_secs_f64(),
            ..self.record
        }
    }

    fn deliver(&mut self, now: Instant, events: &mut Events) {
        for event in events.iter() {
            if let Event::Delivered { source, destination, payload, .. } = event
                && let Some(&end) = self.by_address.get(&[destination, source])
            {
                self.receive(now, end, payload.to_vec());
            }
        }
        events.clear();
    }

    fn handle(&mut self, now: Instant, due: Due) {
        match due {
            Due::Reading(reader) => self.begin_reading(now, reader),
            Due::Last(reader) => self.readers[reader].since = None,
            Due::Open(end) => self.open(now, end),
            Due::GiveUp(end) => {
                if self.ends[end].state == State::New {
                    self.fail(end);
                }
            }
            Due::Send { end, is_setup, octets } => self.transmit(now, end, is_setup, &octets),
            Due::Arrival { end, octets } => self.receive(now, end, octets),
            Due::Timer(end) => self.expire(now, end),
            Due::Resume(computer) => self.resume(now, computer),
            Due::Made(object) => self.made(now, object),
            Due::Opened(reader) => self.got(now, reader),
        }
    }

    // Datagrams and timers.

    fn open(&mut self, now: Instant, end: usize) {
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        if busy_until > now {
            return self.due.push(busy_until, Due::Open(end));
        }
        self.due.push(now + self.plan.plan.give_up(), Due::GiveUp(end));
        if let Some(session) = &mut self.ends[end].session {
            session.start(to_std(now));
        }
        self.settle(now, end);
    }

    fn transmit(&mut self, now: Instant, end: usize, is_setup: bool, octets: &[u8]) {
        let End { host, addresses: [from, to], .. } = self.ends[end];
        if [host, self.ends[peer(end)].host] == [Host::Internet; 2] {
            let octets = octets.to_vec();
            return self.due.push(now + self.plan.internet_delay, Due::Arrival { end: peer(end), octets });
        }
        let datagram = self.datagrams.len() as slowhand_net::datagram::DatagramId;
        self.datagrams.push(is_setup);
        let mut events = std::mem::take(&mut self.events);
        // A datagram that is too long is lost: timers notice it.
        let _ = self.network.send(now, from, to, octets, datagram, &mut events);
        self.deliver(now, &mut events);
        self.events = events;
    }

    fn receive(&mut self, now: Instant, end: usize, octets: Vec<u8>) {
        let computer = &mut self.computers[self.ends[end].computer];
        if computer.busy_until > now || !computer.waiting.is_empty() {
            return computer.waiting.push_back((end, octets));
        }
        self.take(now, end, &octets);
    }

    fn resume(&mut self, now: Instant, computer: usize) {
        while self.computers[computer].busy_until <= now {
            let Some((end, octets)) = self.computers[computer].waiting.pop_front() else { return };
            self.take(now, end, &octets);
        }
    }

    fn take(&mut self, now: Instant, end: usize, octets: &[u8]) {
        if !self.admits(end, octets) {
            return;
        }
        let End { session, coap, .. } = &mut self.ends[end];
        match session {
            Some(session) => session.handle_input(to_std(now), octets),
            None => coap.handle_input(to_std(now), octets),
        }
        self.settle(now, end);
    }

    /// True if a session of the producer takes a datagram: it needs a slot.
    fn admits(&mut self, end: usize, octets: &[u8]) -> bool {
        let (Part::Producer(Some(reader)), Some(slots), true) =
            (self.ends[end].part, self.plan.readers.slots, self.ends[end].session.is_some())
        else {
            return true;
        };
        if self.readers[reader].has_slot {
            return true;
        }
        match of_datagrams(octets, self.plan.plan.has_cookie()) {
            Sent::Stateless => true,
            Sent::Request if self.slots_held < slots.get() as usize => {
                self.slots_held += 1;
                self.readers[reader].has_slot = true;
                true
            }
            Sent::Request => {
                self.readers[reader].is_refused = true;
                false
            }
            Sent::Other => false,
        }
    }

    fn expire(&mut self, now: Instant, number: usize) {
        let end = &mut self.ends[number];
        if end.timer != Some(now) {
            return; // it was set again
        }
        end.timer = None;
        let busy_until = self.computers[end.computer].busy_until;
        if busy_until > now {
            end.timer = Some(busy_until);
            return self.due.push(busy_until, Due::Timer(number));
        }
        let at = to_std(now);
        if let Some(session) = &mut end.session
            && session.deadline().is_some_and(|deadline| deadline <= at)
        {
            session.handle_timeout(at);
        }
        if end.coap.deadline().is_some_and(|deadline| deadline <= at) {
            end.coap.handle_timeout(at);
        }
        self.settle(now, number);
    }

    /// After a call: what the session and CoAP have for each other and for the network, what has happened, and the next timer.
    fn settle(&mut self, now: Instant, number: usize) {
        self.collect(now, number, true);
        let end = &mut self.ends[number];
        if let Some(session) = &mut end.session {
            while let Some(received) = session.poll_received() {
                end.coap.handle_input(to_std(now), received.bytes);
            }
            match session.status() {
                Status::Established { .. } if end.state == State::New => {
                    end.state = State::Open;
                    self.opened(now, number);
                }
                Status::Failed(_) => self.fail(number),
                _ => {}
            }
        }
        while let Some(event) = self.ends[number].coap.poll_event() {
            self.happen(now, number, event);
        }
        self.flush(now, number);
        self.set_timer(now, number);
    }

    /// Sends what CoAP has.
    fn flush(&mut self, now: Instant, number: usize) {
        let is_setup = self.ends[number].is_of_setup();
        while let Some(octets) = self.ends[number].coap.poll_transmit() {
            match &mut self.ends[number].session {
                None => self.due.push(now, Due::Send { end: number, is_setup, octets }),
                Some(session) => {
                    // A session that has failed sends nothing: readings that are missing say it.
                    let _ = session.write(to_std(now), &octets);
                    self.collect(now, number, is_setup);
                }
            }
        }
    }

    /// Takes what a session sends and has computed.
    fn collect(&mut self, now: Instant, number: usize, is_setup: bool) {
        let End { session, computer, .. } = &mut self.ends[number];
        let (Some(session), computer) = (session, *computer) else { return };
        while let Some(transmit) = session.poll_transmit() {
            let (at, octets) = (from_std(transmit.at).max(now), transmit.bytes.to_vec());
            self.due.push(at, Due::Send { end: number, is_setup, octets });
        }
        let busy_until = from_std(session.busy_until());
        let device = self.plan.plan.device_of_side(usize::from(computer >= self.plan.plan.nodes()));
        let Computer { computed, tpm, .. } = &mut self.computers[computer];
        session.drain_operations(&mut |performed| {
            *computed += performed.took;
            if device.is_for_tpm(performed.operation) {
                *tpm += performed.took;
            }
        });
        self.compute(now, computer, busy_until);
    }

    /// A computer computes until then.
    fn compute(&mut self, now: Instant, computer: usize, until: Instant) {
        let busy_until = &mut self.computers[computer].busy_until;
        if until > now && until > *busy_until {
            *busy_until = until;
            self.due.push(until, Due::Resume(computer));
        }
    }

    fn set_timer(&mut self, now: Instant, number: usize) {
        let end = &mut self.ends[number];
        let timer = end.deadline().filter(|_| end.state != State::Failed).map(|at| from_std(at).max(now + MIN_TIMER));
        if timer != end.timer {
            end.timer = timer;
            if let Some(at) = timer {
                self.due.push(at, Due::Timer(number));
            }
        }
    }

    /// A session is of no use any more: both ends stop.
    fn fail(&mut self, number: usize) {
        if self.ends[number].state == State::Failed {
            return;
        }
        self.record.failed_sessions += 1;
        for end in [number, peer(number)] {
            self.ends[end].state = State::Failed;
            self.ends[end].timer = None;
        }
    }

    // What readers, producer, proxy and authorization server do.

    /// A client has opened its session.
    fn opened(&mut self, now: Instant, number: usize) {
        match self.ends[number].part {
            Part::Reader(reader) => self.ask(now, reader),
            Part::Member(_) => self.request(now, number, SECRET),
            _ => {}
        }
    }

    fn happen(&mut self, now: Instant, number: usize, event: endpoint::Event) {
        let part = self.ends[number].part;
        match event {
            endpoint::Event::Request { from, .. } => match part {
                Part::Authority(member) => self.grant(now, number, from, member),
                Part::Producer(_) => self.serve(now, number, from),
                Part::Proxy => self.pass_on(now, number, from),
                Part::Reader(_) | Part::Fetch | Part::Member(_) => {}
            },
            endpoint::Event::Response { packet, .. } => {
                let is_good = message::class(&packet) == Class::Success;
                match part {
                    Part::Reader(reader) if is_good => self.receive_value(now, reader, packet.payload),
                    Part::Reader(reader) => self.lose(reader),
                    Part::Fetch => self.fetched(now, is_good.then_some(&packet)),
                    Part::Member(member) if is_good => self.granted(now, member, &packet),
                    Part::Member(_) | Part::Proxy | Part::Producer(_) | Part::Authority(_) => {}
                }
            }
            endpoint::Event::Failed { .. } => match part {
                Part::Reader(reader) => self.lose(reader),
                Part::Fetch => self.fetched(now, None),
                Part::Member(Member::Reader(reader)) => self.lose(reader),
                Part::Member(Member::Producer) => self.refuse_waiting(now),
                Part::Proxy | Part::Producer(_) | Part::Authority(_) => {}
            },
            endpoint::Event::Notification { .. } | endpoint::Event::Undelivered { .. } => {}
        }
    }

    /// The next reading of a reader is due. If an earlier one has no answer yet, that one is missing, and its answer counts for this.
    fn begin_reading(&mut self, now: Instant, number: usize) {
        let reader = &mut self.readers[number];
        reader.due += 1;
        reader.since = Some(now);
        if reader.due < u64::from(self.plan.readers.readings.get()) {
            self.due.push(now + self.plan.readers.period_s.duration(), Due::Reading(number));
        }
        self.ask(now, number);
    }

    /// A reader asks for the value, if it wants one and has what it needs for that.
    fn ask(&mut self, now: Instant, number: usize) {
        let Some(end) = self.end_of(Part::Reader(number)) else { return };
        let reader = &mut self.readers[number];
        let is_ready = match self.way {
            Way::Dtls => self.ends[end].state == State::Open,
            Way::Oscar => reader.consumer.is_some(),
        };
        if is_ready && reader.since.is_some() && !reader.is_asking {
            reader.is_asking = true;
            self.record.requests_to_producer += u64::from(matches!(self.ends[peer(end)].part, Part::Producer(_)));
            self.request(now, end, VALUE);
        }
    }

    /// The end that does this: one of a few before the readers', or among those of its reader.
    fn end_of(&self, part: Part) -> Option<usize> {
        let of_readers = match self.way {
            Way::Dtls => 0,
            Way::Oscar => 2 + 2 * usize::from(self.plan.readers.proxy),
        };
        let of_reader = if self.way == Way::Dtls { 2 } else { 4 };
        let first = match part {
            Part::Reader(reader) | Part::Member(Member::Reader(reader)) => of_readers + of_reader * reader,
            _ => 0,
        };
        (first..self.ends.len().min(first + 4)).find(|&end| self.ends[end].part == part)
    }

    fn request(&mut self, now: Instant, end: usize, path: &str) {
        let request = message::request(RequestType::Get, path);
        // Each end has few requests under way, and they are short.
        let sent = self.ends[end].coap.request(to_std(now), request, Delivery::Confirmable);
        debug_assert!(sent.is_ok(), "{sent:?}");
        self.flush(now, end);
        self.set_timer(now, end);
    }

    fn respond(&mut self, now: Instant, end: usize, from: Incoming, packet: Packet) {
        // The request may be so old that nobody waits for its response.
        let _ = self.ends[end].coap.respond(to_std(now), from, packet);
        self.flush(now, end);
        self.set_timer(now, end);
    }

    /// The authorization server gives a member what it needs.
    fn grant(&mut self, now: Instant, end: usize, from: Incoming, member: Member) {
        let (secret, left) = self.secret(now);
        let signer = matches!(member, Member::Reader(_)).then_some(self.public);
        let mut packet = content(Grant { secret, signer }.write(), COSE_KEY_SET);
        message::set_number(&mut packet, CoapOption::MaxAge, left);
        self.respond(now, end, from, packet);
    }

    /// The access secret of now, and for how many seconds it counts.
    fn secret(&self, now: Instant) -> (AccessSecret, u32) {
        let (number, left) = match self.plan.readers.secret_lifetime_s.map(|lifetime| lifetime.micros().max(1)) {
            None => (0, u32::MAX),
            Some(lifetime) => {
                let (number, gone) = (now.as_micros() / lifetime, now.as_micros() % lifetime);
                (number, u32::try_from((lifetime - gone).div_ceil(1_000_000)).unwrap_or(u32::MAX))
            }
        };
        let id = number.to_be_bytes();
        let id = id[(number.leading_zeros() / 8).min(7) as usize..].to_vec();
        let derived = self.streams.derive("access secret", number);
        let mut value = [0; 16];
        value.copy_from_slice(&derived[..16]);
        (AccessSecret { id, value }, left)
    }

    fn granted(&mut self, now: Instant, member: Member, packet: &Packet) {
        let Ok(grant) = Grant::read(&packet.payload) else { return };
        match member {
            Member::Producer => {
                let seconds = message::number(packet, CoapOption::MaxAge).unwrap_or(DEFAULT_MAX_AGE);
                let until = now + Duration::from_secs(seconds.into());
                let producer = match self.producer.take() {
                    Some((mut producer, _)) => {
                        producer.change(grant.secret);
                        producer
                    }
                    None => Producer::new(PRODUCER, &self.private, grant.secret),
                };
                self.producer = Some((producer, until));
                self.at_producer.is_renewing = false;
                self.make(now);
            }
            Member::Reader(number) => {
                let reader = &mut self.readers[number];
                match &mut reader.consumer {
                    Some(consumer) => consumer.change(grant.secret),
                    None => reader.consumer = Consumer::new(PRODUCER, grant).ok(),
                }
                match reader.object.take() {
                    // It was made with another secret again: the next reading may have more luck.
                    Some(object) => self.open_object(now, number, &object, Self::lose_with),
                    None => self.ask(now, number),
                }
            }
        }
    }

    /// The producer is asked for its value.
    fn serve(&mut self, now: Instant, end: usize, from: Incoming) {
        if self.way == Way::Dtls {
            let value = vec![0; self.plan.readers.value_bytes.get() as usize];
            return self.respond(now, end, from, content(value, OCTET_STREAM));
        }
        let shelf = &mut self.at_producer;
        if let Some(packet) = shelf.answer(now) {
            return self.respond(now, end, from, packet);
        }
        shelf.waiting.push((end, from));
        self.make(now);
    }

    /// The producer makes an object for those that wait, if it has an access secret that counts. Else it asks for one first.
    fn make(&mut self, now: Instant) {
        let shelf = &mut self.at_producer;
        if shelf.waiting.is_empty() || shelf.is_renewing {
            return;
        }
        let computer = self.plan.producer.index();
        let has_secret = self.producer.as_ref().is_some_and(|&(_, until)| now < until);
        if !has_secret {
            let Some(end) = self.end_of(Part::Member(Member::Producer)) else { return };
            // A session that opens asks for it anyway.
            if self.producer.is_some() && self.ends[end].state == State::Open {
                self.at_producer.is_renewing = true;
                self.request(now, end, SECRET);
            }
            return;
        }
        let Some((producer, _)) = &mut self.producer else { return };
        let value = vec![0; self.plan.readers.value_bytes.get() as usize];
        let objects = &mut self.computers[computer].objects;
        let Ok(object) = objects.protect(to_std(now), producer, VALUE, &value) else { return };
        self.at_producer.is_renewing = true;
        self.record.signatures += 1;
        let ready = self.computed_object(now, computer);
        self.due.push(ready, Due::Made(object));
        self.compute(now, computer, ready);
    }

    /// Takes what a computer has computed of an object. Returns when it is ready.
    fn computed_object(&mut self, now: Instant, computer: usize) -> Instant {
        let Computer { objects, computed, .. } = &mut self.computers[computer];
        objects.drain_operations(&mut |performed| *computed += performed.took);
        from_std(objects.busy_until()).max(now)
    }

    fn made(&mut self, now: Instant, octets: Vec<u8>) {
        let fresh_until = now + Duration::from_secs(self.plan.readers.max_age_s.get().into());
        self.at_producer.kept = Some(Kept { octets, fresh_until });
        self.answer_waiting(now, |world| &mut world.at_producer);
    }

    /// The producer gets no access secret.
    fn refuse_waiting(&mut self, now: Instant) {
        self.at_producer.kept = None;
        self.answer_waiting(now, |world| &mut world.at_producer);
    }

    /// The proxy is asked for the value.
    fn pass_on(&mut self, now: Instant, end: usize, from: Incoming) {
        let shelf = &mut self.at_proxy;
        if let Some(packet) = shelf.answer(now) {
            return self.respond(now, end, from, packet);
        }
        shelf.waiting.push((end, from));
        if !std::mem::replace(&mut shelf.is_renewing, true)
            && let Some(end) = self.end_of(Part::Fetch)
        {
            self.record.requests_to_producer += 1;
            self.request(now, end, VALUE);
        }
    }

    /// The proxy has an answer of the producer, or gets none.
    fn fetched(&mut self, now: Instant, packet: Option<&Packet>) {
        self.at_proxy.kept = packet.map(|packet| {
            let seconds = message::number(packet, CoapOption::MaxAge).unwrap_or(DEFAULT_MAX_AGE);
            Kept { octets: packet.payload.clone(), fresh_until: now + Duration::from_secs(seconds.into()) }
        });
        self.answer_waiting(now, |world| &mut world.at_proxy);
    }

    /// Answers those that wait with what is kept, or tells them that there is nothing.
    fn answer_waiting(&mut self, now: Instant, shelf: fn(&mut Self) -> &mut Shelf) {
        let at = shelf(self);
        at.is_renewing = false;
        let answer = at.answer(now).unwrap_or_else(|| message::response(ResponseType::GatewayTimeout, []));
        for (end, from) in std::mem::take(&mut at.waiting) {
            self.respond(now, end, from, answer.clone());
        }
    }

    /// A reader has an answer.
    fn receive_value(&mut self, now: Instant, number: usize, payload: Vec<u8>) {
        match self.way {
            Way::Dtls => self.got(now, number),
            Way::Oscar => self.open_object(now, number, &payload, Self::ask_for_secret),
        }
    }

    /// A reader opens an object. `unknown`: what it does if the object was made with another access secret than its own.
    fn open_object(
        &mut self,
        now: Instant,
        number: usize,
        object: &[u8],
        unknown: fn(&mut Self, Instant, usize, &[u8]),
    ) {
        let host = self.plan.nodes.as_ref().map_or(Host::Internet, |nodes| Host::Node(nodes[number]));
        let computer = self.computer_of(host, number);
        let Some(consumer) = &mut self.readers[number].consumer else { return };
        let result = self.computers[computer].objects.open(to_std(now), consumer, VALUE, object);
        let ready = self.computed_object(now, computer);
        match result {
            Ok(_) => self.due.push(ready, Due::Opened(number)),
            Err(objects::Error::UnknownSecret) => unknown(self, now, number, object),
            Err(_) => self.lose(number),
        }
        self.compute(now, computer, ready);
    }

    fn ask_for_secret(&mut self, now: Instant, number: usize, object: &[u8]) {
        let end = self.end_of(Part::Member(Member::Reader(number))).filter(|&end| self.ends[end].state == State::Open);
        match end {
            Some(end) => {
                self.readers[number].object = Some(object.to_vec());
                self.request(now, end, SECRET);
            }
            None => self.lose(number),
        }
    }

    fn lose_with(&mut self, _now: Instant, number: usize, _object: &[u8]) {
        self.lose(number);
    }

    /// A reading brings nothing.
    fn lose(&mut self, number: usize) {
        let reader = &mut self.readers[number];
        (reader.since, reader.is_asking, reader.object) = (None, false, None);
    }

    /// A reader has a value.
    fn got(&mut self, now: Instant, number: usize) {
        let reader = &mut self.readers[number];
        reader.is_asking = false;
        let Some(since) = reader.since.take() else { return };
        self.record.got += 1;
        if std::mem::replace(&mut reader.has_value, true) {
            self.later = (self.later.0 + now.since(since), self.later.1 + 1);
            return;
        }
        let took = now.since(reader.begin);
        self.first = (self.first.0 + took, self.first.1 + 1);
        let seconds = took.as_secs_f64();
        self.record.first_longest_s = Some(self.record.first_longest_s.map_or(seconds, |longest| longest.max(seconds)));
    }
}

impl Shelf {
    /// What is kept as a response, if it is fresh.
    fn answer(&self, now: Instant) -> Option<Packet> {
        let kept = self.kept.as_ref()?;
        let max_age = kept.max_age(now)?;
        let mut packet = content(kept.octets.clone(), CONTENT_FORMAT);
        if max_age != DEFAULT_MAX_AGE {
            message::set_number(&mut packet, CoapOption::MaxAge, max_age);
        }
        Some(packet)
    }
}

/// A response with content.
fn content(payload: Vec<u8>, format: u32) -> Packet {
    let mut packet = message::response(ResponseType::Content, payload);
    message::set_number(&mut packet, CoapOption::ContentFormat, format);
    packet
}

/// Counts the frames of datagrams.
struct Watch<'a> {
    datagrams: &'a [bool],
    costs: &'a mut [Costs; 2],
    next: &'a mut dyn Observer,
}

impl Observer for Watch<'_> {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.next.transmission(frame);
        if frame.kind == FrameKind::Data
            && let Some(&is_setup) = self.datagrams.get(frame.datagram as usize)
        {
            let costs = &mut self.costs[usize::from(is_setup)];
            costs.frames += 1;
            costs.octets += (frame.octets.len() + FCS) as u64;
        }
    }
}

/// The network of a seed at the end of a world in which nobody reads. `None` if it is interrupted.
fn idle(plan: &ReadersPlan, seed: u64, end: Instant, interrupt: &Interrupt) -> Option<Network> {
    let mut network = plan.plan.network(seed);
    let mut events = Events::default();
    while let Some(now) = network.deadline().filter(|&now| now < end) {
        if interrupt.is_set() {
            return None;
        }
        network.handle_deadline(now, &mut events, &mut ());
        events.clear();
    }
    Some(network)
}

fn object_device(plan: &ReadersPlan, side: usize, arithmetic: Arithmetic) -> ObjectDevice {
    ObjectDevice::new(Arc::new(plan.plan.paced(side)), arithmetic)
}

/// The producer's private key: below the order of the curve, because its first octet is not all ones.
fn private_key(streams: &Streams) -> [u8; 32] {
    let mut key = streams.derive("key of the producer", 0);
    key[0] = key[0] >> 1 | 1;
    key
}

/// The record of a world in which nothing has happened.
fn empty(seed: u64, way: Way, readers: u32, readings: u64, world: Duration) -> ReadersRecord {
    ReadersRecord {
        seed,
        way,
        readers,
        readings: u64::from(readers) * readings,
        got: 0,
        failed_sessions: 0,
        refused: 0,
        signatures: 0,
        requests_to_producer: 0,
        setup_frames: 0,
        setup_octets: 0,
        reading_frames: 0,
        reading_octets: 0,
        first_s: None,
        first_longest_s: None,
        later_s: None,
        producer_compute_s: 0.0,
        producer_mj: 0.0,
        producer_idle_mj: 0.0,
        others_mj: 0.0,
        others_idle_mj: 0.0,
        world,
    }
}
