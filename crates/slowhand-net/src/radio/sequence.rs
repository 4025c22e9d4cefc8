//! The sequence numbers of one direction of a link.

/// The numbers of the frames from one node to another. Each direction of each link has its own count, so that
/// consecutive frames differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequence {
    next: u8,
    last_received: Option<u8>,
}

impl Sequence {
    /// The number of the next frame.
    pub const fn next(self) -> u8 {
        self.next
    }

    /// Takes the number of the next frame.
    pub fn take(&mut self) -> u8 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        number
    }

    /// True if a frame is new. The same sequence number twice in a row is a retransmission after a lost
    /// acknowledgement.
    pub fn accepts(&mut self, number: u8) -> bool {
        self.last_received.replace(number) != Some(number)
    }
}
