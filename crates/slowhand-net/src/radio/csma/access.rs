//! Unslotted CSMA/CA (7.5.1.4): which task a node does next, and when it may send.

use super::config::CSL_ATTEMPTS;
use super::node::{Phase, Task};
use super::{Csma, Event};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::radio::Indication;
use crate::radio::contention::{BACKOFF_PERIOD, Backoff, TURNAROUND};
use crate::radio::medium::CCA_DURATION;

impl Csma {
    /// An idle node starts its next task, if it has one.
    pub(super) fn start(&mut self, now: Instant, node: NodeId) {
        if self.nodes[node.index()].radio.is_off {
            return self.rest(now, node);
        }
        match self.next_task(node) {
            Some(task) => self.begin(now, node, task),
            None => self.rest(now, node),
        }
    }

    /// Frames that children have asked for come first, then polls and own frames in turn (`Mac::PerformNextOperation`
    /// of OpenThread).
    fn next_task(&mut self, node: NodeId) -> Option<Task> {
        while let Some(child) = self.nodes[node.index()].asked.pop_front() {
            let indirect = &mut self.nodes[child.index()].indirect;
            indirect.has_asked = false;
            if indirect.queue.head().is_some() {
                return Some(Task::Answer(child));
            }
        }
        let this = &mut self.nodes[node.index()];
        let has_frame = this.direct.head().is_some();
        if let Some(polls) = this.polls.as_mut().filter(|polls| polls.is_due) {
            if !has_frame || polls.is_first {
                (polls.is_due, polls.is_first) = (false, false);
                return Some(Task::Poll);
            }
            polls.is_first = true;
        }
        has_frame.then_some(Task::Direct)
    }

    fn begin(&mut self, now: Instant, node: NodeId, task: Task) {
        let this = &mut self.nodes[node.index()];
        this.station.task = task;
        (this.station.retries, this.station.retry_exponent) = (0, 0);
        if task == Task::Poll {
            (this.station.poll_sequence, this.station.poll_attempts) = (this.up.take(), 0);
        }
        self.contend(now, node);
    }

    /// Contends again for a frame without acknowledgement, after a random delay that grows with each retransmission
    /// (`SubMac::HandleTransmitDone` of OpenThread). Equal senders that do not hear each other would go on to collide
    /// without it.
    fn contend_later(&mut self, now: Instant, node: NodeId) {
        let station = &mut self.nodes[node.index()].station;
        let exponent = station.retry_exponent;
        station.retry_exponent = (exponent + 1).min(self.config.retry_max_exponent);
        let periods = if exponent == 0 { 0 } else { Backoff::new(exponent).draw(&mut station.random) };
        station.ready = station.ready.max(now + BACKOFF_PERIOD * periods);
        self.contend(now, node);
    }

    /// Steps 1 and 2 of the algorithm, for the first transmission of a frame and for each retransmission.
    pub(super) fn contend(&mut self, now: Instant, node: NodeId) {
        if self.nodes[node.index()].radio.is_off {
            return self.postpone(now, node);
        }
        let station = &mut self.nodes[node.index()].station;
        station.phase = Phase::Contending;
        station.backoff = Backoff::new(self.config.backoff_exponents.0);
        self.rest(now, node);
        self.back_off(now, node);
    }

    /// Step 2: waits for a random number of back-off periods, then assesses the channel (step 3). A sleepy device sleeps
    /// meanwhile (`SubMac::StartTimerForBackoff` of OpenThread).
    fn back_off(&mut self, now: Instant, node: NodeId) {
        let this = &mut self.nodes[node.index()];
        let periods = this.station.backoff.draw(&mut this.station.random);
        let at = now.max(this.station.ready).max(this.queue.processor().free_at()) + BACKOFF_PERIOD * periods;
        this.radio.assess_at(now, at);
        self.events.push(at + CCA_DURATION, Event::Assessed(node));
    }

    /// Assesses the channel so that a frame can begin in a sample of a child.
    pub(super) fn assess(&mut self, now: Instant, node: NodeId, task: Task) {
        let station = &mut self.nodes[node.index()].station;
        (station.phase, station.task, station.retries) = (Phase::Contending, task, 0);
        self.events.push(now + CCA_DURATION, Event::Assessed(node));
    }

    /// Steps 3 to 5: the assessment is over.
    pub(super) fn assessed(&mut self, now: Instant, node: NodeId, indications: &mut Vec<Indication>) {
        let this = &mut self.nodes[node.index()];
        this.radio.assessed(now);
        if this.radio.is_off {
            return self.postpone(now, node);
        }
        // A radio with a frame to acknowledge, or that sent during the assessment, cannot have found the channel clear.
        let sends = this.station.is_acknowledging
            || this.radio.sending_until + CCA_DURATION > now && this.radio.sending_until > Instant::ZERO;
        if !sends && !self.medium.busy(now, node) {
            return self.turn(now, node);
        }
        let (_, max_exponent) = self.config.backoff_exponents;
        match this.station.task {
            Task::Sample(child) => self.miss_sample(now, node, child),
            _ if this.station.backoff.goes_on(max_exponent, self.config.max_csma_backoffs) => self.back_off(now, node),
            Task::Answer(_) => self.finish(now, node), // the child asks again
            task => match self.config.retries_busy_channel && self.may_retry(node) {
                true => self.contend(now, node),
                false if task == Task::Poll => self.end_poll(now, node, true),
                false => self.give_up(now, node, DropReason::ChannelAccessFailure, indications),
            },
        }
    }

