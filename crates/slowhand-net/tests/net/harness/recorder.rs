//! The observer that records what it is shown.

use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::observer::{BufferLevel, FrameKind, Observer, RadioInterval, RadioState, RadioTimes, Transmission};

/// A frame on the air, as [`Transmission`] describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// In microseconds.
    pub at: u64,
    pub asn: Option<u64>,
    pub channel: u8,
    pub kind: FrameKind,
    pub from: NodeId,
    pub to: NodeId,
    pub datagram: DatagramId,
    pub attempt: u8,
    pub received: bool,
    /// Without its FCS.
    pub octets: Vec<u8>,
}

/// Records all frames and, if asked to, radio intervals and buffer levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    pub frames: Vec<Frame>,
    pub timeline: Vec<RadioInterval>,
    pub levels: Vec<BufferLevel>,
    pub watches_radios: bool,
    pub watches_buffers: bool,
}

impl Observer for Recorder {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.frames.push(Frame {
            at: frame.at.as_micros(),
            asn: frame.asn,
            channel: frame.channel,
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
        self.watches_radios
    }

    fn watches_buffers(&self) -> bool {
        self.watches_buffers
    }

    fn buffers(&mut self, level: &BufferLevel) {
        assert!(self.watches_buffers);
        self.levels.push(*level);
    }

    fn radio(&mut self, interval: &RadioInterval) {
        assert!(self.watches_radios);
        self.timeline.push(*interval);
    }
}

impl Recorder {
    pub fn of_radios() -> Self {
        Self { watches_radios: true, ..Self::default() }
    }

    pub fn of_buffers() -> Self {
        Self { watches_buffers: true, ..Self::default() }
    }

    /// The frames of a kind.
    pub fn of(&self, kind: FrameKind) -> Vec<&Frame> {
        self.frames.iter().filter(|frame| frame.kind == kind).collect()
    }

    /// When the frames of a kind that a node sent began.
    pub fn begins(&self, kind: FrameKind, from: NodeId) -> Vec<u64> {
        self.frames.iter().filter(|frame| (frame.kind, frame.from) == (kind, from)).map(|frame| frame.at).collect()
    }

    /// The number of times that a node's radio came on after it was off.
    pub fn ramps(&self, node: NodeId) -> u64 {
        let own = || self.timeline.iter().filter(|interval| interval.node == node);
        let before = std::iter::once(Instant::ZERO).chain(own().map(|interval| interval.to));
        own().zip(before).filter(|(interval, before)| *before < interval.from).count() as u64
    }

    /// The times in the four states up to `end`, added up from the intervals of a node.
    ///
    /// # Panics
    ///
    /// If intervals are empty or overlap.
    pub fn radio_times(&self, node: NodeId, end: Instant) -> RadioTimes {
        let intervals: Vec<_> = self.timeline.iter().filter(|interval| interval.node == node).collect();
        assert!(intervals.iter().all(|interval| interval.from < interval.to));
        assert!(intervals.windows(2).all(|pair| pair[0].to <= pair[1].from));
        let total = |state| {
            let spans = intervals.iter().filter(|interval| interval.state == state);
            spans.fold(Duration::ZERO, |sum, interval| sum + interval.to.min(end).since(interval.from))
        };
        let [transmit, receive, listen] = [RadioState::Transmit, RadioState::Receive, RadioState::Listen].map(total);
        let sleep = end.since(Instant::ZERO) - (transmit + receive + listen);
        RadioTimes { transmit, receive, listen, sleep }
    }
}
