//! The schedule of one node: its cells, and where they are.

use crate::address::NodeId;
use crate::radio::sixtop::CellId;
use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

pub use crate::radio::sixtop::CellOptions;

/// Handles of the slotframes. If two receive cells of a node share a slot, the lower handle wins (RFC 9033, section 2).
pub mod handle {
    /// The minimal cell, shared by all (RFC 8180).
    pub const MINIMAL: u8 = 0;
    /// Autonomous cells (RFC 9033, section 3).
    pub const AUTONOMOUS: u8 = 1;
    /// Negotiated or static cells (RFC 9033, section 4).
    pub const NEGOTIATED: u8 = 2;
    /// Cells of a tunnel, which exist during a burst of traffic.
    pub const TUNNEL: u8 = 3;
}

/// A cell as one node has it in its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Slot offset within the slotframe.
    pub slot: u16,
    /// Channel offset.
    pub channel_offset: u8,
    /// The uses that the node may make of it.
    pub options: CellOptions,
    /// The neighbour; `None` means any neighbour.
    pub neighbor: Option<NodeId>,
    /// Its slotframe (see [`handle`]). All slotframes have the same length (RFC 9033, section 2 recommends it).
    pub handle: u8,
}

impl Cell {
    /// Its position in the slotframe.
    pub fn id(&self) -> CellId {
        CellId { slot: self.slot, channel_offset: u16::from(self.channel_offset) }
    }

    /// The rank of its slotframe, by how specific it is: cells of a tunnel count as negotiated.
    fn kind(&self) -> u8 {
        self.handle.min(handle::NEGOTIATED)
    }
}

/// All cells of one node.
#[derive(Clone, Debug)]
pub struct Schedule {
    slotframe: u16,
    cells: Vec<Cell>,
    /// The slots with a receive cell, in order.
    receive_slots: Vec<u16>,
    /// The channel offset of the receive cell with the lowest handle, for each of `receive_slots`.
    receive_offsets: Vec<u8>,
}

impl Schedule {
    /// The schedule of these cells in a slotframe of `slotframe` slots (at least one).
    pub fn new(slotframe: u16, cells: Vec<Cell>) -> Self {
        let mut schedule = Self { slotframe, cells, receive_slots: Vec::new(), receive_offsets: Vec::new() };
        schedule.index();
        schedule
    }

    /// Adds a cell.
    pub fn add(&mut self, cell: Cell) {
        self.cells.push(cell);
        self.index();
    }

    /// Removes the cells for which `which` is true.
    pub fn remove(&mut self, which: impl Fn(&Cell) -> bool) {
        self.cells.retain(|cell| !which(cell));
        self.index();
    }

    fn index(&mut self) {
        let mut receive: Vec<&Cell> = self.cells.iter().filter(|cell| cell.options.receive).collect();
        receive.sort_by_key(|cell| (cell.slot, cell.handle));
        receive.dedup_by_key(|cell| cell.slot);
        self.receive_slots = receive.iter().map(|cell| cell.slot).collect();
        self.receive_offsets = receive.iter().map(|cell| cell.channel_offset).collect();
    }

    /// True if there is no cell in this slot.
    pub fn is_free(&self, slot: u16) -> bool {
        self.cells.iter().all(|cell| cell.slot != slot)
    }

    /// The cells with these options that were negotiated with a neighbour.
    pub fn agreed(&self, neighbor: NodeId, options: CellOptions) -> impl Iterator<Item = &Cell> {
        let agreed = move |cell: &&Cell| cell.neighbor == Some(neighbor) && cell.handle >= handle::NEGOTIATED;
        self.cells.iter().filter(agreed).filter(move |cell| cell.options == options)
    }

    /// The slots in which it listens, in order.
    pub fn receive_slots(&self) -> &[u16] {
        &self.receive_slots
    }

    /// All its cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The channel offset on which the node listens in this slot of the slotframe, if it does.
    pub fn listens(&self, slot: u16) -> Option<u8> {
        self.receive_slots.binary_search(&slot).ok().map(|position| self.receive_offsets[position])
    }

