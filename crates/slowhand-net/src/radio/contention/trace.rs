//! Shows the observer the frames in the order of their first symbols. The outcome of a frame is known only at its end.

use crate::observer::{Observer, Transmission};
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
struct Entry {
    /// The transmission that the observer sees, without the octets.
    transmission: Transmission<'static>,
    octets: [u8; MAX_FRAME],
    length: usize,
    has_ended: bool,
}

/// The position of a frame in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIndex(u64);

impl Trace {
    /// A frame begins.
    pub fn begin(&mut self, transmission: Transmission<'static>, octets: [u8; MAX_FRAME], length: usize) -> TraceIndex {
        self.frames.push_back(Entry { transmission, octets, length, has_ended: false });
        TraceIndex(self.shown + self.frames.len() as u64 - 1)
    }

    /// A frame ends. `received` is true if its destination has received it.
    pub fn end(&mut self, index: TraceIndex, received: bool) {
        if let Some(entry) = self.frames.get_mut((index.0 - self.shown) as usize) {
            (entry.transmission.received, entry.has_ended) = (received, true);
        }
    }

    /// Shows the frames up to the first one that has not ended.
    pub fn show(&mut self, observer: &mut dyn Observer) {
        while let Some(Entry { transmission, octets, length, has_ended: true }) = self.frames.front() {
            observer.transmission(&Transmission { octets: &octets[..*length], ..*transmission });
            self.frames.pop_front();
            self.shown += 1;
        }
    }
}
