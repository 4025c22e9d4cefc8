//! Tunnels: cells on each hop from a node to the root, for the time of a burst (Claeys et al., "Performance of the
//! Transport Layer Security Handshake Over 6TiSCH", Sensors 2021, section 4.3 and figure 11).
//!
//! The paper proposes that a child uses the two metadata octets of 6P to ask its parent for cells, and that the parent
//! then asks *its* parent, up to the root. The cells are interleaved, so that a frame passes all hops in one slotframe.
//! Deletion takes the same path. The paper leaves some points open. Assumed here:
//! - The highest bit of the metadata marks a tunnel. The other bits are the identifier of the node that needs it.
//! - Each hop asks for cells to send in and, for the answers, for cells to receive in.
//! - A node asks its parent as soon as the transaction with its child has succeeded.
//! - The cells of a tunnel are in a slotframe of their own. The function below (for example
//!   [`Msf`](super::Msf)) neither counts nor deletes them.

use super::{Direction, Outcome, Plane, SchedulingFunction, Transaction};
use crate::address::NodeId;
use crate::clock::Duration;
use crate::radio::sixtop::{CellId, CellRequest, Request, ReturnCode};
use crate::radio::tsch::schedule::handle;
use crate::route::Routes;
use std::collections::VecDeque;

/// This bit marks the metadata of a tunnel's requests. The other bits identify the node that needs the tunnel.
const MARK: u16 = 1 << 15;

/// The timer of this function. Timers of the function below do not use this bit.
const TIMER: u32 = 1 << 31;

/// The most attempts at a step. Assumed.
const ATTEMPTS: u8 = 4;

/// The delay before the next attempt. Assumed.
const RETRY: Duration = Duration::from_secs(2);

/// The most cells of a tunnel, by hop and direction. Twice this number of candidates fits into a frame.
pub const MAX_CELLS: u8 = 10;

/// Tunnels on top of another scheduling function.
#[derive(Debug)]
pub struct Tunnel {
    below: Box<dyn SchedulingFunction>,
    /// The number of cells of a tunnel, by hop and direction.
    cells: u8,
    nodes: Vec<TunnelNode>,
}

#[derive(Debug)]
struct TunnelNode {
    parent: Option<NodeId>,
    /// The number of bursts that have begun and not ended.
    bursts: u32,
    /// The requests to the parent, one after another.
    steps: VecDeque<Step>,
    attempts: u8,
    /// The cells of tunnels that pass or begin at this node.
    hops: Vec<Hop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    tunnel: NodeId,
    action: Action,
    direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Open,
    Close,
}

/// The cells that one tunnel has at one node, in one direction.
#[derive(Debug)]
struct Hop {
    tunnel: NodeId,
    direction: Direction,
    /// Cells to or from the child that asked for the tunnel. Empty at the node where the tunnel begins.
    below: Vec<CellId>,
    /// Cells to or from the parent.
    above: Vec<CellId>,
}

impl Tunnel {
    /// Tunnels of `cells` cells (clamped to 1..=[`MAX_CELLS`]) over the links of a routing tree. `below` decides on all
    /// other cells.
    pub fn new(cells: u8, routes: &Routes, below: Box<dyn SchedulingFunction>) -> Self {
        let node = |id: usize| TunnelNode {
            parent: routes.parent(NodeId(id as u16)),
            bursts: 0,
            steps: VecDeque::new(),
            attempts: 0,
            hops: Vec::new(),
        };
        Self { below, cells: cells.clamp(1, MAX_CELLS), nodes: (0..routes.nodes()).map(node).collect() }
    }

    fn push(&mut self, node: NodeId, tunnel: NodeId, action: Action, directions: &[Direction], plane: &mut Plane<'_>) {
        let steps = &mut self.nodes[node.index()].steps;
        let is_idle = steps.is_empty();
        steps.extend(directions.iter().map(|&direction| Step { tunnel, action, direction }));
        if is_idle {
            self.take_step(node, plane);
        }
    }

    /// Sends the request of the first step. Removes steps that need no request.
    fn take_step(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        // While a transaction of this function or the one below is open, wait: its outcome calls this again.
        let Some(parent) = self.nodes[node.index()].parent.filter(|&parent| !plane.is_open(node, parent)) else {
            return;
        };
        while let Some(&step) = self.nodes[node.index()].steps.front() {
            let Some(request) = self.request(node, step, plane) else {
                self.nodes[node.index()].steps.pop_front();
                continue;
            };
            self.nodes[node.index()].attempts += 1;
            if plane.request(node, parent, request).is_err() {
                self.retry(node, plane);
            }
            return;
        }
    }

    fn request(&mut self, node: NodeId, step: Step, plane: &Plane<'_>) -> Option<Request> {
        let Step { tunnel, action, direction } = step;
        let (metadata, options) = (MARK | tunnel.0, direction.options());
        let hop = self.nodes[node.index()].hop(tunnel, direction);
        match action {
            Action::Open => {
                let (cells, count) = interleaved(&hop.below, self.cells, direction, node, plane);
                (count > 0).then_some(Request::Add(CellRequest { metadata, options, count, cells }))
            }
            Action::Close => {
                let (cells, count) = (hop.above.clone(), hop.above.len() as u8);
                (count > 0).then_some(Request::Delete(CellRequest { metadata, options, count, cells }))
            }
        }
    }

    fn retry(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        if self.nodes[node.index()].attempts < ATTEMPTS {
            plane.set_timer(node, RETRY, TIMER);
        } else {
            self.finish_step(node, plane);
        }
    }

