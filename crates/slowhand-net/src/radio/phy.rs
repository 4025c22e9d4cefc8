//! The IEEE 802.15.4 physical layer at 2.4 GHz (O-QPSK, 250 kb/s): conversion of octets to microseconds.

use crate::clock::Duration;

/// One symbol: 4 bits at 62.5 ksymbol/s (IEEE 802.15.4-2015, 12.2.3).
pub const SYMBOL: Duration = Duration::from_micros(16);

/// One octet: two symbols.
pub const OCTET: Duration = Duration::from_micros(32);

/// Preamble (4), start-of-frame delimiter (1) and frame length (1), in octets (IEEE 802.15.4-2015, 12.1).
pub const SYNCHRONISATION_OCTETS: u64 = 6;

/// From the first symbol of the preamble to the end of the start-of-frame delimiter (SFD): five octets.
pub const SYNCHRONISATION_HEADER: Duration = Duration::from_micros((SYNCHRONISATION_OCTETS - 1) * OCTET.as_micros());

/// The largest PSDU, in octets (aMaxPhyPacketSize, IEEE 802.15.4-2015, table 11-1).
pub const MAX_PSDU: usize = 127;

/// The channels of the 2.4 GHz band (IEEE 802.15.4-2015, 10.1.3.3).
pub const CHANNELS: std::ops::RangeInclusive<u8> = 11..=26;

/// The time that a frame of `psdu` octets (FCS included) is on the air.
pub const fn air_time(psdu: usize) -> Duration {
    Duration::from_micros((SYNCHRONISATION_OCTETS + psdu as u64) * OCTET.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_frame_lasts_4256_us() {
        // The figure that TSCH implementations publish as their maximum transmission time.
        assert_eq!(air_time(MAX_PSDU), Duration::from_micros(4256));
    }
}
