//! The life of a device, and how long its battery lasts.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use serde_json::{Map, json};
use slowhand_lab::battery::{self, Battery, BatteryError};
use slowhand_lab::life::{Life, Parts, estimate, simulate};

use crate::interruptible::{abandonable, interruptible, kept};
use crate::number::natural;
use crate::scenario::{Scenario, refused};
use crate::to_json;

/// The life of a client for so many seconds: estimated from so many worlds, or simulated in full without a number of worlds.
/// `None` if it is interrupted before two worlds are complete. Then, and if what is there is the part of a life, the second is
/// what the handler of the signal has raised.
#[pyfunction]
#[pyo3(signature = (scenario, batteries, seconds, seed, worlds, client))]
pub fn life(
    py: Python<'_>,
    scenario: &Scenario,
    batteries: Vec<String>,
    seconds: f64,
    seed: i128,
    worlds: Option<i128>,
    client: Option<i128>,
) -> PyResult<(Option<String>, Option<PyErr>)> {
    let batteries = loaded(py, scenario, batteries)?;
    let (seed, client) = (natural("seed", seed)?, client.map(|client| natural("client", client)).transpose()?);
    let worlds = worlds.map(|worlds| natural("worlds", worlds)).transpose()?;
    let scenario = Arc::clone(&scenario.0);
    let (life, stopped) = kept(py, move |interrupt| match worlds {
        Some(worlds) => estimate(&scenario, client, seconds, seed, worlds, interrupt),
        None => simulate(&scenario, client, seconds, seed, interrupt).map(Some),
    })?;
    let Some(life) = life.map_err(|error| refused(error.blame()))? else { return Ok((None, stopped)) };
    Ok((Some(told(&life, &batteries)?), stopped))
}

type Batteries = Vec<(String, Battery)>;

/// Batteries by their names or paths, for the clients of a scenario.
fn loaded(py: Python<'_>, scenario: &Scenario, names: Vec<String>) -> PyResult<Batteries> {
    Battery::check(&scenario.0.client_device).map_err(|error| refused(error.blame()))?;
    let load = |name: String| Ok((name.clone(), Battery::load(&name, Path::new(""))?));
    let loaded = abandonable(py, move || names.into_iter().map(load).collect::<Result<_, BatteryError>>())?;
    loaded.map_err(|error| refused(error.blame()))
}

/// A life, and how long batteries last, as a JSON object.
fn told(life: &Life, batteries: &Batteries) -> PyResult<String> {
    let lasts = batteries.iter().map(|(name, battery)| {
        let of = json!({
            "description": battery.description,
            "capacity_mah": battery.capacity_mah.value,
            "assumed": battery.assumed,
            "life": battery.life(life),
        });
        (name.clone(), of)
    });
    to_json(&json!({ "life": life, "batteries": lasts.collect::<Map<_, _>>() }))
}

/// The parts of a life that are simulated in more and more worlds, and how long a battery lasts by them.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Lives {
    parts: Arc<Mutex<Parts>>,
    batteries: Batteries,
}

#[pymethods]
impl Lives {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, battery: String, seconds: f64, seed: i128) -> PyResult<Self> {
        let (batteries, seed) = (loaded(py, scenario, vec![battery])?, natural("seed", seed)?);
        let scenario = Arc::clone(&scenario.0);
        let parts = abandonable(py, move || Parts::new(&scenario, None, seconds, seed))?;
        let parts = parts.map_err(|error| refused(error.blame()))?;
        Ok(Self { parts: Arc::new(Mutex::new(parts)), batteries })
    }

    fn sample(&self, py: Python<'_>, worlds: i128, threads: i128) -> PyResult<()> {
        let (worlds, threads) = (natural("worlds", worlds)?, natural("threads", threads)?);
        let parts = Arc::clone(&self.parts);
        let sampled = interruptible(py, move |interrupt| locked(&parts).sample(worlds, threads, interrupt))?;
        sampled.map_err(|error| refused(error.blame()))
    }

    fn life(&self, py: Python<'_>, worlds: i128) -> PyResult<Option<(String, Vec<f64>)>> {
        let (worlds, parts) = (natural("worlds", worlds)?, Arc::clone(&self.parts));
        let Some((life, days)) = abandonable(py, move || locked(&parts).life(worlds))? else { return Ok(None) };
        let (_, battery) = &self.batteries[0];
        let charges = days.into_iter().map(|mj| battery.charge_a_day_mah(mj, life.supply_v).iter().sum());
        Ok(Some((told(&life, &self.batteries)?, charges.collect())))
    }
}

fn locked(parts: &Mutex<Parts>) -> std::sync::MutexGuard<'_, Parts> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names of the batteries that are built in.
#[pyfunction]
pub fn batteries() -> Vec<&'static str> {
    Battery::names().collect()
}

/// The JSON Schema of a battery file.
#[pyfunction]
pub fn battery_schema() -> PyResult<String> {
    to_json(&battery::schema())
}
