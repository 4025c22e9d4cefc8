//! The state of one node: its schedule, its queues, its radio.

use super::activity::Activity;
use super::config::TschConfig;
use super::frame;
use super::scan::{Scan, Scanned};
use super::schedule::{Schedule, TransmitCells};
use crate::address::{Eui64, NodeId};
use crate::clock::Duration;
use crate::link::Links;
use crate::radio::NodeQueue;
use crate::radio::Sequence;
use crate::radio::frame::{Security, Template};
use crate::radio::phy::air_time;
use crate::radio::pool::{FramePool, FrameQueue};
use crate::random::{Stream, Streams};

/// No slot.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct TschNode {
    pub(super) schedule: Schedule,
    /// By identifier.
    pub(super) neighbors: Vec<Neighbor>,
    /// The slot of the next attempt, by neighbour. [`NEVER`] if nothing waits or the head of the queue is on the air.
    /// Not part of [`Neighbor`], because every frame reads all of it.
    pub(super) next: Vec<u64>,
    pub(super) queue: NodeQueue,
    /// The slot of the wake-up in the event queue.
    pub(super) wake: Option<u64>,
    /// The last slot in which it sent or received. A radio does one of them in a slot.
    pub(super) busy: Option<u64>,
    /// True while its radio is switched off.
    pub(super) is_off: bool,
    /// The scan of a node that is not synchronised.
    pub(super) scan: Option<Scan>,
    /// The scans that it has made before.
    pub(super) scanned: Scanned,
    /// True unless it is to join and has no key of the network yet.
    pub(super) has_key: bool,
    pub(super) backoff: Stream,
    pub(super) activity: Activity,
}

#[derive(Debug)]
pub(super) struct Neighbor {
    pub(super) id: NodeId,
    /// Template of the data frames to the neighbour.
    pub(super) data: Template,
    /// Template of the acknowledgements with which the neighbour answers.
    pub(super) acknowledgement: Template,
    /// The time that this acknowledgement is on the air.
    pub(super) ack_air: Duration,
    pub(super) cells: TransmitCells,
    pub(super) queue: FrameQueue,
    /// The number of frames in `queue`.
    pub(super) waiting: usize,
    pub(super) on_air: bool,
    /// The number of the next frame to the neighbour, and of the last from it.
    pub(super) sequence: Sequence,
    backoff_exponent: u8,
    /// The node does not use shared cells before this slot.
    backed_off: u64,
    pub(super) used: CellsUsed,
}

/// The number of used cells between two nodes (NumCellsUsed, RFC 9033, section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellsUsed {
    /// Negotiated cells in which a frame was sent, acknowledged or not.
    pub transmit: u32,
    /// Negotiated or autonomous cells in which a frame was received.
    pub receive: u32,
}

impl TschNode {
    pub(super) fn new(
        id: NodeId,
        schedule: Schedule,
        limit: usize,
        links: &Links,
        config: &TschConfig,
        streams: &Streams,
    ) -> Self {
        let neighbor = |(to, cells)| {
            let (data, acknowledgement, ack_air) = templates(id, to, config.security, config.ack_source_address);
            Neighbor {
                id: to,
                data,
                acknowledgement,
                ack_air,
                cells,
                queue: FrameQueue::default(),
                waiting: 0,
                on_air: false,
                sequence: Sequence::default(),
                backoff_exponent: config.backoff_exponents.0,
                backed_off: 0,
                used: CellsUsed::default(),
            }
        };
        let neighbors: Vec<Neighbor> =
            links.audience(id).zip(schedule.cells_to_each(links.audience(id))).map(neighbor).collect();
        Self {
            next: vec![NEVER; neighbors.len()],
            neighbors,
            schedule,
            queue: NodeQueue::new(limit),
            wake: None,
            busy: None,
            is_off: false,
            scan: None,
            scanned: Scanned::default(),
            has_key: true,
            backoff: streams.stream("back-off", u64::from(id.0)),
            activity: Activity::default(),
        }
    }

    pub(super) fn position(&self, neighbor: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&neighbor, |neighbor| neighbor.id).ok()
    }

    /// The first slot in which it may have a frame to send, or [`NEVER`].
    pub(super) fn next(&self) -> u64 {
        self.next.iter().fold(NEVER, |first, &asn| first.min(asn))
    }

    /// The neighbour whose frame has waited longest, among those whose next attempt is in slot `asn`.
    #[inline]
    pub(super) fn choose(&self, asn: u64, pool: &FramePool) -> Option<usize> {
        let age = |position: &usize| self.neighbors[*position].queue.head().map(|frame| pool.get(frame).age);
        (0..self.next.len()).filter(|&position| self.next[position] == asn).min_by_key(age)
    }

    /// Computes the slot of the next attempt at a frame for a neighbour, from `asn` on.
    pub(super) fn plan(&mut self, position: usize, asn: u64) {
        let neighbor = &self.neighbors[position];
        self.next[position] = match neighbor.queue.head() {
            Some(_) if !neighbor.on_air => neighbor.cells.next(asn, neighbor.backed_off).unwrap_or(NEVER),
            _ => NEVER,
        };
    }

    /// True if a frame is new.
    pub(super) fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link in one direction only: the receiver keeps no state of the sender
        };
        self.neighbors[position].sequence.accepts(sequence)
    }
}

impl Neighbor {
    /// From now on, the frames to this neighbour and its acknowledgements have this security.
    pub(super) fn secure(&mut self, own: NodeId, security: Option<Security>, config: &TschConfig) {
        (self.data, self.acknowledgement, self.ack_air) = templates(own, self.id, security, config.ack_source_address);
    }

    /// The back-off in shared cells after an attempt in slot `asn` (IEEE 802.15.4-2015, 6.2.5.3). A failure in a shared
    /// cell doubles the window. A success in a shared cell resets it. So does a success in a dedicated cell if the
    /// queue is then empty.
    #[inline]
    pub(super) fn back_off(
        &mut self,
        asn: u64,
        shared: bool,
        acknowledged: bool,
        (min, max): (u8, u8),
        random: &mut Stream,
    ) {
        if acknowledged && (shared || self.queue.head().is_none()) {
            self.backoff_exponent = min;
            self.backed_off = 0;
        } else if !acknowledged && shared {
            self.backoff_exponent = (self.backoff_exponent + 1).min(max);
            let cells = random.below(1 << self.backoff_exponent) as u32;
            self.backed_off = self.cells.backed_off(asn + 1, cells);
        }
    }
}

/// The templates of the data frames to a neighbour and of its acknowledgements, and the time that one of these is on the air.
fn templates(own: NodeId, to: NodeId, security: Option<Security>, has_source: bool) -> (Template, Template, Duration) {
    let (own, to) = (Eui64::of_node(own), Eui64::of_node(to));
    let acknowledgement = frame::enhanced_ack(has_source.then_some(to), own, security);
    (frame::data(own, to, security), acknowledgement, air_time(frame::ack_octets(security, has_source)))
}
