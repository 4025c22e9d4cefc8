//! Watches the air for what handshakes cost, and passes on what it sees.

use super::ledger::Ledger;
use crate::record::Holders;
use slowhand_net::address::Host;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::lowpan::recovery::{Rfrag, RfragAck};
use slowhand_net::observer::{BufferLevel, FrameKind, Observer, RadioInterval, Reception, Transmission};
use slowhand_net::radio::frame::{FCS, FrameView};

/// An observer that accounts and lets another one see.
pub(super) struct Meter<'a> {
    ledger: &'a mut Ledger,
    /// True if the link layer acknowledges data frames. If not, no node notices that one is lost.
    is_acknowledged: bool,
    next: &'a mut dyn Observer,
}

impl<'a> Meter<'a> {
    pub(super) fn new(ledger: &'a mut Ledger, is_acknowledged: bool, next: &'a mut dyn Observer) -> Self {
        Self { ledger, is_acknowledged, next }
    }
}

impl Observer for Meter<'_> {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        let octets = (frame.octets.len() + FCS) as u64;
        match frame.kind {
            FrameKind::Data => self.ledger.carried(frame.datagram, octets),
            FrameKind::Ack => self.ledger.acknowledged(frame.datagram, octets),
            _ => self.ledger.controlled(frame.datagram, octets),
        }
        if !self.is_acknowledged && frame.kind == FrameKind::Data && !frame.received && !is_recovered(frame) {
            self.ledger.lost(frame.datagram, DropReason::FrameLost, Host::Node(frame.to), Holders::default());
        }
        self.next.transmission(frame);
    }

    fn watches_receptions(&self) -> bool {
        self.next.watches_receptions()
    }

    fn reception(&mut self, reception: &Reception) {
        self.next.reception(reception);
    }

    fn watches_radios(&self) -> bool {
        self.next.watches_radios()
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.next.radio(interval);
    }

    fn watches_buffers(&self) -> bool {
        self.next.watches_buffers()
    }

    fn buffers(&mut self, level: &BufferLevel) {
        self.next.buffers(level);
    }
}

/// True if a data frame carries a recoverable fragment or the acknowledgement of one (RFC 8931): its loss does not go
/// unnoticed.
pub(crate) fn is_recovered(frame: &Transmission<'_>) -> bool {
    let frame = FrameView::parse(frame.octets);
    let dispatch = frame.ok().and_then(|frame| frame.payload().first());
    dispatch.is_some_and(|&octet| Rfrag::is_dispatch(octet) || RfragAck::is_dispatch(octet))
}

#[cfg(test)]
mod tests;
