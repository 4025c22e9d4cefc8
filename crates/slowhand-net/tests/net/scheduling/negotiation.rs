//! Answers of nodes to 6P requests, and the end of a transaction without an answer.

use super::*;
use slowhand_net::radio::sixtop::{CellId, CellRequest, Request, ReturnCode};
use slowhand_net::radio::tsch::scheduling::{Outcome, Plane, Transaction};
use std::sync::{Arc, Mutex};

/// The outcomes of transactions: when, of which node, and what the root answered.
type Outcomes = Arc<Mutex<Vec<(Instant, NodeId, Option<Result<usize, ReturnCode>>)>>>;

/// Nodes that ask the root for the same cell, at times that the test chooses.
#[derive(Debug)]
struct SameCell {
    requests: Vec<(u16, Duration)>,
    cell: CellId,
    outcomes: Outcomes,
}

impl SchedulingFunction for SameCell {
    fn id(&self) -> u8 {
        200
    }

    fn start(&mut self, plane: &mut Plane<'_>) {
        let is_free = |slot: &u16| (0..plane.nodes() as u16).all(|node| plane.is_free(NodeId(node), *slot));
        self.cell.slot = (1..plane.slotframe()).find(is_free).unwrap();
        self.requests.iter().for_each(|&(node, after)| plane.set_timer(NodeId(node), after, 0));
    }

    fn handle_timer(&mut self, node: NodeId, _: u32, plane: &mut Plane<'_>) {
        let cells = vec![self.cell];
        let request = CellRequest { metadata: 0, options: CellOptions::TRANSMIT, count: 1, cells };
        plane.request(node, NodeId::ROOT, Request::Add(request)).unwrap();
    }

    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>) {
        let node = transaction.node;
        let outcome = match outcome {
            Outcome::Agreed(cells) => Some(Ok(cells.len())),
            Outcome::Refused(code) => Some(Err(code)),
            Outcome::Failed => None,
        };
        self.outcomes.lock().unwrap().push((plane.now(), node, outcome));
    }
}

/// Nodes 1 and 2 ask the root for the same cell. The root's answer to node 1 never arrives. While the root repeats it, the
/// cell is locked (RFC 8480 section 3.4.3). Node 1 waits for its timeout (RFC 9033 section 9): 2^5 - 1 slotframes for each
/// of 15 retries. After that node 2 gets the cell, and node 1 gets none: the list has no free cell, and none is locked.
#[test]
fn a_locked_cell_is_refused_and_a_lost_answer_ends_in_a_timeout() {
    let mut links = [both(0, 1, 1.0), both(0, 2, 1.0)].concat();
    links[0].data = 1e-9; // from the root to node 1: its acknowledgements arrive
    let second = Duration::from_secs(1);
    let requests = vec![(1, Duration::ZERO), (2, second * 20), (2, second * 6_000), (1, second * 6_100)];
    let outcomes = Outcomes::default();
    let function = SameCell { requests, cell: CellId { slot: 0, channel_offset: 3 }, outcomes: Arc::clone(&outcomes) };
    let mut world = World::new(3, &links, &[], |_, _| Box::new(function));
    world.idle(seconds(12_000));
    let slotframe = Duration::from_millis(10) * u64::from(SLOTFRAME);
    let timeout = slotframe * 31 * 15;
    let outcomes = outcomes.lock().unwrap();
    let of = |number| {
        let own = outcomes.iter().filter(move |outcome| outcome.1 == NodeId(number));
        own.map(|&(at, _, outcome)| (at, outcome)).collect::<Vec<_>>()
    };
    let answers: Vec<_> = of(2).iter().map(|outcome| outcome.1).collect();
    assert_eq!(answers, [Some(Err(ReturnCode::Locked)), Some(Ok(1))]);
    assert_eq!(of(1), [(Instant::ZERO + timeout, None), (seconds(6_100) + timeout, None)]);
}
