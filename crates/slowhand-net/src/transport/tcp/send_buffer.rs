//! The send buffer: data that the application has written and the peer has not acknowledged.

use super::buffer::Ring;
use super::seq::SeqNumber;

/// The octets from the first unacknowledged one on, and the FIN after them.
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

    /// Adds as many octets as fit. Returns their number.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room());
        self.ring.write_at(self.len, &bytes[..count]);
        self.len += count;
        count
    }

    pub(super) fn room(&self) -> usize {
        self.ring.capacity() - self.len
    }

    /// Adds a FIN after the data.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// The sequence number after the last octet of data. The FIN, if there is one, has this number.
    pub(super) fn data_end(&self) -> SeqNumber {
        self.start + self.len as u32
    }

    /// The sequence number after all data and the FIN.
    pub(super) fn end(&self) -> SeqNumber {
        self.data_end() + u32::from(self.finished)
    }

    /// Removes the octets before `seq`.
    pub(super) fn acknowledge(&mut self, seq: SeqNumber) {
        let count = (seq.since(self.start) as usize).min(self.len);
        self.ring.advance(count);
        self.start += count as u32;
        self.len -= count;
    }

    /// Copies octets from `seq` on. They must be in the buffer.
    pub(super) fn read_at(&self, seq: SeqNumber, into: &mut [u8]) {
        self.ring.read_at(seq.since(self.start) as usize, into);
    }
}
