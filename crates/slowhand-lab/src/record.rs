//! One row for every handshake.

mod table;

use serde::Serialize;
use slowhand_net::address::Host;
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_sessions::Role;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use table::{Column, Field, Table, row_schema};

/// The end of a handshake.
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
    /// The server had no slot for the session (`server.slots`) when the handshake had taken too long.
    Refused,
    /// The server ended the session, half-open or established, for another one.
    Evicted,
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
            Self::Refused => "refused",
            Self::Evicted => "evicted",
        }
    }
}

/// Why a handshake or a conversation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The end that failed first.
    pub end: Role,
    /// The words of its library, or of TCP below it; or the fate of its slot at the server.
    pub reason: String,
}

impl Failure {
    /// The name of the end, in records and JSON.
    pub const fn end_name(&self) -> &'static str {
        self.end.name()
    }
}

/// Datagrams that were lost, or held back, at one place for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why.
    pub reason: DropReason,
    /// Where: the node that gave them up, or the host to which they were on their way.
    pub host: Host,
    /// The number of these datagrams.
    pub count: u64,
    /// The content of the reassembly buffers then, if they were full.
    pub holders: Holders,
}

/// The content of a node's reassembly buffers when a datagram found them full. Of several such losses: the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Holders {
    /// The datagrams in the buffers.
    pub datagrams: u64,
    /// Datagrams of these that had lost a fragment, at this node or at another: they only waited for the end of the reassembly
    /// timer.
    pub lost: u64,
    /// Lost ones of these whose fragment had found reassembly buffers full itself.
    pub refused: u64,
}

impl Holders {
    /// The content of the buffers, where `reason_of` says why a datagram was lost, if it was.
    pub(crate) fn of(datagrams: &[DatagramId], reason_of: impl Fn(DatagramId) -> Option<DropReason>) -> Self {
        let mut holders = Self { datagrams: datagrams.len() as u64, ..Self::default() };
        for reason in datagrams.iter().filter_map(|&datagram| reason_of(datagram)) {
            holders.lost += 1;
            holders.refused += u64::from(reason == DropReason::ReassemblyFull);
        }
        holders
    }
}

impl std::ops::AddAssign for Holders {
    fn add_assign(&mut self, other: Self) {
        self.datagrams += other.datagrams;
        self.lost += other.lost;
        self.refused += other.refused;
    }
}

impl Loss {
    /// The number of the node. `None` for a host on the Internet.
    pub const fn node(&self) -> Option<u16> {
        match self.host {
            Host::Node(node) => Some(node.0),
            Host::Internet => None,
        }
    }
}

/// A part of a conversation. What is sent in a phase is accounted to it. What an application writes is accounted to the
/// phase `Data` or a later one, also where the other end has not verified the peer's Finished yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// From the instant at which the client's application asks for a session until both ends have verified the peer's
    /// Finished. What the client computes before its first datagram is in it. The instant at which a program asks is not
    /// known: its handshake begins with its first datagram.
    Handshake,
    /// From then until an end closes its session.
    Data,
    /// From then until the conversation is over. Over TLS, this has the close_notify alert and its TCP acknowledgement.
    /// It has no FIN: the model does not close the TCP connection.
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
    /// The end of the conversation: [`Outcome::Completed`] if the applications of both ends had finished.
    pub outcome: Outcome,
    /// Why it failed. `None` if it did not, or if it took too long.
    pub failure: Option<Failure>,
    /// The phases that there were, in their order.
    pub phases: Vec<PhaseReport>,
}

impl Conversation {
    /// The records of the handshakes alone.
    pub(crate) fn handshakes(conversations: Vec<Self>) -> Vec<Record> {
        conversations.into_iter().map(|conversation| conversation.handshake).collect()
    }
}

/// The report of a phase of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    /// Which phase.
    pub phase: Phase,
    /// The time that it lasted, in seconds.
    pub duration_s: f64,
    /// The costs of what was sent in it.
    pub costs: Costs,
    /// The energy that the client's device used during the phase.
    pub energy_client: Energy,
}

