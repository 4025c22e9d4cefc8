//! The minimal scheduling function (MSF, RFC 9033).
//!
//! Every node but the root asks its parent for one cell to send in. Then it adds and deletes cells in both directions,
//! depending on how many of its cells are used. It relocates a cell that delivers much worse than others. Autonomous
//! cells ([`autonomous`](crate::radio::tsch::autonomous)) and the minimal cell are part of the initial schedule.

use super::{Direction, Outcome, Plane, SchedulingFunction, Transaction, WAIT, draw_wait};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::radio::sixtop::{CellId, CellRequest, Request, ReturnCode};
use crate::radio::tsch::schedule::{Cell, CellOptions, CellUse, handle};
use crate::random::{Stream, Streams};
use crate::route::Routes;

/// MSF's SFID (RFC 9033, section 17).
const ID: u8 = 0;

/// The number of frames after which the delivery ratio of a cell is significant. Assumed: RFC 9033, section 5.3, gives
/// no number.
const SIGNIFICANT: u16 = 16;

/// The constants of MSF.
#[derive(Clone, Debug)]
pub struct MsfConfig {
    /// The number of elapsed cells after which the node evaluates their use (MAX_NUM_CELLS).
    pub max_cells: u32,
    /// The node adds a cell if it used more than this number of them (LIM_NUMCELLSUSED_HIGH).
    pub high: u32,
    /// The node deletes a cell if it used fewer than this number of them (LIM_NUMCELLSUSED_LOW).
    pub low: u32,
    /// The period of comparing delivery ratios (HOUSEKEEPINGCOLLISION_PERIOD).
    pub housekeeping: Duration,
    /// The node relocates a cell whose delivery ratio is this number of percent points below the best
    /// (RELOCATE_PDRTHRES).
    pub relocate_percent: u32,
    /// The time in which the node sends no request to a neighbour that answered with an error (QUARANTINE_DURATION).
    pub quarantine: Duration,
    /// The least and the greatest wait after a failure (WAIT_DURATION_MIN, WAIT_DURATION_MAX).
    pub wait: (Duration, Duration),
    /// The number of candidates in a request. RFC 9033, section 8, gives no number; OpenWSN has five
    /// (`CELLLIST_MAX_LEN`).
    pub candidates: usize,
    /// Nodes ask for their first cell at a random instant before this time. Assumed: 10 s.
    pub start: Duration,
    /// True if the parent proposes the cells (three-step transactions). RFC 9033 uses two steps.
    pub three_steps: bool,
}

impl Default for MsfConfig {
    /// RFC 9033, section 14, table 2, if the field does not say otherwise.
    fn default() -> Self {
        Self {
            max_cells: 100,
            high: 75,
            low: 25,
            housekeeping: Duration::from_secs(60),
            relocate_percent: 50,
            quarantine: Duration::from_secs(5 * 60),
            wait: WAIT,
            candidates: 5,
            start: Duration::from_secs(10),
            three_steps: false,
        }
    }
}

/// MSF on all nodes.
#[derive(Debug)]
pub struct Msf {
    config: MsfConfig,
    nodes: Vec<MsfNode>,
}

#[derive(Debug)]
struct MsfNode {
    parent: Option<NodeId>,
    random: Stream,
    /// The elapsed cells, by [`Direction`].
    elapsed: [ElapsedCells; 2],
    quarantined_until: Instant,
    /// True while a retry timer runs.
    retry_is_set: bool,
}

/// The number of elapsed cells (NumCellsElapsed), computed from the number of cells and the time.
#[derive(Clone, Copy, Debug, Default)]
struct ElapsedCells {
    /// The slot of the last change of `cells`.
    since: u64,
    /// The number of cells in a slotframe since then.
    cells: u64,
    /// The sum before that, in cells times slots: one cell adds the length of the slotframe in each slotframe.
    before: u64,
    /// Distinguishes the current timer from earlier ones.
    generation: u32,
}

/// The timers. Those of cells have the numbers of their [`Direction`]. The bits above the lowest two are a generation.
mod timer {
    pub const UP: u32 = 0;
    pub const DOWN: u32 = 1;
    pub const HOUSEKEEPING: u32 = 2;
    pub const RETRY: u32 = 3;
    pub const BITS: u32 = 2;
    /// Leaves the highest bit free: see `Plane::set_timer`.
    pub const GENERATIONS: u32 = u32::MAX >> (BITS + 1);
}

impl Msf {
    /// MSF for the nodes of a routing tree.
    pub fn new(config: MsfConfig, routes: &Routes, streams: &Streams) -> Self {
        Self::with_parents(config, routes.parents(), streams)
    }

    /// MSF for nodes that have no parents yet. They ask for their first cell when they choose one.
    pub fn forming(config: MsfConfig, nodes: usize, streams: &Streams) -> Self {
        Self::with_parents(config, vec![None; nodes], streams)
    }

