//! A pool of frame buffers with intrusive first-in-first-out queues: no allocation once it has grown.

use super::frame::{Error, MAX_FRAME};
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;

/// A frame buffer of the pool.
pub type FrameIndex = u32;

const NONE: FrameIndex = FrameIndex::MAX;

/// One frame that waits to be sent.
#[derive(Debug)]
pub struct QueuedFrame {
    octets: [u8; MAX_FRAME],
    length: u8,
    /// The sequence number in its header.
    pub sequence: u8,
    /// Transmissions so far.
    pub attempts: u8,
    /// The datagram of which it carries a part.
    pub datagram: DatagramId,
    /// When it came into the queue.
    pub queued_at: Instant,
    /// True if its receiver discards it ([`Indication::Received`](super::Indication::Received)).
    pub discard: bool,
    /// The number of frames that came to the pool before it. Of two frames, the one with the smaller number has waited
    /// longer.
    pub age: u64,
    next: FrameIndex,
}

impl QueuedFrame {
    /// The frame without its FCS.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

/// The buffers. Free ones form a list.
#[derive(Debug)]
pub struct FramePool {
    frames: Vec<QueuedFrame>,
    free: FrameIndex,
    allocated: u64,
}

impl Default for FramePool {
    fn default() -> Self {
        Self { frames: Vec::new(), free: NONE, allocated: 0 }
    }
}

impl FramePool {
    /// Takes a buffer for a frame that comes into a queue now; `write` fills it and returns the frame's length.
    ///
    /// # Errors
    /// [`DropReason::Malformed`] if `write` fails; the buffer stays free.
    pub fn allocate(
        &mut self,
        now: Instant,
        datagram: DatagramId,
        discard: bool,
        sequence: u8,
        write: impl FnOnce(&mut [u8; MAX_FRAME]) -> Result<usize, Error>,
    ) -> Result<FrameIndex, DropReason> {
        if self.free == NONE {
            self.frames.push(QueuedFrame {
                octets: [0; MAX_FRAME],
                length: 0,
                sequence,
                attempts: 0,
                datagram,
                queued_at: now,
                discard,
                age: 0,
                next: NONE,
            });
            self.free = (self.frames.len() - 1) as FrameIndex;
        }
        let index = self.free;
        let frame = &mut self.frames[index as usize];
        frame.length = write(&mut frame.octets).map_err(|_| DropReason::Malformed)? as u8;
        self.free = frame.next;
        frame.sequence = sequence;
        frame.attempts = 0;
        frame.datagram = datagram;
        frame.queued_at = now;
        frame.discard = discard;
        frame.age = self.allocated;
        frame.next = NONE;
        self.allocated += 1;
        Ok(index)
    }

    /// Gives a buffer back.
    pub fn release(&mut self, index: FrameIndex) {
        self.frames[index as usize].next = self.free;
        self.free = index;
    }

    /// The frame in a buffer.
    pub fn get(&self, index: FrameIndex) -> &QueuedFrame {
        &self.frames[index as usize]
    }

    /// The frame in a buffer, to change.
    pub fn get_mut(&mut self, index: FrameIndex) -> &mut QueuedFrame {
        &mut self.frames[index as usize]
    }
}

/// A first-in-first-out queue of frames of one pool.
#[derive(Clone, Copy, Debug)]
pub struct FrameQueue {
    head: FrameIndex,
    tail: FrameIndex,
}

impl Default for FrameQueue {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl FrameQueue {
    /// The frame that has waited longest.
    pub fn head(&self) -> Option<FrameIndex> {
        (self.head != NONE).then_some(self.head)
    }

    /// Adds a frame.
    pub fn push(&mut self, pool: &mut FramePool, index: FrameIndex) {
        if self.tail == NONE {
            self.head = index;
        } else {
            pool.frames[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    /// Adds a frame in front of all that wait. A head that is `on_air`, or has been sent before, stays in front: it may
    /// have arrived, and its receiver recognises a repetition only by the last sequence number.
    pub fn push_urgent(&mut self, pool: &mut FramePool, index: FrameIndex, on_air: bool) {
        if self.head == NONE {
            return self.push(pool, index);
        }
        let stays = on_air || pool.frames[self.head as usize].attempts > 0;
        let before = if stays { &mut pool.frames[self.head as usize].next } else { &mut self.head };
        let after = std::mem::replace(before, index);
        pool.frames[index as usize].next = after;
        if after == NONE {
            self.tail = index;
        }
    }

    /// Takes the frame that has waited longest.
    pub fn pop(&mut self, pool: &mut FramePool) -> Option<FrameIndex> {
        let index = self.head()?;
        self.head = pool.frames[index as usize].next;
        pool.frames[index as usize].next = NONE;
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(index)
    }
}
