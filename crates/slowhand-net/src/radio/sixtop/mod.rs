//! The 6top protocol (RFC 8480), by which two neighbours agree on the cells they share.
//!
//! [`message`] has its octets, [`transaction`] what each end remembers; the scheduling
//! function of TSCH says which cells are wanted and which are granted.

pub mod message;
pub mod transaction;

pub use message::{CellId, CellRequest, Message, Reply, Request, ReturnCode};
