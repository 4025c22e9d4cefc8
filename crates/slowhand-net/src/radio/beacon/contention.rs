//! Slotted CSMA/CA (7.5.1.4): when a station may send.

use super::Beacon;
use super::cluster::Active;
use super::config::{BACKOFF_PERIOD, CONTENTION_WINDOW, Downward, TURNAROUND, interframe_space};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::radio::contention::{Backoff, Event, Node, Phase, Role, StationId, Task};
use crate::radio::medium::CCA_DURATION;
use crate::radio::phy::air_time;
use crate::radio::pool::FrameIndex;

impl Beacon {
    /// The coordinator in whose active period the station sends.
    pub(super) fn cluster_of(&self, id: StationId) -> NodeId {
        match id.role {
            Role::Device => self.parent(id.node),
            Role::Coordinator => id.node,
        }
    }

    /// Steps 1 and 2 of the algorithm, for the first transmission of a frame and for each retransmission.
    pub(super) fn contend(&mut self, now: Instant, id: StationId) {
        let exponent = self.config.backoff_exponents.0;
        let station = self.station_mut(id);
        station.phase = Phase::Contending;
        station.backoff = Backoff::new(exponent);
        station.mac.paused = None;
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
        let drawn = station.mac.paused.take();
        let periods = drawn.unwrap_or_else(|| station.backoff.draw(&mut station.random));
        let Some((active, boundary)) = boundary else {
            self.station_mut(id).mac.paused = Some(periods).filter(|&periods| periods > 0);
            return self.defer(now, id);
        };
        let remaining = active.end.since(boundary).as_micros() / BACKOFF_PERIOD.as_micros();
        if periods > remaining {
            self.station_mut(id).mac.paused = Some(periods - remaining);
            return self.defer(now, id);
        }
        let assessment = boundary + BACKOFF_PERIOD * periods;
        let transmission = assessment + BACKOFF_PERIOD * u64::from(CONTENTION_WINDOW);
        if self.transaction_end(&active, id, transmission) > active.end {
            return self.defer(now, id);
        }
        self.station_mut(id).mac.window = CONTENTION_WINDOW;
        self.events.push(assessment + CCA_DURATION, Event::Assessed(id));
    }

    /// Steps 3 to 5: an assessment is over.
    pub(super) fn assessed(&mut self, now: Instant, id: StationId) {
        let is_clear = self.finds_clear(now, id.node);
        let ((_, max_exponent), max_backoffs) = (self.config.backoff_exponents, self.config.max_csma_backoffs);
        let station = self.station_mut(id);
        if is_clear {
            station.mac.window -= 1;
            let next = now - CCA_DURATION + BACKOFF_PERIOD;
            return match station.mac.window {
                0 => self.events.push(next, Event::Send(id)),
                _ => self.events.push(next + CCA_DURATION, Event::Assessed(id)),
            };
        }
        if station.backoff.goes_on(max_exponent, max_backoffs) {
            self.back_off(now, id);
        } else {
            self.give_up(now, id, DropReason::ChannelAccessFailure);
        }
    }

    /// The end of the transaction that begins with the station's frame at `transmission`, interframe space included.
    pub(super) fn transaction_end(&self, active: &Active, id: StationId, transmission: Instant) -> Instant {
        let psdu = self.psdu(id);
        let acknowledgement = active.boundary(transmission + air_time(psdu) + TURNAROUND);
        acknowledgement + air_time(self.config.form().ack_octets()) + interframe_space(psdu)
    }

    /// Switches the node's radio on to contend, unless it is on already.
    pub(super) fn wake(&mut self, now: Instant, id: StationId) {
        if self.config.rx_on_when_idle || id.role == Role::Coordinator {
            return;
        }
        let coordinator = self.cluster_of(id);
        let over = self.superframe(now, coordinator).map(|active| active.begin + self.config.idle_beacon());
        let at = over.map_or(now, |over| now.max(over));
        self.node(id.node).radio.wake(at, over == Some(at));
    }

    fn defer(&mut self, now: Instant, id: StationId) {
        self.station_mut(id).phase = Phase::Deferred;
        if id.role == Role::Device {
            self.rest(now, id.node);
        }
    }

    /// The first back-off boundary at which the station can begin, if the active period is not over by then.
    pub(super) fn contention_boundary(&self, now: Instant, id: StationId) -> Option<(Active, Instant)> {
        let coordinator = self.cluster_of(id);
        let active = self.superframe(now, coordinator)?;
        let free_at = self.nodes[id.node.index()].queue.processor().free_at();
        let from = now.max(self.station(id).ready).max(free_at).max(self.contention_begin(coordinator, &active));
        Some((active, active.boundary(from))).filter(|&(active, boundary)| boundary < active.end)
    }

    /// The next task of the station in this active period. A child fetches frames first.
    pub(super) fn next_task(&self, active: &Active, id: StationId) -> Option<Task> {
        let Node { own, mac, .. } = &self.nodes[id.node.index()];
        match id.role {
            Role::Device if mac.to_fetch => Some(Task::Request),
            Role::Device => own.head().filter(|&frame| self.in_time(active, frame)).map(|_| Task::Own),
            Role::Coordinator if self.config.downward == Downward::Direct => self.oldest_down(active, id.node),
            Role::Coordinator => None,
        }
    }

    fn oldest_down(&self, active: &Active, coordinator: NodeId) -> Option<Task> {
        let waiting = |&child: &NodeId| {
            let frame = self.nodes[child.index()].kept.head().filter(|&frame| self.in_time(active, frame))?;
            Some((self.pool.get(frame).age, child))
        };
        self.tree.children(coordinator).iter().filter_map(waiting).min().map(|(_, child)| Task::Kept(child))
    }

    fn in_time(&self, active: &Active, frame: FrameIndex) -> bool {
        self.config.late_frames || self.pool.get(frame).queued_at < active.begin
    }
}
