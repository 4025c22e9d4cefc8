//! The rules of a beacon-enabled PAN: its decisions at each step of an exchange.

use super::cluster::Active;
use super::config::{BACKOFF_PERIOD, BeaconConfig, Downward, TURNAROUND};
use super::node::{BeaconNode, Slots};
use super::radio::Radio;
use super::{Beacon, BeaconRules};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::observer::{Observer, RadioTimes, RadioWork};
use crate::radio::contention::{Event, Form, Node, Phase, Role, Rules, Station, StationId, Task, Tree};

/// Events besides exchanges.
#[derive(Clone, Copy, Debug)]
pub enum Timer {
    /// A superframe begins in which frames may wait.
    Beacon(NodeId),
    /// Its beacon is over.
    Contention(NodeId),
}

impl Rules for BeaconRules {
    type Config = BeaconConfig;
    type Node = BeaconNode;
    type Station = Slots;
    type Stations = [Station<Slots>; 2];
    type Radio = Radio;
    type Event = Timer;
    /// The superframe, and its coordinator.
    type Audience = (NodeId, Option<Active>);

    const CHILD_FIRST: bool = false;

    fn form(pan: &Beacon, _from: NodeId, _to: NodeId) -> Form {
        pan.config.form()
    }

    fn keeps(pan: &Beacon, node: NodeId, next_hop: NodeId) -> bool {
        pan.tree.parent(next_hop) == Some(node)
    }

    /// The node contends at once if the active period allows, or in the next superframe.
    fn enqueued(pan: &mut Beacon, now: Instant, node: NodeId, next_hop: NodeId) {
        let (id, coordinator) = match Self::keeps(pan, node, next_hop) {
            true => (StationId::coordinator(node), node),
            false => (StationId::device(node), next_hop),
        };
        pan.node(coordinator).mac.cluster.waiting += 1;
        pan.schedule_superframe(now, coordinator);
        if pan.station(id).phase == Phase::Idle && pan.may_contend(now, id) {
            Self::start(pan, now, id);
        }
    }

    fn left(pan: &mut Beacon, node: NodeId, child: Option<NodeId>) {
        let coordinator = if child.is_some() { node } else { pan.parent(node) };
        pan.node(coordinator).mac.cluster.waiting -= 1;
    }

    /// Only in the active period.
    fn start(pan: &mut Beacon, now: Instant, id: StationId) {
        let active = pan.contention_boundary(now, id).map(|(active, _)| active);
        match active.and_then(|active| pan.next_task(&active, id)) {
            Some(task) => pan.begin(now, id, task),
            None => pan.rest(now, id.node),
        }
    }

    fn contend(pan: &mut Beacon, now: Instant, id: StationId) {
        pan.contend(now, id);
    }

    fn assessed(pan: &mut Beacon, now: Instant, id: StationId) {
        pan.assessed(now, id);
    }

    /// An answer goes without an assessment of the channel. It waits while its coordinator acknowledges another child's frame, which
    /// may end at this very instant.
    fn may_send(pan: &mut Beacon, now: Instant, id: StationId) -> bool {
        let waits = pan.nodes[id.node.index()].is_acknowledging || pan.medium.has_just_received(now, id.node);
        if waits {
            pan.answer_at(now + BACKOFF_PERIOD, id, pan.superframe(now, pan.cluster_of(id)));
        }
        !waits
    }

    fn audience(pan: &Beacon, now: Instant, id: StationId) -> (NodeId, Option<Active>) {
        let coordinator = pan.cluster_of(id);
        (coordinator, pan.superframe(now, coordinator))
    }

    fn listens(
        config: &BeaconConfig,
        tree: &Tree,
        nodes: &[Node<Self>],
        node: NodeId,
        _now: Instant,
        (coordinator, active): (NodeId, Option<Active>),
    ) -> bool {
        let Some(active) = active else { return false };
        let listener = &nodes[node.index()];
        let child_is_on = || match config.rx_on_when_idle {
            true => listener.mac.tracking.receives(active.number),
            false => listener.radio.awake_since.is_some(),
        };
        node == coordinator || tree.parent(node) == Some(coordinator) && child_is_on()
    }

    /// In the contention access period an acknowledgement begins on a back-off boundary. So the two assessments of
    /// another station cannot both be in the gap before it (7.5.6.4.2).
    fn ack_begins(pan: &Beacon, now: Instant, id: StationId) -> Option<Instant> {
        Some(pan.superframe(now, pan.cluster_of(id))?.boundary(now + TURNAROUND))
    }

