//! Time as the owner of the engine counts it.

mod growth;
mod instant;
mod round_trips;

use growth::Growing;
pub use growth::Growth;
pub use instant::Instant;
use round_trips::RoundTrips;

use crate::features::{Feature, OrOff, ROUND_TRIPS, Slot, Switch, VARIABLE_BACKOFF};

/// The time that an end waits for the peer's answer before it sends its flight again (RFC 6347, section 4.2.4).
///
/// They cost nothing but time and energy, and protect nothing: a wait is not visible to the peer. The defaults are
/// those for slow devices on slow links; see [How long to wait?](crate::decisions#how-long-to-wait)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The first wait in milliseconds. It doubles each time. Default: 9,000 (RFC 7925, section 11).
    pub initial_ms: u32,
    /// The longest wait in milliseconds. Default: 60,000 (RFC 6347, section 4.2.4.1).
    ///
    /// It also bounds how long a server keeps a slot for a client that has gone.
    pub maximum_ms: u32,
    /// The number of times that a flight is sent again before the end gives up. Default: 7, as in tinyDTLS.
    ///
    /// With all defaults an end gives up after 9 + 18 + 36 + 5 times 60 seconds: six minutes.
    pub retransmissions: u8,
    /// If there is one, the first wait in milliseconds is that of RFC 6298 as soon as a round trip has been measured, and not
    /// shorter than this: `initial_ms` is for the first flight alone. A round trip contains the time in which the peer computes
    /// its answer; that of the cookie exchange contains almost none, so choose a floor above the longest computation. Default:
    /// none. It needs the feature `round-trips`.
    ///
    /// It repeats a lost flight earlier on a fast path, and waits longer on a slow one, without anybody knowing the
    /// path beforehand. One exchange is measured, not an average, so on a link whose delay varies choose a floor of at
    /// least its usual delay. An attacker who holds back datagrams can make the waits longer, up to `maximum_ms`, as
    /// they could anyhow.
    pub floor_ms: Option<u32>,
    /// The growth of each wait out of the one before. Default: [`Growth::Double`].
    #[cfg(feature = "variable-backoff")]
    pub growth: Growth,
}

impl Timeouts {
    /// The default of each.
    pub const DEFAULT: Self = Self {
        initial_ms: 9_000,
        maximum_ms: 60_000,
        retransmissions: 7,
        floor_ms: None,
        #[cfg(feature = "variable-backoff")]
        growth: Growth::Double,
    };

    /// The growth of each wait out of the one before.
    const fn how_waits_grow(&self) -> Growth {
        #[cfg(feature = "variable-backoff")]
        return self.growth;
        #[cfg(not(feature = "variable-backoff"))]
        Growth::Double
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The timer of the flight that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    initial_ms: u32,
    maximum_ms: u32,
    floor_ms: OrOff<ROUND_TRIPS, Option<u32>>,
    current_ms: u32,
    growth: Slot<VARIABLE_BACKOFF, Growing>,
    /// The number of repetitions of a flight.
    budget: u8,
    left: u8,
    /// The repetitions that were left when the flight was new.
    began_with: u8,
    /// The wait was broken once, by something that anybody can have sent.
    is_hastened: bool,
    state: State,
    round_trips: Slot<ROUND_TRIPS, RoundTrips>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Stopped,
    /// The wait begins when the flight has been sent.
    Sending,
    Until(Instant),
}

/// The task of an expired timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    SendAgain,
    GiveUp,
}

