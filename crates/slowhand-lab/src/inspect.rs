//! One world in detail: the time and the energy of each node, when its radio was on, and what was in its buffers.

use crate::energy::{Times, energy};
use crate::exchange::of_a_run;
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::Value::{F64, Text, U64};
use crate::record::{Conversation, Described, Energy, Record, Row, described, row, schema};
use crate::scenario::Scenario;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::observer::{BufferLevel, HandledFrames, Observer, RadioInterval, RadioTimes, RadioWork, Slots};

/// One world in detail, from time 0 to the end of its last handshake.
#[derive(Clone, Debug)]
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

row! {
    /// The time and the energy of a node, by state.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NodeReport = "One node of the mesh in the world of one seed." {
        /// The node.
        pub node: u16 => (U64(|n| n.node.into())),
        /// The hardware it runs on: the server's device where the server is, else the client's.
        pub device: String => (Text(|n| n.device.clone())),
        /// All of the time, in seconds. The states of the radio add up to it.
        pub elapsed: std::time::Duration => (elapsed_s: F64(|n| n.elapsed.as_secs_f64())),
        /// The states of its radio.
        pub radio: RadioTimes => {
            /// The time for which its radio sent.
            radio_transmit_s: F64(|n| n.radio.transmit.as_secs_f64()),
            /// The time for which it received frames.
            radio_receive_s: F64(|n| n.radio.receive.as_secs_f64()),
            /// The time for which it listened and received nothing.
            radio_listen_s: F64(|n| n.radio.listen.as_secs_f64()),
            /// The time for which it was off.
            radio_sleep_s: F64(|n| n.radio.sleep.as_secs_f64()),
        },
        /// The other work of its radio.
        pub work: RadioWork => {
            /// The part of that in which it was ready: its oscillator ran.
            radio_ready_s: F64(|n| n.work.ready.as_secs_f64()),
            /// The number of times it left sleep: its oscillator started.
            radio_starts: U64(|n| n.work.starts),
            /// The number of times it began to listen or to send, after sleep or when it was ready.
            radio_rampups: U64(|n| n.work.ramps),
        },
        /// The slots in which its radio was on, by what was sent and received. Under TSCH; else there are none.
        pub slots: Slots => {
            /// Slots of TSCH in which it listened, and nothing came.
            slots_rx_idle: U64(|n| n.slots.rx_idle),
            /// Slots in which it sent a frame, and received an acknowledgement.
            slots_tx_data_rx_ack: U64(|n| n.slots.tx_data_rx_ack),
            /// Slots in which it listened in vain for an acknowledgement.
            slots_tx_data_rx_ack_none: U64(|n| n.slots.tx_data_rx_ack_none),
            /// Slots in which it sent a frame that asks for no acknowledgement.
            slots_tx_data: U64(|n| n.slots.tx_data),
            /// Slots in which it received a frame, and acknowledged it.
            slots_rx_data_tx_ack: U64(|n| n.slots.rx_data_tx_ack),
            /// Slots in which it received a frame that it did not acknowledge.
            slots_rx_data: U64(|n| n.slots.rx_data),
        },
        /// The time for which the node computed cryptography.
        pub computed: std::time::Duration => (cpu_compute_s: F64(|n| n.computed.as_secs_f64())),
        /// The time for which its MAC kept the CPU waiting actively; a wait that is not over does not count.
        pub waited: std::time::Duration => (cpu_wait_s: F64(|n| n.waited.as_secs_f64())),
        /// The time for which frames kept its CPU busy in time of the network.
        pub handled: std::time::Duration => (cpu_handling_s: F64(|n| n.handled.as_secs_f64())),
        /// The frames that its CPU handled, those of the link layer itself included.
        pub frames: HandledFrames => (frames_handled: U64(|n| n.frames.all)),
        /// The time for which its CPU was active: all of this, and what its device takes for frames and for waking up.
        pub active: std::time::Duration => (cpu_active_s: F64(|n| n.active.as_secs_f64())),
        /// The energy that it used.
        pub energy: Energy => {
            /// The energy that it used, in millijoules: the sum of the columns below.
            energy_mj: F64(|n| n.energy.total_mj()),
            /// The CPU while it is active.
            energy_cpu_mj: F64(|n| n.energy.cpu_mj),
            /// The TPM while it computes, where the device has one.
            energy_tpm_mj: F64(|n| n.energy.tpm_mj),
            /// The radio while it sends.
            energy_tx_mj: F64(|n| n.energy.tx_mj),
            /// The radio while it receives a frame.
            energy_rx_mj: F64(|n| n.energy.rx_mj),
            /// The radio while it listens and receives nothing.
            energy_listen_mj: F64(|n| n.energy.listen_mj),
            /// The radio while it starts or ramps up, where the device says what that takes.
            energy_startup_mj: F64(|n| n.energy.startup_mj),
            /// The radio while it is ready, and neither listens nor sends, where the device says what that takes.
            energy_idle_mj: F64(|n| n.energy.idle_mj),
            /// CPU and radio asleep.
            energy_sleep_mj: F64(|n| n.energy.sleep_mj),
        },
        /// The most frames that ever waited in its queue.
        pub queue_peak: u64 => (U64(|n| n.queue_peak)),
        /// The most octets that were ever in reassembly.
        pub reassembly_peak_bytes: u64 => (U64(|n| n.reassembly_peak_bytes)),
    }
}

