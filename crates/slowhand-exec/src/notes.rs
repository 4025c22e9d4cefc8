//! What a run has to say of its programs: what was refused, and what may make the next run differ.

use crate::filter;
use serde::Serialize;
use std::collections::BTreeMap;

/// Something that a reader of the result has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Which program.
    pub program: String,
    /// What it did.
    pub what: String,
    /// How often.
    pub count: u64,
    /// True if another run of the same seed may differ because of it.
    pub differs: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<(String, String), (u64, bool)>);

impl Notes {
    pub(crate) fn add(&mut self, program: &str, what: &str, differs: bool) {
        let note = self.0.entry((program.to_owned(), what.to_owned())).or_insert((0, differs));
        note.0 += 1;
    }

    /// A thread waits in a call that is not trapped.
    pub(crate) fn waits_in_kernel(&mut self, program: &str, call: i64) {
        self.add(program, &format!("waits in {}, outside of virtual time", filter::name(call)), true);
    }

    pub(crate) fn list(self) -> Vec<Note> {
        let notes = self.0.into_iter();
        notes.map(|((program, what), (count, differs))| Note { program, what, count, differs }).collect()
    }
}
