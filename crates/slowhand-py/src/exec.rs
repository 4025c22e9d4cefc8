//! Programs in virtual time: one world, in a process that does nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use slowhand_exec::{Conversation, DATE_S, ExecError, Program, Report, Setup, Until};
use slowhand_lab::plan::Plan;
use slowhand_net::address::{Host, NodeId};

use crate::live::row;
use crate::number::natural;
use crate::scenario::{Scenario, not_captured, refused};
use crate::to_json;

/// The settings of a run beside the programs of the scenario. Times are seconds of the network, but for the two bounds.
#[derive(Deserialize)]
struct Told {
    duration_s: f64,
    until_established: bool,
    threads: usize,
    wall_s: f64,
    cpu_s: f64,
    date_s: Option<i64>,
    capture: Option<PathBuf>,
    /// The client whose handshake is explained.
    explain: Option<u16>,
}

/// A program of the scenario. Times are seconds.
#[derive(Serialize)]
struct Listed {
    name: String,
    /// `None`: on the Internet.
    node: Option<u16>,
    argv: Vec<String>,
    environment: BTreeMap<String, String>,
    start_s: f64,
    is_client: bool,
    compute_s: f64,
    /// True if the scenario says when it has done what it was to do.
    has_success: bool,
}

/// The programs of a scenario, as an array of JSON. `{seed}` is still in their commands.
#[pyfunction]
pub fn exec_programs(scenario: &Scenario) -> PyResult<String> {
    let plan = Plan::new(&scenario.0).map_err(refused)?;
    let listed = |program: Program| Listed {
        name: program.name,
        node: match program.host {
            Host::Node(node) => Some(node.0),
            Host::Internet => None,
        },
        argv: program.argv.into_iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        environment: program.environment,
        start_s: program.start as f64 / 1e9,
        is_client: program.is_client,
        compute_s: program.compute as f64 / 1e9,
        has_success: program.success.is_some(),
    };
    to_json(&slowhand_exec::programs(&scenario.0, &plan, None).into_iter().map(listed).collect::<Vec<_>>())
}

/// Checks what the machine must have, before this process has a second thread.
#[pyfunction]
pub fn prepare_exec() -> PyResult<()> {
    slowhand_exec::prepare().map_err(failed)
}

/// Runs programs in the world of a seed: an object of JSON.
#[pyfunction]
pub fn exec(scenario: &Scenario, told: &str, seed: i128) -> PyResult<String> {
    let seed = natural("seed", seed)?;
    let told: Told = serde_json::from_str(told).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let plan = Plan::new(&scenario.0).map_err(refused)?;
    let programs = slowhand_exec::programs(&scenario.0, &plan, Some(seed));
    // With the interpreter's lock: no other thread may run here.
    let report = slowhand_exec::run(&scenario.0, &setup(told, programs), seed).map_err(failed)?;
    answer(&report)
}

fn answer(report: &Report) -> PyResult<String> {
    let answer = to_json(report)?;
    let conversations: Vec<String> = report
        .conversations
        .iter()
        .map(|Conversation { record, secure, datagrams }| {
            let datagrams = to_json(datagrams)?;
            Ok(format!(r#"{{"secure":{secure},"record":{},"datagrams":{datagrams}}}"#, row(record)))
        })
        .collect::<PyResult<_>>()?;
    let answer = answer.trim_end_matches('}');
    Ok(format!(r#"{answer},"conversations":[{}]}}"#, conversations.join(",")))
}

fn setup(told: Told, programs: Vec<Program>) -> Setup {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Setup {
        programs,
        duration: (told.duration_s * 1e9) as u64,
        until: if told.until_established { Until::Established } else { Until::Finished },
        threads: told.threads,
        wall: seconds(told.wall_s),
        cpu: seconds(told.cpu_s),
        date_s: told.date_s.unwrap_or(DATE_S),
        capture: told.capture,
        explain: told.explain.map(NodeId),
    }
}

fn failed(error: ExecError) -> PyErr {
    match error {
        ExecError::Plan(error) => refused(error),
        ExecError::Capture(error) => Python::attach(|py| not_captured(py, &error)),
        error => PyOSError::new_err(error.to_string()),
    }
}
