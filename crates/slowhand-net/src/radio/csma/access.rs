//! Unslotted CSMA/CA (7.5.1.4): which task a node does next, and when it may send.

use super::config::CSL_ATTEMPTS;
use super::node::{Attempts, switch};
use super::{Csma, Event};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::radio::contention::{BACKOFF_PERIOD, Backoff, Mode, Phase, Station, StationId, TURNAROUND, Task};
use crate::radio::medium::CCA_DURATION;

impl Csma {
    /// Frames that children have asked for come first, then polls and own frames in turn (`Mac::PerformNextOperation`
    /// of OpenThread).
    pub(super) fn next_task(&mut self, node: NodeId) -> Option<Task> {
        while let Some(child) = self.node(node).mac.asked.pop_front() {
            let asking = self.node(child);
            asking.mac.has_asked = false;
            if asking.kept.head().is_some() {
                return Some(Task::Kept(child));
            }
        }
        let this = self.node(node);
        let has_frame = this.own.head().is_some();
        if let Some(polls) = this.mac.polls.as_mut().filter(|polls| polls.is_due) {
            if !has_frame || polls.is_first {
                (polls.is_due, polls.is_first) = (false, false);
                return Some(Task::Request);
            }
            polls.is_first = true;
        }
        has_frame.then_some(Task::Own)
    }

    /// Contends again for a frame without acknowledgement, after a random delay that grows with each retransmission
    /// (`SubMac::HandleTransmitDone` of OpenThread). Equal senders that do not hear each other would go on to collide
    /// without it.
    fn contend_later(&mut self, now: Instant, id: StationId) {
        let longest = self.config.retry_max_exponent;
        let station = self.station_mut(id);
        let exponent = station.mac.retry_exponent;
        station.mac.retry_exponent = (exponent + 1).min(longest);
        let periods = if exponent == 0 { 0 } else { Backoff::new(exponent).draw(&mut station.random) };
        station.ready = station.ready.max(now + BACKOFF_PERIOD * periods);
        self.contend(now, id);
    }

    /// Steps 1 and 2 of the algorithm.
    pub(super) fn contend(&mut self, now: Instant, id: StationId) {
        if self.node(id.node).is_off() {
            return self.postpone(now, id);
        }
        let exponent = self.config.backoff_exponents.0;
        let station = self.station_mut(id);
        station.phase = Phase::Contending;
        station.backoff = Backoff::new(exponent);
        self.rest(now, id.node);
        self.back_off(now, id);
    }

    /// Step 2: waits for a random number of back-off periods, then assesses the channel (step 3). A sleepy device does not
    /// listen meanwhile (`SubMac::StartTimerForBackoff` of OpenThread). Its radio is ready.
    fn back_off(&mut self, now: Instant, id: StationId) {
        let this = self.node(id.node);
        let station = &mut this.stations[0];
        let periods = station.backoff.draw(&mut station.random);
        let at = now.max(station.ready).max(this.queue.processor().free_at()) + BACKOFF_PERIOD * periods;
        if this.radio.mode() != Mode::On {
            this.radio.set_ready(now, true);
            this.radio.pattern.assesses_at = Some(at);
        }
        self.events.push(at + CCA_DURATION, Event::Assessed(id));
    }

    /// Assesses the channel so that a frame can begin in a sample of a child.
    pub(super) fn assess(&mut self, now: Instant, node: NodeId, child: NodeId) {
        let id = StationId::device(node);
        let station = self.station_mut(id);
        (station.phase, station.task) = (Phase::Contending, Task::Kept(child));
        (station.mac.into_sample, station.mac.retries) = (true, 0);
        self.events.push(now + CCA_DURATION, Event::Assessed(id));
    }

    /// Steps 3 to 5: the assessment is over.
    pub(super) fn assessed(&mut self, now: Instant, id: StationId) {
        let this = self.node(id.node);
        this.radio.set_ready(now, false);
        this.radio.pattern.assesses_at = None;
        if this.is_off() {
            return self.postpone(now, id);
        }
        // A radio with a frame to acknowledge cannot have found the channel clear.
        if !this.is_acknowledging && self.finds_clear(now, id.node) {
            return self.turn(now, id);
        }
        let Station { task, mac: Attempts { into_sample, .. }, .. } = *self.station(id);
        match task {
            Task::Kept(child) if into_sample => self.miss_sample(now, id, child),
            _ if self.may_back_off(id) => self.back_off(now, id),
            Task::Kept(_) => self.finish(now, id), // the child asks again
            _ if self.config.retries_busy_channel && self.may_retry(id) => self.contend(now, id),
            _ => self.give_up(now, id, DropReason::ChannelAccessFailure),
        }
    }

    /// The channel is clear: the radio turns around. It cannot receive from now on.
    fn turn(&mut self, now: Instant, id: StationId) {
        let this = self.node(id.node);
        this.stations[0].phase = Phase::Turning;
        switch(&mut this.radio, now, true);
        if this.radio.is_receiving() {
            this.radio.set_receiving(now, false);
        }
        self.medium.stop_listening(now, id.node);
        self.events.push(now + TURNAROUND, Event::Send(id));
    }

    /// No acknowledgement has come in time (7.5.6.4.3).
    pub(super) fn unacknowledged(&mut self, now: Instant, id: StationId) {
        let limit = self.config.indirect_attempts;
        let Station { task, mac: Attempts { into_sample, .. }, .. } = *self.station(id);
        match task {
            Task::Kept(child) if into_sample => {
                if let Some(known) = &mut self.node(child).mac.samples {
                    known.failures = (known.failures + 1).min(CSL_ATTEMPTS);
                }
                self.miss_sample(now, id, child);
            }
            Task::Kept(child) => {
                let failures = &mut self.node(child).mac.failures;
                *failures += 1;
                if *failures < limit {
                    return self.finish(now, id); // the child asks again
                }
                *failures = 0;
                self.give_up(now, id, DropReason::RetriesExhausted);
            }
            _ if self.may_retry(id) => self.contend_later(now, id),
            _ => self.give_up(now, id, DropReason::RetriesExhausted),
        }
    }

    /// Step 4: counts a busy channel. Returns true if the algorithm goes on.
    fn may_back_off(&mut self, id: StationId) -> bool {
        let ((_, max_exponent), max_backoffs) = (self.config.backoff_exponents, self.config.max_csma_backoffs);
        self.station_mut(id).backoff.goes_on(max_exponent, max_backoffs)
    }

    /// Counts a retransmission, if one more is allowed.
    fn may_retry(&mut self, id: StationId) -> bool {
        // A poll that carries the phase of the samples is not retransmitted (`PrepareDataRequest` of OpenThread).
        let is_single = self.station(id).task == Task::Request && self.config.csl.is_some();
        let limit = if is_single { 0 } else { self.config.max_retries };
        let retries = &mut self.station_mut(id).mac.retries;
        let may = *retries < limit;
        *retries += u8::from(may);
        may
    }

    /// The radio was switched off: the node ends its task, and begins it anew when the radio is on again. A child asks
    /// again for its frame.
    pub(super) fn postpone(&mut self, now: Instant, id: StationId) {
        let this = self.node(id.node);
        let station = &mut this.stations[0];
        station.phase = Phase::Idle;
        match (station.task, &mut this.mac.polls) {
            (Task::Request, Some(polls)) => polls.is_due = true,
            (Task::Kept(child), _) if station.mac.into_sample => self.schedule_sample(now, child),
            _ => {}
        }
        self.resume(now, id);
    }
}
