//! The summary of many records.

use crate::distribution::{Distribution, RELATIVE_ERROR};
use crate::record::{Holders, Outcome, Quantity, Record, quantities};
use crate::scenario::{Advice, Scenario};
use serde::{Serialize, Serializer};
use slowhand_net::address::Host;
use slowhand_net::drop_reason::DropReason;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use crate::distribution::Metric;

/// The most handshakes of which a summary keeps every value. Beyond it, quantiles come from a sketch. (Assumed: the
/// values of all metrics take 5 MB then.)
pub const MOST_EXACT: u64 = 10_000;

/// The most reasons of failures that a summary tells apart. Those that come later are counted together, by outcome and
/// end, as [`OTHER_REASONS`]. (Assumed: more than a reader reads. A library may write numbers into its texts.)
pub const MOST_REASONS: usize = 100;

/// The reason of failures whose own is one too many.
pub const OTHER_REASONS: &str = "other reasons";

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Handshakes that completed.
    pub completed: u64,
    /// The number of handshakes that failed, by outcome.
    pub failed: BTreeMap<&'static str, u64>,
    /// Why they failed. The most frequent reason comes first.
    pub failures: Vec<FailureCount>,
    /// The datagrams that the network lost, of all handshakes. The most frequent loss comes first. Those that the
    /// border router held back are not lost.
    pub losses: Vec<LossCount>,
    /// Every measured quantity over the completed handshakes, in the order of the record's columns.
    #[serde(serialize_with = "as_map")]
    pub metrics: Vec<(&'static str, Metric)>,
    /// Every measured quantity over the handshakes that failed.
    #[serde(serialize_with = "as_map")]
    pub metrics_failed: Vec<(&'static str, Metric)>,
    /// The time until every client of a world had its session or had given up for good. `None` if the worlds have
    /// one client only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub makespan: Option<Makespan>,
    /// The accuracy of the quantiles.
    pub quantiles: Quantiles,
}

/// The time that worlds with several clients took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Makespan {
    /// The number of worlds.
    pub worlds: u64,
    /// In how many of them every client has its session.
    pub completed: u64,
    /// From the instant at which the first client asked for a session until the last one had its own or gave up for good, in
    /// seconds, over the worlds.
    pub makespan_s: Metric,
}

/// Handshakes that failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureCount {
    /// The end of these handshakes: the [name](Outcome::name) of the outcome.
    pub outcome: &'static str,
    /// Which end failed first: `client` or `server`. `None` if neither failed: the handshake took too long.
    pub end: Option<&'static str>,
    /// In the words of the library, or of TCP below it; empty where there are none.
    pub reason: String,
    /// The number of these handshakes.
    pub count: u64,
}

/// Datagrams that were lost at one place for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossCount {
    /// Why: the [name](DropReason::name) of the reason.
    pub reason: &'static str,
    /// Where: the number of the node, of which 0 is the border router, or `internet`.
    #[serde(rename = "node", serialize_with = "as_node")]
    pub host: Host,
    /// The number of these datagrams.
    pub count: u64,
    /// The key of the scenario that changes it, where there is one.
    pub key: Option<&'static str>,
    /// The change of that key by which fewer are lost. `None` if there is no key, or if it asks for the loss.
    pub advice: Option<Advice>,
    /// The content of the reassembly buffers, where they were full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holders: Option<Holders>,
}

/// The accuracy of the quantiles of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// The bound of their relative error. 0: they are exact.
    pub relative_error: f64,
}

/// Summarises records of a scenario; those of a world stand together. Metrics are over the completed handshakes. There
/// are none if no handshake completed.
pub fn summarise<'a>(scenario: &Scenario, records: impl IntoIterator<Item = &'a Record>) -> Summary {
    let mut summariser = Summariser::default();
    records.into_iter().for_each(|record| summariser.add(record));
    summariser.summary(scenario)
}

/// Summarises records one after the other, and keeps none of them.
#[derive(Clone, Default)]
pub struct Summariser {
    handshakes: u64,
    failures: BTreeMap<Why, u64>,
    losses: BTreeMap<(DropReason, Host), (u64, Holders)>,
    completed: Metrics,
    failed: Metrics,
    makespan: Makespans,
}

