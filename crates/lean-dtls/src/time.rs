//! Time as the owner of the engine counts it.

/// A point in time: milliseconds since any beginning that the owner chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// So many milliseconds after the beginning.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// Milliseconds since the beginning.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub(crate) const fn after(self, milliseconds: u32) -> Self {
        Self(self.0.saturating_add(milliseconds as u64))
    }
}

/// How long an end waits for the peer's answer before it sends its flight again (RFC 6347, section 4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The first wait in milliseconds. It doubles each time. Default: 9,000 (RFC 7925, section 11).
    pub initial_ms: u32,
    /// The longest wait in milliseconds. Default: 60,000 (RFC 6347, section 4.2.4.1).
    pub maximum_ms: u32,
    /// How many times a flight is sent again before the end gives up. Default: 7, as in tinyDTLS.
    pub retransmissions: u8,
}

impl Timeouts {
    /// The default of each.
    pub const DEFAULT: Self = Self { initial_ms: 9_000, maximum_ms: 60_000, retransmissions: 7 };
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The timer of the flight that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    timeouts: Timeouts,
    current_ms: u32,
    left: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Stopped,
    /// The wait begins when the flight has been sent.
    Sending,
    Until(Instant),
}

/// What an expired timer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    SendAgain,
    GiveUp,
}

impl Timer {
    pub(crate) const fn new(timeouts: Timeouts) -> Self {
        let Timeouts { initial_ms, retransmissions, .. } = timeouts;
        Self { timeouts, current_ms: initial_ms, left: retransmissions, state: State::Stopped }
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Until(deadline) => Some(deadline),
            State::Stopped | State::Sending => None,
        }
    }

    /// How long the current wait is, in milliseconds.
    #[cfg(feature = "acknowledgements")]
    pub(crate) const fn current(&self) -> u32 {
        self.current_ms
    }

    /// Something of the flight will be sent again before the wait is over. The wait then begins again.
    #[cfg(feature = "acknowledgements")]
    pub(crate) const fn send_again(&mut self) {
        if let State::Until(_) = self.state {
            self.state = State::Sending;
        }
    }

    /// A new flight will be sent, and waits for an answer.
    pub(crate) const fn start(&mut self) {
        *self = Self::new(self.timeouts);
        self.state = State::Sending;
    }

    /// The last datagram of the flight has been sent.
    pub(crate) fn sent(&mut self, now: Instant) {
        if self.state == State::Sending {
            self.state = State::Until(now.after(self.current_ms));
        }
    }

    pub(crate) const fn stop(&mut self) {
        self.state = State::Stopped;
    }

    /// What to do if the time has come.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<Expired> {
        if self.deadline()? > now {
            return None;
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.state = State::Stopped;
            return Some(Expired::GiveUp);
        };
        let maximum = self.timeouts.maximum_ms.max(self.timeouts.initial_ms);
        self.left = left;
        self.current_ms = self.current_ms.saturating_mul(2).min(maximum);
        self.state = State::Sending;
        Some(Expired::SendAgain)
    }
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use super::*;

    #[test]
    fn waits_double_up_to_the_maximum_and_end() {
        let mut timer = Timer::new(Timeouts { initial_ms: 2_000, maximum_ms: 7_000, retransmissions: 3 });
        timer.start();
        assert_eq!(timer.deadline(), None);
        timer.sent(Instant::from_millis(100));
        let mut at = Vec::new();
        let last = loop {
            let Some(deadline) = timer.deadline() else { panic!("it has to give up first") };
            assert_eq!(timer.expire(Instant::from_millis(deadline.as_millis() - 1)), None);
            at.push(deadline.as_millis());
            match timer.expire(deadline) {
                Some(Expired::SendAgain) => timer.sent(deadline),
                last => break last,
            }
        };
        // By hand: 2, 4, 7 and 7 s.
        assert_eq!((at, last), (vec![2_100, 6_100, 13_100, 20_100], Some(Expired::GiveUp)));
        assert_eq!(timer.deadline(), None);
    }
}
