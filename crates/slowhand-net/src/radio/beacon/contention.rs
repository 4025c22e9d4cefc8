//! Slotted CSMA/CA (7.5.1.4): when a station may send.

use super::cluster::Active;
use super::config::{BACKOFF_PERIOD, CONTENTION_WINDOW, Downward, TURNAROUND, interframe_space};
use super::frame::{ACK, data_request_octets};
use super::node::BeaconNode;
use super::station::{Phase, Role, Station, StationId, Task};
use super::{Beacon, Event};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::radio::Indication;
use crate::radio::contention::Backoff;
use crate::radio::frame::FCS;
use crate::radio::medium::CCA_DURATION;
use crate::radio::phy::air_time;
use crate::radio::pool::FrameIndex;

impl Beacon {
    pub(super) fn station(&self, id: StationId) -> &Station {
        let node = &self.nodes[id.node.index()];
        match id.role {
            Role::Device => &node.device,
            Role::Coordinator => &node.coordinator,
        }
    }

    pub(super) fn station_mut(&mut self, id: StationId) -> &mut Station {
        let node = self.node(id.node);
        match id.role {
            Role::Device => &mut node.device,
            Role::Coordinator => &mut node.coordinator,
        }
    }

    /// The coordinator in whose active period the station sends.
    pub(super) fn cluster_of(&self, id: StationId) -> NodeId {
        match id.role {
            Role::Device => self.tree.parent(id.node).unwrap_or(id.node),
            Role::Coordinator => id.node,
        }
    }

    /// An idle station starts its next task, if it has one and the active period is not over.
    pub(super) fn start(&mut self, now: Instant, id: StationId) {
        let active = self.contention_boundary(now, id).map(|(active, _)| active);
        let Some(task) = active.and_then(|active| self.next_task(&active, id)) else {
            return self.rest(now, id.node);
        };
        if task == Task::Fetch {
            let BeaconNode { device, up, .. } = self.node(id.node);
            (device.request_sequence, device.request_attempts) = (up.sequence.take(), 0);
        }
        self.station_mut(id).task = task;
        self.contend(now, id);
    }

    /// Steps 1 and 2 of the algorithm, for the first transmission of a frame and for each retransmission.
    pub(super) fn contend(&mut self, now: Instant, id: StationId) {
        let exponent = self.config.backoff_exponents.0;
        let station = self.station_mut(id);
        station.phase = Phase::Contending;
        station.backoff = Backoff::new(exponent);
        station.paused = None;
        self.wake(now, id);
        self.back_off(now, id);
    }

    /// Step 2: waits for a random number of back-off periods, or for the rest of an earlier draw.
    ///
    /// Periods that do not fit into the active period continue in the next one. If the periods fit, but not the two
    /// assessments, the frame, its acknowledgement and the interframe space, the station waits for the next superframe
    /// and draws again. The standard decides this at the end of the back-off. Deciding it now gives the same result.
    pub(super) fn back_off(&mut self, now: Instant, id: StationId) {
        let boundary = self.contention_boundary(now, id);
        let station = self.station_mut(id);
        let drawn = station.paused.take();
        let periods = drawn.unwrap_or_else(|| station.backoff.draw(&mut station.random));
        let Some((active, boundary)) = boundary else {
            self.station_mut(id).paused = Some(periods).filter(|&periods| periods > 0);
            return self.defer(now, id);
        };
        let remaining = active.end.since(boundary).as_micros() / BACKOFF_PERIOD.as_micros();
        if periods > remaining {
            self.station_mut(id).paused = Some(periods - remaining);
            return self.defer(now, id);
        }
        let assessment = boundary + BACKOFF_PERIOD * periods;
        let transmission = assessment + BACKOFF_PERIOD * u64::from(CONTENTION_WINDOW);
        if self.transaction_end(&active, id, transmission) > active.end {
            return self.defer(now, id);
        }
        self.station_mut(id).window = CONTENTION_WINDOW;
        self.events.push(assessment + CCA_DURATION, Event::Assessed(id));
    }

