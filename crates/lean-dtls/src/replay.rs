//! The window against replayed records (RFC 6347, section 4.1.2.6).

/// The number of sequence numbers up to the largest one that are remembered. (RFC 6347 asks for 32, and prefers 64.)
const WINDOW: u64 = 64;

/// The sequence numbers of one epoch that have been received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// The sequence number after the largest one.
    next: u64,
    /// Bit n, from the lowest of the first octet onwards: the sequence number n below the largest one has been received. In
    /// octets, because a processor of 8 bits needs much code to shift 64.
    received: [u8; WINDOW as usize / 8],
}

impl Window {
    /// The sequence number after the largest one.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// True if a record with this sequence number has not been received, and is not older than the window.
    pub(crate) fn is_new(&self, sequence: u64) -> bool {
        let Some((place, bit)) = self.place(sequence) else { return self.is_latest(sequence) };
        self.received[place] & bit == 0
    }

    /// The sequence number with these lower 16 bits that is nearest to the one expected next (RFC 9147, section 4.2.2).
    /// `None` beyond 48 bits.
    pub(crate) const fn nearest(&self, lower: u16) -> Option<u64> {
        // From half of the 16 bits below the expected number to half of them above it.
        let lowest = self.next.saturating_sub(1 << 15);
        let sequence = lowest + lower.wrapping_sub(lowest as u16) as u64;
        if sequence < 1 << 48 { Some(sequence) } else { None }
    }

    /// True if a record with this sequence number is later than all that have been received.
    pub(crate) const fn is_latest(&self, sequence: u64) -> bool {
        sequence >= self.next
    }

    /// Notes a record whose tag was right.
    pub(crate) fn receive(&mut self, sequence: u64) {
        if let Some((place, bit)) = self.place(sequence) {
            self.received[place] |= bit;
        } else if let Some(later) = sequence.checked_sub(self.next) {
            for _ in 0..=later.min(WINDOW) as u8 {
                let mut carry = 0;
                for octet in &mut self.received {
                    (*octet, carry) = (*octet << 1 | carry, *octet >> 7);
                }
            }
            self.received[0] |= 1;
            self.next = sequence + 1;
        }
    }

    /// The octet and the bit of a sequence number. `None` if it is later than all that have been received, or too old.
    fn place(&self, sequence: u64) -> Option<(usize, u8)> {
        let behind = self.next.checked_sub(sequence)?.checked_sub(1).filter(|behind| *behind < WINDOW)? as u8;
        Some((usize::from(behind / 8), 1 << (behind % 8)))
    }
}

/// The part of a datagram that only the peer can have sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heard {
    Nothing,
    /// A record that others have overtaken.
    Earlier,
    /// A record later than all before.
    Latest,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_window_is_that_of_a_set_of_all_numbers(
            sequences in proptest::collection::vec(prop_oneof![0_u64..200, Just(1 << 47), (1_u64 << 47)..(1 << 47) + 70], 1..80)
        ) {
            let mut window = Window::default();
            let mut seen = std::collections::BTreeSet::new();
            for sequence in sequences {
                let latest = seen.last().copied().unwrap_or(0);
                let expected = !seen.contains(&sequence) && sequence + 64 > latest;
                prop_assert_eq!(window.is_new(sequence), expected, "{} after {}", sequence, latest);
                if expected {
                    window.receive(sequence);
                    seen.insert(sequence);
                }
            }
        }
    }
}