/// The datagrams of the two ends in a phase of a conversation, and their cost on the air, over all hops.
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
    /// Datagrams, segments of TCP, or packets of DCCP.
    pub datagrams: u64,
    /// Octets in them: payload of UDP, TCP or DCCP.
    pub bytes_payload: u64,
}

/// The energy that a device used, in millijoules by what used it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// The CPU while it computes, waits actively, wakes up or handles frames.
    pub cpu_mj: f64,
    /// The TPM while it computes, where the device has one.
    pub tpm_mj: f64,
    /// The radio while it sends.
    pub tx_mj: f64,
    /// The radio while it receives a frame.
    pub rx_mj: f64,
    /// The radio while it listens and receives nothing.
    pub listen_mj: f64,
    /// The radio while it starts or ramps up, where the device says what that takes.
    pub startup_mj: f64,
    /// The radio while it is ready, and neither listens nor sends, where the device says what that takes.
    pub idle_mj: f64,
    /// CPU and radio asleep.
    pub sleep_mj: f64,
}

impl std::iter::Sum for Costs {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, more| Self {
            bytes_phy: sum.bytes_phy + more.bytes_phy,
            bytes_ack: sum.bytes_ack + more.bytes_ack,
            bytes_control: sum.bytes_control + more.bytes_control,
            frames: sum.frames + more.frames,
            frames_ack: sum.frames_ack + more.frames_ack,
            frames_control: sum.frames_control + more.frames_control,
            datagrams: sum.datagrams + more.datagrams,
            bytes_payload: sum.bytes_payload + more.bytes_payload,
        })
    }
}

/// Part by part.
impl std::ops::Add for Energy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu_mj: self.cpu_mj + other.cpu_mj,
            tpm_mj: self.tpm_mj + other.tpm_mj,
            tx_mj: self.tx_mj + other.tx_mj,
            rx_mj: self.rx_mj + other.rx_mj,
            listen_mj: self.listen_mj + other.listen_mj,
            startup_mj: self.startup_mj + other.startup_mj,
            idle_mj: self.idle_mj + other.idle_mj,
            sleep_mj: self.sleep_mj + other.sleep_mj,
        }
    }
}

/// Part by part.
impl std::ops::Mul<f64> for Energy {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self {
            cpu_mj: self.cpu_mj * factor,
            tpm_mj: self.tpm_mj * factor,
            tx_mj: self.tx_mj * factor,
            rx_mj: self.rx_mj * factor,
            listen_mj: self.listen_mj * factor,
            startup_mj: self.startup_mj * factor,
            idle_mj: self.idle_mj * factor,
            sleep_mj: self.sleep_mj * factor,
        }
    }
}

/// Part by part.
impl std::ops::Sub for Energy {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Energy {
    /// The sum.
    pub fn total_mj(&self) -> f64 {
        self.cpu_mj
            + self.tpm_mj
            + self.tx_mj
            + self.rx_mj
            + self.listen_mj
            + self.startup_mj
            + self.idle_mj
            + self.sleep_mj
    }
}

/// The measurements of one handshake. Of a client that tries again after a handshake that failed: of all its attempts, and
/// of the waits between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The seed of the world: with the scenario it reproduces the handshake, bit for bit.
    pub seed: u64,
    /// The node that opened the session; with `server.at = "leaves"`, where the root opens all of them, that of the server.
    pub client: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed. `None` if it did not, or if it took too long.
    pub failure: Option<Failure>,
    /// How long the phase [`Handshake`](Phase::Handshake) took, in seconds. `None` if the handshake did not complete.
    pub duration_s: Option<f64>,
    /// When the client first asked for a session, in seconds since the world began.
    pub start_s: f64,
    /// When it had its session, or gave up for good.
    pub end_s: f64,
    /// How often it tried.
    pub attempts: u64,
    /// PSDU octets of all data frames that carried handshake data, in both directions, over all hops, repetitions
    /// included.
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
    /// Octets in those datagrams: payload of UDP, TCP or DCCP.
    pub bytes_payload: u64,
    /// Segments that the border router's TCP proxy sent in the name of the two ends. They are not in `datagrams`; what is
    /// counted below has them too.
    pub datagrams_proxy: u64,
    /// Datagrams sent again because something in them had not arrived.
    pub retransmissions_needed: u64,
    /// Datagrams sent again although all that was in them arrived, or was on its way and arrived later.
    pub retransmissions_spurious: u64,
    /// Those of them that the server sent, or a proxy in its name.
    pub retransmissions_spurious_server: u64,
    /// Datagrams that the network lost; not those that the border router held back for good.
    pub datagrams_lost: u64,
    /// Datagrams that were neither delivered nor lost when the world ended: a minute after its last handshake. They
    /// wait for a link or a radio that is off, or in a long queue.
    pub datagrams_waiting: u64,
    /// How many datagrams were lost or held back, by reason and place.
    pub losses: Vec<Loss>,
    /// How long the client computed, in seconds.
    pub compute_client_s: f64,
    /// How long the server computed for this handshake, in seconds.
    pub compute_server_s: f64,
    /// What the client used during the phase [`Handshake`](Phase::Handshake).
    pub energy_client: Energy,
    /// The same of the server, if it is a node other than the border router.
    pub energy_server: Option<Energy>,
    /// The most frames that ever waited in the queue of each node, by node.
    pub queue_peak: Arc<[u64]>,
    /// The most octets that were ever in reassembly at each node, by node.
    pub reassembly_peak_bytes: Arc<[u64]>,
    /// The datagrams of other traffic that were sent during the handshake.
    pub traffic: Traffic,
    /// What the application's data took after the handshake, and what was sent of them before its end. `None` if there were none.
    pub data: Option<DataReport>,
}