/// Runs the world of one seed, and reports it in detail. `None` if it is interrupted.
///
/// # Errors
/// The scenario cannot be run; see [`Plan::new`].
pub fn inspect(scenario: &Scenario, seed: u64, interrupt: &Interrupt) -> Result<Option<Inspection>, PlanError> {
    let plan = Plan::new(scenario)?;
    let mut watch = Watch::default();
    let Some(finished) = plan.run_world(seed, &of_a_run(plan.exchange), interrupt, &mut watch) else {
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

impl Row for RadioInterval {
    const ABOUT: &'static str = "An interval in which the radio of a node was on.";

    fn described() -> Vec<Described<Self>> {
        described! {
            /// The node.
            node: U64(|i| i.node.0.into()),
            /// The radio's activity: transmit, receive or listen. Between the intervals of a node its radio was off.
            state: Text(|i| i.state.name().to_owned()),
            /// The beginning, in seconds of virtual time.
            from_s: F64(|i| i.from.as_secs_f64()),
            /// The end.
            to_s: F64(|i| i.to.as_secs_f64()),
        }
    }
}

impl Row for BufferLevel {
    const ABOUT: &'static str = "A change in the buffers of a node.";

    fn described() -> Vec<Described<Self>> {
        described! {
            /// The node.
            node: U64(|level| level.node.0.into()),
            /// From when on, in seconds of virtual time, its buffers held the following. Before the first row of a node they are
            /// empty.
            from_s: F64(|level| level.at.as_secs_f64()),
            /// Frames in the queue of the link layer.
            queued_frames: U64(|level| level.queued as u64),
            /// Fragments in reassembly.
            reassembly_fragments: U64(|level| level.fragments as u64),
            /// The octets of these fragments.
            reassembly_bytes: U64(|level| level.octets as u64),
            /// Virtual reassembly buffers in use (fragment forwarding).
            forwarding_entries: U64(|level| level.forwarding as u64),
        }
    }
}

/// The JSON Schema of a row of each table: of the records, and of those of an inspection.
pub fn table_schemas() -> [(&'static str, serde_json::Value); 4] {
    [
        ("records", schema::<Record>()),
        ("nodes", schema::<NodeReport>()),
        ("timeline", schema::<RadioInterval>()),
        ("buffers", schema::<BufferLevel>()),
    ]
}

#[cfg(test)]
mod tests;
