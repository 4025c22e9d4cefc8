//! Runs the world of a plan and a seed.

use super::{Finished, World};
use crate::application::{Applications, open_and_stop};
use crate::plan::Plan;
use crate::record::{Conversation, Record};
use slowhand_net::observer::Observer;

impl Plan {
    /// Runs the world of a seed: one record for each handshake. The observer sees every frame on the air.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Vec<Record> {
        Conversation::handshakes(self.run_world(seed, &open_and_stop, observer).conversations)
    }

    /// Runs the world of a seed with an application above each session: what each conversation took, phase by phase.
    pub fn run_applications(
        &self,
        seed: u64,
        applications: &Applications<'_>,
        observer: &mut dyn Observer,
    ) -> Vec<Conversation> {
        self.run_world(seed, applications, observer).conversations
    }

    /// Runs the world of a seed, and returns the lines of the key log (`SSLKEYLOGFILE`) of its sessions too.
    pub fn run_with_key_log(&self, seed: u64, observer: &mut dyn Observer) -> (Vec<Record>, Vec<String>) {
        let Finished { conversations, key_log, .. } = self.run_world(seed, &open_and_stop, observer);
        (Conversation::handshakes(conversations), key_log)
    }

    /// Runs the world of a seed, and returns all its results.
    pub(crate) fn run_world(
        &self,
        seed: u64,
        applications: &Applications<'_>,
        observer: &mut dyn Observer,
    ) -> Finished {
        World::new(self, seed, applications).run(observer)
    }
}
