//! Received frames that the processors of their nodes have not handled yet.

use crate::address::NodeId;
use crate::datagram::DatagramId;
use crate::radio::Payload;

/// A received frame.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) node: NodeId,
    pub(super) from: NodeId,
    pub(super) datagram: DatagramId,
    pub(super) payload: Payload,
    pub(super) discard: bool,
}

/// Frames that are not handled yet. Their places are used again.
#[derive(Debug, Default)]
pub(super) struct Unhandled {
    frames: Vec<Received>,
    free: Vec<u32>,
}

impl Unhandled {
    /// Keeps a frame. Returns its place.
    pub(super) fn keep(&mut self, frame: Received) -> u32 {
        if let Some(place) = self.free.pop() {
            self.frames[place as usize] = frame;
            return place;
        }
        self.frames.push(frame);
        self.frames.len() as u32 - 1
    }

    /// Takes the frame at a place.
    pub(super) fn take(&mut self, place: u32) -> Received {
        self.free.push(place);
        self.frames[place as usize].clone()
    }
}
