//! `[mac]`: the link layer.

mod beacon;
mod tsch;
mod xmac;

pub use beacon::{Beacon, Downward};
pub use tsch::{Cell, CellKind, Cells, Scheduling, SlotTiming, Tsch};
pub use xmac::{Generation, XMac};

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_net::clock::Duration;

/// The link layer; `kind` says which.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(tag = "kind")]
pub enum Mac {
    /// Time-slotted channel hopping (IEEE 802.15.4, 6TiSCH).
    Tsch(Tsch),
    /// Preamble sampling (X-MAC as Contiki has it).
    Xmac(XMac),
    /// Beacon-enabled IEEE 802.15.4: a cluster tree with staggered superframes.
    Beacon(Beacon),
}

impl Mac {
    /// How long the network runs before the first client may begin, unless the scenario says: long enough for nodes that
    /// negotiate their cells to have some (MSF's first requests come within 10 s), else no time.
    pub fn settling(&self) -> Duration {
        match self {
            Self::Tsch(tsch) if tsch.scheduling != Scheduling::Static => Duration::from_secs(60),
            _ => Duration::ZERO,
        }
    }

    /// After how long the link layer's timing repeats: the slotframe, the check interval or the beacon interval.
    pub fn period(&self) -> Duration {
        match self {
            Self::Tsch(tsch) => {
                let slot = Duration::from_micros((tsch.slot_ms.get() * 1e3).round() as u64);
                slot * u64::from(tsch.slotframe.get())
            }
            Self::Xmac(xmac) => Duration::from_micros(xmac.check_interval_ms.micros()),
            Self::Beacon(beacon) => Duration::from_micros(beacon.beacon_interval_ms.micros()),
        }
    }
}
