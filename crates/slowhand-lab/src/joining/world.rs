//! A world in which a network forms: the events of the network and of the nodes' timers, in the order of time.

use slowhand_coap::PORT;
use slowhand_coap::cojp::{Address, JoinRequest, Key, Pledge, Proxy, Registrar};
use slowhand_coap::oscore::RustCrypto;
use slowhand_net::address::{Eui64, Host, NodeId, PAN_ID, link_local_address, mesh_address};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::ip::control::{self, Control};
use slowhand_net::ip::dio::{DioTimer, Mode, RANK_OF_HOP, dio};
use slowhand_net::ip::{Endpoint, Ipv6Header, UdpDatagram, udp_datagram};
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::queue::EventQueue;
use slowhand_net::radio::frame::FCS;
use slowhand_net::radio::tsch::Tsch;
use slowhand_net::radio::tsch::schedule::CellOptions;
use slowhand_net::random::Streams;

use super::JoinPlan;
use super::node::{Node, Stage, Trickle};
use super::record::{JoinRecord, Phase};
use super::sharing::until;
use crate::energy::{Times, energy};
use crate::interrupt::Interrupt;
use crate::scenario::Dis;

/// The port of the first datagram of a node (assumed: one that RFC 6282 section 4.3.3 compresses).
const DATA_PORT: u16 = 0xf0b1;

/// The purpose of a timer of a node.
#[derive(Clone, Copy, Debug)]
enum Timer {
    SwitchOn,
    /// It has waited for more beacons.
    Choose,
    /// The first Join Request, or the same again if so many were sent.
    Request,
    Timeout(u32),
    Dis,
    Beacon,
    Dio,
    /// The next interval of Trickle, and the time for a DIO in it, after so many starts.
    Interval(u32),
    TrickleDio(u32),
    Dao,
    Packet,
}

/// A datagram: for whom it travels, and if it is of joining.
#[derive(Clone, Copy, Debug)]
struct Datagram {
    owner: NodeId,
    joins: bool,
}

/// The cost of frames to a node.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    frames: u64,
    repeated: u64,
    octets: u64,
    sixtop: u64,
}

pub(super) struct World<'a> {
    plan: &'a JoinPlan,
    seed: u64,
    network: Network,
    nodes: Vec<Node>,
    registrar: Registrar,
    /// The nodes whose DAO has reached the root.
    routed: Vec<bool>,
    /// The nodes that wait for a cell.
    waiting: Vec<NodeId>,
    /// The number of nodes that are not through.
    open: usize,
    timers: EventQueue<(NodeId, u32, Timer)>,
    datagrams: Vec<Datagram>,
    costs: Vec<Costs>,
    /// The fate of what nodes send now. Nobody asks.
    sent: Events,
}

