//! A scheduling function and a link model of your own, under real handshakes. Do they help?
//!
//! `cargo run -p slowhand-lab --example scheduling`
//!
//! ```text
//! links     scheduling  completed  median s        mJ
//! steady    static          20/20     50.71    109.61
//! steady    threshold       20/20     35.66    115.82
//! forklift  static          20/20     54.21    111.65
//! forklift  threshold       20/20     39.38    117.71
//! ```
//!
//! [`Threshold`] is the scheduling function: it implements [`SchedulingFunction`]. [`forklift`] is the link model: it
//! decides how well each link delivers, and when. [`Laboratory`] joins both to TSCH, and
//! [`Plan::with_mac`](slowhand_lab::plan::Plan::with_mac) puts that in the place of the scenario's link layer. A link
//! layer of your own would be another `Mac` in [`Laboratory::build`](PreparedMac::build).

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Mesh, PreparedMac, Scenario};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{Course, LinkQuality, Links, Variation};
use slowhand_net::radio::Mac;
use slowhand_net::radio::sixtop::{CellOptions, CellRequest, Request, ReturnCode};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::scheduling::{Outcome, Plane, SchedulingFunction, Transaction};
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::random::{Stream, Streams};
use slowhand_net::route::Routes;
use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

/// A scheduling function: once in each slotframe, a node asks each neighbour for one more cell if more than this number of
/// frames wait for it.
#[derive(Debug)]
struct Threshold {
    frames: usize,
    /// The neighbours of each node in the tree.
    neighbors: Vec<Vec<NodeId>>,
    /// One for each node, so that the draws of a node do not depend on those of others.
    random: Vec<Stream>,
}

impl Threshold {
    fn new(frames: usize, routes: &Routes, streams: &Streams) -> Self {
        let mut neighbors = vec![Vec::new(); routes.nodes()];
        for (node, parent) in routes.parents().into_iter().enumerate() {
            let Some(parent) = parent else { continue };
            neighbors[node].push(parent);
            neighbors[parent.index()].push(NodeId(node as u16));
        }
        let random = (0..routes.nodes() as u64).map(|node| streams.stream("threshold", node)).collect();
        Self { frames, neighbors, random }
    }
}

impl SchedulingFunction for Threshold {
    /// A number that IANA has not assigned.
    fn id(&self) -> u8 {
        0xf1
    }

    fn start(&mut self, plane: &mut Plane<'_>) {
        let slotframe = plane.slots(plane.slotframe().into());
        for node in 0..plane.nodes() {
            plane.set_timer(NodeId(node as u16), slotframe, 0);
        }
    }

    fn handle_timer(&mut self, node: NodeId, timer: u32, plane: &mut Plane<'_>) {
        for &neighbor in &self.neighbors[node.index()] {
            if plane.queued_for(node, neighbor) <= self.frames || plane.is_open(node, neighbor) {
                continue;
            }
            // Several candidates: the neighbour takes one of those that are free there too.
            let cells = plane.free_cells(node, 5, &mut self.random[node.index()]);
            let request = CellRequest { metadata: 0, options: CellOptions::TRANSMIT, count: 1, cells };
            // If this fails, the node asks again in the next slotframe.
            let _ = plane.request(node, neighbor, Request::Add(request));
        }
        let slotframe = plane.slots(plane.slotframe().into());
        plane.set_timer(node, slotframe, timer);
    }

    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>) {
        if let Outcome::Refused(ReturnCode::Sequence) = outcome {
            // The two schedules differ. If this fails, the next request finds it again.
            let _ = plane.request(transaction.node, transaction.peer, Request::Clear { metadata: 0 });
        }
    }
}

/// A link model: every link delivers 95 of 100 frames, but a forklift passes between nodes 1 and 2. It stops in the way
/// for two to six seconds, at another time in each world, and 1 of 5 frames passes it.
fn forklift(routes: &Routes, streams: &Streams) -> Links {
    let pairs =
        || routes.parents().into_iter().enumerate().filter_map(|(node, parent)| Some((NodeId(node as u16), parent?)));
    let qualities: Vec<LinkQuality> =
        pairs().flat_map(|(node, parent)| LinkQuality::symmetric(node, parent, 0.95)).collect();
    let mut random = streams.stream("forklift", 0);
    let arrives = Instant::ZERO + Duration::from_millis(random.below(4_000));
    let leaves = arrives + Duration::from_millis(2_000 + random.below(4_000));
    let course = Course::new(vec![(Instant::ZERO, 0.95), (arrives, 0.2), (leaves, 0.95)], None);
    let hindered = [(NodeId(1), NodeId(2), None), (NodeId(2), NodeId(1), None)];
    let courses = hindered.map(|link| (link, course.clone())).into();
    let variation = Variation { courses, ..Variation::default() };
    Links::new(routes.nodes(), &qualities, streams).varying(&Arc::new(variation), streams)
}

/// TSCH with one of each.
#[derive(Debug)]
struct Laboratory {
    has_forklift: bool,
    /// The threshold of the scheduling function. `None`: the schedule does not change.
    threshold: Option<usize>,
}

impl PreparedMac for Laboratory {
    fn build(&self, mesh: &Mesh, streams: &Streams) -> Box<dyn Mac> {
        let routes = mesh.routes();
        let links = if self.has_forklift { forklift(routes, streams) } else { mesh.links(streams) };
        let layout = Layout { slotframe: 41, shared: 1, up: 1, down: 1, autonomous: true };
        let cells = layout.cells(routes).expect("3 hops need 10 of 41 slots");
        let config = TschConfig::openwsn(layout.slotframe);
        Box::new(match self.threshold {
            Some(frames) => {
                Tsch::with_function(config, links, cells, Box::new(Threshold::new(frames, routes, streams)), streams)
            }
            None => Tsch::new(config, links, cells, streams),
        })
    }
}

/// The table.
pub fn report() -> Result<String, Box<dyn Error>> {
    const WORLDS: u64 = 20;
    let scenario: Scenario = r#"
        network = { topology = { kind = "line", hops = 3 }, link_pdr = 0.95 }
        mac = { kind = "tsch", slotframe = 41 }
        client = { device = "openmote-cc2538" }
        session = { stack = "mbedtls", suite = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", timeout_s = 60 }
    "#
    .parse()?;
    let mut table = format!("{:<9} {:<11} {:>9} {:>9} {:>9}\n", "links", "scheduling", "completed", "median s", "mJ");
    for has_forklift in [false, true] {
        for threshold in [None, Some(2)] {
            let plan = Plan::new(&scenario)?.with_mac(Box::new(Laboratory { has_forklift, threshold }));
            let records: Vec<_> = (1..=WORLDS).flat_map(|seed| plan.run(seed, &mut ())).collect();
            let mut durations: Vec<f64> = records.iter().filter_map(|record| record.duration_s).collect();
            durations.sort_by(f64::total_cmp);
            let energy: f64 = records.iter().map(|record| record.energy_client.total_mj()).sum();
            writeln!(
                table,
                "{:<9} {:<11} {:>9} {:>9.2} {:>9.2}",
                if has_forklift { "forklift" } else { "steady" },
                if threshold.is_some() { "threshold" } else { "static" },
                format!("{}/{WORLDS}", durations.len()),
                durations.get(durations.len() / 2).copied().unwrap_or(f64::NAN),
                energy / WORLDS as f64,
            )?;
        }
    }
    Ok(table)
}

#[cfg_attr(test, allow(dead_code))] // the test calls `report`
fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report()?);
    Ok(())
}
