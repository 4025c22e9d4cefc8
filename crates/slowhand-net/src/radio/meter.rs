//! What one radio does over time: the time in each state, and how often it starts and ramps up.

use crate::clock::Instant;
use crate::observer::{RadioState, RadioTimes, RadioWork};

/// Adds up the pieces of a radio's time, which come in order. Between the pieces it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    times: RadioTimes,
    work: RadioWork,
    /// The end of the last piece.
    until: Instant,
    /// True if the radio listened or sent in the last piece.
    on: bool,
}

/// What a radio that does not sleep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// It is ready: its oscillator runs, and it neither listens nor sends.
    Ready,
    /// It is in this state.
    On(RadioState),
}

impl Default for Meter {
    /// A radio that is on at time 0 was on before.
    fn default() -> Self {
        Self { times: RadioTimes::default(), work: RadioWork::default(), until: Instant::ZERO, on: true }
    }
}

impl Meter {
    /// The radio does this from one instant to another.
    pub fn add(&mut self, piece: Piece, from: Instant, to: Instant) {
        if from >= to {
            return;
        }
        debug_assert!(self.until <= from, "{piece:?} from {from:?}, after {:?}", self.until);
        let slept = self.until < from;
        self.work.starts += u64::from(slept);
        let is_on = piece != Piece::Ready;
        self.work.ramps += u64::from(is_on && (slept || !self.on));
        *match piece {
            Piece::Ready => &mut self.work.ready,
            Piece::On(RadioState::Transmit) => &mut self.times.transmit,
            Piece::On(RadioState::Receive) => &mut self.times.receive,
            Piece::On(RadioState::Listen) => &mut self.times.listen,
        } += to.since(from);
        (self.until, self.on) = (to, is_on);
    }

    /// How long it was in each state until `now`.
    pub fn times(&self, now: Instant) -> RadioTimes {
        let RadioTimes { transmit, receive, listen, .. } = self.times;
        RadioTimes { sleep: now.since(Instant::ZERO).saturating_sub(transmit + receive + listen), ..self.times }
    }

    /// What else it did.
    pub fn work(&self) -> RadioWork {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Duration;

    fn metered(pieces: &[(Piece, u64, u64)]) -> Meter {
        let mut meter = Meter::default();
        for &(piece, from, to) in pieces {
            meter.add(piece, Instant::from_micros(from), Instant::from_micros(to));
        }
        meter
    }

    fn work(starts: u64, ramps: u64, ready: u64) -> RadioWork {
        RadioWork { starts, ramps, ready: Duration::from_micros(ready) }
    }

    const LISTEN: Piece = Piece::On(RadioState::Listen);
    const RECEIVE: Piece = Piece::On(RadioState::Receive);
    const SEND: Piece = Piece::On(RadioState::Transmit);

    #[test]
    fn a_poll_starts_once_and_ramps_up_for_each_time_that_it_is_on() {
        use Piece::Ready;
        // Back-off, assessment, turnaround, frame, turnaround, acknowledgement.
        let poll = [
            (Ready, 100, 740),
            (LISTEN, 740, 868),
            (Ready, 868, 1060),
            (SEND, 1060, 1900),
            (Ready, 1900, 2092),
            (RECEIVE, 2092, 2444),
        ];
        let meter = metered(&poll);
        assert_eq!(meter.work(), work(1, 3, 640 + 192 + 192));
        let times = meter.times(Instant::from_micros(3_000));
        let [transmit, receive, listen] = [840, 352, 128].map(Duration::from_micros);
        assert_eq!(times, RadioTimes { transmit, receive, listen, sleep: Duration::from_micros(3_000 - 1_320) });
    }

    #[test]
    fn a_radio_that_is_always_on_never_starts() {
        assert_eq!(
            metered(&[(LISTEN, 0, 50), (SEND, 50, 90), (RECEIVE, 90, 95), (LISTEN, 95, 100)]).work(),
            work(0, 0, 0)
        );
        // Nor one that was on before and is switched off for a time, but once.
        assert_eq!(metered(&[(LISTEN, 0, 50), (LISTEN, 80, 90)]).work(), work(1, 1, 0));
    }

    #[test]
    fn a_piece_without_time_is_none() {
        assert_eq!(
            metered(&[(LISTEN, 10, 10), (LISTEN, 20, 30), (SEND, 30, 30), (LISTEN, 30, 40)]).work(),
            work(1, 1, 0)
        );
    }
}
