//! The items of a TOML document: each value with its text and its place.

use std::path::Path;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value, its text, and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) written: String,
    pub(super) origin: Origin,
}

/// A TOML value. Tables keep the order of the file.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    /// `None` if the number does not fit into 64 bits.
    Integer(Option<i64>),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Item>),
    Table(Vec<(Key, Item)>),
}

/// A value of a scenario as it was written, without its places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A text; also a date, and a number that does not fit into 64 bits, which no key has.
    String(String),
    /// A number without a point.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// Several values.
    Array(Vec<Setting>),
    /// Values with names, in the order of the file.
    #[serde(serialize_with = "as_map")]
    Table(Vec<(String, Setting)>),
}

fn as_map<S: Serializer>(entries: &[(String, Setting)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, setting)| (key, setting)))
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
    Line(Arc<Path>, usize),
    Override(Arc<str>),
}

impl Item {
    pub(super) fn new(value: &Spanned<DeValue<'_>>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Self {
        let span = value.span();
        let written = text.get(span.clone()).unwrap_or_default();
        let written = match value.get_ref() {
            // The entries of a table with a header stand on many lines.
            DeValue::Table(_) if !written.starts_with('{') => "a table".to_owned(),
            _ => shorten(written),
        };
        Self { value: Value::new(value.get_ref(), text, origin), written, origin: origin(span.start) }
    }

    /// The value alone.
    pub(super) fn setting(&self) -> Setting {
        match &self.value {
            Value::String(text) => Setting::String(text.clone()),
            Value::Integer(Some(number)) => Setting::Integer(*number),
            Value::Integer(None) | Value::Datetime => Setting::String(self.written.clone()),
            Value::Float(number) => Setting::Float(*number),
            Value::Boolean(boolean) => Setting::Boolean(*boolean),
            Value::Array(items) => Setting::Array(items.iter().map(Self::setting).collect()),
            Value::Table(entries) => {
                Setting::Table(entries.iter().map(|(key, item)| (key.name.clone(), item.setting())).collect())
            }
        }
    }

    /// Sets the item at the end of a path to `value`, which was written at `origin`. Adds the tables that are missing. An entry of
    /// a list has its number as its key, counted from 0.
    ///
    /// # Errors
    /// The item on the path that is no table, and no such entry.
    pub(super) fn set(&mut self, path: &[&str], value: &Self, origin: &Origin) -> Result<(), String> {
        let [part, rest @ ..] = path else {
            *self = value.clone();
            return Ok(());
        };
        let entries = match &mut self.value {
            Value::Table(entries) => entries,
            Value::Array(items) => {
                let length = items.len();
                let item = index(part).and_then(|index| items.get_mut(index));
                let item =
                    item.ok_or_else(|| format!("{part}, where the list has {length} entries, counted from 0"))?;
                return item.set(rest, value, origin);
            }
            _ => return Err(format!("{} before .{part}, which has no keys of its own", self.written)),
        };
        let index = entries.iter().position(|(key, _)| key.name == *part).unwrap_or_else(|| {
            let key = Key { name: (*part).to_owned(), origin: origin.clone() };
            let table = Value::Table(Vec::new());
            entries.push((key, Self { value: table, written: "a table".to_owned(), origin: origin.clone() }));
            entries.len() - 1
        });
        let (key, item) = &mut entries[index];
        if rest.is_empty() {
            key.origin = origin.clone();
        }
        item.set(rest, value, origin)
    }

    const NO_KEY: &str = "no value, and no such key to remove";

