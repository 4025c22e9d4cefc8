//! The radios' timelines, for an observer that watches from the start of the simulation.
//!
//! While an observer watches, the MAC keeps frames and the spells in which a node was on for traffic. The regular part
//! is computed when the timeline is reported: one window for each beacon.

use super::Beacon;
use super::config::Superframe;
use super::radio::Timeline;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::{Observer, RadioInterval, RadioState};

impl Beacon {
    /// Reports the timelines up to `now`. A frame on the air is reported as listening until it has ended.
    pub(super) fn report_timelines(&mut self, now: Instant, observer: &mut dyn Observer) {
        for node in (0..self.nodes.len() as u16).map(NodeId) {
            let radio = &mut self.nodes[node.index()].radio;
            let mut timeline = std::mem::take(&mut radio.timeline);
            radio.timeline.reported = now;
            if let Some(since) = radio.awake_since {
                timeline.spell(since, now);
            }
            self.add_regular(node, now, &mut timeline);
            timeline.frames.sort_by_key(|frame| frame.from);
            timeline.spells.sort_by_key(|spell| spell.from);
            report(node, now, &timeline, observer);
        }
    }

    /// Adds the node's own active periods, its parent's beacons, and listening when idle.
    fn add_regular(&self, node: NodeId, now: Instant, timeline: &mut Timeline) {
        let Superframe { cap, .. } = self.config.superframe;
        let beacon = self.config.idle_beacon();
        if self.is_coordinator(node) {
            for (_, begin) in self.beacons_between(node, timeline.reported, now) {
                timeline.frame(RadioState::Transmit, begin, begin + beacon);
                timeline.spell(begin, begin + cap);
            }
        }
        let Some(parent) = self.tree.parent(node) else { return };
        let radio = &self.nodes[node.index()].radio;
        for (number, begin) in self.beacons_between(parent, timeline.reported, now + radio.guard) {
            let received = self.nodes[node.index()].tracking.receives(number);
            if received {
                timeline.frame(RadioState::Receive, begin, begin + beacon);
            }
            let on = if received && self.config.rx_on_when_idle { cap } else { beacon };
            timeline.spell(begin - radio.guard, begin + on);
        }
    }

    /// Number and time of the beacons of a coordinator whose superframes overlap the time between two instants.
    fn beacons_between(
        &self,
        coordinator: NodeId,
        from: Instant,
        to: Instant,
    ) -> impl Iterator<Item = (u64, Instant)> + use<> {
        let first = self.first_beacon(coordinator);
        let interval = self.config.superframe.interval;
        let numbers = from.since(first).as_micros() / interval.as_micros()..;
        numbers.map(move |number| (number, first + interval * number)).take_while(move |&(_, begin)| begin < to)
    }
}

/// Shows the observer a radio's timeline up to `now`: its frames, and listening while it is on without a frame.
fn report(node: NodeId, now: Instant, timeline: &Timeline, observer: &mut dyn Observer) {
    let mut pending: Option<RadioInterval> = None;
    let mut show = |state, from: Instant, to: Instant| {
        let (from, to) = (from.max(timeline.reported), to.min(now));
        if from >= to {
            return;
        }
        match &mut pending {
            Some(last) if last.state == state && last.to == from => last.to = to,
            last => {
                if let Some(done) = last.replace(RadioInterval { node, state, from, to }) {
                    observer.radio(&done);
                }
            }
        }
    };
    let mut frames = timeline.frames.iter().peekable();
    for spell in &timeline.spells {
        let mut listening = spell.from;
        while let Some(frame) = frames.next_if(|frame| frame.from < spell.to) {
            show(RadioState::Listen, listening, frame.from);
            show(frame.what, frame.from, frame.to);
            listening = frame.to;
        }
        show(RadioState::Listen, listening, spell.to);
    }
    if let Some(last) = pending {
        observer.radio(&last);
    }
}
