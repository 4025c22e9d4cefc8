//! Shows an observer that watches what each radio did when.

use super::XMac;
use super::node::{Span, Timeline};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::observer::{Observer, RadioInterval};

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
            for Span { state, from, to } in node.timeline.iter_mut().flat_map(|timeline| timeline.drain()) {
                observer.radio(&RadioInterval { node: id, state, from, to });
            }
        }
    }
}