/// The report of an application's data, from the end of the handshake to the end of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct DataReport {
    /// The end of the conversation.
    pub outcome: Outcome,
    /// Why it failed. `None` if it did not, or if it took too long.
    pub failure: Option<Failure>,
    /// The time that it took, in seconds. `None` if it did not complete.
    pub duration_s: Option<f64>,
    /// The costs of what was sent.
    pub costs: Costs,
    /// The energy that the client's device used.
    pub energy_client: Energy,
}

/// The fate of the datagrams of other traffic that were sent in a time. Those that were neither delivered nor lost
/// were still on their way when the world ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The number sent.
    pub sent: u64,
    /// The number that arrived.
    pub delivered: u64,
    /// The number lost, by the first reason.
    pub losses: BTreeMap<DropReason, u64>,
    /// The time that those that arrived took, from the sender's network layer to the receiver's: the mean, in seconds.
    pub latency_mean_s: Option<f64>,
    /// The 95th percentile of the same.
    pub latency_p95_s: Option<f64>,
}

impl Traffic {
    /// The number lost.
    pub fn lost(&self) -> u64 {
        self.losses.values().sum()
    }

    /// The number lost, by the [name](DropReason::name) of the reason.
    pub fn lost_because(&self) -> BTreeMap<&'static str, u64> {
        self.losses.iter().map(|(reason, count)| (reason.name(), *count)).collect()
    }
}

impl Record {
    /// The number of datagrams lost or held back, by the [name](DropReason::name) of the reason.
    pub fn lost_because(&self) -> BTreeMap<&'static str, u64> {
        let mut reasons = BTreeMap::new();
        for loss in &self.losses {
            *reasons.entry(loss.reason.name()).or_default() += loss.count;
        }
        reasons
    }
}

/// The way in which the value of a column follows from a record.
#[derive(Clone, Copy)]
enum Value {
    U64(fn(&Record) -> u64),
    OptU64(fn(&Record) -> Option<u64>),
    F64(fn(&Record) -> f64),
    OptF64(fn(&Record) -> Option<f64>),
    Text(fn(&Record) -> String),
    OptText(fn(&Record) -> Option<String>),
    Lists(fn(&Record) -> &Arc<[u64]>),
    Losses(fn(&Record) -> &Vec<Loss>),
}

