//! The frames that a parent keeps for its sleepy children: when they expire, and when the parent sends them into the
//! samples of a child.

use super::config::{ASSESSED_START, BEFORE_HEADER, CSL_ATTEMPTS, CSL_REQUEST_AHEAD, CSL_UNIT};
use super::node::Known;
use super::{Csma, CsmaRules, Event, Timer};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::radio::contention::{Node, Phase, Rules, Station, StationId, Task};

impl Csma {
    /// A frame waits for a sleepy child. Makes sure that the event queue has the end of its time, and the next sample of
    /// the child.
    pub(super) fn keep(&mut self, now: Instant, child: NodeId) {
        self.arm_expiry(child);
        self.schedule_sample(now, child);
    }

    fn arm_expiry(&mut self, child: NodeId) {
        let Node { kept, mac, .. } = &mut self.nodes[child.index()];
        let Some(frame) = kept.head().filter(|_| mac.expires_at.is_none()) else { return };
        let at = self.pool.get(frame).queued_at + self.config.indirect_timeout;
        mac.expires_at = Some(at);
        self.events.push(at, Event::Mac(Timer::Expire(child)));
    }

    /// Drops the frames that have waited too long for a child. A frame on the air stays.
    pub(super) fn expire(&mut self, now: Instant, child: NodeId) {
        self.node(child).mac.expires_at = None;
        let Some(parent) = self.tree.parent(child) else { return };
        let Station { phase, task, .. } = self.nodes[parent.index()].stations[0];
        if phase != Phase::Idle && task == Task::Kept(child) {
            let later = now + self.config.longest_exchange();
            self.node(child).mac.expires_at = Some(later);
            return self.events.push(later, Event::Mac(Timer::Expire(child)));
        }
        self.drop_expired(now, child, self.config.indirect_timeout);
        self.arm_expiry(child);
    }

    /// A parent has received a frame of a CSL receiver that began at `begin`, and knows the time of its samples.
    pub(super) fn learn_samples(&mut self, now: Instant, child: NodeId, begin: Instant) {
        let sample = begin + BEFORE_HEADER + CSL_UNIT * u64::from(CsmaRules::phase(self, begin, child));
        let Some(known) = &mut self.node(child).mac.samples else { return };
        *known = Known { sample, heard: now, failures: 0, ..*known };
        self.schedule_sample(now, child);
    }

    /// Makes sure that the event queue has the next sample of a child for which frames wait.
    pub(super) fn schedule_sample(&mut self, now: Instant, child: NodeId) {
        let Some(csl) = &self.config.csl else { return };
        let Node { kept, mac, .. } = &mut self.nodes[child.index()];
        let waits = kept.head().is_some();
        let Some(known) = mac.samples.as_mut().filter(|known| waits && !known.is_scheduled) else { return };
        if known.failures >= CSL_ATTEMPTS || known.heard + csl.timeout <= now {
            return; // the child is not synchronised: its frames wait for a poll
        }
        let ahead = BEFORE_HEADER + CSL_REQUEST_AHEAD.max(ASSESSED_START);
        let interval = csl.interval();
        let late = (now + ahead).since(known.sample);
        let sample = known.sample + interval * late.as_micros().div_ceil(interval.as_micros());
        known.is_scheduled = true;
        self.events.push(sample - (BEFORE_HEADER + ASSESSED_START), Event::Mac(Timer::Sample(child)));
    }

    /// A sample of a child is near. Its parent sends the frame, if it has nothing else to do.
    pub(super) fn sample(&mut self, now: Instant, child: NodeId) {
        let Some(parent) = self.tree.parent(child) else { return };
        let Node { kept, mac, .. } = self.node(child);
        let waits = kept.head().is_some();
        let Some(known) = &mut mac.samples else { return };
        known.is_scheduled = false;
        let Node { stations: [station], queue, .. } = &self.nodes[parent.index()];
        let is_idle = station.phase == Phase::Idle && !self.nodes[parent.index()].is_off();
        if waits && is_idle && station.ready.max(queue.processor().free_at()) <= now {
            self.assess(now, parent, child);
        } else {
            self.schedule_sample(now, child);
        }
    }

    /// The frame was not sent into the sample, or not acknowledged. The next sample is due, or a poll.
    pub(super) fn miss_sample(&mut self, now: Instant, parent: StationId, child: NodeId) {
        self.schedule_sample(now, child);
        self.finish(now, parent);
    }
}
