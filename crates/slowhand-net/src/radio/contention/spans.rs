//! The spans of the standard.

use crate::clock::Duration;
use crate::radio::phy::SYMBOL;

/// A number of symbols.
pub const fn symbols(count: u64) -> Duration {
    Duration::from_micros(count * SYMBOL.as_micros())
}

/// aUnitBackoffPeriod: 20 symbols (table 85).
pub const BACKOFF_PERIOD: Duration = symbols(20);

/// aTurnaroundTime: 12 symbols (table 22).
pub const TURNAROUND: Duration = symbols(12);

/// macMinSIFSPeriod: 12 symbols after a frame of at most [`MAX_SIFS_FRAME`] octets (table 86).
pub const SIFS: Duration = symbols(12);

/// macMinLIFSPeriod: 40 symbols after a longer frame (table 86).
pub const LIFS: Duration = symbols(40);

/// aMaxSIFSFrameSize: 18 octets, FCS included (table 85).
pub const MAX_SIFS_FRAME: usize = 18;

/// macAckWaitDuration: a back-off period, a turnaround, the synchronisation header (10 symbols) and the six octets
/// of length and acknowledgement (12 symbols), from the end of the frame on (table 86, 7.4.2).
pub const ACK_WAIT: Duration = symbols(20 + 12 + 10 + 12);

/// The interframe space: the time that a receiver needs after a frame of `psdu` octets before the next (7.5.1.3).
pub const fn interframe_space(psdu: usize) -> Duration {
    if psdu <= MAX_SIFS_FRAME { SIFS } else { LIFS }
}
