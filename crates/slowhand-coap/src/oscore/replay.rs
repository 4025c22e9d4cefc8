//! The window against replays: of requests (section 7.4), and of the records of LESS.

/// The sequence numbers that have been received, of which `SIZE` up to the largest one are remembered: at most 64.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window<const SIZE: u64> {
    /// The sequence number after the largest one.
    next: u64,
    /// Bit n: the sequence number n below the largest one has been received.
    received: u64,
}

impl<const SIZE: u64> Window<SIZE> {
    /// A window whose lower limit is `sequence`, which has just been received: what is older is refused (appendix B.1.2).
    pub(super) const fn from(sequence: u64) -> Self {
        Self { next: sequence + 1, received: u64::MAX }
    }

    /// True if this sequence number has not been received, and is not older than the window.
    pub(crate) fn is_new(&self, sequence: u64) -> bool {
        match (self.next.checked_sub(1), sequence < self.next) {
            (Some(largest), true) => largest - sequence < SIZE && self.received >> (largest - sequence) & 1 == 0,
            _ => true,
        }
    }

    /// Notes the sequence number of a message that was verified, and that [is new](Self::is_new).
    pub(crate) fn receive(&mut self, sequence: u64) {
        match sequence.checked_sub(self.next) {
            Some(later) => {
                let shift = u32::try_from(later + 1).unwrap_or(u32::MAX);
                self.received = self.received.checked_shl(shift).unwrap_or(0) | 1;
                self.next = sequence + 1;
            }
            None => self.received |= 1_u64.checked_shl((self.next - 1 - sequence) as u32).unwrap_or(0),
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
            first in proptest::option::of(0_u64..100),
            sequences in proptest::collection::vec(prop_oneof![0_u64..150, Just((1 << 40) - 1), (1_u64 << 39)..(1 << 39) + 70], 1..80)
        ) {
            agree::<32>(first, &sequences)?;
            agree::<64>(first, &sequences)?;
        }
    }

    fn agree<const SIZE: u64>(first: Option<u64>, sequences: &[u64]) -> Result<(), TestCaseError> {
        let mut window = first.map_or_else(Window::<SIZE>::default, Window::from);
        let mut seen: std::collections::BTreeSet<u64> = first.into_iter().flat_map(|first| 0..=first).collect();
        for &sequence in sequences {
            let largest = seen.last().copied().unwrap_or(0);
            let expected = !seen.contains(&sequence) && sequence + SIZE > largest;
            prop_assert_eq!(window.is_new(sequence), expected, "{} after {}", sequence, largest);
            if expected {
                window.receive(sequence);
                seen.insert(sequence);
            }
        }
        Ok(())
    }
}
