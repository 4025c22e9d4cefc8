//! A slot on the air: its transmissions, and their receivers.

use super::activity::Use;
use super::attempt::Attempt;
use super::event::{Event, Exchange};
use super::frame::sixtop_message;
use super::hopping;
use super::node::TschNode;
use super::state::TschState;
use super::timing::AirTimes;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::NO_DATAGRAM;
use crate::link::Kind;
use crate::observer::{FrameKind, Observer, Transmission};
use crate::radio::frame::{FCS, MAX_FRAME};
use crate::radio::phy::air_time;
use crate::radio::pool::QueuedFrame;
use std::ops::Range;

impl TschState {
    /// Computes the slot that begins at `start`: which frames and acknowledgements arrive, and what each radio does.
    pub(super) fn run_slot(&mut self, start: Instant, observer: &mut dyn Observer) {
        let mut attempts = std::mem::take(&mut self.slot);
        let asn = self.config.timing.asn(start);
        self.send(&mut attempts, start, asn);
        // The frame that ends first is acknowledged first. That acknowledgement may collide with a longer frame.
        attempts.sort_by_key(|attempt| attempt.air.end);
        for index in 0..attempts.len() {
            match attempts[index].broadcast {
                None => attempts[index].received = self.receives(&attempts, index, attempts[index].to, asn),
                Some(kind) => attempts[index].reached = self.reaches_all(&attempts, index, kind, asn),
            }
        }
        for index in 0..attempts.len() {
            attempts[index].acknowledged = attempts[index].received && self.acknowledges(&attempts, index);
        }
        self.report(&attempts, asn, observer);
        for attempt in &attempts {
            self.account(attempt, asn);
            self.count_handled(attempt);
        }
        for attempt in attempts.drain(..) {
            if attempt.shared {
                self.overhear(&attempt, asn);
            }
            if attempt.broadcast.is_some() {
                self.pool.release(attempt.frame);
                continue;
            }
            let Attempt { from: node, neighbor, handle, shared, received, acknowledged, .. } = attempt;
            let timing = &self.config.timing;
            let not_acknowledged = || timing.awaited_until(attempt.air.ack_start, timing.ack_guard);
            let over = if received { attempt.air.ack_end } else { not_acknowledged() };
            let exchange = Exchange { node, neighbor, handle, shared, received, acknowledged };
            self.events.push(over, Event::Finish(exchange));
        }
        self.slot = attempts;
    }

    /// Sets channel and times of the data frames and their acknowledgements.
    fn send(&mut self, attempts: &mut [Attempt], start: Instant, asn: u64) {
        for attempt in attempts {
            let air = air_time(self.pool.get(attempt.frame).octets().len() + FCS);
            attempt.channel = hopping::channel(&self.config.hopping, asn, attempt.channel_offset);
            let sender = &mut self.nodes[attempt.from.index()];
            let ack = sender.neighbors.get(usize::from(attempt.neighbor)).map_or(Duration::ZERO, |to| to.ack_air);
            attempt.air = self.config.timing.on_air(start, air, ack);
            sender.busy = Some(asn);
        }
    }

    /// True if a node that is not synchronised receives the beacon: it scans this channel, and no other frame collides.
    fn scans(&mut self, attempts: &[Attempt], index: usize, to: NodeId, kind: FrameKind) -> bool {
        let Attempt { from, channel, air: AirTimes { start, end, .. }, .. } = attempts[index];
        let scan = self.nodes[to.index()].scan.as_ref();
        kind == FrameKind::Beacon
            && scan.and_then(|scan| scan.hears(&(start..end), &self.config.hopping)) == Some(channel)
            && self.survives(attempts, index, (from, to), start..end)
            && self.links.delivers(start..end, from, to, channel, Kind::Data)
    }

