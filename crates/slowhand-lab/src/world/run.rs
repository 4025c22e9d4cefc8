//! Runs the world of a plan and a seed.

use super::{Finished, World};
use crate::plan::Plan;
use crate::record::Record;
use slowhand_net::observer::Observer;

impl Plan {
    /// Runs the world of a seed; every frame on the air passes before `observer`.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Vec<Record> {
        self.run_with_key_log(seed, observer).0
    }

    /// Runs the world of a seed, and returns the lines of the key log (`SSLKEYLOGFILE`) of its sessions too.
    pub fn run_with_key_log(&self, seed: u64, observer: &mut dyn Observer) -> (Vec<Record>, Vec<String>) {
        let Finished { records, key_log, .. } = self.run_world(seed, observer);
        (records, key_log)
    }

    /// Runs the world of a seed, and returns all that is to be told of it.
    pub(crate) fn run_world(&self, seed: u64, observer: &mut dyn Observer) -> Finished {
        World::new(self, seed).run(observer)
    }
}