    /// Removes the item at the end of a path.
    ///
    /// # Errors
    /// There is none, or it is the entry of a list.
    pub(super) fn remove(&mut self, path: &[&str]) -> Result<(), &'static str> {
        let [part, rest @ ..] = path else { return Err(Self::NO_KEY) };
        let entries = match &mut self.value {
            Value::Table(entries) => entries,
            // An entry of a list stays where it is: others have their numbers behind it.
            Value::Array(items) if !rest.is_empty() => {
                let item = index(part).and_then(|index| items.get_mut(index)).ok_or(Self::NO_KEY)?;
                return item.remove(rest);
            }
            Value::Array(items) if index(part).is_some_and(|index| index < items.len()) => {
                return Err("no value, and an entry of a list cannot be removed");
            }
            _ => return Err(Self::NO_KEY),
        };
        let index = entries.iter().position(|(key, _)| key.name == *part).ok_or(Self::NO_KEY)?;
        if !rest.is_empty() {
            return entries[index].1.remove(rest);
        }
        entries.remove(index);
        Ok(())
    }

    /// Adds the keys that only `base` has, also in tables that both have. A number and its source are one value: a
    /// table with a part of it takes nothing from `base`, so that no source stands beside a number that it does not
    /// have.
    pub(super) fn fill_up(&mut self, base: Self) {
        let is_one_value = ["value", "cycles", "source", "assumed"].iter().any(|key| self.child(key).is_some());
        let (Value::Table(entries), Value::Table(others)) = (&mut self.value, base.value) else { return };
        if is_one_value {
            return;
        }
        for (key, other) in others {
            match entries.iter_mut().find(|(own, _)| own.name == key.name) {
                Some((_, own)) => own.fill_up(other),
                None => entries.push((key, other)),
            }
        }
    }

    /// Adds the dotted path of each table with this key, and where the key is. `path` is that of this item.
    pub(super) fn collect_paths_to<'a>(&'a self, key: &str, path: &str, paths: &mut Vec<(&'a Origin, String)>) {
        let Value::Table(entries) = &self.value else { return };
        for (name, item) in entries {
            match name.name == key {
                true => paths.push((&name.origin, path.to_owned())),
                false if path.is_empty() => item.collect_paths_to(key, &name.name, paths),
                false => item.collect_paths_to(key, &format!("{path}.{}", name.name), paths),
            }
        }
    }

    /// An item of a table or an array, and where its key was written (in an array: where it was written itself).
    pub(super) fn child(&self, part: &str) -> Option<(&Origin, &Item)> {
        match &self.value {
            Value::Table(entries) => {
                entries.iter().find(|(key, _)| key.name == part).map(|(key, item)| (&key.origin, item))
            }
            Value::Array(items) => {
                let item = items.get(index(part)?)?;
                Some((&item.origin, item))
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
            // Rust can read each float that the parser accepts. A number that is too large becomes infinite.
            DeValue::Float(number) => Self::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(boolean) => Self::Boolean(*boolean),
            DeValue::Datetime(_) => Self::Datetime,
            DeValue::Array(items) => Self::Array(items.iter().map(|item| Item::new(item, text, origin)).collect()),
            DeValue::Table(table) => Self::table(table, text, origin),
        }
    }

    pub(super) fn table(table: &DeTable<'_>, text: &str, origin: &dyn Fn(usize) -> Origin) -> Self {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key = Key {
                name: AsRef::<std::borrow::Cow<'_, str>>::as_ref(key).to_string(),
                origin: origin(key.span().start),
            };
            (key, Item::new(value, text, origin))
        };
        Self::Table(table.iter().map(entry).collect())
    }
}

/// The number of an entry of a list: digits, and no zero before them, so that an entry has one path.
fn index(part: &str) -> Option<usize> {
    let is_plain = part.bytes().all(|digit| digit.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
    part.parse().ok().filter(|_| is_plain)
}

/// The text of a value: its first line, 60 characters at most.
pub(super) fn shorten(written: &str) -> String {
    let written = written.trim();
    let line = written.lines().next().unwrap_or_default();
    let shown = shown(line, 60);
    if line.len() < written.len() && !shown.ends_with("...") { format!("{shown}...") } else { shown }
}

/// A text as a message shows it: at most `longest` characters, and none that a terminal would obey. That are control
/// characters, and those that change the direction of the text or have no width.
pub fn shown(text: &str, longest: usize) -> String {
    let is_obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == longest {
            return shown + "...";
        }
        if is_obeyed(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}
