//! The frames that a parent keeps for its sleepy children: when they expire, and when the parent sends them into the
//! samples of a child.

use super::config::{ASSESSED_START, BEFORE_HEADER, CSL_ATTEMPTS, CSL_REQUEST_AHEAD, CSL_UNIT};
use super::node::{CsmaNode, Known, Phase, Task};
use super::{Csma, Event};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::radio::Indication;

impl Csma {
    /// A frame waits for a sleepy child. Makes sure that the event queue has the end of its time, and the next sample of
    /// the child.
    pub(super) fn keep(&mut self, now: Instant, child: NodeId) {
        self.arm_expiry(child);
        self.schedule_sample(now, child);
    }

    fn arm_expiry(&mut self, child: NodeId) {
        let indirect = &mut self.nodes[child.index()].indirect;
        let Some(frame) = indirect.queue.head().filter(|_| indirect.expires_at.is_none()) else { return };
        let at = self.pool.get(frame).queued_at + self.config.indirect_timeout;
        indirect.expires_at = Some(at);
        self.events.push(at, Event::Expire(child));
    }

    /// Drops the frames that have waited too long for a child. A frame on the air stays.
    pub(super) fn expire(&mut self, now: Instant, child: NodeId, indications: &mut Vec<Indication>) {
        self.nodes[child.index()].indirect.expires_at = None;
        let Some(parent) = self.tree.parent(child) else { return };
        let station = &self.nodes[parent.index()].station;
        let is_in_use =
            station.phase != Phase::Idle && matches!(station.task, Task::Answer(to) | Task::Sample(to) if to == child);
        if is_in_use {
            let later = now + self.config.longest_exchange();
            self.nodes[child.index()].indirect.expires_at = Some(later);
            return self.events.push(later, Event::Expire(child));
        }
        while let Some(frame) = self.nodes[child.index()].indirect.queue.head()
            && self.pool.get(frame).queued_at + self.config.indirect_timeout <= now
        {
            let datagram = self.pool.get(frame).datagram;
            self.take_indirect(now, parent, child);
            indications.push(Indication::Dropped { node: parent, datagram, reason: DropReason::TransactionExpired });
        }
        self.arm_expiry(child);
    }

    /// Removes the oldest frame for a sleepy child.
    pub(super) fn take_indirect(&mut self, now: Instant, parent: NodeId, child: NodeId) {
        let indirect = &mut self.nodes[child.index()].indirect;
        if let Some(frame) = indirect.queue.pop(&mut self.pool) {
            indirect.waiting -= 1;
            indirect.failures = 0;
            self.pool.release(frame);
            self.nodes[parent.index()].queue.leave(now);
        }
    }

    /// A parent has received a frame of a CSL receiver that began at `begin`, and knows the time of its samples.
    pub(super) fn learn_samples(&mut self, now: Instant, child: NodeId, begin: Instant) {
        let sample = begin + BEFORE_HEADER + CSL_UNIT * u64::from(self.phase(begin, child));
        let Some(known) = &mut self.nodes[child.index()].indirect.samples else { return };
        *known = Known { sample, heard: now, failures: 0, ..*known };
        self.schedule_sample(now, child);
    }

    /// Makes sure that the event queue has the next sample of a child for which frames wait.
    pub(super) fn schedule_sample(&mut self, now: Instant, child: NodeId) {
        let Some(csl) = &self.config.csl else { return };
        let indirect = &mut self.nodes[child.index()].indirect;
        let waits = indirect.queue.head().is_some();
        let Some(known) = indirect.samples.as_mut().filter(|known| waits && !known.is_scheduled) else { return };
        if known.failures >= CSL_ATTEMPTS || known.heard + csl.timeout <= now {
            return; // the child is not synchronised: its frames wait for a poll
        }
        let ahead = BEFORE_HEADER + CSL_REQUEST_AHEAD.max(ASSESSED_START);
        let interval = csl.interval();
        let late = (now + ahead).since(known.sample);
        let sample = known.sample + interval * late.as_micros().div_ceil(interval.as_micros());
        known.is_scheduled = true;
        self.events.push(sample - (BEFORE_HEADER + ASSESSED_START), Event::Sample(child));
    }

    /// A sample of a child is near. Its parent sends the frame, if it has nothing else to do.
    pub(super) fn sample(&mut self, now: Instant, child: NodeId) {
        let Some(parent) = self.tree.parent(child) else { return };
        let indirect = &mut self.nodes[child.index()].indirect;
        let waits = indirect.queue.head().is_some();
        let Some(known) = &mut indirect.samples else { return };
        known.is_scheduled = false;
        let CsmaNode { station, radio, queue, .. } = &self.nodes[parent.index()];
        if waits
            && !radio.is_off
            && station.phase == Phase::Idle
            && station.ready.max(queue.processor().free_at()) <= now
        {
            self.assess(now, parent, Task::Sample(child));
        } else {
            self.schedule_sample(now, child);
        }
    }

    /// The frame was not sent into the sample, or not acknowledged. The next sample is due, or a poll.
    pub(super) fn miss_sample(&mut self, now: Instant, parent: NodeId, child: NodeId) {
        self.schedule_sample(now, child);
        self.finish(now, parent);
    }
}
