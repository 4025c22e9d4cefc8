//! The share of sessions that a server with few session slots refuses, and the RAM of a device.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, json};
use slowhand_lab::capacity::{Engset, Policy, Simulation};
use slowhand_lab::device::{Device, DeviceError, Origin};
use slowhand_lab::input::{Blame, Place};

use crate::interruptible::{abandonable, interruptible};
use crate::scenario::{refused, unplaced};
use crate::to_json;

/// Engset's formula and the simulation of each policy, as a JSON object.
#[pyfunction]
pub fn capacity(
    py: Python<'_>,
    slots: u32,
    clients: u32,
    rho: f64,
    handshake: f64,
    policies: Vec<String>,
    seed: u64,
) -> PyResult<String> {
    // The formula depends on the mean time that a slot is held only, and a half-open session holds one too.
    let engset = Engset { slots, clients, rho: rho * (1.0 + handshake) };
    let mut simulated = Map::new();
    for name in policies {
        let policy = Policy::named(&name).ok_or_else(|| PyValueError::new_err(format!("no policy {name:?}")))?;
        let simulation = Simulation { slots, clients, rho, policy, handshake, seed, ..Simulation::default() };
        let result = interruptible(py, move |interrupt| simulation.run_until(interrupt))?;
        simulated.insert(name, json!(result));
    }
    to_json(&json!({
        "time_congestion": engset.time_congestion(),
        "call_congestion": engset.call_congestion(),
        "policies": simulated,
    }))
}

/// The names of the policies.
#[pyfunction]
pub fn policies() -> Vec<&'static str> {
    Policy::ALL.iter().map(|(name, _)| *name).collect()
}

/// The RAM of a device in octets, and where the number comes from.
#[pyfunction]
pub fn ram(py: Python<'_>, device: String) -> PyResult<(u64, String)> {
    let device = abandonable(py, move || Device::load(&device, Path::new("")))?.map_err(|error| match error {
        DeviceError::Invalid(error) => refused(error),
        DeviceError::Unknown { .. } => refused(unplaced("", error.to_string())),
    })?;
    let Some(ram) = device.processor.ram_kib else {
        let (place, key) = (Place::File(device.file), "processor.ram_kib".to_owned());
        let reason = "found nothing, allowed: a number and its source".to_owned();
        return Err(refused(Blame { place: Some(place), key, reason, together: false }));
    };
    let from = match ram.origin {
        Origin::Source(source) => source,
        Origin::Assumed(reason) => format!("assumed: {reason}"),
    };
    Ok(((ram.value * 1024.0) as u64, from))
}
