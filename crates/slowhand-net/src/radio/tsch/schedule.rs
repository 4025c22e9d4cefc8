//! The schedule of one node: its cells, and the questions the MAC asks of them.

use crate::address::NodeId;

/// Handles of the slotframes; where two receive cells of a node share a slot, the lower one counts (RFC 9033, section 2).
pub mod handle {
    /// The minimal cell, shared by all (RFC 8180).
    pub const MINIMAL: u8 = 0;
    /// Autonomous cells (RFC 9033, section 3).
    pub const AUTONOMOUS: u8 = 1;
    /// Negotiated or given cells (RFC 9033, section 4).
    pub const NEGOTIATED: u8 = 2;
}

/// What a node may do in a cell (IEEE 802.15.4-2015, 8.4.3.3, link options).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellOptions {
    /// It may send.
    pub transmit: bool,
    /// It listens when it does not send.
    pub receive: bool,
    /// Others may send in the same cell: after a failure, back off.
    pub shared: bool,
}

impl CellOptions {
    /// A dedicated cell, at its sender.
    pub const TRANSMIT: Self = Self { transmit: true, receive: false, shared: false };
    /// A cell at its receiver.
    pub const RECEIVE: Self = Self { transmit: false, receive: true, shared: false };
    /// A shared cell, at a sender.
    pub const TRANSMIT_SHARED: Self = Self { transmit: true, receive: false, shared: true };
    /// A shared cell in which the node listens when it has nothing to send.
    pub const SHARED: Self = Self { transmit: true, receive: true, shared: true };
}

/// A cell as one node has it in its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Slot offset within the slotframe.
    pub slot: u16,
    /// Channel offset.
    pub channel_offset: u8,
    /// What the node may do in it.
    pub options: CellOptions,
    /// The neighbour it is for; any neighbour where none is named.
    pub neighbor: Option<NodeId>,
    /// Its slotframe (see [`handle`]). All slotframes have the same length (RFC 9033, section 2 recommends it).
    pub handle: u8,
}

/// All cells of one node.
#[derive(Clone, Debug)]
pub struct Schedule {
    slotframe: u16,
    cells: Vec<Cell>,
    /// Cells to receive in, by slot, then by precedence.
    receive: Vec<Cell>,
    /// The slots of those, each once.
    receive_slots: Vec<u16>,
}

impl Schedule {
    /// The schedule of these cells in a slotframe of `slotframe` slots (at least one).
    pub fn new(slotframe: u16, cells: Vec<Cell>) -> Self {
        let mut receive: Vec<Cell> = cells.iter().copied().filter(|cell| cell.options.receive).collect();
        receive.sort_by_key(|cell| (cell.slot, cell.handle));
        let mut receive_slots: Vec<u16> = receive.iter().map(|cell| cell.slot).collect();
        receive_slots.dedup();
        Self { slotframe, cells, receive, receive_slots }
    }

    /// All its cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The channel offset on which the node listens in this slot of the slotframe, if it does.
    pub fn listens(&self, slot: u16) -> Option<u8> {
        let first = self.receive.partition_point(|cell| cell.slot < slot);
        let cell = self.receive.get(first)?;
        (cell.slot == slot).then_some(cell.channel_offset)
    }

    /// How many of the slots before `asn` have a cell to receive in.
    pub fn receive_slots_before(&self, asn: u64) -> u64 {
        let slotframe = u64::from(self.slotframe);
        let (whole, rest) = (asn / slotframe, (asn % slotframe) as u16);
        whole * self.receive_slots.len() as u64 + self.receive_slots.partition_point(|&slot| slot < rest) as u64
    }

    /// The cells in which the node sends to `neighbor`: those of the most specific kind it has.
    ///
    /// Negotiated cells first; without one the neighbour's autonomous cell; without that the minimal
    /// shared cell (RFC 9033, sections 2 and 3: autonomous cells serve neighbours without negotiated ones).
    pub fn cells_to(&self, neighbor: NodeId) -> TransmitCells {
        let to_neighbor = |cell: &&Cell| cell.options.transmit && cell.neighbor.is_none_or(|n| n == neighbor);
        let best = self.cells.iter().filter(to_neighbor).map(|cell| cell.handle).max();
        let mut cells: Vec<Cell> =
            self.cells.iter().filter(to_neighbor).filter(|cell| Some(cell.handle) == best).copied().collect();
        cells.sort_by_key(|cell| (cell.slot, cell.channel_offset));
        cells.dedup_by_key(|cell| cell.slot);
        TransmitCells { slotframe: self.slotframe, cells }
    }
}

