//! Reading what people write: TOML files and `key=value` overrides, with errors that teach.
//!
//! Scenarios and devices are read in three steps: the text becomes a `document` that remembers
//! the line of every value; a deserializer (`de`) turns it into types and, where that fails, names
//! the key, what was found and what is allowed; what spans several keys is checked afterwards and
//! blamed on the line of the key at fault.

mod de;
mod document;
mod error;
mod number;
mod spelling;

pub(crate) use document::Document;
pub use document::Override;
pub use error::{InputError, Place};
pub use number::{Integer, Milliseconds, NonNegative, PositiveMilliseconds, PositiveSeconds, Probability, Seconds};
