//! Nodes that are not synchronised, and nodes without keys: a network before and while it forms.
//!
//! The radio of a node that scans is on all the time. Nothing happens for that: when a beacon is sent, each neighbour that scans is
//! asked which channel it listens to at that moment.

use super::Tsch;
use super::attempt::Attempt;
use super::event::Event;
use super::frame;
use super::load::{Load, Member};
use super::node::TschNode;
use super::scan::{Formation, Scan};
use super::schedule::{Cell, handle};
use super::state::TschState;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::FrameKind;
use crate::radio::frame::FrameView;
use crate::radio::{Indication, Payload};
use crate::random::Streams;
use std::collections::VecDeque;

impl Tsch {
    /// This network before it forms: only the root is synchronised and has keys. The caller says what the other nodes do.
    ///
    /// Autonomous cells to neighbours are there on demand: while frames wait for them (RFC 9033 section 3).
    pub fn forming(mut self, streams: &Streams) -> Self {
        let state = &mut self.state;
        let member = |node: u16| Member { parent: None, hops: if node == 0 { 0 } else { u8::MAX }, dio: Vec::new() };
        let members = (0..state.nodes.len() as u16).map(member).collect();
        state.add_load(Load::default(), members, streams);
        let is_autonomous = |cell: &Cell| cell.handle == handle::AUTONOMOUS;
        let formation = Formation {
            heard: VecDeque::new(),
            random: (0..state.nodes.len() as u64).map(|node| streams.stream("scan", node)).collect(),
            has_autonomous: state.nodes.iter().any(|node| node.schedule.cells().iter().any(is_autonomous)),
            slotframe: state.config.slotframe,
        };
        for (id, node) in (0..).map(NodeId).zip(&mut state.nodes) {
            for neighbor in &mut node.neighbors {
                neighbor.cells = node.schedule.cells_to(neighbor.id, formation.on_demand(neighbor.id));
                neighbor.secure(id, None, &state.config);
            }
            if id != NodeId::ROOT {
                node.has_key = false;
                node.is_off = true;
                node.activity.switch(0, false, &node.schedule);
            }
        }
        state.formation = Some(Box::new(formation));
        self
    }

    /// A node listens for beacons: `dwell` on a channel of the hopping sequence, then on another one, each drawn at random. It is no
    /// longer synchronised, and does not send the broadcasts that wait.
    pub fn scan(&mut self, now: Instant, node: NodeId, dwell: Duration) {
        let state = &mut self.state;
        state.switch_radio(now, node, false);
        if let Some(load) = &mut state.load {
            load.clear(node);
        }
        let Some(formation) = &mut state.formation else { return };
        let seed = formation.random[node.index()].below(u64::MAX);
        state.nodes[node.index()].scan = Some(Scan { since: now, dwell, seed });
    }

    /// A node that scans is synchronised, from the next slot on.
    pub fn synchronise(&mut self, now: Instant, node: NodeId) {
        let TschNode { scan, scanned, .. } = &mut self.state.nodes[node.index()];
        *scanned = scanned.with(scan.take().as_ref(), now);
        self.state.switch_radio(now, node, true);
    }

    /// A node gets the keys of the network, or loses them.
    pub fn set_key(&mut self, node: NodeId, has_key: bool) {
        let TschState { nodes, config, .. } = &mut self.state;
        nodes[node.index()].has_key = has_key;
        for position in 0..nodes[node.index()].neighbors.len() {
            let other = nodes[node.index()].neighbors[position].id;
            let security = config.security.filter(|_| has_key && nodes[other.index()].has_key);
            nodes[node.index()].neighbors[position].secure(node, security, config);
            if let Some(back) = nodes[other.index()].position(node) {
                nodes[other.index()].neighbors[back].secure(other, security, config);
            }
        }
    }
}

impl TschState {
    /// A node has heard a broadcast. It knows what is in it when the frame has ended.
    pub(super) fn hear(&mut self, attempt: &Attempt, node: NodeId, kind: FrameKind) {
        let octets = self.pool.get(attempt.frame).octets();
        let from = attempt.from;
        let is_readable = self.nodes[node.index()].has_key || self.config.security.is_none();
        let heard = match kind {
            FrameKind::Beacon => {
                frame::join_metric(octets).map(|join_metric| Indication::Beacon { node, from, join_metric })
            }
            _ if !is_readable => None,
            _ => FrameView::parse_decrypted(octets).ok().map(|frame| Indication::Multicast {
                node,
                from,
                payload: Payload::new(frame.payload()),
            }),
        };
        if let (Some(heard), Some(formation)) = (heard, &mut self.formation) {
            formation.heard.push_back(heard);
            self.events.push(attempt.air.end, Event::Heard);
        }
    }

    /// The first thing that was heard and has not been told.
    pub(super) fn heard(&mut self) -> Option<Indication> {
        self.formation.as_mut()?.heard.pop_front()
    }
}
