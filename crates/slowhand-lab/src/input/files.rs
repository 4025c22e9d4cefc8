//! The files that a scenario is made from: on the disk, or as texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::error::{InputError, Place};

/// Reads files by their names, and remembers the text of each file that it has read.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    store: Store<'a>,
    read: BTreeMap<String, String>,
}

#[derive(Debug)]
enum Store<'a> {
    /// Names are relative to this directory.
    Directory(&'a Path),
    /// Texts by name.
    Texts(&'a BTreeMap<String, String>),
}

impl<'a> Files<'a> {
    /// The files on the disk, with names relative to `directory`.
    pub(crate) fn in_directory(directory: &'a Path) -> Self {
        Self { store: Store::Directory(directory), read: BTreeMap::new() }
    }

    /// These texts by name. The disk is not used.
    pub(crate) fn of_texts(texts: &'a BTreeMap<String, String>) -> Self {
        Self { store: Store::Texts(texts), read: BTreeMap::new() }
    }

    /// The text of each file that was read, by name.
    pub(crate) fn into_read(self) -> BTreeMap<String, String> {
        self.read
    }

    /// What messages call the file with this name: its path on the disk.
    pub(crate) fn path(&self, name: &Path) -> PathBuf {
        match self.store {
            Store::Directory(directory) => directory.join(name),
            Store::Texts(_) => name.to_owned(),
        }
    }

    /// True if there is such a file.
    pub(crate) fn has(&self, name: &Path) -> bool {
        match self.store {
            Store::Directory(directory) => directory.join(name).is_file(),
            Store::Texts(texts) => texts.contains_key(&*name.to_string_lossy()),
        }
    }

    /// Reads and parses a file.
    pub(crate) fn read(&mut self, name: &Path) -> Result<Document, InputError> {
        let path = self.path(name);
        let text = match self.store {
            Store::Directory(_) => std::fs::read_to_string(&path).map_err(|error| error.to_string()),
            Store::Texts(texts) => {
                texts.get(&*name.to_string_lossy()).cloned().ok_or_else(|| "no text with this name".to_owned())
            }
        };
        let text = text.map_err(|found| InputError {
            place: Place::File(path),
            key: String::new(),
            found,
            allowed: "a TOML file that can be read".to_owned(),
        })?;
        self.parse(name, text)
    }

    /// Parses a text as that of the file with this name.
    pub(crate) fn parse(&mut self, name: &Path, text: String) -> Result<Document, InputError> {
        let document = Document::parse(&self.path(name), &text)?;
        self.read.insert(name.to_string_lossy().into_owned(), text);
        Ok(document)
    }
}
