//! One row for every handshake.

mod table;

use serde::Serialize;
use slowhand_net::address::Host;
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_sessions::Role;
use std::collections::BTreeMap;
use std::sync::Arc;

use table::Value::{F64, Lists, Losses, OptF64, OptText, OptU64, Text, U64};
pub use table::{Column, Described, Field, Row, Table, columns, schema};
pub(crate) use table::{Value, described, row};

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
        let (one, other) = (self.parts(), other.parts());
        Self::of_parts(std::array::from_fn(|part| one[part] + other[part]))
    }
}

/// Part by part.
impl std::ops::Mul<f64> for Energy {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self::of_parts(self.parts().map(|part| part * factor))
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
    fn parts(self) -> [f64; 8] {
        let Self { cpu_mj, tpm_mj, tx_mj, rx_mj, listen_mj, startup_mj, idle_mj, sleep_mj } = self;
        [cpu_mj, tpm_mj, tx_mj, rx_mj, listen_mj, startup_mj, idle_mj, sleep_mj]
    }

    fn of_parts([cpu_mj, tpm_mj, tx_mj, rx_mj, listen_mj, startup_mj, idle_mj, sleep_mj]: [f64; 8]) -> Self {
        Self { cpu_mj, tpm_mj, tx_mj, rx_mj, listen_mj, startup_mj, idle_mj, sleep_mj }
    }

    /// The sum.
    pub fn total_mj(&self) -> f64 {
        self.parts().into_iter().sum()
    }
}

