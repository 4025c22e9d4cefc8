//! Lines and trees of nodes, and link layers for them.

use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::lowpan::{forwarding, recovery};
use slowhand_net::network::{Fragments, Network, NetworkConfig};
use slowhand_net::radio::Mac;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Superframe};
use slowhand_net::radio::csma::{Csl, Csma, CsmaConfig, FastPoll, Polling};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

pub const SEND: CellOptions = CellOptions::TRANSMIT;
pub const LISTEN: CellOptions = CellOptions::RECEIVE;

/// Links of the nodes 0, 1, ..., `hops` in a row.
pub fn line(hops: u16, pdr: f64) -> Vec<LinkQuality> {
    (0..hops).flat_map(|node| both(node, node + 1, pdr)).collect()
}

/// A link in both directions between each node and its parent.
pub fn tree(parents: &[Option<u16>], pdr: f64) -> Vec<LinkQuality> {
    let pairs = parents.iter().zip(0..).filter_map(|(parent, child)| Some((child, (*parent)?)));
    pairs.flat_map(|(child, parent)| both(child, parent, pdr)).collect()
}

/// Links between all these nodes.
pub fn clique(nodes: u16) -> Vec<LinkQuality> {
    (0..nodes).flat_map(|a| (a + 1..nodes).flat_map(move |b| both(a, b, 1.0))).collect()
}

/// The links between two nodes.
pub fn both(a: u16, b: u16, pdr: f64) -> [LinkQuality; 2] {
    LinkQuality::symmetric(NodeId(a), NodeId(b), pdr)
}

/// The link from one node to another.
pub fn link(from: u16, to: u16, pdr: f64) -> LinkQuality {
    LinkQuality { from: NodeId(from), to: NodeId(to), data: pdr, ack: pdr, channels: Vec::new() }
}

/// A negotiated cell with channel offset 0.
pub fn cell(slot: u16, options: CellOptions, neighbor: u16) -> Cell {
    Cell { slot, channel_offset: 0, options, neighbor: Some(NodeId(neighbor)), handle: handle::NEGOTIATED }
}

/// The network of nodes with these links and cells, in slots of 20 ms.
pub fn network_of_cells(
    slotframe: u16,
    links: &[LinkQuality],
    cells: Vec<Vec<Cell>>,
    config: NetworkConfig,
    seed: u64,
) -> Network {
    let (nodes, streams) = (cells.len(), Streams::new(seed));
    let tsch = TschConfig { timing: Timing::SLOT_20_MS, ..TschConfig::openwsn(slotframe) };
    let mac = Tsch::new(tsch, Links::new(nodes, links, &streams), cells, &streams);
    Network::new(Box::new(mac), Routes::shortest(nodes, links).unwrap(), config, &streams)
}

/// A node one hop from the root. The slotframe has 5 slots of 20 ms: node 1 sends in slots 1 and 3, the root in slot 4.
pub fn one_hop(config: NetworkConfig) -> Network {
    let cells = vec![
        vec![cell(1, LISTEN, 1), cell(3, LISTEN, 1), cell(4, SEND, 1)],
        vec![cell(1, SEND, 0), cell(3, SEND, 0), cell(4, LISTEN, 0)],
    ];
    network_of_cells(5, &line(1, 1.0), cells, config, 1)
}

/// A link layer for a line of nodes: its hops, the delivery ratio of its links, the seed.
pub type LinkLayer = fn(u16, f64, u64) -> (Box<dyn Mac>, Routes);

/// The link layers under which the same holds.
pub const LINK_LAYERS: [LinkLayer; 6] = [tsch, xmac, beacon, csma, csma_polling, csma_sampling];

/// The place of the first of them in which nodes of a line contend at any time: those with CSMA.
pub const FIRST_CONTENDING: usize = 3;

/// The network of a line of nodes under a link layer.
pub fn network(link_layer: LinkLayer, hops: u16, pdr: f64, config: NetworkConfig, seed: u64) -> Network {
    let (mac, routes) = link_layer(hops, pdr, seed);
    Network::new(mac, routes, config, &Streams::new(seed))
}

/// TSCH with shared and dedicated cells.
pub fn tsch(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let layout = Layout { slotframe: 17, shared: 1, up: 1, down: 1, autonomous: false };
    let cells = layout.cells(&routes).unwrap();
    let config = TschConfig { queue: 60, ..TschConfig::openwsn(17) };
    (Box::new(Tsch::new(config, links, cells, &streams)), routes)
}

/// X-MAC with acknowledged data frames: a node notices every loss.
pub fn xmac(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let config = XmacConfig::cxmac(Duration::from_millis(125)).with_data_ack();
    let config = XmacConfig { queue: 60, ..config };
    (Box::new(XMac::new(config, 26, links, &streams)), routes)
}

/// Beacon-enabled: a parent keeps the frames for its children until they ask for them.
pub fn beacon(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let superframe = Superframe::of_orders(6, 2).unwrap();
    let config = BeaconConfig { queue: 60, ..BeaconConfig::standard(superframe) };
    (Box::new(Beacon::new(config, links, &routes.parents(), &streams).unwrap()), routes)
}

/// Unslotted CSMA/CA: all nodes always listen.
pub fn csma(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    csma_of(CsmaConfig::openthread(), false, hops, pdr, seed)
}

/// Unslotted CSMA/CA, but the last node is a sleepy device that polls twice a second.
pub fn csma_polling(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let polling = Polling { period: Duration::from_millis(500), ..Polling::openthread() };
    csma_of(CsmaConfig { polling, ..CsmaConfig::openthread() }, true, hops, pdr, seed)
}

/// Unslotted CSMA/CA, but the last node listens twice a second, and polls rarely.
pub fn csma_sampling(hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let csl = Csl::openthread(3_125);
    let polling = Polling { period: csl.poll_period(), fast: FastPoll::Never, ..Polling::openthread() };
    csma_of(CsmaConfig { csl: Some(csl), polling, ..CsmaConfig::openthread() }, true, hops, pdr, seed)
}

fn csma_of(config: CsmaConfig, sleepy: bool, hops: u16, pdr: f64, seed: u64) -> (Box<dyn Mac>, Routes) {
    let (links, routes, streams) = line_of(hops, pdr, seed);
    let config = CsmaConfig { queue: 60, ..config };
    let sleepy: Vec<_> = (0..=hops).map(|node| sleepy && node == hops).collect();
    (Box::new(Csma::new(config, links, &routes.parents(), &sleepy, &streams).unwrap()), routes)
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

/// The sender waits longer than by default: a period of every link layer here fits twice into each second.
pub fn recovered(max_retries: u8) -> Fragments {
    let timeout = Duration::from_secs(8);
    let sender = recovery::RecoveryConfig { timeout, max_retries, ..recovery::RecoveryConfig::default() };
    Fragments::Recovered { sender, forwarding: forwarding::Limits::default() }
}
