//! A TOML document with overrides: every value knows where it was written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::de::{Fault, deserialize};
use super::error::{InputError, Place};
use super::item::{Item, Origin, Setting, Value, shorten};

/// The content of a file, in which overrides have replaced values.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    root: Item,
}

/// A value given outside the file, as `key=value`, which replaces what the file says.
///
/// The key is a dotted path (`network.link_pdr`), the value is TOML (`0.9`, `"mutual"`,
/// `{ kind = "line", hops = 2 }`); a bare word is a string. Without a value (`session.suite=`) the key is removed, so
/// that its default counts.
#[derive(Clone, Debug)]
pub struct Override {
    key: Arc<str>,
    written: String,
    /// `None` if the key is removed.
    value: Option<Item>,
}

/// The most characters of a number without a point: those of the least number of 64 bits.
const LONGEST_NUMBER: usize = 20;

/// The most keys in the path of an override. No key of a scenario is deeper than six.
const MAX_STEPS: usize = 16;

impl Override {
    /// The dotted path of the key that is replaced.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its value; `None` if it removes the key.
    pub fn value(&self) -> Option<Setting> {
        self.value.as_ref().map(Item::setting)
    }

    /// True if it removes the key.
    pub(crate) fn is_removal(&self) -> bool {
        self.value.is_none()
    }
}

/// As it was written, `key=value`.
impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.written)
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
            together: false,
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
        let steps = key.split('.').count();
        if steps > MAX_STEPS {
            return Err(refuse(
                key,
                &format!("a path of {steps} keys"),
                &format!("a path of at most {MAX_STEPS} keys"),
            ));
        }
        let key: Arc<str> = key.into();
        let origin = |_: usize| Origin::Override(key.clone());
        let word = || {
            let value = Value::String(written.to_owned());
            Item { value, written: format!("\"{}\"", shorten(written)), origin: origin(0) }
        };
        if written.is_empty() {
            return Ok(Self { key, written: String::new(), value: None });
        }
        let value = match DeValue::parse(written) {
            // A key of link security, which may have digits only.
            _ if written.len() > LONGEST_NUMBER && written.chars().all(|c| c.is_ascii_alphanumeric()) => word(),
            Ok(value) => Item::new(&value, written, &origin),
            Err(_) if as_toml(written).is_some() => {
                let number = as_toml(written).unwrap_or_default();
                // Zeros in front are of a key in hexadecimal digits, more likely than of a number.
                let allowed = match written.chars().all(|c| c.is_ascii_digit()) {
                    true => format!("{number}, or the text \"{written}\" in quotes, in the syntax of TOML"),
                    false => format!("{number}, in the syntax of TOML"),
                };
                return Err(refuse(&key, &shorten(written), &allowed));
            }
            Err(_) if written.chars().all(is_bare) => word(),
            Err(_) => {
                let allowed = "a TOML value, such as 0.9, true, \"text\" or { kind = \"line\", hops = 2 }";
                return Err(refuse(&key, &format!("`{}`", shorten(written)), allowed));
            }
        };
        Ok(Self { key, written: written.to_owned(), value: Some(value) })
    }
}

impl Document {
    /// Parses a text. Errors name `file`.
    pub(crate) fn parse(file: &Path, text: &str) -> Result<Self, InputError> {
        let table = DeTable::parse(text).map_err(|error| syntax_error(file, text, &error))?;
        let (file, lines): (Arc<Path>, _) = (file.into(), Lines::of(text));
        let origin = |offset| Origin::Line(file.clone(), lines.at(offset));
        let root = Item {
            value: Value::table(table.get_ref(), text, &origin),
            written: "a table".to_owned(),
            origin: origin(0),
        };
        Ok(Self { root })
    }

    /// Replaces a value by that of an override, or removes it.
    pub(crate) fn set(&mut self, change: &Override) -> Result<(), InputError> {
        let parts: Vec<&str> = change.key.split('.').collect();
        let refuse = |found, allowed: &str| InputError {
            place: Place::Override(change.key.to_string()),
            key: change.key.to_string(),
            found,
            allowed: allowed.to_owned(),
            together: false,
        };
        let Some(value) = &change.value else {
            let removed = self.root.remove(&parts);
            return removed.map_err(|found| refuse(found.to_owned(), "key=value, or a key of the scenario"));
        };
        self.root.set(&parts, value, &Origin::Override(change.key.clone())).map_err(|found| {
            refuse(found, "a path that leads through tables, and lists with a number, as traffic.0.octets")
        })
    }

