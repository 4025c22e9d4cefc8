//! CoAP messages over a session of DTLS (RFC 7252 section 9.1) or TLS (RFC 8323).

use std::collections::VecDeque;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Messages;
use crate::coap::{Coap, MAX_BODY};
use crate::config::{Negotiated, SessionConfig};
use crate::operation::Performed;
use crate::session::{Failure, FailureKind, Received, Resumable, Session, Status, Transmit, WriteError};
use crate::tls::Suite;

/// One end of a session of CoAP over DTLS or TLS.
pub(crate) struct CoapOverTls {
    below: Box<dyn Session>,
    messages: Messages,
    /// Data for the user, each with the time at which the device had decrypted it.
    received: VecDeque<(Duration, Vec<u8>)>,
    /// The last of them that was taken.
    taken: Vec<u8>,
}

impl CoapOverTls {
    /// An end over this session.
    pub(crate) fn new(below: Box<dyn Session>, coap: &Coap, config: &SessionConfig) -> Self {
        // The session below draws from the same seed: these are numbers that it never gets to.
        let mut random = Xoshiro256PlusPlus::from_seed(config.seed);
        random.jump();
        let mtu = max_message(config);
        let messages = Messages::new(coap, config.role, mtu, None, None, |now| now, move || random.next_u64());
        Self { below, messages, received: VecDeque::new(), taken: Vec::new() }
    }

    /// Passes what the session below has decrypted up, and what the messages send down.
    fn exchange(&mut self, now: Duration) {
        while let Some(Received { at, bytes }) = self.below.poll_received() {
            let octets = bytes.to_vec();
            let received = &mut self.received;
            let mut deliver = |data: &[u8]| received.push_back((at, data.to_vec()));
            self.messages.handle_input(at.max(now), &octets, &mut deliver);
        }
        if !self.is_open() {
            return;
        }
        self.messages.link.open();
        while let Some(message) = self.messages.link.poll_transmit() {
            match self.below.write(now, &message) {
                Ok(()) => {}
                Err(WriteError::Failed(failure)) => _ = self.messages.failure.get_or_insert(failure),
                Err(error @ WriteError::TooLong { .. }) => {
                    let failure = Failure { kind: FailureKind::Library { code: 0 }, reason: error.to_string() };
                    self.messages.failure.get_or_insert(failure);
                }
                // The session below has been closed.
                Err(WriteError::NotEstablished) => {}
            }
        }
    }

    /// True if messages may go down.
    fn is_open(&self) -> bool {
        matches!(self.below.status(), Status::Established { .. }) || self.below.may_write_early()
    }

    /// When the device has time for the messages of a call at `now`.
    fn at(&self, now: Duration) -> Duration {
        now.max(self.below.busy_until())
    }
}

/// The most octets of a message above a session of DTLS: one record carries it, in one datagram. `None`: neither the MTU nor the length of
/// a record bounds it.
pub fn max_message(config: &SessionConfig) -> Option<u16> {
    let of_datagram = config.mtu.map(|mtu| mtu.saturating_sub(record_overhead(config)));
    let of_record = config.family.tls().and_then(|tls| tls.max_fragment_length);
    of_datagram.into_iter().chain(of_record).min()
}

/// The most octets that a protected record has more than its content: the header of DTLS 1.2 with a connection ID and the type
/// behind the content (RFC 9146 section 4); with an AEAD nonce and tag (RFC 6655 section 3), else IV, MAC and padding (RFC 5246
/// section 6.2.3.2). DTLS 1.3 has less.
fn record_overhead(config: &SessionConfig) -> u16 {
    let tls = config.family.tls();
    let connection_id = tls.and_then(|tls| tls.version.dtls()).and_then(|dtls| dtls.connection_id);
    let header = 13 + connection_id.map_or(0, |length| u16::from(length) + 1);
    let is_cbc = tls.and_then(|tls| tls.suite).is_some_and(Suite::is_cbc);
    header + if is_cbc { 16 + 32 + 16 } else { 8 + 16 }
}

impl Session for CoapOverTls {
    fn start(&mut self, now: Duration) {
        self.below.start(now);
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        self.below.handle_input(now, input);
        self.exchange(self.at(now));
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.below.handle_timeout(now);
        if self.messages.link.deadline().is_some_and(|deadline| deadline <= now) {
            let at = self.at(now);
            let received = &mut self.received;
            self.messages.handle_timeout(at, &mut |data| received.push_back((at, data.to_vec())));
        }
        self.exchange(self.at(now));
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        if !matches!(self.status(), Status::Established { .. }) && !self.may_write_early() {
            return Err(WriteError::NotEstablished);
        }
        if data.len() > MAX_BODY {
            return Err(WriteError::TooLong { length: data.len(), limit: MAX_BODY });
        }
        // After a request that has failed before the handshake is complete, the session fails as soon as it is.
        if !data.is_empty() && self.messages.failure.is_none() {
            self.messages.write(self.at(now), data);
            self.exchange(self.at(now));
        }
        match self.status() {
            Status::Failed(failure) => Err(failure.into()),
            _ => Ok(()),
        }
    }

    fn may_write_early(&self) -> bool {
        self.below.may_write_early()
    }

    fn close(&mut self, now: Duration) {
        self.messages.link.release();
        self.exchange(self.at(now));
        self.below.close(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.below.poll_transmit()
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        let (at, data) = self.received.pop_front()?;
        self.taken = data;
        Some(Received { at, bytes: &self.taken })
    }

    fn deadline(&self) -> Option<Duration> {
        self.timers().into_iter().flatten().min()
    }

    /// With False Start both run at once.
    fn timers(&self) -> [Option<Duration>; 2] {
        let of_messages = self.messages.link.deadline().filter(|_| self.is_open() && self.messages.failure.is_none());
        [self.below.deadline(), of_messages]
    }

    fn busy_until(&self) -> Duration {
        self.below.busy_until()
    }

    fn status(&self) -> Status {
        match (self.below.status(), &self.messages.failure) {
            (Status::Established { .. }, Some(failure)) => Status::Failed(failure.clone()),
            (Status::Established { .. }, None) if self.messages.is_released => Status::Closed,
            (status, _) => status,
        }
    }

    fn completed_at(&self) -> Option<Duration> {
        self.below.completed_at()
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.below.drain_operations(receive);
    }

    fn key_log(&self) -> Vec<String> {
        self.below.key_log()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.below.resumable()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        self.below.negotiated()
    }
}
