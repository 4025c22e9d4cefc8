//! The module `slowhand._native`: the laboratory as Python sees it.
//!
//! Its types and functions are documented in `python/slowhand/_native.pyi`. Rust runs without the interpreter's lock.
//! Rust and Python exchange scenarios, columns of records, and JSON.
//!
//! # Modules
//!
//! | modules | hold |
//! | --- | --- |
//! | `interruptible` | Rust's work on a thread of its own, while Python handles signals |
//! | `argument`, `number` | the error of an argument; numbers from Python that are not negative |
//! | `records` | opens a protected record, for a paper that counts its fields |
//! | `scenario`, `stacks` | scenarios and their captures; the libraries, and the user's own stacks |
//! | `run` | runs, their records and their summary; one world in detail |
//! | `live` | a network against the wall clock, its events and their records |
//! | `exec` | programs in virtual time: one world, in a process of its own |
//! | `capacity`, `life`, `estimate`, `joining`, `readers` | session slots of a server; the life of a device and its battery; means with intervals; how a network forms; readers of one value |

#![forbid(unsafe_code)]

mod argument;
mod capacity;
mod estimate;
mod exec;
mod interruptible;
mod joining;
mod life;
mod live;
mod number;
mod readers;
mod records;
mod run;
mod scenario;
mod stacks;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The module. Its doc comment is what Python's `help` prints.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        argument::ArgumentError,
        capacity::{capacity, policies, ram},
        estimate::{Estimate, percentile},
        exec::{exec, exec_programs, prepare_exec},
        joining::{capture_join, join, join_schema},
        life::{Lives, batteries, battery_schema, life},
        live::{Live, Recording, mesh_address},
        profiles,
        readers::{Reading, capture_readers, readers_schema},
        records::open_ccm_8,
        run::{Run, inspect, table_schemas},
        scenario::{Scenario, ScenarioError, capture, device_schema, override_value, schema},
        stacks::{
            built_in_stacks, is_stack_loaded, own_stacks, stack_build, stack_file, stacks, stacks_folder, stacks_named,
            try_stack,
        },
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let error = module.py().get_type::<ScenarioError>();
        for attribute in ["key", "place", "override", "reason"] {
            error.setattr(attribute, module.py().None())?;
        }
        error.setattr("together", false)?;
        let error = module.py().get_type::<ArgumentError>();
        for attribute in ["argument", "reason"] {
            error.setattr(attribute, "")?;
        }
        module.add("MAX_THREADS", slowhand_lab::runner::MAX_THREADS)?;
        module.add("LONGEST_LIFE_S", slowhand_lab::life::MOST_SECONDS)?;
        module.add("DAY_S", slowhand_lab::life::DAY_S)?;
        let longest_poll = slowhand_net::radio::csma::Polling::openthread().period;
        module.add("LONGEST_POLL_MS", longest_poll.as_secs_f64() * 1e3)?;
        module.add("YEAR_S", slowhand_lab::life::YEAR_S)?;
        module.add("LATENESS_LIMIT_MS", slowhand_live::LATENESS_LIMIT.as_secs_f64() * 1e3)?;
        module.add("FAR_BEHIND_MS", slowhand_live::FAR_BEHIND.as_secs_f64() * 1e3)?;
        module.add("CHANGEABLE_KEYS", slowhand_lab::scenario::CHANGEABLE_KEYS)?;
        module.add("INTERNET_ADDRESS", slowhand_net::address::internet_address().to_string())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// So that `Scenario.session_memory` counts the libraries in Rust too.
#[global_allocator]
static ALLOCATOR: slowhand_lab::CountingAllocator = slowhand_lab::CountingAllocator;

/// The profiles of the nodes' software, as a JSON array.
#[pyfunction]
fn profiles() -> PyResult<String> {
    to_json(&slowhand_lab::scenario::Profile::ALL.map(slowhand_lab::scenario::Profile::list))
}

/// `value` as JSON. All our types can be written as JSON.
fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
