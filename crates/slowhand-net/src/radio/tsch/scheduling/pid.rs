//! A scheduling function with a PID controller for each neighbour in the tree, after Domingo-Prieto, Chang, Vilajosana
//! and Watteyne, "Distributed PID-based Scheduling for 6TiSCH Networks" (IEEE Communications Letters 20(5), 2016).
//!
//! Once in each period, a node counts the frames that wait for a neighbour. The error e(k) is that number minus the
//! setpoint. The controller's output is
//!
//! ```text
//! u(k) = Kp e(k) + Ki (e(0) + ... + e(k)) + Kd (e(k) - e(k - 1))
//! ```
//!
//! cells. If it is 1 or more, the node adds this number of cells. If it is -1 or less, the node deletes one cell. After
//! each action the sum restarts at zero. Its magnitude never exceeds [`PidConfig::windup`].
//!
//! After a request that brought nothing, because the neighbour has no free cell or the transaction failed, the controller
//! waits for a random time, as MSF does. Otherwise it would ask in each period for ever, and its messages, which go before
//! data, would take the shared cells. The letter is not known to say anything about it.
//!
//! The gains of the letter are not known. Gains, setpoint, period and the treatment of the sum are assumed.

use super::{Outcome, Plane, SchedulingFunction, Transaction, WAIT, draw_wait};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::radio::sixtop::{CellId, CellRequest, Request, ReturnCode};
use crate::radio::tsch::schedule::{Cell, CellOptions};
use crate::random::{Stream, Streams};
use crate::route::Routes;

/// Its SFID: a number that IANA has not assigned. Assumed, because the letter is older than the registry.
const ID: u8 = 0xf0;

/// The constants of the controller. All values are assumed; `wait` is that of MSF (RFC 9033).
#[derive(Clone, Debug)]
pub struct PidConfig {
    /// Kp, in cells per waiting frame.
    pub proportional: f64,
    /// Ki, in cells per waiting frame and period.
    pub integral: f64,
    /// Kd, in cells per frame more than one period before.
    pub derivative: f64,
    /// The desired number of waiting frames.
    pub setpoint: f64,
    /// The limit on the magnitude of the sum of errors.
    pub windup: f64,
    /// The period, in slotframes.
    pub period: u64,
    /// The most cells that the node adds at once.
    pub step: u8,
    /// The least and the greatest wait after a request that brought nothing: those of MSF.
    pub wait: (Duration, Duration),
}

impl Default for PidConfig {
    fn default() -> Self {
        Self {
            proportional: 0.5,
            integral: 0.05,
            derivative: 0.25,
            setpoint: 1.0,
            windup: 40.0,
            period: 1,
            step: 4,
            wait: WAIT,
        }
    }
}

/// The PID scheduling function on all nodes.
#[derive(Debug)]
pub struct Pid {
    config: PidConfig,
    nodes: Vec<PidNode>,
}

#[derive(Debug)]
struct PidNode {
    parent: Option<NodeId>,
    random: Stream,
    /// One for the parent, if the node has one, and one for each child.
    controllers: Vec<Controller>,
}

#[derive(Debug)]
struct Controller {
    neighbor: NodeId,
    sum: f64,
    previous: f64,
    /// It asks for nothing before this instant.
    waits_until: Instant,
}

impl Pid {
    /// Controllers for the nodes of a routing tree.
    pub fn new(config: PidConfig, routes: &Routes, streams: &Streams) -> Self {
        let ids = || (0..routes.nodes()).map(|id| NodeId(id as u16));
        let mut nodes: Vec<PidNode> = ids()
            .map(|id| PidNode {
                parent: routes.parent(id),
                random: streams.stream("scheduling function", u64::from(id.0)),
                controllers: Vec::new(),
            })
            .collect();
        for (child, parent) in ids().filter_map(|id| Some((id, routes.parent(id)?))) {
            nodes[child.index()].controllers.push(Controller::new(parent));
            nodes[parent.index()].controllers.push(Controller::new(child));
        }
        Self { config, nodes }
    }

