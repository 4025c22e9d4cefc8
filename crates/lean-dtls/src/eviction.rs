//! When the connections of a server were used, for the policies that end one of them if a client finds no free slot. Without the
//! feature `eviction` there is no such policy, and nothing of this is kept.

use crate::time::Instant;

/// The number of uses so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    #[cfg(feature = "eviction")]
    count: u32,
}

impl Count {
    /// The next number.
    pub(crate) const fn next(&mut self) -> Self {
        #[cfg(feature = "eviction")]
        {
            self.count = self.count.wrapping_add(1);
        }
        *self
    }
}

/// The server's count when the connection was used last: when it was opened, when a record of the peer's arrived, or when data were
/// sent to it.
pub(crate) struct Age {
    #[cfg(feature = "eviction")]
    used: Count,
    /// The time of the last use. `None`: the owner will tell it next.
    #[cfg(feature = "eviction")]
    used_at: Option<Instant>,
}

#[cfg(not(feature = "eviction"))]
impl Age {
    pub(crate) const fn new(_: Count) -> Self {
        Self {}
    }

    pub(crate) const fn note_use(&mut self, _: Count, _: Option<Instant>) {}

    pub(crate) const fn tell(&mut self, _: Instant) {}
}

#[cfg(feature = "eviction")]
impl Age {
    /// Of a connection that is opened now.
    pub(crate) const fn new(now: Count) -> Self {
        Self { used: now, used_at: None }
    }

    /// The connection is used now.
    pub(crate) const fn note_use(&mut self, now: Count, at: Option<Instant>) {
        (self.used, self.used_at) = (now, at);
    }

    /// The owner has told the time.
    pub(crate) fn tell(&mut self, now: Instant) {
        self.used_at = self.used_at.or(Some(now));
    }

    /// The number of uses of connections since this one was used last.
    pub(crate) const fn since_used(&self, now: Count) -> u32 {
        now.count.wrapping_sub(self.used.count)
    }

    /// True if it has not been used for so many milliseconds.
    pub(crate) fn is_idle(&self, idle_after_ms: u32, now: Instant) -> bool {
        self.used_at.is_some_and(|used| used.after(idle_after_ms) <= now)
    }
}
