//! X-MAC, looked at from outside: its timing, its state machine, its frames, and what must hold whatever happens.

mod capture;
mod conformance;
mod idle;
mod properties;
mod timing;

use crate::harness::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);
const CHANNEL: u8 = 26;

/// A check interval of 125 ms.
fn config() -> XmacConfig {
    XmacConfig::cxmac(Duration::from_millis(125))
}

/// Nodes that have an X-MAC and nothing above it.
struct World {
    mac: XMac,
    air: Recorder,
    indications: Vec<(Instant, Indication)>,
}

impl World {
    fn new(config: XmacConfig, phases_us: &[u64], links: &[LinkQuality], seed: u64) -> Self {
        let streams = Streams::new(seed);
        let links = Links::new(phases_us.len(), links, &streams);
        let phases: Vec<_> = phases_us.iter().copied().map(us).collect();
        let mac = XMac::with_phases(config, CHANNEL, links, &phases, &streams);
        Self { mac, air: Recorder::default(), indications: Vec::new() }
    }

    fn send(&mut self, us: u64, from: NodeId, to: NodeId, octets: usize, datagram: DatagramId) {
        self.run_until(us);
        self.mac.enqueue(at(us), Msdu::new(from, to, &vec![0x5a; octets], datagram)).unwrap();
    }

    /// Does what is due before this microsecond.
    fn run_until(&mut self, us: u64) {
        self.indications.extend(run_mac(&mut self.mac, at(us), &mut self.air));
        assert!(self.air.frames.iter().all(|frame| (frame.channel, frame.asn) == (CHANNEL, None)));
    }

    /// Does what is due before this microsecond, and asserts that nothing is due after it.
    fn run_out(&mut self, us: u64) {
        self.run_until(us);
        assert_eq!(self.mac.deadline(), None, "not over after {us} us");
    }

    /// When each datagram arrived at a node.
    fn received(&self, at: NodeId) -> Vec<(u64, DatagramId)> {
        received(&self.indications, at)
    }

    /// When each datagram was reported as sent.
    fn sent(&self) -> Vec<(u64, DatagramId)> {
        let sent = |(now, indication): &(Instant, Indication)| match indication {
            Indication::Sent { datagram, .. } => Some((now.as_micros(), *datagram)),
            _ => None,
        };
        self.indications.iter().filter_map(sent).collect()
    }
}

/// Two nodes that hear each other.
fn pair(pdr: f64) -> Vec<LinkQuality> {
    line(1, pdr)
}
