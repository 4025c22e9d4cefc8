//! What a run has to say of its programs, while it runs.

use crate::Note;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<(String, String), (u64, bool)>);

impl Notes {
    pub(crate) fn add(&mut self, program: &str, what: &str, differs: bool) {
        let note = self.0.entry((program.to_owned(), what.to_owned())).or_insert((0, differs));
        note.0 += 1;
    }

    pub(crate) fn list(self) -> Vec<Note> {
        let notes = self.0.into_iter();
        notes.map(|((program, what), (count, differs))| Note { program, what, count, differs }).collect()
    }
}
