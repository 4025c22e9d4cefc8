//! The programs of a run, and its bounds.

use slowhand_lab::scenario::Success;
use slowhand_net::address::{Host, NodeId};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The date at which a world begins, in seconds since 1970: 2030-01-01, as for the libraries that are built in.
pub const DATE_S: i64 = (60 * 365 + 15) * 86_400;

/// Where a program finds the file for the secrets of its sessions: a descriptor that it has.
pub(crate) const KEY_LOG: &str = "/proc/self/fd/3";

/// The setup of a run, beside the scenario.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The programs.
    pub programs: Vec<Program>,
    /// When the run ends at the latest, in nanoseconds of the network.
    pub duration: u64,
    /// Another event that ends it.
    pub until: Until,
    /// The number of threads that run the hosts side by side. The result does not depend on it.
    pub threads: usize,
    /// The longest time that it may take by the clock.
    pub wall: Duration,
    /// The longest time that a thread may compute without a system call that is trapped, in time of the processor.
    pub cpu: Duration,
    /// The date at which the world begins, in seconds since 1970.
    pub date_s: i64,
    /// The file that gets the frames as pcapng.
    pub capture: Option<PathBuf>,
    /// The client whose handshake is explained: of several the longest that is complete, or else the longest.
    pub explain: Option<NodeId>,
}

/// A program at a host of the network.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name in the result.
    pub name: String,
    /// Where it runs.
    pub host: Host,
    /// Its command, word by word.
    pub argv: Vec<OsString>,
    /// Variables of its environment, beside those of this process, which they replace.
    pub environment: BTreeMap<String, String>,
    /// When it starts, in nanoseconds.
    pub start: u64,
    /// True if the run is over when it, and all others of which this is true, have ended.
    pub is_client: bool,
    /// The time that it computes before it sends, after it has received something, in nanoseconds.
    pub compute: u64,
    /// The octets for its standard input, and their times, in nanoseconds. No octets: the input ends there.
    pub input: Vec<(u64, Vec<u8>)>,
    /// When it has done what it was to do. `None`: nobody asks.
    pub success: Option<Success>,
}

/// The event that ends a run, beside the end of all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Nothing.
    Finished,
    /// The handshakes of all clients are complete.
    Established,
}

/// Why a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// All clients have ended.
    Finished,
    /// The handshakes of all clients were complete.
    Established,
    /// All programs wait, for nothing that can happen any more.
    Quiet,
    /// Its time was over.
    Duration,
}
