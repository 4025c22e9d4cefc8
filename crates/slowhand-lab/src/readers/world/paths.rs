//! Who is connected to whom.

use slowhand_coap::endpoint;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip;
use slowhand_sessions::{Role, Session, SessionConfig, build_pair};

use super::{Due, Reader, World};
use crate::ids::{ComputerId, EndId, Id, number_of};
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
    fn connect_to_producer(&mut self, reader: usize, host: Host) -> EndId {
        let producer = self.plan.producer;
        let ports = [self.port(reader), self.plan.ports.coaps];
        let parts = [Part::Reader(reader), Part::Producer(Some(reader))];
        let hosts = [host, Host::Node(producer)];
        let computers = hosts.map(|host| self.computer_of(host, reader));
        let sessions = self.sessions(2 * reader as u64, [self.plan.role_of_readers(), Role::Client]);
        self.connect(parts, hosts, computers, ports, sessions.map(Some))
    }

    /// A reader without a session, towards the proxy or the producer.
    fn connect_to_source(&mut self, reader: usize, host: Host) -> EndId {
        let (node, part) = match self.plan.readers.proxy {
            true => (NodeId::ROOT, Part::Proxy),
            false => (self.plan.producer, Part::Producer(Some(reader))),
        };
        let hosts = [host, Host::Node(node)];
        let computers = hosts.map(|host| self.computer_of(host, reader));
        let ports = [self.port(reader), self.plan.ports.coap];
        self.connect([Part::Reader(reader), part], hosts, computers, ports, [None, None])
    }

    pub(super) fn connect_proxy(&mut self) -> EndId {
        let hosts = [NodeId::ROOT, self.plan.producer].map(Host::Node);
        let computers = hosts.map(|host| self.computer_of(host, 0));
        let ports = [self.plan.ports.coap, self.plan.ports.coap];
        let parts = [Part::Fetch, Part::Producer(None)];
        self.connect(parts, hosts, computers, ports, [None, None])
    }

    /// A member's session with the authorization server.
    pub(super) fn connect_to_authority(&mut self, member: Member, host: Host, readers: usize) -> EndId {
        let authority = self.plan.authority;
        let (port, on_internet, role, number) = match member {
            Member::Producer => (self.plan.ports.first.wrapping_sub(1), 0, Role::Client, u64::MAX / 2),
            Member::Reader(reader) => (self.port(reader), reader, self.plan.role_of_readers(), 2 * reader as u64 + 1),
        };
        let computers = [self.computer_of(host, on_internet), self.computer_of(authority, readers)];
        let sessions = self.sessions(number, [role, Role::Server]);
        let parts = [Part::Member(member), Part::Authority(member)];
        self.connect(parts, [host, authority], computers, [port, self.plan.ports.coaps], sessions.map(Some))
    }

    fn port(&self, reader: usize) -> u16 {
        self.plan.ports.first.wrapping_add(reader as u16)
    }

    /// The computer of a host: on the Internet, that of this number.
    pub(super) fn computer_of(&self, host: Host, on_internet: usize) -> ComputerId {
        ComputerId::of(host, self.plan.plan.nodes(), on_internet)
    }

    /// The sessions of both ends of a path, on these devices.
    fn sessions(&self, path: u64, devices: [Role; 2]) -> [Box<dyn Session>; 2] {
        let nonces = self.plan.plan.nonces(self.record.seed);
        let configs = Role::BOTH.map(|role| {
            let seed = nonces.derive("session of a reader", number_of(path, role));
            SessionConfig { seed, ..self.plan.sessions[role].clone() }
        });
        let processors = devices.map(|role| self.plan.processor(role));
        // The plan has built sessions of these configurations, which succeed with all seeds or with none.
        build_pair(configs.each_ref(), processors).expect("sessions of checked configurations")
    }

    /// Adds both ends of a path; returns the client's.
    fn connect(
        &mut self,
        parts: [Part; 2],
        hosts: [Host; 2],
        computers: [ComputerId; 2],
        ports: [u16; 2],
        sessions: [Option<Box<dyn Session>>; 2],
    ) -> EndId {
        let client = self.ends.next();
        self.clients.insert(parts[Role::Client], client);
        let places = Role::BOTH.map(|role| ip::Endpoint::new(hosts[role].address(), ports[role]));
        for (role, session) in Role::BOTH.into_iter().zip(sessions) {
            let end = self.ends.next();
            let mut random = self.streams.stream("coap of a reader", end.row() as u64);
            let addresses = [places[role], places[role.peer()]];
            let coap = if session.is_some() { &self.plan.coap_over_dtls } else { &self.plan.coap };
            self.by_address.insert(addresses, end);
            self.ends.push(End {
                part: parts[role],
                host: hosts[role],
                computer: computers[role],
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