    fn with_parents(config: MsfConfig, parents: Vec<Option<NodeId>>, streams: &Streams) -> Self {
        let node = |(id, parent)| MsfNode {
            parent,
            random: streams.stream("scheduling function", id),
            elapsed: Default::default(),
            quarantined_until: Instant::ZERO,
            retry_is_set: false,
        };
        Self { config, nodes: (0..).zip(parents).map(node).collect() }
    }

    /// Asks for the first cell to the parent if there is none.
    fn ensure_cell(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let Some(parent) = self.nodes[node.index()].parent else { return };
        if cells(plane, node, parent, Direction::Up).next().is_none() {
            self.add(node, Direction::Up, plane);
        }
    }

    fn add(&mut self, node: NodeId, direction: Direction, plane: &mut Plane<'_>) {
        let candidates = match self.config.three_steps {
            true => Vec::new(),
            false => plane.free_cells(node, self.config.candidates, &mut self.nodes[node.index()].random),
        };
        if candidates.is_empty() && !self.config.three_steps {
            return; // the slotframe is full
        }
        let (metadata, options) = (0, direction.options());
        self.request(node, Request::Add(CellRequest { metadata, options, count: 1, cells: candidates }), plane);
    }

    fn delete(&mut self, node: NodeId, parent: NodeId, direction: Direction, plane: &mut Plane<'_>) {
        let mut ids: Vec<CellId> = cells(plane, node, parent, direction).map(Cell::id).collect();
        let chosen = ids.swap_remove(self.nodes[node.index()].random.below(ids.len() as u64) as usize);
        let (metadata, options) = (0, direction.options());
        self.request(node, Request::Delete(CellRequest { metadata, options, count: 1, cells: vec![chosen] }), plane);
    }

    fn request(&mut self, node: NodeId, request: Request, plane: &mut Plane<'_>) {
        let state = &self.nodes[node.index()];
        let Some(parent) = state.parent.filter(|_| plane.now() >= state.quarantined_until) else { return };
        if !plane.is_open(node, parent) && plane.request(node, parent, request).is_err() {
            self.retry_later(node, plane);
        }
    }

    /// Sets the retry timer. When it fires, the node decides again what it needs.
    fn retry_later(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let state = &mut self.nodes[node.index()];
        if !std::mem::replace(&mut state.retry_is_set, true) {
            plane.set_timer(node, draw_wait(self.config.wait, &mut state.random), timer::RETRY);
        }
    }

    /// Adds a cell, deletes one, or neither, when MAX_NUM_CELLS cells have elapsed (RFC 9033, section 5.1).
    fn adapt(&mut self, node: NodeId, direction: Direction, plane: &mut Plane<'_>) {
        let Some(parent) = self.nodes[node.index()].parent else { return };
        let Some(used) = plane.cells_used(node, parent) else { return };
        let used = std::mem::take(match direction {
            Direction::Up => &mut used.transmit,
            Direction::Down => &mut used.receive,
        });
        let asn = plane.asn();
        let elapsed = &mut self.nodes[node.index()].elapsed[direction as usize];
        (elapsed.before, elapsed.since) = (0, asn);
        let count = cells(plane, node, parent, direction).count();
        let minimum = usize::from(direction == Direction::Up);
        if used > self.config.high {
            self.add(node, direction, plane);
        } else if used < self.config.low && count > minimum {
            self.delete(node, parent, direction, plane);
        }
        self.arm(node, direction, plane);
    }

    /// Sets the timer for the instant at which MAX_NUM_CELLS cells will have elapsed.
    fn arm(&mut self, node: NodeId, direction: Direction, plane: &mut Plane<'_>) {
        let Some(parent) = self.nodes[node.index()].parent else { return };
        let count = cells(plane, node, parent, direction).count() as u64;
        // Without a negotiated cell, frames from the parent come in the autonomous cell.
        let count = if direction == Direction::Down { count.max(1) } else { count };
        let (slotframe, asn) = (u64::from(plane.slotframe()), plane.asn());
        let elapsed = &mut self.nodes[node.index()].elapsed[direction as usize];
        elapsed.before += (asn - elapsed.since) * elapsed.cells;
        (elapsed.since, elapsed.cells) = (asn, count);
        elapsed.generation = elapsed.generation.wrapping_add(1) & timer::GENERATIONS;
        if count > 0 {
            let missing = (u64::from(self.config.max_cells) * slotframe).saturating_sub(elapsed.before);
            let generation = elapsed.generation;
            let after = plane.slots(missing.div_ceil(count).max(1));
            plane.set_timer(node, after, generation << timer::BITS | direction as u32);
        }
    }

