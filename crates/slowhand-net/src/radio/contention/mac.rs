//! The PAN as a [`Mac`].

use super::pan::{Event, FrameRadio, Pan, Rules};
use crate::address::{Addressing, NodeId};
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioTimes, RadioWork};
use crate::radio::{Indication, Mac, Msdu, NodeQueue};

impl<R: Rules> Mac for Pan<R> {
    /// A frame that is enqueued at the instant of a beacon is too late for that beacon to announce.
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let Msdu { node, next_hop, payload, datagram, discard } = msdu;
        if self.tree.parent(node) != Some(next_hop) && self.tree.parent(next_hop) != Some(node) {
            return Err(DropReason::NoCell);
        }
        if self.nodes[node.index()].queue.is_full() {
            return Err(DropReason::QueueFull);
        }
        let (form, sequence) = (R::form(self, node, next_hop), self.link(node, next_hop).next());
        let write = |octets: &mut _| form.write_data(octets, sequence, node, next_hop, payload);
        let frame = self.pool.allocate(now, datagram, discard, sequence, write)?;
        self.link(node, next_hop).take();
        match self.destinations.get_mut(frame as usize) {
            Some(place) => *place = next_hop,
            None => self.destinations.push(next_hop),
        }
        self.nodes[node.index()].queue.enter(now);
        if R::keeps(self, node, next_hop) {
            let child = &mut self.nodes[next_hop.index()];
            child.kept.push(&mut self.pool, frame);
            child.kept_count += 1;
        } else {
            self.nodes[node.index()].own.push(&mut self.pool, frame);
        }
        R::enqueued(self, now, node, next_hop);
        Ok(())
    }

    fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize {
        R::form(self, node, next_hop).data_capacity()
    }

    fn addressing(&self) -> Addressing {
        R::form(self, NodeId::ROOT, NodeId::ROOT).addressing
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        self.keep_timelines(observer.watches_radios());
        std::mem::swap(&mut self.indications, indications);
        while let Some(event) = self.events.pop_due(now) {
            self.handled += 1;
            match event {
                Event::Assessed(id) => R::assessed(self, now, id),
                Event::Send(id) => self.send(now, id),
                Event::Sent(id, on_air, trace) => self.sent(now, id, on_air, trace),
                Event::Acknowledge(id) => self.acknowledge(now, id),
                Event::Acknowledged(id, on_air, trace) => self.acknowledged(now, id, on_air, trace),
                Event::NoAcknowledgement(id) => self.no_acknowledgement(now, id),
                Event::NoData(node, wait) => self.no_data(now, node, wait),
                Event::Mac(event) => R::handle(self, now, event),
            }
        }
        std::mem::swap(&mut self.indications, indications);
        self.trace.show(observer);
    }

    fn sending_time(&self, _node: NodeId, next_hop: NodeId, frames: u64) -> Duration {
        R::sending_time(self, next_hop, frames)
    }

    fn queue(&self, node: NodeId) -> &NodeQueue {
        &self.nodes[node.index()].queue
    }

    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue {
        &mut self.nodes[node.index()].queue
    }

    fn set_joiners(&mut self, joiners: &[NodeId]) {
        joiners.iter().for_each(|&joiner| R::set_joiner(self.node(joiner)));
    }

    fn links_mut(&mut self) -> Option<&mut Links> {
        Some(self.medium.links_mut())
    }

    /// A frame that has begun is finished, with its acknowledgement. A node that backs off begins anew when its radio is
    /// on again. Frames for a sleepy device go on to expire.
    fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) -> bool {
        R::switch_radio(self, now, node, on)
    }

    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        R::radio_times(self, node, now)
    }

    fn radio_work(&self, node: NodeId, now: Instant) -> RadioWork {
        R::radio_work(self, node, now)
    }

    fn regular_frames(&self, node: NodeId, now: Instant) -> u64 {
        R::regular_frames(self, node, now)
    }

    /// All intervals are reported here. Call it at the end; call it also in between to save memory.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if observer.watches_radios() {
            self.keep_timelines(true);
            (0..self.nodes.len() as u16).for_each(|node| R::report_radio(self, now, NodeId(node), observer));
        }
    }

    fn begin_burst(&mut self, now: Instant, node: NodeId) {
        R::set_burst(self, now, node, true);
    }

    fn end_burst(&mut self, now: Instant, node: NodeId) {
        R::set_burst(self, now, node, false);
    }
}

impl<R: Rules> Pan<R> {
    /// Starts or stops keeping timelines.
    fn keep_timelines(&mut self, watched: bool) {
        if self.watched != watched {
            self.watched = watched;
            self.nodes.iter_mut().for_each(|node| node.radio.watch(watched));
        }
    }
}
