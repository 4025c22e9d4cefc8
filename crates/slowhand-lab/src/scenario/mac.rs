//! `[mac]`: the link layer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::network::MAX_NODE;
use crate::input::{Integer, Positive};

/// The link layer; `kind` says which.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(tag = "kind")]
pub enum Mac {
    /// Time-slotted channel hopping (IEEE 802.15.4, 6TiSCH).
    Tsch(Tsch),
}

/// Time-slotted channel hopping with a given schedule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tsch {
    /// The length of a slot. 10 and 20 have OpenWSN's timing (bsp/boards/*/board_info.h); any other
    /// needs a `timing`. Default: 20, OpenWSN's on the OpenMote-CC2538.
    pub slot_ms: Positive,
    /// When within a slot what happens. Default: OpenWSN's for a slot of 10 or 20 ms.
    pub timing: Option<SlotTiming>,
    /// The length of the slotframe in slots. Default: 101 (OpenWSN, schedule.h SLOTFRAME_LENGTH).
    pub slotframe: Integer<1, 65_535>,
    /// How many cells of each kind the schedule gets.
    pub cells: Cells,
    /// Whether each node listens in an autonomous cell of its own, placed by the SAX hash of its
    /// address, in which any neighbour may send to it (MSF, RFC 9033 section 3). Default: true.
    pub autonomous: bool,
    /// The cells one by one, instead of `cells.managed`.
    pub schedule: Vec<Cell>,
    /// How often a frame is sent again before it is given up. Default: 15 (OpenWSN, IEEE802154E.h
    /// TXRETRIES).
    pub max_retries: Integer<0, 255>,
    /// The least exponent of the backoff in shared cells: 2^BE cells. Default: 2 (OpenWSN, schedule.h
    /// MINBE).
    pub min_be: Integer<0, 8>,
    /// The greatest exponent of the backoff in shared cells. Default: 5 (OpenWSN, schedule.h MAXBE).
    pub max_be: Integer<0, 8>,
    /// How many frames a node's queue holds. Default: 20 (OpenWSN, config.h QUEUELENGTH).
    pub queue: Integer<1, 65_535>,
    /// The channels in the order in which they are hopped through. Default: the standard's sequence
    /// for the 16 channels of the 2.4 GHz band.
    pub hopping_sequence: Option<Vec<Integer<11, 26>>>,
    /// Whether data frames are acknowledged. Default: true.
    pub ack: bool,
}

/// When within a slot what happens, in microseconds; OpenWSN's names (IEEE802154E.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotTiming {
    /// From the start of the slot to the start of the frame (macTsTxOffset).
    pub tx_offset_us: Integer<0, 1_000_000>,
    /// How long before and after `tx_offset_us` the receiver listens for the frame's start (half of
    /// macTsRxWait).
    pub long_guard_us: Integer<0, 1_000_000>,
    /// From the end of the frame to the start of the acknowledgement (macTsTxAckDelay).
    pub tx_ack_delay_us: Integer<0, 1_000_000>,
    /// How long before and after `tx_ack_delay_us` the sender listens for the acknowledgement (half of
    /// macTsAckWait).
    pub short_guard_us: Integer<0, 1_000_000>,
}

/// How many cells of each kind the schedule gets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cells {
    /// Cells shared by all nodes, for sending and receiving. Default: 1 (6TiSCH minimal
    /// configuration, RFC 8180 section 4.1).
    pub shared: Integer<0, 65_535>,
    /// Dedicated cells for each node and its parent, from the node upwards.
    /// Default: 1.
    pub managed: Integer<0, 65_535>,
}

/// One cell of a schedule written out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The slot within the slotframe, from 0.
    pub slot: Integer<0, 65_534>,
    /// The channel offset (index into the hopping sequence, before the slot number is added).
    /// Default: 0.
    #[serde(default)]
    pub channel_offset: Integer<0, 15>,
    /// The node that sends.
    pub from: Integer<0, MAX_NODE>,
    /// The node that receives.
    pub to: Integer<0, MAX_NODE>,
    /// Whether the sender has the cell for itself. Default: dedicated.
    #[serde(default)]
    pub kind: CellKind,
}

/// Whether a cell can be contended for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// One sender, no contention, no backoff.
    #[default]
    Dedicated,
    /// Senders that share slot and channel offset contend, and back off after a loss.
    Shared,
}

impl Default for Tsch {
    fn default() -> Self {
        Self {
            slot_ms: Positive::constant(20.0),
            timing: None,
            slotframe: Integer::constant(101),
            cells: Cells::default(),
            autonomous: true,
            schedule: Vec::new(),
            max_retries: Integer::constant(15),
            min_be: Integer::constant(2),
            max_be: Integer::constant(5),
            queue: Integer::constant(20),
            hopping_sequence: None,
            ack: true,
        }
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self { shared: Integer::constant(1), managed: Integer::constant(1) }
    }
}

impl Tsch {
    /// The length of a slot in microseconds.
    pub fn slot_us(&self) -> u64 {
        (self.slot_ms.get() * 1e3).round() as u64
    }

    /// The timing of a slot: the scenario's, or OpenWSN's for its 10 and 20 ms slots.
    /// `None` for another length without a timing, which the loader refuses.
    pub fn slot_timing(&self) -> Option<SlotTiming> {
        let template = match self.slot_us() {
            10_000 => Some(SlotTiming::OPENWSN_10_MS),
            20_000 => Some(SlotTiming::OPENWSN_20_MS),
            _ => None,
        };
        self.timing.or(template)
    }
}

impl SlotTiming {
    /// OpenWSN's slot of 10 ms (openwsn-fw 7ee5f20, IEEE802154E.h:169).
    pub const OPENWSN_10_MS: Self = Self {
        tx_offset_us: Integer::constant(2_120),
        long_guard_us: Integer::constant(1_100),
        tx_ack_delay_us: Integer::constant(1_000),
        short_guard_us: Integer::constant(500),
    };

    /// OpenWSN's slot of 20 ms (openwsn-fw 7ee5f20, IEEE802154E.h:179).
    pub const OPENWSN_20_MS: Self = Self {
        tx_offset_us: Integer::constant(5_215),
        long_guard_us: Integer::constant(1_311),
        tx_ack_delay_us: Integer::constant(5_521),
        short_guard_us: Integer::constant(700),
    };
}
