//! Scenarios of secure sessions over low-power networks: from a TOML file to records.
//!
//! [`scenario::Scenario::load`] reads and checks a file, [`runner::Runner`] runs it once for every seed, and each
//! handshake becomes a [`record::Record`].

#![forbid(unsafe_code)]

pub mod application;
pub mod capacity;
pub mod capture;
pub mod device;
mod energy;
pub mod estimate;
pub mod input;
pub mod inspect;
pub mod plan;
pub mod record;
pub mod runner;
pub mod scenario;
mod sniffer;
pub mod summary;
mod world;

pub use slowhand_sessions::StackInfo;
pub use slowhand_sessions::stacks;
pub use sniffer::{CaptureRunError, capture_run};
