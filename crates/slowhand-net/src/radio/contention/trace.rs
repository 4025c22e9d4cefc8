//! Shows the observer the frames in the order of their first symbols. The outcome of a frame is known only at its end.

use crate::address::NodeId;
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::observer::{FrameKind, Observer, Transmission};
use crate::radio::frame::MAX_FRAME;
use std::collections::VecDeque;

/// Frames that the observer has not seen yet.
#[derive(Debug, Default)]
pub struct Trace {
    frames: VecDeque<Entry>,
    /// The number of frames that the observer has seen.
    shown: u64,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub at: Instant,
    pub kind: FrameKind,
    pub from: NodeId,
    pub to: NodeId,
    pub datagram: DatagramId,
    pub queued_at: Instant,
    pub attempt: u8,
    /// `None` until the frame has ended.
    pub received: Option<bool>,
    pub octets: [u8; MAX_FRAME],
    pub length: u8,
}

/// The position of a frame in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIndex(u64);

impl Trace {
    /// A frame begins.
    pub fn begin(&mut self, entry: Entry) -> TraceIndex {
        self.frames.push_back(entry);
        TraceIndex(self.shown + self.frames.len() as u64 - 1)
    }

    /// A frame ends. `received` is true if its destination has received it.
    pub fn end(&mut self, index: TraceIndex, received: bool) {
        if let Some(entry) = self.frames.get_mut((index.0 - self.shown) as usize) {
            entry.received = Some(received);
        }
    }

    /// Shows the frames up to the first one that has not ended.
    pub fn show(&mut self, channel: u8, observer: &mut dyn Observer) {
        while let Some(&Entry {
            at,
            kind,
            from,
            to,
            datagram,
            queued_at,
            attempt,
            received: Some(received),
            ref octets,
            length,
        }) = self.frames.front()
        {
            let octets = &octets[..usize::from(length)];
            let asn = None;
            observer.transmission(&Transmission {
                at,
                asn,
                channel,
                kind,
                from,
                to,
                datagram,
                queued_at,
                attempt,
                received,
                octets,
            });
            self.frames.pop_front();
            self.shown += 1;
        }
    }
}
