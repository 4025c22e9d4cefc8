//! A network that runs against the wall clock.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{self, Record};
use slowhand_lab::scenario as lab;
use slowhand_lab::summary::Summariser;
use slowhand_live::{Event, Interface, LiveError, Proxy, ReplayError, Setup, Transport, Ways};
use slowhand_net::address::NodeId;

use crate::argument::wrong;
use crate::interruptible::{SLICE, abandonable, interruptible};
use crate::number::natural;
use crate::run::{Table, table};
use crate::scenario::{Scenario, not_captured, refused};
use crate::to_json;

const HAS_ENDED: &str = "the network has ended";

/// A network that runs on a thread of its own.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Live {
    scenario: Arc<lab::Scenario>,
    /// `None` when it has its report.
    running: RwLock<Option<slowhand_live::Live>>,
    ended: Mutex<Ended>,
    /// What it did, as JSON, or how it panicked.
    report: OnceLock<Result<String, String>>,
    /// The process that has its thread: not one that was forked from it.
    process: u32,
}

/// The sessions that have ended.
#[derive(Default)]
struct Ended {
    summariser: Summariser,
    /// `None` if they are not asked for.
    records: Option<Vec<Record>>,
}

#[pymethods]
impl Live {
    #[new]
    #[pyo3(signature = (
        scenario, *, seed, speed, proxies, server, listen, device, internet, capture, record, control, duration_s, handshakes,
        records
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: i128,
        speed: f64,
        proxies: Vec<(String, String, String)>,
        server: Option<String>,
        listen: Option<String>,
        device: Option<(String, String)>,
        internet: Option<(String, String)>,
        capture: Option<PathBuf>,
        record: Option<PathBuf>,
        control: Option<PathBuf>,
        duration_s: Option<f64>,
        handshakes: Option<i128>,
        records: bool,
    ) -> PyResult<Self> {
        let setup = Setup {
            seed: natural("seed", seed)?,
            speed,
            ways: ways(&proxies, server, listen, device, internet)?,
            capture,
            record,
            control,
            duration: duration_s.map(|seconds| duration("duration_s", seconds)).transpose()?,
            handshakes: handshakes.map(|count| natural("handshakes", count)).transpose()?,
        };
        let (scenario, of) = (Arc::clone(&scenario.0), Arc::clone(&scenario.0));
        // The system may take a while for namespaces and interfaces.
        let running = abandonable(py, move || slowhand_live::Live::start(&of, setup))?.map_err(failed)?;
        let ended = Ended { records: records.then(Vec::new), ..Ended::default() };
        let (running, ended) = (RwLock::new(Some(running)), Mutex::new(ended));
        Ok(Self { scenario, running, ended, report: OnceLock::new(), process: std::process::id() })
    }

    fn addresses(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |live| live.addresses().to_vec()).and_then(|addresses| to_json(&addresses))
    }

    fn set(&self, py: Python<'_>, change: &str) -> PyResult<()> {
        self.with(py, |live| live.set(change))?.map_err(PyValueError::new_err)
    }

    fn switch(&self, py: Python<'_>, node: i128, on: bool) -> PyResult<()> {
        let node = natural("node", node)?;
        self.with(py, |live| live.switch(node, on))?.map_err(PyValueError::new_err)
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let snapshot = py.detach(|| self.ask(slowhand_live::Live::snapshot)).flatten();
        snapshot.map(|snapshot| to_json(&snapshot)).transpose()
    }

    /// The next event, if one comes within this time, and true if none will come. Python handles signals meanwhile.
    fn next_event(&self, py: Python<'_>, timeout_s: f64) -> PyResult<(Option<String>, bool)> {
        // Beyond the range: without a limit.
        let end = Instant::now().checked_add(duration("timeout_s", timeout_s)?);
        loop {
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let asked = py.detach(|| self.ask(|live| (live.is_finished(), live.next_event(left.min(SLICE)))));
            let (finished, event) = asked.unwrap_or((true, None));
            if let Some(event) = event {
                return Ok((Some(self.told(&event)?), false));
            }
            if finished || left.is_zero() {
                return Ok((None, finished));
            }
            py.check_signals()?;
        }
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.ask(slowhand_live::Live::stop));
    }

    /// Waits for the end. Returns the records, if they were asked for, their summary, and what the network did. All of
    /// it is kept: a call that a signal has interrupted can be made again.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<(Option<Table<'py>>, String, String)> {
        while !self.next_event(py, 1.0)?.1 {}
        let report =
            py.detach(|| self.report.get_or_init(|| self.reported()).clone()).map_err(PyRuntimeError::new_err)?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let records = ended.records.as_ref().map(|records| table(py, record::columns(records))).transpose()?;
        Ok((records, to_json(&ended.summariser.summary(&self.scenario))?, report))
    }
}

