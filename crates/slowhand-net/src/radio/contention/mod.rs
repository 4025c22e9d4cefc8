//! The engine of link layers with CSMA/CA: a PAN of nodes that contend for one channel.
//!
//! [`Pan`] has the nodes, their queues, the medium and the events, and does what all these MACs do: it takes frames,
//! exchanges them and their acknowledgements, and lets children ask for frames. A MAC implements [`Rules`]: when a node
//! may contend, when a radio listens, and what follows from each step. [`Account`] adds up what each radio does, also for
//! X-MAC, which takes only that and time spans.
//!
//! Sections and tables are those of IEEE 802.15.4-2006, which the later editions kept.

mod backoff;
mod error;
mod exchange;
mod form;
mod mac;
mod pan;
mod radio;
mod spans;
mod station;
mod trace;
mod tree;

pub use backoff::Backoff;
pub use error::PanError;
pub use form::{Form, Kind, version_of};
pub use pan::{Event, FrameRadio, Node, Pan, Rules};
pub use radio::{Account, Mode, Pattern, Radio};
pub use spans::{ACK_WAIT, BACKOFF_PERIOD, LIFS, TURNAROUND, interframe_space, symbols};
pub use station::{Phase, Role, Station, StationId, Task};
pub use trace::{Trace, TraceIndex};
pub use tree::Tree;