impl<'a> World<'a> {
    pub(super) fn new(plan: &'a JoinPlan, seed: u64) -> Self {
        let streams = Streams::new(seed);
        let count = plan.mesh.nodes();
        let (id, value) = plan.key.unwrap_or_else(|| (1, secret(&streams, "network key", 0)));
        let key = Key { id, usage: 0, value, additional: None };
        let mut registrar = Registrar::new(&PAN_ID.to_be_bytes(), vec![key]);
        let mut timers = EventQueue::default();
        let nodes: Vec<Node> = (0..count as u16)
            .map(|number| {
                let device = Eui64::of_node(NodeId(number)).0;
                let shared = secret(&streams, "join key", number.into());
                let provisioned = registrar.provision(device, &shared, &mut RustCrypto);
                let pledge = provisioned.and_then(|()| Pledge::new(&shared, device, &mut RustCrypto));
                let mut random = streams.stream("joining", number.into());
                let mut up_to = |longest: Duration| Duration::from_micros(random.below(longest.as_micros() + 1));
                let start = Instant::ZERO + up_to(plan.join.start_spread_s.duration());
                let first_request = up_to(plan.join.first_request_s.duration());
                timers.push(start, (NodeId(number), 0, Timer::SwitchOn));
                Node {
                    stage: Stage::Off,
                    start,
                    generation: 0,
                    heard: Vec::new(),
                    proxy: NodeId::ROOT,
                    pledge: pledge.expect("an EUI-64 and a key of 16 octets make a context"),
                    request: Vec::new(),
                    attempt: 0,
                    timeout: Duration::ZERO,
                    first_request,
                    proxying: Proxy::new(secret(&streams, "proxy key", number.into())),
                    neighbors: Default::default(),
                    parent: NodeId::ROOT,
                    hops: 0,
                    dao_sequence: 0,
                    is_advertising: false,
                    trickle: Trickle::default(),
                    random,
                    record: JoinRecord {
                        seed,
                        node: number,
                        start: start.since(Instant::ZERO),
                        ..JoinRecord::default()
                    },
                }
            })
            .collect();
        let mut world = Self {
            network: plan.network(&streams),
            plan,
            seed,
            nodes,
            registrar,
            routed: (0..count).map(|node| node == 0).collect(),
            waiting: Vec::new(),
            open: count - 1,
            timers,
            datagrams: Vec::new(),
            costs: vec![Costs::default(); count],
            sent: Events::default(),
        };
        let root = &mut world.nodes[NodeId::ROOT.index()];
        root.stage = Stage::Complete;
        world.tsch(Instant::ZERO, |tsch, _| tsch.set_key(NodeId::ROOT, true));
        world.advertise(Instant::ZERO, NodeId::ROOT);
        world
    }

    /// Runs until all nodes are through, or the time is over. `None` if it is interrupted.
    pub(super) fn run(mut self, interrupt: &Interrupt, observer: &mut dyn Observer) -> Option<Vec<JoinRecord>> {
        let end = Instant::ZERO + self.plan.join.give_up_s.duration();
        let mut events = Events::default();
        while self.open > 0 {
            let now = self.network.deadline().into_iter().chain(self.timers.next_at()).min();
            let Some(now) = now.filter(|&now| now < end) else { break };
            if interrupt.is_set() {
                return None;
            }
            if self.network.deadline() == Some(now) {
                let (datagrams, costs) = (&self.datagrams[..], &mut self.costs[..]);
                self.network.handle_deadline(now, &mut events, &mut Watch { datagrams, costs, next: observer });
                for event in events.iter() {
                    self.handle(now, &event);
                }
                events.clear();
            }
            while let Some((node, generation, timer)) = self.timers.pop_due(now) {
                if self.nodes[node.index()].generation == generation {
                    self.expire(now, node, timer);
                }
            }
            self.look_for_cells(now);
            self.sent.clear();
        }
        let end = if self.open > 0 { end } else { Instant::ZERO };
        Some(self.records(end))
    }

    /// The records; `end` is the end of the world for nodes that are not through.
    fn records(mut self, end: Instant) -> Vec<JoinRecord> {
        for id in (1..self.nodes.len() as u16).map(NodeId) {
            let used = (self.nodes[id.index()].stage != Stage::Complete).then(|| self.energy(end, id));
            let Node { record, stage, hops, proxy, parent, .. } = &mut self.nodes[id.index()];
            record.energy_mj = used.unwrap_or(record.energy_mj);
            record.proxy = (*stage >= Stage::Synchronised).then_some(proxy.0);
            record.parent = (*stage >= Stage::Parent).then_some(parent.0);
            record.hops = (*stage >= Stage::Parent).then_some(*hops);
            let Costs { frames, repeated, octets, sixtop } = self.costs[id.index()];
            (record.join_frames, record.join_repeated_frames) = (frames, repeated);
            (record.join_octets, record.sixtop_frames) = (octets, sixtop);
            record.seed = self.seed;
        }
        self.nodes.into_iter().skip(1).map(|node| node.record).collect()
    }

    /// The energy that a node has used since the start of the world.
    fn energy(&self, now: Instant, node: NodeId) -> f64 {
        energy(&self.plan.device, Times::of(&self.network, node, now)).total_mj()
    }

