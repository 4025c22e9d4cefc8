//! Events in a network of TSCH, and their times.

use crate::address::NodeId;

#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A slot begins in which the node may have a frame to send.
    Wake(NodeId),
    /// An attempt at a frame is over.
    Finish(Exchange),
    /// A timer of the load.
    Load(NodeId, LoadTimer),
    /// A node has heard a broadcast: the first one of those that wait in the formation.
    Heard,
    /// A timer of the scheduling function.
    Function { node: NodeId, timer: u32 },
    /// The timeout of a 6P transaction.
    SixTop { node: NodeId, neighbor: u16, serial: u32 },
}

/// The outcome of one attempt at a frame.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub(super) node: NodeId,
    /// Position of the destination among the sender's neighbours.
    pub(super) neighbor: u16,
    /// The slotframe of the cell.
    pub(super) handle: u8,
    pub(super) shared: bool,
    pub(super) received: bool,
    pub(super) acknowledged: bool,
}

/// A timer of a node.
#[derive(Clone, Copy, Debug)]
pub enum LoadTimer {
    /// The next beacon.
    Beacon,
    /// The next interval of the Trickle timer.
    Interval,
    /// The time for a DIO within the interval.
    Dio,
    /// The time for a keep-alive, unless the parent was heard meanwhile.
    KeepAlive,
}
