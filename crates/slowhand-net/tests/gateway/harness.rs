//! A line of nodes under TSCH, and two ends of a TCP connection, one in the mesh, one on the Internet.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::datagram::is_of_router;
use slowhand_net::ip::{Endpoint, TcpPacket};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::lowpan::reassembly::Limits;
use slowhand_net::network::gateway::GatewayConfig;
use slowhand_net::network::internet::InternetConfig;
use slowhand_net::network::{Event, Events, LossSpread, Network, NetworkConfig};
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::Routes;
use slowhand_net::transport::pep;
use slowhand_net::transport::tcp::{Connection, Segment, SeqNumber, State, TcpConfig};
use std::collections::BTreeSet;

/// What a network is like, apart from the ends.
#[derive(Clone)]
pub struct Setting {
    pub seed: u64,
    pub hops: u16,
    pub slotframe: u16,
    pub fragment_loss: f64,
    pub dropped_frames: Vec<u64>,
    pub loss_spread: LossSpread,
    pub internet: InternetConfig,
    pub gateway: GatewayConfig,
}

impl Setting {
    /// One hop, a slotframe of 5 slots of 20 ms, nothing lost, 50 ms to the Internet host, and a border router that only
    /// forwards.
    pub fn plain() -> Self {
        Self {
            seed: 1,
            hops: 1,
            slotframe: 5,
            fragment_loss: 0.0,
            dropped_frames: Vec::new(),
            loss_spread: LossSpread::default(),
            internet: InternetConfig { delay: Duration::from_millis(50), ..Default::default() },
            gateway: GatewayConfig::default(),
        }
    }

    /// The same with a TCP proxy.
    pub fn proxied() -> Self {
        let gateway = GatewayConfig { tcp_proxy: Some(pep::ProxyConfig::default()), ..Default::default() };
        Self { gateway, ..Self::plain() }
    }

    /// The node at the end of the line.
    pub fn node(&self) -> Host {
        Host::Node(NodeId(self.hops))
    }

    /// Of the link between nodes n - 1 and n, slot 2n - 1 leads up and slot 2n down.
    pub fn network(&self) -> Network {
        let (nodes, streams) = (self.hops + 1, Streams::new(self.seed));
        let links: Vec<_> = (1..nodes).flat_map(|n| LinkQuality::symmetric(NodeId(n - 1), NodeId(n), 1.0)).collect();
        let cell = |slot, options, neighbor| Cell {
            slot,
            channel_offset: 0,
            options,
            neighbor: Some(NodeId(neighbor)),
            handle: handle::NEGOTIATED,
        };
        let (send, listen) = (CellOptions::TRANSMIT, CellOptions::RECEIVE);
        let mut cells = vec![Vec::new(); nodes.into()];
        for n in 1..nodes {
            cells[usize::from(n) - 1].extend([cell(2 * n - 1, listen, n), cell(2 * n, send, n)]);
            cells[usize::from(n)].extend([cell(2 * n - 1, send, n - 1), cell(2 * n, listen, n - 1)]);
        }
        let config = tsch::TschConfig { timing: Timing::SLOT_20_MS, ..tsch::TschConfig::openwsn(self.slotframe) };
        let mac = Tsch::new(config, Links::new(nodes.into(), &links, &streams), cells, &streams);
        let config = NetworkConfig {
            fragment_loss: Probability::new(self.fragment_loss),
            dropped_frames: self.dropped_frames.clone(),
            loss_spread: self.loss_spread,
            internet: self.internet.clone(),
            gateway: self.gateway.clone(),
            // More than the default of two: a flight sent again meets a full queue here, not a full reassembly.
            reassembly: Limits { buffers: 4, ..Limits::default() },
            ..Default::default()
        };
        Network::new(Box::new(mac), Routes::shortest(nodes.into(), &links).unwrap(), config, &streams)
    }
}

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a TCP segment of these octets in
/// one piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 3 + `segment` + 2 at 32 us
/// each, 5,521 us to the acknowledgement, 25 octets of that. The 3 octets: IPHC 2 (both addresses follow from the
/// contexts and the link), next header 1, inline. Those of an Internet host do not follow from the link: context octet 1
/// and 64 bits of its address.
pub const fn exchange(segment: u64) -> Duration {
    Duration::from_micros(5_215 + (6 + 21 + 3 + 1 + 8 + segment + 2) * 32 + 5_521 + (6 + 19) * 32)
}

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
    /// Numbers of what the ends sent that have not arrived yet, and how many have been taken by the proxy.
    pub open: BTreeSet<DatagramId>,
    pub taken: usize,
    /// Numbers of what the border router originated.
    pub originated: BTreeSet<DatagramId>,
    /// Datagrams that were lost.
    pub lost: usize,
    content: [Vec<u8>; 2],
    written: [usize; 2],
    /// Resets of a host where nothing listens.
    resets: Vec<(TcpAddresses, Vec<u8>)>,
    sent: DatagramId,
    proxied: bool,
}

impl Conversation {
    /// `opener` connects to the other host; each end is to send its content.
    pub fn new(setting: &Setting, opener: Host, config: [&TcpConfig; 2], content: [&[u8]; 2]) -> Self {
        let hosts = match opener {
            Host::Internet => [Host::Internet, setting.node()],
            Host::Node(_) => [setting.node(), Host::Internet],
        };
        let [local, remote] = [Endpoint::new(hosts[0].address(), 61_617), Endpoint::new(hosts[1].address(), 4_433)];
        Self {
            network: setting.network(),
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
            proxied: setting.gateway.tcp_proxy.is_some(),
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
