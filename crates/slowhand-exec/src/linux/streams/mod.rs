//! TCP of the programs: sockets of Unix in the place of theirs, and the TCP that slowhand has.
//!
//! The timers of the kernel's TCP have the time of the machine. So a program that asks for a socket of TCP gets one of Unix, with the
//! same descriptor and the same readiness; the kernel carries its octets, and the calls that tell the two apart are answered here.
//! Two programs of one host are connected by the kernel. At a connection to another host the tracer is the other end of the
//! program's socket: it moves octets between that and a [`Connection`](slowhand_net::transport::tcp::Connection), whose segments cross the
//! network of the scenario, and never reach a kernel.

mod address;
mod calls;
mod connections;
mod ends;
mod options;
mod ports;

pub(crate) use address::Family;
pub(crate) use calls::Outcome;
pub(crate) use options::Answer;

use crate::linux::descriptor::Descriptor;
use crate::linux::kernel::{Kernel, Namespace};
use connections::{Connected, Opener};
use ends::Doorway;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_lab::scenario::Scenario;
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use slowhand_net::random::Streams as RandomStreams;
use slowhand_net::transport::tcp::{Connection, SeqNumber, TcpConfig};
use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv6Addr, SocketAddr};

/// The sockets of TCP of one host, and its connections to others.
#[derive(Debug)]
pub(crate) struct Streams {
    site: Site,
    /// By inode, which all descriptors of a socket share. These numbers are not the same in every run, so nothing is in their order.
    sockets: HashMap<u64, Socket>,
    /// The inodes by number.
    inodes: HashMap<u64, u64>,
    /// By number, so in the order in which they came to be.
    connections: BTreeMap<u64, Connected>,
    /// The connections by their ends, the host's own first.
    of_ends: HashMap<(Endpoint, Endpoint), u64>,
    /// The number of the next socket or connection.
    next: u64,
    /// Messages to the network.
    outgoing: Vec<Outgoing>,
}

/// State that its sockets have in common.
#[derive(Debug)]
struct Site {
    namespace: Namespace,
    address: Ipv6Addr,
    tcp: TcpConfig,
    random: Xoshiro256PlusPlus,
    doorway: Option<Doorway>,
    /// The inodes of sockets with a port of their own, in the order in which they got it. Some may be closed.
    bound: Vec<u64>,
    /// True if something has happened that its programs can see.
    has_changed: bool,
}

/// A message of a host to the network, in this order.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// It sends a packet.
    Packet(Vec<u8>),
    /// A program has given its TCP these octets, or gets them from it.
    Octets { own: Endpoint, peer: Endpoint, is_sent: bool, octets: Vec<u8> },
}

/// A socket of TCP, as its program sees it.
#[derive(Debug)]
pub(crate) struct Socket {
    number: u64,
    family: Family,
    /// The port that it gets if its program asks for none.
    spare_port: u16,
    local: Option<SocketAddr>,
    /// True if its number is its name.
    is_named: bool,
    state: State,
    options: BTreeMap<(i32, i32), Vec<u8>>,
    /// The error of its connection, until the program is told.
    error: Option<i32>,
    /// True if the kernel's socket is to get its usual room.
    needs_room: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    Listening {
        backlog: u32,
        /// Connections from the network that are not accepted yet.
        pending: u32,
    },
    /// Connects to another host: the number of the connection.
    Opening(u64),
    Open {
        peer: SocketAddr,
        /// `None`: to a program of this host.
        connection: Option<u64>,
        /// True if a call has said that it is open.
        is_told: bool,
    },
    /// It could not be connected.
    Failed,
}

impl Streams {
    /// Of the host with this number.
    pub(crate) fn new(scenario: &Scenario, kernel: &Kernel, number: u64, seed: u64) -> Self {
        let random = RandomStreams::new(seed);
        let site = Site {
            namespace: kernel.namespace.clone(),
            address: kernel.host.address(),
            tcp: scenario.tcp_of(kernel.host),
            random: Xoshiro256PlusPlus::from_seed(random.derive("streams of a host", number)),
            doorway: None,
            bound: Vec::new(),
            has_changed: false,
        };
        Self {
            site,
            sockets: HashMap::new(),
            inodes: HashMap::new(),
            connections: BTreeMap::new(),
            of_ends: HashMap::new(),
            next: 0,
            outgoing: Vec::new(),
        }
    }

    /// The inode of a descriptor, if it is a socket of TCP.
    pub(crate) fn inode_of(&self, descriptor: &Descriptor) -> Option<u64> {
        descriptor.socket.filter(|inode| self.sockets.contains_key(inode))
    }

    /// True if no program has ever had a socket of TCP.
    pub(crate) fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// Takes the messages to the network.
    pub(crate) fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    /// True if something has happened that programs can see.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.site.has_changed)
    }

    /// A program has made a socket.
    pub(crate) fn add(&mut self, inode: u64, family: Family, spare_port: u16) -> &mut Socket {
        let number = self.number();
        self.inodes.insert(number, inode);
        let socket = Socket {
            number,
            family,
            spare_port,
            local: None,
            is_named: false,
            state: State::Fresh,
            options: BTreeMap::new(),
            error: None,
            needs_room: false,
        };
        if let Some(former) = self.sockets.insert(inode, socket) {
            self.inodes.remove(&former.number); // the kernel gives the inodes of closed sockets again
        }
        self.sockets.get_mut(&inode).expect("it has just come in")
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Begins a connection to another host.
    fn open(&mut self, inode: u64, peer: Endpoint, fills: bool, now: Instant) -> Result<u64, i32> {
        let number = self.number();
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        let port = socket.local.map_or(socket.spare_port, |local| local.port());
        let own = Endpoint::new(self.site.address, port);
        let ends = (own, peer);
        if let Some(former) = self.of_ends.get(&ends)
            && !self.connections.get(former).is_none_or(Connected::is_past)
        {
            return Err(libc::EADDRNOTAVAIL);
        }
        let config = options::configured(&self.site.tcp, &socket.options);
        let first = SeqNumber(self.site.random.next_u32());
        // The plan has checked the configuration, and the options of the socket are in its bounds.
        let connection = Connection::connect(&config, own, peer, first).map_err(|_| libc::EINVAL)?;
        let connected = Connected::new(connection, &config, Opener::Program { inode, fills });
        socket.local = Some(address::of(own));
        socket.state = State::Opening(number);
        self.keep(ends, number, connected);
        self.transmit(number, now);
        Ok(number)
    }

    /// A connection takes the place of one that has had its ends before.
    fn keep(&mut self, ends: (Endpoint, Endpoint), number: u64, connected: Connected) {
        if let Some(former) = self.of_ends.insert(ends, number) {
            self.connections.remove(&former);
        }
        self.connections.insert(number, connected);
    }
}
