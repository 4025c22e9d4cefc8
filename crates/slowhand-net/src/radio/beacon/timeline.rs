//! The radios' timelines, for an observer that watches from the start of the simulation.
//!
//! While an observer watches, the MAC keeps frames and the spells in which a node was on for traffic. The regular part
//! is computed when the timeline is reported: one window for each beacon.

use super::Beacon;
use super::config::Superframe;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::{Observer, RadioInterval, RadioState};
use crate::radio::contention::Node;
use crate::radio::meter::Span;

impl Beacon {
    /// Reports a node's timeline up to `now`. A frame on the air is reported as listening until it has ended.
    pub(super) fn report_timeline(&mut self, now: Instant, node: NodeId, observer: &mut dyn Observer) {
        let radio = &mut self.node(node).radio;
        let since = std::mem::replace(&mut radio.reported, now);
        let (mut spells, mut frames): (Vec<Span>, Vec<Span>) =
            radio.account.drain().partition(|span| span.state == RadioState::Listen);
        spells.extend(radio.awake_since.map(|from| Span { state: RadioState::Listen, from, to: now }));
        self.add_regular(node, since, now, &mut frames, &mut spells);
        frames.sort_by_key(|frame| frame.from);
        spells.sort_by_key(|spell| spell.from);
        report(node, since, now, &frames, &spells, observer);
    }

    /// Adds the node's own active periods, its parent's beacons, and listening when idle.
    fn add_regular(&self, node: NodeId, since: Instant, now: Instant, frames: &mut Vec<Span>, spells: &mut Vec<Span>) {
        let Superframe { cap, .. } = self.config.superframe;
        let beacon = self.config.idle_beacon();
        if self.is_coordinator(node) {
            for (_, begin) in self.beacons_between(node, since, now) {
                frames.push(Span { state: RadioState::Transmit, from: begin, to: begin + beacon });
                spells.push(Span { state: RadioState::Listen, from: begin, to: begin + cap });
            }
        }
        let Some(parent) = self.tree.parent(node) else { return };
        let Node { radio, mac, .. } = &self.nodes[node.index()];
        for (number, begin) in self.beacons_between(parent, since, now + radio.guard) {
            let received = mac.tracking.receives(number);
            if received {
                frames.push(Span { state: RadioState::Receive, from: begin, to: begin + beacon });
            }
            let on = if received && self.config.rx_on_when_idle { cap } else { beacon };
            spells.push(Span { state: RadioState::Listen, from: begin - radio.guard, to: begin + on });
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

/// Shows the observer a radio's timeline from `since` to `now`: its frames, and listening while it is on without a frame.
fn report(node: NodeId, since: Instant, now: Instant, frames: &[Span], spells: &[Span], observer: &mut dyn Observer) {
    let mut pending: Option<RadioInterval> = None;
    let mut show = |state, from: Instant, to: Instant| {
        let (from, to) = (from.max(since), to.min(now));
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
    let mut frames = frames.iter().peekable();
    for spell in spells {
        let mut listening = spell.from;
        while let Some(frame) = frames.next_if(|frame| frame.from < spell.to) {
            show(RadioState::Listen, listening, frame.from);
            show(frame.state, frame.from, frame.to);
            listening = frame.to;
        }
        show(RadioState::Listen, listening, spell.to);
    }
    if let Some(last) = pending {
        observer.radio(&last);
    }
}
