//! What is in the buffers of every node over time, kept while somebody watches.

use crate::observer::{BufferLevel, Observer};

/// The changes that the observer has not seen yet.
#[derive(Debug)]
pub(super) struct Levels {
    /// Until an observer has come, nobody knows whether it watches.
    wanted: bool,
    /// The last of each node.
    last: Vec<BufferLevel>,
    changes: Vec<BufferLevel>,
}

impl Levels {
    pub(super) fn new(nodes: usize) -> Self {
        Self { wanted: true, last: vec![BufferLevel::default(); nodes], changes: Vec::new() }
    }

    /// Whether changes are to be noted.
    pub(super) const fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// Notes what is in a node's buffers now.
    pub(super) fn note(&mut self, level: BufferLevel) {
        let last = &mut self.last[level.node.index()];
        if (BufferLevel { at: level.at, node: level.node, ..*last }) != level {
            *last = level;
            self.changes.push(level);
        }
    }

    /// Shows the observer what has changed.
    pub(super) fn show(&mut self, observer: &mut dyn Observer) {
        self.wanted = observer.watches_buffers();
        if self.wanted {
            self.changes.iter().for_each(|level| observer.buffers(level));
        }
        self.changes.clear();
    }
}
