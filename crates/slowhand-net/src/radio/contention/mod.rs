//! What link layers with CSMA/CA have in common: their spans, the back-off, frames and sequence numbers.
//!
//! Sections and tables are those of IEEE 802.15.4-2006, which the later editions kept.

mod backoff;
mod frame;
mod sequence;
mod spans;
mod trace;
mod tree;

pub use backoff::Backoff;
pub use frame::{ACK, data_header, data_request_header, version_of, write_ack, write_data, write_data_request};
pub use sequence::Sequence;
pub use spans::{ACK_WAIT, BACKOFF_PERIOD, LIFS, TURNAROUND, interframe_space, symbols};
pub use trace::{Entry, Trace, TraceIndex};
pub use tree::{Tree, TreeError};
