//! A TOML text as a tree in which every value knows where it was written.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::de::{Fault, deserialize};
use super::{InputError, Place};

/// A file and the overrides laid over it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    file: PathBuf,
    root: Node,
}

/// A value, the words it was written in and where that was.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) written: String,
    pub(super) origin: Origin,
}

/// A TOML value. Tables keep the order of the file.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    /// `None` where the number does not fit 64 bits.
    Integer(Option<i64>),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

/// A key of a table.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) origin: Origin,
}

/// Where a key or value was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Origin {
    Line(usize),
    Override(Arc<str>),
}

/// A value given outside the file, as `key=value`, which replaces what the file says.
///
/// The key is a dotted path (`network.link_pdr`), the value is TOML (`0.9`, `"mutual"`,
/// `{ kind = "line", hops = 2 }`); a bare word is a string.
#[derive(Clone, Debug)]
pub struct Override {
    key: Arc<str>,
    value: Node,
}

impl Override {
    /// The dotted path of the key that is replaced.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl FromStr for Override {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let refuse = |key: &str, found: &str, allowed: &str| InputError {
            place: Place::Override(key.to_owned()),
            key: key.to_owned(),
            found: found.to_owned(),
            allowed: allowed.to_owned(),
        };
        let Some((key, written)) = text.split_once('=') else {
            let allowed = "key=value, such as network.link_pdr=0.9";
            return Err(refuse(text, "no value", allowed));
        };
        let (key, written) = (key.trim(), written.trim());
        let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-.:/+".contains(c);
        if key.split('.').any(|part| part.is_empty() || !part.chars().all(is_bare)) {
            let allowed = "a dotted path of keys before the equals sign, such as network.link_pdr";
            return Err(refuse(key, &shorten(text), allowed));
        }
        let key: Arc<str> = key.into();
        let origin = |_: usize| Origin::Override(key.clone());
        let value = match DeValue::parse(written) {
            Ok(value) => Node::new(&value, written, &origin),
            Err(_) if !written.is_empty() && written.chars().all(is_bare) => {
                Node { value: Value::String(written.to_owned()), written: format!("{written:?}"), origin: origin(0) }
            }
            Err(_) => {
                let allowed = "a TOML value, such as 0.9, true, \"text\" or { kind = \"line\", hops = 2 }";
                return Err(refuse(&key, &format!("`{}`", shorten(written)), allowed));
            }
        };
        Ok(Self { key, value })
    }
}

impl Document {
    /// Reads and parses a file.
    pub(crate) fn read(file: &Path) -> Result<Self, InputError> {
        let text = std::fs::read_to_string(file).map_err(|error| InputError {
            place: Place::File(file.to_owned()),
            key: String::new(),
            found: error.to_string(),
            allowed: "a TOML file that can be read".to_owned(),
        })?;
        Self::parse(file, &text)
    }

    /// Parses `text`, which errors will call `file`.
    pub(crate) fn parse(file: &Path, text: &str) -> Result<Self, InputError> {
        let table = DeTable::parse(text).map_err(|error| syntax_error(file, text, &error))?;
        let lines = |offset| Origin::Line(line_at(text, offset));
        let root = Node {
            value: Value::table(table.get_ref(), text, &lines),
            written: "a table".to_owned(),
            origin: Origin::Line(1),
        };
        Ok(Self { file: file.to_owned(), root })
    }

    /// Lays an override over the document.
    pub(crate) fn set(&mut self, change: &Override) -> Result<(), InputError> {
        let parts: Vec<&str> = change.key.split('.').collect();
        self.root.set(&parts, change).map_err(|found| InputError {
            place: Place::Override(change.key.to_string()),
            key: change.key.to_string(),
            found,
            allowed: "a path that leads through tables".to_owned(),
        })
    }

    /// The document as a `T`.
    pub(crate) fn deserialize<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        deserialize(&self.root).map_err(|fault| self.complaint(fault))
    }

    /// A complaint about `key` (a dotted path with `[index]` for arrays): what stands there is right
    /// in itself, but not beside the rest.
    pub(crate) fn blame(&self, key: &str, found: impl Into<String>, allowed: impl Into<String>) -> InputError {
        InputError {
            place: self.place(self.nearest(key)),
            key: key.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
        }
    }

    /// Whether somebody wrote `key`, so that its value is no default.
    pub(crate) fn has(&self, key: &str) -> bool {
        let (mut node, parts) = (&self.root, parts(key));
        for part in parts {
            match node.child(part) {
                Some((_, child)) => node = child,
                None => return false,
            }
        }
        true
    }

    /// Where `key` was written or, where it was not, the table it would stand in.
    fn nearest(&self, key: &str) -> &Origin {
        let (mut node, mut origin) = (&self.root, &self.root.origin);
        for part in parts(key) {
            let Some((key_origin, child)) = node.child(part) else {
                break;
            };
            (node, origin) = (child, key_origin);
        }
        origin
    }

    fn complaint(&self, fault: Fault) -> InputError {
        InputError {
            place: self.place(fault.origin.as_ref().unwrap_or(&self.root.origin)),
            key: fault.key,
            found: fault.found,
            allowed: fault.allowed,
        }
    }

    fn place(&self, origin: &Origin) -> Place {
        match origin {
            Origin::Line(line) => Place::Line(self.file.clone(), *line),
            Origin::Override(key) => Place::Override(key.to_string()),
        }
    }
}

