//! Tables: columns with their names, what they mean, and their values.

use super::Loss;
use serde_json::{self as json, Map, json};
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

/// A row of a table.
pub trait Row: Sized {
    /// The meaning of a row.
    const ABOUT: &'static str;

    /// The columns of the table, in their order.
    fn described() -> Vec<Described<Self>>;
}

/// A column of a table whose rows are of type `R`.
#[derive(Clone)]
pub struct Described<R> {
    /// Its name and its meaning.
    pub field: Field,
    pub(crate) value: Value<R>,
}

/// The way in which the value of a column follows from a row.
#[derive(Clone)]
pub(crate) enum Value<R> {
    U64(fn(&R) -> u64),
    OptU64(fn(&R) -> Option<u64>),
    F64(fn(&R) -> f64),
    OptF64(fn(&R) -> Option<f64>),
    Text(fn(&R) -> String),
    OptText(fn(&R) -> Option<String>),
    Lists(fn(&R) -> &Arc<[u64]>),
    Losses(fn(&R) -> &Vec<Loss>),
}

impl<R> Described<R> {
    pub(crate) fn new(name: &'static str, about: &'static str, value: Value<R>) -> Self {
        Self { field: Field { name, about: about.trim_start() }, value }
    }

    fn column(&self, rows: &[R]) -> Column {
        let rows = rows.iter();
        match self.value {
            Value::U64(value) => Column::U64(rows.map(value).collect()),
            Value::OptU64(value) => Column::OptU64(rows.map(value).collect()),
            Value::F64(value) => Column::F64(rows.map(value).collect()),
            Value::OptF64(value) => Column::OptF64(rows.map(value).collect()),
            Value::Text(value) => Column::Text(rows.map(value).collect()),
            Value::OptText(value) => Column::OptText(rows.map(value).collect()),
            Value::Lists(value) => Column::Lists(rows.map(|row| Arc::clone(value(row))).collect()),
            Value::Losses(value) => Column::Losses(rows.map(|row| value(row).clone()).collect()),
        }
    }
}

/// The rows as a table: fixed columns, units in their names.
pub fn columns<R: Row>(rows: &[R]) -> Table {
    R::described().iter().map(|described| (described.field, described.column(rows))).collect()
}

/// Columns: the meaning of each as a comment, its name, and its [`Value`].
macro_rules! described {
    ($($(#[doc = $about:literal])* $name:ident: $value:expr,)*) => {
        vec![$($crate::record::Described::new(stringify!($name), concat!($($about),*), $value),)*]
    };
}

/// Defines a row of a table: what a row is, its fields, and after each field the columns that follow from it. In parentheses stands
/// the value of one column, which has the comment of the field, and its name unless another one is given. In braces stand several
/// columns with comments of their own, or none.
macro_rules! row {
    (
        $(#[$attribute:meta])*
        pub struct $row:ident = $about:literal {
            $($(#[doc = $doc:literal])* pub $field:ident: $type:ty => $columns:tt,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $row {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        impl $crate::record::Row for $row {
            const ABOUT: &'static str = $about;

            fn described() -> Vec<$crate::record::Described<Self>> {
                let columns: Vec<Vec<$crate::record::Described<Self>>> =
                    vec![$($crate::record::row!(@ $field [$($doc)*] $columns)),*];
                columns.into_iter().flatten().collect()
            }
        }
    };
    (@ $field:ident [$($doc:literal)*] ($name:ident: $value:expr)) => {
        $crate::record::described!($(#[doc = $doc])* $name: $value,)
    };
    (@ $field:ident [$($doc:literal)*] ($value:expr)) => {
        $crate::record::described!($(#[doc = $doc])* $field: $value,)
    };
    (@ $field:ident $doc:tt {$($columns:tt)*}) => { $crate::record::described!($($columns)*) };
}

pub(crate) use {described, row};

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
    pub fn json(&self, row: usize) -> json::Value {
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
    fn schema(&self) -> json::Value {
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

/// The JSON Schema of a row.
pub fn schema<R: Row>() -> json::Value {
    let table = columns::<R>(&[]);
    let property = |(field, column): &(Field, Column)| {
        let mut property = column.schema();
        property["description"] = json!(field.about);
        (field.name.to_owned(), property)
    };
    let names: Vec<&str> = table.iter().map(|(field, _)| field.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": R::ABOUT,
        "type": "object",
        "properties": table.iter().map(property).collect::<Map<_, _>>(),
        "required": names,
        "additionalProperties": false,
    })
}