    /// Relocates a cell that delivers much worse than the best one (RFC 9033, section 5.3).
    fn relocate_worst(&mut self, node: NodeId, plane: &mut Plane<'_>) {
        let Some(parent) = self.nodes[node.index()].parent else { return };
        let percent = |(cell, usage): (CellId, CellUse)| {
            let ratio = u32::from(usage.acknowledged) * 100 / u32::from(usage.transmitted).max(1);
            (usage.transmitted >= SIGNIFICANT).then_some((ratio, cell))
        };
        let negotiated: Vec<CellId> = cells(plane, node, parent, Direction::Up).map(Cell::id).collect();
        let ratios: Vec<(u32, CellId)> =
            plane.uses(node, parent).filter(|(cell, _)| negotiated.contains(cell)).filter_map(percent).collect();
        if let (Some(best), Some(worst)) = (ratios.iter().max(), ratios.iter().min())
            && worst.0 + self.config.relocate_percent < best.0
        {
            let candidates = plane.free_cells(node, self.config.candidates, &mut self.nodes[node.index()].random);
            let options = CellOptions::TRANSMIT;
            self.request(node, Request::Relocate { metadata: 0, options, cells: vec![worst.1], candidates }, plane);
        }
        plane.set_timer(node, self.config.housekeeping, timer::HOUSEKEEPING);
    }
}

impl SchedulingFunction for Msf {
    fn id(&self) -> u8 {
        ID
    }

    fn start(&mut self, plane: &mut Plane<'_>) {
        let start = self.config.start.as_micros() + 1;
        for (id, node) in (0..).zip(&mut self.nodes).filter(|(_, node)| node.parent.is_some()) {
            node.retry_is_set = true;
            plane.set_timer(NodeId(id), Duration::from_micros(node.random.below(start)), timer::RETRY);
            plane.set_timer(NodeId(id), self.config.housekeeping, timer::HOUSEKEEPING);
        }
    }

    fn choose_parent(&mut self, node: NodeId, parent: NodeId, plane: &mut Plane<'_>) {
        match self.nodes[node.index()].parent.replace(parent) {
            None => plane.set_timer(node, self.config.housekeeping, timer::HOUSEKEEPING),
            // RFC 9033 section 4.8. If it cannot be sent, the cells stay there unused.
            Some(former) if former != parent => {
                let _ = plane.request(node, former, Request::Clear { metadata: 0 });
            }
            Some(_) => {}
        }
        self.ensure_cell(node, plane);
    }

    fn handle_timer(&mut self, node: NodeId, timer: u32, plane: &mut Plane<'_>) {
        let direction = match timer & ((1 << timer::BITS) - 1) {
            timer::UP => Direction::Up,
            timer::DOWN => Direction::Down,
            timer::HOUSEKEEPING => return self.relocate_worst(node, plane),
            _ => {
                self.nodes[node.index()].retry_is_set = false;
                return self.ensure_cell(node, plane);
            }
        };
        if self.nodes[node.index()].elapsed[direction as usize].generation == timer >> timer::BITS {
            self.adapt(node, direction, plane);
        }
    }

    /// The reaction to each code: RFC 9033, section 12, table 1.
    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>) {
        let Transaction { node, peer: parent, request } = transaction;
        match outcome {
            Outcome::Agreed(_) => {
                for direction in [Direction::Up, Direction::Down] {
                    self.arm(node, direction, plane);
                }
                if cells(plane, node, parent, Direction::Up).next().is_none() {
                    // The parent had no free cell, or CLEAR has deleted all cells.
                    match request {
                        Request::Clear { .. } => self.ensure_cell(node, plane),
                        _ => self.retry_later(node, plane),
                    }
                }
            }
            Outcome::Refused(ReturnCode::Sequence | ReturnCode::CellList) => {
                self.request(node, Request::Clear { metadata: 0 }, plane);
            }
            Outcome::Refused(ReturnCode::Busy | ReturnCode::Locked) | Outcome::Failed => self.retry_later(node, plane),
            Outcome::Refused(_) => {
                self.nodes[node.index()].quarantined_until = plane.now() + self.config.quarantine;
                if !std::mem::replace(&mut self.nodes[node.index()].retry_is_set, true) {
                    plane.set_timer(node, self.config.quarantine, timer::RETRY);
                }
            }
        }
    }
}

/// The cells negotiated between a node and its parent, in one direction.
fn cells<'a>(
    plane: &'a Plane<'_>,
    node: NodeId,
    parent: NodeId,
    direction: Direction,
) -> impl Iterator<Item = &'a Cell> {
    let negotiated = |cell: &&Cell| cell.handle == handle::NEGOTIATED;
    plane.schedule(node).agreed(parent, direction.options()).filter(negotiated)
}

#[cfg(test)]
mod tests;
