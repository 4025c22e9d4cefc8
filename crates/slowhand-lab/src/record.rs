//! One row for every handshake.

use std::collections::BTreeMap;
use std::sync::Arc;

/// How a handshake ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Both ends have verified the peer's Finished.
    Completed,
    /// The handshake or the conversation had not ended when the scenario's `session.give_up_s` was over.
    GaveUp,
    /// A library, or TCP below it, stopped retransmitting.
    TimedOut,
    /// TCP ended: a peer reset the connection or refused it.
    Reset,
    /// An end received a fatal alert.
    Alert,
    /// A library ended the handshake with an error of its own.
    Error,
}

impl Outcome {
    /// The outcome as records and JSON name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::GaveUp => "gave_up",
            Self::TimedOut => "timed_out",
            Self::Reset => "reset",
            Self::Alert => "alert",
            Self::Error => "error",
        }
    }
}

/// A part of a conversation. What is sent in a phase is accounted to it. What an application writes is accounted to the
/// phase `Data` or a later one, also where the other end has not verified the peer's Finished yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// From the client's first octet handed to the network until both ends have verified the peer's Finished.
    Handshake,
    /// From then until an end closes its session.
    Data,
    /// From then until the conversation is over. Over TLS, this has the close_notify alert and its TCP acknowledgment. It
    /// has no FIN: the model does not close the TCP connection.
    Closing,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Self; 3] = [Self::Handshake, Self::Data, Self::Closing];

    /// The phase as tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Data => "data",
            Self::Closing => "closing",
        }
    }
}

/// A conversation: its handshake, and what each of its phases took.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// The record of the handshake.
    pub handshake: Record,
    /// How the conversation ended: [`Outcome::Completed`] if the applications of both ends had finished.
    pub outcome: Outcome,
    /// The phases that there were, in their order.
    pub phases: Vec<PhaseReport>,
}

impl Conversation {
    /// The records of the handshakes alone.
    pub(crate) fn handshakes(conversations: Vec<Self>) -> Vec<Record> {
        conversations.into_iter().map(|conversation| conversation.handshake).collect()
    }
}

/// What a phase of a conversation took.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    /// Which phase.
    pub phase: Phase,
    /// How long it lasted, in seconds.
    pub duration_s: f64,
    /// What was sent in it.
    pub costs: Costs,
    /// What the client's device used during the phase.
    pub energy_client: Energy,
}

/// What the two ends sent in a phase of a conversation, and its cost on the air, over all hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// PSDU octets of the data frames that carried it, repetitions included.
    pub bytes_phy: u64,
    /// PSDU octets of their acknowledgements.
    pub bytes_ack: u64,
    /// PSDU octets of the MAC's own frames that served them.
    pub bytes_control: u64,
    /// The data frames, repetitions included.
    pub frames: u64,
    /// The acknowledgements.
    pub frames_ack: u64,
    /// The MAC's own frames that served them.
    pub frames_control: u64,
    /// Datagrams, or segments of TCP.
    pub datagrams: u64,
    /// Octets in them: payload of UDP or TCP.
    pub bytes_payload: u64,
}

/// The energy that a device used, in millijoules by what used it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// The CPU while it computes or waits actively.
    pub cpu_mj: f64,
    /// The TPM while it computes, where the device has one.
    pub tpm_mj: f64,
    /// The radio while it sends.
    pub tx_mj: f64,
    /// The radio while it receives a frame.
    pub rx_mj: f64,
    /// The radio while it listens and receives nothing.
    pub listen_mj: f64,
    /// CPU and radio asleep.
    pub sleep_mj: f64,
}

impl Energy {
    /// The sum.
    pub fn total_mj(&self) -> f64 {
        self.cpu_mj + self.tpm_mj + self.tx_mj + self.rx_mj + self.listen_mj + self.sleep_mj
    }
}

