//! A pre-shared key, as a scenario has it.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::input::{Forms, inline_schema};

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
        let allowed = "a string in quotes of hexadecimal digits, two for each of 1 to 64 octets";
        Forms::text(allowed, Self::from_digits).read(deserializer)
    }
}

inline_schema!(Psk, { "type": "string", "pattern": "^([0-9a-fA-F]{2}){1,64}$" });
