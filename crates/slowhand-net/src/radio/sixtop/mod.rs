//! The 6top protocol (RFC 8480): two neighbours agree on the cells they share.
//!
//! [`message`] has its octets, [`transaction`] what each end remembers. Which cells a node wants and which it grants is
//! decided by its scheduling function, which stands above this module.

mod cell;
pub mod message;
pub mod transaction;

pub use cell::{CellId, CellOptions};
pub use message::{CellRequest, Message, Reply, Request, ReturnCode};
