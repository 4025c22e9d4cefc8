//! A serde deserializer for the items of a document. Serde's errors say what was wrong. This deserializer adds the
//! place (the key and its line) and lists what is allowed.
//!
//! An enum whose variants have data is a table in TOML, `{ kind = "line", hops = 1 }`: its `kind` names the variant,
//! and the other keys are those of the variant. An enum without data is a string.

use std::fmt::{self, Display};
use std::marker::PhantomData;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::item::{Item, Key, Origin, Value};
use super::spelling::nearest;

/// The key that names the variant of an enum that is a table.
const TAG: &str = "kind";

/// Deserializes the document with this root.
pub(super) fn deserialize<T: DeserializeOwned>(root: &Item) -> Result<T, Fault> {
    read(PhantomData, root, &Path::Root)
}

/// Deserializes the value at `path`. A fault without a place gets the place of this value.
fn read<'de, T: DeserializeSeed<'de>>(seed: T, item: &Item, path: &Path<'_>) -> Result<T::Value, Fault> {
    seed.deserialize(ItemDeserializer { item, path }).map_err(|fault| fault.at(path, item))
}

/// The error of an item. First it says only what is allowed. Its place and what was found are added when it is returned
/// through the item that it is about.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) key: String,
    pub(super) origin: Option<Origin>,
    pub(super) found: String,
    pub(super) allowed: String,
    /// The key that is missing from the table the fault is about.
    missing: Option<&'static str>,
}

impl Fault {
    fn allowed(allowed: impl Display) -> Self {
        Self { key: String::new(), origin: None, found: String::new(), allowed: allowed.to_string(), missing: None }
    }

    fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    /// Adds the place of the value at `path`, unless the fault has a place.
    fn at(mut self, path: &Path<'_>, item: &Item) -> Self {
        if self.origin.is_some() {
            return self;
        }
        self.key = path.to_string();
        if let Some(missing) = self.missing {
            self.key = Path::Key(path, missing).to_string();
        }
        if self.found.is_empty() {
            self.found.clone_from(&item.written);
        }
        self.origin = Some(item.origin.clone());
        self
    }

    /// Adds the place of a key of the table at `path`.
    fn at_key(mut self, path: &Path<'_>, key: &Key) -> Self {
        if self.found.is_empty() {
            self.found = format!("the key {:?}", key.name);
        }
        self.key = Path::Key(path, &key.name).to_string();
        self.origin = Some(key.origin.clone());
        self
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, allowed: {}", self.key, self.found, self.allowed)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::allowed(message)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::allowed(plain(&expected.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::allowed(plain(&expected.to_string()))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::allowed(one_of(expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let hint = nearest(field, expected);
        let hint = hint.map_or(String::new(), |near| format!(" (did you mean {near:?}?)"));
        Self::allowed(expected.join(", ")).found(format!("an unknown key{hint}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::allowed("a value: the key is required").found("nothing") }
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self::allowed("each key once")
    }
}

/// Serde's names of types, in the words of TOML. Numbers have types of their own, which name their bounds.
fn plain(expected: &str) -> String {
    match expected {
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        _ => expected.to_owned(),
    }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    match quoted.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}

/// The path from the root to a value.
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

#[derive(Clone, Copy)]
struct ItemDeserializer<'a> {
    item: &'a Item,
    path: &'a Path<'a>,
}

impl<'de> Deserializer<'de> for ItemDeserializer<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Self { item, path } = self;
        match &item.value {
            Value::String(string) => visitor.visit_str(string),
            Value::Integer(Some(number)) => visitor.visit_i64(*number),
            Value::Integer(None) => Err(de::Error::invalid_type(Unexpected::Other("number"), &visitor)),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            // No key has a date or a time. The visitor says what it expects.
            Value::Datetime => Err(de::Error::invalid_type(Unexpected::Other("date"), &visitor)),
            Value::Array(items) => visitor.visit_seq(Elements { items: items.iter().enumerate(), path }),
            Value::Table(entries) => visitor.visit_map(Entries::new(entries, path, None)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Self { item, path } = self;
        match &item.value {
            Value::String(name) => visitor.visit_enum(Word { name }),
            Value::Table(entries) => match entries.iter().find(|(key, _)| key.name == TAG) {
                Some((_, tag)) if matches!(tag.value, Value::String(_)) => {
                    visitor.visit_enum(Tagged { tag, entries, path })
                }
                Some((_, tag)) => Err(Fault::allowed(one_of(variants)).at(&Path::Key(path, TAG), tag)),
                None => Err(Fault { missing: Some(TAG), ..Fault::allowed(one_of(variants)) }.found("nothing")),
            },
            _ => Err(Fault::allowed(one_of(variants))),
        }
    }

    /// A struct is a table. Serde would accept an array of its fields too; nobody could read that.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.item.value {
            Value::Table(_) => self.deserialize_any(visitor),
            _ => Err(Fault::allowed(format!("a table with the keys {}", fields.join(", ")))),
        }
    }

    /// Nobody looks at the value, so any will do.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

