//! The activity of one node's radio in addition to the regular beacons and active periods.

use crate::clock::{Duration, Instant};
use crate::observer::RadioState;

/// The activity of a node's radio in addition to the regular beacons and active periods.
#[derive(Clone, Debug, Default)]
pub struct Radio {
    pub transmit: Duration,
    pub receive: Duration,
    /// Time in which it was on for traffic and would otherwise be off, without the current spell.
    pub awake: Duration,
    /// Start of the current spell.
    pub awake_since: Option<Instant>,
    /// End of the last frame that it sent.
    pub sending_until: Instant,
    /// True if it has a frame to acknowledge.
    pub acknowledging: bool,
    /// It switches on this long before its parent's beacon.
    pub guard: Duration,
    /// Kept only while an observer watches radios.
    pub timeline: Timeline,
}

impl Radio {
    /// A sent frame, or the last part of one, ends now.
    pub fn sent(&mut self, now: Instant, air: Duration, watched: bool) {
        self.transmit += air;
        if watched {
            self.timeline.frame(RadioState::Transmit, now - air, now);
        }
    }

    /// A received frame, or the last part of one, ends now.
    pub fn received(&mut self, now: Instant, air: Duration, watched: bool) {
        self.receive += air;
        if watched {
            self.timeline.frame(RadioState::Receive, now - air, now);
        }
    }
}

/// The timeline of a radio since the last report.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Frames sent and received, in the order in which they ended.
    pub frames: Vec<Span<RadioState>>,
    /// The spells in which it was on for traffic.
    pub spells: Vec<Span<()>>,
    /// The observer has seen the timeline up to this instant.
    pub reported: Instant,
}

/// A state or spell with its start and end.
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
