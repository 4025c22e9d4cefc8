//! Worlds on several threads, where the results of all of them are kept. The module `runner` has the runs, which may keep none.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The results of `work` for each number, on so many threads. A number for which it makes nothing, because it was interrupted, is
/// missing, and so are those that no thread has begun by then. The results do not depend on the number of threads.
///
/// # Panics
/// If `work` has: a panic of a world is one of the whole.
pub(crate) fn each<T: Send>(
    numbers: Range<u64>,
    threads: usize,
    work: impl Fn(u64) -> Option<T> + Sync,
) -> BTreeMap<u64, T> {
    let (next, found) = (AtomicU64::new(numbers.start), Mutex::new(BTreeMap::new()));
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let Some(made) = work(number) else { return };
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(number, made);
        }
    };
    let useful = usize::try_from(numbers.end.saturating_sub(numbers.start)).unwrap_or(usize::MAX).min(threads);
    std::thread::scope(|scope| {
        // This thread works too, so fewer threads than asked for are no error.
        let mut others = (1..useful).map(|_| std::thread::Builder::new().spawn_scoped(scope, run));
        others.all(|started| started.is_ok());
        run();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_there_once_with_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 1_000_000] {
            let squares = each(3..40, threads, |number| Some(number * number));
            assert_eq!(squares, (3..40).map(|number| (number, number * number)).collect(), "{threads} threads");
        }
        assert!(each(5..5, 3, Some).is_empty());
    }

    #[test]
    fn what_was_made_before_an_interrupt_is_kept() {
        let made = each(0..10, 1, |number| (number < 4).then_some(number));
        assert_eq!(made.into_values().collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