    fn control(&mut self, node: NodeId, position: usize, plane: &mut Plane<'_>) {
        let state = &mut self.nodes[node.index()];
        let controller = &mut state.controllers[position];
        let neighbor = controller.neighbor;
        if plane.is_open(node, neighbor) || plane.now() < controller.waits_until {
            return;
        }
        let cells: Vec<CellId> = plane.schedule(node).agreed(neighbor, CellOptions::TRANSMIT).map(Cell::id).collect();
        let output = controller.output(plane.queued_for(node, neighbor) as f64, &self.config);
        let minimum = usize::from(state.parent == Some(neighbor));
        let request = |count, cells| CellRequest { metadata: 0, options: CellOptions::TRANSMIT, count, cells };
        let request = if cells.len() < minimum || output >= 1.0 {
            let count = (output as u8).clamp(1, self.config.step);
            let candidates = plane.free_cells(node, 2 * usize::from(count), &mut state.random);
            (!candidates.is_empty()).then(|| Request::Add(request(count, candidates)))
        } else if output <= -1.0 && cells.len() > minimum {
            let chosen = cells[state.random.below(cells.len() as u64) as usize];
            Some(Request::Delete(request(1, vec![chosen])))
        } else {
            None
        };
        if let Some(request) = request {
            controller.sum = 0.0;
            // If this fails, the controller asks again in the next period.
            let _ = plane.request(node, neighbor, request);
        }
    }

    /// The controller for this neighbour asks for nothing for a while.
    fn wait(&mut self, node: NodeId, neighbor: NodeId, now: Instant) {
        let PidNode { controllers, random, .. } = &mut self.nodes[node.index()];
        let after = draw_wait(self.config.wait, random);
        for controller in controllers.iter_mut().filter(|controller| controller.neighbor == neighbor) {
            controller.waits_until = now + after;
        }
    }

    fn period(&self, plane: &Plane<'_>) -> Duration {
        plane.slots(self.config.period * u64::from(plane.slotframe()))
    }
}

impl Controller {
    fn new(neighbor: NodeId) -> Self {
        Self { neighbor, sum: 0.0, previous: 0.0, waits_until: Instant::ZERO }
    }

    fn output(&mut self, waiting: f64, config: &PidConfig) -> f64 {
        let error = waiting - config.setpoint;
        self.sum = (self.sum + error).clamp(-config.windup, config.windup);
        let change = error - std::mem::replace(&mut self.previous, error);
        config.proportional * error + config.integral * self.sum + config.derivative * change
    }
}

impl SchedulingFunction for Pid {
    fn id(&self) -> u8 {
        ID
    }

    fn start(&mut self, plane: &mut Plane<'_>) {
        let period = self.period(plane);
        for node in (0..self.nodes.len()).map(|id| NodeId(id as u16)) {
            for position in 0..self.nodes[node.index()].controllers.len() {
                let first = Duration::from_micros(self.nodes[node.index()].random.below(period.as_micros()));
                plane.set_timer(node, first, position as u32);
            }
        }
    }

    fn handle_timer(&mut self, node: NodeId, timer: u32, plane: &mut Plane<'_>) {
        self.control(node, timer as usize, plane);
        plane.set_timer(node, self.period(plane), timer);
    }

    fn handle_outcome(&mut self, transaction: Transaction<'_>, outcome: Outcome<'_>, plane: &mut Plane<'_>) {
        let Transaction { node, peer, request } = transaction;
        match outcome {
            Outcome::Refused(ReturnCode::Sequence | ReturnCode::CellList) => {
                // The two schedules differ. If this fails, the next request detects it again.
                let _ = plane.request(node, peer, Request::Clear { metadata: 0 });
            }
            Outcome::Agreed(cells) if !cells.is_empty() || matches!(request, Request::Clear { .. }) => {}
            _ => self.wait(node, peer, plane.now()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of 3, 3 and -1. Their sum stops at 4. The output is 2 * error + sum / 2 + 3 * change, by hand.
    #[test]
    fn the_output_has_three_terms() {
        let config = PidConfig {
            setpoint: 1.0,
            proportional: 2.0,
            integral: 0.5,
            derivative: 3.0,
            windup: 4.0,
            ..PidConfig::default()
        };
        let mut controller = Controller::new(NodeId(1));
        let outputs = [4.0, 4.0, 0.0].map(|waiting| controller.output(waiting, &config));
        assert_eq!(outputs, [6.0 + 1.5 + 9.0, 6.0 + 2.0, -2.0 + 1.5 - 12.0]);
    }
}
