//! Random scenarios, as TOML: every link layer, topology and kind of loss, every library, protocol and credential, and the
//! keys that change how a handshake goes. Most are valid. What the laboratory refuses is counted by who uses them.
//!
//! The worlds are small, so that hundreds run in seconds: at most seven nodes, and a minute or two of virtual time.

mod help;
mod link_layer;
mod mesh;
mod session;

use crate::random::Random;
use std::fmt;

pub use help::HELP;

/// The name of the file with [`TRACE`], as scenarios have it.
pub const TRACE_FILE: &str = "links.csv";

/// The delivery ratios that the scenarios with a trace have: the links of nodes 0 to 3 that every topology has some of.
pub const TRACE: &str = "time_s,from,to,channel,pdr
0,0,1,,0.9
0,1,0,,0.8
0,1,2,,0.95
0,2,1,,0.85
0,2,1,15,0.4
0,2,0,,0.7
0,0,2,,0.9
3,1,0,,0.5
3,0,1,,0.6
6,1,0,,0.97
9,2,1,,0.6
";

/// A random scenario: each key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomScenario {
    keys: Vec<(String, String)>,
}

impl RandomScenario {
    /// The scenario of a seed.
    pub fn new(seed: u64) -> Self {
        let mut draw = Draw { random: Random::new(seed), keys: Vec::new() };
        let mesh = mesh::draw(&mut draw);
        let link_layer = link_layer::draw(&mut draw, &mesh);
        session::draw(&mut draw, &mesh, &link_layer);
        Self { keys: draw.keys }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// A smaller scenario that fails too: keys are left out, many at once as long as that works, then one by one. `fails`
    /// is false of a scenario that is refused.
    #[must_use]
    pub fn shrunk(self, mut fails: impl FnMut(&Self) -> bool) -> Self {
        let mut smallest = self;
        let mut length = smallest.keys.len().div_ceil(2);
        while length > 0 {
            let before = smallest.keys.len();
            let mut end = before;
            while end > 0 {
                let start = end.saturating_sub(length);
                let mut keys = smallest.keys.clone();
                keys.drain(start..end);
                let smaller = Self { keys };
                if fails(&smaller) {
                    smallest = smaller;
                }
                end = start;
            }
            if length > 1 || smallest.keys.len() == before {
                length /= 2;
            }
        }
        smallest
    }
}

/// The text of the scenario's file: one line for each key.
impl fmt::Display for RandomScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keys.iter().try_for_each(|(key, value)| writeln!(f, "{key} = {value}"))
    }
}

/// Chooses the keys of a scenario.
struct Draw {
    random: Random,
    keys: Vec<(String, String)>,
}

impl Draw {
    /// Gives a key this value, as TOML has it.
    fn set(&mut self, key: &str, value: impl fmt::Display) {
        self.keys.push((key.to_owned(), value.to_string()));
    }

    /// Sets a key to a text.
    fn set_text(&mut self, key: &str, value: &str) {
        self.set(key, format_args!("\"{value}\""));
    }

    /// In this share of all cases, in percent, gives a key one of these values.
    fn maybe<T: fmt::Display>(&mut self, share: u64, key: &str, values: &[T]) {
        if self.random.percent(share) {
            let value = self.random.one_of(values).to_string();
            self.set(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_keeps_what_fails() {
        let whole = RandomScenario::new(7);
        let needed = ["mac.kind", "session.stack"];
        let fails = |scenario: &RandomScenario| needed.iter().all(|key| scenario.value(key).is_some());
        let smallest = whole.clone().shrunk(fails);
        let keys: Vec<&str> = smallest.keys.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, needed);
        assert!(needed.iter().all(|key| whole.value(key) == smallest.value(key)), "values stay");
    }

    #[test]
    fn a_seed_repeats_its_scenario() {
        assert_eq!(RandomScenario::new(1), RandomScenario::new(1));
        assert_ne!(RandomScenario::new(1), RandomScenario::new(2));
    }

    #[test]
    fn no_key_is_there_twice() {
        for seed in 0..2_000 {
            let RandomScenario { mut keys } = RandomScenario::new(seed);
            let before = keys.len();
            keys.sort();
            keys.dedup_by(|a, b| a.0 == b.0);
            assert_eq!(keys.len(), before, "seed {seed}");
        }
    }
}
