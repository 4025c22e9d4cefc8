//! Runs the world of a plan and a seed.

use super::{Finished, World};
use crate::application::Applications;
use crate::exchange::of_a_run;
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::record::{Conversation, Record};
use slowhand_net::observer::Observer;

impl Plan {
    /// Runs the world of a seed: one record for each handshake. The observer sees every frame on the air.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Vec<Record> {
        Conversation::handshakes(self.run_to_the_end(seed, &of_a_run(self.exchange), observer).conversations)
    }

    /// As [`run`](Self::run), unless it is interrupted first: then there are no records.
    pub fn run_until(&self, interrupt: &Interrupt, seed: u64, observer: &mut dyn Observer) -> Option<Vec<Record>> {
        let finished = self.run_world(seed, &of_a_run(self.exchange), interrupt, observer)?;
        Some(Conversation::handshakes(finished.conversations))
    }

    /// Runs the world of a seed with an application above each session: what each conversation took, phase by phase.
    pub fn run_applications(
        &self,
        seed: u64,
        applications: &Applications<'_>,
        observer: &mut dyn Observer,
    ) -> Vec<Conversation> {
        self.run_to_the_end(seed, applications, observer).conversations
    }

    /// Runs the world of a seed, and returns the lines of the key log (`SSLKEYLOGFILE`) of its sessions too.
    pub fn run_with_key_log(&self, seed: u64, observer: &mut dyn Observer) -> (Vec<Record>, Vec<String>) {
        let Finished { conversations, key_log, .. } = self.run_to_the_end(seed, &of_a_run(self.exchange), observer);
        (Conversation::handshakes(conversations), key_log)
    }

    fn run_to_the_end(&self, seed: u64, applications: &Applications<'_>, observer: &mut dyn Observer) -> Finished {
        // No one else has this interrupt, so no one sets it.
        self.run_world(seed, applications, &Interrupt::default(), observer).expect("no interrupt")
    }

    /// Runs the world of a seed, and returns all its results. `None` if it is interrupted.
    pub(crate) fn run_world(
        &self,
        seed: u64,
        applications: &Applications<'_>,
        interrupt: &Interrupt,
        observer: &mut dyn Observer,
    ) -> Option<Finished> {
        World::new(self, seed, applications, interrupt)?.run(interrupt, observer)
    }
}
