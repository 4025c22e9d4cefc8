//! The beacon-enabled MAC, looked at from outside: its timing, its state machines, its frames, and what must hold whatever
//! happens.

mod capture;
mod conformance;
mod properties;
mod timing;
mod work;

use crate::harness::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::radio::Indication;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, BeaconConfigError, Superframe};
use slowhand_net::random::Streams;

const SEED: u64 = 7;

fn node(id: u16) -> NodeId {
    NodeId(id)
}

/// BO 6 and SO 2: a beacon every 983.04 ms, 61.44 ms of it active.
fn superframe() -> Superframe {
    Superframe::of_orders(6, 2).unwrap()
}

/// A tree with a link in both directions between each child and its parent.
fn of_tree(config: BeaconConfig, parents: &[Option<u16>], pdr: f64) -> Beacon {
    of_links(config, parents, &tree(parents, pdr))
}

/// A tree over these links.
fn of_links(config: BeaconConfig, parents: &[Option<u16>], links: &[LinkQuality]) -> Beacon {
    seeded(SEED, config, parents, links).unwrap()
}

fn seeded(
    seed: u64,
    config: BeaconConfig,
    parents: &[Option<u16>],
    links: &[LinkQuality],
) -> Result<Beacon, BeaconConfigError> {
    let streams = Streams::new(seed);
    let parents: Vec<_> = parents.iter().map(|parent| parent.map(NodeId)).collect();
    Beacon::new(config, Links::new(parents.len(), links, &streams), &parents, &streams)
}

/// Does what is due up to and including `end`.
fn run(mac: &mut Beacon, end: Instant, recorder: &mut Recorder) -> Vec<(Instant, Indication)> {
    run_mac(mac, end + us(1), recorder)
}
