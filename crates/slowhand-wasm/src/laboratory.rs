//! Requests and their answers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use slowhand_lab::comparison::differences;
use slowhand_lab::explanation::{ExplainError, explain};
use slowhand_lab::input::Blame;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::playback::play;
use slowhand_lab::record::{self, Record};
use slowhand_lab::scenario::{Scenario, Sources};
use slowhand_lab::summary::Summariser;
use slowhand_lab::{CaptureRunError, about, capture_octets};

/// The most memory of a world in a page, in octets, as `Scenario::memory` estimates it. *Assumed*: what a telephone gives a page
/// without closing it.
pub const MOST_OCTETS: u64 = 100_000_000;

/// The number of scenarios that are open at a time: two, which are compared.
const SIDES: usize = 2;

/// A request of a page.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// The libraries of this build.
    Stacks,
    /// Reads a scenario and makes it ready. Its records begin anew. `keys` are those whose values the page wants to know.
    Open {
        side: usize,
        sources: Sources,
        #[serde(default)]
        keys: Vec<String>,
    },
    /// Closes a scenario.
    Close { side: usize },
    /// Runs worlds with consecutive seeds. Their handshakes are added to the records.
    Run { side: usize, seed: u64, count: u64 },
    /// The statistics of the records.
    Summary { side: usize },
    /// The records of the second scenario minus those of the first.
    Difference,
    /// All columns of the records.
    Columns { side: usize },
    /// Where the time of one handshake went.
    Explain { side: usize, seed: u64, client: Option<u16> },
    /// Everything that happened in a world, with the same of one handshake.
    Play { side: usize, seed: u64, client: Option<u16> },
    /// The frames of a world as pcapng, in hexadecimal digits.
    Capture { side: usize, seed: u64 },
}

/// A scenario and what it gave.
struct Open {
    scenario: Scenario,
    plan: Plan,
    records: Vec<Record>,
    summariser: Summariser,
}

/// The state of a page: scenarios that are open, and their records.
#[derive(Default)]
pub struct Laboratory {
    open: [Option<Open>; SIDES],
}

/// An error, as JSON.
struct Refusal(Value);

impl Refusal {
    fn new(message: impl ToString) -> Self {
        Self(json!({ "message": message.to_string() }))
    }
}

/// Refuses a scenario for this error.
fn blamed(error: impl Into<Blame>) -> Refusal {
    let blame: Blame = error.into();
    Refusal(json!({
        "message": blame.to_string(),
        "key": blame.key,
        "place": blame.place.as_ref().map(ToString::to_string),
        "reason": blame.reason,
    }))
}

impl Laboratory {
    /// Answers a request. Both are JSON.
    pub fn answer(&mut self, request: &str) -> String {
        let answered = serde_json::from_str(request).map_err(Refusal::new).and_then(|request| self.act(request));
        match answered {
            Ok(value) => json!({ "ok": value }).to_string(),
            Err(Refusal(error)) => json!({ "error": error }).to_string(),
        }
    }

