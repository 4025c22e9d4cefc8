//! A scenario: which network, which devices, which session. A TOML file with few required keys; every
//! default is documented at its key, with its source.

mod endpoint;
mod lowpan;
mod mac;
mod network;
mod session;

use std::path::Path;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Deserialize;

pub use endpoint::{Client, Server, ServerAt};
pub use lowpan::{Lowpan, Reassembly};
pub use mac::{Cell, CellKind, Cells, Mac, SlotTiming, Tsch};
pub use network::{Channel, Link, LinkEntry, MAX_NODE, Network, Topology};
pub use session::{Auth, Session};

use crate::input::{Document, InputError, Override};

/// Everything that is simulated, and nothing about how often or how it is shown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the scenario: its file's, without directory and extension.
    #[serde(skip)]
    pub name: String,
    /// The nodes, and how well they hear each other.
    pub network: Network,
    /// The link layer.
    pub mac: Mac,
    /// How IPv6 datagrams travel in 802.15.4 frames.
    #[serde(default)]
    pub lowpan: Lowpan,
    /// The nodes that open sessions.
    pub client: Client,
    /// The node or host that accepts them.
    #[serde(default)]
    pub server: Server,
    /// What is spoken between the two.
    pub session: Session,
}

impl Scenario {
    /// Reads and checks a scenario file, with `overrides` in place of what it says.
    ///
    /// # Errors
    /// The first thing that is wrong: the file cannot be read, is no TOML, has a key that does not
    /// exist, lacks one, or has a value that is not allowed, by itself or beside the others.
    pub fn load(file: &Path, overrides: &[Override]) -> Result<Self, InputError> {
        Self::from_document(Document::read(file)?, file, overrides)
    }

    fn from_document(mut document: Document, file: &Path, overrides: &[Override]) -> Result<Self, InputError> {
        for change in overrides {
            document.set(change)?;
        }
        let mut scenario: Self = document.deserialize()?;
        let name = file.file_stem().unwrap_or_default();
        scenario.name = name.to_string_lossy().into_owned();
        Ok(scenario)
    }
}

/// A scenario from the text of its file; errors call the file `scenario.toml`.
impl FromStr for Scenario {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let file = Path::new("scenario.toml");
        Self::from_document(Document::parse(file, text)?, file, &[])
    }
}