row! {
    /// The measurements of one handshake. Of a client that tries again after a handshake that failed: of all its attempts,
    /// and of the waits between them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Record = "One handshake. Rows are ordered by seed, then client." {
        /// The seed of the world: with the scenario it repeats the handshake, bit for bit.
        pub seed: u64 => (U64(|r| r.seed)),
        /// The node that opened the session; with server.at = "leaves", where the root opens all of them, that of the
        /// server.
        pub client: u16 => (U64(|r| r.client.into())),
        /// Its end.
        pub outcome: Outcome => {
            /// The end of the handshake: completed, gave_up (it had not ended after session.give_up_s), timed_out (a library,
            /// or TCP below it, stopped retransmitting), reset (TCP), alert (a fatal alert arrived), error (a library ended
            /// it), refused (it had no slot at the server when it gave up, server.slots) or evicted (the server ended the
            /// session, half-open or established, for another one).
            outcome: Text(|r| r.outcome.name().to_owned()),
        },
        /// From the instant at which the client's application asks for a session until both ends have verified the peer's
        /// Finished, in seconds: what the client computes before its first datagram is in it. Missing if that did not
        /// happen.
        pub duration_s: Option<f64> => (OptF64(|r| r.duration_s)),
        /// When the client first asked for a session, in seconds since the world began.
        pub start_s: f64 => (F64(|r| r.start_s)),
        /// When it had its session, or gave up for good, in seconds since the world began.
        pub end_s: f64 => (F64(|r| r.end_s)),
        /// Handshakes that the client began until it had its session or gave up for good (application.retry). All other
        /// columns are of all of them together, duration_s and the energy also of the waits between them; the outcome is
        /// that of the last one.
        pub attempts: u64 => (U64(|r| r.attempts)),
        /// Octets of all data frames that carried the handshake (PSDU), in both directions, over all hops, repetitions
        /// included.
        pub bytes_phy: u64 => (U64(|r| r.bytes_phy)),
        /// Octets of the acknowledgements of these frames.
        pub bytes_ack: u64 => (U64(|r| r.bytes_ack)),
        /// Octets of the link layer's own frames that served them: strobes and their answers, data requests.
        pub bytes_control: u64 => (U64(|r| r.bytes_control)),
        /// The data frames, repetitions included.
        pub frames: u64 => (U64(|r| r.frames)),
        /// The acknowledgements.
        pub frames_ack: u64 => (U64(|r| r.frames_ack)),
        /// The link layer's own frames that served them.
        pub frames_control: u64 => (U64(|r| r.frames_control)),
        /// Datagrams that the two ends sent; over TCP its segments, over DCCP its packets, acknowledgements among them.
        pub datagrams: u64 => (U64(|r| r.datagrams)),
        /// Octets in these datagrams: payload of UDP, TCP or DCCP.
        pub bytes_payload: u64 => (U64(|r| r.bytes_payload)),
        /// Segments that the TCP proxy of the border router sent in the name of the two ends. They are not among the
        /// datagrams above; the repeated, lost and waiting ones below are of both.
        pub datagrams_proxy: u64 => (U64(|r| r.datagrams_proxy)),
        /// Datagrams sent again because something in them had not arrived.
        pub retransmissions_needed: u64 => (U64(|r| r.retransmissions_needed)),
        /// Datagrams sent again although all that was in them arrived, or was on its way and arrived later.
        pub retransmissions_spurious: u64 => (U64(|r| r.retransmissions_spurious)),
        /// The spurious ones that the server sent, or a proxy in its name.
        pub retransmissions_spurious_server: u64 => (U64(|r| r.retransmissions_spurious_server)),
        /// Datagrams that the network lost, also of datagrams_proxy; not those that the border router held back for good.
        pub datagrams_lost: u64 => (U64(|r| r.datagrams_lost)),
        /// Datagrams neither delivered nor lost when the world ended, a minute after its last handshake: they wait for a
        /// link or a radio that is off, or in a long queue.
        pub datagrams_waiting: u64 => (U64(|r| r.datagrams_waiting)),
        /// Datagrams that were lost or held back, by reason and place.
        pub losses: Vec<Loss> => {
            /// Datagrams that were lost or held back, by reason: `injected_loss:2 queue_full:1`.
            lost_because: Text(|r| because(&r.lost_because())),
        },
        /// The time for which the client computed, in seconds.
        pub compute_client_s: f64 => (F64(|r| r.compute_client_s)),
        /// The time for which the server computed for this handshake, in seconds.
        pub compute_server_s: f64 => (F64(|r| r.compute_server_s)),
        /// Energy that the client used during the phase [`Handshake`](Phase::Handshake).
        pub energy_client: Energy => {
            /// Energy that the client used during the time of duration_s, in millijoules: the sum of the columns below.
            energy_client_mj: F64(|r| r.energy_client.total_mj()),
            /// The CPU of the client while it computes, waits actively, wakes up or handles frames.
            energy_client_cpu_mj: F64(|r| r.energy_client.cpu_mj),
            /// The TPM of the client while it computes, where the device has one.
            energy_client_tpm_mj: F64(|r| r.energy_client.tpm_mj),
            /// The radio of the client while it sends.
            energy_client_tx_mj: F64(|r| r.energy_client.tx_mj),
            /// The radio of the client while it receives a frame.
            energy_client_rx_mj: F64(|r| r.energy_client.rx_mj),
            /// The radio of the client while it listens and receives nothing.
            energy_client_listen_mj: F64(|r| r.energy_client.listen_mj),
            /// The radio of the client while it starts or ramps up, where the device says what that takes.
            energy_client_startup_mj: F64(|r| r.energy_client.startup_mj),
            /// The radio of the client while it is ready, and neither listens nor sends, where the device says what that
            /// takes.
            energy_client_idle_mj: F64(|r| r.energy_client.idle_mj),
            /// CPU and radio of the client asleep.
            energy_client_sleep_mj: F64(|r| r.energy_client.sleep_mj),
        },
        /// The most frames that ever waited in the queue of each node, by node.
        pub queue_peak: Arc<[u64]> => (Lists(|r| &r.queue_peak)),
        /// The most octets that were ever in reassembly at each node, by node.
        pub reassembly_peak_bytes: Arc<[u64]> => (Lists(|r| &r.reassembly_peak_bytes)),
        /// Why it failed. `None` if it did not, or if it took too long.
        pub failure: Option<Failure> => {
            /// The end that failed first: client or server. Missing if none did.
            failure_end: OptText(|r| r.failure.as_ref().map(|failure| failure.end_name().to_owned())),
            /// The words of its library, or of TCP below it; or what became of its slot at the server.
            failure_reason: OptText(|r| r.failure.as_ref().map(|failure| failure.reason.clone())),
            // Of the field `losses`. It stands here because the order of the columns is fixed.
            /// Datagrams that were lost or held back, by reason and place. The node is missing on the Internet.
            losses: Losses(|r| &r.losses),
        },
        /// The datagrams of other traffic that were sent during the handshake.
        pub traffic: Traffic => {
            /// The datagrams of other traffic that were sent during the handshake.
            traffic_sent: U64(|r| r.traffic.sent),
            /// The number of them that arrived. Others that were not lost were still on their way at the end.
            traffic_delivered: U64(|r| r.traffic.delivered),
            /// The number of them that were lost.
            traffic_lost: U64(|r| r.traffic.lost()),
            /// Lost ones by reason, as in lost_because.
            traffic_lost_because: Text(|r| because(&r.traffic.lost_because())),
            /// The mean time of those that arrived, from the sender's network layer to the receiver's, in seconds.
            traffic_latency_mean_s: OptF64(|r| r.traffic.latency_mean_s),
            /// The 95th percentile of the same.
            traffic_latency_p95_s: OptF64(|r| r.traffic.latency_p95_s),
        },
        /// The energy of the server, if it is a node other than the border router.
        pub energy_server: Option<Energy> => {
            /// Energy that the server used during the time of duration_s, in millijoules, also for other clients on its radio.
            /// Missing if the server is the border router, or behind it.
            energy_server_mj: OptF64(|r| r.energy_server.map(|energy| energy.total_mj())),
        },
        /// The application's data after the handshake, and those that were sent before its end. `None` if there
        /// were none.
        pub data: Option<DataReport> => {
            /// The end of the requests after the handshake (application.requests), as outcome. Missing if there were none.
            data_outcome: OptText(|r| r.data.as_ref().map(|data| data.outcome.name().to_owned())),
            /// From the end of duration_s until the last response has arrived, and all that was sent for it has arrived or
            /// was lost, in seconds. Missing if that did not happen.
            data_s: OptF64(|r| r.data.as_ref()?.duration_s),
            /// Datagrams that the two ends sent for the requests and their responses; over TCP its segments.
            data_datagrams: OptU64(|r| Some(r.data.as_ref()?.costs.datagrams)),
            /// Octets in these datagrams: payload of UDP, TCP or DCCP.
            data_bytes_payload: OptU64(|r| Some(r.data.as_ref()?.costs.bytes_payload)),
            /// The data frames that carried them, over all hops, repetitions included.
            data_frames: OptU64(|r| Some(r.data.as_ref()?.costs.frames)),
            /// Octets of these frames (PSDU).
            data_bytes_phy: OptU64(|r| Some(r.data.as_ref()?.costs.bytes_phy)),
            /// Energy that the client used during the time of data_s, in millijoules.
            energy_client_data_mj: OptF64(|r| Some(r.data.as_ref()?.energy_client.total_mj())),
            /// The end at which the requests after the handshake failed first: client or server. Missing if they did at
            /// none.
            data_failure_end: OptText(|r| Some(r.data.as_ref()?.failure.as_ref()?.end_name().to_owned())),
            /// Why, as failure_reason.
            data_failure_reason: OptText(|r| Some(r.data.as_ref()?.failure.as_ref()?.reason.clone())),
        },
    }
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
    /// The mean time of those that arrived, from the sender's network layer to the receiver's, in seconds.
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