    /// Steps 3 to 5: an assessment is over.
    pub(super) fn assessed(&mut self, now: Instant, id: StationId, indications: &mut Vec<Indication>) {
        // A radio that sent an acknowledgement during the assessment cannot have found the channel clear.
        let sent = self.nodes[id.node.index()].radio.sending_until + CCA_DURATION > now;
        let busy = sent || self.medium.busy(now, id.node);
        let max_exponent = self.config.backoff_exponents.1;
        let max_backoffs = self.config.max_csma_backoffs;
        let begun = now - CCA_DURATION;
        let station = self.station_mut(id);
        if !busy {
            station.window -= 1;
            let next = begun + BACKOFF_PERIOD;
            return match station.window {
                0 => self.events.push(next, Event::Send(id)),
                _ => self.events.push(next + CCA_DURATION, Event::Assessed(id)),
            };
        }
        if station.backoff.goes_on(max_exponent, max_backoffs) {
            self.back_off(now, id);
        } else {
            self.give_up(now, id, DropReason::ChannelAccessFailure, indications);
        }
    }

    /// The end of the transaction that begins with the station's frame at `transmission`, interframe space included.
    pub(super) fn transaction_end(&self, active: &Active, id: StationId, transmission: Instant) -> Instant {
        let psdu = self.psdu(id);
        let acknowledgement = active.boundary(transmission + air_time(psdu) + TURNAROUND);
        acknowledgement + air_time(ACK) + interframe_space(psdu)
    }

    /// Octets of the frame that the station is about to send, FCS included.
    pub(super) fn psdu(&self, id: StationId) -> usize {
        // A station with another task than `Fetch` has a frame: only the station removes it from the queue.
        let request = || data_request_octets(self.config.security);
        self.frame_of(id).map_or_else(request, |frame| self.pool.get(frame).octets().len() + FCS)
    }

    /// Switches the node's radio on to contend, unless it is on already.
    pub(super) fn wake(&mut self, now: Instant, id: StationId) {
        if self.config.rx_on_when_idle || id.role == Role::Coordinator {
            return;
        }
        let coordinator = self.cluster_of(id);
        let beacon = self.config.idle_beacon();
        let after_beacon = self.superframe(now, coordinator).map_or(now, |active| active.beacon_over(beacon));
        self.node(id.node).radio.awake_since.get_or_insert(now.max(after_beacon));
    }

    fn defer(&mut self, now: Instant, id: StationId) {
        self.station_mut(id).phase = Phase::Deferred;
        if id.role == Role::Device {
            self.rest(now, id.node);
        }
    }

    /// The first back-off boundary at which the station can begin, if the active period is not over by then.
    fn contention_boundary(&self, now: Instant, id: StationId) -> Option<(Active, Instant)> {
        let coordinator = self.cluster_of(id);
        let active = self.superframe(now, coordinator)?;
        let free_at = self.nodes[id.node.index()].queue.processor().free_at();
        let from = now.max(self.station(id).ready).max(free_at).max(self.contention_begin(coordinator, &active));
        Some((active, active.boundary(from))).filter(|&(active, boundary)| boundary < active.end)
    }

    /// The next task of the station in this active period. A child fetches frames first.
    fn next_task(&self, active: &Active, id: StationId) -> Option<Task> {
        let BeaconNode { to_fetch, up, .. } = &self.nodes[id.node.index()];
        match id.role {
            Role::Device if *to_fetch => Some(Task::Fetch),
            Role::Device => up.queue.head().filter(|&frame| self.in_time(active, frame)).map(|_| Task::Up),
            Role::Coordinator if self.config.downward == Downward::Direct => self.oldest_down(active, id.node),
            Role::Coordinator => None,
        }
    }

    fn oldest_down(&self, active: &Active, coordinator: NodeId) -> Option<Task> {
        let waiting = |&child: &NodeId| {
            let frame = self.nodes[child.index()].down.queue.head().filter(|&frame| self.in_time(active, frame))?;
            Some((self.pool.get(frame).age, child))
        };
        self.tree.children(coordinator).iter().filter_map(waiting).min().map(|(_, child)| Task::Down(child))
    }

    fn in_time(&self, active: &Active, frame: FrameIndex) -> bool {
        self.config.late_frames || self.pool.get(frame).queued_at < active.begin
    }
}
