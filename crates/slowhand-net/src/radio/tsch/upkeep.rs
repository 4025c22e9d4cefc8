//! The frames of the [`load`](super::load): when a node has one to send, and what is in it.

use super::attempt::Attempt;
use super::event::{Event, LoadTimer};
use super::frame;
use super::load::Trickle;
use super::node::NEVER;
use super::state::TschState;
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::NO_DATAGRAM;
use crate::observer::FrameKind;

impl TschState {
    /// A timer of the load expires.
    pub(super) fn load_timer(&mut self, now: Instant, id: NodeId, timer: LoadTimer) {
        let Some(load) = &mut self.load else { return };
        let (config, node) = (load.config, &mut load.nodes[id.index()]);
        let mut arm = |at, timer| self.events.push(at, Event::Load(id, timer));
        match timer {
            LoadTimer::Beacon => {
                let quarter = config.beacon_period.unwrap_or_default() / 4;
                let drawn = Duration::from_micros(node.random.below(quarter.as_micros().max(1)));
                arm(now + quarter * 3 + drawn, LoadTimer::Beacon);
                node.has_beacon = true;
            }
            LoadTimer::Interval => {
                // RFC 6206 section 4.2, steps 2 and 6.
                let (Trickle { min, doublings, .. }, half) = (config.dio.unwrap_or(NO_DIO), node.interval / 2);
                let drawn = Duration::from_micros(node.random.below(half.as_micros().max(1)));
                arm(now + half + drawn, LoadTimer::Dio);
                arm(now + node.interval, LoadTimer::Interval);
                let most = min.as_micros().saturating_mul(1_u64.checked_shl(doublings.into()).unwrap_or(u64::MAX));
                node.interval = (node.interval * 2).min(Duration::from_micros(most));
                node.heard = 0;
                return;
            }
            LoadTimer::Dio => {
                let redundancy = config.dio.map_or(0, |dio| dio.redundancy);
                if redundancy > 0 && node.heard >= redundancy {
                    return;
                }
                node.has_dio = true;
            }
            LoadTimer::KeepAlive => {
                let due = node.synchronised + config.keep_alive.unwrap_or_default();
                if due > now && node.synchronised != Instant::ZERO {
                    return arm(due, LoadTimer::KeepAlive);
                }
                let Some(parent) = node.member.parent else { return };
                // If the queue is full, frames to the parent keep the node synchronised.
                if self.enqueue_own(now, id, parent, false, frame::write_keep_alive).is_err() {
                    self.keep_alive_done(now, id);
                }
                return;
            }
        }
        self.plan_broadcast(now, id);
    }

    /// Lets a node send a broadcast in its next minimal cell: a beacon without `packet`. One of each kind waits at most.
    pub(super) fn announce(&mut self, now: Instant, id: NodeId, packet: Option<(FrameKind, Vec<u8>)>) {
        let Some(load) = &mut self.load else { return };
        let node = &mut load.nodes[id.index()];
        match packet {
            None => node.has_beacon = true,
            Some((kind, _)) if node.packets.iter().any(|(waits, _)| *waits == kind) => return,
            Some(packet) => node.packets.push_back(packet),
        }
        self.plan_broadcast(now, id);
    }

    /// Plans the node's next broadcast, unless it has planned one already.
    fn plan_broadcast(&mut self, now: Instant, id: NodeId) {
        let after_now = self.config.timing.asn(now) + 1;
        if let Some(load) = self.load.as_mut().filter(|load| load.next(id) == NEVER) {
            load.plan(id, after_now);
            self.schedule_wake(id);
        }
    }

    /// A keep-alive has left the queue, sent or given up. The next one is due after the period.
    pub(super) fn keep_alive_done(&mut self, now: Instant, id: NodeId) {
        if let Some(period) = self.load.as_ref().and_then(|load| load.config.keep_alive) {
            self.events.push(now + period, Event::Load(id, LoadTimer::KeepAlive));
        }
    }

    /// Sends the broadcast of a node in the slot that begins, a beacon first. Returns false if none waits for this slot.
    pub(super) fn broadcast(&mut self, id: NodeId, asn: u64) -> bool {
        let Some(load) = self.load.as_mut().filter(|load| load.next(id) == asn) else { return false };
        let now = self.config.timing.start(asn);
        let node = &mut load.nodes[id.index()];
        let slot = (asn % u64::from(self.config.slotframe)) as u16;
        let (own, config, cells, member) = (Eui64::of_node(id), &self.config, &node.cells, &node.member);
        let (kind, frame) = if std::mem::take(&mut node.has_beacon) {
            let write = |octets: &mut _| {
                frame::write_beacon(octets, own, asn, member.hops, config.slotframe, cells.iter(), config.security)
            };
            (FrameKind::Beacon, self.pool.allocate(now, NO_DATAGRAM, false, 0, write))
        } else {
            let sequence = node.sequence;
            node.sequence = sequence.wrapping_add(1);
            let waiting = node.packets.pop_front();
            node.has_dio &= waiting.is_some();
            let (kind, payload) =
                waiting.as_ref().map_or((FrameKind::Dio, &member.dio), |(kind, payload)| (*kind, payload));
            let write = |octets: &mut _| frame::write_broadcast(octets, sequence, own, config.security, payload);
            (kind, self.pool.allocate(now, NO_DATAGRAM, false, sequence, write))
        };
        if let (Ok(frame), Some(cell)) = (frame, node.cells.at(slot)) {
            self.slot.push(Attempt::broadcast(id, frame, cell, kind));
        }
        load.plan(id, asn + 1);
        true
    }
}

/// The timer of a node without DIOs, which never runs.
const NO_DIO: Trickle = Trickle { min: Duration::ZERO, doublings: 0, redundancy: 0 };
