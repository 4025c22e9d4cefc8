//! The time that a computation takes on a machine with other work.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The time that this thread has run on a processor. While others run, this time stands still, so that a busy machine changes it
/// little. Where the system does not tell (it is not Linux), the time that has passed.
pub fn time() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    std::thread::yield_now(); // the system brings its count up to date
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counts.and_then(|counts| counts.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}
