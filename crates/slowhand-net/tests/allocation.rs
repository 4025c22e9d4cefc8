//! A network takes memory for what it holds, not for what it could hold. When it has grown to its size, it allocates
//! nothing for a frame.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::lowpan::{forwarding, reassembly, recovery};
use slowhand_net::network::{Event, Events, Fragments, Network, NetworkConfig};
use slowhand_net::radio::Mac;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Superframe};
use slowhand_net::radio::csma::{Csl, Csma, CsmaConfig, Polling};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_net::transport::tcp::{Connection, SeqNumber, TcpConfig};

/// Sends datagrams of up to three fragments from the far end of the network and back, one every four seconds. Returns
/// how many arrived.
fn exchange(network: &mut Network, numbers: std::ops::Range<u32>) -> usize {
    let endpoint = |host: Host| Endpoint::new(host.address(), 5684);
    let (near, far) = (endpoint(Host::Internet), endpoint(Host::Node(NodeId(4))));
    let mut events = Events::default();
    let mut delivered = 0;
    for number in numbers {
        let send_at = Instant::ZERO + Duration::from_secs(4) * u64::from(number);
        while let Some(now) = network.deadline().filter(|&now| now < send_at) {
            network.handle_deadline(now, &mut events, &mut ());
            delivered += events.iter().filter(|event| matches!(event, Event::Delivered { .. })).count();
            events.clear();
        }
        let (from, to) = if number % 2 == 0 { (near, far) } else { (far, near) };
        let payload = [0x5a; 250];
        let octets = 1 + (number as usize * 37) % payload.len();
        network.send(send_at, from, to, &payload[..octets], number, &mut events).expect("it fits");
    }
    delivered
}

/// Makes the MAC of a line of nodes.
type LinkLayer = fn(Links, &Routes, &Streams) -> Box<dyn Mac>;

fn tsch(links: Links, routes: &Routes, streams: &Streams) -> Box<dyn Mac> {
    let layout = Layout { slotframe: 31, shared: 1, up: 2, down: 2, autonomous: true };
    Box::new(Tsch::new(tsch::TschConfig::openwsn(31), links, layout.cells(routes).unwrap(), streams))
}

/// The last node is a sleepy device, which polls and has samples.
fn csma(links: Links, routes: &Routes, streams: &Streams) -> Box<dyn Mac> {
    let polling = Polling { period: Duration::from_millis(500), ..Polling::openthread() };
    let config = CsmaConfig { polling, csl: Some(Csl::openthread(3_125)), ..CsmaConfig::openthread() };
    let sleepy = [false, false, false, false, true];
    Box::new(Csma::new(config, links, &routes.parents(), &sleepy, streams).unwrap())
}

#[test]
fn thousands_of_datagrams_allocate_nothing() {
    let sender = recovery::RecoveryConfig { timeout: Duration::from_secs(2), ..Default::default() };
    let recovered = Fragments::Recovered { sender, forwarding: forwarding::Limits::default() };
    check(tsch, Fragments::Reassembled);
    check(tsch, Fragments::Forwarded(forwarding::Limits::default()));
    check(tsch, recovered);
    check(csma, Fragments::Reassembled);

    // The counter works: it would count the copy of a datagram.
    let one = allocation_counter::measure(|| drop(std::hint::black_box(vec![0u8; 100])));
    assert_eq!(one.count_total, 1);
}

fn check(link_layer: LinkLayer, fragments: Fragments) {
    // Lossy, so that retransmissions, back-off and reassembly timers are part of it.
    let links: Vec<LinkQuality> =
        (0..4).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), 0.8)).collect();
    let streams = Streams::new(3);
    let routes = Routes::shortest(5, &links).unwrap();
    let mac = link_layer(Links::new(5, &links, &streams), &routes, &streams);
    let mut network = Network::new(mac, routes, NetworkConfig { fragments, ..NetworkConfig::default() }, &streams);

    exchange(&mut network, 0..1000);
    let mut delivered = 0;
    let counted = allocation_counter::measure(|| delivered = exchange(&mut network, 1000..6000));
    assert!(delivered > 4900, "{delivered} of 5,000 arrived");
    // `Events` is new for each call, so its two buffers grow once: a dozen steps, whatever the number of datagrams.
    assert!(counted.count_total <= 12, "{} allocations where fragments are {fragments:?}", counted.count_total);
}

