//! A static schedule for a routing tree: minimal, autonomous and dedicated cells.

use super::autonomous;
use super::schedule::{Cell, CellOptions, handle};
use crate::address::NodeId;
use crate::route::Routes;
use std::collections::HashSet;
use std::iter::repeat_n;

/// The number of cells of each kind in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Slots in a slotframe.
    pub slotframe: u16,
    /// Cells that all nodes share: the first slots of the slotframe.
    pub shared: u16,
    /// Dedicated cells from each node to its parent.
    pub up: u16,
    /// Dedicated cells from the parent to the node.
    pub down: u16,
    /// True if every node has its autonomous cell (RFC 9033, section 3).
    pub autonomous: bool,
}

/// The slotframe is too short for the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no slot of the {slotframe} in the slotframe is left for dedicated cell {cell} between node {node} and its parent \
     {parent}: give a longer slotframe or fewer cells"
)]
pub struct Crowded {
    /// Slots in the slotframe.
    pub slotframe: u16,
    /// The number of the dedicated cell of the pair, from 1.
    pub cell: u32,
    /// The child.
    pub node: NodeId,
    /// Its parent.
    pub parent: NodeId,
}

impl Layout {
    /// The cells of every node.
    ///
    /// Dedicated cells are spread evenly over the slotframe: the first goes up, the next down, and so on, until one
    /// kind is used up. Each pair of nodes has its own channel offset as long as there are enough. A dedicated cell
    /// avoids the slots of both ends' autonomous cells. If the slotframe is too short, it may share the slot of its
    /// sender's autonomous cell; the sender then does not listen there while it has a frame.
    ///
    /// # Errors
    /// A cell for which no slot is free. It is the first one, unless a pair alone has more cells than there are slots.
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
        let mut busy = HashSet::new();
        for child in (1..routes.nodes()).map(|child| NodeId(child as u16)) {
            if let Some(parent) = routes.parent(child) {
                for (number, is_up) in (0..).zip(self.directions()) {
                    let (from, to) = if is_up { (child, parent) } else { (parent, child) };
                    let slot = self.free_slot(&busy, child, from, to, number).ok_or(Crowded {
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
                        busy.insert((node, slot));
                    }
                }
            }
        }
        Ok(cells)
    }

    /// The cells that nodes have before any of them knows its parent.
    pub fn common(&self, nodes: usize) -> Vec<Vec<Cell>> {
        (0..nodes).map(|node| self.common_cells(NodeId(node as u16))).collect()
    }

    /// The dedicated cells of a pair of nodes in their order: true for those towards the root.
    fn directions(&self) -> impl Iterator<Item = bool> {
        let alternating = (0..self.up.min(self.down)).flat_map(|_| [true, false]);
        alternating.chain(repeat_n(self.up > self.down, usize::from(self.up.abs_diff(self.down))))
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

    /// The first free slot from the place on where this cell would be if all were spread evenly. `busy` has the
    /// dedicated cells so far: node and slot.
    fn free_slot(
        &self,
        busy: &HashSet<(NodeId, u16)>,
        child: NodeId,
        from: NodeId,
        to: NodeId,
        number: u32,
    ) -> Option<u16> {
        let cells = u64::from(self.up) + u64::from(self.down);
        let slots = u64::from(self.slotframe.saturating_sub(self.shared));
        if cells > slots {
            return None; // found without a search for each cell that has a slot
        }
        // Steps of the golden ratio: pairs with consecutive numbers start far apart.
        let start = u64::from(child.0) * slots * 618 / 1000 + u64::from(number) * slots / cells;
        let candidates = (0..slots).map(|step| self.shared + ((start + step) % slots) as u16);
        let [listens_from, listens_to] =
            [from, to].map(|node| self.autonomous.then(|| autonomous::receive_cell(node, self.slotframe).slot));
        let is_busy = |node: NodeId, slot: u16| busy.contains(&(node, slot));
        let usable = |slot: &u16| !is_busy(from, *slot) && !is_busy(to, *slot) && Some(*slot) != listens_to;
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
        for (hops, slotframe, up, down) in [(1, 5, 2, 1), (4, 11, 2, 1), (8, 101, 3, 3), (3, 7, 1, 1), (1, 5, 0, 3)] {
            let layout = Layout { slotframe, shared: 1, up, down, autonomous: true };
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
        let layout = Layout { slotframe: 5, shared: 1, up: 2, down: 1, autonomous: true };
        let crowded = layout.cells(&line(2)).unwrap_err();
        assert_eq!((crowded.node, crowded.parent), (NodeId(2), NodeId(1)));
    }

    /// A line of one hop without autonomous cells, in a slotframe of 10 with one shared slot. Nine slots are left.
    /// Node 1 begins at 9 * 618 / 1000 = 5 of them. The three cells are 9 / 3 = 3 slots apart: 5, 8 and 11 - 9 = 2, or
    /// slots 6, 9 and 3 behind the shared one.
    #[test]
    fn cells_go_up_and_down_in_turns_until_one_kind_is_used_up() {
        let uplink_and_downlink = |up, down| {
            let layout = Layout { slotframe: 10, shared: 1, up, down, autonomous: false };
            let cells = layout.cells(&line(1)).unwrap();
            let slots = |node: usize, options: CellOptions| -> Vec<u16> {
                cells[node].iter().filter(|cell| cell.options == options).map(|cell| cell.slot).collect()
            };
            assert_eq!(slots(0, CellOptions::RECEIVE), slots(1, CellOptions::TRANSMIT));
            assert_eq!(slots(0, CellOptions::TRANSMIT), slots(1, CellOptions::RECEIVE));
            (slots(1, CellOptions::TRANSMIT), slots(1, CellOptions::RECEIVE))
        };
        assert_eq!(uplink_and_downlink(1, 2), (vec![6], vec![9, 3]));
        assert_eq!(uplink_and_downlink(2, 1), (vec![6, 3], vec![9]));
        assert_eq!(uplink_and_downlink(3, 0), (vec![6, 9, 3], vec![]));
        assert_eq!(uplink_and_downlink(0, 3), (vec![], vec![6, 9, 3]));
    }

    #[test]
    fn more_cells_than_slots_are_refused_at_once() {
        let layout = Layout { slotframe: 65_535, shared: 1, up: 65_535, down: 65_535, autonomous: false };
        assert_eq!(layout.cells(&line(1)).unwrap_err().node, NodeId(1));
        let layout = Layout { up: 32_767, down: 32_767, ..layout };
        assert!(layout.cells(&line(1)).is_ok());
        let layout = Layout { up: 0, down: 0, shared: 65_535, ..layout };
        assert!(layout.cells(&line(1)).is_ok());
    }
}
