//! Prefixes of IPv6 addresses.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::forms::Forms;

/// A prefix of IPv6 addresses, such as `2001:db8::/64`. The bits behind it are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix(Ipv6Addr, u8);

impl Prefix {
    /// A prefix of this length. None if it is longer than 128 bits, or a bit behind it is set.
    pub fn new(address: Ipv6Addr, length: u8) -> Option<Self> {
        let behind = u128::MAX.checked_shr(length.into()).unwrap_or(0);
        (length <= 128 && address.to_bits() & behind == 0).then_some(Self(address, length))
    }

    /// Its address: the bits behind the prefix are zero.
    pub const fn address(self) -> Ipv6Addr {
        self.0
    }

    /// Its length in bits, 0 to 128.
    pub const fn length(self) -> u8 {
        self.1
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl JsonSchema for Prefix {
    fn schema_name() -> Cow<'static, str> {
        "Prefix".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A prefix of IPv6 addresses, such as `2001:db8::/64`. The bits behind it are zero.",
            "type": "string",
            "pattern": "^[0-9a-fA-F:.]+/[0-9]{1,3}$",
        })
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of_text = |text: &str| {
            let (address, length) = text.split_once('/')?;
            Self::new(address.parse().ok()?, length.parse().ok()?)
        };
        let allowed = "a prefix such as \"2001:db8::/64\", with zeros behind its length";
        Forms::text(allowed, of_text).read(deserializer)
    }
}