/// The columns, in their fixed order: the name, which contains the unit, the meaning, and the value.
const COLUMNS: [(&str, &str, Value); 54] = [
    ("seed", "The seed of the world: with the scenario it repeats the handshake, bit for bit.", Value::U64(|r| r.seed)),
    (
        "client",
        "The node that opened the session; with server.at = \"leaves\", where the root opens all of them, that of the \
         server.",
        Value::U64(|r| r.client.into()),
    ),
    (
        "outcome",
        "How the handshake ended: completed, gave_up (it had not ended after session.give_up_s), timed_out (a \
         library, or TCP below it, stopped retransmitting), reset (TCP), alert (a fatal alert arrived), error \
         (a library ended it), refused (it had no slot at the server when it gave up, server.slots) or evicted (the \
         server ended the session, half-open or established, for another one).",
        Value::Text(|r| r.outcome.name().to_owned()),
    ),
    (
        "duration_s",
        "From the instant at which the client's application asks for a session until both ends have verified the \
         peer's Finished, in seconds: what the client computes before its first datagram is in it. Missing if that did \
         not happen.",
        Value::OptF64(|r| r.duration_s),
    ),
    (
        "start_s",
        "When the client first asked for a session, in seconds since the world began.",
        Value::F64(|r| r.start_s),
    ),
    (
        "end_s",
        "When it had its session, or gave up for good, in seconds since the world began.",
        Value::F64(|r| r.end_s),
    ),
    (
        "attempts",
        "How many handshakes the client began until it had its session or gave up for good (application.retry). All other \
         columns are of all of them together, duration_s and the energy also of the waits between them; the outcome is \
         that of the last one.",
        Value::U64(|r| r.attempts),
    ),
    (
        "bytes_phy",
        "Octets of all data frames that carried the handshake (PSDU), in both directions, over all hops, \
         repetitions included.",
        Value::U64(|r| r.bytes_phy),
    ),
    ("bytes_ack", "Octets of the acknowledgements of these frames.", Value::U64(|r| r.bytes_ack)),
    (
        "bytes_control",
        "Octets of the link layer's own frames that served them: strobes and their answers, data requests.",
        Value::U64(|r| r.bytes_control),
    ),
    ("frames", "The data frames, repetitions included.", Value::U64(|r| r.frames)),
    ("frames_ack", "The acknowledgements.", Value::U64(|r| r.frames_ack)),
    ("frames_control", "The link layer's own frames that served them.", Value::U64(|r| r.frames_control)),
    (
        "datagrams",
        "Datagrams that the two ends sent; over TCP its segments, over DCCP its packets, acknowledgements among them.",
        Value::U64(|r| r.datagrams),
    ),
    ("bytes_payload", "Octets in these datagrams: payload of UDP, TCP or DCCP.", Value::U64(|r| r.bytes_payload)),
    (
        "datagrams_proxy",
        "Segments that the TCP proxy of the border router sent in the name of the two ends. They are not among the \
         datagrams above; the repeated, lost and waiting ones below are of both.",
        Value::U64(|r| r.datagrams_proxy),
    ),
    (
        "retransmissions_needed",
        "Datagrams sent again because something in them had not arrived.",
        Value::U64(|r| r.retransmissions_needed),
    ),
    (
        "retransmissions_spurious",
        "Datagrams sent again although all that was in them arrived, or was on its way and arrived later.",
        Value::U64(|r| r.retransmissions_spurious),
    ),
    (
        "retransmissions_spurious_server",
        "Those of the spurious ones that the server sent, or a proxy in its name.",
        Value::U64(|r| r.retransmissions_spurious_server),
    ),
    (
        "datagrams_lost",
        "Datagrams that the network lost, also of datagrams_proxy; not those that the border router held back for \
         good.",
        Value::U64(|r| r.datagrams_lost),
    ),
    (
        "datagrams_waiting",
        "Datagrams neither delivered nor lost when the world ended, a minute after its last handshake: they wait for a \
         link or a radio that is off, or in a long queue.",
        Value::U64(|r| r.datagrams_waiting),
    ),
    (
        "lost_because",
        "How many datagrams were lost or held back, by reason: `injected_loss:2 queue_full:1`.",
        Value::Text(|r| because(&r.lost_because())),
    ),
    ("compute_client_s", "How long the client computed, in seconds.", Value::F64(|r| r.compute_client_s)),
    (
        "compute_server_s",
        "How long the server computed for this handshake, in seconds.",
        Value::F64(|r| r.compute_server_s),
    ),
    (
        "energy_client_mj",
        "What the client used during the time of duration_s, in millijoules: the sum of the columns below.",
        Value::F64(|r| r.energy_client.total_mj()),
    ),
    (
        "energy_client_cpu_mj",
        "The CPU of the client while it computes, waits actively, wakes up or handles frames.",
        Value::F64(|r| r.energy_client.cpu_mj),
    ),
    (
        "energy_client_tpm_mj",
        "The TPM of the client while it computes, where the device has one.",
        Value::F64(|r| r.energy_client.tpm_mj),
    ),
    ("energy_client_tx_mj", "The radio of the client while it sends.", Value::F64(|r| r.energy_client.tx_mj)),
    (
        "energy_client_rx_mj",
        "The radio of the client while it receives a frame.",
        Value::F64(|r| r.energy_client.rx_mj),
    ),
    (
        "energy_client_listen_mj",
        "The radio of the client while it listens and receives nothing.",
        Value::F64(|r| r.energy_client.listen_mj),
    ),
    (
        "energy_client_startup_mj",
        "The radio of the client while it starts or ramps up, where the device says what that takes.",
        Value::F64(|r| r.energy_client.startup_mj),
    ),
    (
        "energy_client_idle_mj",
        "The radio of the client while it is ready, and neither listens nor sends, where the device says what that takes.",
        Value::F64(|r| r.energy_client.idle_mj),
    ),
    ("energy_client_sleep_mj", "CPU and radio of the client asleep.", Value::F64(|r| r.energy_client.sleep_mj)),
    (
        "queue_peak",
        "The most frames that ever waited in the queue of each node, by node.",
        Value::Lists(|r| &r.queue_peak),
    ),
    (
        "reassembly_peak_bytes",
        "The most octets that were ever in reassembly at each node, by node.",
        Value::Lists(|r| &r.reassembly_peak_bytes),
    ),
    (
        "failure_end",
        "The end that failed first: client or server. Missing if none did.",
        Value::OptText(|r| r.failure.as_ref().map(|failure| failure.end_name().to_owned())),
    ),
    (
        "failure_reason",
        "What its library says, or TCP below it; or what became of its slot at the server.",
        Value::OptText(|r| r.failure.as_ref().map(|failure| failure.reason.clone())),
    ),
    (
        "losses",
        "How many datagrams were lost or held back, by reason and place. The node is missing on the Internet.",
        Value::Losses(|r| &r.losses),
    ),
    (
        "traffic_sent",
        "The datagrams of other traffic that were sent during the handshake.",
        Value::U64(|r| r.traffic.sent),
    ),
    (
        "traffic_delivered",
        "How many of them arrived. Those that were neither delivered nor lost were still on their way at the \
         end.",
        Value::U64(|r| r.traffic.delivered),
    ),
    ("traffic_lost", "How many of them were lost.", Value::U64(|r| r.traffic.lost())),
    (
        "traffic_lost_because",
        "The same by reason, as in lost_because.",
        Value::Text(|r| because(&r.traffic.lost_because())),
    ),
    (
        "traffic_latency_mean_s",
        "How long those that arrived took, from the sender's network layer to the receiver's: the mean, in \
         seconds.",
        Value::OptF64(|r| r.traffic.latency_mean_s),
    ),
    ("traffic_latency_p95_s", "The 95th percentile of the same.", Value::OptF64(|r| r.traffic.latency_p95_s)),
    (
        "energy_server_mj",
        "What the server used during the time of duration_s, in millijoules, also for other clients on its radio. Missing \
         if the server is the border router, or behind it.",
        Value::OptF64(|r| r.energy_server.map(|energy| energy.total_mj())),
    ),
    (
        "data_outcome",
        "How the requests after the handshake ended (application.requests), as outcome. Missing if there were none.",
        Value::OptText(|r| r.data.as_ref().map(|data| data.outcome.name().to_owned())),
    ),
    (
        "data_s",
        "From the end of duration_s until the last response has arrived, and all that was sent for it has arrived or was lost, \
         in seconds. Missing if that did not happen.",
        Value::OptF64(|r| r.data.as_ref()?.duration_s),
    ),
    (
        "data_datagrams",
        "Datagrams that the two ends sent for the requests and their responses; over TCP its segments.",
        Value::OptU64(|r| Some(r.data.as_ref()?.costs.datagrams)),
    ),
    (
        "data_bytes_payload",
        "Octets in these datagrams: payload of UDP, TCP or DCCP.",
        Value::OptU64(|r| Some(r.data.as_ref()?.costs.bytes_payload)),
    ),
    (
        "data_frames",
        "The data frames that carried them, over all hops, repetitions included.",
        Value::OptU64(|r| Some(r.data.as_ref()?.costs.frames)),
    ),
    ("data_bytes_phy", "Octets of these frames (PSDU).", Value::OptU64(|r| Some(r.data.as_ref()?.costs.bytes_phy))),
    (
        "energy_client_data_mj",
        "What the client used during the time of data_s, in millijoules.",
        Value::OptF64(|r| Some(r.data.as_ref()?.energy_client.total_mj())),
    ),
    (
        "data_failure_end",
        "The end at which the requests after the handshake failed first: client or server. Missing if they did at none.",
        Value::OptText(|r| Some(r.data.as_ref()?.failure.as_ref()?.end_name().to_owned())),
    ),
    (
        "data_failure_reason",
        "Why, as failure_reason.",
        Value::OptText(|r| Some(r.data.as_ref()?.failure.as_ref()?.reason.clone())),
    ),
];

