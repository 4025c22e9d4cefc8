//! `network.profile`: the software of the nodes, whose numbers are defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The software of the nodes: the defaults of the keys that say how many frames and datagrams a node keeps, for how long,
/// and how often it tries. Each is the number of that project at its default configuration; `slowhand profiles` lists all,
/// with the file and the line of each. A key that the scenario has replaces it.
///
/// Which project has a link layer: `contiki-ng` TSCH and CSMA, `openwsn` TSCH, `openthread`, `riot` and `zephyr` CSMA. Where
/// a project has none, the numbers are those of `rfc`. X-MAC has Contiki's numbers and beacon mode the standard's in every
/// profile: no other of these projects has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Contiki-NG.
    ContikiNg,
    /// OpenThread.
    #[serde(rename = "openthread")]
    OpenThread,
    /// RIOT, with GNRC.
    Riot,
    /// Zephyr, with its own IP stack.
    Zephyr,
    /// OpenWSN.
    #[serde(rename = "openwsn")]
    OpenWsn,
    /// The standards' own numbers.
    Rfc,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 6] = [Self::ContikiNg, Self::OpenThread, Self::Riot, Self::Zephyr, Self::OpenWsn, Self::Rfc];
}
