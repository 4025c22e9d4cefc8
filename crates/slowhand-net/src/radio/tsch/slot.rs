//! What happens on the air in one slot.

use super::schedule::Cell;
use super::{Event, Tsch, hopping};
use crate::address::{Eui64, NodeId};
use crate::clock::Instant;
use crate::radio::frame::{ENHANCED_ACK, FCS, write_enhanced_ack};
use crate::radio::link::Kind;
use crate::radio::phy::{MAX_PSDU, air_time};
use crate::radio::pool::FrameIndex;
use crate::radio::{FrameKind, Observer, Transmission};

/// One node's transmission in the slot, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Attempt {
    from: NodeId,
    /// Position of the addressee among the sender's neighbours.
    neighbor: u16,
    to: NodeId,
    frame: FrameIndex,
    channel_offset: u8,
    channel: u8,
    shared: bool,
    /// When the last symbol of the data frame is sent.
    end: Instant,
    received: bool,
    acknowledged: bool,
}

impl Attempt {
    /// `from` sends its frame to the neighbour at `position`, in this cell.
    pub fn new(from: NodeId, position: usize, to: NodeId, frame: FrameIndex, cell: &Cell) -> Self {
        Self {
            from,
            neighbor: position as u16,
            to,
            frame,
            channel_offset: cell.channel_offset,
            channel: 0,
            shared: cell.options.shared,
            end: Instant::ZERO,
            received: false,
            acknowledged: false,
        }
    }

    fn ack_start(&self, tsch: &Tsch) -> Instant {
        self.end + tsch.config.timing.ack_delay
    }

    fn ack_end(&self, tsch: &Tsch) -> Instant {
        self.ack_start(tsch) + air_time(ENHANCED_ACK)
    }
}

impl Tsch {
    /// Works out the slot that begins at `start`: who receives what, who acknowledges, what each radio does.
    pub(super) fn run_slot(&mut self, start: Instant, observer: &mut impl Observer) {
        let mut attempts = std::mem::take(&mut self.slot);
        let asn = self.asn(start);
        self.send(&mut attempts, start, asn);
        for index in 0..attempts.len() {
            attempts[index].received = self.receives(&attempts, index, asn);
        }
        for index in 0..attempts.len() {
            attempts[index].acknowledged = attempts[index].received && self.acknowledges(&attempts, index);
        }
        self.report(&mut attempts, start, asn, observer);
        for attempt in &attempts {
            self.account(attempt, asn);
            let Attempt { from: node, neighbor, shared, received, acknowledged, .. } = *attempt;
            let over =
                if received { attempt.ack_end(self) } else { attempt.ack_start(self) + self.config.timing.ack_guard };
            self.events.push(over, Event::Finish { node, neighbor, shared, received, acknowledged });
        }
        attempts.clear();
        self.slot = attempts;
    }

    /// Puts the data frames on the air.
    fn send(&mut self, attempts: &mut [Attempt], start: Instant, asn: u64) {
        let slot = self.slot_offset(asn);
        for attempt in attempts {
            let air = air_time(self.pool.get(attempt.frame).octets().len() + FCS);
            attempt.channel = hopping::channel(&self.config.hopping, asn, attempt.channel_offset);
            attempt.end = start + self.config.timing.transmit_offset + air;
            let sender = &mut self.nodes[attempt.from.index()];
            sender.transmit += air;
            sender.busy = Some(asn);
            sender.receive_slots_used += u64::from(sender.schedule.listens(slot).is_some());
        }
    }

    /// Whether the addressee of an attempt receives its data frame.
    fn receives(&mut self, attempts: &[Attempt], index: usize, asn: u64) -> bool {
        let Attempt { from, to, channel, .. } = attempts[index];
        if self.listens(to, asn) != Some(channel) {
            return false;
        }
        let disturbs =
            |other: &Attempt| other.from != from && other.channel == channel && self.links.hears(other.from, to);
        !attempts.iter().any(disturbs) && self.links.delivers(from, to, channel, Kind::Data)
    }