/// Outcome, end, and reason.
type Why = (Outcome, Option<&'static str>, String);

impl Summariser {
    /// Adds a record. The records of a world come one after the other.
    pub fn add(&mut self, record: &Record) {
        if self.handshakes == MOST_EXACT {
            self.completed.sketch();
            self.failed.sketch();
            self.makespan.distribution.sketch();
        }
        self.handshakes += 1;
        self.makespan.add(record);
        for loss in record.losses.iter().filter(|loss| loss.reason != DropReason::Suppressed) {
            let (count, holders) = self.losses.entry((loss.reason, loss.host)).or_default();
            *count += loss.count;
            *holders += loss.holders;
        }
        if record.outcome == Outcome::Completed {
            return self.completed.add(record);
        }
        self.failed.add(record);
        let (end, reason) = match &record.failure {
            Some(failure) => (Some(failure.end_name()), failure.reason.clone()),
            None => (None, String::new()),
        };
        let mut why = (record.outcome, end, reason);
        if self.failures.len() >= MOST_REASONS && !self.failures.contains_key(&why) {
            why.2 = OTHER_REASONS.to_owned();
        }
        *self.failures.entry(why).or_default() += 1;
    }

    /// The summary of the records of this scenario that were added.
    pub fn summary(&self, scenario: &Scenario) -> Summary {
        let mut failed = BTreeMap::new();
        for ((outcome, ..), count) in &self.failures {
            *failed.entry(outcome.name()).or_default() += count;
        }
        let relative_error = if self.handshakes > MOST_EXACT { RELATIVE_ERROR } else { 0.0 };
        Summary {
            completed: self.completed.handshakes,
            failed,
            failures: self.failures(),
            losses: self.losses(scenario),
            metrics: self.completed.all(),
            metrics_failed: self.failed.all(),
            makespan: self.makespan.clone().finished(),
            quantiles: Quantiles { relative_error },
        }
    }

    fn failures(&self) -> Vec<FailureCount> {
        let of = |((outcome, end, reason), &count): (&Why, &u64)| FailureCount {
            outcome: outcome.name(),
            end: *end,
            reason: reason.clone(),
            count,
        };
        let mut failures: Vec<FailureCount> = self.failures.iter().map(of).collect();
        failures.sort_by(|a, b| (Reverse(a.count), &a.reason).cmp(&(Reverse(b.count), &b.reason)));
        failures
    }

    fn losses(&self, scenario: &Scenario) -> Vec<LossCount> {
        let of = |(&(reason, host), &(count, holders)): (&(DropReason, Host), &(u64, Holders))| {
            let remedy = scenario.remedy(reason, host, count, holders);
            let (key, advice) = (remedy.map(|remedy| remedy.key), remedy.and_then(|remedy| remedy.advice));
            let holders = (reason == DropReason::ReassemblyFull).then_some(holders);
            LossCount { reason: reason.name(), host, count, key, advice, holders }
        };
        let mut losses: Vec<LossCount> = self.losses.iter().map(of).collect();
        losses.sort_by_key(|loss| Reverse(loss.count));
        losses
    }
}

impl std::fmt::Debug for Summariser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summariser").field("handshakes", &self.handshakes).finish_non_exhaustive()
    }
}

/// The metrics of some handshakes.
#[derive(Clone)]
struct Metrics {
    handshakes: u64,
    distributions: Vec<(Distribution, Quantity)>,
}

impl Default for Metrics {
    fn default() -> Self {
        let distributions = quantities().map(|quantity| (Distribution::new(quantity.is_whole()), quantity));
        Self { handshakes: 0, distributions: distributions.collect() }
    }
}

impl Metrics {
    fn add(&mut self, record: &Record) {
        self.handshakes += 1;
        for (distribution, quantity) in &mut self.distributions {
            if let Some(value) = quantity.of(record) {
                distribution.add(value, record.seed);
            }
        }
    }

    fn sketch(&mut self) {
        self.distributions.iter_mut().for_each(|(distribution, _)| distribution.sketch());
    }

    /// All metrics that have values. Nothing that a record measures is negative, so no interval is.
    fn all(&self) -> Vec<(&'static str, Metric)> {
        let of = |(distribution, quantity): &(Distribution, Quantity)| {
            Some((quantity.field.name, distribution.metric()?.not_negative()))
        };
        self.distributions.iter().filter_map(of).collect()
    }
}

/// The worlds with several clients.
#[derive(Clone)]
struct Makespans {
    /// The world whose records are coming.
    open: Option<OpenWorld>,
    worlds: u64,
    completed: u64,
    distribution: Distribution,
}

/// A world whose records are coming.
#[derive(Clone, Copy)]
struct OpenWorld {
    seed: u64,
    clients: u64,
    completed: u64,
    start_s: f64,
    end_s: f64,
}

impl Default for Makespans {
    fn default() -> Self {
        Self { open: None, worlds: 0, completed: 0, distribution: Distribution::new(false) }
    }
}

impl Makespans {
    fn add(&mut self, record: &Record) {
        if self.open.is_none_or(|world| world.seed != record.seed) {
            self.close();
        }
        let none = OpenWorld { seed: record.seed, clients: 0, completed: 0, start_s: f64::INFINITY, end_s: 0.0 };
        let world = self.open.get_or_insert(none);
        world.clients += 1;
        world.completed += u64::from(record.outcome == Outcome::Completed);
        world.start_s = world.start_s.min(record.start_s);
        world.end_s = world.end_s.max(record.end_s);
    }

    /// No further record of the world comes.
    fn close(&mut self) {
        let Some(world) = self.open.take().filter(|world| world.clients > 1) else { return };
        self.worlds += 1;
        self.completed += u64::from(world.completed == world.clients);
        self.distribution.add(world.end_s - world.start_s, world.seed);
    }

    fn finished(mut self) -> Option<Makespan> {
        self.close();
        let makespan_s = self.distribution.metric()?.not_negative();
        Some(Makespan { worlds: self.worlds, completed: self.completed, makespan_s })
    }
}

fn as_map<S: Serializer>(metrics: &[(&'static str, Metric)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().copied())
}

fn as_node<S: Serializer>(host: &Host, serializer: S) -> Result<S::Ok, S::Error> {
    match host {
        Host::Node(node) => serializer.serialize_u16(node.0),
        Host::Internet => serializer.serialize_str("internet"),
    }
}

#[cfg(test)]
mod tests;