impl Node {
    fn new(value: &Spanned<DeValue<'_>>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Self {
        let span = value.span();
        let written = text.get(span.clone()).unwrap_or_default();
        let written = match value.get_ref() {
            // What lies under a header is written all over the place.
            DeValue::Table(_) if !written.starts_with('{') => "a table".to_owned(),
            _ => shorten(written),
        };
        Self { value: Value::new(value.get_ref(), text, origin), written, origin: origin(span.start) }
    }

    /// Puts the override's value at the end of the path, and tables on the way where there are none.
    ///
    /// # Errors
    /// What stands in the way.
    fn set(&mut self, path: &[&str], change: &Override) -> Result<(), String> {
        let [part, rest @ ..] = path else {
            *self = change.value.clone();
            return Ok(());
        };
        let Value::Table(entries) = &mut self.value else {
            return Err(format!("{} before .{part}, which has no keys of its own", self.written));
        };
        let origin = Origin::Override(change.key.clone());
        let index = entries.iter().position(|(key, _)| key.name == *part).unwrap_or_else(|| {
            let value = Value::Table(Vec::new());
            let key = Key { name: (*part).to_owned(), origin: origin.clone() };
            entries.push((key, Self { value, written: "a table".to_owned(), origin: origin.clone() }));
            entries.len() - 1
        });
        let (key, node) = &mut entries[index];
        if rest.is_empty() {
            key.origin = origin;
        }
        node.set(rest, change)
    }

    /// The child of a table or array, with the place of its key or, in an array, its own.
    fn child(&self, part: &str) -> Option<(&Origin, &Node)> {
        match &self.value {
            Value::Table(entries) => {
                entries.iter().find(|(key, _)| key.name == part).map(|(key, node)| (&key.origin, node))
            }
            Value::Array(items) => {
                let node = items.get(part.parse::<usize>().ok()?)?;
                Some((&node.origin, node))
            }
            _ => None,
        }
    }
}

impl Value {
    fn new(value: &DeValue<'_>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Self {
        match value {
            DeValue::String(string) => Self::String(string.to_string()),
            DeValue::Integer(number) => Self::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()),
            // What the parser takes for a float, Rust can read; a number too large is infinite.
            DeValue::Float(number) => Self::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(boolean) => Self::Boolean(*boolean),
            DeValue::Datetime(_) => Self::Datetime,
            DeValue::Array(items) => Self::Array(items.iter().map(|item| Node::new(item, text, origin)).collect()),
            DeValue::Table(table) => Self::table(table, text, origin),
        }
    }

    fn table(table: &DeTable<'_>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Self {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key = Key {
                name: AsRef::<std::borrow::Cow<'_, str>>::as_ref(key).to_string(),
                origin: origin(key.span().start),
            };
            (key, Node::new(value, text, origin))
        };
        Self::Table(table.iter().map(entry).collect())
    }
}

/// The steps of a dotted path: `a.b[2].c` is `a`, `b`, `2`, `c`.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(['.', '[', ']']).filter(|part| !part.is_empty())
}

/// The line of an offset, counted from 1.
fn line_at(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|&&octet| octet == b'\n').count()
}

/// A value as it was written, on one line and not too long.
fn shorten(written: &str) -> String {
    const LONGEST: usize = 60;
    let line = written.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST && line.len() == written.trim().len() {
        return line.to_owned();
    }
    let start: String = line.chars().take(LONGEST).collect();
    format!("{start}...")
}

/// A text that is no TOML. The parser's message says what it expected; the line says which key it was at.
fn syntax_error(file: &Path, text: &str, error: &toml::de::Error) -> InputError {
    let offset = error.span().map_or(text.len(), |span| span.start);
    let number = line_at(text, offset);
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let (problem, expected) = match error.message() {
        "duplicate key" => ("it stands here again", "each key and each table once"),
        message => match message.split_once(", expected ") {
            Some(("string values must be quoted", _)) => ("text needs quotes", "a TOML value"),
            Some(split) => split,
            None => (message, "TOML as https://toml.io has it"),
        },
    };
    InputError {
        place: Place::Line(file.to_owned(), number),
        key: key_on_line(text, number),
        found: format!("`{}` ({problem})", shorten(line)),
        allowed: expected.to_owned(),
    }
}

/// The key that a line of broken TOML seems to be about, with the section it stands in.
fn key_on_line(text: &str, number: usize) -> String {
    let header = |line: &str| {
        let name = line.trim().strip_prefix('[')?.split(']').next()?;
        Some(name.trim_matches(['[', ' ']).to_owned())
    };
    let mut section = String::new();
    for line in text.lines().take(number) {
        section = header(line).unwrap_or(section);
    }
    let line = text.lines().nth(number - 1).unwrap_or_default();
    match line.split_once('=') {
        Some((key, _)) if header(line).is_none() && !section.is_empty() => {
            format!("{section}.{}", key.trim())
        }
        Some((key, _)) if header(line).is_none() => key.trim().to_owned(),
        _ => section,
    }
}