impl Live {
    /// Asks the network, without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, ask: impl FnOnce(&slowhand_live::Live) -> T + Send) -> PyResult<T> {
        py.detach(|| self.ask(ask)).ok_or_else(|| PyRuntimeError::new_err(HAS_ENDED))
    }

    /// Asks the network. `None` if it has its report.
    fn ask<T>(&self, ask: impl FnOnce(&slowhand_live::Live) -> T) -> Option<T> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(ask)
    }

    /// Takes the report of the network, whose thread has ended.
    fn reported(&self) -> Result<String, String> {
        let running = self.running.write().unwrap_or_else(PoisonError::into_inner).take();
        let report = running.expect("it is taken once").finish().map_err(|error| error.to_string())?;
        serde_json::to_string(&report).map_err(|error| error.to_string())
    }

    /// An event as JSON. The record of a session that has ended is kept.
    fn told(&self, event: &Event) -> PyResult<String> {
        let told = to_json(event)?;
        let Event::Closed { record, secure, .. } = event else { return Ok(told) };
        let told = told.trim_end_matches('}');
        if !secure {
            return Ok(format!(r#"{told},"record":null}}"#));
        }
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.summariser.add(record);
        if let Some(records) = &mut ended.records {
            records.push(Record::clone(record));
        }
        Ok(format!(r#"{told},"record":{}}}"#, row(record)))
    }
}

impl Drop for Live {
    /// A process that was forked has no thread of the network, for which the drop of the network would wait.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(running);
        }
    }
}

/// Everything that came into a live network, from the file that it wrote.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Recording(Arc<slowhand_live::Recording>);

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = abandonable(py, move || slowhand_live::Recording::read(&path))?;
        Ok(Self(Arc::new(read.map_err(|error| not_replayed(py, error))?)))
    }

    fn header(&self) -> PyResult<String> {
        to_json(self.0.header())
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// The records of its sessions in the world of `seed`, their summary, and how many frames there were.
    fn replay<'py>(
        &self,
        py: Python<'py>,
        scenario: &Scenario,
        seed: i128,
        capture: Option<PathBuf>,
    ) -> PyResult<(Table<'py>, String, u64)> {
        let seed = natural("seed", seed)?;
        let (recording, of) = (Arc::clone(&self.0), Arc::clone(&scenario.0));
        let replay =
            move |interrupt: &Interrupt| slowhand_live::replay(&recording, &of, seed, capture.as_deref(), interrupt);
        let replayed = interruptible(py, replay)?.map_err(|error| not_replayed(py, error))?;
        let replayed = replayed.expect("what is interrupted has returned an error");
        let mut summariser = Summariser::default();
        replayed.records.iter().for_each(|record| summariser.add(record));
        let summary = to_json(&summariser.summary(&scenario.0))?;
        Ok((table(py, record::columns(&replayed.records))?, summary, replayed.frames))
    }
}

fn not_replayed(py: Python<'_>, error: ReplayError) -> PyErr {
    match error {
        ReplayError::Read { .. } => PyOSError::new_err(error.to_string()),
        ReplayError::Capture(error) => not_captured(py, &error),
        error => refused(error.blame()),
    }
}

/// The address of a node of the mesh.
#[pyfunction]
pub fn mesh_address(node: u16) -> String {
    slowhand_net::address::mesh_address(NodeId(node)).to_string()
}

/// A record as a JSON object: its columns, in their order.
pub fn row(record: &Record) -> String {
    let columns = record::columns(std::slice::from_ref(record));
    let pairs: Vec<String> =
        columns.iter().map(|(field, column)| format!(r#""{}":{}"#, field.name, column.json(0))).collect();
    format!("{{{}}}", pairs.join(","))
}

fn ways(
    proxies: &[(String, String, String)],
    server: Option<String>,
    listen: Option<String>,
    device: Option<(String, String)>,
    internet: Option<(String, String)>,
) -> PyResult<Ways> {
    if let Some(server) = server {
        return Ok(Ways::Clients { server: address(&server)? });
    }
    if let Some(listen) = listen {
        return Ok(Ways::Server { listen: address(&listen)? });
    }
    if device.is_some() || internet.is_some() {
        return Ok(Ways::Interfaces { device: device.map(interface), internet: internet.map(interface) });
    }
    let proxies: PyResult<Vec<Proxy>> = proxies.iter().map(proxy).collect();
    proxies.map(|proxies| if proxies.is_empty() { Ways::Emulated } else { Ways::Proxies(proxies) })
}

fn proxy((transport, listen, server): &(String, String, String)) -> PyResult<Proxy> {
    let transport = if transport == "udp" { Transport::Udp } else { Transport::Tcp };
    Ok(Proxy { transport, listen: address(listen)?, server: address(server)? })
}

fn address(text: &str) -> PyResult<SocketAddr> {
    text.parse().map_err(|_| wrong("address", &format!("found {text}, allowed: ADDRESS:PORT")))
}

fn interface((kind, name): (String, String)) -> Interface {
    if kind == "netns" { Interface::Namespace(name) } else { Interface::Existing(name) }
}

fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    let refuse = |_| wrong(name, &format!("found {seconds}, allowed: a number of seconds from 0 on"));
    Duration::try_from_secs_f64(seconds).map_err(refuse)
}

/// Why a network does not start, or has ended.
fn failed(error: LiveError) -> PyErr {
    if let Some(argument) = error.argument() {
        return wrong(argument, &error.to_string());
    }
    match error {
        LiveError::Plan(error) => refused(error),
        LiveError::Panicked(_) => PyRuntimeError::new_err(error.to_string()),
        error => PyOSError::new_err(error.to_string()),
    }
}