    fn finish_step(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let state = &mut self.nodes[node.index()];
        state.attempts = 0;
        state.steps.pop_front();
        state.hops.retain(|hop| !(hop.below.is_empty() && hop.above.is_empty()));
        self.take_step(node, plane);
    }
}

impl TunnelNode {
    fn hop(&mut self, tunnel: NodeId, direction: Direction) -> &mut Hop {
        let known = self.hops.iter().position(|hop| hop.tunnel == tunnel && hop.direction == direction);
        let position = known.unwrap_or_else(|| {
            self.hops.push(Hop { tunnel, direction, below: Vec::new(), above: Vec::new() });
            self.hops.len() - 1
        });
        &mut self.hops[position]
    }
}

/// The tunnel to which a request belongs. `None`: it is a request of the function below.
fn tunnel_of(request: &Request) -> Option<NodeId> {
    let metadata = request.metadata();
    (metadata & MARK != 0).then_some(NodeId(metadata & !MARK))
}

/// The effect of an agreed request of a tunnel: the action, its direction, and the cells afterwards. `None` for other requests.
fn effect(request: &Request, agreed: &[CellId]) -> Option<(Action, Direction, Vec<CellId>)> {
    let (action, options, cells) = match request {
        Request::Add(CellRequest { options, .. }) => (Action::Open, options, agreed.to_vec()),
        Request::Delete(CellRequest { options, .. }) => (Action::Close, options, Vec::new()),
        _ => return None,
    };
    Some((action, if options.transmit { Direction::Up } else { Direction::Down }, cells))
}

/// Candidates for the next hop, two for each cell, and the number of cells to ask for. Upwards they are the first free
/// slots after the cells of the hop below, downwards the last free slots before them. At the node where a tunnel
/// begins, its cells are spread evenly.
fn interleaved(
    below: &[CellId],
    count: u8,
    direction: Direction,
    node: NodeId,
    plane: &Plane<'_>,
) -> (Vec<CellId>, u8) {
    let slotframe = plane.slotframe();
    let evenly =
        (0..u16::from(count)).map(|number| (u32::from(number) * u32::from(slotframe) / u32::from(count)) as u16);
    let anchors: Vec<u16> =
        if below.is_empty() { evenly.collect() } else { below.iter().map(|cell| cell.slot).collect() };
    let mut cells: Vec<CellId> = Vec::new();
    for round in 0..2 {
        for &anchor in &anchors {
            let step = |step| match direction {
                Direction::Up => (anchor + step) % slotframe,
                Direction::Down => (anchor + slotframe - step) % slotframe,
            };
            let is_new = |slot: &u16| plane.is_free(node, *slot) && cells.iter().all(|cell| cell.slot != *slot);
            if let Some(slot) = (1..slotframe).map(step).find(is_new) {
                cells.push(CellId { slot, channel_offset: (node.0 + round) % 16 });
            }
        }
    }
    let count = cells.len().min(anchors.len()) as u8;
    (cells, count)
}

impl SchedulingFunction for Tunnel {
    fn id(&self) -> u8 {
        self.below.id()
    }

    fn start(&mut self, plane: &mut Plane<'_>) {
        self.below.start(plane);
    }

    fn handle_timer(&mut self, node: NodeId, timer: u32, plane: &mut Plane<'_>) {
        match timer {
            TIMER => self.take_step(node, plane),
            _ => self.below.handle_timer(node, timer, plane),
        }
    }

    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>) {
        let Transaction { node, request, .. } = transaction;
        let Some(tunnel) = tunnel_of(request) else {
            self.below.handle_outcome(transaction, outcome, plane);
            return self.take_step(node, plane);
        };
        match outcome {
            Outcome::Agreed(cells) => {
                if let Some((_, direction, cells)) = effect(request, cells) {
                    self.nodes[node.index()].hop(tunnel, direction).above = cells;
                    self.finish_step(node, plane);
                }
            }
            Outcome::Failed | Outcome::Refused(ReturnCode::Busy | ReturnCode::Locked | ReturnCode::Reset) => {
                self.retry(node, plane);
            }
            Outcome::Refused(_) => {
                self.finish_step(node, plane);
                self.below.handle_outcome(transaction, outcome, plane);
            }
        }
    }

    fn handle_agreement(&mut self, transaction: Transaction<'_>, cells: &[CellId], plane: &mut Plane<'_>) {
        let Transaction { node, request, .. } = transaction;
        let Some(tunnel) = tunnel_of(request) else {
            return self.below.handle_agreement(transaction, cells, plane);
        };
        if let Some((action, direction, cells)) = effect(request, cells)
            && (action == Action::Close || !cells.is_empty())
        {
            self.nodes[node.index()].hop(tunnel, direction).below = cells;
            self.push(node, tunnel, action, &[direction], plane);
        }
    }

    fn handle_signal(&mut self, node: NodeId, peer: NodeId, metadata: u16, payload: &[u8]) -> ReturnCode {
        self.below.handle_signal(node, peer, metadata, payload)
    }

    fn slotframe_of(&self, metadata: u16) -> u8 {
        if metadata & MARK == 0 { self.below.slotframe_of(metadata) } else { handle::TUNNEL }
    }

    fn begin_burst(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let bursts = &mut self.nodes[node.index()].bursts;
        *bursts += 1;
        if *bursts == 1 {
            self.push(node, node, Action::Open, &[Direction::Up, Direction::Down], plane);
        }
    }

    fn end_burst(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let bursts = &mut self.nodes[node.index()].bursts;
        *bursts = bursts.saturating_sub(1);
        if *bursts == 0 {
            self.push(node, node, Action::Close, &[Direction::Up, Direction::Down], plane);
        }
    }
}
