//! Notes of a run on its programs, while it runs.

use crate::Note;
use std::collections::BTreeMap;

/// Of one host.
#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<(String, String), (u64, bool)>);

impl Notes {
    pub(crate) fn add(&mut self, program: &str, what: &str, differs: bool) {
        let note = self.0.entry((program.to_owned(), what.to_owned())).or_insert((0, differs));
        note.0 += 1;
    }

    /// The notes of all hosts.
    pub(crate) fn list(hosts: impl Iterator<Item = Self>) -> Vec<Note> {
        let mut all = BTreeMap::new();
        for (told, (count, differs)) in hosts.flat_map(|notes| notes.0) {
            all.entry(told).or_insert((0, differs)).0 += count;
        }
        let notes = all.into_iter();
        notes.map(|((program, what), (count, differs))| Note { program, what, count, differs }).collect()
    }
}