    fn received(pan: &mut Beacon, now: Instant, id: StationId, to: NodeId) {
        if id.role == Role::Coordinator && !pan.config.rx_on_when_idle {
            // The child may have gone to sleep at the same instant.
            pan.node(to).radio.wake(now, false);
        }
    }

    fn announces_more(config: &BeaconConfig) -> bool {
        config.downward == Downward::Indirect
    }

    fn acknowledged(pan: &mut Beacon, now: Instant, id: StationId, _received: bool) {
        let Station { task, frame_pending, .. } = *pan.station(id);
        if task == Task::Request && frame_pending {
            pan.answer(now, id.node);
        }
    }

    fn fetched(pan: &mut Beacon, now: Instant, child: NodeId, is_awaited: bool, more: bool) {
        if is_awaited {
            pan.node(child).mac.to_fetch = more;
            Self::start(pan, now, StationId::device(child));
        } else {
            pan.rest(now, child);
        }
    }

    fn succeeded(pan: &mut Beacon, _now: Instant, id: StationId, _frame_pending: bool) {
        if pan.station(id).task == Task::Request {
            pan.node(id.node).mac.to_fetch = false;
        }
    }

    /// The frame is sent again, or given up after macMaxFrameRetries.
    fn unacknowledged(pan: &mut Beacon, now: Instant, id: StationId, attempts: u8) {
        if id.role == Role::Coordinator && pan.config.downward == Downward::Indirect {
            // The coordinator keeps an indirect frame until the child asks again.
            pan.station_mut(id).phase = Phase::Idle;
        } else if attempts > pan.config.max_retries {
            pan.give_up(now, id, DropReason::RetriesExhausted);
        } else {
            pan.contend(now, id);
        }
    }

    /// No frame is lost: the next beacon lists the child again.
    fn request_failed(pan: &mut Beacon, _now: Instant, node: NodeId, _reason: DropReason) {
        pan.node(node).mac.to_fetch = false;
    }

    fn data_until(pan: &Beacon, now: Instant, id: StationId) -> Instant {
        let until = now + pan.config.max_frame_total_wait();
        pan.superframe(now, pan.cluster_of(id)).map_or(until, |active| active.end.min(until))
    }

    fn no_data(pan: &mut Beacon, _now: Instant, node: NodeId) {
        pan.node(node).mac.to_fetch = false;
    }

    fn handle(pan: &mut Beacon, now: Instant, event: Timer) {
        match event {
            Timer::Beacon(coordinator) => pan.begin_superframe(now, coordinator),
            Timer::Contention(coordinator) => pan.open_contention(now, coordinator),
        }
    }

    /// Whole beacon intervals, because the rest of the present interval may be too short.
    fn sending_time(pan: &Beacon, _next_hop: NodeId, frames: u64) -> Duration {
        pan.config.superframe.interval * (frames.div_ceil(pan.config.frames_per_superframe()) + 1)
    }

    /// A frame counts as sent or received when it has ended. Until then its time counts as listening.
    fn radio_times(pan: &Beacon, node: NodeId, now: Instant) -> RadioTimes {
        pan.times(node, now)
    }

    fn radio_work(pan: &Beacon, node: NodeId, now: Instant) -> RadioWork {
        pan.work(node, now)
    }

    fn regular_frames(pan: &Beacon, node: NodeId, now: Instant) -> u64 {
        pan.beacons_handled(node, now)
    }

    fn report_radio(pan: &mut Beacon, now: Instant, node: NodeId, observer: &mut dyn Observer) {
        pan.report_timeline(now, node, observer);
    }
}

impl Beacon {
    /// The coordinator sends the frame that the child has asked for: without CSMA/CA, on the first back-off boundary
    /// after a turnaround, or when its processor has prepared the frame, if the whole transaction fits into the active
    /// period (7.5.6.3).
    fn answer(&mut self, now: Instant, child: NodeId) {
        let id = StationId::coordinator(self.parent(child));
        let Some(active) = self.superframe(now, id.node) else { return };
        let free_at = self.nodes[id.node.index()].queue.processor().free_at();
        let begin = active.boundary((now + TURNAROUND).max(free_at));
        let station = self.station_mut(id);
        if station.phase != Phase::Idle {
            return; // it answers another child; this one will ask again
        }
        station.task = Task::Kept(child);
        self.answer_at(begin, id, Some(active));
    }

    /// The coordinator answers at `begin`, or not in this active period: then its child asks again.
    fn answer_at(&mut self, begin: Instant, id: StationId, active: Option<Active>) {
        let fits = active.is_some_and(|active| self.transaction_end(&active, id, begin) <= active.end);
        self.station_mut(id).phase = if fits { Phase::Contending } else { Phase::Idle };
        if fits {
            self.events.push(begin, Event::Send(id));
        }
    }
}
