//! The 6top protocol (RFC 8480): two neighbours agree on the cells they share.
//!
//! [`message`] has the octets of the messages, [`transaction`] the state of each end. The scheduling function, which is
//! above this module, decides which cells a node asks for and which it grants.

mod cell;
pub mod message;
pub mod transaction;

pub use cell::{CellId, CellOptions};
pub use message::{CellRequest, Message, Reply, Request, ReturnCode};
