//! Programs in virtual time: one world, in a process that does nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use slowhand_exec::{Conversation, DATE_S, Ending, ExecError, Note, Program, ProgramReport, Report, Setup, Until};
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::ServerAt;
use slowhand_net::address::{Host, NodeId};

use crate::live::row;
use crate::number::natural;
use crate::scenario::{Scenario, not_captured, refused};
use crate::to_json;

/// What is run, as the command line says it. Times are seconds of the network, but for the two bounds.
#[derive(Deserialize)]
struct Told {
    programs: Vec<ToldProgram>,
    duration_s: f64,
    until_established: bool,
    wall_s: f64,
    cpu_s: f64,
    date_s: Option<i64>,
    capture: Option<PathBuf>,
}

#[derive(Deserialize)]
struct ToldProgram {
    name: String,
    /// `None`: on the Internet.
    node: Option<u16>,
    argv: Vec<String>,
    start_s: f64,
    is_client: bool,
    compute_s: f64,
    input: Vec<(f64, String)>,
}

/// The result of a world.
#[derive(Serialize)]
struct Answer<'a> {
    seed: u64,
    ending: Ending,
    virtual_s: f64,
    programs: &'a [ProgramReport],
    frames: u64,
    bytes_phy: u64,
    refused: u64,
    traps: u64,
    notes: &'a [Note],
    digest: &'a str,
}

/// The nodes of the clients; the node of the server, if it is at one, its address and its port; how many nodes there are.
type Hosts = (Vec<u16>, Option<u16>, String, u16, usize);

/// Where the programs of a scenario run.
#[pyfunction]
pub fn exec_hosts(scenario: &Scenario) -> PyResult<Hosts> {
    let plan = Plan::new(&scenario.0).map_err(refused)?;
    let server = match scenario.0.server.at {
        ServerAt::Internet => None,
        ServerAt::Node(node) => Some(node.0),
        ServerAt::Leaves => {
            let allowed = "the place of one server, where programs run";
            return Err(PyValueError::new_err(format!("server.at: found \"leaves\", allowed: {allowed}")));
        }
    };
    let address = server.map_or(Host::Internet, |node| Host::Node(NodeId(node))).address().to_string();
    let clients = plan.clients().iter().map(|client| client.0).collect();
    Ok((clients, server, address, scenario.0.session.server_port(), plan.nodes()))
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
    // With the interpreter's lock: no other thread may run here.
    let report = slowhand_exec::run(&scenario.0, &setup(told), seed).map_err(failed)?;
    answer(&report)
}

fn answer(report: &Report) -> PyResult<String> {
    let Report { seed, ending, virtual_s, programs, frames, bytes_phy, refused, traps, notes, digest, .. } = report;
    let answer = to_json(&Answer {
        seed: *seed,
        ending: *ending,
        virtual_s: *virtual_s,
        programs,
        frames: *frames,
        bytes_phy: *bytes_phy,
        refused: *refused,
        traps: *traps,
        notes,
        digest,
    })?;
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

fn setup(told: Told) -> Setup {
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let program = |told: ToldProgram| Program {
        name: told.name,
        host: told.node.map_or(Host::Internet, |node| Host::Node(NodeId(node))),
        argv: told.argv.into_iter().map(OsString::from).collect(),
        start: nanos(told.start_s),
        is_client: told.is_client,
        compute: nanos(told.compute_s),
        input: told.input.into_iter().map(|(at, text)| (nanos(at), text.into_bytes())).collect(),
    };
    Setup {
        programs: told.programs.into_iter().map(program).collect(),
        duration: nanos(told.duration_s),
        until: if told.until_established { Until::Established } else { Until::Finished },
        wall: seconds(told.wall_s),
        cpu: seconds(told.cpu_s),
        date_s: told.date_s.unwrap_or(DATE_S),
        capture: told.capture,
    }
}

fn failed(error: ExecError) -> PyErr {
    match error {
        ExecError::Plan(error) => refused(error),
        ExecError::Capture(error) => Python::attach(|py| not_captured(py, &error)),
        error => PyOSError::new_err(error.to_string()),
    }
}
