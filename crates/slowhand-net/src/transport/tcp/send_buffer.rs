//! What the application wrote and the peer has not acknowledged.

use super::buffer::Ring;
use super::seq::SeqNumber;

/// The octets from the first unacknowledged one on, and the FIN behind them.
#[derive(Debug)]
pub(super) struct SendBuffer {
    ring: Ring,
    start: SeqNumber,
    len: usize,
    finished: bool,
}

impl SendBuffer {
    pub(super) fn new(capacity: usize, start: SeqNumber) -> Self {
        Self { ring: Ring::new(capacity), start, len: 0, finished: false }
    }

    /// Takes what there is room for.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room());
        self.ring.write_at(self.len, &bytes[..count]);
        self.len += count;
        count
    }

    pub(super) fn room(&self) -> usize {
        self.ring.capacity() - self.len
    }

    /// Nothing comes after what is there: a FIN follows.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// The sequence number after the last octet of data; that of the FIN, if there is one.
    pub(super) fn data_end(&self) -> SeqNumber {
        self.start + self.len as u32
    }

    /// The sequence number after everything, the FIN included.
    pub(super) fn end(&self) -> SeqNumber {
        self.data_end() + u32::from(self.finished)
    }

    /// Forgets what lies before `seq`.
    pub(super) fn acknowledge(&mut self, seq: SeqNumber) {
        let count = (seq.since(self.start) as usize).min(self.len);
        self.ring.advance(count);
        self.start += count as u32;
        self.len -= count;
    }

    /// Copies the octets that begin at `seq`, which are in the buffer.
    pub(super) fn read_at(&self, seq: SeqNumber, into: &mut [u8]) {
        self.ring.read_at(seq.since(self.start) as usize, into);
    }
}
