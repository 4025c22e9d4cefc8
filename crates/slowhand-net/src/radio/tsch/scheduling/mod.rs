//! Scheduling functions: which cells a node asks its neighbours for (RFC 8480, section 4).
//!
//! A [`SchedulingFunction`] holds the state of all nodes. It is called when one of its timers fires and when a
//! transaction is over. Through the [`Plane`] it reads a node's schedule, queues and use of cells, and opens
//! transactions. All functions answer the requests of neighbours in the same way (`negotiation`). A static schedule
//! needs no scheduling function.

pub mod msf;
mod negotiation;
pub mod pid;
mod plane;
pub mod tunnel;

pub use msf::Msf;
pub use pid::Pid;
pub use plane::{NotOpened, Plane};
pub use tunnel::Tunnel;

use super::schedule::handle;
use crate::address::NodeId;
use crate::clock::Duration;
use crate::radio::sixtop::transaction::Peer;
use crate::radio::sixtop::{CellId, CellOptions, Request, ReturnCode};
use crate::random::Stream;
use std::fmt;

/// The least and the greatest wait after a transaction that brought nothing (WAIT_DURATION_MIN, WAIT_DURATION_MAX in RFC
/// 9033, section 14, table 2). The wait is random (section 12), so that nodes which want the same cells separate.
pub const WAIT: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(60));

/// Decides on the cells of all nodes.
pub trait SchedulingFunction: fmt::Debug + Send {
    /// Its identifier in 6P messages (SFID, RFC 8480, section 4.2).
    fn id(&self) -> u8;

    /// The simulation starts.
    fn start(&mut self, plane: &mut Plane<'_>);

    /// A timer that it set with [`Plane::set_timer`] fires.
    fn handle_timer(&mut self, node: NodeId, timer: u32, plane: &mut Plane<'_>);

    /// A transaction that its node opened is over. The node's schedule has the agreed cells already.
    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>);

    /// A transaction that its peer opened has succeeded. The node's schedule has the agreed cells already.
    fn handle_agreement(&mut self, _transaction: Transaction<'_>, _cells: &[CellId], _plane: &mut Plane<'_>) {}

    /// A node has chosen its parent, in a network that forms.
    fn choose_parent(&mut self, _node: NodeId, _parent: NodeId, _plane: &mut Plane<'_>) {}

    /// A node has received a SIGNAL request. Returns the code of the response.
    fn handle_signal(&mut self, _node: NodeId, _peer: NodeId, _metadata: u16, _payload: &[u8]) -> ReturnCode {
        ReturnCode::Error
    }

    /// The slotframe for the cells of a request with this metadata.
    fn slotframe_of(&self, _metadata: u16) -> u8 {
        handle::NEGOTIATED
    }

    /// See [`Mac::begin_burst`](crate::radio::Mac::begin_burst).
    fn begin_burst(&mut self, _node: NodeId, _plane: &mut Plane<'_>) {}

    /// See [`Mac::end_burst`](crate::radio::Mac::end_burst).
    fn end_burst(&mut self, _node: NodeId, _plane: &mut Plane<'_>) {}
}

/// A transaction, at one of its two nodes.
#[derive(Clone, Copy, Debug)]
pub struct Transaction<'a> {
    /// The node.
    pub node: NodeId,
    /// The neighbour.
    pub peer: NodeId,
    /// The request.
    pub request: &'a Request,
}

/// The outcome of a transaction, for the node that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The neighbour granted these cells. There may be fewer than requested.
    Agreed(&'a [CellId]),
    /// The neighbour refused.
    Refused(ReturnCode),
    /// A message did not arrive, or no response came in time.
    Failed,
}

/// The direction of the cells that a node asks its parent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up = 0,
    Down = 1,
}

impl Direction {
    /// The cell options of the child.
    fn options(self) -> CellOptions {
        match self {
            Self::Up => CellOptions::TRANSMIT,
            Self::Down => CellOptions::RECEIVE,
        }
    }
}

/// Draws a wait, uniformly.
fn draw_wait((min, max): (Duration, Duration), random: &mut Stream) -> Duration {
    min + Duration::from_micros(random.below(max.saturating_sub(min).as_micros() + 1))
}

/// A scheduling function and the transactions of all nodes.
#[derive(Debug)]
pub(super) struct Control {
    function: Box<dyn SchedulingFunction>,
    /// The 6P state of each node and neighbour. Neighbours are in the order of the node's list.
    peers: Vec<Vec<Peer>>,
}

impl Control {
    pub(super) fn new(function: Box<dyn SchedulingFunction>, neighbors: impl Iterator<Item = usize>) -> Self {
        let peers = neighbors.map(|count| std::iter::repeat_with(Peer::default).take(count).collect());
        Self { function, peers: peers.collect() }
    }
}
