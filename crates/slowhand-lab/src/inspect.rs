//! One world in detail: the time and the energy of each node, when its radio was on, and what was in its buffers.

use crate::energy::{Times, energy};
use crate::exchange::of_a_run;
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::{Column, Conversation, Energy, Field, Record, Table, columns, row_schema};
use crate::scenario::Scenario;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::observer::{BufferLevel, HandledFrames, Observer, RadioInterval, RadioTimes, RadioWork, Slots};

/// One world in detail, from time 0 to the end of its last handshake.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// One for each handshake, by client. They are the same as those of [`Plan::run`].
    pub records: Vec<Record>,
    /// One for each node of the mesh, by number. The Internet host is not included.
    pub nodes: Vec<NodeReport>,
    /// When each radio was on, ordered by node, then time. Intervals of a node do not overlap; between them its radio
    /// was off.
    pub timeline: Vec<RadioInterval>,
    /// Each change of the buffers of a node, ordered by node, then time. They are empty at the beginning.
    pub buffers: Vec<BufferLevel>,
}

/// The time and the energy of a node, by state.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeReport {
    /// The node.
    pub node: u16,
    /// The device of the node: the server's device where the server is, else the client's.
    pub device: String,
    /// All of the time. The states of the radio add up to it.
    pub elapsed: std::time::Duration,
    /// The states of its radio.
    pub radio: RadioTimes,
    /// The other work of its radio.
    pub work: RadioWork,
    /// The slots in which its radio was on, by what was sent and received. Under TSCH; else there are none.
    pub slots: Slots,
    /// The time for which it computed cryptography.
    pub computed: std::time::Duration,
    /// The time for which its MAC kept the CPU waiting actively; a wait that is not over does not count.
    pub waited: std::time::Duration,
    /// The time for which frames kept its CPU busy in time of the network.
    pub handled: std::time::Duration,
    /// The frames that its CPU handled.
    pub frames: HandledFrames,
    /// The time for which its CPU was active: all of this, and what its device takes for frames and for waking up.
    pub active: std::time::Duration,
    /// The energy that it used.
    pub energy: Energy,
    /// The most frames that ever waited in its queue.
    pub queue_peak: u64,
    /// The most octets that were ever in reassembly.
    pub reassembly_peak_bytes: u64,
}

/// Runs the world of one seed, and reports it in detail. `None` if it is interrupted.
///
/// # Errors
/// The scenario cannot be run; see [`Plan::new`].
pub fn inspect(scenario: &Scenario, seed: u64, interrupt: &Interrupt) -> Result<Option<Inspection>, PlanError> {
    let plan = Plan::new(scenario)?;
    let mut watch = Watch::default();
    let Some(finished) = plan.run_world(seed, &of_a_run(plan.exchange()), interrupt, &mut watch) else {
        return Ok(None);
    };
    let (records, end) = (Conversation::handshakes(finished.conversations), finished.end);
    let peak = |peaks: fn(&Record) -> &[u64], node: NodeId| {
        records.first().and_then(|record| peaks(record).get(node.index())).copied().unwrap_or(0)
    };
    let report = |(number, times): (u16, Times)| {
        let node = NodeId(number);
        let device = if scenario.server.at.is_node(node) { &scenario.server.device } else { &scenario.client.device };
        NodeReport {
            node: node.0,
            device: device.clone(),
            elapsed: times.elapsed,
            radio: times.radio,
            work: times.work,
            slots: times.slots,
            computed: times.computed,
            waited: times.waited,
            handled: times.handled,
            frames: times.frames,
            active: times.active(plan.device(node)),
            energy: energy(plan.device(node), times),
            queue_peak: peak(|record| &record.queue_peak, node),
            reassembly_peak_bytes: peak(|record| &record.reassembly_peak_bytes, node),
        }
    };
    let nodes = (0..).zip(finished.times).map(report).collect();
    let (timeline, buffers) = watch.until(end);
    Ok(Some(Inspection { nodes, timeline, buffers, records }))
}

/// Keeps what the radios do, and what the buffers hold.
#[derive(Default)]
pub(crate) struct Watch {
    timeline: Vec<RadioInterval>,
    buffers: Vec<BufferLevel>,
}

