//! Received frames, and those of them that the processors of their nodes have not handled yet.

use crate::address::NodeId;
use crate::datagram::DatagramId;
use crate::radio::Indication;

/// A received frame payload, which its node handles now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received<'a> {
    pub(super) node: NodeId,
    pub(super) from: NodeId,
    pub(super) payload: &'a [u8],
    pub(super) datagram: DatagramId,
}

/// Frames that are not handled yet. Their places are used again.
#[derive(Debug, Default)]
pub(super) struct Unhandled {
    frames: Vec<Indication>,
    free: Vec<u32>,
}

impl Unhandled {
    /// Keeps a frame. Returns its place.
    pub(super) fn keep(&mut self, frame: Indication) -> u32 {
        if let Some(place) = self.free.pop() {
            self.frames[place as usize] = frame;
            return place;
        }
        self.frames.push(frame);
        self.frames.len() as u32 - 1
    }

    /// Takes the frame at a place.
    pub(super) fn take(&mut self, place: u32) -> Indication {
        self.free.push(place);
        self.frames[place as usize].clone()
    }
}
