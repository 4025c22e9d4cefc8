//! What the radio of one node has done beyond the regular.

use crate::clock::{Duration, Instant};
use crate::observer::RadioState;

/// What a node's radio does beyond the regular.
#[derive(Clone, Debug, Default)]
pub struct Radio {
    pub transmit: Duration,
    pub receive: Duration,
    /// On for traffic when it would otherwise be off, in spells that have ended.
    pub awake: Duration,
    /// The beginning of such a spell.
    pub awake_since: Option<Instant>,
    /// The end of the frame it has sent last.
    pub sending_until: Instant,
    /// Whether it has a frame to acknowledge.
    pub acknowledging: bool,
    /// How long before its parent's beacon it switches on.
    pub guard: Duration,
    /// Kept only while an observer watches radios.
    pub timeline: Timeline,
}

impl Radio {
    /// A frame that it has sent, or the rest of one, ends now.
    pub fn sent(&mut self, now: Instant, air: Duration, watched: bool) {
        self.transmit += air;
        if watched {
            self.timeline.frame(RadioState::Transmit, now - air, now);
        }
    }

    /// A frame that it has received, or the rest of one, ends now.
    pub fn received(&mut self, now: Instant, air: Duration, watched: bool) {
        self.receive += air;
        if watched {
            self.timeline.frame(RadioState::Receive, now - air, now);
        }
    }
}

/// What is known of a radio since the last report.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Frames sent and received, in the order in which they ended.
    pub frames: Vec<Span<RadioState>>,
    /// When it was on for traffic.
    pub spells: Vec<Span<()>>,
    /// Until when the observer has seen it.
    pub reported: Instant,
}

/// Something that lasted from one instant to another.
#[derive(Clone, Copy, Debug)]
pub struct Span<T> {
    pub from: Instant,
    pub to: Instant,
    pub what: T,
}

impl Timeline {
    /// A frame has ended.
    pub fn frame(&mut self, what: RadioState, from: Instant, to: Instant) {
        if from < to {
            self.frames.push(Span { from, to, what });
        }
    }

    /// A spell has ended.
    pub fn spell(&mut self, from: Instant, to: Instant) {
        if from < to {
            self.spells.push(Span { from, to, what: () });
        }
    }
}