    /// The channel offset on which the node listens in slot `asn`, if it does.
    pub fn listens_at(&self, asn: u64) -> Option<u8> {
        self.listens((asn % u64::from(self.slotframe)) as u16)
    }

    /// Slots in a slotframe.
    pub fn slotframe(&self) -> u16 {
        self.slotframe
    }

    /// The number of slots before `asn` with a receive cell.
    pub fn receive_slots_before(&self, asn: u64) -> u64 {
        let slotframe = u64::from(self.slotframe);
        let (whole, rest) = (asn / slotframe, (asn % slotframe) as u16);
        whole * self.receive_slots.len() as u64 + self.receive_slots.partition_point(|&slot| slot < rest) as u64
    }

    /// The cells in which the node sends to `neighbor`: all cells of the most specific kind that it has.
    ///
    /// These are the negotiated cells, with those of a tunnel. If there are none, it is the neighbour's autonomous
    /// cell. If there is none, it is the minimal shared cell (RFC 9033, sections 2 and 3). An `on_demand` cell is there while
    /// frames wait for it, and takes no place in the schedule.
    pub fn cells_to(&self, neighbor: NodeId, on_demand: Option<Cell>) -> TransmitCells {
        let to_neighbor = |cell: &&Cell| cell.options.transmit && cell.neighbor.is_none_or(|n| n == neighbor);
        TransmitCells::new(self.slotframe, self.cells.iter().filter(to_neighbor).chain(&on_demand))
    }

    /// The minimal cells in which the node sends.
    pub fn minimal_cells(&self) -> TransmitCells {
        let is_minimal = |cell: &&Cell| cell.handle == handle::MINIMAL && cell.options.transmit;
        TransmitCells::new(self.slotframe, self.cells.iter().filter(is_minimal))
    }

    /// The cells to each of these neighbours, in one pass.
    pub fn cells_to_each(&self, neighbors: impl Iterator<Item = NodeId>) -> impl Iterator<Item = TransmitCells> {
        let (mut to_any, mut to_one) = (Vec::new(), HashMap::<NodeId, Vec<(usize, &Cell)>>::new());
        for (position, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.options.transmit) {
            match cell.neighbor {
                None => to_any.push((position, cell)),
                Some(neighbor) => to_one.entry(neighbor).or_default().push((position, cell)),
            }
        }
        // All neighbours without cells of their own share one list.
        let shared = TransmitCells::new(self.slotframe, to_any.iter().map(|&(_, cell)| cell));
        neighbors.map(move |neighbor| {
            let Some(mut own) = to_one.remove(&neighbor) else { return shared.clone() };
            let kind = |&(_, cell): &(usize, &Cell)| cell.kind();
            if to_any.iter().map(kind).max() >= own.iter().map(kind).max() {
                own.extend(&to_any);
                own.sort_by_key(|&(position, _)| position);
            }
            TransmitCells::new(self.slotframe, own.into_iter().map(|(_, cell)| cell))
        })
    }
}

/// The cells in which a node sends to one neighbour, sorted by slot. At most one in a slot.
#[derive(Clone, Debug)]
pub struct TransmitCells {
    slotframe: u16,
    cells: Arc<[Cell]>,
    /// One for each cell; empty before the first use is counted.
    uses: Vec<CellUse>,
}

/// The number of times that a node sent in a cell, and the number of successes (RFC 9033, section 5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellUse {
    /// Frames sent (NumTx).
    pub transmitted: u16,
    /// Frames acknowledged (NumTxAck).
    pub acknowledged: u16,
}

/// When [`CellUse`] reaches this count, both its numbers are halved (MAX_NUMTX, RFC 9033, section 14).
const MAX_TRANSMITTED: u16 = 256;

