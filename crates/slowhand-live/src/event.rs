//! Events of a live network while it runs, and its report at the end.

use crate::clock::LatenessReport;
use crate::setup::Transport;
use serde::{Serialize, Serializer};
use slowhand_lab::record::Record;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// Something that happened. Times are seconds of the network since it began.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The network runs.
    Started {
        /// Where programs find it.
        addresses: Vec<Address>,
        /// The socket for commands. What is no UTF-8 in its path is replaced in JSON.
        #[serde(serialize_with = "as_text")]
        control: Option<PathBuf>,
    },
    /// A conversation begins.
    Opened {
        /// When.
        time_s: f64,
        /// Its number, counted from 1.
        session: u64,
        /// The node of its client.
        node: u16,
        /// The address of the program, if the client is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<SocketAddr>,
    },
    /// Both ends have completed the handshake, as far as it can be seen.
    Established {
        /// When.
        time_s: f64,
        /// The number of the conversation.
        session: u64,
        /// The node of its client.
        node: u16,
        /// The time that the handshake took.
        duration_s: f64,
    },
    /// A conversation is over, and all that it sent has arrived or was lost.
    Closed {
        /// When.
        time_s: f64,
        /// The number of the conversation.
        session: u64,
        /// The node of its client.
        node: u16,
        /// True if the ends spoke DTLS or TLS. If not, the record has no handshake.
        secure: bool,
        /// The record of its handshake.
        #[serde(skip)]
        record: Box<Record>,
    },
    /// Something from outside was not let in.
    Refused {
        /// When.
        time_s: f64,
        /// Why.
        reason: String,
        /// The number of times for this reason, so far.
        count: u64,
    },
    /// The network was changed by a command.
    Changed {
        /// When.
        time_s: f64,
        /// The change.
        change: String,
    },
    /// The network was far behind the wall clock, as after it was suspended.
    Late {
        /// When.
        time_s: f64,
        /// The lateness, in milliseconds of the wall clock.
        late_ms: f64,
    },
    /// Something does not work any more; the rest goes on.
    Warning {
        /// When.
        time_s: f64,
        /// The problem, and a remedy.
        message: String,
        /// True if it is about the capture or the recording, which ends here.
        ends_capture: bool,
    },
    /// The network has ended.
    Ended {
        /// When.
        time_s: f64,
        /// Why.
        reason: EndReason,
        /// The report of the whole run.
        summary: Box<Report>,
    },
}

/// An address where programs find the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Address {
    /// The protocol.
    pub way: Transport,
    /// The address.
    pub listen: SocketAddr,
    /// The program behind the network. `None`: the emulated server is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<SocketAddr>,
}

/// Why a live network ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndReason {
    /// Its owner stopped it.
    Stopped,
    /// Its time was over.
    Duration,
    /// So many handshakes were complete.
    Handshakes,
    /// All sessions of the scenario are over.
    Finished,
    /// No interface is left.
    Interfaces,
}

/// Counts of conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionCounts {
    /// Conversations that are under way.
    pub open: u64,
    /// Open conversations whose handshake is complete.
    pub established: u64,
    /// All handshakes that were completed.
    pub completed: u64,
    /// Conversations that ended without a complete handshake.
    pub failed: u64,
    /// Clients, datagrams or packets that were not let in.
    pub refused: u64,
}

/// Counts of datagrams (over TCP: segments).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatagramCounts {
    /// Datagrams that entered the network.
    pub sent: u64,
    /// Datagrams that arrived.
    pub delivered: u64,
    /// Datagrams that are on their way.
    pub waiting: u64,
    /// Datagrams that were lost, by reason.
    pub lost: BTreeMap<&'static str, u64>,
}

/// The work of a live network until now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Conversations.
    pub sessions: SessionCounts,
    /// Clients, datagrams and packets that were not let in, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Datagrams and segments.
    pub datagrams: DatagramCounts,
    /// Octets of all frames on the air (PSDU).
    pub bytes_phy: u64,
    /// All frames on the air.
    pub frames: u64,
    /// Lateness in milliseconds of the wall clock.
    pub lateness_ms: LatenessReport,
}

/// A live network as it is now.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// The time of the network.
    pub time_s: f64,
    /// Seconds of the network in one of the wall clock.
    pub speed: f64,
    /// The work of the network until now.
    #[serde(flatten)]
    pub report: Report,
    /// Frames in all queues.
    pub queued: usize,
    /// Each node.
    pub nodes: Vec<NodeState>,
    /// Each link that carried frames, in one direction.
    pub links: Vec<LinkState>,
    /// The conversations that are under way.
    pub open: Vec<OpenSession>,
}

/// A live network as it is now, with the frames since somebody asked last.
#[derive(Debug, Serialize)]
pub(crate) struct Seen {
    #[serde(flatten)]
    pub(crate) snapshot: Snapshot,
    pub(crate) seen: Vec<SeenFrame>,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SeenFrame {
    /// The time of its first symbol, in microseconds of the network.
    pub(crate) at_us: u64,
    /// The time that it was on the air.
    pub(crate) length_us: u64,
    pub(crate) from: u16,
    /// `None`: all who hear it.
    pub(crate) to: Option<u16>,
    /// The kind of the frame.
    pub(crate) name: &'static str,
    /// True if it carries a part of a datagram.
    pub(crate) carries: bool,
    /// True if its receiver has not received it.
    pub(crate) lost: bool,
}

/// A node now.
#[derive(Clone, Debug, Serialize)]
pub struct NodeState {
    /// Its number.
    pub node: u16,
    /// Its next node on the way to the border router, which has none.
    pub parent: Option<u16>,
    /// False if its radio is switched off.
    pub on: bool,
    /// Frames in its queue.
    pub queued: usize,
    /// Octets in reassembly.
    pub reassembly_bytes: usize,
    /// Conversations of its clients.
    pub sessions: usize,
}

/// The frames of a link in one direction, acknowledgements and control frames too.
#[derive(Clone, Debug, Serialize)]
pub struct LinkState {
    /// The sender.
    pub from: u16,
    /// The destination. `None`: all who hear it, as of a beacon.
    pub to: Option<u16>,
    /// Frames that were sent.
    pub frames: u64,
    /// Frames that the destination received; all of the sender's children, if they are for all.
    pub received: u64,
}

/// A conversation that is under way.
#[derive(Clone, Debug, Serialize)]
pub struct OpenSession {
    /// Its number.
    pub session: u64,
    /// The node of its client.
    pub node: u16,
    /// The address of the program, if the client is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<SocketAddr>,
    /// `handshake`, `data` or `closing`.
    pub state: &'static str,
    /// When it began.
    pub time_s: f64,
}
