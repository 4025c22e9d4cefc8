//! The buffer levels of every node over time, kept while an observer wants them.

use crate::observer::{BufferLevel, Observer};

/// The changes since the observer was last shown them.
#[derive(Debug)]
pub(super) struct Levels {
    /// True until the first observer says that it does not watch buffers.
    watched: bool,
    /// The last level of each node.
    last: Vec<BufferLevel>,
    changes: Vec<BufferLevel>,
}

impl Levels {
    pub(super) fn new(nodes: usize) -> Self {
        Self { watched: true, last: vec![BufferLevel::default(); nodes], changes: Vec::new() }
    }

    /// True if changes must be noted.
    pub(super) const fn are_watched(&self) -> bool {
        self.watched
    }

    /// Notes the level of a node's buffers, if it has changed.
    pub(super) fn note(&mut self, level: BufferLevel) {
        let last = &mut self.last[level.node.index()];
        if (BufferLevel { at: level.at, node: level.node, ..*last }) != level {
            *last = level;
            self.changes.push(level);
        }
    }

    /// Shows the observer the changes.
    pub(super) fn show(&mut self, observer: &mut dyn Observer) {
        self.watched = observer.watches_buffers();
        if self.watched {
            self.changes.iter().for_each(|level| observer.buffers(level));
        }
        self.changes.clear();
    }
}
