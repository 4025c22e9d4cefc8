//! Events that an observer may want to see: changes of the buffer levels of each node, and data frames that nodes have handled.

use crate::observer::{BufferLevel, Observer};

/// The events since the observer was last shown them, kept while an observer wants them.
#[derive(Debug)]
pub(super) struct Watched<T> {
    /// True until the first observer says that it does not watch.
    is_wanted: bool,
    happened: Vec<T>,
}

impl<T> Default for Watched<T> {
    fn default() -> Self {
        Self { is_wanted: true, happened: Vec::new() }
    }
}

impl<T> Watched<T> {
    /// Notes an event, if it must be noted.
    #[inline]
    pub(super) fn note(&mut self, event: T) {
        if self.is_wanted {
            self.happened.push(event);
        }
    }

    /// Shows the observer the events, if it wants them.
    pub(super) fn show(&mut self, is_wanted: bool, observe: impl FnMut(&T)) {
        self.is_wanted = is_wanted;
        if is_wanted {
            self.happened.iter().for_each(observe);
        }
        self.happened.clear();
    }
}

/// The changes of buffer levels.
#[derive(Debug)]
pub(super) struct Levels {
    /// The last level of each node.
    last: Vec<BufferLevel>,
    changes: Watched<BufferLevel>,
}

impl Levels {
    pub(super) fn new(nodes: usize) -> Self {
        Self { last: vec![BufferLevel::default(); nodes], changes: Watched::default() }
    }

    /// True if changes must be noted.
    pub(super) const fn are_watched(&self) -> bool {
        self.changes.is_wanted
    }

    /// Notes the level of a node's buffers, if it has changed.
    pub(super) fn note(&mut self, level: BufferLevel) {
        let last = &mut self.last[level.node.index()];
        if (BufferLevel { at: level.at, node: level.node, ..*last }) != level {
            *last = level;
            self.changes.note(level);
        }
    }

    /// Shows the observer the changes.
    pub(super) fn show(&mut self, observer: &mut dyn Observer) {
        self.changes.show(observer.watches_buffers(), |level| observer.buffers(level));
    }
}
