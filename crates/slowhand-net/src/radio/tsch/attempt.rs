//! A transmission in one slot.

use super::load::EVERY_NEIGHBOR;
use super::schedule::Cell;
use super::timing::AirTimes;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::FrameKind;
use crate::radio::pool::FrameIndex;

/// One node's transmission in the slot, and its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub(super) from: NodeId,
    /// The kind of a broadcast. `None` for a frame to one neighbour.
    pub(super) broadcast: Option<FrameKind>,
    /// Position of the destination among the sender's neighbours.
    pub(super) neighbor: u16,
    pub(super) to: NodeId,
    pub(super) frame: FrameIndex,
    pub(super) channel_offset: u8,
    pub(super) channel: u8,
    /// The slotframe of the cell.
    pub(super) handle: u8,
    pub(super) shared: bool,
    pub(super) air: AirTimes,
    pub(super) received: bool,
    pub(super) acknowledged: bool,
    /// True if a broadcast reached all that listened.
    pub(super) reached: bool,
}

impl Attempt {
    /// `from` sends its frame to the neighbour at `position`, in this cell.
    pub fn new(from: NodeId, position: usize, to: NodeId, frame: FrameIndex, cell: &Cell) -> Self {
        let never = Instant::ZERO;
        Self {
            from,
            broadcast: None,
            neighbor: position as u16,
            to,
            frame,
            channel_offset: cell.channel_offset,
            channel: 0,
            handle: cell.handle,
            shared: cell.options.shared,
            air: AirTimes { start: never, end: never, ack_start: never, ack_end: never },
            received: false,
            acknowledged: false,
            reached: false,
        }
    }

    /// `from` sends a frame to all its neighbours, in this cell.
    pub fn broadcast(from: NodeId, frame: FrameIndex, cell: &Cell, kind: FrameKind) -> Self {
        Self { broadcast: Some(kind), ..Self::new(from, 0, EVERY_NEIGHBOR, frame, cell) }
    }
}
