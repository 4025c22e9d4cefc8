use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use slowhand_net::link::LinkQuality;

use super::*;

fn cell(slot: u32, from: u32, to: u32, kind: CellKind) -> Cell {
    Cell {
        slot: Integer::constant(slot),
        channel_offset: Integer::constant(0),
        from: Integer::constant(from),
        to: Integer::constant(to),
        kind,
    }
}

/// A cell in each direction between each node of a star and its root, one in a slot.
fn star(cells: u32) -> Vec<Cell> {
    let ends = |n: u32| if n.is_multiple_of(2) { (n / 2 + 1, 0) } else { (0, n / 2 + 1) };
    (0..cells).map(|n| cell(n, ends(n).0, ends(n).1, CellKind::Dedicated)).collect()
}

proptest! {
    #[test]
    fn the_first_clash_is_that_of_a_comparison_of_all_pairs(
        cells in prop::collection::vec((0u32..6, 0u32..5, 0u32..5, any::<bool>()), 0..12),
    ) {
        let kind = |shared| if shared { CellKind::Shared } else { CellKind::Dedicated };
        let cells: Vec<Cell> = cells.iter().map(|&(slot, from, to, shared)| cell(slot, from, to, kind(shared))).collect();
        let ends = |cell: &Cell| [cell.sender(), cell.receiver()];
        let clash = |cell: &Cell, other: &Cell| {
            let shared = cell.kind == CellKind::Shared && other.kind == CellKind::Shared;
            other.slot == cell.slot && !shared && ends(other).iter().any(|node| ends(cell).contains(node))
        };
        let mut pairs = (0..cells.len()).flat_map(|index| (0..index).map(move |other| (index, other)));
        let expected = pairs.find(|&(index, other)| clash(&cells[index], &cells[other]));
        prop_assert_eq!(first_clash(&cells), expected);
    }
}

/// The processor time of so many checks of a schedule of this many cells. Other programs do not count.
fn time_of_checks(cells: u32, repetitions: u32) -> Duration {
    let leaves = (cells / 2) as u16;
    let document = Document::parse(Path::new("star.toml"), "mac.kind = \"tsch\"").unwrap();
    let links: Vec<_> = (1..=leaves).flat_map(|leaf| LinkQuality::symmetric(NodeId::ROOT, NodeId(leaf), 1.0)).collect();
    let routes = Routes::shortest(usize::from(leaves) + 1, &links).unwrap();
    let tsch = Tsch {
        schedule: star(cells),
        autonomous: false,
        slotframe: Integer::constant(65_535),
        cells: Cells { shared: Integer::constant(0), up: None, down: None },
        ..Tsch::default()
    };
    let now = || -> Duration {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(line.split(' ').next().unwrap().parse().unwrap())
    };
    let began = now();
    for _ in 0..repetitions {
        check_cells(&tsch, &routes, &document).unwrap();
        check_schedule(&tsch, &routes, &document).unwrap();
    }
    now() - began
}

/// A sixteenth of the cells take about a twentieth of the time: with a comparison of all pairs it would be a 256th. The
/// caches are those of a machine with other work, so a run may take longer. None takes less.
#[test]
fn checks_take_time_in_proportion_to_the_cells() {
    let (mut few, mut many) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        (few, many) = (few.min(time_of_checks(2_000, 160)), many.min(time_of_checks(32_000, 10)));
        if many < few * 4 {
            return;
        }
    }
    panic!("2,000 cells take {few:?} for 160 checks, 32,000 take {many:?} for 10");
}
