//! Runs many worlds on several threads: one world for each seed.
//!
//! The threads hand over the records in the order of the seeds. So nothing that follows from the records depends on the
//! number of threads, and a run that keeps no records needs no memory for those that are done.

use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::Record;
use crate::scenario::Scenario;
use crate::summary::{Summariser, Summary};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The most threads of a run.
pub const MAX_THREADS: usize = 1024;

/// No further world begins while so many worlds, or so many records, wait for a world with an earlier seed. Worlds that
/// have begun go on: so at most this number of worlds and one for each thread wait, and at most this number of records
/// and those of one world for each thread. (Assumed: 9 MB.)
const MOST_WAITING: usize = 10_000;

/// The most panics of a run whose messages are kept. (Assumed: more than a reader reads.)
const MOST_PANICS: usize = 100;

/// The configuration of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// The seed of the first world. The others follow one by one.
    pub first_seed: u64,
    /// The number of worlds.
    pub count: u64,
    /// The number of threads; the results do not depend on it.
    pub threads: usize,
    /// True if all records are kept, false if only their summary is.
    pub keeps_records: bool,
}

/// A run that cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Something that the scenario asks for cannot be built.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A run of no world.
    #[error("count: found 0, allowed: 1 or more")]
    NoWorld,
    /// A number of threads that is 0 or too large.
    #[error("threads: found {0}, allowed: from 1 to {MAX_THREADS}")]
    Threads(usize),
    /// The system starts no further thread.
    #[error("threads: the system starts no further thread: {0}")]
    Refused(std::io::Error),
    /// The last seed does not fit into 64 bits.
    #[error("count: found {count}, allowed: at most {}, so that the last seed is at most {}", u64::MAX - first_seed + 1, u64::MAX)]
    Seeds {
        /// The first seed.
        first_seed: u64,
        /// The number of worlds.
        count: u64,
    },
}

impl RunConfig {
    fn check(&self) -> Result<(), RunError> {
        let Self { first_seed, count, threads, .. } = *self;
        let last = count.checked_sub(1).ok_or(RunError::NoWorld)?;
        first_seed.checked_add(last).ok_or(RunError::Seeds { first_seed, count })?;
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(RunError::Threads(threads));
        }
        Ok(())
    }
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

/// The results of a run.
#[derive(Debug)]
pub struct Finished {
    /// The records, ordered by seed, then client. Empty if the run does not keep them.
    pub records: Vec<Record>,
    /// The summary of all records.
    pub summary: Summary,
    /// The first worlds that panicked, by seed, 100 at most. They have no records.
    pub panicked: Vec<Panicked>,
    /// The number of worlds that panicked.
    pub panicked_count: u64,
}

/// A world that panicked: an error in slowhand or in a library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the world of seed {seed} panicked: {message}")]
pub struct Panicked {
    /// The seed of the world.
    pub seed: u64,
    /// The message of the panic.
    pub message: String,
}

/// A run in progress: worlds with consecutive seeds. Its methods may be called from several threads.
#[derive(Debug)]
pub struct Runner {
    shared: Arc<Shared>,
    finished: OnceLock<Finished>,
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    config: RunConfig,
    interrupt: Interrupt,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of worlds that have begun.
    begun: u64,
    /// The number of worlds that are done.
    done: u64,
    /// The number of worlds that have handed over their records.
    handed_over: u64,
    /// The results of worlds that are done, by the number of the world, while a world with an earlier seed is not.
    waiting: BTreeMap<u64, Result<Vec<Record>, Panicked>>,
    /// The number of records that wait.
    waiting_records: usize,
    summariser: Summariser,
    records: Vec<Record>,
    panicked: Vec<Panicked>,
    panicked_count: u64,
    idle_threads: usize,
}

impl Runner {
    /// Starts the worlds of a scenario.
    ///
    /// # Errors
    /// The configuration is not possible, or what the scenario asks for cannot be built; see [`Plan::new`].
    pub fn start(scenario: &Scenario, config: RunConfig) -> Result<Self, RunError> {
        config.check()?;
        let plan = Plan::new(scenario)?;
        Self::start_worlds(scenario, config, move |seed, interrupt| plan.run_until(interrupt, seed, &mut ()))
    }

