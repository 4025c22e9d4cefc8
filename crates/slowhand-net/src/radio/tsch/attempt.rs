//! A transmission in one slot.

use super::schedule::Cell;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::radio::pool::FrameIndex;

/// One node's transmission in the slot, and its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub(super) from: NodeId,
    /// Position of the destination among the sender's neighbours.
    pub(super) neighbor: u16,
    pub(super) to: NodeId,
    pub(super) frame: FrameIndex,
    pub(super) channel_offset: u8,
    pub(super) channel: u8,
    /// The slotframe of the cell.
    pub(super) handle: u8,
    pub(super) shared: bool,
    /// First and last symbol of the data frame.
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// Start and end of the acknowledgement.
    pub(super) ack_start: Instant,
    pub(super) ack_end: Instant,
    pub(super) received: bool,
    pub(super) acknowledged: bool,
}

impl Attempt {
    /// `from` sends its frame to the neighbour at `position`, in this cell.
    pub fn new(from: NodeId, position: usize, to: NodeId, frame: FrameIndex, cell: &Cell) -> Self {
        Self {
            from,
            neighbor: position as u16,
            to,
            frame,
            channel_offset: cell.channel_offset,
            channel: 0,
            handle: cell.handle,
            shared: cell.options.shared,
            start: Instant::ZERO,
            end: Instant::ZERO,
            ack_start: Instant::ZERO,
            ack_end: Instant::ZERO,
            received: false,
            acknowledged: false,
        }
    }
}
