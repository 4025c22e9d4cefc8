//! The MAC of a non-beacon PAN, looked at from outside: its timing, its rules, its frames, and what must hold whatever
//! happens.

mod addresses;
mod capture;
mod conformance;
mod formulas;
mod properties;
mod timing;

use crate::harness::*;
use slowhand_net::address::{Addressing, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::radio::Indication;
use slowhand_net::radio::csma::{Csl, Csma, CsmaConfig, CsmaConfigError, FastPoll, Polling};
use slowhand_net::random::Streams;

const SEED: u64 = 7;

fn node(id: u16) -> NodeId {
    NodeId(id)
}

/// A tree with a link in both directions between each child and its parent. Some of the nodes are sleepy.
fn of_tree(config: CsmaConfig, parents: &[Option<u16>], sleepy: &[u16], pdr: f64) -> Csma {
    of_links(config, parents, sleepy, &tree(parents, pdr)).unwrap()
}

/// A tree over these links.
fn of_links(
    config: CsmaConfig,
    parents: &[Option<u16>],
    sleepy: &[u16],
    links: &[LinkQuality],
) -> Result<Csma, CsmaConfigError> {
    let streams = Streams::new(SEED);
    let sleepy: Vec<_> = (0..parents.len() as u16).map(|node| sleepy.contains(&node)).collect();
    let parents: Vec<_> = parents.iter().map(|parent| parent.map(NodeId)).collect();
    Csma::new(config, Links::new(parents.len(), links, &streams), &parents, &sleepy, &streams)
}

/// Devices that poll at this period, and never faster.
fn polling_every(period: Duration) -> CsmaConfig {
    let polling = Polling { period, fast: FastPoll::Never, ..Polling::openthread() };
    CsmaConfig { polling, ..CsmaConfig::openthread() }
}

/// Devices with samples at this period, in units of 160 us, which poll every 96 s.
fn sampling_every(period: u16) -> CsmaConfig {
    let csl = Csl::openthread(period);
    CsmaConfig { csl: Some(csl.clone()), ..polling_every(csl.poll_period()) }
}

/// Does what is due up to and including `end`.
fn run(mac: &mut Csma, end: Instant, recorder: &mut Recorder) -> Vec<(Instant, Indication)> {
    run_mac(mac, end + us(1), recorder)
}