impl Watch {
    /// The timelines before `end`: a slot is shown in full when it begins, and datagrams travel after the last handshake.
    pub(crate) fn until(self, end: Instant) -> (Vec<RadioInterval>, Vec<BufferLevel>) {
        let Self { mut timeline, mut buffers } = self;
        timeline.retain_mut(|interval| {
            interval.to = interval.to.min(end);
            interval.from < interval.to
        });
        timeline.sort_by_key(|interval| (interval.node, interval.from));
        buffers.retain(|level| level.at <= end);
        // Of several changes at one instant the last counts, which now comes first and stays.
        buffers.reverse();
        buffers.sort_by_key(|level| (level.node, level.at));
        buffers.dedup_by_key(|level| (level.node, level.at));
        (timeline, buffers)
    }
}

impl Observer for Watch {
    fn watches_radios(&self) -> bool {
        true
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.timeline.push(*interval);
    }

    fn watches_buffers(&self) -> bool {
        true
    }

    fn buffers(&mut self, level: &BufferLevel) {
        self.buffers.push(*level);
    }
}

impl Inspection {
    /// The nodes as a table: fixed columns, units in their names.
    pub fn node_columns(&self) -> Table {
        let whole = |value: fn(&NodeReport) -> u64| Column::U64(self.nodes.iter().map(value).collect());
        let number = |value: fn(&NodeReport) -> f64| Column::F64(self.nodes.iter().map(value).collect());
        vec![
            (field("node", "The node."), whole(|n| n.node.into())),
            (
                field("device", "What it runs on: the server's device where the server is, else the client's."),
                Column::Text(self.nodes.iter().map(|n| n.device.clone()).collect()),
            ),
            (
                field("elapsed_s", "All of the time, in seconds. The states of the radio add up to it."),
                number(|n| n.elapsed.as_secs_f64()),
            ),
            (field("radio_transmit_s", "How long its radio sent."), number(|n| n.radio.transmit.as_secs_f64())),
            (field("radio_receive_s", "How long it received frames."), number(|n| n.radio.receive.as_secs_f64())),
            (
                field("radio_listen_s", "How long it listened and received nothing."),
                number(|n| n.radio.listen.as_secs_f64()),
            ),
            (field("radio_sleep_s", "How long it was off."), number(|n| n.radio.sleep.as_secs_f64())),
            (
                field("radio_ready_s", "The part of that in which it was ready: its oscillator ran."),
                number(|n| n.work.ready.as_secs_f64()),
            ),
            (field("radio_starts", "How often it left sleep: its oscillator started."), whole(|n| n.work.starts)),
            (
                field("radio_rampups", "How often it began to listen or to send, after sleep or when it was ready."),
                whole(|n| n.work.ramps),
            ),
            (
                field("slots_rx_idle", "Slots of TSCH in which it listened, and nothing came."),
                whole(|n| n.slots.rx_idle),
            ),
            (
                field("slots_tx_data_rx_ack", "Those in which it sent a frame, and received an acknowledgement."),
                whole(|n| n.slots.tx_data_rx_ack),
            ),
            (
                field("slots_tx_data_rx_ack_none", "Those in which it listened in vain for an acknowledgement."),
                whole(|n| n.slots.tx_data_rx_ack_none),
            ),
            (
                field("slots_tx_data", "Those in which it sent a frame that asks for no acknowledgement."),
                whole(|n| n.slots.tx_data),
            ),
            (
                field("slots_rx_data_tx_ack", "Those in which it received a frame, and acknowledged it."),
                whole(|n| n.slots.rx_data_tx_ack),
            ),
            (
                field("slots_rx_data", "Those in which it received a frame that it did not acknowledge."),
                whole(|n| n.slots.rx_data),
            ),
            (field("cpu_compute_s", "How long the node computed cryptography."), number(|n| n.computed.as_secs_f64())),
            (
                field(
                    "cpu_wait_s",
                    "How long its MAC kept the CPU waiting actively; a wait that is not over does not count.",
                ),
                number(|n| n.waited.as_secs_f64()),
            ),
            (
                field("cpu_handling_s", "How long frames kept its CPU busy in time of the network."),
                number(|n| n.handled.as_secs_f64()),
            ),
            (
                field("frames_handled", "The frames that its CPU handled, those of the link layer itself included."),
                whole(|n| n.frames.all),
            ),
            (
                field(
                    "cpu_active_s",
                    "How long its CPU was active: all of this, and what its device takes for frames and for waking up.",
                ),
                number(|n| n.active.as_secs_f64()),
            ),
            (
                field("energy_mj", "The energy that it used, in millijoules: the sum of the columns below."),
                number(|n| n.energy.total_mj()),
            ),
            (field("energy_cpu_mj", "The CPU while it is active."), number(|n| n.energy.cpu_mj)),
            (
                field("energy_tpm_mj", "The TPM while it computes, where the device has one."),
                number(|n| n.energy.tpm_mj),
            ),
            (field("energy_tx_mj", "The radio while it sends."), number(|n| n.energy.tx_mj)),
            (field("energy_rx_mj", "The radio while it receives a frame."), number(|n| n.energy.rx_mj)),
            (
                field("energy_listen_mj", "The radio while it listens and receives nothing."),
                number(|n| n.energy.listen_mj),
            ),
            (
                field(
                    "energy_startup_mj",
                    "The radio while it starts or ramps up, where the device says what that takes.",
                ),
                number(|n| n.energy.startup_mj),
            ),
            (
                field(
                    "energy_idle_mj",
                    "The radio while it is ready, and neither listens nor sends, where the device says what that takes.",
                ),
                number(|n| n.energy.idle_mj),
            ),
            (field("energy_sleep_mj", "CPU and radio asleep."), number(|n| n.energy.sleep_mj)),
            (field("queue_peak", "The most frames that ever waited in its queue."), whole(|n| n.queue_peak)),
            (
                field("reassembly_peak_bytes", "The most octets that were ever in reassembly."),
                whole(|n| n.reassembly_peak_bytes),
            ),
        ]
    }

