//! DTLS as a resource of CoAP (Capossele et al. 2015, whose text could not be read; draft-keoh-dtls-profile-iot-00 and
//! draft-schmertmann-dice-codtls-01 have the same idea): a flight of the client is the body of a POST, and what the server sends to it the
//! body of the response, both in blocks if they are long. CoAP alone repeats what is lost, and its blocks take the place of DTLS's fragments.
//!
//! *Assumed*: after the handshake records go in datagrams of their own, as without CoAP, and share the port: the first octet of a datagram
//! tells them apart (RFC 7983 section 7). The server keeps its cookie unless it is told otherwise: the response to the first POST may be
//! much longer than the request, and CoAP has not verified the address of the client then.
//!
//! All orders of flights work the same way. What an end sends while it processes a body answers the request that brought the body; if there
//! is no such request it is a request of its own. A request to which DTLS has no answer gets an empty one.

use std::collections::VecDeque;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_coap::message::is_coap;

use super::{Messages, Resource};
use crate::capabilities::{Capabilities, MaximumTimeout};
use crate::coap::Coap;
use crate::config::{Negotiated, Role, SessionConfig, Timers};
use crate::operation::Performed;
use crate::session::{Failure, FailureKind, Received, Resumable, Session, Status, Transmit, WriteError};

/// One end of a session of DTLS whose flights are in CoAP messages.
pub(crate) struct DtlsInCoap {
    dtls: Box<dyn Session>,
    messages: Messages,
    /// The most octets of application data in one datagram, if there is a limit.
    most: Option<usize>,
    is_client: bool,
    /// The time that a client waits when all that it has sent was answered, and DTLS is not content: the server ignores records
    /// that it cannot verify. It is as long as the server would send a request of its own (MAX_TRANSMIT_WAIT; that it is this time
    /// is *assumed*).
    patience: Duration,
    /// When it gives up then.
    gives_up: Option<Duration>,
    sent: VecDeque<Sent>,
    /// The last of them that was taken.
    taken: Sent,
}

/// A datagram.
#[derive(Default)]
struct Sent {
    at: Duration,
    octets: Vec<u8>,
    /// [`Transmit::contents`].
    contents: Vec<u8>,
}

/// The session of DTLS in one whose flights are in CoAP: the size of its datagrams has no limit, and its timer does not run out.
pub(crate) fn below(config: &SessionConfig, capabilities: &Capabilities) -> SessionConfig {
    let first = capabilities.datagrams.as_ref().map(|datagrams| match datagrams.timer.maximum {
        MaximumTimeout::Chosen(_) => datagrams.timer.most,
        MaximumTimeout::TimesFirst(times) => datagrams.timer.most / times.max(1),
    });
    let timers = Timers { first, ..Timers::default() };
    SessionConfig { in_coap: None, mtu: None, datagram_packing: true, timers, ..config.clone() }
}

impl DtlsInCoap {
    /// An end around this session, whose configuration is [`below`].
    pub(crate) fn new(dtls: Box<dyn Session>, coap: &Coap, config: &SessionConfig) -> Self {
        // The session and what is above it draw from the same seed: these are numbers that they never get to.
        let mut random = Xoshiro256PlusPlus::from_seed(config.seed);
        random.long_jump();
        let random = move || random.next_u64();
        let mut messages = Messages::new(coap, config.role, config.mtu, None, None, |now| now, random);
        messages.resource = Resource::Dtls;
        let most = super::max_message(config).map(usize::from);
        let patience = coap.transmission.max_transmit_wait();
        let is_client = config.role == Role::Client;
        Self {
            dtls,
            messages,
            most,
            is_client,
            patience,
            gives_up: None,
            sent: VecDeque::new(),
            taken: Sent::default(),
        }
    }

    /// When the device has time for what a call at `now` asks of it.
    fn at(&self, now: Duration) -> Duration {
        now.max(self.dtls.busy_until())
    }

    fn is_established(&self) -> bool {
        matches!(self.dtls.status(), Status::Established { .. } | Status::Closed)
    }

    /// Processes the bodies that the messages have brought.
    fn take(&mut self, now: Duration, bodies: Vec<Vec<u8>>) {
        for body in bodies {
            self.dtls.handle_input(self.at(now), &body);
        }
        self.carry(now);
    }

    /// Carries what DTLS sends with the messages, and gives each request of the peer its answer.
    fn carry(&mut self, now: Duration) {
        let at = self.at(now);
        for flight in flights(&mut *self.dtls) {
            self.messages.write(at, &flight);
        }
        while !self.messages.waiting.is_empty() {
            self.messages.write(at, &[]);
        }
        let is_waiting = self.is_client && matches!(self.dtls.status(), Status::Handshaking);
        let is_idle = is_waiting && self.messages.requests.is_empty() && self.messages.bodies.is_empty();
        self.gives_up = is_idle.then(|| self.gives_up.unwrap_or(at.saturating_add(self.patience)));
        self.send(at);
    }

