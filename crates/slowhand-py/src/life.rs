//! The life of a device, and how long its battery lasts.

use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, json};
use slowhand_lab::battery::{self, Battery, BatteryError};
use slowhand_lab::life::{estimate, simulate};

use crate::interruptible::{abandonable, kept};
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
    let batteries: Vec<(String, Battery)> = abandonable(py, move || {
        let load = |name: String| Ok((name.clone(), Battery::load(&name, Path::new(""))?));
        batteries.into_iter().map(load).collect::<Result<_, BatteryError>>()
    })?
    .map_err(|error| refused(error.blame()))?;
    let (seed, client) = (natural("seed", seed)?, client.map(|client| natural("client", client)).transpose()?);
    let worlds = worlds.map(|worlds| natural("worlds", worlds)).transpose()?;
    let scenario = Arc::clone(&scenario.0);
    let (life, stopped) = kept(py, move |interrupt| match worlds {
        Some(worlds) => estimate(&scenario, client, seconds, seed, worlds, interrupt),
        None => simulate(&scenario, client, seconds, seed, interrupt).map(Some),
    })?;
    let Some(life) = life.map_err(|error| refused(error.blame()))? else { return Ok((None, stopped)) };
    let lasts = batteries.into_iter().map(|(name, battery)| {
        let of = json!({
            "description": battery.description,
            "capacity_mah": battery.capacity_mah.value,
            "assumed": battery.assumed,
            "life": battery.life(&life),
        });
        (name, of)
    });
    let told = to_json(&json!({ "life": life, "batteries": lasts.collect::<Map<_, _>>() }))?;
    Ok((Some(told), stopped))
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
