//! Virtual time, as the clocks of programs show it.

/// Nanoseconds since the world began.
pub(crate) type Nanos = u64;

pub(crate) const SECOND: Nanos = 1_000_000_000;

/// The reading of the clock since the start of the machine when the world begins, in seconds. *Assumed*: programs do not expect a
/// machine that has just been switched on.
const BOOT_S: i64 = 1000;

/// The time now, and what the calendar shows at the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) now: Nanos,
    /// Seconds since 1970 when the world begins.
    date_s: i64,
}

/// `struct timespec`, or `struct timeval` with microseconds.
pub(crate) type Spec = [i64; 2];

impl Clocks {
    pub(crate) fn new(date_s: i64) -> Self {
        Self { now: 0, date_s }
    }

    /// The reading of a clock: seconds and nanoseconds. Computing takes no time, so the clocks that count it stand still.
    pub(crate) fn read(&self, clock: i32) -> Spec {
        let Some(base) = self.base(clock) else { return [0, 0] };
        let [seconds, nanos] = spec(self.now);
        [seconds + base, nanos]
    }

    /// The time at which a clock shows this.
    pub(crate) fn when(&self, clock: i32, shown: Spec) -> Option<Nanos> {
        let [seconds, nanos] = shown;
        Some(nanos_of([seconds.saturating_sub(self.base(clock)?).max(-1), nanos]).unwrap_or(Nanos::MAX))
    }

    /// The time after a duration.
    pub(crate) fn after(&self, duration: Nanos) -> Nanos {
        self.now.saturating_add(duration)
    }

    /// True if a deadline has passed, where there is one.
    pub(crate) fn is_over(&self, deadline: Option<Nanos>) -> bool {
        deadline.is_some_and(|deadline| deadline <= self.now)
    }

    fn base(&self, clock: i32) -> Option<i64> {
        match clock {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI | libc::CLOCK_REALTIME_ALARM => {
                Some(self.date_s)
            }
            libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_BOOTTIME
            | libc::CLOCK_BOOTTIME_ALARM => Some(BOOT_S),
            _ => None,
        }
    }
}

/// Nanoseconds as seconds and the rest.
pub(crate) fn spec(nanos: Nanos) -> Spec {
    [(nanos / SECOND) as i64, (nanos % SECOND) as i64]
}

/// Seconds and nanoseconds as nanoseconds: 0 if they are negative, `None` if they are too many.
pub(crate) fn nanos_of([seconds, nanos]: Spec) -> Option<Nanos> {
    if seconds < 0 {
        return Some(0);
    }
    (seconds as u64).checked_mul(SECOND)?.checked_add(nanos.max(0) as u64)
}

/// True if seconds and nanoseconds are what the calls of the kernel take.
pub(crate) fn is_valid([seconds, nanos]: Spec) -> bool {
    seconds >= 0 && (0..SECOND as i64).contains(&nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_what_it_was_waited_for() {
        let mut clocks = Clocks::new(1_893_456_000);
        clocks.now = 12_345_678_901;
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            assert_eq!(clocks.when(clock, clocks.read(clock)), Some(clocks.now));
        }
        assert_eq!(clocks.read(libc::CLOCK_REALTIME), [1_893_456_012, 345_678_901]);
        assert_eq!(clocks.when(libc::CLOCK_MONOTONIC, [0, 5]), Some(0), "it has passed");
        assert_eq!(clocks.when(libc::CLOCK_MONOTONIC, [i64::MAX, 0]), Some(Nanos::MAX));
    }
}
