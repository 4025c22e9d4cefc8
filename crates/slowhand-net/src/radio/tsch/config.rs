//! The constants of a TSCH network, and their sources.

use super::hopping;
use super::timing::Timing;
use crate::radio::frame::Security;

/// The constants of a TSCH network.
#[derive(Clone, Debug)]
pub struct TschConfig {
    /// The timeslot template.
    pub timing: Timing,
    /// Slots in a slotframe.
    pub slotframe: u16,
    /// The channel hopping sequence; not empty.
    pub hopping: Vec<u8>,
    /// The most retransmissions of a frame without acknowledgement (macMaxFrameRetries); at most 254.
    pub max_retries: u8,
    /// Smallest and largest back-off exponent in shared cells (macMinBe, macMaxBe).
    pub backoff_exponents: (u8, u8),
    /// The most frames in a node's queue.
    pub queue: usize,
    /// The security of data frames, 6P messages and acknowledgements. `None`: none.
    pub security: Option<Security>,
    /// True if an acknowledgement has the address of its sender too.
    pub ack_source_address: bool,
}

impl TschConfig {
    /// OpenWSN's constants on the OpenMote: slots of 20 ms, 15 retries, exponents 2..5, 20 frames.
    /// Source: OpenWSN firmware, commit 7ee5f2033: `board_info.h`, `IEEE802154E.h`, `schedule.h`, `config.h`.
    pub fn openwsn(slotframe: u16) -> Self {
        Self {
            timing: Timing::SLOT_20_MS,
            slotframe,
            hopping: hopping::DEFAULT_SEQUENCE.to_vec(),
            max_retries: 15,
            backoff_exponents: (2, 5),
            queue: 20,
            security: None,
            ack_source_address: false,
        }
    }
}