    /// True if a node receives the frame: it listens on this channel, and no other frame or acknowledgement collides.
    #[inline]
    fn receives(&mut self, attempts: &[Attempt], index: usize, to: NodeId, asn: u64) -> bool {
        let Attempt { from, channel, air: AirTimes { start, end, .. }, .. } = attempts[index];
        if self.listens(to, asn) != Some(channel) {
            return false;
        }
        self.survives(attempts, index, (from, to), start..end)
            && self.links.delivers(start..end, from, to, channel, Kind::Data)
    }

    /// True if what a node sends to another in an attempt, during this time, survives what others send at each instant of it:
    /// frames, and the acknowledgements that may follow shorter ones. More is on the air only where something begins.
    fn survives(
        &self,
        attempts: &[Attempt],
        index: usize,
        (from, to): (NodeId, NodeId),
        during: Range<Instant>,
    ) -> bool {
        let Attempt { from: own, channel, .. } = attempts[index];
        let others = || attempts.iter().filter(|other| other.from != own && other.channel == channel);
        let on_air = |at: Instant| {
            others().filter_map(move |other| match () {
                () if (other.air.start..other.air.end).contains(&at) => Some(other.from),
                () if other.received && (other.air.ack_start..other.air.ack_end).contains(&at) => Some(other.to),
                () => None,
            })
        };
        let acknowledgements = others().filter(|other| other.received).map(|other| other.air.ack_start);
        let begins = acknowledgements.filter(|&at| during.start < at && at < during.end);
        std::iter::once(during.start).chain(begins).all(|at| self.links.survives(from, to, on_air(at)))
    }

    /// True if all nodes in range that listen receive the broadcast.
    fn reaches_all(&mut self, attempts: &[Attempt], index: usize, kind: FrameKind, asn: u64) -> bool {
        let Attempt { from, channel, air: AirTimes { end, .. }, .. } = attempts[index];
        let mut all = true;
        for position in 0..self.nodes[from.index()].neighbors.len() {
            let listener = self.nodes[from.index()].neighbors[position].id;
            let received = self.receives(attempts, index, listener, asn);
            all &= received || self.listens(listener, asn) != Some(channel);
            if received {
                self.nodes[listener.index()].queue.handle_own(1);
            }
            if let Some(load) = self.load.as_mut().filter(|_| received) {
                load.heard(end, listener, from, kind);
            }
            if self.formation.is_some() && (received || self.scans(attempts, index, listener, kind)) {
                self.hear(&attempts[index], listener, kind);
            }
        }
        all
    }

    /// True if the acknowledgement of a received frame reaches the sender: the sender hears no other frame on this
    /// channel at the same time.
    fn acknowledges(&mut self, attempts: &[Attempt], index: usize) -> bool {
        let Attempt { from, to, channel, air: AirTimes { ack_start, ack_end, .. }, .. } = attempts[index];
        self.survives(attempts, index, (to, from), ack_start..ack_end)
            && self.links.delivers(ack_start..ack_end, to, from, channel, Kind::Ack)
    }

    /// Shows the observer the frames in the order of their first symbols.
    fn report(&self, attempts: &[Attempt], asn: u64, observer: &mut dyn Observer) {
        let sent = |attempt: &Attempt| {
            let frame = self.pool.get(attempt.frame);
            let kind = attempt.broadcast.unwrap_or_else(|| kind_of(frame));
            Transmission {
                asn: Some(asn),
                datagram: frame.datagram,
                queued_at: frame.queued_at,
                attempt: frame.attempts,
                received: attempt.received || attempt.reached,
                octets: frame.octets(),
                ..Transmission::new(attempt.air.start, attempt.channel, kind, attempt.from, attempt.to)
            }
        };
        attempts.iter().for_each(|attempt| observer.transmission(&sent(attempt)));
        for attempt in attempts.iter().filter(|attempt| attempt.received) {
            let Attempt { from, to, frame, neighbor, acknowledged, .. } = *attempt;
            let (at, kind, sequence) = (attempt.air.ack_start, FrameKind::Ack, self.pool.get(frame).sequence);
            let acknowledgement = &self.nodes[from.index()].neighbors[usize::from(neighbor)].acknowledgement;
            let mut octets = [0; MAX_FRAME];
            // A template without payload is never too long.
            let Ok(length) = acknowledgement.emit(sequence, &[], &mut octets) else { continue };
            let (octets, received) = (&octets[..length], acknowledged);
            observer.transmission(&Transmission { at, kind, from: to, to: from, received, octets, ..sent(attempt) });
        }
    }