/// The octets that a network of five nodes takes at the beginning, by link layer and by what happens to fragments. All
/// its limits have this value, or the largest possible value if that is less.
fn taken(limit: usize) -> Vec<u64> {
    let links: Vec<LinkQuality> =
        (0..4).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), 1.0)).collect();
    let streams = Streams::new(1);
    let routes = Routes::shortest(5, &links).unwrap();
    let radio = || Links::new(5, &links, &streams);
    let tsch = || -> Box<dyn Mac> {
        let layout = Layout { slotframe: 31, shared: 1, up: 1, down: 1, autonomous: true };
        let config = tsch::TschConfig { queue: limit, ..tsch::TschConfig::openwsn(31) };
        Box::new(Tsch::new(config, radio(), layout.cells(&routes).unwrap(), &streams))
    };
    let xmac = || -> Box<dyn Mac> {
        let config = XmacConfig::cxmac(Duration::from_millis(125));
        let config = XmacConfig { queue: limit, neighbor_queues: limit, encounters: limit, ..config };
        Box::new(XMac::new(config, 26, radio(), &streams))
    };
    let beacon = || -> Box<dyn Mac> {
        let standard = BeaconConfig::standard(Superframe::of_orders(6, 2).unwrap());
        let config = BeaconConfig { queue: limit, ..standard };
        Box::new(Beacon::new(config, radio(), &routes.parents(), &streams).unwrap())
    };
    let csma = || -> Box<dyn Mac> {
        let config = CsmaConfig { queue: limit, ..CsmaConfig::openthread() };
        Box::new(Csma::new(config, radio(), &routes.parents(), &[false, false, false, false, true], &streams).unwrap())
    };
    let link_layers: [&dyn Fn() -> Box<dyn Mac>; 4] = [&tsch, &xmac, &beacon, &csma];
    let reassembly = reassembly::Limits { buffers: limit, datagram: limit.min(2_047), ..Default::default() };
    let forwarding = forwarding::Limits { entries: limit, ..Default::default() };
    let sender = recovery::RecoveryConfig::default();
    let fragments =
        [Fragments::Reassembled, Fragments::Forwarded(forwarding), Fragments::Recovered { sender, forwarding }];
    let cases = link_layers.iter().flat_map(|mac| fragments.map(move |fragments| (mac, fragments)));
    let network = |(mac, fragments): (&&dyn Fn() -> Box<dyn Mac>, Fragments)| {
        let (routes, config) = (routes.clone(), NetworkConfig { fragments, reassembly, ..NetworkConfig::default() });
        let counted = allocation_counter::measure(|| drop(Network::new(mac(), routes, config, &streams)));
        counted.bytes_max
    };
    cases.map(network).collect()
}

#[test]
fn limits_take_no_memory() {
    assert_eq!(taken(65_535), taken(64));
}

/// A connection with the largest buffers that are allowed, 1 GiB each (RFC 7323 section 2.3).
#[test]
fn a_connection_takes_memory_when_octets_come() {
    let config = TcpConfig { send_buffer: 1 << 30, receive_buffer: 1 << 30, ..TcpConfig::linux() };
    let end = |host: Host| Endpoint::new(host.address(), 443);
    let counted = allocation_counter::measure(|| {
        let (local, remote) = (end(Host::Node(NodeId(1))), end(Host::Internet));
        let mut connection = Connection::connect(&config, local, remote, SeqNumber(0)).unwrap();
        assert_eq!(connection.write(&[1; 1_000]), Ok(1_000));
    });
    assert!(counted.bytes_max < 10_000, "{} octets", counted.bytes_max);
}
