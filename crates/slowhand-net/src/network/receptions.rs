//! The data frames that nodes have handled, kept while an observer wants them.

use crate::observer::{Observer, Reception};

/// The receptions since the observer was last shown them.
#[derive(Debug)]
pub(super) struct Receptions {
    /// True until the first observer says that it does not watch receptions.
    watched: bool,
    happened: Vec<Reception>,
}

impl Receptions {
    pub(super) fn new() -> Self {
        Self { watched: true, happened: Vec::new() }
    }

    /// Notes a reception, if it must be noted.
    #[inline]
    pub(super) fn note(&mut self, reception: Reception) {
        if self.watched {
            self.happened.push(reception);
        }
    }

    /// Shows the observer what has happened.
    pub(super) fn show(&mut self, observer: &mut dyn Observer) {
        self.watched = observer.watches_receptions();
        if self.watched {
            self.happened.iter().for_each(|reception| observer.reception(reception));
        }
        self.happened.clear();
    }
}
