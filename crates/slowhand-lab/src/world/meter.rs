//! Watches the air for what handshakes cost, and passes on what it sees.

use super::ledger::Ledger;
use slowhand_net::radio::{FrameKind, Observer, Transmission};

/// An observer that accounts and lets another one see.
pub(super) struct Meter<'a, O> {
    ledger: &'a mut Ledger,
    next: &'a mut O,
}

impl<'a, O: Observer> Meter<'a, O> {
    pub(super) fn new(ledger: &'a mut Ledger, next: &'a mut O) -> Self {
        Self { ledger, next }
    }
}

impl<O: Observer> Observer for Meter<'_, O> {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        let octets = frame.psdu() as u64;
        match frame.kind {
            FrameKind::Data => self.ledger.carried(frame.datagram, octets),
            FrameKind::Ack => self.ledger.acknowledged(frame.datagram, octets),
            _ => self.ledger.controlled(frame.datagram, octets),
        }
        self.next.transmission(frame);
    }
}
