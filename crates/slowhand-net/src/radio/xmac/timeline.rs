//! The radios' timelines, for an observer that watches them.

use super::XMac;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::{Observer, RadioInterval};
use crate::radio::timeline::{Span, Timeline};

impl XMac {
    /// Starts or stops keeping timelines.
    pub(super) fn keep_timelines(&mut self, watched: bool) {
        if self.watched != watched {
            self.watched = watched;
            for node in &mut self.nodes {
                node.timeline = watched.then(Timeline::default);
            }
        }
    }

    /// Shows the observer the timelines until `now`, and clears them.
    pub(super) fn report_timelines(&mut self, now: Instant, observer: &mut dyn Observer) {
        for (id, node) in (0..).map(NodeId).zip(&mut self.nodes) {
            node.settle(now);
            for Span { state, from, to } in node.timeline.iter_mut().flat_map(|timeline| timeline.drain()) {
                observer.radio(&RadioInterval { node: id, state, from, to });
            }
        }
    }
}