    fn tsch<T>(&mut self, now: Instant, act: impl FnOnce(&mut Tsch, Instant) -> T) -> T {
        self.network.with_tsch(now, act).expect("only TSCH is prepared for a network that forms")
    }

    fn set_timer(&mut self, at: Instant, node: NodeId, timer: Timer) {
        self.timers.push(at, (node, self.nodes[node.index()].generation, timer));
    }

    // Events of the network.

    fn handle(&mut self, now: Instant, event: &Event<'_>) {
        match *event {
            Event::Beacon { node, from, join_metric, .. } => self.hear_beacon(now, node, from, join_metric),
            Event::Delivered { host: Host::Node(node), datagram, source, destination, payload, .. } => {
                let Some(&Datagram { owner, .. }) = self.datagrams.get(datagram as usize) else { return };
                self.receive(now, node, owner, [source, destination], payload);
            }
            Event::Packet { host: Host::Node(node), packet, .. } => self.receive_control(now, node, packet),
            _ => {}
        }
    }

    fn hear_beacon(&mut self, now: Instant, id: NodeId, from: NodeId, join_metric: u8) {
        let join = &self.plan.join;
        let node = &mut self.nodes[id.index()];
        node.neighbors.insert(from);
        if node.stage != Stage::Scanning || node.heard.iter().any(|(heard, _)| *heard == from) {
            return;
        }
        node.heard.push((from, join_metric));
        if node.heard.len() >= join.beacon_sources.get() as usize {
            self.choose_proxy(now, id);
        } else if node.heard.len() == 1 {
            self.set_timer(now + join.beacon_wait_s.duration(), id, Timer::Choose);
        }
    }

    /// A node chooses its join proxy, and takes the time from it.
    fn choose_proxy(&mut self, now: Instant, id: NodeId) {
        let Some(proxy) = self.nodes[id.index()].best_proxy() else { return };
        let used = self.energy(now, id);
        self.tsch(now, |tsch, now| tsch.synchronise(now, id));
        let node = &mut self.nodes[id.index()];
        (node.stage, node.proxy, node.attempt) = (Stage::Synchronised, proxy, 0);
        node.reach(Phase::Synchronised, now);
        node.record.scan_mj.get_or_insert(used);
        let first = node.first_request.as_micros();
        let at = match now.since(node.start).as_micros().checked_div(first) {
            Some(ended) => node.start + node.first_request * (ended + 1),
            None => now,
        };
        node.timeout = self.plan.join.first_timeout(node.random.below(1 << 32));
        self.set_timer(at, id, Timer::Request);
    }

    /// A datagram arrives at a node.
    fn receive(
        &mut self,
        now: Instant,
        id: NodeId,
        owner: NodeId,
        [source, destination]: [Endpoint; 2],
        payload: &[u8],
    ) {
        let from = Eui64::of_address(source.address);
        if source.address.is_unicast_link_local() {
            let node = &self.nodes[id.index()];
            if node.is_proxy() {
                let address = Address { identifier: from.interface_identifier(), port: source.port };
                self.forward(now, id, owner, address, payload);
            } else if node.stage == Stage::Synchronised && node.proxy == from.node() {
                self.receive_response(now, id, payload);
            }
        } else if id == NodeId::ROOT && destination.port == DATA_PORT {
            self.complete(now, owner);
        } else if id == NodeId::ROOT && destination.port == PORT {
            let proxy = from.node();
            // The root knows the way to the proxy if it knows the parent of each node on it.
            let is_routed = self.network.ancestry(proxy).all(|node| self.routed[node.index()]);
            if let (true, Ok(response)) = (is_routed, self.registrar.answer(payload, &mut RustCrypto)) {
                self.send(now, owner, true, [destination, source], &response);
            }
        } else if destination.port == PORT {
            self.give_back(now, id, owner, payload);
        }
    }