/// The cells in which a node sends to one neighbour, by slot, one a slot at most.
#[derive(Clone, Debug)]
pub struct TransmitCells {
    slotframe: u16,
    cells: Vec<Cell>,
}

impl TransmitCells {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The first slot from `asn` on that has such a cell, after passing over the first `skip` of
    /// them that are shared: a back-off counts shared cells only (IEEE 802.15.4-2015, 6.2.5.3).
    pub fn next(&self, asn: u64, skip: u32) -> Option<u64> {
        let slotframe = u64::from(self.slotframe);
        let phase = (asn % slotframe) as u16;
        let first = self.cells.partition_point(|cell| cell.slot < phase);
        let mut start = asn - u64::from(phase);
        let mut skip = skip;
        let mut position = first;
        if self.cells.is_empty() {
            return None;
        }
        loop {
            if position == self.cells.len() {
                position = 0;
                start += slotframe;
            }
            let cell = &self.cells[position];
            if !cell.options.shared || skip == 0 {
                return Some(start + u64::from(cell.slot));
            }
            skip -= 1;
            position += 1;
        }
    }

    /// The cell in this slot of the slotframe.
    pub fn at(&self, slot: u16) -> Option<&Cell> {
        self.cells.binary_search_by_key(&slot, |cell| cell.slot).ok().map(|position| &self.cells[position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(slot: u16, options: CellOptions, neighbor: Option<u16>, handle: u8) -> Cell {
        Cell { slot, channel_offset: 0, options, neighbor: neighbor.map(NodeId), handle }
    }

    #[test]
    fn next_cell_is_computed_across_the_end_of_the_slotframe() {
        let cells = [2, 7].map(|slot| cell(slot, CellOptions::TRANSMIT, Some(1), handle::NEGOTIATED));
        let to = Schedule::new(10, cells.to_vec()).cells_to(NodeId(1));
        let next: Vec<_> = [0, 2, 3, 7, 8, 19, 1_000_003].iter().map(|&asn| to.next(asn, 3)).collect();
        assert_eq!(next, [2, 2, 7, 7, 12, 22, 1_000_007].map(Some), "a back-off does not concern dedicated cells");
    }

    #[test]
    fn back_off_passes_over_shared_cells() {
        let schedule = Schedule::new(5, vec![cell(0, CellOptions::SHARED, None, handle::MINIMAL)]);
        assert_eq!(schedule.cells_to(NodeId(9)).next(1, 0), Some(5));
        assert_eq!(schedule.cells_to(NodeId(9)).next(1, 3), Some(20));
    }

    #[test]
    fn the_most_specific_cells_count() {
        let minimal = cell(0, CellOptions::SHARED, None, handle::MINIMAL);
        let autonomous = cell(1, CellOptions::TRANSMIT_SHARED, Some(1), handle::AUTONOMOUS);
        let dedicated = cell(3, CellOptions::TRANSMIT, Some(1), handle::NEGOTIATED);
        let next = |cells: &[Cell], to| Schedule::new(5, cells.to_vec()).cells_to(NodeId(to)).next(0, 0);
        assert_eq!(next(&[minimal, autonomous, dedicated], 1), Some(3));
        assert_eq!(next(&[minimal, autonomous], 1), Some(1));
        assert_eq!(next(&[minimal, autonomous, dedicated], 2), Some(0));
        assert_eq!(next(&[dedicated], 2), None);
    }

    #[test]
    fn receive_slots_are_counted_without_stepping() {
        let cells = [1, 3, 3].map(|slot| cell(slot, CellOptions::RECEIVE, None, handle::NEGOTIATED));
        let schedule = Schedule::new(5, cells.to_vec());
        for asn in 0..40 {
            let stepped = (0..asn).filter(|slot| [1, 3].contains(&(slot % 5))).count() as u64;
            assert_eq!(schedule.receive_slots_before(asn), stepped, "before slot {asn}");
        }
        assert_eq!(schedule.receive_slots_before(5_000_000_000), 2_000_000_000);
        assert_eq!((schedule.listens(3), schedule.listens(2)), (Some(0), None));
    }
}