impl Timer {
    /// A timer that does not run. `random` fills octets with random numbers.
    pub(crate) fn new(timeouts: Timeouts, random: impl FnOnce(&mut [u8; 2])) -> Self {
        let Timeouts { initial_ms, maximum_ms, retransmissions, floor_ms, .. } = timeouts;
        Self {
            growth: Feature::<VARIABLE_BACKOFF>::slot(|| Growing::new(timeouts.how_waits_grow(), random)),
            initial_ms,
            maximum_ms,
            floor_ms: Feature::<ROUND_TRIPS>::or_off(floor_ms),
            current_ms: initial_ms,
            left: retransmissions,
            budget: retransmissions,
            began_with: retransmissions,
            is_hastened: false,
            state: State::Stopped,
            round_trips: Feature::<ROUND_TRIPS>::slot(RoundTrips::default),
        }
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Until(deadline) => Some(deadline),
            State::Stopped | State::Sending => None,
        }
    }

    /// The length of the current wait, in milliseconds.
    pub(crate) const fn current(&self) -> u32 {
        self.current_ms
    }

    /// True if the flight may be sent again before the wait is over, because of something that anybody can have sent: once in each
    /// wait. So nobody makes this end send more than twice as much as its timer does.
    pub(crate) const fn hasten(&mut self) -> bool {
        !matches!(self.state, State::Until(_)) || !core::mem::replace(&mut self.is_hastened, true)
    }

    /// Two repetitions of the flight had no answer. (Assumed: one of them was not lost.)
    pub(crate) const fn is_in_vain(&self) -> bool {
        self.began_with - self.left >= 2
    }

    /// Another flight takes the place of the one that was sent, and waits for the same answer, with the repetitions that are left.
    pub(crate) fn go_on(&mut self) {
        self.repeat();
        (self.began_with, self.is_hastened, self.state) = (self.left, true, State::Sending);
    }

    /// Begins the waits again, but no later flight has more repetitions: so there is an end, however often this end has to begin again.
    pub(crate) fn begin_again(&mut self) {
        self.budget = self.left;
        self.go_on();
    }

    /// Something of the flight will be sent again before the wait is over. The wait then begins again.
    pub(crate) fn begin_wait_again(&mut self) {
        self.repeat();
        if let State::Until(_) = self.state {
            self.state = State::Sending;
        }
    }

    /// True if nobody waits for an answer.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state == State::Stopped
    }

    /// A new flight will be sent, and waits for an answer. The one before has been answered.
    pub(crate) fn start(&mut self) {
        self.stop();
        // With losses the wait stays as it has become, until a flight gets through at once (RFC 6347, section 4.2.4.1).
        let is_longer = self.floor_ms.is_some() && self.round_trips.iter().any(RoundTrips::is_repeated);
        self.begin_with(if is_longer { self.current_ms } else { self.first() });
        self.round_trips.iter_mut().for_each(RoundTrips::start);
        (self.left, self.began_with) = (self.budget, self.budget);
        (self.is_hastened, self.state) = (false, State::Sending);
    }

    /// The last datagram of the flight has been sent, or it cannot be sent.
    pub(crate) fn sent(&mut self, now: Instant) {
        if self.state == State::Sending {
            self.state = State::Until(now.after(self.wait()));
            self.round_trips.iter_mut().for_each(|round_trips| round_trips.sent(now));
        }
    }

    /// Notes that the flight is sent again, for whatever reason.
    pub(crate) fn repeat(&mut self) {
        self.round_trips.iter_mut().for_each(RoundTrips::repeat);
    }

    /// Stops the timer: the flight has been answered, or nobody waits for the answer any more.
    pub(crate) fn stop(&mut self) {
        self.state = State::Stopped;
        self.round_trips.iter_mut().for_each(RoundTrips::answered);
    }

    /// Tells the present time: an answer that has come came now.
    pub(crate) fn note(&mut self, now: Instant) {
        let is_measured = self.round_trips.iter_mut().any(|trips| trips.note(now) && !trips.is_repeated());
        if is_measured && self.state == State::Sending {
            self.begin_with(self.first());
        }
    }

    /// The last round trip that was measured, in milliseconds.
    pub(crate) fn last_round_trip(&self) -> Option<u32> {
        self.round_trips.first()?.last()
    }

    /// Sets the first wait of a flight.
    fn begin_with(&mut self, wait: u32) {
        self.current_ms = wait;
        if let Some(growth) = self.growth.first_mut() {
            growth.begin_with(wait);
        }
    }

    /// The first wait for an answer.
    fn first(&self) -> u32 {
        match self.floor_ms.zip(self.round_trips.first().and_then(RoundTrips::timeout)) {
            Some((floor, measured)) => measured.min(self.maximum_ms).max(floor),
            None => self.initial_ms,
        }
    }

    /// The current wait as this end has it.
    fn wait(&self) -> u32 {
        let longest = self.maximum_ms.max(self.current_ms);
        self.growth.first().map_or(self.current_ms, |growth| growth.dithered(self.current_ms).min(longest))
    }

    /// The wait after this one.
    fn longer(&self) -> u32 {
        match self.growth.first() {
            Some(growth) => growth.after(self.current_ms),
            None => self.current_ms.saturating_mul(2),
        }
    }

    /// Returns the task if the time has come.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<Expired> {
        if self.deadline()? > now {
            return None;
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.state = State::Stopped;
            return Some(Expired::GiveUp);
        };
        let maximum = self.maximum_ms.max(self.initial_ms);
        self.left = left;
        self.repeat();
        self.current_ms = self.longer().min(maximum);
        (self.is_hastened, self.state) = (false, State::Sending);
        Some(Expired::SendAgain)
    }
}