    /// A proxy passes a Join Request on. The registrar is at the root.
    fn forward(&mut self, now: Instant, id: NodeId, owner: NodeId, from: Address, request: &[u8]) {
        let node = &mut self.nodes[id.index()];
        let Ok(forwarded) = node.proxying.forward(from, request, &mut RustCrypto) else { return };
        if id != NodeId::ROOT {
            let ends = [id, NodeId::ROOT].map(|node| Endpoint::new(mesh_address(node), PORT));
            return self.send(now, owner, true, ends, &forwarded);
        }
        if let Ok(response) = self.registrar.answer(&forwarded, &mut RustCrypto) {
            self.give_back(now, id, owner, &response);
        }
    }

    /// A proxy gives a pledge its Join Response.
    fn give_back(&mut self, now: Instant, id: NodeId, owner: NodeId, response: &[u8]) {
        let node = &mut self.nodes[id.index()];
        let Ok((to, response)) = node.proxying.back(response, &mut RustCrypto) else { return };
        let pledge = Eui64::of_identifier(to.identifier).node();
        self.send_on_link(now, owner, [id, pledge], to.port, &response);
    }

    fn receive_response(&mut self, now: Instant, id: NodeId, payload: &[u8]) {
        let node = &mut self.nodes[id.index()];
        if node.pledge.receive(payload, &mut RustCrypto).is_err() {
            return;
        }
        node.stage = Stage::Joined;
        node.reach(Phase::Joined, now);
        self.tsch(now, |tsch, _| tsch.set_key(id, true));
        match self.plan.join.dis {
            Dis::None => {}
            Dis::Multicast => self.expire(now, id, Timer::Dis),
            Dis::Unicast => {
                let proxy = self.nodes[id.index()].proxy;
                self.send_control(now, [id, proxy], &control::dis(id, Some(proxy)));
                self.set_timer(now + self.plan.join.dis_period_s.duration(), id, Timer::Dis);
            }
        }
    }

    /// A message of RPL arrives at a node.
    fn receive_control(&mut self, now: Instant, id: NodeId, packet: &[u8]) {
        let Some((source, message)) = control::parse(packet) else { return };
        let from = Eui64::of_address(source).node();
        let node = &mut self.nodes[id.index()];
        match message {
            Control::Dio { rank } => {
                node.trickle.heard = node.trickle.heard.saturating_add(1);
                let hops = rank / RANK_OF_HOP;
                match node.stage {
                    Stage::Joined if hops > 0 => self.choose_parent(now, id, from, hops),
                    Stage::Parent | Stage::Connected | Stage::Complete if id != NodeId::ROOT && hops > 0 => {
                        self.improve_parent(now, id, from, hops);
                    }
                    _ => {}
                }
            }
            Control::Dis if node.is_advertising => {
                let is_for_all = Ipv6Header::parse(packet).is_ok_and(|header| header.destination.is_multicast());
                match is_for_all {
                    false => self.send_control(now, [id, from], &self.dio(id, Some(from))),
                    true if self.plan.join.dio_probability.get() > 0.0 => self.send_dio(now, id),
                    true => self.start_trickle(now, id),
                }
            }
            Control::Dao { target, .. } if id == NodeId::ROOT => {
                if let Some(routed) = self.routed.get_mut(target.index()) {
                    *routed = true;
                }
            }
            Control::Dis | Control::Dao { .. } => {}
        }
    }

    fn choose_parent(&mut self, now: Instant, id: NodeId, parent: NodeId, hops: u16) {
        if self.network.set_parent(id, parent).is_err() {
            return;
        }
        let node = &mut self.nodes[id.index()];
        (node.stage, node.parent, node.hops) = (Stage::Parent, parent, hops);
        node.reach(Phase::Parent, now);
        let metric = hops.min(u8::MAX.into()) as u8;
        self.tsch(now, |tsch, _| tsch.set_member(id, Some(parent), metric));
        if self.plan.negotiates {
            self.tsch(now, |tsch, now| tsch.choose_parent(now, id, parent));
            self.waiting.push(id);
        } else {
            self.connect(now, id);
        }
    }

