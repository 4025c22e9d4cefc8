//! What the radio of one node does: the time in each state, for its energy, and the intervals of its timeline.

use super::schedule::Schedule;
use super::timing::Timing;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioInterval, RadioState, RadioTimes, RadioWork, Slots};

/// A part of a slot in which a radio is on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The state of the radio.
    pub state: RadioState,
    /// Start.
    pub from: Instant,
    /// End.
    pub to: Instant,
}

/// The most spans in a slot: waiting, frame, acknowledgement.
pub const SPANS: usize = 3;

/// The log of one radio. It does not record idle listening, which follows from the schedule and the used slots.
#[derive(Debug, Default)]
pub struct Activity {
    /// Sums over all used slots, with the whole last one.
    sums: RadioTimes,
    /// What else the radio did in the used slots before the last one.
    work: RadioWork,
    /// The used slots, with the last one, by what was sent and received in them.
    slots: Slots,
    /// The last used slot.
    last: Option<u64>,
    /// What the radio does in that slot.
    spans: [Option<Span>; SPANS],
    /// The number of used slots with a receive cell.
    used: u64,
    /// The number of slots with a receive cell before the last change of the schedule.
    before_change: u64,
    /// The slot of the last change of the schedule.
    changed: u64,
    /// The first slot in which the radio is switched off, while it is.
    off: Option<u64>,
    /// The timeline has all idle listening before this slot.
    shown: u64,
    /// The timeline has the idle listening of the current slot before this instant.
    reported: Instant,
}

impl Activity {
    /// The radio is used in slot `asn`: `spans`, in order. `listens` is true if it has a receive cell in this slot.
    #[inline]
    pub fn use_slot(&mut self, asn: u64, listens: bool, spans: [Option<Span>; SPANS]) {
        debug_assert!(self.last.is_none_or(|last| last < asn));
        self.work = self.work_at(None);
        self.last = Some(asn);
        *slot_kind(&mut self.slots, &spans) += 1;
        self.used += u64::from(listens);
        for span in spans.iter().flatten() {
            *sum(&mut self.sums, span.state) += span.to.since(span.from);
        }
        self.spans = spans;
    }

    /// Must be called before the schedule changes, with the first slot `asn` of the new one.
    pub fn change(&mut self, asn: u64, schedule: &Schedule) {
        self.before_change = self.receive_slots_before(asn, schedule);
        self.changed = asn;
    }

    /// The radio is switched on or off, from slot `asn` on. In the other slots until then its receive cells have counted.
    pub fn switch(&mut self, asn: u64, on: bool, schedule: &Schedule) {
        self.change(asn, schedule);
        if on {
            self.shown = self.shown.max(asn);
        }
        self.off = (!on).then_some(asn);
    }