    /// The timeline as a table.
    pub fn timeline_columns(&self) -> Table {
        let seconds = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
        vec![
            (field("node", "The node."), Column::U64(self.timeline.iter().map(|i| i.node.0.into()).collect())),
            (
                field(
                    "state",
                    "What its radio did: transmit, receive or listen. Between the intervals of a node its radio was off.",
                ),
                Column::Text(self.timeline.iter().map(|i| i.state.name().to_owned()).collect()),
            ),
            (
                field("from_s", "The beginning, in seconds of virtual time."),
                Column::F64(self.timeline.iter().map(|i| seconds(i.from)).collect()),
            ),
            (field("to_s", "The end."), Column::F64(self.timeline.iter().map(|i| seconds(i.to)).collect())),
        ]
    }

    /// The buffers as a table.
    pub fn buffer_columns(&self) -> Table {
        let count = |value: fn(&BufferLevel) -> usize| {
            Column::U64(self.buffers.iter().map(|level| value(level) as u64).collect())
        };
        let from = self.buffers.iter().map(|level| level.at.since(Instant::ZERO).as_secs_f64());
        vec![
            (field("node", "The node."), count(|level| level.node.index())),
            (
                field(
                    "from_s",
                    "From when on, in seconds of virtual time, its buffers held the following. Before the first row of a node they are empty.",
                ),
                Column::F64(from.collect()),
            ),
            (field("queued_frames", "Frames in the queue of the link layer."), count(|level| level.queued)),
            (field("reassembly_fragments", "Fragments in reassembly."), count(|level| level.fragments)),
            (field("reassembly_bytes", "The octets of these fragments."), count(|level| level.octets)),
            (
                field("forwarding_entries", "Virtual reassembly buffers in use (fragment forwarding)."),
                count(|level| level.forwarding),
            ),
        ]
    }
}

fn field(name: &'static str, about: &'static str) -> Field {
    Field { name, about }
}

/// The JSON Schema of a row of each table: of the records, and of those of an inspection.
pub fn table_schemas() -> [(&'static str, serde_json::Value); 4] {
    let nothing = Inspection::default();
    [
        ("records", row_schema("One handshake. Rows are ordered by seed, then client.", &columns(&[]))),
        ("nodes", row_schema("One node of the mesh in the world of one seed.", &nothing.node_columns())),
        ("timeline", row_schema("An interval in which the radio of a node was on.", &nothing.timeline_columns())),
        ("buffers", row_schema("A change in the buffers of a node.", &nothing.buffer_columns())),
    ]
}

#[cfg(test)]
mod tests;
