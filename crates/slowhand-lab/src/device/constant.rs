//! The numbers of a device file. Each has a source, or the reason why it is assumed.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::input::UpTo;

/// A number from 0 to `MAX`, and where it comes from. Its unit is in the name of its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant<const MAX: u32> {
    /// The number.
    pub value: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// A time from 0 to `MAX`, or a number of clock cycles, and where it comes from. The unit of the time is in the name of
/// its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Time<const MAX: u32> {
    /// The time itself.
    pub amount: Amount,
    /// Where it comes from.
    pub origin: Origin,
}

/// The time that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// In the unit of the key.
    Value(f64),
    /// In cycles of the processor's clock.
    Cycles(f64),
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Where it was published or how it was measured.
    Source(String),
    /// It was not published: why this number is assumed.
    Assumed(String),
}

/// The most cycles of an operation: 4,295 s at 1 MHz (assumed).
const MAX_CYCLES: u32 = u32::MAX;

impl Origin {
    /// The one of the two that was written. An empty text is none.
    fn of<E: Error>(source: Option<String>, assumed: Option<String>, allowed: &str) -> Result<Self, E> {
        let written = |text: &String| !text.trim().is_empty();
        match (source, assumed) {
            (Some(source), None) if written(&source) => Ok(Self::Source(source)),
            (None, Some(reason)) if written(&reason) => Ok(Self::Assumed(reason)),
            _ => Err(E::custom(allowed)),
        }
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Constant<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written<const MAX: u32> {
            value: UpTo<MAX>,
            source: Option<String>,
            assumed: Option<String>,
        }

        let Written::<MAX> { value, source, assumed } = Written::deserialize(deserializer)?;
        let allowed =
            "{ value, source } or { value, assumed }: a number and either where it stands or why it is assumed";
        Ok(Self { value: value.get(), origin: Origin::of(source, assumed, allowed)? })
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Time<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written<const MAX: u32> {
            value: Option<UpTo<MAX>>,
            cycles: Option<UpTo<MAX_CYCLES>>,
            source: Option<String>,
            assumed: Option<String>,
        }

        let Written::<MAX> { value, cycles, source, assumed } = Written::deserialize(deserializer)?;
        let allowed = "{ value, source }, { value, assumed } or the same with cycles: a number and either where it \
                       stands or why it is assumed";
        let amount = match (value, cycles) {
            (Some(value), None) => Amount::Value(value.get()),
            (None, Some(cycles)) => Amount::Cycles(cycles.get()),
            _ => return Err(D::Error::custom(allowed)),
        };
        Ok(Self { amount, origin: Origin::of(source, assumed, allowed)? })
    }
}

impl<const MAX: u32> JsonSchema for Constant<MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Constant from 0 to {MAX}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "value": generator.subschema_for::<UpTo<MAX>>(),
                "source": text("Where it was published or how it was measured."),
                "assumed": text("If it was not published: why this number is assumed."),
            },
            "additionalProperties": false,
            "required": ["value"],
            "oneOf": [{ "required": ["source"] }, { "required": ["assumed"] }],
        })
    }
}

impl<const MAX: u32> JsonSchema for Time<MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Time from 0 to {MAX}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "value": generator.subschema_for::<UpTo<MAX>>(),
                "cycles": generator.subschema_for::<UpTo<MAX_CYCLES>>(),
                "source": text("Where it was published or how it was measured."),
                "assumed": text("If it was not published: why this number is assumed."),
            },
            "additionalProperties": false,
            "allOf": [
                { "oneOf": [{ "required": ["value"] }, { "required": ["cycles"] }] },
                { "oneOf": [{ "required": ["source"] }, { "required": ["assumed"] }] },
            ],
        })
    }
}

/// A text that is not empty.
fn text(description: &str) -> Schema {
    json_schema!({ "type": "string", "description": description, "pattern": "\\S" })
}
