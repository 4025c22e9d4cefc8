//! The state of one node: its schedule, its queues, its radio.

use super::activity::Activity;
use super::config::TschConfig;
use super::frame;
use super::schedule::{Schedule, TransmitCells};
use crate::address::{Eui64, NodeId};
use crate::link::Links;
use crate::radio::frame::Template;
use crate::radio::pool::{FramePool, FrameQueue};
use crate::random::{Stream, Streams};

/// No slot.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct TschNode {
    pub(super) schedule: Schedule,
    /// By identifier.
    pub(super) neighbors: Vec<Neighbor>,
    /// For each neighbour the slot of the next attempt; [`NEVER`] where nothing waits or the head of the queue is on the
    /// air. Apart from the neighbours, because all of it is looked at for every frame.
    pub(super) next: Vec<u64>,
    pub(super) queued: usize,
    pub(super) peak: usize,
    /// The slot for which a wake-up is in the event queue.
    pub(super) wake: Option<u64>,
    /// The slot in which it last sent or received: a radio does one thing in a slot.
    pub(super) busy: Option<u64>,
    pub(super) backoff: Stream,
    pub(super) activity: Activity,
    /// The acknowledgments of the frames that this node sends.
    pub(super) acknowledgment: Template,
}

#[derive(Debug)]
pub(super) struct Neighbor {
    pub(super) id: NodeId,
    /// The data frames that this node sends to the neighbour.
    pub(super) data: Template,
    pub(super) cells: TransmitCells,
    pub(super) queue: FrameQueue,
    /// Frames in it.
    pub(super) waiting: usize,
    pub(super) on_air: bool,
    /// Counted for each neighbour, so that no two frames in a row carry the same number.
    pub(super) sequence: u8,
    last_received: Option<u8>,
    backoff_exponent: u8,
    /// Until this slot, shared cells are not used.
    backed_off: u64,
    pub(super) used: CellsUsed,
}

/// How many of the cells between two nodes were used (NumCellsUsed, RFC 9033, section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellsUsed {
    /// Negotiated cells in which a frame was sent, acknowledged or not.
    pub transmit: u32,
    /// Negotiated or autonomous cells in which a frame was received.
    pub receive: u32,
}

impl TschNode {
    pub(super) fn new(id: NodeId, schedule: Schedule, links: &Links, config: &TschConfig, streams: &Streams) -> Self {
        let own = Eui64::of_node(id);
        let neighbor = |id| Neighbor {
            id,
            data: frame::data(own, Eui64::of_node(id)),
            cells: schedule.cells_to(id),
            queue: FrameQueue::default(),
            waiting: 0,
            on_air: false,
            sequence: 0,
            last_received: None,
            backoff_exponent: config.backoff_exponents.0,
            backed_off: 0,
            used: CellsUsed::default(),
        };
        let neighbors: Vec<Neighbor> = links.audience(id).map(neighbor).collect();
        Self {
            next: vec![NEVER; neighbors.len()],
            neighbors,
            schedule,
            queued: 0,
            peak: 0,
            wake: None,
            busy: None,
            backoff: streams.stream("back-off", u64::from(id.0)),
            activity: Activity::default(),
            acknowledgment: frame::enhanced_ack(own),
        }
    }

    pub(super) fn position(&self, neighbor: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&neighbor, |neighbor| neighbor.id).ok()
    }

    /// The first slot in which it may have something to send.
    pub(super) fn next(&self) -> Option<u64> {
        self.next.iter().copied().min().filter(|&asn| asn != NEVER)
    }

    /// Of the neighbours that slot `asn` serves, the one whose frame has waited longest.
    pub(super) fn choose(&self, asn: u64, pool: &FramePool) -> Option<usize> {
        let age = |position: &usize| self.neighbors[*position].queue.head().map(|frame| pool.get(frame).age);
        (0..self.next.len()).filter(|&position| self.next[position] == asn).min_by_key(age)
    }

    /// Finds the slot of the next attempt at a frame for a neighbour, from `asn` on.
    pub(super) fn plan(&mut self, position: usize, asn: u64) {
        let neighbor = &self.neighbors[position];
        self.next[position] = match neighbor.queue.head() {
            Some(_) if !neighbor.on_air => neighbor.cells.next(asn, neighbor.backed_off).unwrap_or(NEVER),
            _ => NEVER,
        };
    }

    /// Whether a frame is new: the same number twice in a row is a repetition whose acknowledgement was lost.
    pub(super) fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link of one direction: nothing is known of its sender
        };
        self.neighbors[position].last_received.replace(sequence) != Some(sequence)
    }
}

impl Neighbor {
    /// The back-off of shared cells after an attempt in slot `asn` (IEEE 802.15.4-2015, 6.2.5.3): a failure in a shared
    /// cell doubles the window, a success there closes it, one in a dedicated cell does so when nothing more waits.
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
