//! The texts that a scenario was made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The texts that a scenario was made from. They are all that is needed to make it again, on another machine too: a
/// result that carries them can be repeated.
///
/// ```
/// use slowhand_lab::scenario::Scenario;
///
/// let scenario: Scenario = r#"
///     network = { topology = { kind = "line", hops = 2 } }
///     mac = { kind = "tsch", slotframe = 11 }
///     client = { device = "openmote-cc2538" }
///     session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
/// "#
/// .parse()?;
/// let again = Scenario::from_sources(scenario.sources())?;
/// assert_eq!(again.sources(), scenario.sources());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// The name of the scenario's file in `files`.
    pub scenario: String,
    /// The text of the scenario's file, and of each device file that it names. The names of device files are relative
    /// to the scenario's file. Devices that are built in are not among them.
    pub files: BTreeMap<String, String>,
    /// The replacements of values of the scenario's file, as `key=value`, in this order.
    pub overrides: Vec<String>,
}