impl TransmitCells {
    /// Of these cells to one neighbour, all of the most specific kind.
    fn new<'a>(slotframe: u16, cells: impl Iterator<Item = &'a Cell> + Clone) -> Self {
        let best = cells.clone().map(Cell::kind).max();
        let mut cells: Vec<Cell> = cells.filter(|cell| Some(cell.kind()) == best).copied().collect();
        cells.sort_by_key(|cell| (cell.slot, cell.channel_offset));
        cells.dedup_by_key(|cell| cell.slot);
        Self { slotframe, cells: cells.into(), uses: Vec::new() }
    }

    /// The cells, by slot.
    pub fn iter(&self) -> std::slice::Iter<'_, Cell> {
        self.cells.iter()
    }

    /// The number of cells in a slotframe.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The first slot from `asn` on with such a cell. Shared cells count only from `backed_off` on.
    pub fn next(&self, asn: u64, backed_off: u64) -> Option<u64> {
        let dedicated = || self.first(asn, |cell| !cell.options.shared);
        let shared = || self.first(asn.max(backed_off), |cell| cell.options.shared);
        match backed_off <= asn {
            true => self.first(asn, |_| true),
            false => [dedicated(), shared()].into_iter().flatten().min(),
        }
    }

    /// The first slot after a back-off of `cells` shared cells that begins in slot `asn`. A back-off counts shared
    /// cells only (IEEE 802.15.4-2015, 6.2.5.3).
    pub fn backed_off(&self, asn: u64, cells: u32) -> u64 {
        (0..cells).try_fold(asn, |asn, _| Some(self.first(asn, |cell| cell.options.shared)? + 1)).unwrap_or(asn)
    }

    fn first(&self, asn: u64, which: impl Fn(&Cell) -> bool) -> Option<u64> {
        let slotframe = u64::from(self.slotframe);
        let phase = (asn % slotframe) as u16;
        let start = asn - u64::from(phase);
        let (before, behind) = self.cells.split_at(self.cells.partition_point(|cell| cell.slot < phase));
        let in_this_slotframe = behind.iter().find(|cell| which(cell)).map(|cell| start + u64::from(cell.slot));
        let in_the_next =
            || before.iter().find(|cell| which(cell)).map(|cell| start + slotframe + u64::from(cell.slot));
        in_this_slotframe.or_else(in_the_next)
    }

    /// The cell in this slot of the slotframe.
    pub fn at(&self, slot: u16) -> Option<&Cell> {
        self.position(slot).map(|position| &self.cells[position])
    }

    /// Counts a frame sent in this slot of the slotframe.
    pub fn count_use(&mut self, slot: u16, acknowledged: bool) {
        if let Some(position) = self.position(slot) {
            self.uses.resize(self.cells.len(), CellUse::default());
            let CellUse { transmitted, acknowledged: successes } = &mut self.uses[position];
            *transmitted += 1;
            *successes += u16::from(acknowledged);
            if *transmitted >= MAX_TRANSMITTED {
                *transmitted /= 2;
                *successes /= 2;
            }
        }
    }

    /// The cells and how often they were used.
    pub fn uses(&self) -> impl Iterator<Item = (&Cell, CellUse)> {
        self.cells.iter().zip(self.uses.iter().copied().chain(iter::repeat(CellUse::default())))
    }

    /// Copies the uses of the cells that `earlier` has too.
    pub fn with_uses_of(self, earlier: &Self) -> Self {
        let use_of = |cell: &Cell| {
            let position = earlier.position(cell.slot).filter(|&position| earlier.cells[position] == *cell);
            position.and_then(|position| earlier.uses.get(position)).copied().unwrap_or_default()
        };
        Self { uses: self.cells.iter().map(use_of).collect(), ..self }
    }

    fn position(&self, slot: u16) -> Option<usize> {
        self.cells.binary_search_by_key(&slot, |cell| cell.slot).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(slot: u16, options: CellOptions, neighbor: Option<u16>, handle: u8) -> Cell {
        Cell { slot, channel_offset: 0, options, neighbor: neighbor.map(NodeId), handle }
    }

    #[test]
    fn next_cell_is_computed_across_the_end_of_the_slotframe() {
        let cells = [2, 7].map(|slot| cell(slot, CellOptions::TRANSMIT, Some(1), handle::NEGOTIATED));
        let to = Schedule::new(10, cells.to_vec()).cells_to(NodeId(1), None);
        let next: Vec<_> = [0, 2, 3, 7, 8, 19, 1_000_003].iter().map(|&asn| to.next(asn, asn + 30)).collect();
        assert_eq!(next, [2, 2, 7, 7, 12, 22, 1_000_007].map(Some), "a back-off does not concern dedicated cells");
    }

    #[test]
    fn back_off_passes_over_shared_cells() {
        let schedule = Schedule::new(5, vec![cell(0, CellOptions::SHARED, None, handle::MINIMAL)]);
        let cells = schedule.cells_to(NodeId(9), None);
        assert_eq!(cells.next(1, cells.backed_off(1, 0)), Some(5));
        assert_eq!(cells.next(1, cells.backed_off(1, 3)), Some(20), "those in slots 5, 10 and 15 pass");
        assert_eq!(cells.next(17, cells.backed_off(1, 3)), Some(20), "time spent without a frame counts too");
    }

    #[test]
    fn the_most_specific_cells_count() {
        let minimal = cell(0, CellOptions::SHARED, None, handle::MINIMAL);
        let autonomous = cell(1, CellOptions::TRANSMIT_SHARED, Some(1), handle::AUTONOMOUS);
        let dedicated = cell(3, CellOptions::TRANSMIT, Some(1), handle::NEGOTIATED);
        let next = |cells: &[Cell], to| Schedule::new(5, cells.to_vec()).cells_to(NodeId(to), None).next(0, 0);
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

    /// Cells to and from any of these neighbours, or to all.
    fn any_cells_to(neighbors: u16) -> impl Strategy<Value = Vec<Cell>> {
        let options = prop::sample::select(vec![CellOptions::TRANSMIT, CellOptions::RECEIVE, CellOptions::SHARED]);
        let neighbor = prop::option::of(0..neighbors);
        let any_cell = (0..13u16, 0..16u8, options, neighbor, 0..=handle::TUNNEL).prop_map(
            |(slot, channel_offset, options, neighbor, handle)| Cell {
                channel_offset,
                ..cell(slot, options, neighbor, handle)
            },
        );
        proptest::collection::vec(any_cell, 0..12)
    }

    fn any_cells() -> impl Strategy<Value = Vec<Cell>> {
        let options = prop_oneof![
            Just(CellOptions::TRANSMIT),
            Just(CellOptions::TRANSMIT_SHARED),
            Just(CellOptions::RECEIVE),
            Just(CellOptions::SHARED),
        ];
        let any_cell = (0..13u16, options).prop_map(|(slot, options)| cell(slot, options, None, handle::NEGOTIATED));
        proptest::collection::vec(any_cell, 0..8)
    }

    proptest! {
        #[test]
        fn one_pass_finds_the_cells_to_each_neighbor(cells in any_cells_to(4)) {
            let schedule = Schedule::new(13, cells);
            let neighbors = || (0..5).map(NodeId);
            let each: Vec<_> = schedule.cells_to_each(neighbors()).map(|cells| cells.cells).collect();
            let one_by_one: Vec<_> = neighbors().map(|neighbor| schedule.cells_to(neighbor, None).cells).collect();
            prop_assert_eq!(each, one_by_one);
        }

        /// The computed result is the same as that of stepping from slot to slot.
        #[test]
        fn computing_finds_what_stepping_finds(cells in any_cells(), asn in 0..100u64, wait in 0..40u64, skip in 0..9u32) {
            let schedule = Schedule::new(13, cells);
            let to = schedule.cells_to(NodeId(1), None);
            let cell_of = |asn: u64| to.at((asn % 13) as u16);
            let usable = |at: &u64| cell_of(*at).is_some_and(|cell| !cell.options.shared || *at >= asn + wait);
            prop_assert_eq!(to.next(asn, asn + wait), (asn..asn + 60).find(usable));
            let shared = |at: &u64| cell_of(*at).is_some_and(|cell| cell.options.shared);
            if let Some(last) = (asn..asn + 13 * 9).filter(shared).nth(skip as usize) {
                let backed_off = to.backed_off(asn, skip);
                let first_again = (backed_off..).find(shared);
                prop_assert_eq!(first_again, Some(last), "{} shared cells have passed", skip);
            }
            let listened = (0..asn).filter(|&at| schedule.listens_at(at).is_some()).count() as u64;
            prop_assert_eq!(schedule.receive_slots_before(asn), listened);
        }
    }
}
