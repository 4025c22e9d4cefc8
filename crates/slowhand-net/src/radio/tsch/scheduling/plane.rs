//! The interface through which a scheduling function reads and controls the nodes.

use super::{Control, SchedulingFunction};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::radio::sixtop::transaction::Peer;
use crate::radio::sixtop::{CellId, Message, Request};
use crate::radio::tsch::event::Event;
use crate::radio::tsch::frame::write_sixtop;
use crate::radio::tsch::node::CellsUsed;
use crate::radio::tsch::schedule::{Cell, CellUse, Schedule};
use crate::radio::tsch::state::TschState;
use crate::random::Stream;

/// All nodes at one instant, for a scheduling function.
pub struct Plane<'a> {
    pub(super) now: Instant,
    pub(super) state: &'a mut TschState,
    pub(super) peers: &'a mut [Vec<Peer>],
    pub(super) function: u8,
}

/// The reason why a transaction could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// A transaction with this neighbour is open already.
    #[error("a 6P transaction with this neighbour is open already")]
    Busy,
    /// The request could not be queued.
    #[error("the request cannot be sent: {}", .0.name())]
    NotSent(DropReason),
}

impl Plane<'_> {
    /// The present instant.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The present absolute slot number (ASN).
    pub fn asn(&self) -> u64 {
        self.state.config.timing.asn(self.now)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.state.nodes.len()
    }

    /// Slots in a slotframe.
    pub fn slotframe(&self) -> u16 {
        self.state.config.slotframe
    }

    /// The duration of a number of slots.
    pub fn slots(&self, slots: u64) -> Duration {
        self.state.config.timing.slot * slots
    }

    /// A node's schedule.
    pub fn schedule(&self, node: NodeId) -> &Schedule {
        &self.state.nodes[node.index()].schedule
    }

    /// The number of frames that wait at a node.
    pub fn queued(&self, node: NodeId) -> usize {
        self.state.nodes[node.index()].queue.len()
    }

    /// The number of frames that wait at a node for a neighbour.
    pub fn queued_for(&self, node: NodeId, neighbor: NodeId) -> usize {
        let node = &self.state.nodes[node.index()];
        node.position(neighbor).map_or(0, |position| node.neighbors[position].waiting)
    }

    /// The number of used cells with a neighbour. The scheduling function resets it.
    pub fn cells_used(&mut self, node: NodeId, neighbor: NodeId) -> Option<&mut CellsUsed> {
        let node = &mut self.state.nodes[node.index()];
        let position = node.position(neighbor)?;
        Some(&mut node.neighbors[position].used)
    }

    /// The number of uses of each cell to a neighbour, and the number of successes.
    pub fn uses(&self, node: NodeId, neighbor: NodeId) -> impl Iterator<Item = (CellId, CellUse)> {
        let node = &self.state.nodes[node.index()];
        let cells = node.position(neighbor).map(|position| node.neighbors[position].cells.uses());
        let id = |(cell, cell_use): (&Cell, _)| (cell.id(), cell_use);
        cells.into_iter().flatten().map(id)
    }

    /// Sets a timer: see [`SchedulingFunction::handle_timer`](super::SchedulingFunction::handle_timer). It cannot be
    /// cancelled. The highest bit of `timer` belongs to functions that extend another function.
    pub fn set_timer(&mut self, node: NodeId, after: Duration, timer: u32) {
        self.state.events.push(self.now + after, Event::Function { node, timer });
    }

    /// Opens a transaction.
    ///
    /// # Errors
    /// [`NotOpened`]: a transaction with this neighbour is open, or the message could not be queued.
    pub fn request(&mut self, node: NodeId, peer: NodeId, request: Request) -> Result<(), NotOpened> {
        let position = self.position(node, peer).ok_or(NotOpened::NotSent(DropReason::NoCell))?;
        let state = &mut self.peers[node.index()][position];
        let (message, serial) = state.open(self.function, request).map_err(|_| NotOpened::Busy)?;
        if let Err(reason) = self.send(node, peer, &message) {
            self.peers[node.index()][position].abandon(message.sequence);
            return Err(NotOpened::NotSent(reason));
        }
        self.set_timeout(node, position, serial);
        Ok(())
    }

    /// True while a transaction that `node` opened with `peer` is open.
    pub fn is_open(&self, node: NodeId, peer: NodeId) -> bool {
        self.position(node, peer).is_some_and(|position| self.peers[node.index()][position].is_open())
    }

    /// True if a node can add a cell in this slot: the slot exists, is not that of the minimal cell, has no cell, and
    /// is not locked by a transaction.
    pub fn is_free(&self, node: NodeId, slot: u16) -> bool {
        let is_locked = || self.peers[node.index()].iter().flat_map(Peer::locked).any(|cell| cell.slot == slot);
        (1..self.slotframe()).contains(&slot) && self.schedule(node).is_free(slot) && !is_locked()
    }

    /// Up to `count` cells in free slots of a node. Slots and channel offsets are drawn uniformly (RFC 9033, section
    /// 8).
    pub fn free_cells(&self, node: NodeId, count: usize, random: &mut Stream) -> Vec<CellId> {
        let mut free: Vec<u16> = (1..self.slotframe()).filter(|&slot| self.is_free(node, slot)).collect();
        let mut chosen = Vec::new();
        while chosen.len() < count && !free.is_empty() {
            let slot = free.swap_remove(random.below(free.len() as u64) as usize);
            chosen.push(CellId { slot, channel_offset: self.draw_channel_offset(random) });
        }
        chosen
    }

    /// A channel offset, drawn uniformly.
    pub fn draw_channel_offset(&self, random: &mut Stream) -> u16 {
        random.below(self.state.config.hopping.len() as u64) as u16
    }

    pub(super) fn send(&mut self, node: NodeId, to: NodeId, message: &Message) -> Result<(), DropReason> {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        self.state.enqueue_own(self.now, node, to, true, |out, sequence, source, destination, security| {
            write_sixtop(out, sequence, source, destination, security, &octets)
        })
    }

    /// Sets the timeout of a transaction (RFC 9033, section 9): ((2^macMaxBe) - 1) * retries * slotframe length. This
    /// is the longest time of a response that needs all retries with the longest back-off each.
    pub(super) fn set_timeout(&mut self, node: NodeId, position: usize, serial: u32) {
        let config = &self.state.config;
        let backoff = (1u64 << config.backoff_exponents.1) - 1;
        let slots = backoff * u64::from(config.max_retries.max(1)) * u64::from(config.slotframe);
        let event = Event::SixTop { node, neighbor: position as u16, serial };
        self.state.events.push(self.now + self.slots(slots), event);
    }

    pub(super) fn position(&self, node: NodeId, neighbor: NodeId) -> Option<usize> {
        self.state.nodes[node.index()].position(neighbor)
    }

    pub(super) fn peer(&mut self, node: NodeId, neighbor: NodeId) -> Option<&mut Peer> {
        let position = self.position(node, neighbor)?;
        Some(&mut self.peers[node.index()][position])
    }
}

impl Control {
    /// Calls `act` with the scheduling function and the nodes.
    pub(in crate::radio::tsch) fn act(
        &mut self,
        now: Instant,
        state: &mut TschState,
        act: impl FnOnce(&mut dyn SchedulingFunction, &mut Plane<'_>),
    ) {
        let function = self.function.id();
        act(&mut *self.function, &mut Plane { now, state, peers: &mut self.peers, function });
    }
}