    /// Whether the acknowledgement of a received frame reaches the sender: no other frame that the
    /// sender hears on the channel is in the air at the same time.
    fn acknowledges(&mut self, attempts: &[Attempt], index: usize) -> bool {
        let Attempt { from, to, channel, .. } = attempts[index];
        let (start, end) = (attempts[index].ack_start(self), attempts[index].ack_end(self));
        let disturbs = |other: &Attempt| {
            let data = other.end > start && self.links.hears(other.from, from);
            let (other_start, other_end) = (other.ack_start(self), other.ack_end(self));
            let ack = other.received && other_start < end && start < other_end && self.links.hears(other.to, from);
            other.from != from && other.channel == channel && (data || ack)
        };
        !attempts.iter().any(disturbs) && self.links.delivers(to, from, channel, Kind::Ack)
    }

    /// Shows the observer the frames in the order of their first symbols.
    fn report(&self, attempts: &mut [Attempt], start: Instant, asn: u64, observer: &mut impl Observer) {
        for attempt in attempts.iter() {
            let frame = self.pool.get(attempt.frame);
            observer.transmission(&Transmission {
                at: start + self.config.timing.transmit_offset,
                asn: Some(asn),
                channel: attempt.channel,
                kind: FrameKind::Data,
                from: attempt.from,
                to: attempt.to,
                datagram: frame.datagram,
                attempt: frame.attempts,
                received: attempt.received,
                octets: frame.octets(),
            });
        }
        attempts.sort_by_key(|attempt| attempt.end);
        for attempt in attempts.iter().filter(|attempt| attempt.received) {
            let frame = self.pool.get(attempt.frame);
            let mut octets = [0; MAX_PSDU];
            let length = write_enhanced_ack(&mut octets, frame.octets()[2], Eui64::of_node(attempt.from));
            observer.transmission(&Transmission {
                at: attempt.ack_start(self),
                asn: Some(asn),
                channel: attempt.channel,
                kind: FrameKind::Ack,
                from: attempt.to,
                to: attempt.from,
                datagram: frame.datagram,
                attempt: frame.attempts,
                received: attempt.acknowledged,
                octets: &octets[..length],
            });
        }
    }

    /// Accounts for the time that the radios of sender and audience are on, the data frame itself apart.
    fn account(&mut self, attempt: &Attempt, asn: u64) {
        let timing = self.config.timing;
        let air = air_time(self.pool.get(attempt.frame).octets().len() + FCS);
        let sender = &mut self.nodes[attempt.from.index()];
        if attempt.acknowledged {
            sender.listen += timing.ack_guard;
            sender.receive += air_time(ENHANCED_ACK);
        } else {
            sender.listen += timing.ack_guard * 2;
        }
        if attempt.received {
            let receiver = &mut self.nodes[attempt.to.index()];
            receiver.busy = Some(asn);
            receiver.receive_slots_used += 1;
            receiver.listen += timing.guard;
            receiver.receive += air;
            receiver.transmit += air_time(ENHANCED_ACK);
        }
        if attempt.shared {
            self.overhear(attempt, asn);
        }
    }

    /// In a shared cell others listen too; they receive the frame before they can tell that it is not
    /// for them. Whom noise or a collision kept from receiving it is accounted as listening idly.
    fn overhear(&mut self, attempt: &Attempt, asn: u64) {
        let air = air_time(self.pool.get(attempt.frame).octets().len() + FCS);
        for listener in self.links.audience(attempt.from) {
            let overhears = listener != attempt.to && self.listens(listener, asn) == Some(attempt.channel);
            let node = &mut self.nodes[listener.index()];
            if overhears {
                node.busy = Some(asn);
                node.receive_slots_used += 1;
                node.listen += self.config.timing.guard;
                node.receive += air;
            }
        }
    }

    /// The channel on which a node listens in a slot, unless its radio has been used in it already.
    fn listens(&self, node: NodeId, asn: u64) -> Option<u8> {
        let node = &self.nodes[node.index()];
        let offset = node.schedule.listens(self.slot_offset(asn)).filter(|_| node.busy != Some(asn))?;
        Some(hopping::channel(&self.config.hopping, asn, offset))
    }

    fn slot_offset(&self, asn: u64) -> u16 {
        (asn % u64::from(self.config.slotframe)) as u16
    }
}
