//! The timeline of one radio, for an observer that watches radios.

use crate::clock::Instant;
use crate::observer::RadioState;

/// The states of a radio since the last report. Each change of state adds to it. Idle
/// wake-ups are computed then.
#[derive(Debug, Default)]
pub struct Timeline(Vec<Span>);

/// A state of a radio, with start and end.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub state: RadioState,
    pub from: Instant,
    pub to: Instant,
}

impl Timeline {
    /// Adds a span. Extends the last span if the state is the same.
    pub fn add(&mut self, state: RadioState, from: Instant, to: Instant) {
        match self.0.last_mut() {
            _ if from >= to => {}
            Some(last) if last.state == state && last.to == from => last.to = to,
            _ => self.0.push(Span { state, from, to }),
        }
    }

    /// Takes all spans, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Span> + '_ {
        self.0.drain(..)
    }
}
