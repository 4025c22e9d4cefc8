//! Who is connected to whom.

use slowhand_coap::endpoint;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip;
use slowhand_sessions::{Session, SessionConfig, build_pair};

use super::{Due, Reader, World};
use crate::readers::ends::{End, Member, Part, State};
use crate::readers::record::Way;

impl World<'_> {
    pub(super) fn add_reader(&mut self, reader: usize, readers: usize) {
        let plan = self.plan;
        let period = plan.readers.period_s.duration();
        let mut start = self.streams.stream("reader", reader as u64);
        let begin = Instant::ZERO + plan.start + Duration::from_micros(start.below(period.as_micros()));
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

    pub(super) fn connect_proxy(&mut self) -> usize {
        let nodes = [NodeId::ROOT, self.plan.producer];
        let ports = [self.plan.ports.coap, self.plan.ports.coap];
        let parts = [Part::Fetch, Part::Producer(None)];
        self.connect(parts, nodes.map(Host::Node), nodes.map(NodeId::index), ports, [None, None])
    }

    /// A member's session with the authorization server.
    pub(super) fn connect_to_authority(&mut self, member: Member, host: Host, readers: usize) -> usize {
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
    pub(super) fn computer_of(&self, host: Host, on_internet: usize) -> usize {
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
            let coap = if session.is_some() { &self.plan.coap_over_dtls } else { &self.plan.coap };
            self.by_address.insert(addresses, client + side);
            self.ends.push(End {
                part: parts[side],
                host: hosts[side],
                computer: computers[side],
                addresses,
                state: if session.is_some() { State::New } else { State::Open },
                session,
                coap: endpoint::Endpoint::new(coap.clone(), move || random.below(u64::MAX)),
                is_asking: false,
                timer: None,
            });
        }
        client
    }
}