    /// A node with a parent hears a DIO: of its parent, which may have another rank now, or of a neighbour nearer to the root, which
    /// becomes its parent (objective function 0, RFC 6552).
    fn improve_parent(&mut self, now: Instant, id: NodeId, from: NodeId, hops: u16) {
        let node = &self.nodes[id.index()];
        let is_other = node.parent != from;
        if is_other && (hops >= node.hops || self.network.set_parent(id, from).is_err()) {
            return;
        }
        let node = &mut self.nodes[id.index()];
        (node.parent, node.hops) = (from, hops);
        let metric = hops.min(u8::MAX.into()) as u8;
        self.tsch(now, |tsch, _| tsch.set_member(id, Some(from), metric));
        if is_other && self.plan.negotiates {
            self.tsch(now, |tsch, now| tsch.choose_parent(now, id, from));
        }
        if is_other && self.nodes[id.index()].is_advertising {
            self.send_dao(now, id);
        }
    }

    /// Whoever waits for a cell and has one now can send to the root.
    fn look_for_cells(&mut self, now: Instant) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|&id| {
            let parent = self.nodes[id.index()].parent;
            let has_cell =
                self.tsch(now, |tsch, _| tsch.schedule(id).agreed(parent, CellOptions::TRANSMIT).next().is_some());
            if has_cell {
                self.nodes[id.index()].reach(Phase::Cell, now);
                self.connect(now, id);
            }
            !has_cell
        });
        self.waiting = waiting;
    }

    fn connect(&mut self, now: Instant, id: NodeId) {
        let join = &self.plan.join;
        let node = &mut self.nodes[id.index()];
        node.stage = Stage::Connected;
        let delay = match join.dao_probability.get() {
            0.0 => join.dao_delay_s.duration(),
            probability => until(probability, self.plan.period, &mut node.random),
        };
        self.set_timer(now + delay, id, Timer::Dao);
        self.expire(now, id, Timer::Packet);
    }

    fn complete(&mut self, now: Instant, id: NodeId) {
        if self.nodes[id.index()].stage != Stage::Connected {
            return;
        }
        let used = self.energy(now, id);
        let node = &mut self.nodes[id.index()];
        node.stage = Stage::Complete;
        node.reach(Phase::Packet, now);
        node.record.energy_mj = used;
        self.open -= 1;
    }

    // Actions of nodes when a timer ends.

    fn expire(&mut self, now: Instant, id: NodeId, timer: Timer) {
        let plan = self.plan;
        let (join, period) = (&plan.join, plan.period);
        let node = &mut self.nodes[id.index()];
        match timer {
            Timer::SwitchOn if id != NodeId::ROOT => self.scan(now, id),
            Timer::SwitchOn => {}
            Timer::Choose if node.stage == Stage::Scanning => self.choose_proxy(now, id),
            Timer::Request if node.stage == Stage::Synchronised => self.send_request(now, id),
            Timer::Timeout(attempt) if node.stage == Stage::Synchronised && node.attempt == attempt => {
                if attempt > join.retries.get() {
                    return self.scan(now, id);
                }
                if join.timeout_doubles {
                    node.timeout = node.timeout * 2;
                }
                self.send_request(now, id);
            }
            Timer::Choose | Timer::Request | Timer::Timeout(_) => {}
            Timer::Dis if node.stage == Stage::Joined => {
                // A frame that is not sent is asked for again after the period.
                let _ = self.network.send_to_all(now, id, FrameKind::Dis, &control::dis(id, None));
                self.set_timer(now + join.dis_period_s.duration(), id, Timer::Dis);
            }
            Timer::Dis => {}
            Timer::Beacon => {
                let sharing = if join.beacons_shared { 1 + node.neighbors.len() } else { 1 };
                let next = until(join.beacon_probability.get() / sharing as f64, period, &mut node.random);
                self.tsch(now, |tsch, now| tsch.send_beacon(now, id));
                self.set_timer(now + next, id, Timer::Beacon);
            }
            Timer::Dio => {
                let next = until(join.dio_probability.get(), period, &mut node.random);
                self.send_dio(now, id);
                self.set_timer(now + next, id, Timer::Dio);
            }
            Timer::Interval(starts) if node.trickle.starts == starts => self.next_interval(now, id),
            Timer::TrickleDio(starts) if node.trickle.starts == starts => {
                let redundancy = join.dio_redundancy.get();
                if redundancy == 0 || u32::from(node.trickle.heard) < redundancy {
                    self.send_dio(now, id);
                }
            }
            Timer::Interval(_) | Timer::TrickleDio(_) => {}
            Timer::Dao => {
                let next = match join.dao_probability.get() {
                    0.0 => join.dao_period_s.duration(),
                    probability => until(probability, period, &mut node.random),
                };
                self.send_dao(now, id);
                self.set_timer(now + next, id, Timer::Dao);
                if !self.nodes[id.index()].is_advertising {
                    self.advertise(now, id);
                }
            }
            Timer::Packet if node.stage == Stage::Connected => {
                node.record.packets += 1;
                let ends = [id, NodeId::ROOT].map(|node| Endpoint::new(mesh_address(node), DATA_PORT));
                self.send(now, id, false, ends, &vec![0; join.packet_octets.get() as usize]);
                self.set_timer(now + join.packet_period_s.duration(), id, Timer::Packet);
            }
            Timer::Packet => {}
        }
    }

    fn scan(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.generation += 1;
        node.stage = Stage::Scanning;
        node.heard.clear();
        node.record.scans += 1;
        node.record.phases = [None; Phase::ALL.len()];
        let dwell = self.plan.join.channel_s.duration();
        self.tsch(now, |tsch, now| tsch.scan(now, id, dwell));
    }

    /// Sends the Join Request: the same again if it is confirmable.
    fn send_request(&mut self, now: Instant, id: NodeId) {
        let is_confirmable = self.plan.join.confirmable;
        let node = &mut self.nodes[id.index()];
        if node.attempt == 0 || !is_confirmable {
            let object = JoinRequest::of_node(&PAN_ID.to_be_bytes());
            let message_id = node.record.requests as u16;
            let request = node.pledge.request(&object, message_id, is_confirmable, &mut RustCrypto);
            node.request = request.expect("2^40 sequence numbers are enough");
        }
        node.attempt += 1;
        node.record.requests += 1;
        let (attempt, at, proxy, request) = (node.attempt, now + node.timeout, node.proxy, node.request.clone());
        self.set_timer(at, id, Timer::Timeout(attempt));
        self.send_on_link(now, id, [id, proxy], PORT, &request);
    }

    /// A node begins to send beacons and DIOs.
    fn advertise(&mut self, now: Instant, id: NodeId) {
        let (join, period) = (&self.plan.join, self.plan.period);
        let node = &mut self.nodes[id.index()];
        node.is_advertising = true;
        let sharing = if join.beacons_shared { 1 + node.neighbors.len() } else { 1 };
        let beacon = until(join.beacon_probability.get() / sharing as f64, period, &mut node.random);
        let probability = join.dio_probability.get();
        let dio = (probability > 0.0).then(|| until(probability, period, &mut node.random));
        self.set_timer(now + beacon, id, Timer::Beacon);
        match dio {
            Some(dio) => self.set_timer(now + dio, id, Timer::Dio),
            None => self.start_trickle(now, id),
        }
    }

    /// Starts Trickle with its smallest interval (RFC 6206 section 4.2, steps 1 and 6).
    fn start_trickle(&mut self, now: Instant, id: NodeId) {
        let trickle = &mut self.nodes[id.index()].trickle;
        trickle.starts += 1;
        trickle.interval = Duration::from_millis(1 << self.plan.join.dio_interval_min.get());
        self.next_interval(now, id);
    }

    fn next_interval(&mut self, now: Instant, id: NodeId) {
        let join = &self.plan.join;
        let Node { trickle, random, .. } = &mut self.nodes[id.index()];
        let (interval, starts) = (trickle.interval, trickle.starts);
        let half = interval / 2;
        let drawn = Duration::from_micros(random.below(half.as_micros().max(1)));
        let longest = Duration::from_millis(1 << (join.dio_interval_min.get() + join.dio_doublings.get()));
        trickle.interval = (interval * 2).min(longest);
        trickle.heard = 0;
        self.set_timer(now + half + drawn, id, Timer::TrickleDio(starts));
        self.set_timer(now + interval, id, Timer::Interval(starts));
    }

    // Messages that nodes send.

    fn dio(&self, id: NodeId, to: Option<NodeId>) -> Vec<u8> {
        let join = &self.plan.join;
        let timer = DioTimer {
            interval_min: join.dio_interval_min.get() as u8,
            doublings: join.dio_doublings.get() as u8,
            redundancy: join.dio_redundancy.get() as u8,
        };
        let mode = if self.plan.is_storing { Mode::Storing } else { Mode::NonStoring };
        dio(id, to, self.nodes[id.index()].hops, mode, timer)
    }

    fn send_dio(&mut self, now: Instant, id: NodeId) {
        let dio = self.dio(id, None);
        // A DIO that is not sent is followed by the next.
        let _ = self.network.send_to_all(now, id, FrameKind::Dio, &dio);
    }

    /// Tells the root the parent of a node.
    fn send_dao(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.dao_sequence = node.dao_sequence.wrapping_add(1);
        let dao = control::dao(id, node.parent, node.dao_sequence);
        let datagram = self.datagram(id, false);
        // A DAO that is lost is followed by the next.
        let _ = self.network.send_packet(now, &dao, datagram, &mut self.sent);
    }

    fn datagram(&mut self, owner: NodeId, joins: bool) -> DatagramId {
        self.datagrams.push(Datagram { owner, joins });
        (self.datagrams.len() - 1) as DatagramId
    }

    /// Sends a datagram through the mesh. A loss is noticed by timers alone.
    fn send(&mut self, now: Instant, owner: NodeId, joins: bool, [from, to]: [Endpoint; 2], payload: &[u8]) {
        let datagram = self.datagram(owner, joins);
        let sent = self.network.send(now, from, to, payload, datagram, &mut self.sent);
        debug_assert_eq!(sent, Ok(()), "both are nodes of the mesh");
    }

    /// Sends a datagram of joining to a neighbour.
    fn send_on_link(&mut self, now: Instant, owner: NodeId, [from, to]: [NodeId; 2], port: u16, payload: &[u8]) {
        let datagram = self.datagram(owner, true);
        let [source, destination] =
            [(from, PORT), (to, port)].map(|(node, port)| Endpoint::new(link_local_address(node), port));
        let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
        if udp_datagram(source, destination, payload, &mut packet).is_ok() {
            let sent = self.network.send_to_neighbor(now, (from, to), &packet, datagram, &mut self.sent);
            debug_assert_eq!(sent, Ok(()), "it is a packet");
        }
    }

    /// Sends a message of RPL to a neighbour.
    fn send_control(&mut self, now: Instant, [from, to]: [NodeId; 2], packet: &[u8]) {
        let datagram = self.datagram(from, false);
        let sent = self.network.send_to_neighbor(now, (from, to), packet, datagram, &mut self.sent);
        debug_assert_eq!(sent, Ok(()), "it is a packet");
    }
}

/// Counts the frames of joining.
struct Watch<'a> {
    datagrams: &'a [Datagram],
    costs: &'a mut [Costs],
    next: &'a mut dyn Observer,
}

impl Observer for Watch<'_> {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.next.transmission(frame);
        match frame.kind {
            FrameKind::SixTop => self.costs[frame.from.index()].sixtop += 1,
            FrameKind::Data => {
                let joins = self.datagrams.get(frame.datagram as usize).filter(|datagram| datagram.joins);
                let Some(&Datagram { owner, .. }) = joins else { return };
                let costs = &mut self.costs[owner.index()];
                costs.frames += 1;
                costs.repeated += u64::from(frame.attempt > 0);
                costs.octets += (frame.octets.len() + FCS) as u64;
            }
            _ => {}
        }
    }
}

/// A secret of 16 octets.
fn secret(streams: &Streams, name: &str, number: u64) -> [u8; 16] {
    let [secret, _] = *streams.derive(name, number).as_chunks::<16>().0 else { return [0; 16] };
    secret
}
