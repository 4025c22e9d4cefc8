//! The files that a scenario is made from: on the disk, or as texts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::document::Document;
use super::error::{InputError, Place};

/// The longest file, in octets: 64 MiB. (Assumed: many times the length of a scenario that names every link of the
/// largest mesh. Without a limit, a device such as `/dev/zero` would fill the memory.)
const LONGEST_FILE: u64 = 64 << 20;

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
    /// Texts by name. Names that are not among them are relative to the directory, if there is one.
    Texts(&'a BTreeMap<String, String>, Option<&'a Path>),
}

impl<'a> Files<'a> {
    /// The files on the disk, with names relative to `directory`.
    pub(crate) fn in_directory(directory: &'a Path) -> Self {
        Self { store: Store::Directory(directory), read: BTreeMap::new() }
    }

    /// These texts by name. Other files are read from `directory`; without, the disk is not used.
    pub(crate) fn of_texts(texts: &'a BTreeMap<String, String>, directory: Option<&'a Path>) -> Self {
        Self { store: Store::Texts(texts, directory), read: BTreeMap::new() }
    }

    /// The text of each file that was read, by name.
    pub(crate) fn into_read(self) -> BTreeMap<String, String> {
        self.read
    }

    /// The name of a file in messages: its path on the disk, if it is there.
    pub(crate) fn path(&self, name: &Path) -> PathBuf {
        self.on_disk(name).unwrap_or_else(|| name.to_owned())
    }

    /// True if there is such a file.
    pub(crate) fn has(&self, name: &Path) -> bool {
        self.given(name).is_some() || self.on_disk(name).is_some_and(|path| path.is_file())
    }

    /// The text with this name, if it was given.
    fn given(&self, name: &Path) -> Option<&'a String> {
        match self.store {
            Store::Directory(_) => None,
            Store::Texts(texts, _) => texts.get(&*name.to_string_lossy()),
        }
    }

    /// The path of a file whose text was not given. `None` if the disk is not used.
    fn on_disk(&self, name: &Path) -> Option<PathBuf> {
        match self.store {
            Store::Texts(..) if self.given(name).is_some() => None,
            Store::Directory(directory) | Store::Texts(_, Some(directory)) => Some(directory.join(name)),
            Store::Texts(_, None) => None,
        }
    }

    /// Reads and parses a file.
    pub(crate) fn read(&mut self, name: &Path) -> Result<Document, InputError> {
        let text = self.unnoted_text(name, "a TOML file that can be read")?;
        self.parse(name, text)
    }

    /// Reads a file that is not TOML. If it cannot be read, the error says what is `allowed`.
    pub(crate) fn text(&mut self, name: &Path, allowed: &str) -> Result<String, InputError> {
        let text = self.unnoted_text(name, allowed)?;
        self.read.insert(name.to_string_lossy().into_owned(), text.clone());
        Ok(text)
    }

    fn unnoted_text(&self, name: &Path, allowed: &str) -> Result<String, InputError> {
        let path = self.path(name);
        let error = |found: String, allowed: &str| InputError {
            place: Place::File(path.clone()),
            key: String::new(),
            found,
            allowed: allowed.to_owned(),
            together: false,
        };
        let text = match (self.given(name), self.on_disk(name)) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(path)) => read_to_limit(&path).map_err(|error| error.to_string()),
            (None, None) => Err("no text with this name".to_owned()),
        };
        let text = text.map_err(|found| error(found, allowed))?;
        if text.len() as u64 > LONGEST_FILE {
            return Err(error("a longer file".to_owned(), &allowed.replace("that can be read", "of 64 MiB at most")));
        }
        Ok(text)
    }

    /// Parses a text as that of the file with this name.
    pub(crate) fn parse(&mut self, name: &Path, text: String) -> Result<Document, InputError> {
        let document = Document::parse(&self.path(name), &text)?;
        self.read.insert(name.to_string_lossy().into_owned(), text);
        Ok(document)
    }
}

/// The text of a file; if it is too long, one octet more than is allowed.
fn read_to_limit(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_FILE + 1).read_to_string(&mut text)?;
    Ok(text)
}
