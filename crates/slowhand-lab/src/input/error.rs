//! The error that all bad input gets.

use std::fmt;
use std::path::{Path, PathBuf};

use super::item::shown;

/// Something is wrong with a file or an override: where, which key, what was found, what is allowed.
///
/// ```text
/// scenarios/x.toml:7: network.link_pdr: found 1.5, allowed: a probability from 0 to 1
/// --set network.link_pdr: found 1.5, allowed: a probability from 0 to 1
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InputError {
    /// The file and line, or the override, that has to change.
    pub place: Place,
    /// The dotted path of the key; empty if the error is about the whole file.
    pub key: String,
    /// What was found there.
    pub found: String,
    /// What may stand there instead.
    pub allowed: String,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file that could not be read at all.
    File(PathBuf),
    /// A line of a file, counted from 1.
    Line(PathBuf, usize),
    /// An override of this key, given with `--set key=value`.
    Override(String),
}

/// The most characters of a key, and of what was found, in a message. Both may come from the user.
const LONGEST: usize = 200;

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = shown(&self.key, LONGEST);
        let path = |file: &Path| shown(&file.to_string_lossy(), usize::MAX);
        match &self.place {
            Place::File(file) => write!(f, "{}: ", path(file))?,
            Place::Line(file, line) => write!(f, "{}:{line}: ", path(file))?,
            Place::Override(key) => write!(f, "--set {}: ", shown(key, LONGEST))?,
        }
        let named_by_place = matches!(&self.place, Place::Override(key) if *key == self.key);
        if !key.is_empty() && !named_by_place {
            write!(f, "{key}: ")?;
        }
        write!(f, "found {}, allowed: {}", shown(&self.found, LONGEST), self.allowed)
    }
}
