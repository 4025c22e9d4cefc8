//! What each radio did when, for an observer that watches.
//!
//! Kept at each change of what a radio does, which is when its times are booked too. Idle wake-ups are worked out then.

use super::XMac;
use super::node::{Node, Radio};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::{Observer, RadioInterval, RadioState};

/// What a radio did since the last report.
#[derive(Debug, Default)]
pub struct Timeline(Vec<Span>);

#[derive(Clone, Copy, Debug)]
struct Span {
    state: RadioState,
    from: Instant,
    to: Instant,
}

impl Timeline {
    /// Not every change is one of state: what follows in the same state lengthens the span.
    fn add(&mut self, state: RadioState, from: Instant, to: Instant) {
        match self.0.last_mut() {
            _ if from >= to => {}
            Some(last) if last.state == state && last.to == from => last.to = to,
            _ => self.0.push(Span { state, from, to }),
        }
    }
}

impl Node {
    /// Adds what the radio did since the last change; to be called where the times are booked.
    pub fn keep_timeline(&mut self, now: Instant) {
        let Some(mut timeline) = self.timeline.take() else { return };
        match self.radio() {
            Radio::Off => {}
            Radio::On(state) => timeline.add(state, self.settled, now),
            Radio::Cycle => {
                timeline.add(RadioState::Listen, self.settled, self.attentive_to(now));
                for (from, to) in self.cycle.wake_ups(self.cycle_from(now), now) {
                    timeline.add(RadioState::Listen, from, to);
                }
            }
        }
        self.timeline = Some(timeline);
    }
}

impl XMac {
    /// Begins to keep timelines, or ends it.
    pub(super) fn keep_timelines(&mut self, watched: bool) {
        if self.watched != watched {
            self.watched = watched;
            for node in &mut self.nodes {
                node.timeline = watched.then(Timeline::default);
            }
        }
    }

    /// Shows the observer all that has been kept until `now`, and forgets it.
    pub(super) fn report_timelines(&mut self, now: Instant, observer: &mut dyn Observer) {
        for (id, node) in (0..).map(NodeId).zip(&mut self.nodes) {
            node.settle(now);
            for Span { state, from, to } in node.timeline.iter_mut().flat_map(|timeline| timeline.0.drain(..)) {
                observer.radio(&RadioInterval { node: id, state, from, to });
            }
        }
    }
}
