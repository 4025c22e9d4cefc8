//! When the connections of a server were used, for the policies that end one of them if a client finds no free slot. Without the
//! feature `eviction` there is no such policy, and nothing of this is kept.

use crate::features::{EVICTION, Feature, Slot, Switch};
use crate::time::Instant;

/// The number of uses so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count(Slot<EVICTION, u32>);

impl Count {
    /// The next number.
    pub(crate) fn next(&mut self) -> Self {
        self.0.iter_mut().for_each(|count| *count = count.wrapping_add(1));
        *self
    }

    fn number(self) -> u32 {
        self.0.first().copied().unwrap_or(0)
    }
}

/// The server's count when the connection was used last: when it was opened, when a record of the peer's arrived, or when data were
/// sent to it.
pub(crate) struct Age {
    used: Count,
    /// The time of the last use. `None`: the owner will tell it next.
    used_at: Slot<EVICTION, Option<Instant>>,
}

impl Age {
    /// Of a connection that is opened now.
    pub(crate) fn new(now: Count) -> Self {
        Self { used: now, used_at: Feature::<EVICTION>::slot(|| None) }
    }

    /// The connection is used now.
    pub(crate) fn note_use(&mut self, now: Count, at: Option<Instant>) {
        (self.used, self.used_at) = (now, Feature::<EVICTION>::slot(|| at));
    }

    /// The owner has told the time.
    pub(crate) fn tell(&mut self, now: Instant) {
        self.used_at.iter_mut().for_each(|used| *used = used.or(Some(now)));
    }

    /// The number of uses of connections since this one was used last.
    pub(crate) fn since_used(&self, now: Count) -> u32 {
        now.number().wrapping_sub(self.used.number())
    }

    /// True if it has not been used for so many milliseconds.
    pub(crate) fn is_idle(&self, idle_after_ms: u32, now: Instant) -> bool {
        self.used_at.iter().flatten().any(|used| used.after(idle_after_ms) <= now)
    }
}