    /// Sends the messages that are ready.
    fn send(&mut self, at: Duration) {
        while let Some(octets) = self.messages.link.poll_transmit() {
            self.sent.push_back(Sent { at, octets, contents: Vec::new() });
        }
    }

    /// Sends the datagrams that DTLS sends after the handshake.
    fn pass(&mut self) {
        while let Some(Transmit { at, bytes, contents }) = self.dtls.poll_transmit() {
            self.sent.push_back(Sent { at, octets: bytes.to_vec(), contents: contents.to_vec() });
        }
    }
}

/// The datagrams that DTLS sends, as few bodies as possible: another record may follow where each record says its length.
fn flights(dtls: &mut dyn Session) -> Vec<Vec<u8>> {
    let mut flights: Vec<Vec<u8>> = Vec::new();
    let mut is_open = false;
    while let Some(Transmit { bytes, .. }) = dtls.poll_transmit() {
        match flights.last_mut().filter(|_| is_open) {
            Some(flight) => flight.extend_from_slice(bytes),
            None => flights.push(bytes.to_vec()),
        }
        is_open = has_lengths(bytes);
    }
    flights
}

/// True if all records of a datagram have the header of RFC 6347 section 4.1, where the length has its place. Those of DTLS 1.3, of the
/// lean profile and with connection IDs may have another one.
fn has_lengths(mut datagram: &[u8]) -> bool {
    const CHANGE_CIPHER_SPEC: u8 = 20;
    const APPLICATION_DATA: u8 = 23;
    while let Some((header, rest)) = datagram.split_first_chunk::<13>() {
        let length = u16::from_be_bytes([header[11], header[12]]);
        let Some(after) = rest.get(usize::from(length)..) else { return false };
        if !(CHANGE_CIPHER_SPEC..=APPLICATION_DATA).contains(&header[0]) || header[1] != 0xfe {
            return false;
        }
        datagram = after;
    }
    datagram.is_empty()
}

impl Session for DtlsInCoap {
    fn start(&mut self, now: Duration) {
        self.dtls.start(now);
        self.carry(now);
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        if is_coap(input) {
            let (at, mut bodies) = (self.at(now), Vec::new());
            self.messages.handle_input(at, input, &mut |body| bodies.push(body.to_vec()));
            self.take(at, bodies);
        } else if self.is_established() {
            self.dtls.handle_input(now, input);
            self.pass();
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            let (at, mut bodies) = (self.at(now), Vec::new());
            self.messages.handle_timeout(at, &mut |body| bodies.push(body.to_vec()));
            self.take(at, bodies);
            if self.gives_up.is_some_and(|until| until <= now) {
                let reason = "the server has no answer to the last flight".to_owned();
                self.messages.failure.get_or_insert(Failure { kind: FailureKind::TimedOut, reason });
            }
        }
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        if let Some(limit) = self.most.filter(|most| data.len() > *most && self.is_established()) {
            return Err(WriteError::TooLong { length: data.len(), limit });
        }
        if let Some(failure) = &self.messages.failure {
            return Err(failure.clone().into());
        }
        let written = self.dtls.write(now, data);
        self.pass();
        written
    }

    fn close(&mut self, now: Duration) {
        self.dtls.close(now);
        self.pass();
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.taken = self.sent.pop_front()?;
        let Sent { at, octets, contents } = &self.taken;
        Some(Transmit { at: *at, bytes: octets, contents })
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        self.dtls.poll_received()
    }

    /// The timer of DTLS is not here: what it would repeat, CoAP does.
    fn deadline(&self) -> Option<Duration> {
        let deadlines = [self.messages.link.deadline(), self.gives_up];
        deadlines.into_iter().flatten().min().filter(|_| self.messages.failure.is_none())
    }

    fn busy_until(&self) -> Duration {
        self.dtls.busy_until()
    }

    fn status(&self) -> Status {
        match (self.dtls.status(), &self.messages.failure) {
            (Status::Handshaking | Status::Established { .. }, Some(failure)) => Status::Failed(failure.clone()),
            (status, _) => status,
        }
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.dtls.drain_operations(receive);
    }

    fn key_log(&self) -> Vec<String> {
        self.dtls.key_log()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.dtls.resumable()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        self.dtls.negotiated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_a_length_end_a_body() {
        let record =
            |kind: u8, length: u8| [&[kind, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, length][..], &[7; 3]].concat();
        assert!(has_lengths(&record(22, 3)));
        assert!(has_lengths(&[record(20, 3), record(22, 3)].concat()));
        // A connection ID, a protected record of DTLS 1.3, a short header of the lean profile, half a record.
        for datagram in [&record(25, 3)[..], &record(0x2c, 3), &[29, 0, 0, 1, 2, 3], &record(22, 4)] {
            assert!(!has_lengths(datagram), "{datagram:?}");
        }
    }
}
