//! The cells that two neighbours negotiate.

/// A cell in a 6P message: two octets of slot offset, two of channel offset (RFC 8480, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId {
    /// Slot offset within the slotframe.
    pub slot: u16,
    /// Channel offset.
    pub channel_offset: u16,
}

/// The uses of a cell that a node is allowed (IEEE 802.15.4-2015, 8.4.3.3, link options).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellOptions {
    /// It may send.
    pub transmit: bool,
    /// It listens when it does not send.
    pub receive: bool,
    /// Other nodes may send in the same cell. After a failure, the node backs off.
    pub shared: bool,
}

impl CellOptions {
    /// A dedicated cell, seen by its sender.
    pub const TRANSMIT: Self = Self { transmit: true, receive: false, shared: false };
    /// A cell, seen by its receiver.
    pub const RECEIVE: Self = Self { transmit: false, receive: true, shared: false };
    /// A shared cell, seen by a sender.
    pub const TRANSMIT_SHARED: Self = Self { transmit: true, receive: false, shared: true };
    /// A shared cell in which the node listens when it has nothing to send.
    pub const SHARED: Self = Self { transmit: true, receive: true, shared: true };

    /// The options of the other end of the cell.
    pub const fn of_other_end(self) -> Self {
        Self { transmit: self.receive, receive: self.transmit, shared: self.shared }
    }
}