    /// Starts worlds that this function runs: from a seed to records.
    fn start_worlds<W>(scenario: &Scenario, config: RunConfig, run: W) -> Result<Self, RunError>
    where
        W: Fn(u64, &Interrupt) -> Option<Vec<Record>> + Send + Sync + 'static,
    {
        let shared = Arc::new(Shared {
            scenario: scenario.clone(),
            config,
            interrupt: Interrupt::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let run = Arc::new(run);
        let runner = Self { shared, finished: OnceLock::new() };
        for _ in 0..runner.shared.threads() {
            let (shared, run) = (Arc::clone(&runner.shared), Arc::clone(&run));
            let started = std::thread::Builder::new().spawn(move || shared.work(&*run));
            started.map_err(RunError::Refused)?; // the runner is dropped, and that cancels it
        }
        Ok(runner)
    }

    /// Waits until all worlds are done, or `timeout` is over.
    pub fn wait(&self, timeout: Duration) -> Progress {
        // Beyond the end of the clock: without a limit.
        let end = Instant::now().checked_add(timeout);
        let mut state = self.shared.lock();
        loop {
            let finished = state.idle_threads == self.shared.threads();
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if finished || left.is_some_and(|left| left.is_zero()) {
                return Progress { done: state.done, total: self.shared.config.count, finished };
            }
            state = match left {
                Some(left) => self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Ends the run: no further world begins, and the worlds in progress stop and have no records. Does not wait for
    /// them.
    pub fn cancel(&self) {
        let _state = self.shared.lock(); // so that no thread misses the call between its check and its wait
        self.shared.interrupt.set();
        self.shared.changed.notify_all();
    }

    /// Waits for the end of the run; returns its results.
    pub fn finish(&self) -> &Finished {
        self.wait(Duration::MAX);
        self.finished.get_or_init(|| {
            let mut state = self.shared.lock();
            // Takes results that wait for worlds that were interrupted.
            while let Some((_, result)) = state.waiting.pop_first() {
                state.take(result, &self.shared.config);
            }
            Finished {
                summary: state.summariser.summary(&self.shared.scenario),
                records: std::mem::take(&mut state.records),
                panicked: std::mem::take(&mut state.panicked),
                panicked_count: state.panicked_count,
            }
        })
    }
}

/// A run that is dropped is cancelled.
impl Drop for Runner {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    fn threads(&self) -> usize {
        self.config.threads.min(usize::try_from(self.config.count).unwrap_or(usize::MAX))
    }

    /// The work of a thread: world after world.
    fn work(&self, run: &(impl Fn(u64, &Interrupt) -> Option<Vec<Record>> + ?Sized)) {
        // Dropped whatever happens, so that `wait` does not wait for this thread forever.
        let _idle = Idle(self);
        while let Some(number) = self.next_world() {
            let seed = self.config.first_seed + number;
            // A world that panicked is not used again.
            match catch_unwind(AssertUnwindSafe(|| run(seed, &self.interrupt))) {
                Ok(Some(records)) => self.hand_over(number, Ok(records)),
                Ok(None) => return,
                Err(panic) => self.hand_over(number, Err(Panicked { seed, message: message(&*panic) })),
            }
        }
    }

    /// The number of the next world, once it may begin. `None` if there is none.
    fn next_world(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            if self.interrupt.is_set() || state.begun == self.config.count {
                return None;
            }
            if !state.is_full() {
                state.begun += 1;
                return Some(state.begun - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A world is done. Takes its result and those that waited for it.
    fn hand_over(&self, number: u64, result: Result<Vec<Record>, Panicked>) {
        let mut state = self.lock();
        state.done += 1;
        state.waiting_records += result.as_ref().map_or(0, Vec::len);
        state.waiting.insert(number, result);
        let was_full = state.is_full();
        loop {
            let next = state.handed_over;
            let Some(result) = state.waiting.remove(&next) else { break };
            state.handed_over += 1;
            state.waiting_records -= result.as_ref().map_or(0, Vec::len);
            state.take(result, &self.config);
        }
        if was_full {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Worlds run, and may panic, without this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// True if no further world may begin.
    fn is_full(&self) -> bool {
        self.waiting.len() >= MOST_WAITING || self.waiting_records >= MOST_WAITING
    }

    /// Takes the result of the next world.
    fn take(&mut self, result: Result<Vec<Record>, Panicked>, config: &RunConfig) {
        let records = match result {
            Ok(records) => records,
            Err(panicked) => {
                self.panicked_count += 1;
                if self.panicked.len() < MOST_PANICS {
                    self.panicked.push(panicked);
                }
                return;
            }
        };
        records.iter().for_each(|record| self.summariser.add(record));
        if config.keeps_records {
            self.records.extend(records);
        }
    }
}

struct Idle<'a>(&'a Shared);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.lock().idle_threads += 1;
        self.0.changed.notify_all();
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests;