    /// The document as a `T`.
    pub(crate) fn deserialize<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        deserialize(&self.root).map_err(|fault| self.input_error(fault))
    }

    /// An error at `key`, a dotted path with `[index]` for arrays: its value is allowed alone, but not together with
    /// the rest.
    pub(crate) fn blame(&self, key: &str, found: impl Into<String>, allowed: impl Into<String>) -> InputError {
        InputError {
            place: place(self.nearest(key)),
            key: key.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            together: true,
        }
    }

    /// The text of a key at the top. `None` if it was not written.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, InputError> {
        match self.root.child(key).map(|(_, item)| item) {
            None => Ok(None),
            Some(Item { value: Value::String(text), .. }) => Ok(Some(text.clone())),
            Some(item) => Err(self.blame(key, item.written.clone(), "a string")),
        }
    }

    /// Adds what only `base` says.
    pub(crate) fn fill_up(&mut self, base: Self) {
        self.root.fill_up(base.root);
    }

    /// The dotted paths of all tables that have this key, in the order of the file; then those of its base.
    pub(crate) fn paths_to(&self, key: &str) -> Vec<String> {
        let mut paths = Vec::new();
        self.root.collect_paths_to(key, "", &mut paths);
        paths.sort_by_key(|(origin, _)| match origin {
            Origin::Line(file, line) => (**file != *self.file(), *line),
            Origin::Override(_) => (true, 0),
        });
        paths.into_iter().map(|(_, path)| path).collect()
    }

    /// The file that was read.
    pub(crate) fn file(&self) -> &Path {
        match &self.root.origin {
            Origin::Line(file, _) => file,
            Origin::Override(_) => Path::new(""),
        }
    }

    /// True if `key` was written: its value is not the default.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.item(key).is_some()
    }

    /// The value of a key, a dotted path with `[index]` for arrays. `None` if it was not written.
    pub(crate) fn setting(&self, key: &str) -> Option<Setting> {
        self.item(key).map(Item::setting)
    }

    fn item(&self, key: &str) -> Option<&Item> {
        parts(key).try_fold(&self.root, |item, part| item.child(part).map(|(_, child)| child))
    }

    /// Where `key` was written. If it was not: where its table was written.
    fn nearest(&self, key: &str) -> &Origin {
        let (mut item, mut origin) = (&self.root, &self.root.origin);
        for part in parts(key) {
            let Some((key_origin, child)) = item.child(part) else {
                break;
            };
            (item, origin) = (child, key_origin);
        }
        origin
    }

    fn input_error(&self, fault: Fault) -> InputError {
        InputError {
            place: place(fault.origin.as_ref().unwrap_or(&self.root.origin)),
            key: fault.key,
            found: fault.found,
            allowed: fault.allowed,
            together: false,
        }
    }
}

fn place(origin: &Origin) -> Place {
    match origin {
        Origin::Line(file, line) => Place::Line(file.to_path_buf(), *line),
        Origin::Override(key) => Place::Override(key.to_string()),
    }
}

/// The steps of a dotted path: `a.b[2].c` is `a`, `b`, `2`, `c`.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(['.', '[', ']']).filter(|part| !part.is_empty())
}

/// Where the lines of a text begin. A text has as many places to look up as it has values, so no look-up counts lines.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect())
    }

    /// The line of an offset, counted from 1.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset)
    }
}

/// A number that is not TOML, in the syntax of TOML: 0.9 for .9, 1.0 for 1. and 7 for 007.
fn as_toml(written: &str) -> Option<String> {
    // "inf" and "nan" are numbers too, but a text that looks like them may be meant.
    if !written.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let whole = written.parse::<i64>().ok().map(|number| number.to_string());
    let real = || written.parse::<f64>().ok().map(|number| format!("{number:?}"));
    whole.or_else(real).filter(|number| number != written)
}

/// The number around an offset.
fn number_at(text: &str, offset: usize) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-');
    let (Some(before), Some(behind)) = (text.get(..offset), text.get(offset..)) else { return "" };
    let start = before.trim_end_matches(is_part).len();
    let length = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
    &text[start..offset + length]
}

/// The error for a text that is not TOML. The parser says what it expected; the line gives the key.
fn syntax_error(file: &Path, text: &str, error: &toml::de::Error) -> InputError {
    let offset = error.span().map_or(text.len(), |span| span.start);
    let number = Lines::of(text).at(offset);
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let (problem, expected) = match error.message() {
        "recursion limit" => ("too many tables or arrays in one another", "fewer levels"),
        "duplicate key" => ("it stands here again", "each key and each table once"),
        message => match message.split_once(", expected ") {
            Some(("string values must be quoted", _)) => ("text needs quotes", "a TOML value"),
            Some(split) => split,
            None => (message, "TOML as https://toml.io has it"),
        },
    };
    let expected = match as_toml(number_at(text, offset)) {
        Some(number) => format!("{number}, in the syntax of TOML"),
        None => expected.to_owned(),
    };
    InputError {
        place: Place::Line(file.to_owned(), number),
        key: key_on_line(text, number),
        found: format!("`{}` ({problem})", shorten(line)),
        allowed: expected,
        together: false,
    }
}

/// The key on a line of broken TOML, with the section before it.
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
