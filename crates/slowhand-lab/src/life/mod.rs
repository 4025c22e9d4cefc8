//! The life of a device: what it uses in months or years of requests, and what of that its sessions take.
//!
//! [`simulate`] runs such a time event by event, in one world. [`estimate`] puts a time together from handshakes and
//! requests that it has simulated, each alone, in many worlds: a year takes a fraction of a second. Both follow the same
//! client, which opens sessions, asks, waits, and tries again as `[application]` of the scenario says.
//!
//! Assumptions, beside those at the keys of `[application]`: the server answers at once, and the radio of the client
//! does nothing special while it waits for an answer (its MAC may poll fast in a handshake).
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row.
//!
//! | modules | hold |
//! | --- | --- |
//! | `messages` | the applications of the client and of the server |
//! | `course` | when the client asks, opens, closes and tries again, whatever world is below: the trait `Backend` |
//! | `simulation` | a client in a world, event by event |
//! | `estimate` | handshakes and messages that were simulated each alone, and a life that is drawn from them |

mod course;
mod estimate;
mod messages;
mod simulation;

pub use crate::calendar::{DAY_S, MOST_SECONDS, YEAR_S};
pub use estimate::{Parts, estimate};
pub use simulation::simulate;

use crate::distribution::{Distribution, Metric};
use crate::input::Blame;
use crate::plan::{Plan, PlanError};
use crate::record::Energy;
use crate::requests::Requests;
use crate::scenario::Scenario;
use crate::summary::MOST_EXACT;
use serde::Serialize;
use slowhand_net::address::NodeId;
use slowhand_sessions::Role;

/// A life that cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.blame())]
#[non_exhaustive]
pub enum LifeError {
    /// The scenario cannot be run.
    Plan(#[from] PlanError),
    /// The scenario does not say what its clients ask for.
    NoRequests,
    /// Its clients ask when a session is established.
    FalseStart,
    /// No client has this node.
    Client {
        /// The node.
        found: u16,
        /// The first client.
        first: NodeId,
    },
    /// The time is 0 or too long.
    Seconds(f64),
    /// Too few worlds for an interval, or too many.
    Worlds(u64),
    /// An estimate needs a network whose chances stay the same.
    Changes {
        /// The key that changes it.
        key: &'static str,
    },
}

impl LifeError {
    /// The error as data.
    pub fn blame(&self) -> Blame {
        let (key, found, allowed) = match self {
            Self::Plan(error) => return error.blame(),
            Self::NoRequests => (
                "application.pattern",
                "nothing".to_owned(),
                "\"periodic\", \"poisson\" or \"once\", with what the client asks for".to_owned(),
            ),
            Self::FalseStart => (
                "session.false_start",
                "true".to_owned(),
                "false: a client of a life asks when its session is established".to_owned(),
            ),
            Self::Client { found, first } => {
                ("client", found.to_string(), format!("the node of a client, for example {first}"))
            }
            Self::Seconds(found) => {
                ("seconds", found.to_string(), format!("above 0, at most {MOST_SECONDS} (a hundred years)"))
            }
            Self::Worlds(found) => ("worlds", found.to_string(), "2 to 10000".to_owned()),
            Self::Changes { key } => (
                *key,
                "a network that changes at certain times".to_owned(),
                "one that does not, for an estimate; or simulate the time in full (--full, full=True)".to_owned(),
            ),
        };
        let reason = format!("found {found}, allowed: {allowed}");
        Blame { place: None, key: key.to_owned(), reason, together: false }
    }
}

/// The life of a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Life {
    /// The node.
    pub client: u16,
    /// The seed.
    pub seed: u64,
    /// The length of the life, in seconds: less than what was asked for if it was interrupted, or if an estimate has drawn
    /// [enough](estimate()).
    pub seconds: f64,
    /// In how many worlds its parts were simulated.
    pub worlds: u64,
    /// The energy that the device used in this time, in millijoules, by state.
    pub energy: Energy,
    /// The energy that the device used in this time, in millijoules, by purpose.
    pub purposes: Purposes,
    /// The energy that it used in a day, in millijoules.
    pub energy_a_day_mj: f64,
    /// The 95 % confidence interval of the mean of that. It has what differs from world to world (losses, back-offs, phases),
    /// of energy and of outcomes, and the chance with which an estimate draws from them. It does not have the uncertainty
    /// of constants. `None`: one world has none.
    pub energy_a_day_ci95: Option<[f64; 2]>,
    /// Where the energy a day of one device lies in 95 % of all cases: the interval of the mean, and the chance of the
    /// handshakes and messages of one life, each independent of the others. When a Poisson process asks is not in it.
    pub energy_a_day_one95: Option<[f64; 2]>,
    /// Octets of all frames on the air, over all hops, that served its sessions, acknowledgements included.
    pub octets: u64,
    /// The octets in a day.
    pub octets_a_day: f64,
    /// The numbers of events.
    pub counts: Counts,
    /// From the instant at which a request is due until its response is there, with the handshake that it may need. Of
    /// those that were answered. `None` if none was.
    pub latency_s: Option<Metric>,
    /// The voltage of the device, in volts.
    pub supply_v: f64,
}

