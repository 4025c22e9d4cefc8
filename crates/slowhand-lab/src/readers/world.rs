//! A world of readers: the events of the network, of sessions and of what runs above them, in the order of time.

mod paths;
mod programs;

pub(super) use programs::octets_of;

use std::collections::BTreeMap;
use std::sync::Arc;

use slowhand_coap::objects::{self, Consumer, Producer, PublicKey};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip;
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::queue::EventQueue;
use slowhand_net::radio::frame::FCS;
use slowhand_net::random::Streams;
use slowhand_sessions::{Arithmetic, ObjectDevice, Role, Status, WriteError};

use super::ReadersPlan;
use super::ends::{Computer, End, Member, Part, State};
use super::record::{ReadersRecord, Way};
use crate::energy::{Times, energy};
use crate::ids::{ComputerId, EndId, Table};
use crate::interrupt::Interrupt;
use crate::world::slots::{Sent, of_datagrams};
use crate::world::{from_std, to_std};
use programs::Shelf;

/// The least time until the next timer, as in other worlds: a timer in the past would stop the clock.
const MIN_TIMER: Duration = Duration::from_micros(1);

/// The events that are due, apart from the network.
enum Due {
    /// A reader reads.
    Reading(usize),
    /// The last reading of a reader is too late now.
    Last(usize),
    /// A client opens its session.
    Open(EndId),
    /// It has taken too long.
    GiveUp(EndId),
    /// An end has a datagram ready. True if it is of setting up.
    Send {
        end: EndId,
        is_setup: bool,
        octets: Vec<u8>,
    },
    /// A datagram arrives that has not been in the mesh.
    Arrival {
        end: EndId,
        octets: Vec<u8>,
    },
    Timer(EndId),
    /// A computer is free again.
    Resume(ComputerId),
    /// The producer has made an object.
    Made(Vec<u8>),
    /// A reader has opened an object.
    Opened(usize),
}

/// A reader.
#[derive(Default)]
struct Reader {
    begin: Instant,
    /// The number of its readings that were due.
    due: u64,
    /// Since when it waits for a value.
    since: Option<Instant>,
    /// If it has asked, for the value or for the access secret, and nothing has come of it yet: since when it waited.
    asked: Option<Instant>,
    has_value: bool,
    /// The consumer that opens objects, once it has the access secret.
    consumer: Option<Consumer>,
    /// An object whose access secret it has asked for.
    object: Option<Vec<u8>>,
    /// True if the producer has a slot for its session, or has had none when it asked last.
    has_slot: bool,
    is_refused: bool,
}

