//! A ring buffer of octets, allocated once.

/// A ring buffer. Positions are offsets from its front.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: Box<[u8]>,
    front: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity].into_boxed_slice(), front: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Moves the front forward by `count` octets.
    pub(super) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.capacity());
        self.front = (self.front + count) % self.capacity();
    }

    /// Copies `from` into the ring, at `offset` from the front.
    pub(super) fn write_at(&mut self, offset: usize, from: &[u8]) {
        debug_assert!(offset + from.len() <= self.capacity());
        let start = (self.front + offset) % self.capacity();
        let until_wrap = from.len().min(self.capacity() - start);
        let (head, tail) = from.split_at(until_wrap);
        self.bytes[start..start + head.len()].copy_from_slice(head);
        self.bytes[..tail.len()].copy_from_slice(tail);
    }

    /// Copies octets out of the ring into `into`, from `offset` on.
    pub(super) fn read_at(&self, offset: usize, into: &mut [u8]) {
        debug_assert!(offset + into.len() <= self.capacity());
        let start = (self.front + offset) % self.capacity();
        let until_wrap = into.len().min(self.capacity() - start);
        let (head, tail) = into.split_at_mut(until_wrap);
        head.copy_from_slice(&self.bytes[start..start + head.len()]);
        tail.copy_from_slice(&self.bytes[..tail.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_around_its_end() {
        let mut ring = Ring::new(5);
        ring.write_at(0, b"abcde");
        ring.advance(3);
        ring.write_at(2, b"fgh");
        let mut read = [0; 5];
        ring.read_at(0, &mut read);
        assert_eq!(&read, b"defgh");
    }
}
