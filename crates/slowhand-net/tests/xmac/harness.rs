//! A network of X-MAC nodes with everything that happens in it written down.

use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::observer::{FrameKind, Observer, RadioInterval, Transmission};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::radio::{Indication, Mac};
use slowhand_net::random::Streams;

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);
pub const CHANNEL: u8 = 26;

/// A check interval of 125 ms.
pub fn config() -> XmacConfig {
    XmacConfig::cxmac(Duration::from_millis(125))
}

pub fn at(us: u64) -> Instant {
    Instant::from_micros(us)
}

/// A frame that was on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub at: u64,
    pub kind: FrameKind,
    pub from: NodeId,
    pub to: NodeId,
    pub datagram: DatagramId,
    pub attempt: u8,
    pub received: bool,
    pub octets: Vec<u8>,
}

/// What was seen of the air and, where radios are watched, of those.
#[derive(Default)]
pub struct Air(pub Vec<Frame>, pub Option<Vec<RadioInterval>>);

impl Observer for Air {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        assert_eq!((frame.channel, frame.asn), (CHANNEL, None));
        self.0.push(Frame {
            at: frame.at.as_micros(),
            kind: frame.kind,
            from: frame.from,
            to: frame.to,
            datagram: frame.datagram,
            attempt: frame.attempt,
            received: frame.received,
            octets: frame.octets.to_vec(),
        });
    }

    fn watches_radios(&self) -> bool {
        self.1.is_some()
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.1.as_mut().expect("watched").push(*interval);
    }
}

impl Air {
    /// When the frames of a kind that a node sent began.
    pub fn begins(&self, kind: FrameKind, from: NodeId) -> Vec<u64> {
        self.0.iter().filter(|frame| (frame.kind, frame.from) == (kind, from)).map(|frame| frame.at).collect()
    }
}

/// A world of nodes that only have an X-MAC.
pub struct World {
    pub mac: XMac,
    pub air: Air,
    /// With the microsecond of each.
    pub indications: Vec<(u64, Indication)>,
    /// How often the MAC asked to be called.
    pub calls: u64,
}

impl World {
    pub fn new(config: XmacConfig, phases_us: &[u64], links: &[LinkQuality], seed: u64) -> Self {
        let streams = Streams::new(seed);
        let links = Links::new(phases_us.len(), links, &streams);
        let phases: Vec<_> = phases_us.iter().map(|&us| Duration::from_micros(us)).collect();
        let mac = XMac::with_phases(config, CHANNEL, links, &phases, &streams);
        Self { mac, air: Air::default(), indications: Vec::new(), calls: 0 }
    }

    pub fn send(&mut self, us: u64, from: NodeId, to: NodeId, octets: usize, datagram: DatagramId) {
        self.run_until(us);
        self.mac.enqueue(at(us), from, to, &vec![0x5a; octets], datagram).unwrap();
    }

    /// Lets everything happen that is due before this microsecond.
    pub fn run_until(&mut self, us: u64) {
        while self.mac.deadline().is_some_and(|deadline| deadline < at(us)) {
            self.once();
        }
    }

    /// Lets everything happen, which has to be over before this microsecond.
    pub fn run_out(&mut self, us: u64) {
        self.run_until(us);
        assert_eq!(self.mac.deadline(), None, "not over after {us} us");
    }

    fn once(&mut self) {
        let Some(now) = self.mac.deadline() else { return };
        let mut indications = Vec::new();
        self.mac.handle_deadline(now, &mut indications, &mut self.air);
        self.indications.extend(indications.into_iter().map(|indication| (now.as_micros(), indication)));
        self.calls += 1;
    }

    /// When each datagram arrived at a node.
    pub fn received(&self, at: NodeId) -> Vec<(u64, DatagramId)> {
        let received = |(us, indication): &(u64, Indication)| match indication {
            Indication::Received { node, datagram, .. } if *node == at => Some((*us, *datagram)),
            _ => None,
        };
        self.indications.iter().filter_map(received).collect()
    }

    /// When each datagram was reported as sent.
    pub fn sent(&self) -> Vec<(u64, DatagramId)> {
        let sent = |(us, indication): &(u64, Indication)| match indication {
            Indication::Sent { datagram, .. } => Some((*us, *datagram)),
            _ => None,
        };
        self.indications.iter().filter_map(sent).collect()
    }
}

/// Two nodes that hear each other.
pub fn pair(pdr: f64) -> Vec<LinkQuality> {
    LinkQuality::symmetric(A, B, pdr).to_vec()
}

/// A line A - B - C: A and C do not hear each other.
pub fn line() -> Vec<LinkQuality> {
    [LinkQuality::symmetric(A, B, 1.0), LinkQuality::symmetric(B, C, 1.0)].concat()
}
