//! Values that a key may have in several forms, such as a word or the number of a node.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, SeqAccess, Unexpected, Visitor};

/// Reads a `T` that is written as a text, a whole number or a list of `E`. A form for which there is no `T` is refused.
pub(crate) struct Forms<'a, T, E = IgnoredAny> {
    /// The words of the error for what is allowed.
    pub(crate) allowed: &'a str,
    pub(crate) text: fn(&str) -> Option<T>,
    pub(crate) number: fn(i64) -> Option<T>,
    pub(crate) list: fn(Vec<E>) -> Option<T>,
}

impl<'a, T> Forms<'a, T> {
    /// The forms of a value that is always a text.
    pub(crate) const fn text(allowed: &'a str, text: fn(&str) -> Option<T>) -> Self {
        Self { allowed, text, number: |_| None, list: |_| None }
    }
}

impl<'de, T, E: Deserialize<'de>> Forms<'_, T, E> {
    pub(crate) fn read<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T, E: Deserialize<'de>> Visitor<'de> for Forms<'_, T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.allowed)
    }

    fn visit_str<R: de::Error>(self, text: &str) -> Result<T, R> {
        (self.text)(text).ok_or_else(|| R::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<R: de::Error>(self, number: i64) -> Result<T, R> {
        (self.number)(number).ok_or_else(|| R::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        (self.list)(list).ok_or_else(|| de::Error::invalid_value(Unexpected::Seq, &self))
    }
}
