//! Tables: columns with their names, what they mean, and their values.

use super::Loss;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A table, column by column.
pub type Table = Vec<(Field, Column)>;

/// The name and the meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, which contains the unit.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Whole numbers, some of them missing.
    OptU64(Vec<Option<u64>>),
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers, some of them missing.
    OptF64(Vec<Option<f64>>),
    /// Words.
    Text(Vec<String>),
    /// Words, some of them missing.
    OptText(Vec<Option<String>>),
    /// Lists of whole numbers.
    Lists(Vec<Arc<[u64]>>),
    /// Lists of losses.
    Losses(Vec<Vec<Loss>>),
}

impl Column {
    /// The value of a row, as JSON has it. Numbers that JSON does not have are missing.
    pub fn json(&self, row: usize) -> Value {
        match self {
            Self::U64(values) => json!(values[row]),
            Self::OptU64(values) => json!(values[row]),
            Self::F64(values) => json!(values[row]),
            Self::OptF64(values) => json!(values[row]),
            Self::Text(values) => json!(values[row]),
            Self::OptText(values) => json!(values[row]),
            Self::Lists(values) => json!(&*values[row]),
            Self::Losses(values) => values[row]
                .iter()
                .map(|loss| json!({"reason": loss.reason.name(), "node": loss.node(), "count": loss.count}))
                .collect(),
        }
    }

    /// The type of a value, as JSON Schema has it.
    fn schema(&self) -> Value {
        match self {
            Self::U64(_) => json!({"type": "integer"}),
            Self::OptU64(_) => json!({"type": ["integer", "null"]}),
            Self::F64(_) => json!({"type": "number"}),
            Self::OptF64(_) => json!({"type": ["number", "null"]}),
            Self::Text(_) => json!({"type": "string"}),
            Self::OptText(_) => json!({"type": ["string", "null"]}),
            Self::Lists(_) => json!({"type": "array", "items": {"type": "integer"}}),
            Self::Losses(_) => {
                let loss = json!({
                    "reason": {"type": "string"},
                    "node": {"type": ["integer", "null"]},
                    "count": {"type": "integer"},
                });
                json!({"type": "array", "items": {"type": "object", "properties": loss}})
            }
        }
    }
}

/// The JSON Schema of one row of a table, of which only the columns count. `about` says what a row is.
pub fn row_schema(about: &str, table: &Table) -> Value {
    let property = |(field, column): &(Field, Column)| {
        let mut property = column.schema();
        property["description"] = json!(field.about);
        (field.name.to_owned(), property)
    };
    let names: Vec<&str> = table.iter().map(|(field, _)| field.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": about,
        "type": "object",
        "properties": table.iter().map(property).collect::<Map<_, _>>(),
        "required": names,
        "additionalProperties": false,
    })
}
