//! Numbers with a range and a unit. The loader refuses a number that is out of range, so that no later code has to
//! check.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use slowhand_net::clock::Duration;

use super::forms::Forms;

/// Defines a real number with a range.
macro_rules! real {
    ($(#[$doc:meta])* $name:ident, $allowed:literal, $least:literal $bound:tt .. $most:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
        pub struct $name(f64);

        impl $name {
            /// The number, if it is in the range.
            pub const fn new(number: f64) -> Option<Self> {
                if number $bound $least && number <= $most {
                    Some(Self(number))
                } else {
                    None
                }
            }

            /// A number known to be in the range.
            ///
            /// # Panics
            /// If it is not.
            pub const fn constant(number: f64) -> Self {
                match Self::new(number) {
                    Some(number) => number,
                    None => panic!("the number is out of range"),
                }
            }

            /// The number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = deserializer.deserialize_f64(NumberVisitor($allowed))?;
                Self::new(number)
                    .ok_or_else(|| de::Error::invalid_value(Unexpected::Float(number), &$allowed))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                real!(@schema $bound $allowed, $least, $most)
            }
        }
    };
    (@schema >= $allowed:literal, $least:literal, $most:literal) => {
        json_schema!({ "type": "number", "description": $allowed, "minimum": $least, "maximum": $most })
    };
    (@schema > $allowed:literal, $least:literal, $most:literal) => {
        json_schema!({ "type": "number", "description": $allowed, "exclusiveMinimum": $least, "maximum": $most })
    };
}

real! {
    /// A probability, 0 to 1.
    Probability, "a probability from 0 to 1", 0.0 >= .. 1.0
}
real! {
    /// A time in seconds, which may be 0.
    Seconds, "seconds, from 0 to 1000000", 0.0 >= .. 1_000_000.0
}
real! {
    /// A time in seconds, above 0.
    PositiveSeconds, "seconds, above 0, at most 1000000", 0.0 > .. 1_000_000.0
}
real! {
    /// A time in milliseconds, which may be 0.
    Milliseconds, "milliseconds, from 0 to 1000000", 0.0 >= .. 1_000_000.0
}
real! {
    /// A time in milliseconds, at least one microsecond.
    PositiveMilliseconds, "milliseconds, from 0.001 to 1000000", 0.001 >= .. 1_000_000.0
}
real! {
    /// A difference of powers.
    Decibels, "decibels, from 0 to 100", 0.0 >= .. 100.0
}
real! {
    /// A difference of powers that is one: powers are expressed in hundredths.
    PositiveDecibels, "decibels, from 0.01 to 100", 0.01 >= .. 100.0
}
real! {
    /// A power relative to others.
    RelativeDecibels, "decibels, from -100 to 100", -100.0 >= .. 100.0
}
real! {
    /// A factor.
    Factor, "a number from 0 to 1000000", 0.0 >= .. 1e6
}
real! {
    /// A multiple of a time or a length.
    Spread, "a number from 1 to 10", 1.0 >= .. 10.0
}

/// Converts a time to and from microseconds.
macro_rules! microseconds {
    ($($name:ident, $factor:literal;)*) => {$(
        impl $name {
            /// This time.
            ///
            /// # Panics
            /// If it is out of range.
            pub const fn of(time: Duration) -> Self {
                Self::constant(time.as_micros() as f64 / $factor)
            }

            /// The time, rounded to the nearest microsecond.
            pub fn duration(self) -> Duration {
                Duration::from_micros(self.micros())
            }

            /// The time in whole microseconds, rounded to the nearest.
            pub fn micros(self) -> u64 {
                (self.0 * $factor).round() as u64
            }
        }
    )*};
}

microseconds! {
    Seconds, 1e6;
    PositiveSeconds, 1e6;
    Milliseconds, 1e3;
    PositiveMilliseconds, 1e3;
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Integer<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Integer<MIN, MAX> {
    /// The number, if it is in the range.
    pub const fn new(number: u32) -> Option<Self> {
        if number >= MIN && number <= MAX { Some(Self(number)) } else { None }
    }

    /// A number known to be in the range.
    ///
    /// # Panics
    /// If it is not.
    pub const fn constant(number: u32) -> Self {
        match Self::new(number) {
            Some(number) => number,
            None => panic!("the number is out of range"),
        }
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> Default for Integer<MIN, MAX> {
    fn default() -> Self {
        Self(MIN)
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Integer<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(IntegerVisitor::<MIN, MAX>)
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Integer<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Integer from {MIN} to {MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A real number from 0 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct UpTo<const MAX: u32>(f64);

impl<const MAX: u32> UpTo<MAX> {
    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for UpTo<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let allowed = format!("a number from 0 to {MAX}");
        let number = deserializer.deserialize_f64(NumberVisitor(&allowed))?;
        if (0.0..=f64::from(MAX)).contains(&number) {
            return Ok(Self(number));
        }
        Err(de::Error::invalid_value(Unexpected::Float(number), &allowed.as_str()))
    }
}

impl<const MAX: u32> JsonSchema for UpTo<MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Number from 0 to {MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MAX })
    }
}

struct IntegerVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for IntegerVisitor<MIN, MAX> {
    type Value = Integer<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        u32::try_from(number)
            .ok()
            .and_then(Integer::new)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

/// Accepts `1` for `1.0`: TOML distinguishes them, people do not.
struct NumberVisitor<'a>(&'a str);

impl Visitor<'_> for NumberVisitor<'_> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
}

/// The key of a table that is a whole number from 0 to `MAX`, such as the number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^(0|[1-9][0-9]{0,4})$"))]
pub struct NumberKey<const MAX: u32>(#[schemars(with = "String")] u32);

impl<const MAX: u32> NumberKey<MAX> {
    /// The key of a number, if it is in the range.
    pub fn new(number: u32) -> Option<Self> {
        (number <= MAX).then_some(Self(number))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for NumberKey<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only its shortest form: `01` beside `1` would be the same number twice.
        let of_key = |key: &str| key.parse().ok().filter(|number: &u32| number.to_string() == key).and_then(Self::new);
        Forms::text(&format!("a number from 0 to {MAX}"), of_key).read(deserializer)
    }
}
