//! Nodes that are not synchronised, and nodes without keys: a network before and while it forms.
//!
//! The radio of a node that scans is on all the time. Nothing happens for that: when a beacon is sent, each neighbour that scans is
//! asked which channel it listens to at that moment.

use super::attempt::Attempt;
use super::event::Event;
use super::frame;
use super::load::{Load, Member};
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

impl TschState {
    /// See [`Tsch::forming`](super::Tsch::forming).
    pub(super) fn form(&mut self, streams: &Streams) {
        let member = |node: u16| Member { parent: None, hops: if node == 0 { 0 } else { u8::MAX }, dio: Vec::new() };
        let members = (0..self.nodes.len() as u16).map(member).collect();
        self.add_load(Load::default(), members, streams);
        let is_autonomous = |cell: &Cell| cell.handle == handle::AUTONOMOUS;
        let formation = Formation {
            heard: VecDeque::new(),
            random: (0..self.nodes.len() as u64).map(|node| streams.stream("scan", node)).collect(),
            has_autonomous: self.nodes.iter().any(|node| node.schedule.cells().iter().any(is_autonomous)),
            slotframe: self.config.slotframe,
        };
        for (id, node) in (0..).map(NodeId).zip(&mut self.nodes) {
            for neighbor in &mut node.neighbors {
                neighbor.cells = node.schedule.cells_to(neighbor.id, formation.on_demand(neighbor.id));
                neighbor.secure(id, None, &self.config);
            }
            if id != NodeId::ROOT {
                node.has_key = false;
                node.is_off = true;
                node.activity.switch(0, false, &node.schedule);
            }
        }
        self.formation = Some(Box::new(formation));
    }

    /// See [`Tsch::scan`](super::Tsch::scan).
    pub(super) fn scan(&mut self, now: Instant, node: NodeId, dwell: Duration) {
        self.switch_radio(now, node, false);
        if let Some(load) = &mut self.load {
            load.clear(node);
        }
        let Some(formation) = &mut self.formation else { return };
        let seed = formation.random[node.index()].below(u64::MAX);
        self.nodes[node.index()].scan = Some(Scan { since: now, dwell, seed });
    }

    /// See [`Tsch::synchronise`](super::Tsch::synchronise).
    pub(super) fn synchronise(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.scanned = node.scanned.with(node.scan.take().as_ref(), now);
        self.switch_radio(now, id, true);
    }

    /// See [`Tsch::set_key`](super::Tsch::set_key).
    pub(super) fn set_key(&mut self, id: NodeId, has_key: bool) {
        self.nodes[id.index()].has_key = has_key;
        for position in 0..self.nodes[id.index()].neighbors.len() {
            let other = self.nodes[id.index()].neighbors[position].id;
            let security = self.config.security.filter(|_| has_key && self.nodes[other.index()].has_key);
            self.nodes[id.index()].neighbors[position].secure(id, security, &self.config);
            if let Some(back) = self.nodes[other.index()].position(id) {
                self.nodes[other.index()].neighbors[back].secure(other, security, &self.config);
            }
        }
    }

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