    /// How long the radio has been in each state before `now`.
    pub fn times(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> RadioTimes {
        let mut times = self.sums;
        // Subtracts the part of the current slot after `now`. `changed` may be the next slot already.
        for span in self.spans.iter().flatten() {
            let ahead = span.to.since(now.clamp(span.from, span.to));
            let total = sum(&mut times, span.state);
            *total = total.saturating_sub(ahead);
        }
        let (idle, idle_now) = self.idle_slots(now, timing, schedule);
        times.listen += timing.guard * 2 * idle;
        if let Some(Span { from, to, .. }) = idle_now {
            times.listen += now.clamp(from, to).since(from);
        }
        let awake = times.transmit + times.receive + times.listen;
        times.sleep = now.since(Instant::ZERO).saturating_sub(awake);
        times
    }

    /// What else the radio has done before `now`: it starts in each slot in which it is on, and sleeps between slots.
    pub fn work(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> RadioWork {
        let mut work = self.work_at(Some(now));
        if timing.guard > Duration::ZERO {
            let (idle, idle_now) = self.idle_slots(now, timing, schedule);
            let idle = idle + u64::from(idle_now.is_some_and(|span| span.from < now));
            work.starts += idle;
            work.ramps += idle;
        }
        work
    }

    /// The slots before that of `now` in which the radio was on, and this slot if it was used, by what was sent and received.
    pub fn slots(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> Slots {
        Slots { rx_idle: self.idle_slots(now, timing, schedule).0, ..self.slots }
    }

    /// The work in all used slots, of the last one that before `now`.
    fn work_at(&self, now: Option<Instant>) -> RadioWork {
        let mut work = self.work;
        let mut before: Option<Span> = None;
        let begun = |span: &&Span| span.from < span.to && now.is_none_or(|now| span.from < now);
        for span in self.spans.iter().flatten().filter(begun) {
            match before {
                None => (work.starts, work.ramps) = (work.starts + 1, work.ramps + 1),
                Some(last) => {
                    work.ramps += u64::from(last.to < span.from);
                    work.ramps_from_ready += u64::from(last.to < span.from);
                }
            }
            before = Some(*span);
        }
        // It is ready between what it does in a slot.
        let next = self.spans.iter().flatten().skip(1).zip(self.spans.iter().flatten());
        for (span, last) in next.filter(|(span, last)| last.to < span.from) {
            work.ready += now.map_or(span.from, |now| now.clamp(last.to, span.from)).since(last.to);
        }
        work
    }

    /// The slots before that of `now` in which the radio listened in vain, and what it does in this slot if it does so again.
    fn idle_slots(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> (u64, Option<Span>) {
        let asn = timing.asn(now);
        let listens = schedule.listens_at(asn).is_some() && self.changed <= asn;
        let is_on = self.off.is_none_or(|off| asn < off);
        let used_now = listens && self.last == Some(asn);
        let idle_now = listens && self.last != Some(asn) && is_on;
        let used = self.used - u64::from(used_now);
        let idle = self.receive_slots_before(asn.max(self.changed), schedule).saturating_sub(used);
        (idle, idle_now.then(|| idle_span(asn, timing)))
    }

    /// Adds to the timeline the idle listening before slot `asn` that it does not have yet.
    pub fn show_idle(
        &mut self,
        node: NodeId,
        asn: u64,
        timing: &Timing,
        schedule: &Schedule,
        timeline: &mut Vec<RadioInterval>,
    ) {
        let slotframe = u64::from(schedule.slotframe());
        let asn = self.off.map_or(asn, |off| asn.min(off));
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

    /// Adds the idle listening before `now`, that of the current slot included.
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
        if self.shown == asn && schedule.listens_at(asn).is_some() && self.off.is_none_or(|off| asn < off) {
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

    /// Adds the use of the last used slot to the timeline.
    pub fn show_used(&mut self, node: NodeId, timeline: &mut Vec<RadioInterval>) {
        timeline.extend(self.spans.iter().flatten().map(|span| interval(node, *span)));
        self.shown = self.last.map_or(0, |last| last + 1);
    }

    fn receive_slots_before(&self, asn: u64, schedule: &Schedule) -> u64 {
        let asn = self.off.map_or(asn, |off| asn.min(off)).max(self.changed);
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

/// The kind of a used slot.
fn slot_kind<'a>(slots: &'a mut Slots, spans: &[Option<Span>; SPANS]) -> &'a mut u64 {
    let has = |state| spans.iter().flatten().any(|span| span.state == state);
    let sends_first = spans[0].is_some_and(|span| span.state == RadioState::Transmit);
    match (sends_first, has(RadioState::Transmit), has(RadioState::Receive), has(RadioState::Listen)) {
        (true, _, true, _) => &mut slots.tx_data_rx_ack,
        (true, _, false, true) => &mut slots.tx_data_rx_ack_none,
        (true, _, false, false) => &mut slots.tx_data,
        (false, true, ..) => &mut slots.rx_data_tx_ack,
        (false, false, ..) => &mut slots.rx_data,
    }
}

/// A receiver listens from the guard time before the expected start of a frame to the guard time after it.
fn idle_span(asn: u64, timing: &Timing) -> Span {
    let expected = timing.start(asn) + timing.transmit_offset + timing.lead;
    Span { state: RadioState::Listen, from: expected - timing.guard, to: expected + timing.guard }
}

fn interval(node: NodeId, Span { state, from, to }: Span) -> RadioInterval {
    RadioInterval { node, state, from, to }
}
