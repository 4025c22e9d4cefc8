//! What the radio of one node does: sums for its energy, intervals for its timeline.

use super::schedule::Schedule;
use super::timing::Timing;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioInterval, RadioState, RadioTimes};

/// A part of a slot in which a radio is on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// What it does.
    pub state: RadioState,
    /// From when ...
    pub from: Instant,
    /// ... to when.
    pub to: Instant,
}

/// The most spans that a slot has: wait, frame, acknowledgement.
const SPANS: usize = 3;

/// The log of one radio. Idle listening is not in it: it follows from the schedule and the slots that were used.
#[derive(Debug, Default)]
pub struct Activity {
    /// Sums over all slots that were used, the last one in full.
    sums: RadioTimes,
    /// The slot in which it was used last, and how.
    last: Option<u64>,
    spans: [Option<Span>; SPANS],
    /// Slots with a cell to receive in that were used.
    used: u64,
    /// Slots with a cell to receive in before the schedule was changed last, ...
    before_change: u64,
    /// ... in this slot.
    changed: u64,
    /// Before this slot, idle listening is part of the timeline already.
    shown: u64,
    /// What of the slot that goes on lies before that instant is so too.
    reported: Instant,
}

impl Activity {
    /// The radio is used in slot `asn`: `spans`, in order. `listens` says whether it has a cell to receive in then.
    pub fn use_slot(&mut self, asn: u64, listens: bool, spans: &[Span]) {
        debug_assert!(self.last.is_none_or(|last| last < asn) && spans.len() <= SPANS);
        self.last = Some(asn);
        self.used += u64::from(listens);
        self.spans = [None; SPANS];
        for (slot, span) in self.spans.iter_mut().zip(spans) {
            *slot = Some(*span);
            *sum(&mut self.sums, span.state) += span.to.since(span.from);
        }
    }

    /// The schedule is about to change, from slot `asn` on.
    pub fn change(&mut self, asn: u64, schedule: &Schedule) {
        self.before_change = self.receive_slots_before(asn, schedule);
        self.changed = asn;
    }

    /// How long the radio has been in each state before `now`.
    pub fn times(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> RadioTimes {
        let asn = timing.asn(now);
        let mut times = self.sums;
        // What lies ahead in the slot that goes on; a change to the schedule may already have been made for the next.
        for span in self.spans.iter().flatten() {
            let ahead = span.to.since(now.clamp(span.from, span.to));
            let total = sum(&mut times, span.state);
            *total = total.saturating_sub(ahead);
        }
        let idle_now = self.last != Some(asn) && schedule.listens_at(asn).is_some() && self.changed <= asn;
        let used_now = self.last == Some(asn) && schedule.listens_at(asn).is_some() && self.changed <= asn;
        let used = self.used - u64::from(used_now);
        let idle = self.receive_slots_before(asn.max(self.changed), schedule).saturating_sub(used);
        times.listen += timing.guard * 2 * idle;
        if idle_now {
            let Span { from, to, .. } = idle_span(asn, timing);
            times.listen += now.clamp(from, to).since(from);
        }
        let awake = times.transmit + times.receive + times.listen;
        times.sleep = now.since(Instant::ZERO).saturating_sub(awake);
        times
    }

    /// Adds to the timeline what has not been part of it: idle listening before slot `asn`.
    pub fn show_idle(
        &mut self,
        node: NodeId,
        asn: u64,
        timing: &Timing,
        schedule: &Schedule,
        timeline: &mut Vec<RadioInterval>,
    ) {
        let slotframe = u64::from(schedule.slotframe());
        while self.shown < asn {
            let (start, phase) = (self.shown - self.shown % slotframe, (self.shown % slotframe) as u16);
            let slots = schedule.receive_slots();
            for &slot in &slots[slots.partition_point(|&slot| slot < phase)..] {
                let listening = start + u64::from(slot);
                if listening < asn && self.last != Some(listening) {
                    self.show_listening(node, idle_span(listening, timing), timeline);
                }
            }
            self.shown = (start + slotframe).min(asn);
        }
    }

    /// Adds the idle listening before `now`, that of the slot that goes on included.
    pub fn show_idle_until(
        &mut self,
        node: NodeId,
        now: Instant,
        timing: &Timing,
        schedule: &Schedule,
        timeline: &mut Vec<RadioInterval>,
    ) {
        let asn = timing.asn(now);
        self.show_idle(node, asn, timing, schedule, timeline);
        if self.shown == asn && schedule.listens_at(asn).is_some() {
            let span = idle_span(asn, timing);
            self.show_listening(node, Span { to: span.to.min(now), ..span }, timeline);
        }
        self.reported = now;
    }

    fn show_listening(&self, node: NodeId, span: Span, timeline: &mut Vec<RadioInterval>) {
        let from = span.from.max(self.reported);
        if from < span.to {
            timeline.push(interval(node, Span { from, ..span }));
        }
    }

    /// Adds to the timeline how the last slot was used.
    pub fn show_used(&mut self, node: NodeId, timeline: &mut Vec<RadioInterval>) {
        timeline.extend(self.spans.iter().flatten().map(|span| interval(node, *span)));
        self.shown = self.last.map_or(0, |last| last + 1);
    }

    fn receive_slots_before(&self, asn: u64, schedule: &Schedule) -> u64 {
        let since_change = schedule.receive_slots_before(asn) - schedule.receive_slots_before(self.changed);
        self.before_change + since_change
    }
}

fn sum(times: &mut RadioTimes, state: RadioState) -> &mut Duration {
    match state {
        RadioState::Transmit => &mut times.transmit,
        RadioState::Receive => &mut times.receive,
        RadioState::Listen => &mut times.listen,
    }
}

/// A receiver listens around the moment at which a frame has to begin.
fn idle_span(asn: u64, timing: &Timing) -> Span {
    let expected = timing.start(asn) + timing.transmit_offset;
    Span { state: RadioState::Listen, from: expected - timing.guard, to: expected + timing.guard }
}

fn interval(node: NodeId, Span { state, from, to }: Span) -> RadioInterval {
    RadioInterval { node, state, from, to }
}