#[cfg(all(test, feature = "round-trips"))]
mod tests {
    use std::{vec, vec::Vec};

    use super::*;

    /// A timer that draws nothing.
    fn fixed(timeouts: Timeouts) -> Timer {
        Timer::new(timeouts, |_| unreachable!("a wait that doubles needs no random numbers"))
    }

    #[test]
    fn waits_double_up_to_the_maximum_and_end() {
        let mut timer =
            fixed(Timeouts { initial_ms: 2_000, maximum_ms: 7_000, retransmissions: 3, ..Timeouts::DEFAULT });
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

    /// Each is longer by nearly a half, but none is longer than the maximum: 0.3, 0.9, 2.7 and 3 s.
    #[test]
    #[cfg(feature = "variable-backoff")]
    fn dithered_waits_end_at_the_maximum() {
        let (growth, initial_ms, maximum_ms) = (Growth::Variable, 300, 3_000);
        let timeouts = Timeouts { growth, initial_ms, maximum_ms, retransmissions: 3, ..Timeouts::DEFAULT };
        let mut timer = Timer::new(timeouts, |share| *share = [0xff; 2]);
        let (mut now, mut waits) = (Instant::from_millis(0), Vec::new());
        timer.start();
        timer.sent(now);
        while let Some(deadline) = timer.deadline() {
            waits.push(deadline.as_millis() - now.as_millis());
            now = deadline;
            if timer.expire(now) == Some(Expired::SendAgain) {
                timer.sent(now);
            }
        }
        assert_eq!(waits, [449, 1_349, 3_000, 3_000]);
    }

    fn adaptive() -> Timer {
        fixed(Timeouts { floor_ms: Some(100), ..Timeouts::DEFAULT })
    }

    /// A flight is sent at one time and answered at another. Returns the first wait of the next one.
    fn answered(timer: &mut Timer, sent: u64, heard: u64) -> u64 {
        timer.start();
        timer.note(Instant::from_millis(sent));
        timer.sent(Instant::from_millis(sent));
        timer.start();
        timer.note(Instant::from_millis(heard));
        timer.sent(Instant::from_millis(heard));
        timer.deadline().map_or(0, |at| at.as_millis() - heard)
    }

    /// RFC 6298, section 2, by hand. R = 800: SRTT 800, RTTVAR 400, RTO 2400. Then R = 400: RTTVAR 3/4 * 400 + 1/4 * 400 = 400,
    /// SRTT 7/8 * 800 + 1/8 * 400 = 750, RTO 2350.
    #[test]
    fn the_first_wait_follows_what_was_measured() {
        let mut timer = adaptive();
        assert_eq!(answered(&mut timer, 1_000, 1_800), 2_400);
        timer.start();
        timer.note(Instant::from_millis(2_200));
        timer.sent(Instant::from_millis(2_200));
        assert_eq!(timer.deadline().map(Instant::as_millis), Some(2_200 + 2_350));
        assert_eq!(answered(&mut adaptive(), 0, 10), 100, "not below the floor");
        assert_eq!(answered(&mut adaptive(), 0, 40_000), 60_000, "not above the maximum");
        let mut without = fixed(Timeouts::DEFAULT);
        assert_eq!(answered(&mut without, 0, 10), 9_000, "not unless it is asked for");
    }

    /// Karn's rule, and RFC 6347, section 4.2.4.1: a flight that was sent twice is not measured, and the wait stays longer.
    #[test]
    fn a_flight_that_was_repeated_is_not_measured() {
        let mut timer = adaptive();
        assert_eq!(answered(&mut timer, 0, 800), 2_400);
        assert_eq!(timer.expire(Instant::from_millis(800 + 2_400)), Some(Expired::SendAgain));
        timer.sent(Instant::from_millis(3_200));
        timer.start();
        timer.note(Instant::from_millis(3_300));
        timer.sent(Instant::from_millis(3_300));
        assert_eq!(timer.last_round_trip(), Some(800));
        assert_eq!(timer.deadline().map(Instant::as_millis), Some(3_300 + 4_800));
        // The next one gets through at once: measured, 7/8 * 800 + 1/8 * 100 = 712, 3/4 * 400 + 1/4 * 700 = 475.
        timer.start();
        timer.note(Instant::from_millis(3_400));
        timer.sent(Instant::from_millis(3_400));
        assert_eq!(timer.deadline().map(Instant::as_millis), Some(3_400 + 712 + 4 * 475));
    }
}