    /// The channel is clear: the radio turns around. It cannot receive from now on.
    fn turn(&mut self, now: Instant, node: NodeId) {
        let this = &mut self.nodes[node.index()];
        this.station.phase = Phase::Turning;
        this.radio.switch(now, true);
        if this.radio.is_receiving {
            this.radio.settle(now);
            this.radio.is_receiving = false;
        }
        self.medium.stop_listening(now, node);
        self.events.push(now + TURNAROUND, Event::Send(node));
    }

    /// No acknowledgement has come in time (7.5.6.4.3).
    pub(super) fn no_acknowledgement(&mut self, now: Instant, node: NodeId, indications: &mut Vec<Indication>) {
        if let Some(frame) = self.frame_of(node) {
            let attempts = &mut self.pool.get_mut(frame).attempts;
            *attempts = attempts.saturating_add(1);
        }
        let limit = self.config.indirect_attempts;
        let station = &mut self.nodes[node.index()].station;
        match station.task {
            Task::Answer(child) => {
                let indirect = &mut self.nodes[child.index()].indirect;
                indirect.failures += 1;
                if indirect.failures < limit {
                    return self.finish(now, node); // the child asks again
                }
                indirect.failures = 0;
                self.give_up(now, node, DropReason::RetriesExhausted, indications);
            }
            Task::Sample(child) => {
                if let Some(known) = &mut self.nodes[child.index()].indirect.samples {
                    known.failures = (known.failures + 1).min(CSL_ATTEMPTS);
                }
                self.miss_sample(now, node, child);
            }
            task => {
                station.poll_attempts = station.poll_attempts.saturating_add(1);
                match self.may_retry(node) {
                    true => self.contend_later(now, node),
                    false if task == Task::Poll => self.end_poll(now, node, false),
                    false => self.give_up(now, node, DropReason::RetriesExhausted, indications),
                }
            }
        }
    }

    /// Counts a retransmission, if one more is allowed.
    fn may_retry(&mut self, node: NodeId) -> bool {
        let station = &mut self.nodes[node.index()].station;
        // A poll that carries the phase of the samples is not retransmitted (`PrepareDataRequest` of OpenThread).
        let limit = if station.task == Task::Poll && self.config.csl.is_some() { 0 } else { self.config.max_retries };
        let may = station.retries < limit;
        station.retries += u8::from(may);
        may
    }

    fn end_poll(&mut self, now: Instant, node: NodeId, is_busy: bool) {
        self.poll_failed(now, node, is_busy);
        self.finish(now, node);
    }

    /// Drops the frame of the node's task.
    fn give_up(&mut self, now: Instant, node: NodeId, reason: DropReason, indications: &mut Vec<Indication>) {
        let datagram = self.datagram_of(node);
        self.take(now, node);
        indications.push(Indication::Dropped { node, datagram, reason });
        self.finish(now, node);
    }

    /// The task is over. The node starts the next.
    pub(super) fn finish(&mut self, now: Instant, node: NodeId) {
        self.nodes[node.index()].station.phase = Phase::Idle;
        self.start(now, node);
    }

    /// The radio was switched off: the node ends its task, and begins it anew when the radio is on again. A child asks
    /// again for its frame.
    pub(super) fn postpone(&mut self, now: Instant, node: NodeId) {
        let this = &mut self.nodes[node.index()];
        this.station.phase = Phase::Idle;
        match (this.station.task, &mut this.polls) {
            (Task::Poll, Some(polls)) => polls.is_due = true,
            (Task::Sample(child), _) => self.schedule_sample(now, child),
            _ => {}
        }
        self.resume(now, node);
    }

    /// See [`Mac::switch_radio`](crate::radio::Mac::switch_radio).
    pub(super) fn power(&mut self, now: Instant, node: NodeId, on: bool) {
        let this = &mut self.nodes[node.index()];
        if this.radio.is_off != on {
            return;
        }
        this.radio.set_off(now, !on);
        if !on && !this.is_awake() && std::mem::take(&mut this.radio.is_receiving) {
            self.medium.stop_listening(now, node);
        }
        self.rest(now, node);
        self.resume(now, node);
    }

    /// Switches the node's radio off, unless it has a reason to be on.
    pub(super) fn rest(&mut self, now: Instant, node: NodeId) {
        let this = &mut self.nodes[node.index()];
        let is_awake = this.is_awake();
        if this.radio.switch(now, is_awake) {
            self.medium.stop_listening(now, node);
        }
    }
}