/// What was measured of one handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The seed of the world: with the scenario it reproduces the handshake, bit for bit.
    pub seed: u64,
    /// The node that opened the session.
    pub client: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// From the client's first datagram (over TCP: its SYN) handed to the network until both ends have verified the
    /// peer's Finished, in seconds. `None` if that did not happen.
    pub duration_s: Option<f64>,
    /// PSDU octets of all data frames that carried handshake data, in both directions, over all hops, repetitions included.
    pub bytes_phy: u64,
    /// PSDU octets of their acknowledgements.
    pub bytes_ack: u64,
    /// PSDU octets of the MAC's own frames that served them: strobes and their answers, data requests.
    pub bytes_control: u64,
    /// The data frames, repetitions included.
    pub frames: u64,
    /// The acknowledgements.
    pub frames_ack: u64,
    /// The MAC's own frames that served them.
    pub frames_control: u64,
    /// Datagrams that the two ends sent; over TCP its segments, acknowledgements among them.
    pub datagrams: u64,
    /// Octets in those datagrams: payload of UDP or TCP.
    pub bytes_payload: u64,
    /// Datagrams sent again because something in them had not arrived.
    pub retransmissions_needed: u64,
    /// Datagrams sent again although all that was in them arrived, or was on its way and arrived later.
    pub retransmissions_spurious: u64,
    /// Those of them that the server sent, or a proxy in its name.
    pub retransmissions_spurious_server: u64,
    /// Datagrams that the network lost, those of a proxy among them; not those that the border router held back for good.
    pub datagrams_lost: u64,
    /// How many datagrams were lost or held back, by reason. The reasons are those of [`DropReason`](slowhand_net::drop_reason::DropReason::name).
    pub lost_because: BTreeMap<&'static str, u64>,
    /// How long the client computed, in seconds.
    pub compute_client_s: f64,
    /// How long the server computed for this handshake, in seconds.
    pub compute_server_s: f64,
    /// What the client used from its first datagram to the end of the handshake.
    pub energy_client: Energy,
    /// The most frames that ever waited in the queue of each node, by node.
    pub queue_peak: Arc<[u64]>,
    /// The most octets that were ever in reassembly at each node, by node.
    pub reassembly_peak_bytes: Arc<[u64]>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers, some of them missing.
    OptF64(Vec<Option<f64>>),
    /// Words.
    Text(Vec<String>),
    /// Lists of whole numbers.
    Lists(Vec<Arc<[u64]>>),
}

/// The records as a table: fixed columns, units in their names.
pub fn columns(records: &[Record]) -> Vec<(&'static str, Column)> {
    let whole = |value: fn(&Record) -> u64| Column::U64(records.iter().map(value).collect());
    let number = |value: fn(&Record) -> f64| Column::F64(records.iter().map(value).collect());
    let lists =
        |value: fn(&Record) -> &Arc<[u64]>| Column::Lists(records.iter().map(|r| Arc::clone(value(r))).collect());
    vec![
        ("seed", whole(|r| r.seed)),
        ("client", whole(|r| r.client.into())),
        ("outcome", Column::Text(records.iter().map(|r| r.outcome.name().to_owned()).collect())),
        ("duration_s", Column::OptF64(records.iter().map(|r| r.duration_s).collect())),
        ("bytes_phy", whole(|r| r.bytes_phy)),
        ("bytes_ack", whole(|r| r.bytes_ack)),
        ("bytes_control", whole(|r| r.bytes_control)),
        ("frames", whole(|r| r.frames)),
        ("frames_ack", whole(|r| r.frames_ack)),
        ("frames_control", whole(|r| r.frames_control)),
        ("datagrams", whole(|r| r.datagrams)),
        ("bytes_payload", whole(|r| r.bytes_payload)),
        ("retransmissions_needed", whole(|r| r.retransmissions_needed)),
        ("retransmissions_spurious", whole(|r| r.retransmissions_spurious)),
        ("retransmissions_spurious_server", whole(|r| r.retransmissions_spurious_server)),
        ("datagrams_lost", whole(|r| r.datagrams_lost)),
        ("lost_because", Column::Text(records.iter().map(|r| because(&r.lost_because)).collect())),
        ("compute_client_s", number(|r| r.compute_client_s)),
        ("compute_server_s", number(|r| r.compute_server_s)),
        ("energy_client_mj", number(|r| r.energy_client.total_mj())),
        ("energy_client_cpu_mj", number(|r| r.energy_client.cpu_mj)),
        ("energy_client_tpm_mj", number(|r| r.energy_client.tpm_mj)),
        ("energy_client_tx_mj", number(|r| r.energy_client.tx_mj)),
        ("energy_client_rx_mj", number(|r| r.energy_client.rx_mj)),
        ("energy_client_listen_mj", number(|r| r.energy_client.listen_mj)),
        ("energy_client_sleep_mj", number(|r| r.energy_client.sleep_mj)),
        ("queue_peak", lists(|r| &r.queue_peak)),
        ("reassembly_peak_bytes", lists(|r| &r.reassembly_peak_bytes)),
    ]
}

/// Reasons and counts as one word each: `injected_loss:2 queue_full:1`.
fn because(losses: &BTreeMap<&'static str, u64>) -> String {
    losses.iter().map(|(reason, count)| format!("{reason}:{count}")).collect::<Vec<_>>().join(" ")
}
