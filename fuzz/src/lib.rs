//! The tools that the fuzz targets share: an input that is read like a list of decisions, cryptography that is cheap and whose keys can be
//! seen, two ends, and a path between sessions.

pub mod ends;
pub mod input;
pub mod path;
pub mod provider;
pub mod records;

// The laboratory's own: it protects nothing against somebody who thinks, but no chance undoes what a change does to a tag.
#[path = "../../crates/slowhand-sessions/src/lean/weightless.rs"]
mod weightless;
