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
    /// The value found there.
    pub found: String,
    /// The values that may stand there instead.
    pub allowed: String,
    /// True if what was found is allowed alone, but not together with the rest.
    pub together: bool,
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

impl InputError {
    /// The error as data.
    pub fn blame(&self) -> Blame {
        let reason = format!("found {}, allowed: {}", shown(&self.found, LONGEST), self.allowed);
        Blame { place: Some(self.place.clone()), key: self.key.clone(), reason, together: self.together }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blame().fmt(f)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |file: &Path| shown(&file.to_string_lossy(), usize::MAX);
        match self {
            Self::File(file) => f.write_str(&path(file)),
            Self::Line(file, line) => write!(f, "{}:{line}", path(file)),
            Self::Override(key) => write!(f, "--set {}", shown(key, LONGEST)),
        }
    }
}

/// An error about a scenario or a device as data: who shows it may name another place, such as the option that has set
/// the key. As a text it is the message of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The place that has to change; `None` if no file and no override alone is wrong.
    pub place: Option<Place>,
    /// The dotted path of the key; empty if the error is about no single key.
    pub key: String,
    /// The value found, and the allowed values.
    pub reason: String,
    /// True if each value is allowed alone: another value somewhere else makes it possible.
    pub together: bool,
}

impl Blame {
    /// The key of the override that has to change; `None` if no override is wrong.
    pub fn overridden(&self) -> Option<&str> {
        match &self.place {
            Some(Place::Override(key)) => Some(key),
            _ => None,
        }
    }
}

impl From<InputError> for Blame {
    fn from(error: InputError) -> Self {
        error.blame()
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let is_named_by_place = self.overridden() == Some(&self.key);
        if !self.key.is_empty() && !is_named_by_place {
            write!(f, "{}: ", shown(&self.key, LONGEST))?;
        }
        f.write_str(&self.reason)
    }
}
