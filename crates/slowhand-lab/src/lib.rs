//! Scenarios of secure sessions over low-power networks: from a TOML file to records.

#![forbid(unsafe_code)]

pub mod input;
pub mod scenario;
