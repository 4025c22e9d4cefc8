//! What the tests of the beacon-enabled MAC share: networks, a run loop, a recording observer.

use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::observer::{FrameKind, Observer, RadioInterval, Transmission};
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, BeaconConfigError, Superframe};
use slowhand_net::radio::{Indication, Mac};
use slowhand_net::random::Streams;

pub const SEED: u64 = 7;

/// A frame as the observer saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub at: u64,
    pub kind: FrameKind,
    pub from: u16,
    pub to: u16,
    pub datagram: u32,
    pub attempt: u8,
    pub received: bool,
    pub octets: Vec<u8>,
}

#[derive(Default)]
pub struct Recorder(pub Vec<Seen>, pub Vec<RadioInterval>);

impl Observer for Recorder {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.0.push(Seen {
            at: frame.at.as_micros(),
            kind: frame.kind,
            from: frame.from.0,
            to: frame.to.0,
            datagram: frame.datagram,
            attempt: frame.attempt,
            received: frame.received,
            octets: frame.octets.to_vec(),
        });
    }

    fn watches_radios(&self) -> bool {
        true
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.1.push(*interval);
    }
}

impl Recorder {
    pub fn of(&self, kind: FrameKind) -> Vec<&Seen> {
        self.0.iter().filter(|frame| frame.kind == kind).collect()
    }
}

pub fn at(us: u64) -> Instant {
    Instant::from_micros(us)
}

pub fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

pub fn node(id: u16) -> NodeId {
    NodeId(id)
}

/// BO 6 and SO 2: a beacon every 983.04 ms, 61.44 ms of it active.
pub fn superframe() -> Superframe {
    Superframe::of_orders(6, 2).unwrap()
}

/// A tree with a link in both directions between each child and its parent.
pub fn tree(config: BeaconConfig, parents: &[Option<u16>], pdr: f64) -> Beacon {
    network(config, parents, &tree_links(parents, pdr))
}

pub fn tree_links(parents: &[Option<u16>], pdr: f64) -> Vec<LinkQuality> {
    let link = |(child, parent): (u16, &Option<u16>)| parent.map(|parent| (child, parent));
    let pairs = (0..).zip(parents).filter_map(link);
    pairs.flat_map(|(child, parent)| LinkQuality::symmetric(node(child), node(parent), pdr)).collect()
}

pub fn network(config: BeaconConfig, parents: &[Option<u16>], links: &[LinkQuality]) -> Beacon {
    seeded(SEED, config, parents, links).unwrap()
}

pub fn seeded(
    seed: u64,
    config: BeaconConfig,
    parents: &[Option<u16>],
    links: &[LinkQuality],
) -> Result<Beacon, BeaconConfigError> {
    let streams = Streams::new(seed);
    let parents: Vec<_> = parents.iter().map(|parent| parent.map(NodeId)).collect();
    Beacon::new(config, Links::new(parents.len(), links, &streams), &parents, &streams)
}

/// Lets everything happen up to and including `end`.
pub fn run(mac: &mut Beacon, end: Instant, recorder: &mut Recorder) -> Vec<(Instant, Indication)> {
    let mut all = Vec::new();
    let mut indications = Vec::new();
    while let Some(now) = mac.deadline().filter(|&now| now <= end) {
        mac.handle_deadline(now, &mut indications, recorder);
        all.extend(indications.drain(..).map(|indication| (now, indication)));
    }
    all
}
