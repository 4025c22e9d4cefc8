//! A pre-shared key, as a scenario has it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// The most octets of a key: as many as lean-dtls takes. Other libraries take fewer, or more.
const LONGEST: usize = 64;

/// A pre-shared key of 1 to 64 octets, in hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Psk(Vec<u8>);

impl Psk {
    /// The octets of the key.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    fn from_digits(digits: &str) -> Option<Self> {
        let digits: Vec<u8> = digits.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect::<Option<_>>()?;
        let (octets, rest) = digits.as_chunks::<2>();
        let is_key = rest.is_empty() && (1..=LONGEST).contains(&octets.len());
        is_key.then(|| Self(octets.iter().map(|[high, low]| high << 4 | low).collect()))
    }
}

impl fmt::Debug for Psk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl<'de> Deserialize<'de> for Psk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        impl Visitor<'_> for Digits {
            type Value = Psk;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string in quotes of hexadecimal digits, two for each of 1 to 64 octets")
            }

            fn visit_str<E: de::Error>(self, digits: &str) -> Result<Psk, E> {
                Psk::from_digits(digits).ok_or_else(|| E::invalid_value(de::Unexpected::Str(digits), &self))
            }
        }

        deserializer.deserialize_str(Digits)
    }
}

impl JsonSchema for Psk {
    fn schema_name() -> Cow<'static, str> {
        "Psk".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9a-fA-F]{2}){1,64}$" })
    }
}
