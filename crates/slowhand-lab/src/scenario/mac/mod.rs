//! `[mac]`: the link layer.

mod beacon;
mod csma;
mod load;
mod security;
mod tsch;
mod xmac;

pub use beacon::Beacon;
pub use csma::{Csl, Csma, Sleepy};
pub use load::Load;
pub use security::{Key, LinkSecurity};
pub use tsch::{Cell, CellKind, Cells, Scheduling, SlotTiming, StartOfFrame, Tsch};
pub use xmac::{Generation, XMac};

use std::error::Error;
use std::fmt::{self, Debug};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use slowhand_net::address::{Addressing, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio;
use slowhand_net::radio::frame::{self, SecurityLevel};
use slowhand_net::random::Streams;

use super::losses::Remedy;
use super::network::Mesh;
use super::profile::Profile;
use crate::input::{Document, InputError, Setting, schema_of};

/// Makes the enum of all link layers from the one list of their kinds: its variant, its keys, its name in a scenario.
macro_rules! link_layers {
    ($($(#[$about:meta])* $variant:ident($keys:ident) = $kind:literal,)*) => {
        /// The link layer; `kind` says which.
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[schemars(tag = "kind")]
        pub enum Mac {
            $($(#[$about])* #[serde(rename = $kind)] $variant($keys),)*
        }

        $(impl CommonKeys for $keys {
            fn security(&self) -> Option<&LinkSecurity> {
                self.security.as_ref()
            }
        })*

        impl Mac {
            /// One of each kind, with its defaults.
            pub(super) fn every() -> Vec<Self> {
                vec![$(Self::$variant($keys::default()),)*]
            }

            /// Its kind, as a scenario names it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                }
            }

            /// The link layer behind its trait. Other code does not distinguish the kinds, but for the numbers of
            /// profiles.
            pub(crate) fn link_layer(&self) -> &dyn LinkLayer {
                match self {
                    $(Self::$variant(keys) => keys,)*
                }
            }
        }
    };
}

link_layers! {
    /// Time-slotted channel hopping (IEEE 802.15.4, 6TiSCH).
    Tsch(Tsch) = "tsch",
    /// Preamble sampling (X-MAC as Contiki has it).
    Xmac(XMac) = "xmac",
    /// Beacon-enabled IEEE 802.15.4: a cluster tree with staggered superframes.
    Beacon(Beacon) = "beacon",
    /// Unslotted CSMA/CA with sleepy devices, as Thread and Zigbee use it.
    Csma(Csma) = "csma",
}

impl Mac {
    /// The link security of its frames. `None` if it has none.
    pub fn security(&self) -> Option<&LinkSecurity> {
        self.link_layer().security().filter(|security| security.level != SecurityLevel::None)
    }

    /// The link layer in a few words, for the end of a report.
    pub fn describe(&self) -> String {
        self.link_layer().describe()
    }
}

/// The table `mac.security`, which every kind of link layer has.
pub(crate) trait CommonKeys {
    /// The table `mac.security`.
    fn security(&self) -> Option<&LinkSecurity>;
}

/// The services of every kind of link layer for a scenario.
pub(crate) trait LinkLayer: CommonKeys {
    /// The software of the nodes, where the scenario does not say it.
    fn default_profile(&self) -> Profile;

    /// Checks that the keys go together and fit the mesh.
    ///
    /// # Errors
    /// The key that has to change.
    fn check(&self, mesh: &Mesh, document: &Document) -> Result<(), InputError>;

    /// The time after which the timing repeats: the slotframe, the check interval or the beacon interval.
    fn period(&self) -> Duration;

    /// The time for which the network runs before the first client starts, unless the scenario says: the nodes may have to
    /// negotiate cells first.
    fn settling(&self) -> Duration {
        Duration::ZERO
    }

    /// True if data frames are acknowledged. If not, no node notices that one is lost.
    fn is_acknowledged(&self) -> bool {
        true
    }

    /// True if each frame is sent in a slot that has a number.
    fn has_slots(&self) -> bool {
        false
    }

    /// The security header of its frames.
    fn security_header(&self) -> Option<frame::Security> {
        self.security().and_then(|security| security.header(self.has_slots()))
    }

    /// The addresses in its frames.
    fn addressing(&self) -> Addressing {
        Addressing::Extended
    }

    /// The channels on which frames are sent.
    fn channels(&self) -> Vec<u8>;

    /// True if the radio of a node can be switched off.
    fn switches_radios(&self) -> bool {
        true
    }

    /// True if nodes can send without a key and a short address of the network.
    fn carries_joiners(&self) -> bool {
        false
    }

    /// The nodes that sleep, and ask their parents for frames.
    fn sleepy(&self, _mesh: &Mesh) -> Vec<NodeId> {
        Vec::new()
    }

    /// The remedy that changes how many frames this link layer loses for a reason other than a full queue. `None` where no single key
    /// does.
    fn remedy(&self, reason: DropReason) -> Option<Remedy>;

    /// For what a node waits before it sends a frame: to a sleepy device, or to another node.
    fn opportunity(&self, is_to_sleepy: bool) -> Opportunity;

    /// The link layer in a few words.
    fn describe(&self) -> String;

    /// Works out what is the same in the worlds of all seeds.
    ///
    /// # Errors
    /// Errors of [`check`](Self::check).
    fn prepare(&self, mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError>;

    /// As [`prepare`](Self::prepare), before the nodes have joined.
    ///
    /// # Errors
    /// This link layer has nothing by which nodes join.
    fn prepare_forming(&self, _mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        Err(MacError::new(
            "mac.kind",
            "found another link layer, allowed: \"tsch\", where the joining of nodes is known",
        ))
    }

    /// True if nodes that have joined negotiate cells with their parents.
    fn negotiates_cells(&self) -> bool {
        false
    }
}

/// For what a node waits before it sends a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opportunity {
    /// Its name in explanations.
    pub(crate) kind: &'static str,
    /// The words for what the node does meanwhile.
    pub(crate) words: &'static str,
    /// The remedy that makes the wait shorter.
    pub(crate) remedy: Option<Remedy>,
}

/// An error about a key of `[mac]` that only other kinds of link layer have names these kinds.
pub(super) fn name_kind(mut error: InputError, document: &Document) -> InputError {
    let key = error.key.strip_prefix("mac.").filter(|&key| key != "kind");
    let (Some(key), Some(Setting::String(own))) = (key, document.setting("mac.kind")) else { return error };
    let schema = schema_of::<Mac>();
    let kinds = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let of_kind = |kind: &Value| {
        let keys = kind.get("properties")?;
        keys.get(key).and(keys.get("kind")?.get("const")?.as_str()).map(str::to_owned)
    };
    let having: Vec<String> = kinds.filter_map(of_kind).collect();
    if !having.is_empty() && !having.contains(&own) {
        error.found = format!("a key of mac.kind = \"{}\"", having.join("\" or \""));
    }
    error
}

/// A link layer without its randomness. [`Plan::with_mac`](crate::plan::Plan::with_mac) takes one of yours.
pub trait PreparedMac: Debug + Send + Sync {
    /// The medium access control of one world. All its randomness comes from `streams`, so that a seed repeats its
    /// world.
    fn build(&self, mesh: &Mesh, streams: &Streams) -> Box<dyn radio::Mac>;
}

/// A link layer that a function makes from all that it knows.
struct Prepared<F>(F);

impl<F> Debug for Prepared<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a prepared link layer")
    }
}

impl<F: Fn(&Mesh, &Streams) -> Box<dyn radio::Mac> + Send + Sync> PreparedMac for Prepared<F> {
    fn build(&self, mesh: &Mesh, streams: &Streams) -> Box<dyn radio::Mac> {
        self.0(mesh, streams)
    }
}

/// The link layer that `build` makes.
fn prepared<M: radio::Mac + 'static>(
    build: impl Fn(&Mesh, &Streams) -> M + Send + Sync + 'static,
) -> Box<dyn PreparedMac> {
    Box::new(Prepared(move |mesh: &Mesh, streams: &Streams| Box::new(build(mesh, streams)) as Box<dyn radio::Mac>))
}

/// A link layer that cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct MacError {
    key: &'static str,
    reason: Box<dyn Error + Send + Sync>,
}

impl MacError {
    /// `key` has to change, because of `reason`.
    fn new(key: &'static str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { key, reason: reason.into() }
    }

    /// The key that has to change.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The value found, and the allowed values.
    pub fn reason(&self) -> String {
        self.reason.to_string()
    }
}
