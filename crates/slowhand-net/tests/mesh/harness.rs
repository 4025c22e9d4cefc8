//! A line of nodes under any MAC, and everything that becomes of its datagrams.

use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use std::collections::BTreeMap;

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::lowpan::{forwarding, recovery};
use slowhand_net::network::{Event, Events, Fragments, Network, NetworkConfig};
use slowhand_net::radio::Mac;
use slowhand_net::radio::beacon::{self, Beacon, Superframe};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::xmac::{self, XMac};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

/// A frame that was on the air: when it began, from whom, its octets without check sequence.
pub type Frame = (u64, NodeId, Vec<u8>);

/// Data frames and acknowledgements, in the order of the air.
#[derive(Default)]
pub struct Air {
    pub data: Vec<Frame>,
    pub all: Vec<Frame>,
}

impl Observer for Air {
    fn transmission(&mut self, sent: &Transmission<'_>) {
        let frame = (sent.at.as_micros(), sent.from, sent.octets.to_vec());
        if sent.kind == FrameKind::Data {
            self.data.push(frame.clone());
        }
        self.all.push(frame);
    }
}

/// What became of the datagrams, by number.
#[derive(Debug, Default)]
pub struct Fates {
    pub delivered: BTreeMap<u32, (Instant, Vec<u8>)>,
    pub lost: BTreeMap<u32, &'static str>,
}

/// Links of the nodes 0, 1, ..., `hops` in a row.
pub fn line(hops: u16, pdr: f64) -> Vec<LinkQuality> {
    (0..hops).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), pdr)).collect()
}

pub fn payload(datagram: u32, octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (datagram as usize * 31 + at * 7) as u8).collect()
}

/// A link layer for a line of nodes: its hops, the delivery ratio of its links, the seed.
pub type LinkLayer = fn(u16, f64, u64) -> (Box<dyn Mac>, Routes);

/// The network of a line of nodes under a link layer.
fn network(mac: LinkLayer, hops: u16, pdr: f64, config: NetworkConfig, seed: u64) -> Network {
    let (mac, routes) = mac(hops, pdr, seed);
    Network::new(mac, routes, config, &Streams::new(seed))
}

pub fn tsch(hops: u16, pdr: f64, config: NetworkConfig, seed: u64) -> Network {
    network(tsch_mac, hops, pdr, config, seed)
}

pub fn xmac(hops: u16, pdr: f64, config: NetworkConfig, seed: u64) -> Network {
    network(xmac_mac, hops, pdr, config, seed)
}

pub fn beacon(hops: u16, pdr: f64, config: NetworkConfig, seed: u64) -> Network {
    network(beacon_mac, hops, pdr, config, seed)
}

/// TSCH with shared and dedicated cells.
pub fn tsch_mac(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let layout = Layout { slotframe: 17, shared: 1, managed: 2, autonomous: false };
    let cells = layout.cells(&routes).unwrap();
    let config = tsch::TschConfig { queue: 60, ..tsch::TschConfig::openwsn(17) };
    (Box::new(Tsch::new(config, links, cells, &streams)), routes)
}

/// X-MAC with acknowledged data frames: a node notices every loss.
pub fn xmac_mac(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let config = xmac::XmacConfig::cxmac(Duration::from_millis(125)).with_data_ack();
    let config = xmac::XmacConfig { queue: 60, ..config };
    (Box::new(XMac::new(config, 26, links, &streams)), routes)
}

/// Beacon-enabled, with frames for children that ask for them.
pub fn beacon_mac(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let superframe = Superframe::of_orders(6, 2).unwrap();
    let config = beacon::BeaconConfig { queue: 60, ..beacon::BeaconConfig::standard(superframe) };
    (Box::new(Beacon::new(config, links, &routes.parents(), &streams).unwrap()), routes)
}

fn line_of(hops: u16, pdr: f64, seed: u64) -> (Links, Routes, Streams) {
    let (links, streams) = (line(hops, pdr), Streams::new(seed));
    let nodes = usize::from(hops) + 1;
    let routes = Routes::shortest(nodes, &links).unwrap();
    (Links::new(nodes, &links, &streams), routes, streams)
}

pub fn forwarded() -> Fragments {
    Fragments::Forwarded(forwarding::Limits::default())
}

/// With more patience than the default: a period of every MAC here fits twice into each second.
pub fn recovered(max_retries: u8) -> Fragments {
    let timeout = Duration::from_secs(8);
    let sender = recovery::RecoveryConfig { timeout, max_retries, ..recovery::RecoveryConfig::default() };
    Fragments::Recovered { sender, forwarding: forwarding::Limits::default() }
}

/// A datagram: when, from whom, to whom, octets.
pub type Send = (Instant, Host, Host, usize);

/// Sends datagrams, numbered in their order, and lets everything happen until `end`.
pub fn run(network: &mut Network, sends: &[Send], end: Instant, observer: &mut impl Observer) -> Fates {
    let (mut fates, mut events) = (Fates::default(), Events::default());
    let mut sends = (0..).zip(sends).peekable();
    let mut before = Instant::ZERO;
    loop {
        let send_at = sends.peek().map(|(_, send)| send.0);
        let next = [network.deadline(), send_at].into_iter().flatten().min();
        let Some(now) = next.filter(|&now| now < end) else { return fates };
        assert!(now >= before, "{now} after {before}");
        before = now;
        if send_at == Some(now)
            && let Some((number, &(_, from, to, octets))) = sends.next()
        {
            let endpoint = |host: Host| Endpoint::new(host.address(), 5684);
            network.send(now, endpoint(from), endpoint(to), &payload(number, octets), number, &mut events).unwrap();
        } else {
            network.handle_deadline(now, &mut events, observer);
        }
        for event in events.iter() {
            match event {
                Event::Delivered { datagram, payload, .. } => {
                    let before = fates.delivered.insert(datagram, (now, payload.to_vec()));
                    assert!(before.is_none(), "datagram {datagram} is delivered twice");
                }
                Event::Lost { datagram, reason, .. } => drop(fates.lost.entry(datagram).or_insert(reason.name())),
                Event::Segment { .. } | Event::Packet { .. } | Event::Originated { .. } | Event::Intercepted { .. } => {
                    panic!("nobody speaks TCP here")
                }
            }
        }
        events.clear();
    }
}

pub fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}