impl Life {
    /// A life in which nothing has happened yet.
    fn nothing(subject: &Subject, seed: u64) -> Self {
        Self {
            client: subject.client.0,
            seed,
            seconds: 0.0,
            worlds: 1,
            energy: Energy::default(),
            purposes: Purposes::default(),
            energy_a_day_mj: 0.0,
            energy_a_day_ci95: None,
            energy_a_day_one95: None,
            octets: 0,
            octets_a_day: 0.0,
            counts: Counts::default(),
            latency_s: None,
            supply_v: subject.plan.device_of(Role::Client).supply_v.value,
        }
    }

    /// Adds the numbers that follow from its others.
    fn complete(self) -> Self {
        let days = self.seconds / DAY_S;
        let a_day = |amount: f64| if days > 0.0 { amount / days } else { 0.0 };
        Self { energy_a_day_mj: a_day(self.energy.total_mj()), octets_a_day: a_day(self.octets as f64), ..self }
    }
}

/// The purposes of the energy used, in millijoules. The parts add up to all of it. All but `idle_mj` are above what the
/// device uses while it does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Purposes {
    /// Sleeping, and listening as the link layer needs it.
    pub idle_mj: f64,
    /// Handshakes, those that failed too.
    pub handshakes_mj: f64,
    /// Requests and their responses.
    pub requests_mj: f64,
    /// Keep-alives.
    pub keep_alives_mj: f64,
    /// Closing sessions.
    pub closing_mj: f64,
}

impl Purposes {
    /// Splits all energy: the rest above these purposes is idle.
    fn new(all_mj: f64, above: [f64; Purpose::COUNT]) -> Self {
        let [handshakes_mj, requests_mj, keep_alives_mj, closing_mj] = above;
        let idle_mj = all_mj - above.iter().sum::<f64>();
        Self { idle_mj, handshakes_mj, requests_mj, keep_alives_mj, closing_mj }
    }
}

/// The activities of a device beside being idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Handshakes,
    Requests,
    KeepAlives,
    Closing,
}

impl Purpose {
    const COUNT: usize = 4;
}

/// The numbers of events in a life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests that were sent, or for which no session could be opened.
    pub requests: u64,
    /// Requests that were not answered.
    pub failed: u64,
    /// Requests that were due while the client was still busy with an earlier one: they are not among the others.
    pub left_out: u64,
    /// Full handshakes, those that failed too.
    pub handshakes_full: u64,
    /// Handshakes that resume an earlier session, those that failed too.
    pub handshakes_resumed: u64,
    /// Handshakes that failed.
    pub handshakes_failed: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Keep-alives that were not answered.
    pub keep_alives_failed: u64,
}

/// The times that requests took.
struct Latencies {
    count: u64,
    distribution: Distribution,
}

impl Default for Latencies {
    fn default() -> Self {
        Self { count: 0, distribution: Distribution::new(false) }
    }
}

impl Latencies {
    fn add(&mut self, seconds: f64) {
        if self.count == MOST_EXACT {
            self.distribution.sketch();
        }
        self.count += 1;
        self.distribution.add(seconds, self.count);
    }

    fn metric(&self) -> Option<Metric> {
        // The requests of one client are not independent of each other.
        Some(Metric { ci95: None, half: None, ..self.distribution.metric()? })
    }
}

/// Whose life it is.
struct Subject {
    plan: Plan,
    client: NodeId,
    requests: Requests,
}

impl Subject {
    fn new(scenario: &Scenario, client: Option<u16>, seconds: f64) -> Result<Self, LifeError> {
        if !(seconds > 0.0 && seconds <= MOST_SECONDS) {
            return Err(LifeError::Seconds(seconds));
        }
        let plan = Plan::new(scenario)?;
        let requests = plan.requests.ok_or(LifeError::NoRequests)?;
        if scenario.session.false_start {
            return Err(LifeError::FalseStart);
        }
        let first = plan.clients()[0];
        let client = client.map_or(first, NodeId);
        if !plan.clients().contains(&client) {
            return Err(LifeError::Client { found: client.0, first });
        }
        Ok(Self { plan, client, requests })
    }
}