    fn act(&mut self, request: Request) -> Result<Value, Refusal> {
        Ok(match request {
            Request::Stacks => json!(slowhand_lab::implementations()),
            Request::Open { side, sources, keys } => {
                let place = self.open.get_mut(side).ok_or_else(|| no_side(side))?;
                *place = None; // its memory first
                let open = Open::new(&sources)?;
                let told = open.told(&keys);
                *place = Some(open);
                told
            }
            Request::Close { side } => {
                self.open.get_mut(side).ok_or_else(|| no_side(side))?.take();
                Value::Null
            }
            Request::Run { side, seed, count } => self.side(side)?.run(seed, count),
            Request::Summary { side } => {
                let open = self.side(side)?;
                json!(open.summariser.summary(&open.scenario))
            }
            Request::Difference => {
                let [Some(first), Some(second)] = &self.open else {
                    return Err(Refusal::new("two scenarios are needed"));
                };
                json!(differences(&second.records, &first.records).into_iter().collect::<BTreeMap<_, _>>())
            }
            Request::Columns { side } => columns(&self.side(side)?.records),
            Request::Explain { side, seed, client } => {
                let explained = explain(&self.side(side)?.scenario, seed, client, &Interrupt::default());
                json!(explained.map_err(unexplained)?)
            }
            Request::Play { side, seed, client } => {
                let played = play(&self.side(side)?.scenario, seed, client, &Interrupt::default());
                json!(played.map_err(unexplained)?)
            }
            Request::Capture { side, seed } => {
                let octets = capture_octets(&self.side(side)?.scenario, seed, &Interrupt::default());
                let octets = octets.map_err(uncaptured)?.unwrap_or_default();
                json!(octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
            }
        })
    }

    fn side(&mut self, side: usize) -> Result<&mut Open, Refusal> {
        self.open.get_mut(side).and_then(Option::as_mut).ok_or_else(|| no_side(side))
    }
}

fn no_side(side: usize) -> Refusal {
    Refusal::new(format_args!("side: found {side}, allowed: 0 or 1, if a scenario is open there"))
}

impl Open {
    fn new(sources: &Sources) -> Result<Self, Refusal> {
        let scenario = Scenario::from_sources(sources).map_err(blamed)?;
        let octets = scenario.memory();
        if octets > MOST_OCTETS {
            let [nodes, clients] = [scenario.mesh().nodes(), scenario.clients().len()];
            let most = MOST_OCTETS / 1_000_000;
            return Err(Refusal::new(format_args!(
                "found a world of {nodes} nodes and {clients} clients, about {} MB; allowed in a page: {most} MB. Take fewer nodes \
                 (network.topology) or clients (client.count), or run it on your computer: slowhand run",
                octets / 1_000_000
            )));
        }
        let plan = Plan::new(&scenario).map_err(blamed)?;
        Ok(Self { scenario, plan, records: Vec::new(), summariser: Summariser::default() })
    }

    /// The facts that a page shows of a scenario.
    fn told(&self, keys: &[String]) -> Value {
        let values: Map<String, Value> =
            keys.iter().map(|key| (key.clone(), json!(self.scenario.value(key)))).collect();
        json!({
            "about": about(&self.scenario),
            "settings": self.scenario.session.settings(),
            "values": values,
            "mac": self.scenario.mac.kind(),
            "nodes": self.plan.nodes(),
            "clients": self.plan.clients().iter().map(|client| client.0).collect::<Vec<_>>(),
            "wireshark": slowhand_lab::wireshark_arguments(&self.scenario),
        })
    }

    /// Runs worlds; what a page draws of each handshake.
    fn run(&mut self, seed: u64, count: u64) -> Value {
        let before = self.records.len();
        for seed in seed..seed.saturating_add(count) {
            let records = self.plan.run(seed, &mut ());
            records.iter().for_each(|record| self.summariser.add(record));
            self.records.extend(records);
        }
        let drawn = |record: &Record| {
            json!({
                "seed": record.seed,
                "client": record.client,
                "outcome": record.outcome.name(),
                "duration_s": record.duration_s,
            })
        };
        self.records[before..].iter().map(drawn).collect()
    }
}

/// All records, by column.
fn columns(records: &[Record]) -> Value {
    let column = |(field, column): (record::Field, record::Column)| {
        (field.name.to_owned(), (0..records.len()).map(|row| column.json(row)).collect())
    };
    Value::Object(record::columns(records).into_iter().map(column).collect())
}

fn unexplained(error: ExplainError) -> Refusal {
    match error {
        ExplainError::Plan(error) => blamed(error),
        other => Refusal::new(other),
    }
}

fn uncaptured(error: CaptureRunError) -> Refusal {
    match error {
        CaptureRunError::Plan(error) => blamed(error),
        other => Refusal::new(other),
    }
}
