//! The window against replayed records (RFC 6347, section 4.1.2.6).

/// The sequence numbers of one epoch that have been received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// The largest sequence number, if there was a record.
    latest: Option<u64>,
    /// Bit n: the sequence number n below the largest one has been received.
    received: u64,
}

impl Window {
    /// The sequence number after the largest one.
    #[cfg(feature = "dtls13")]
    pub(crate) fn next(&self) -> u64 {
        self.latest.map_or(0, |latest| latest + 1)
    }

    /// True if a record with this sequence number has not been received, and is not older than the window.
    pub(crate) const fn is_new(&self, sequence: u64) -> bool {
        match self.latest {
            None => true,
            Some(latest) if sequence > latest => true,
            Some(latest) => latest - sequence < u64::BITS as u64 && self.received >> (latest - sequence) & 1 == 0,
        }
    }

    /// The sequence number with these lower 16 bits that is nearest to the one expected next (RFC 9147, section 4.2.2).
    /// `None` beyond 48 bits.
    pub(crate) fn nearest(&self, lower: u16) -> Option<u64> {
        let expected = self.latest.map_or(0, |latest| latest + 1);
        // From half of the 16 bits below the expected number to half of them above it.
        let lowest = expected.saturating_sub(1 << 15);
        let sequence = lowest + u64::from(lower.wrapping_sub(lowest as u16));
        (sequence < 1 << 48).then_some(sequence)
    }

    /// True if a record with this sequence number is later than all that have been received.
    pub(crate) const fn is_latest(&self, sequence: u64) -> bool {
        match self.latest {
            None => true,
            Some(latest) => sequence > latest,
        }
    }

    /// Notes a record whose tag was right.
    pub(crate) fn receive(&mut self, sequence: u64) {
        match self.latest {
            Some(latest) if sequence <= latest => {
                self.received |= 1_u64.checked_shl((latest - sequence).min(64) as u32).unwrap_or(0);
            }
            Some(latest) => {
                self.received = self.received.checked_shl((sequence - latest).min(64) as u32).unwrap_or(0) | 1;
                self.latest = Some(sequence);
            }
            None => *self = Self { latest: Some(sequence), received: 1 },
        }
    }
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
