//! Where datagrams are lost: every loss names the node where it happened.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::lowpan::{forwarding, reassembly};
use slowhand_net::network::internet::InternetConfig;
use slowhand_net::network::{Fragments, Network, NetworkConfig};
use slowhand_net::random::Probability;

const SOURCE: Host = Host::Node(NodeId(2));
const RELAY: Host = Host::Node(NodeId(1));
const ROOT: Host = Host::Node(NodeId::ROOT);

/// Datagrams of this many octets from the source across the relay, ten seconds between them. Returns where each was
/// lost, and why; repetitions left out.
fn places(mut network: Network, to: Host, octets: &[usize]) -> Vec<(u32, Host, DropReason)> {
    let sends: Vec<Send> = (0..).zip(octets).map(|(n, &octets)| (seconds(10 * n), SOURCE, to, octets)).collect();
    let losses = losses(&mut network, &sends, seconds(500));
    let mut places: Vec<_> = losses.iter().map(|loss| (loss.datagram, loss.host, loss.reason)).collect();
    places.sort_by_key(|&(datagram, host, reason)| (datagram, reason, host == ROOT));
    places.dedup();
    places
}

fn with(config: NetworkConfig) -> Network {
    network(tsch, 2, 1.0, config, 1)
}

fn one_buffer() -> NetworkConfig {
    NetworkConfig { reassembly: reassembly::Limits { buffers: 1, ..Default::default() }, ..NetworkConfig::default() }
}

#[test]
fn reassembly_names_the_node_that_reassembles() {
    // Three fragments at each hop. The relay discards the second of datagram 0, and keeps the buffer.
    let config = NetworkConfig { dropped_frames: vec![2], ..one_buffer() };
    assert_eq!(
        places(with(config), ROOT, &[200, 200]),
        [
            (0, RELAY, DropReason::InjectedLoss),
            (0, RELAY, DropReason::ReassemblyTimeout),
            (1, RELAY, DropReason::ReassemblyFull),
        ]
    );
    // The root discards the second. So it keeps its buffer, and the relay has room for datagram 1.
    let config = NetworkConfig { dropped_frames: vec![5], ..one_buffer() };
    assert_eq!(
        places(with(config), ROOT, &[200, 200]),
        [
            (0, ROOT, DropReason::InjectedLoss),
            (0, ROOT, DropReason::ReassemblyTimeout),
            (1, ROOT, DropReason::ReassemblyFull),
        ]
    );
}

#[test]
fn forwarding_names_the_node_that_forwards() {
    let limits = forwarding::Limits { entries: 1, ..Default::default() };
    let config = |dropped| NetworkConfig {
        fragments: Fragments::Forwarded(limits),
        dropped_frames: vec![dropped],
        ..NetworkConfig::default()
    };
    let lost = places(with(config(2)), ROOT, &[200, 200]);
    assert!(lost.contains(&(0, RELAY, DropReason::ForwardingTimeout)), "{lost:?}");
    assert!(lost.contains(&(0, ROOT, DropReason::ReassemblyTimeout)), "{lost:?}");
    assert!(lost.contains(&(1, RELAY, DropReason::ForwardingFull)), "{lost:?}");
    assert!(!lost.contains(&(1, ROOT, DropReason::ForwardingFull)), "{lost:?}");
    let without_first = places(with(config(1)), ROOT, &[200]);
    let expected = [(0, RELAY, DropReason::InjectedLoss), (0, RELAY, DropReason::FirstFragmentMissing)];
    assert_eq!(without_first, expected);
}

#[test]
fn the_link_layer_names_the_sender() {
    let mut links = line(2, 1.0);
    links[1].data = 1e-9; // from the relay to the root
    let cells = vec![
        vec![cell(1, LISTEN, 1), cell(2, SEND, 1)],
        vec![cell(1, SEND, 0), cell(2, LISTEN, 0), cell(3, LISTEN, 2)],
        vec![cell(3, SEND, 1)],
    ];
    let retries = network_of_cells(5, &links, cells.clone(), NetworkConfig::default(), 1);
    assert_eq!(places(retries, ROOT, &[20]), [(0, RELAY, DropReason::RetriesExhausted)]);
    let mut no_cell = cells;
    no_cell[1].remove(0);
    let no_cell = network_of_cells(5, &line(2, 1.0), no_cell, NetworkConfig::default(), 1);
    assert_eq!(places(no_cell, ROOT, &[20]), [(0, RELAY, DropReason::NoCell)]);
    // 65 frames, and room for 60.
    let mut full = with(NetworkConfig::default());
    let sends: Vec<Send> = (0..5).map(|_| (Instant::ZERO, SOURCE, ROOT, 1_200)).collect();
    let first = losses(&mut full, &sends, seconds(1))[0];
    assert_eq!((first.host, first.reason), (SOURCE, DropReason::QueueFull));
}

#[test]
fn routing_names_the_router_and_the_internet_itself() {
    let nobody = Host::Node(NodeId(9));
    assert_eq!(places(with(NetworkConfig::default()), nobody, &[20]), [(0, ROOT, DropReason::NoRoute)]);
    let internet = InternetConfig { loss: Probability::new(1.0), ..InternetConfig::default() };
    let lossy = with(NetworkConfig { internet, ..NetworkConfig::default() });
    assert_eq!(places(lossy, Host::Internet, &[20]), [(0, Host::Internet, DropReason::Internet)]);
}