/// The records as a table.
pub fn columns(records: &[Record]) -> Table {
    COLUMNS.iter().map(|&(name, about, value)| (Field { name, about }, value.column(records))).collect()
}

/// Columns that identify a record; all other numbers are measured.
const IDENTIFYING: [&str; 2] = ["seed", "client"];

/// The quantities measured of each handshake, in the order of the columns.
pub(crate) fn quantities() -> impl Iterator<Item = Quantity> {
    let is_measured = |(name, _, value): &(&'static str, _, Value)| !IDENTIFYING.contains(name) && value.is_number();
    COLUMNS.into_iter().filter(is_measured).map(|(name, _, value)| Quantity { name, value })
}

/// A column of numbers that are measured.
#[derive(Clone, Copy)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    value: Value,
}

impl Quantity {
    /// True if all values are whole numbers.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self.value, Value::U64(_) | Value::OptU64(_) | Value::Lists(_))
    }

    /// The value of a record, if it has one; of a list, its greatest element.
    pub(crate) fn of(self, record: &Record) -> Option<f64> {
        match self.value {
            Value::U64(value) => Some(value(record) as f64),
            Value::OptU64(value) => value(record).map(|value| value as f64),
            Value::F64(value) => Some(value(record)),
            Value::OptF64(value) => value(record),
            Value::Lists(value) => Some(value(record).iter().max().map_or(0.0, |&max| max as f64)),
            Value::Text(_) | Value::OptText(_) | Value::Losses(_) => None,
        }
    }
}

impl Value {
    fn is_number(self) -> bool {
        !matches!(self, Self::Text(_) | Self::OptText(_) | Self::Losses(_))
    }

    fn column(self, records: &[Record]) -> Column {
        let records = records.iter();
        match self {
            Self::U64(value) => Column::U64(records.map(value).collect()),
            Self::OptU64(value) => Column::OptU64(records.map(value).collect()),
            Self::F64(value) => Column::F64(records.map(value).collect()),
            Self::OptF64(value) => Column::OptF64(records.map(value).collect()),
            Self::Text(value) => Column::Text(records.map(value).collect()),
            Self::OptText(value) => Column::OptText(records.map(value).collect()),
            Self::Lists(value) => Column::Lists(records.map(|record| Arc::clone(value(record))).collect()),
            Self::Losses(value) => Column::Losses(records.map(|record| value(record).clone()).collect()),
        }
    }
}

/// Reasons and counts as one word each: `injected_loss:2 queue_full:1`.
fn because(losses: &BTreeMap<&'static str, u64>) -> String {
    losses.iter().map(|(reason, count)| format!("{reason}:{count}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
