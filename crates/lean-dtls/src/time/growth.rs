//! The growth of a wait: it doubles, or as in CoCoA (draft-ietf-core-cocoa-03), whose timer is made for networks in which many devices
//! wait at once.

/// The growth of each wait for an answer out of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// It doubles (RFC 6347, section 4.2.4.1).
    #[default]
    Double,
    /// It grows by the variable back-off factor of CoCoA (draft-ietf-core-cocoa-03, section 4.2.1), which the first wait of a flight
    /// decides: threefold below 1 s, by half above 3 s, twofold between. All waits are longer by a random share of up to half (its
    /// section 4.2; ACK_RANDOM_FACTOR 1.5 of RFC 7252, section 4.8), so devices that began together do not repeat together. The share
    /// is one for all flights of a connection (assumed).
    ///
    /// Short waits become long soon, where the path was thought to be faster than it is, and long ones do not become endless. The
    /// estimators of CoCoA are not part of it: a handshake has two or three flights, and what they tell is
    /// [`floor_ms`](super::Timeouts::floor_ms).
    Variable,
}

/// Below it waits grow faster, in milliseconds (section 4.2.1).
const SHORT: u32 = 1_000;
/// Above it waits grow more slowly, in milliseconds (section 4.2.1).
const LONG: u32 = 3_000;

/// The growth of the waits of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growing {
    growth: Growth,
    /// The share by which each wait is longer: so many parts of 2^17, less than half.
    share: u16,
    factor: Factor,
}

/// The factor of each wait of a flight over the one before.
#[derive(Clone, Copy, Debug)]
enum Factor {
    OneAndAHalf,
    Two,
    Three,
}

impl Growing {
    /// `random` fills octets with random numbers. Waits that double need none.
    pub(super) fn new(growth: Growth, random: impl FnOnce(&mut [u8; 2])) -> Self {
        let mut share = [0; 2];
        if growth == Growth::Variable {
            random(&mut share);
        }
        Self { growth, share: u16::from_be_bytes(share), factor: Factor::Two }
    }

    /// A flight begins with this wait, which decides how the later ones grow.
    pub(super) const fn begin_with(&mut self, wait: u32) {
        self.factor = match self.growth {
            Growth::Variable if wait < SHORT => Factor::Three,
            Growth::Variable if wait > LONG => Factor::OneAndAHalf,
            Growth::Variable | Growth::Double => Factor::Two,
        };
    }

    /// This wait with the share of the connection.
    pub(super) const fn dithered(self, wait: u32) -> u32 {
        let more = (wait as u64 * self.share as u64) >> 17;
        wait.saturating_add(more as u32)
    }

    /// The wait after this one.
    pub(super) const fn after(self, wait: u32) -> u32 {
        match self.factor {
            Factor::OneAndAHalf => wait.saturating_add(wait / 2),
            Factor::Two => wait.saturating_mul(2),
            Factor::Three => wait.saturating_mul(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factors of section 4.2.1: the first wait decides.
    #[test]
    fn the_wait_grows_by_the_variable_factor() {
        let waits = |growth, first| {
            let mut growing = Growing::new(growth, |share| *share = [0; 2]);
            growing.begin_with(first);
            let waits = core::iter::successors(Some(first), |wait| Some(growing.after(*wait)));
            waits.take(5).collect::<std::vec::Vec<u32>>()
        };
        assert_eq!(waits(Growth::Variable, 300), [300, 900, 2_700, 8_100, 24_300]);
        assert_eq!(waits(Growth::Variable, 2_000), [2_000, 4_000, 8_000, 16_000, 32_000]);
        assert_eq!(waits(Growth::Variable, 4_000), [4_000, 6_000, 9_000, 13_500, 20_250]);
        let second = [999, 1_000, 3_000, 3_001, u32::MAX].map(|first| waits(Growth::Variable, first)[1]);
        assert_eq!(second, [2_997, 2_000, 6_000, 4_501, u32::MAX]);
        assert_eq!(waits(Growth::Double, 500)[..2], [500, 1_000]);
    }

    /// From the wait itself to one and a half of it.
    #[test]
    fn waits_are_dithered() {
        let with = |octets| Growing::new(Growth::Variable, |share| *share = octets);
        assert_eq!(
            [with([0, 0]), with([0x80, 0]), with([0xff, 0xff])].map(|it| it.dithered(2_000)),
            [2_000, 2_500, 2_999]
        );
        assert_eq!(with([0xff, 0xff]).dithered(u32::MAX), u32::MAX);
        let double = Growing::new(Growth::Double, |_| unreachable!("it needs no random number"));
        assert_eq!((double.dithered(2_000), double.after(4_000)), (2_000, 8_000));
    }
}
