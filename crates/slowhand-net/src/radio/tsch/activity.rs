//! The activity of one node's radio: the time in each state, for its energy, and the intervals of its timeline.

use super::schedule::Schedule;
use super::timing::{AirTimes, Timing};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioInterval, RadioState, RadioTimes, RadioWork, Slots};
use crate::radio::meter::{Meter, Span};
use crate::radio::phy::SYMBOL;

listed! {
    /// The use of a slot in which a radio sends or receives. See [`Slots`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Use {
        TxDataRxAck,
        TxDataRxAckNone,
        TxData,
        RxDataTxAck,
        RxData,
    }
}

/// In a slot at most: waiting, frame, acknowledgement.
type Spans = [Option<Span>; 3];

/// The log of one radio. It does not record idle listening, which follows from the schedule and the used slots.
#[derive(Debug, Default)]
pub struct Activity {
    /// Sums over all used slots, with the whole last one.
    sums: RadioTimes,
    /// The number of used slots, with the last one, by [`Use`].
    uses: [u64; Use::ALL.len()],
    /// The last used slot.
    last: Option<u64>,
    /// The use of that slot, and its times.
    last_use: Option<Use>,
    spans: Spans,
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
    /// The radio is used in slot `asn`, with these times on the air. `listens` is true if it has a receive cell in this slot.
    #[inline]
    pub fn use_slot(&mut self, asn: u64, listens: bool, to: Use, air: &AirTimes, timing: &Timing) {
        debug_assert!(self.last.is_none_or(|last| last < asn));
        (self.last, self.last_use) = (Some(asn), Some(to));
        self.uses[to as usize] += 1;
        self.used += u64::from(listens);
        self.spans = to.spans(air, timing);
        for span in self.spans.iter().flatten() {
            *self.sums.of_mut(span.state) += span.to.since(span.from);
        }
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

    /// The time that the radio has been in each state before `now`.
    pub fn times(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> RadioTimes {
        let mut times = self.sums;
        // Subtracts the part of the current slot after `now`. `changed` may be the next slot already.
        for span in self.spans.iter().flatten() {
            let ahead = span.to.since(now.clamp(span.from, span.to));
            let total = times.of_mut(span.state);
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

    /// The other work of the radio before `now`: it starts in each slot in which it is on, and sleeps between slots.
    pub fn work(&self, now: Instant, timing: &Timing, schedule: &Schedule) -> RadioWork {
        let mut work = work_of(&self.spans, now);
        for (to, times) in Use::ALL.into_iter().zip(self.uses) {
            let times = times - u64::from(self.last_use == Some(to));
            let RadioWork { starts, ramps, ramps_from_ready, ready } = to.work(timing);
            work.starts += starts * times;
            work.ramps += ramps * times;
            work.ramps_from_ready += ramps_from_ready * times;
            work.ready += ready * times;
        }
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
        let [tx_data_rx_ack, tx_data_rx_ack_none, tx_data, rx_data_tx_ack, rx_data] = self.uses;
        let rx_idle = self.idle_slots(now, timing, schedule).0;
        Slots { rx_idle, tx_data_rx_ack, tx_data_rx_ack_none, tx_data, rx_data_tx_ack, rx_data }
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
            timeline.push(Span { from, ..span }.of(node));
        }
    }

    /// Adds the use of the last used slot to the timeline.
    pub fn show_used(&mut self, node: NodeId, timeline: &mut Vec<RadioInterval>) {
        timeline.extend(self.spans.iter().flatten().map(|span| span.of(node)));
        self.shown = self.last.map_or(0, |last| last + 1);
    }

    fn receive_slots_before(&self, asn: u64, schedule: &Schedule) -> u64 {
        let asn = self.off.map_or(asn, |off| asn.min(off)).max(self.changed);
        let since_change = schedule.receive_slots_before(asn) - schedule.receive_slots_before(self.changed);
        self.before_change + since_change
    }
}

impl Use {
    /// The states of the radio in the slot, in order.
    #[inline]
    fn spans(self, air: &AirTimes, timing: &Timing) -> Spans {
        use RadioState::{Listen, Receive, Transmit};
        let AirTimes { start, end, ack_start, ack_end } = *air;
        let span = |state, from, to| Some(Span { state, from, to });
        let awaits_frame = || span(Listen, timing.awaited_from(start, timing.guard), start);
        let awaits_ack = |until| span(Listen, timing.awaited_from(ack_start, timing.ack_guard), until);
        match self {
            Self::TxDataRxAck => [span(Transmit, start, end), awaits_ack(ack_start), span(Receive, ack_start, ack_end)],
            Self::TxDataRxAckNone => {
                let until = timing.awaited_until(ack_start, timing.ack_guard);
                [span(Transmit, start, end), awaits_ack(until), None]
            }
            Self::TxData => [span(Transmit, start, end), None, None],
            Self::RxDataTxAck => [awaits_frame(), span(Receive, start, end), span(Transmit, ack_start, ack_end)],
            Self::RxData => [awaits_frame(), span(Receive, start, end), None],
        }
    }

    /// The other work of the radio in such a slot. The length of the frames does not matter.
    fn work(self, timing: &Timing) -> RadioWork {
        let air = timing.on_air(Instant::ZERO, SYMBOL, SYMBOL);
        work_of(&self.spans(&air, timing), air.ack_end + timing.slot)
    }
}

/// The other work of the radio before `now` in a slot: it starts once, and is ready between what it does.
fn work_of(spans: &Spans, now: Instant) -> RadioWork {
    let mut meter = Meter::default();
    let mut ended: Option<Instant> = None;
    for span in spans.iter().flatten() {
        if let Some(ended) = ended {
            meter.ready(ended, now.min(span.from));
        }
        meter.on(span.from, now.min(span.to));
        ended = Some(span.to);
    }
    meter.work()
}

/// A receiver listens from the guard time before the expected start of a frame to the guard time after it.
fn idle_span(asn: u64, timing: &Timing) -> Span {
    let expected = timing.start(asn) + timing.transmit_offset + timing.lead;
    Span { state: RadioState::Listen, from: expected - timing.guard, to: expected + timing.guard }
}