/// The cost of frames.
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
    computers: Table<ComputerId, Computer>,
    ends: Table<EndId, End>,
    /// The ends by their own address and that of the other end.
    by_address: BTreeMap<[ip::Endpoint; 2], EndId>,
    /// The end of each client, by what it is for.
    clients: BTreeMap<Part, EndId>,
    readers: Vec<Reader>,
    /// The producer that makes objects, once it has the access secret, and until when that counts.
    producer: Option<(Producer, Instant)>,
    private: [u8; 32],
    public: PublicKey,
    at_producer: Shelf,
    at_proxy: Shelf,
    /// For each datagram, if it is of setting up.
    datagrams: Vec<bool>,
    /// The costs of reading, and of setting up.
    costs: [Costs; 2],
    events: Events,
    slots_held: usize,
    /// The time that later readings took, and their number.
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
        let computer = |role| Computer::new(object_device(plan, role, arithmetic));
        let nodes = (0..plan.plan.nodes()).map(|_| computer(Role::Client));
        // Each reader on the Internet is a host of its own, and so is the authorization server.
        let hosts = (0..=readers).map(|_| computer(Role::Server));
        let mut world = Self {
            plan,
            way,
            streams,
            network: plan.plan.network(seed),
            due: EventQueue::default(),
            computers: nodes.chain(hosts).collect(),
            ends: Table::default(),
            by_address: BTreeMap::new(),
            clients: BTreeMap::new(),
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
            record: ReadersRecord {
                seed,
                way,
                readers: readers as u32,
                readings: readers as u64 * u64::from(plan.readers.readings.get()),
                world: plan.duration(),
                ..ReadersRecord::default()
            },
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
        let idle = self.plan.idle_mj(self.record.seed, interrupt)?;
        Some(self.finish(end, idle))
    }

    /// The record; `idle` is what the producer and the other nodes use in the same network if nobody reads.
    fn finish(self, end: Instant, idle: [f64; 2]) -> ReadersRecord {
        let [producer_mj, others_mj] = energies(self.plan, |node| {
            let Computer { computed, tpm, .. } = self.computers[self.computer_of(Host::Node(node), 0)];
            Times { computed, tpm, ..Times::of(&self.network, node, end) }
        });
        let mean = |(sum, count): (Duration, u64)| (count > 0).then(|| sum.as_secs_f64() / count as f64);
        let [reading, setup] = self.costs;
        let producer = self.computer_of(Host::Node(self.plan.producer), 0);
        ReadersRecord {
            setup_frames: setup.frames,
            setup_octets: setup.octets,
            reading_frames: reading.frames,
            reading_octets: reading.octets,
            first_s: mean(self.first),
            later_s: mean(self.later),
            refused: self.readers.iter().filter(|reader| reader.is_refused).count() as u64,
            producer_compute_s: self.computers[producer].computed.as_secs_f64(),
            producer_mj,
            producer_idle_mj: idle[0],
            others_mj,
            others_idle_mj: idle[1],
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
                    self.fail(now, end);
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

    fn open(&mut self, now: Instant, end: EndId) {
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        if busy_until > now {
            return self.due.push(busy_until, Due::Open(end));
        }
        self.due.push(now + self.plan.plan.give_up, Due::GiveUp(end));
        if let Some(session) = &mut self.ends[end].session {
            session.start(to_std(now));
        }
        self.settle(now, end);
    }

    fn transmit(&mut self, now: Instant, end: EndId, is_setup: bool, octets: &[u8]) {
        let End { host, addresses: [from, to], .. } = self.ends[end];
        if [host, self.ends[end.peer()].host] == [Host::Internet; 2] {
            let octets = octets.to_vec();
            return self.due.push(now + self.plan.internet_delay, Due::Arrival { end: end.peer(), octets });
        }
        let datagram = self.datagrams.len() as slowhand_net::datagram::DatagramId;
        self.datagrams.push(is_setup);
        let mut events = std::mem::take(&mut self.events);
        if let Err(error) = self.network.send(now, from, to, octets, datagram, &mut events) {
            self.note_unsent(&error);
        }
        self.deliver(now, &mut events);
        self.events = events;
    }

    fn receive(&mut self, now: Instant, end: EndId, octets: Vec<u8>) {
        let computer = &mut self.computers[self.ends[end].computer];
        if computer.busy_until > now || !computer.waiting.is_empty() {
            return computer.waiting.push_back((end, octets));
        }
        self.take(now, end, &octets);
    }

    fn resume(&mut self, now: Instant, computer: ComputerId) {
        while self.computers[computer].busy_until <= now {
            let Some((end, octets)) = self.computers[computer].waiting.pop_front() else { return };
            self.take(now, end, &octets);
        }
    }

    fn take(&mut self, now: Instant, end: EndId, octets: &[u8]) {
        // Datagrams on their way to a session that has failed get no slot.
        if self.ends[end].state == State::Failed || !self.admits(end, octets) {
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
    fn admits(&mut self, end: EndId, octets: &[u8]) -> bool {
        let (Part::Producer(Some(reader)), Some(slots), true) =
            (self.ends[end].part, self.plan.readers.slots, self.ends[end].session.is_some())
        else {
            return true;
        };
        if self.readers[reader].has_slot {
            return true;
        }
        match of_datagrams(octets, self.plan.plan.has_cookie) {
            Sent::Stateless => true,
            Sent::Request if self.slots_held < slots.get() as usize => {
                self.slots_held += 1;
                let reader = &mut self.readers[reader];
                (reader.has_slot, reader.is_refused) = (true, false);
                true
            }
            Sent::Request => {
                self.readers[reader].is_refused = true;
                false
            }
            Sent::Other => false,
        }
    }

    fn expire(&mut self, now: Instant, number: EndId) {
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
    fn settle(&mut self, now: Instant, number: EndId) {
        self.collect(now, number, true);
        // Results of its computing are there, and timers of its messages start, when the device has finished.
        let ready = self.ready(now, number);
        let end = &mut self.ends[number];
        if let Some(session) = &mut end.session {
            while let Some(received) = session.poll_received() {
                end.coap.handle_input(received.at.max(to_std(now)), received.bytes);
            }
            match session.status() {
                Status::Established { .. } if end.state == State::New => {
                    end.state = State::Open;
                    self.opened(ready, number);
                }
                Status::Failed(_) => self.fail(ready, number),
                _ => {}
            }
        }
        while let Some(event) = self.ends[number].coap.poll_event() {
            self.happen(ready, number, event);
        }
        self.flush(ready, number);
        self.set_timer(ready, number);
    }

    /// When the computer of an end is free.
    fn ready(&self, now: Instant, number: EndId) -> Instant {
        now.max(self.computers[self.ends[number].computer].busy_until)
    }

    /// Sends what CoAP has.
    fn flush(&mut self, now: Instant, number: EndId) {
        let is_setup = self.ends[number].is_of_setup();
        while let Some(octets) = self.ends[number].coap.poll_transmit() {
            let at = self.ready(now, number);
            let End { session, state, .. } = &mut self.ends[number];
            let Some(session) = session else {
                self.due.push(at, Due::Send { end: number, is_setup, octets });
                continue;
            };
            // A session that has failed sends nothing.
            if *state == State::Failed {
                continue;
            }
            let written = session.write(to_std(at), &octets);
            self.collect(at, number, is_setup);
            match written {
                Ok(()) => {}
                Err(WriteError::Failed(_)) => self.fail(at, number),
                Err(error) => self.note_unsent(&error),
            }
        }
    }

    /// A message was not sent.
    fn note_unsent(&mut self, why: &dyn std::error::Error) {
        self.record.unsent += 1;
        self.record.unsent_reason.get_or_insert_with(|| why.to_string());
    }

    /// Takes what a session sends and has computed.
    fn collect(&mut self, now: Instant, number: EndId, is_setup: bool) {
        let End { session, host, computer, .. } = &mut self.ends[number];
        let (Some(session), computer) = (session, *computer) else { return };
        while let Some(transmit) = session.poll_transmit() {
            let (at, octets) = (from_std(transmit.at).max(now), transmit.bytes.to_vec());
            self.due.push(at, Due::Send { end: number, is_setup, octets });
        }
        let busy_until = from_std(session.busy_until());
        let plan = &self.plan.plan;
        let device = match host {
            Host::Node(node) => plan.device(*node),
            Host::Internet => plan.device_of(Role::Server),
        };
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
    fn compute(&mut self, now: Instant, computer: ComputerId, until: Instant) {
        let busy_until = &mut self.computers[computer].busy_until;
        if until > now && until > *busy_until {
            *busy_until = until;
            self.due.push(until, Due::Resume(computer));
        }
    }

    fn set_timer(&mut self, now: Instant, number: EndId) {
        let end = &mut self.ends[number];
        let timer = end.deadline().filter(|_| end.state != State::Failed).map(|at| from_std(at).max(now + MIN_TIMER));
        if timer != end.timer {
            end.timer = timer;
            if let Some(at) = timer {
                self.due.push(at, Due::Timer(number));
            }
        }
    }

    /// A session is of no use any more: both ends stop, and the producer has its slot back.
    fn fail(&mut self, now: Instant, number: EndId) {
        if self.ends[number].state == State::Failed {
            return;
        }
        self.record.failed_sessions += 1;
        let ends = [number, number.peer()];
        for end in ends {
            self.ends[end].state = State::Failed;
            self.ends[end].timer = None;
        }
        for end in ends {
            let part = self.ends[end].part;
            if let Part::Producer(Some(reader)) = part {
                self.slots_held -= usize::from(std::mem::take(&mut self.readers[reader].has_slot));
            }
            if std::mem::take(&mut self.ends[end].is_asking) {
                self.unanswered(now, part);
            }
            if part == Part::Member(Member::Producer) {
                self.make(now);
            }
        }
    }
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

/// The energy that the producer and all other nodes but the root use in a world without readings, in mJ. `None` if it is interrupted.
pub(super) fn idle_mj(plan: &ReadersPlan, seed: u64, interrupt: &Interrupt) -> Option<[f64; 2]> {
    let end = Instant::ZERO + plan.duration();
    let mut network = plan.plan.network(seed);
    let mut events = Events::default();
    while let Some(now) = network.deadline().filter(|&now| now < end) {
        if interrupt.is_set() {
            return None;
        }
        network.handle_deadline(now, &mut events, &mut ());
        events.clear();
    }
    Some(energies(plan, |node| Times::of(&network, node, end)))
}

/// The energy that the producer and all other nodes but the root have used in these times, in mJ.
fn energies(plan: &ReadersPlan, times: impl Fn(NodeId) -> Times) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for node in (1..plan.plan.nodes() as u16).map(NodeId) {
        sums[usize::from(node != plan.producer)] += energy(plan.plan.device(node), times(node)).total_mj();
    }
    sums
}

fn object_device(plan: &ReadersPlan, role: Role, arithmetic: Arithmetic) -> ObjectDevice {
    ObjectDevice::new(Arc::new(plan.plan.paced(role)), arithmetic)
}

/// The producer's private key: below the order of the curve, because its first octet is not all ones.
fn private_key(streams: &Streams) -> [u8; 32] {
    let mut key = streams.derive("key of the producer", 0);
    key[0] = key[0] >> 1 | 1;
    key
}
