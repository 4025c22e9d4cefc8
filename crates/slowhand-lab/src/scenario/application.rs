//! `[application]`: what runs above the sessions, and what it does when a handshake fails.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Scenario;
use crate::input::{Document, InputError, Integer, PositiveSeconds, Probability};
use crate::retry::RetryPolicy;
use slowhand_net::clock::Duration;

/// What runs above the sessions.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Application {
    /// What a client does after a handshake that failed. `never`: it gives up at once. `fixed`: it tries again after equal
    /// waits. `exponential`: after waits that double. Each attempt may take `session.give_up_s`. A live network does not
    /// retry. Default: `never`.
    pub retry: Retry,
}

/// What a client does after a handshake that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(tag = "kind")]
pub enum Retry {
    /// It gives up at once.
    #[default]
    Never,
    /// It tries again after equal waits.
    Fixed {
        /// The wait between the end of an attempt and the next one.
        wait_s: PositiveSeconds,
        /// The share of each wait by which it may be shorter or longer: it is drawn uniformly from `wait_s` times 1 less
        /// this share to `wait_s` times 1 plus this share. Default: 0.2 (gRPC, doc/connection-backoff.md).
        #[serde(default = "share")]
        jitter: Probability,
        /// How many attempts there are in all, the first included. Then the client gives up for good. Default: 10 (assumed).
        #[serde(default = "ten")]
        attempts: Integer<1, MAX_ATTEMPTS>,
    },
    /// It tries again after waits that double.
    Exponential {
        /// The wait after the first attempt that failed. Default: 1 (gRPC, doc/connection-backoff.md).
        #[serde(default = "one_second")]
        first_s: PositiveSeconds,
        /// The longest wait. Default: 120 (gRPC, doc/connection-backoff.md).
        #[serde(default = "two_minutes")]
        longest_s: PositiveSeconds,
        /// The share of each wait by which it may be shorter or longer, as with `fixed`. Default: 0.2 (gRPC,
        /// doc/connection-backoff.md).
        #[serde(default = "share")]
        jitter: Probability,
        /// How many attempts there are in all, the first included. Then the client gives up for good. Default: 10 (assumed).
        #[serde(default = "ten")]
        attempts: Integer<1, MAX_ATTEMPTS>,
    },
}

/// The most attempts of a client (assumed: each is kept until the end of the world).
const MAX_ATTEMPTS: u32 = 1_000;

impl Retry {
    /// When a client tries again. `None`: never.
    pub fn policy(&self) -> Option<RetryPolicy> {
        let (first, longest, jitter, attempts) = match *self {
            Self::Never => return None,
            Self::Fixed { wait_s, jitter, attempts } => (wait_s, wait_s, jitter, attempts),
            Self::Exponential { first_s, longest_s, jitter, attempts } => (first_s, longest_s, jitter, attempts),
        };
        Some(RetryPolicy {
            first: first.duration(),
            longest: longest.duration(),
            jitter: jitter.get(),
            attempts: attempts.get(),
        })
    }
}

impl Application {
    /// Checks that the keys go together.
    pub(super) fn check(&self, document: &Document) -> Result<(), InputError> {
        if let Retry::Exponential { first_s, longest_s, .. } = self.retry
            && longest_s < first_s
        {
            let allowed = format!("application.retry.first_s ({}) or more", first_s.get());
            return Err(document.blame("application.retry.longest_s", longest_s.get().to_string(), allowed));
        }
        Ok(())
    }
}

impl Scenario {
    /// The longest time from the beginning of a client's first attempt to the end of its last one.
    pub(crate) fn longest_attempts(&self) -> Duration {
        let give_up = self.session.give_up_s.duration();
        self.application.retry.policy().map_or(give_up, |policy| {
            let attempts = Duration::from_micros(give_up.as_micros().saturating_mul(policy.attempts.into()));
            attempts + policy.longest_in_all()
        })
    }
}

fn share() -> Probability {
    Probability::constant(0.2)
}

fn ten() -> Integer<1, MAX_ATTEMPTS> {
    Integer::constant(10)
}

fn one_second() -> PositiveSeconds {
    PositiveSeconds::constant(1.0)
}

fn two_minutes() -> PositiveSeconds {
    PositiveSeconds::constant(120.0)
}