    /// Accounts for the time in which the radios of sender and receiver are on.
    fn account(&mut self, attempt: &Attempt, asn: u64) {
        let listens = self.nodes[attempt.from.index()].schedule.listens_at(asn).is_some();
        let sends = match () {
            () if attempt.broadcast.is_some() => Use::TxData,
            () if attempt.acknowledged => Use::TxDataRxAck,
            () => Use::TxDataRxAckNone,
        };
        self.use_slot(attempt.from, asn, listens, sends, &attempt.air);
        if attempt.received {
            self.use_slot(attempt.to, asn, true, Use::RxDataTxAck, &attempt.air);
        }
    }

    /// Counts what the processors have to do for this attempt beside the data frames that their queues know: frames of the link layer
    /// itself, frames that are sent again, and the acknowledgements, which software makes and reads here.
    fn count_handled(&mut self, attempt: &Attempt) {
        let frame = self.pool.get(attempt.frame);
        let is_own = frame.datagram == NO_DATAGRAM || attempt.broadcast.is_some();
        let is_repeated = frame.attempts > 0;
        let Attempt { from, to, received, acknowledged, .. } = *attempt;
        self.nodes[from.index()].queue.handle_own(u64::from(is_own || is_repeated) + u64::from(acknowledged));
        if received {
            // A data frame counts when it is passed up.
            self.nodes[to.index()].queue.handle_own(u64::from(is_own) + 1);
        }
    }

    /// Accounts for other nodes that listen in a shared cell. They receive the whole frame before they know that it is
    /// not for them. If frames collide, a listener receives one of them. Simplification: a node that hears a frame from
    /// a dedicated cell of others is accounted as idle.
    fn overhear(&mut self, attempt: &Attempt, asn: u64) {
        let Attempt { from, to, channel, .. } = *attempt;
        for position in 0..self.nodes[from.index()].neighbors.len() {
            let listener = self.nodes[from.index()].neighbors[position].id;
            if listener != to && self.listens(listener, asn) == Some(channel) {
                self.use_slot(listener, asn, true, Use::RxData, &attempt.air);
            }
        }
    }

    #[inline]
    fn use_slot(&mut self, node: NodeId, asn: u64, listens: bool, to: Use, air: &AirTimes) {
        let TschNode { activity, schedule, busy, .. } = &mut self.nodes[node.index()];
        *busy = Some(asn);
        if self.watched {
            activity.show_idle(node, asn, &self.config.timing, schedule, &mut self.timeline);
        }
        activity.use_slot(asn, listens, to, air, &self.config.timing);
        if self.watched {
            activity.show_used(node, &mut self.timeline);
        }
    }

    /// The channel on which a node listens in a slot. `None` if its radio has been used in the slot already.
    fn listens(&self, node: NodeId, asn: u64) -> Option<u8> {
        let node = &self.nodes[node.index()];
        let offset = node.schedule.listens_at(asn).filter(|_| node.busy != Some(asn) && !node.is_off)?;
        Some(hopping::channel(&self.config.hopping, asn, offset))
    }
}

/// The kind of a frame to one neighbour.
fn kind_of(frame: &QueuedFrame) -> FrameKind {
    match frame.datagram {
        NO_DATAGRAM if sixtop_message(frame.octets()).is_some() => FrameKind::SixTop,
        NO_DATAGRAM => FrameKind::KeepAlive,
        _ => FrameKind::Data,
    }
}