struct Elements<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Item>>,
    path: &'a Path<'a>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some((index, item)) = self.items.next() else {
            return Ok(None);
        };
        let path = Path::Index(self.path, index);
        read(seed, item, &path).map(Some)
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Item)>,
    path: &'a Path<'a>,
    skipped: Option<&'static str>,
    current: Option<&'a (Key, Item)>,
}

impl<'a> Entries<'a> {
    fn new(entries: &'a [(Key, Item)], path: &'a Path<'a>, skipped: Option<&'static str>) -> Self {
        Self { entries: entries.iter(), path, skipped, current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let skipped = self.skipped;
        self.current = self.entries.find(|(key, _)| Some(key.name.as_str()) != skipped);
        let Some((key, _)) = self.current else {
            return Ok(None);
        };
        let name = de::value::StrDeserializer::new(&key.name);
        seed.deserialize(name).map(Some).map_err(|fault: Fault| fault.at_key(self.path, key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some((key, item)) = self.current else {
            return Err(Fault::allowed("a value behind its key"));
        };
        let path = Path::Key(self.path, &key.name);
        read(seed, item, &path)
    }
}

/// An enum written as a plain string.
struct Word<'a> {
    name: &'a str,
}

impl<'de> EnumAccess<'de> for Word<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Fault> {
        let name = de::value::StrDeserializer::<Fault>::new(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl Word<'_> {
    fn lacks_keys<T>(self) -> Result<T, Fault> {
        Err(Fault::allowed(format!("a table with its own keys, {{ {TAG} = {:?}, ... }}", self.name)))
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Fault> {
        self.lacks_keys()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        self.lacks_keys()
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], _: V) -> Result<V::Value, Fault> {
        let fields = fields.join(", ");
        Err(Fault::allowed(format!("a table with {TAG} = {:?} and the keys {fields}", self.name)))
    }
}

/// An enum written as a table with a `kind`.
#[derive(Clone, Copy)]
struct Tagged<'a> {
    tag: &'a Item,
    entries: &'a [(Key, Item)],
    path: &'a Path<'a>,
}

impl<'a, 'de> EnumAccess<'de> for Tagged<'a> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Fault> {
        let path = Path::Key(self.path, TAG);
        Ok((read(seed, self.tag, &path)?, self))
    }
}

impl<'de> VariantAccess<'de> for Tagged<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.entries.iter().find(|(key, _)| key.name != TAG) {
            None => Ok(()),
            Some((key, _)) => {
                let fault: Fault = de::Error::unknown_field(&key.name, &[TAG]);
                Err(fault.at_key(self.path, key))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }
}

/// The entries of the table without its `kind`: the data of the variant.
impl<'de> Deserializer<'de> for Tagged<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Entries::new(self.entries, self.path, Some(TAG)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
