//! Reads TOML files and `key=value` overrides. Its errors say where, what was found and what is allowed.
//!
//! A scenario or a device is read in three steps. The text becomes a `document` of `item`s, which know their lines. A
//! deserializer (`de`) makes Rust types of it; its errors name the key. Then the reader checks that the keys go
//! together; such an error names the key that has to change.

mod de;
mod document;
mod error;
mod files;
mod forms;
mod item;
mod number;
mod prefix;
mod schema;
mod spelling;

pub(crate) use document::Document;
pub use document::Override;
pub use error::{Blame, InputError, Place};
pub(crate) use files::Files;
pub(crate) use forms::Forms;
pub use item::{Setting, shown};
pub use number::{
    Decibels, Factor, Integer, Milliseconds, NumberKey, PositiveDecibels, PositiveMilliseconds, PositiveSeconds,
    Probability, RelativeDecibels, Seconds, Spread, UpTo,
};
pub use prefix::Prefix;
pub(crate) use schema::{inline_schema, schema_of};