/// Columns that identify a record; all other numbers are measured.
const IDENTIFYING: [&str; 2] = ["seed", "client"];

/// A column of numbers that are measured.
pub(crate) type Quantity = Described<Record>;

/// The quantities measured of each handshake, in the order of the columns.
pub(crate) fn quantities() -> impl Iterator<Item = Quantity> {
    let is_number = |value: &Value<Record>| !matches!(value, Text(_) | OptText(_) | Losses(_));
    let is_measured = move |column: &Quantity| !IDENTIFYING.contains(&column.field.name) && is_number(&column.value);
    Record::described().into_iter().filter(is_measured)
}

impl Quantity {
    /// True if all values are whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.value, U64(_) | OptU64(_) | Lists(_))
    }

    /// The value of a record, if it has one; of a list, its greatest element.
    pub(crate) fn of(&self, record: &Record) -> Option<f64> {
        match self.value {
            U64(value) => Some(value(record) as f64),
            OptU64(value) => value(record).map(|value| value as f64),
            F64(value) => Some(value(record)),
            OptF64(value) => value(record),
            Lists(value) => Some(value(record).iter().max().map_or(0.0, |&max| max as f64)),
            Text(_) | OptText(_) | Losses(_) => None,
        }
    }
}

/// Reasons and counts as one word each: `injected_loss:2 queue_full:1`.
fn because(losses: &BTreeMap<&'static str, u64>) -> String {
    losses.iter().map(|(reason, count)| format!("{reason}:{count}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
