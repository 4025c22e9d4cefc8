//! A static schedule for a routing tree: minimal, autonomous and managed cells.

use super::autonomous;
use super::schedule::{Cell, CellOptions, handle};
use crate::address::NodeId;
use crate::route::Routes;
use std::collections::HashSet;

/// The number of cells of each kind in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Slots in a slotframe.
    pub slotframe: u16,
    /// Cells that all nodes share: the first slots of the slotframe.
    pub shared: u16,
    /// Dedicated cells between each node and its parent. The first goes up, the second down, and so on: two of three
    /// cells carry frames towards the root.
    pub managed: u16,
    /// True if every node has its autonomous cell (RFC 9033, section 3).
    pub autonomous: bool,
}

/// The slotframe is too short for the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no slot of the {slotframe} in the slotframe is left for managed cell {cell} between node {node} and its parent \
     {parent}: give a longer slotframe or fewer cells"
)]
pub struct Crowded {
    /// Slots in the slotframe.
    pub slotframe: u16,
    /// The number of the managed cell of the pair, from 1.
    pub cell: u16,
    /// The child.
    pub node: NodeId,
    /// Its parent.
    pub parent: NodeId,
}

impl Layout {
    /// The cells of every node.
    ///
    /// Managed cells are spread evenly over the slotframe. Each pair of nodes has its own channel offset as long as
    /// there are enough. A managed cell avoids the slots of both ends' autonomous cells. If the slotframe is too short,
    /// it may share the slot of its sender's autonomous cell; the sender then does not listen there while it has a
    /// frame.
    ///
    /// # Errors
    /// The first cell for which no slot is free.
    pub fn cells(&self, routes: &Routes) -> Result<Vec<Vec<Cell>>, Crowded> {
        let mut cells: Vec<Vec<Cell>> =
            (0..routes.nodes()).map(|node| self.common_cells(NodeId(node as u16))).collect();
        if self.autonomous {
            for child in (1..routes.nodes()).map(|child| NodeId(child as u16)) {
                if let Some(parent) = routes.parent(child) {
                    cells[child.index()].push(autonomous::transmit_cell(parent, self.slotframe));
                    cells[parent.index()].push(autonomous::transmit_cell(child, self.slotframe));
                }
            }
        }
        let mut managed = HashSet::new();
        for child in (1..routes.nodes()).map(|child| NodeId(child as u16)) {
            if let Some(parent) = routes.parent(child) {
                for number in 0..self.managed {
                    let (from, to) = if number % 2 == 0 { (child, parent) } else { (parent, child) };
                    let slot = self.free_slot(&managed, child, from, to, number).ok_or(Crowded {
                        slotframe: self.slotframe,
                        cell: number + 1,
                        node: child,
                        parent,
                    })?;
                    let channel_offset = (child.0 % 16) as u8;
                    for (node, options, other) in [(from, CellOptions::TRANSMIT, to), (to, CellOptions::RECEIVE, from)]
                    {
                        let neighbor = Some(other);
                        let cell = Cell { slot, channel_offset, options, neighbor, handle: handle::NEGOTIATED };
                        cells[node.index()].push(cell);
                        managed.insert((node, slot));
                    }
                }
            }
        }
        Ok(cells)
    }

    fn common_cells(&self, node: NodeId) -> Vec<Cell> {
        let shared = |slot| Cell {
            slot,
            channel_offset: 0,
            options: CellOptions::SHARED,
            neighbor: None,
            handle: handle::MINIMAL,
        };
        let autonomous = self.autonomous.then(|| autonomous::receive_cell(node, self.slotframe));
        (0..self.shared).map(shared).chain(autonomous).collect()
    }

    /// The first free slot from the place on where this cell would be if all were spread evenly. `managed` has the
    /// managed cells so far: node and slot.
    fn free_slot(
        &self,
        managed: &HashSet<(NodeId, u16)>,
        child: NodeId,
        from: NodeId,
        to: NodeId,
        number: u16,
    ) -> Option<u16> {
        let slots = u64::from(self.slotframe.checked_sub(self.shared).filter(|&slots| slots > 0)?);
        // Steps of the golden ratio: pairs with consecutive numbers start far apart.
        let start = u64::from(child.0) * slots * 618 / 1000 + u64::from(number) * slots / u64::from(self.managed);
        let candidates = (0..slots).map(|step| self.shared + ((start + step) % slots) as u16);
        let [listens_from, listens_to] =
            [from, to].map(|node| self.autonomous.then(|| autonomous::receive_cell(node, self.slotframe).slot));
        let is_managed = |node: NodeId, slot: u16| managed.contains(&(node, slot));
        let usable = |slot: &u16| !is_managed(from, *slot) && !is_managed(to, *slot) && Some(*slot) != listens_to;
        candidates
            .clone()
            .filter(usable)
            .find(|&slot| Some(slot) != listens_from)
            .or_else(|| candidates.clone().find(usable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkQuality;

    fn line(hops: u16) -> Routes {
        let links: Vec<_> =
            (0..hops).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), 1.0)).collect();
        Routes::shortest(usize::from(hops) + 1, &links).unwrap()
    }

    #[test]
    fn no_node_has_two_dedicated_cells_in_a_slot() {
        for (hops, slotframe, managed) in [(1, 5, 3), (4, 11, 3), (8, 101, 6), (3, 7, 2)] {
            let layout = Layout { slotframe, shared: 1, managed, autonomous: true };
            for cells in layout.cells(&line(hops)).unwrap() {
                let mut slots: Vec<u16> =
                    cells.iter().filter(|cell| cell.handle == handle::NEGOTIATED).map(|cell| cell.slot).collect();
                let all = slots.len();
                slots.sort();
                slots.dedup();
                assert_eq!(slots.len(), all, "{hops} hops in {slotframe} slots");
                assert!(slots.iter().all(|&slot| (1..slotframe).contains(&slot)));
            }
        }
    }

    #[test]
    fn a_crowded_slotframe_is_named() {
        let layout = Layout { slotframe: 5, shared: 1, managed: 3, autonomous: true };
        let crowded = layout.cells(&line(2)).unwrap_err();
        assert_eq!((crowded.node, crowded.parent), (NodeId(2), NodeId(1)));
    }
}
