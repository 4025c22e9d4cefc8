//! Runs many worlds on several threads: one world for each seed.

use crate::plan::{Plan, PlanError};
use crate::record::Record;
use crate::scenario::Scenario;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The most threads of a run.
const MAX_THREADS: usize = 1024;

/// A run in progress: worlds with consecutive seeds.
#[derive(Debug)]
pub struct Runner {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Worlds that are done.
    pub done: u64,
    /// Worlds in all.
    pub total: u64,
    /// True if all threads have ended.
    pub finished: bool,
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    first_seed: u64,
    count: u64,
    next: AtomicU64,
    cancelled: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    records: Vec<Record>,
    done: u64,
    idle_threads: usize,
}

impl Runner {
    /// Starts `count` worlds with consecutive seeds that begin with `first_seed`, on `threads` threads (at least one).
    ///
    /// # Errors
    /// What the scenario asks for cannot be built; see [`Plan::new`].
    pub fn start(scenario: &Scenario, first_seed: u64, count: u64, threads: usize) -> Result<Self, PlanError> {
        let shared = Arc::new(Shared {
            plan: Plan::new(scenario)?,
            first_seed,
            count,
            next: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let worker = |_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.work())
        };
        let most = usize::try_from(count).unwrap_or(usize::MAX).clamp(1, MAX_THREADS);
        let threads = (0..threads.clamp(1, most)).map(worker).collect();
        Ok(Self { shared, threads })
    }

    /// Waits until all worlds are done, or `timeout` is over.
    pub fn wait(&self, timeout: Duration) -> Progress {
        let end = Instant::now() + timeout;
        let mut state = self.shared.lock();
        loop {
            let finished = state.idle_threads == self.threads.len();
            let left = end.saturating_duration_since(Instant::now());
            if finished || left.is_zero() {
                return Progress { done: state.done, total: self.shared.count, finished };
            }
            (state, _) = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Starts no further world.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Waits for the worlds that have begun; returns the records ordered by seed, then client.
    pub fn finish(mut self) -> Vec<Record> {
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        let mut records = std::mem::take(&mut self.shared.lock().records);
        records.sort_by_key(|record| (record.seed, record.client));
        records
    }
}

/// A run that is dropped is cancelled.
impl Drop for Runner {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    fn work(&self) {
        // Dropped also when a world panics, so that `wait` does not wait for this thread forever.
        let _idle = Idle(self);
        while !self.cancelled.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                break;
            }
            let records = self.plan.run(self.first_seed.wrapping_add(number), &mut ());
            let mut state = self.lock();
            state.records.extend(records);
            state.done += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked held the lock only while it moved finished records.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Idle<'a>(&'a Shared);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.lock().idle_threads += 1;
        self.0.changed.notify_all();
    }
}
