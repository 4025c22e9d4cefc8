//! A ring buffer of octets. It takes memory when octets come, and keeps it.

/// A ring buffer for at most `capacity` octets. Positions are offsets from its front.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: Vec<u8>,
    front: usize,
    capacity: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { bytes: Vec::new(), front: 0, capacity }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Moves the front forward by `count` octets.
    pub(super) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.bytes.len());
        self.front = self.position(count);
    }

    /// Copies `from` into the ring, at `offset` from the front.
    pub(super) fn write_at(&mut self, offset: usize, from: &[u8]) {
        debug_assert!(offset + from.len() <= self.capacity);
        self.grow_to(offset + from.len());
        let start = self.position(offset);
        let until_wrap = from.len().min(self.bytes.len() - start);
        let (head, tail) = from.split_at(until_wrap);
        self.bytes[start..start + head.len()].copy_from_slice(head);
        self.bytes[..tail.len()].copy_from_slice(tail);
    }

    /// Copies octets out of the ring into `into`, from `offset` on. They were written before.
    pub(super) fn read_at(&self, offset: usize, into: &mut [u8]) {
        debug_assert!(offset + into.len() <= self.bytes.len());
        let start = self.position(offset);
        let until_wrap = into.len().min(self.bytes.len() - start);
        let (head, tail) = into.split_at_mut(until_wrap);
        head.copy_from_slice(&self.bytes[start..start + head.len()]);
        tail.copy_from_slice(&self.bytes[..tail.len()]);
    }

    /// The position in `bytes` of an offset from the front.
    fn position(&self, offset: usize) -> usize {
        (self.front + offset) % self.bytes.len().max(1)
    }

    /// Takes memory for `needed` octets: at least twice as much as before, at most the capacity.
    fn grow_to(&mut self, needed: usize) {
        if needed > self.bytes.len() {
            self.bytes.rotate_left(self.front);
            self.front = 0;
            let length = needed.next_power_of_two().min(self.capacity);
            self.bytes.reserve_exact(length - self.bytes.len());
            self.bytes.resize(length, 0);
        }
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

    #[test]
    fn keeps_its_octets_when_it_grows() {
        let mut ring = Ring::new(13);
        ring.write_at(0, b"abcd");
        ring.advance(2);
        ring.write_at(2, b"ef");
        ring.write_at(4, b"ghijklmno");
        assert_eq!((ring.bytes.len(), ring.capacity()), (13, 13));
        let mut read = [0; 13];
        ring.read_at(0, &mut read);
        assert_eq!(&read, b"cdefghijklmno");
    }
}
