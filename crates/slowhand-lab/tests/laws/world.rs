//! One world of a random scenario, and everything that is said of it.

use slowhand_lab::explanation::{Explanation, explain};
use slowhand_lab::input::Blame;
use slowhand_lab::inspect::{Inspection, inspect};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::Record;
use slowhand_lab::scenario::{Scenario, Sources};
use slowhand_net::address::NodeId;
use slowhand_net::datagram::DatagramId;
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_testing::scenarios::{RandomScenario, TRACE, TRACE_FILE};

/// A scenario that can run.
pub(crate) struct Valid {
    pub(crate) scenario: Scenario,
    pub(crate) plan: Plan,
}

impl Valid {
    /// Prepares a random scenario.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn new(random: &RandomScenario) -> Result<Self, Blame> {
        Self::read(random.to_string())
    }

    /// Reads a scenario and prepares it.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn read(text: String) -> Result<Self, Blame> {
        let name = "random.toml".to_owned();
        let files = [(name.clone(), text), (TRACE_FILE.to_owned(), TRACE.to_owned())];
        let sources = Sources { scenario: name, files: files.into(), overrides: Vec::new() };
        let scenario = Scenario::from_sources(&sources).map_err(|error| error.blame())?;
        let plan = Plan::new(&scenario).map_err(|error| error.blame())?;
        Ok(Self { scenario, plan })
    }
}

/// The random scenario of a seed, with the help that goes with it.
pub(crate) fn random(seed: u64) -> RandomScenario {
    RandomScenario::with_help(seed, |random| Valid::new(random).err().map(|blame| blame.key))
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) at_us: u64,
    pub(crate) kind: FrameKind,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) datagram: DatagramId,
    pub(crate) received: bool,
    /// With the check sequence.
    pub(crate) octets: u64,
}

/// Every frame of a world.
#[derive(Default)]
pub(crate) struct Air(pub(crate) Vec<Frame>);

impl Observer for Air {
    fn transmission(&mut self, seen: &Transmission<'_>) {
        self.0.push(Frame {
            at_us: seen.at.as_micros(),
            kind: seen.kind,
            from: seen.from,
            to: seen.to,
            datagram: seen.datagram,
            received: seen.received,
            octets: seen.octets.len() as u64 + 2,
        });
    }
}

/// The world of one seed.
pub(crate) struct World<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) records: Vec<Record>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) inspection: Inspection,
    /// Of one of the clients.
    pub(crate) explanation: Explanation,
}

impl<'a> World<'a> {
    /// Runs a world several times: with nobody watching but the frames, inspected, and explained.
    pub(crate) fn new(valid: &'a Valid, seed: u64) -> Self {
        let Valid { scenario, plan } = valid;
        let mut air = Air::default();
        let records = plan.run(seed, &mut air);
        let never = Interrupt::default();
        let inspection = inspect(scenario, seed, &never).expect("it has been prepared").expect("no interrupt");
        let client = records[records.len() - 1].client;
        let explanation = explain(scenario, seed, Some(client), &never);
        let explanation = explanation.expect("it has been prepared").expect("no interrupt");
        Self { scenario, plan, records, frames: air.0, inspection, explanation }
    }

    /// The record of the handshake that is explained.
    pub(crate) fn explained(&self) -> &Record {
        let is_it = |record: &&Record| record.client == self.explanation.client;
        self.records.iter().find(is_it).expect("a record for each client")
    }
}
