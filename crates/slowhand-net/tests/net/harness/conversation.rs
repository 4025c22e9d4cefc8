//! Two ends of a TCP connection across a network.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::{DatagramId, is_of_router};
use slowhand_net::ip::{Endpoint, TcpPacket};
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::transport::tcp::{Connection, Segment, SeqNumber, State, TcpConfig};
use std::collections::BTreeSet;

type TcpAddresses = (std::net::Ipv6Addr, std::net::Ipv6Addr);

/// Two ends: first the one that opens.
pub struct Conversation {
    pub network: Network,
    pub now: Instant,
    pub ends: [Connection; 2],
    pub received: [Vec<u8>; 2],
    /// When each end was open.
    pub opened: [Option<Instant>; 2],
    /// When each end had its first octet.
    pub received_at: [Option<Instant>; 2],
    /// When the first segment reached the second end.
    pub first_arrival: Option<Instant>,
    /// The numbers of the segments on their way.
    pub open: BTreeSet<DatagramId>,
    /// The number of segments that the proxy has taken.
    pub taken: usize,
    /// The numbers of what the border router originated.
    pub originated: BTreeSet<DatagramId>,
    /// Datagrams that were lost.
    pub lost: usize,
    content: [Vec<u8>; 2],
    written: [usize; 2],
    /// Resets of a host where nothing listens.
    resets: Vec<(TcpAddresses, Vec<u8>)>,
    /// The number of segments that the ends have sent.
    pub sent: DatagramId,
    proxied: bool,
}

impl Conversation {
    /// The first host connects to the second; each end is to send its content.
    pub fn new(network: Network, hosts: [Host; 2], config: [&TcpConfig; 2], content: [&[u8]; 2]) -> Self {
        let [local, remote] = [Endpoint::new(hosts[0].address(), 61_617), Endpoint::new(hosts[1].address(), 4_433)];
        let proxied = network.tcp_proxy().is_some();
        Self {
            network,
            now: Instant::ZERO,
            ends: [
                Connection::connect(config[0], local, remote, SeqNumber(1_000)).unwrap(),
                Connection::listen(config[1], remote, SeqNumber(u32::MAX - 100)).unwrap(),
            ],
            received: Default::default(),
            opened: [None; 2],
            received_at: [None; 2],
            first_arrival: None,
            open: BTreeSet::new(),
            taken: 0,
            originated: BTreeSet::new(),
            lost: 0,
            content: content.map(<[u8]>::to_vec),
            written: [0; 2],
            resets: Vec::new(),
            sent: 0,
            proxied,
        }
    }

    /// Runs until `done`, at most an hour.
    pub fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        let mut events = Events::default();
        loop {
            for end in 0..2 {
                self.serve(end, &mut events);
            }
            self.handle(&mut events);
            if done(self) {
                return;
            }
            let deadlines = [self.network.deadline(), self.ends[0].deadline(), self.ends[1].deadline()];
            self.now = deadlines.into_iter().flatten().min().expect("no deadlock");
            assert!(self.now < Instant::ZERO + Duration::from_secs(3_600), "it goes on");
            if self.network.deadline() == Some(self.now) {
                self.network.handle_deadline(self.now, &mut events, &mut ());
            }
            for end in &mut self.ends {
                if end.deadline().is_some_and(|at| at <= self.now) {
                    end.handle_timeout(self.now);
                }
            }
            self.handle(&mut events);
        }
    }

    /// Runs until both ends have all that the other sent, and know that it has arrived.
    pub fn exchange(&mut self) -> Instant {
        self.run_until(|this| {
            this.received[0] == this.content[1]
                && this.received[1] == this.content[0]
                && this.opened.iter().all(Option::is_some)
                && this.ends.iter().all(Connection::all_acknowledged)
        });
        self.now
    }

    fn handle(&mut self, events: &mut Events) {
        for event in events.iter() {
            match event {
                Event::Segment { packet, datagram, .. } => {
                    assert_eq!(is_of_router(datagram), self.proxied, "no segment gets past a proxy");
                    match self.proxied {
                        true => assert!(self.originated.remove(&datagram), "each ends once"),
                        false => assert!(self.open.remove(&datagram), "each ends once"),
                    }
                    let end = self.ends.iter_mut().find(|end| end.local().address == packet.destination).unwrap();
                    if end.state() == State::Listen {
                        self.first_arrival = Some(self.now);
                    }
                    if end.state() == State::Closed
                        && let Some(reset) = Segment::parse(packet.segment).unwrap().reset_reply()
                    {
                        let mut octets = vec![0; reset.wire_len()];
                        reset.emit(packet.destination, packet.source, &mut octets).unwrap();
                        self.resets.push(((packet.destination, packet.source), octets));
                    }
                    end.handle_segment(self.now, packet.source, packet.ecn, packet.segment).unwrap();
                }
                Event::Intercepted { host, datagram, .. } => {
                    assert_eq!((host, self.open.remove(&datagram)), (Host::Node(NodeId::ROOT), true));
                    self.taken += 1;
                }
                Event::Originated { datagram, packet, .. } => {
                    assert!(is_of_router(datagram) && self.originated.insert(datagram), "each has its own number");
                    assert!(Segment::parse(packet.segment).is_ok());
                }
                Event::Beacon { .. } => panic!("all nodes have joined"),
                Event::Lost { datagram, .. } => {
                    let lost = self.open.remove(&datagram) || self.originated.remove(&datagram);
                    self.lost += usize::from(lost); // the first of its parts
                }
                Event::Delivered { .. } | Event::Packet { .. } => {}
            }
        }
        events.clear();
    }

    /// Reads, writes and transmits at one end.
    fn serve(&mut self, end: usize, events: &mut Events) {
        let connection = &mut self.ends[end];
        if matches!(connection.state(), State::Established | State::CloseWait) {
            self.opened[end].get_or_insert(self.now);
            let written = &mut self.written[end];
            *written += connection.write(&self.content[end][*written..]).unwrap_or(0);
        }
        let mut octets = [0; 2_048];
        while let Ok(count @ 1..) = connection.read(&mut octets) {
            self.received_at[end].get_or_insert(self.now);
            self.received[end].extend_from_slice(&octets[..count]);
        }
        for ((source, destination), segment) in self.resets.drain(..) {
            let packet = TcpPacket { source, destination, ecn: Default::default(), segment: &segment };
            self.open.insert(self.sent);
            self.network.send_segment(self.now, packet, self.sent, events).unwrap();
            self.sent += 1;
        }
        while let Some(transmit) = connection.poll_transmit(self.now, &mut octets) {
            let (source, destination) = (connection.local().address, connection.remote().unwrap().address);
            let packet = TcpPacket { source, destination, ecn: transmit.ecn, segment: &octets[..transmit.len] };
            self.open.insert(self.sent);
            self.network.send_segment(self.now, packet, self.sent, events).unwrap();
            self.sent += 1;
        }
    }
}
