//! One connection: what client and server have in common.

use subtle::ConstantTimeEq;

use super::ack::{self, Acknowledgements};
use super::certificate_types;
use super::record::{self, InClear, Inbound, Layout, MOST_FORGERIES, MOST_RECORDS, Number, Outbound, Records};
use super::schedule::Secret;
use crate::agreement::Share;
use crate::alert;
use crate::allowance::Allowance;
use crate::codec::{Full, Reader, Writer};
use crate::config::Packing;
use crate::connection_id::ConnectionId;
use crate::content_type::ContentType;
use crate::credentials::Identity;
use crate::crypto::{Aead, Crypto, DIGEST, Hash};
use crate::features::{CERTIFICATES, Feature, Slot, Switch};
use crate::flight::{Flight, Part};
use crate::handshake::{self, Kind};
use crate::reassembly::Reassembly;
use crate::replay;
use crate::status::{Failure, SendError, Status};
use crate::time::{Expired, Instant, Timeouts, Timer};

/// user_canceled: a close_notify follows (RFC 8446, section 6.1).
const USER_CANCELED: u8 = 90;

/// Epochs (RFC 9147, section 6.1).
const HANDSHAKE: u16 = 2;
const APPLICATION: u16 = 3;

/// Records after which this end's key is updated: half of what a key may encrypt. (Assumed: enough for the other half to
/// cover the time until the peer knows.)
const UPDATE_AFTER_RECORDS: u64 = MOST_RECORDS / 2;

/// Forged records after which the peer is asked for another key: before they can come to 2^7 with a tag of 8 octets
/// (RFC 9147, appendix B.3), and to half of what is allowed with one of 16.
const fn update_after_forgeries(aead: Aead) -> u32 {
    match aead {
        Aead::Ccm8 => 1 << 6,
        Aead::Ccm | Aead::Gcm => MOST_FORGERIES / 2,
    }
}

/// The message that the handshake waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expects {
    /// The client: HelloRetryRequest or ServerHello.
    Hello,
    /// The client: the ServerHello that answers its second ClientHello.
    ServerHello,
    /// The client: to send its first ClientHello again. The server does not know the cookie in the second one.
    FirstHello,
    /// The client.
    EncryptedExtensions,
    /// Both, of the peer. A client also takes a CertificateRequest before it.
    Certificate,
    CertificateVerify,
    /// Both, of the peer.
    Finished,
    /// Nothing: the handshake is complete.
    Nothing,
}

/// Messages after the handshake that wait until an earlier one is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    /// A KeyUpdate, and whether it asks the peer for one.
    key_update: Option<bool>,
    /// A NewConnectionId without any IDs: this end has no spare ones.
    connection_ids: bool,
}

/// One end's half of a connection. `BUFFER` octets hold a flight that is sent, and as many one that arrives.
pub(crate) struct Connection<C: Crypto, const BUFFER: usize> {
    pub(crate) status: Status,
    pub(crate) is_client: bool,
    pub(crate) expects: Expects,
    pub(crate) sender: Sender<C, BUFFER>,
    pub(crate) incoming: Reassembly<BUFFER>,
    pub(crate) inbound: Inbound,
    acknowledgements: Acknowledgements,
    /// The number of the peer's next message.
    pub(crate) next: u16,
    /// The number of the peer's message that this end's flight answers: the last of the peer's flight before it.
    answered: Option<u16>,
    pub(crate) timer: Timer,
    /// Somebody says that the peer has parts of the flight: anybody can have said it. It is believed until the wait is over.
    is_acknowledged_in_clear: bool,
    /// A flight was begun since the record that is processed came: it acknowledges that record.
    has_answered: bool,
    pub(crate) client_random: [u8; 32],
    /// A server: the identity of the pre-shared key that the client has.
    pub(crate) identity: Identity,
    /// The ID that this end offers.
    pub(crate) own_id: Option<ConnectionId>,
    /// The key pair of a client, until the server has answered.
    pub(crate) share: Option<Share>,
    pub(crate) certificates: Slot<CERTIFICATES, certificate_types::State>,
    /// The handshake secret; after the server's Finished, none.
    pub(crate) stage: Option<Secret>,
    /// The traffic secrets of this end and of the peer.
    traffic: Option<[Secret; 2]>,
    /// The secrets of application data, which a server has before the handshake is complete.
    application: Option<[Secret; 2]>,
    owed: Owed,
    /// An alert that waits to be sent, and its epoch.
    pub(crate) alert: Option<([u8; 2], u16)>,
    /// The last alert in clear.
    heard: Option<u8>,
    /// The number of octets that may still be sent to an address that nobody has verified.
    pub(crate) allowance: Allowance,
}

/// The flight of this end, and the transcript of the handshake.
pub(crate) struct Sender<C: Crypto, const BUFFER: usize> {
    pub(crate) flight: Flight<BUFFER>,
    /// The epochs of the two parts of the flight.
    pub(crate) epochs: [u16; 2],
    pub(crate) outbound: Outbound,
    pub(crate) transcript: C::Hash,
    /// The number of the next message.
    pub(crate) next: u16,
}

/// The header of a message in the transcript: without what fragments need (RFC 9147, section 5.2).
pub(crate) fn transcript_header(kind: Kind, length: usize) -> [u8; 4] {
    let [.., l0, l1, l2] = (length as u32).to_be_bytes();
    [kind.0, l0, l1, l2]
}

impl<C: Crypto, const BUFFER: usize> Sender<C, BUFFER> {
    /// Adds a message to the flight and to the transcript.
    pub(crate) fn send(
        &mut self,
        kind: Kind,
        body: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
    ) -> Result<(), Full> {
        self.send_bound(kind, body, |_, _| {})
    }

    /// Sends a message that `bind` completes, from the transcript before it.
    pub(crate) fn send_bound(
        &mut self,
        kind: Kind,
        body: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
        bind: impl FnOnce(&C::Hash, &mut [u8]),
    ) -> Result<(), Full> {
        let following = self.next.checked_add(1).ok_or(Full)?;
        let sent = self.flight.push(kind, self.next, body)?;
        bind(&self.transcript, sent);
        self.transcript.update(&transcript_header(kind, sent.len()));
        self.transcript.update(sent);
        self.next = following;
        Ok(())
    }

    /// Adds a message of the peer to the transcript.
    pub(crate) fn note(&mut self, kind: Kind, body: &[u8]) {
        self.transcript.update(&transcript_header(kind, body.len()));
        self.transcript.update(body);
    }

    /// Begins the transcript with the digest of the first ClientHello, because a HelloRetryRequest answers it
    /// (RFC 8446, section 4.4.1).
    pub(crate) fn begin_again(&mut self, crypto: &mut C, first_hello: &[u8; DIGEST]) {
        self.transcript = crypto.hash();
        self.note(Kind::MessageHash, first_hello);
    }
}

/// The fate of a fragment, from the best to the worst: the order counts. A record has the worst fate of its fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    /// It was what comes next.
    InOrder,
    /// It is kept, or was processed before; but it was not what comes next.
    OutOfOrder,
    /// There is no use or no room for it.
    Dropped,
}

impl<C: Crypto, const BUFFER: usize> Connection<C, BUFFER> {
    /// A connection that expects its first message. A server has the ClientHello already.
    pub(crate) fn new(crypto: &mut C, is_client: bool, timeouts: Timeouts) -> Self {
        let transcript = crypto.hash();
        let sender =
            Sender { flight: Flight::new(), epochs: [0, HANDSHAKE], outbound: Outbound::new(), transcript, next: 0 };
        Self {
            status: Status::Handshaking,
            is_client,
            expects: if is_client { Expects::Hello } else { Expects::Finished },
            sender,
            incoming: Reassembly::new(),
            inbound: Inbound::new(),
            acknowledgements: Acknowledgements::new(),
            next: 0,
            answered: None,
            timer: Timer::new(timeouts, |octets| crypto.random(octets)),
            has_answered: false,
            is_acknowledged_in_clear: false,
            client_random: [0; 32],
            identity: Identity::EMPTY,
            own_id: None,
            share: None,
            certificates: Feature::<CERTIFICATES>::slot(certificate_types::State::default),
            stage: None,
            traffic: None,
            application: None,
            owed: Owed::default(),
            alert: None,
            heard: None,
            allowance: Allowance::default(),
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        [self.timer.deadline(), self.acknowledgements.deadline()].into_iter().flatten().min()
    }

    /// Begins to wait for the answer to a new flight, which answers the peer's message `answered`.
    pub(crate) fn wait(&mut self, answered: Option<u16>) {
        self.answered = answered;
        (self.has_answered, self.is_acknowledged_in_clear) = (true, false);
        self.acknowledgements.clear();
        self.timer.start();
    }

    /// Begins a flight that is encrypted with the latest keys.
    pub(crate) fn begin_flight(&mut self) {
        self.sender.flight.clear();
        let epoch = self.sender.outbound.epoch();
        self.sender.epochs = [epoch, epoch];
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.acknowledgements.tick(now, self.acknowledgement_wait());
        match self.timer.expire(now) {
            // The peer has the flight, but this end does not have all of the answer.
            Some(Expired::SendAgain) if self.sender.flight.is_empty() => self.acknowledgements.ask_now(),
            Some(Expired::SendAgain) => {
                if core::mem::take(&mut self.is_acknowledged_in_clear) {
                    self.sender.flight.forget_acknowledged();
                }
                self.sender.flight.restart();
            }
            // The peer sleeps. Its next record makes this end go on.
            Some(Expired::GiveUp) if self.is_after_handshake() => {}
            Some(Expired::GiveUp) => self.end(Status::Failed(Failure::TimedOut(self.heard))),
            None => {}
        }
    }

    /// The time that this end waits for the rest of a flight before it acknowledges what it has (RFC 9147, section 7.1).
    const fn acknowledgement_wait(&self) -> u32 {
        self.timer.current() / 4
    }

    /// Writes the next datagram. Returns 0 if there is nothing to send.
    pub(crate) fn poll_transmit(&mut self, crypto: &mut C, now: Instant, packing: Packing, output: &mut [u8]) -> usize {
        let outbound = &mut self.sender.outbound;
        self.timer.note(now);
        if let Some((alert, epoch)) = self.alert.take() {
            let written = outbound.write(crypto, (ContentType::Alert, epoch), true, &[&alert], output);
            return written.map_or(0, |(written, _)| written);
        }
        let wait = self.acknowledgement_wait();
        let outbound = &mut self.sender.outbound;
        self.acknowledgements.tick(now, wait);
        let epoch = outbound.epoch();
        let room = output.len().saturating_sub(outbound.overhead(epoch, true)).min(outbound.limit);
        if let Some((numbers, length)) = self.acknowledgements.take(room)
            && let Ok((written, _)) =
                outbound.write(crypto, (ContentType::Acknowledgement, epoch), true, &[&numbers[..length]], output)
        {
            return written;
        }
        let Sender { flight, outbound, epochs, .. } = &mut self.sender;
        let mut records = Records { crypto, outbound, epochs: *epochs };
        let mut written = flight.write(&mut records, packing, output);
        while written > 0 && !self.allowance.take(written) {
            written = flight.write(&mut records, packing, output);
        }
        // A flight that cannot be sent waits too, and so has an end.
        if written == 0 || flight.is_sent() {
            self.timer.sent(now);
        }
        written
    }

    /// Encrypts application data into a datagram.
    pub(crate) fn send(&mut self, crypto: &mut C, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        if self.status != Status::Established {
            return Err(SendError::NotEstablished);
        }
        let outbound = &mut self.sender.outbound;
        let of = (ContentType::ApplicationData, outbound.epoch());
        let written = outbound.write(crypto, of, true, &[data], output);
        if outbound.count() >= UPDATE_AFTER_RECORDS && self.sender.flight.is_empty() {
            self.update_keys(false);
        }
        written.map(|(written, _)| written).map_err(|Full| SendError::TooLong)
    }

    /// The most octets of application data in a datagram of `room` octets.
    pub(crate) fn max_data(&self, room: usize) -> usize {
        let outbound = &self.sender.outbound;
        room.saturating_sub(outbound.overhead(outbound.epoch(), true)).min(outbound.limit)
    }

    /// The part of the last datagram that can only be the peer's.
    pub(crate) const fn heard(&self) -> replay::Heard {
        self.inbound.heard
    }

    /// The IDs of this end and of the peer, if both have offered them.
    pub(crate) fn connection_ids(&self) -> Option<[ConnectionId; 2]> {
        let ids = [self.inbound.connection_id, self.sender.outbound.connection_id];
        self.own_id.filter(|_| self.expects != Expects::Hello).map(|_| ids)
    }

    /// Asks the peer to use this end's next key, and if `is_asking`, to change its own too.
    pub(crate) fn update_keys(&mut self, is_asking: bool) {
        if self.status == Status::Established {
            self.owed.key_update = Some(is_asking || self.owed.key_update == Some(true));
            self.send_owed();
        }
    }

    /// Ends an established connection, and tells the peer. What the peer has sent before it hears of that is still received.
    pub(crate) fn close(&mut self) {
        if self.status == Status::Established {
            self.say_goodbye(Status::Closing);
        }
    }

    fn say_goodbye(&mut self, status: Status) {
        self.end(status);
        self.alert = Some(([alert::WARNING, alert::CLOSE_NOTIFY], self.sender.outbound.epoch()));
    }

    /// Refuses the peer, and tells it why.
    pub(crate) fn refuse(&mut self, description: u8) {
        self.end(Status::Failed(Failure::AlertSent(description)));
        self.alert = Some(([alert::FATAL, description], self.sender.outbound.epoch()));
        // A refused hello was perhaps a changed copy of the peer's: that one is not answered yet.
        self.client_random[0] ^= 1;
    }

    /// Refuses the peer if a message was wrong. Returns true if it was right.
    pub(super) fn refuse_if_wrong(&mut self, handled: Result<(), u8>) -> bool {
        handled.map_err(|description| self.refuse(description)).is_ok()
    }

    pub(crate) fn end(&mut self, status: Status) {
        self.status = status;
        self.timer.stop();
        self.acknowledgements.clear();
        self.sender.flight.clear();
        self.stage = None;
        self.traffic = None;
        self.application = None;
    }

    /// True if it has not ended, but for what the peer still sends.
    const fn is_heard(&self) -> bool {
        self.is_open() || matches!(self.status, Status::Closing)
    }

    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.status, Status::Handshaking | Status::Established)
    }

    /// Processes the records of a datagram. `deliver` gets application data, `handle` each handshake message before the
    /// Finished whose turn it is: it returns false if the message is not what the handshake expects, and was not used.
    pub(crate) fn receive(
        &mut self,
        crypto: &mut C,
        datagram: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        self.inbound.heard = replay::Heard::Nothing;
        let (mut rest, mut is_first) = (datagram, true);
        while self.is_heard() && !rest.is_empty() {
            let length = match Layout::read(rest, &self.inbound.connection_id, is_first) {
                Some(layout) => {
                    self.receive_encrypted(crypto, &layout, &mut rest[..layout.length], deliver, handle);
                    layout.length
                }
                None => {
                    let mut reader = Reader::new(rest);
                    let Some((record, content)) = InClear::read(&mut reader) else { return };
                    self.receive_content(crypto, record.content_type, record.number, content, deliver, handle);
                    record::HEADER + content.len()
                }
            };
            rest = &mut rest[length..];
            is_first = false;
        }
        // It was asleep, and is heard again.
        let waits = self.is_after_handshake() && !self.sender.flight.is_empty() && self.timer.is_stopped();
        if waits && self.heard() == replay::Heard::Latest {
            self.sender.flight.restart();
            self.timer.start();
        }
        self.send_owed();
    }

    fn receive_encrypted(
        &mut self,
        crypto: &mut C,
        layout: &Layout,
        record: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        let forgeries = self.inbound.forgeries();
        match self.inbound.open(crypto, layout, record) {
            Ok((content_type, number, content)) => {
                self.allowance.lift(); // the keys are made of what was sent to its address
                self.receive_content(crypto, content_type, number, content, deliver, handle);
            }
            // The ServerHello is missing. The server sends its flight again if it hears that somebody is here
            // (RFC 9147, section 7.1).
            Err(_) if self.expects == Expects::ServerHello => {
                if self.timer.hasten() {
                    self.acknowledgements.clear();
                    self.acknowledgements.ask_now();
                }
            }
            Err(_) if self.inbound.forgeries() > forgeries => {
                if self.inbound.forgeries() == update_after_forgeries(self.inbound.aead) {
                    self.update_keys(true);
                }
            }
            Err(_) => {}
        }
    }

    fn receive_content(
        &mut self,
        crypto: &mut C,
        content_type: ContentType,
        number: Number,
        content: &[u8],
        deliver: &mut dyn FnMut(&[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        match content_type {
            ContentType::Handshake if self.is_open() => self.receive_fragments(crypto, number, content, handle),
            ContentType::Acknowledgement if self.is_open() => {
                self.receive_acknowledgement(crypto, number.epoch, content)
            }
            ContentType::Alert => {
                self.receive_alert(number.epoch, content);
                // The HelloRetryRequest was perhaps not the server's (RFC 9147, section 5.1).
                if self.expects == Expects::ServerHello && number.epoch == 0 && self.timer.is_in_vain() {
                    self.expects = Expects::FirstHello;
                    handle(self, crypto);
                }
            }
            // There are no keys of that epoch before the peer's Finished was verified.
            ContentType::ApplicationData if number.epoch >= APPLICATION => deliver(content),
            _ => {}
        }
    }

    fn receive_alert(&mut self, epoch: u16, content: &[u8]) {
        let &[_, description] = content else { return };
        match (epoch, description) {
            (0, _) => self.heard = Some(description),
            (_, USER_CANCELED) => {}
            (APPLICATION.., alert::CLOSE_NOTIFY) if self.status == Status::Closing => self.end(Status::Closed),
            // Who does not send any more says so (RFC 8446, section 6.1).
            (APPLICATION.., alert::CLOSE_NOTIFY) => self.say_goodbye(Status::Closed),
            // The level says nothing (RFC 8446, section 6).
            _ => self.end(Status::Failed(Failure::AlertReceived(description))),
        }
    }

    /// The peer has received some records (RFC 9147, section 7.2).
    fn receive_acknowledgement(&mut self, crypto: &mut C, epoch: u16, content: &[u8]) {
        // After the handshake, one in clear is not the peer's.
        if !self.has_chosen_version() || epoch == 0 && self.status == Status::Established {
            return;
        }
        let Some(numbers) = ack::read(content) else { return };
        let (mut is_new, mut is_known) = (false, content.len() <= 2);
        for (acknowledged, sequence) in numbers {
            // After the handshake the epochs of the two ends have nothing to do with each other.
            if acknowledged > epoch.into() && epoch < APPLICATION {
                // In clear, anybody can have sent it.
                return if epoch > 0 {
                    self.refuse(alert::ILLEGAL_PARAMETER)
                };
            }
            let Sender { flight, epochs, .. } = &mut self.sender;
            for part in [Part::BeforeChange, Part::AfterChange] {
                if u64::from(epochs[part as usize]) == acknowledged {
                    match flight.acknowledge(part, sequence) {
                        Some(true) => is_new = true,
                        Some(false) => is_known = true,
                        None => {}
                    }
                }
            }
        }
        if epoch == 0 {
            self.is_acknowledged_in_clear |= is_new;
            if is_new || is_known {
                self.hasten();
            }
        } else if is_new && self.sender.flight.is_acknowledged() {
            self.flight_arrived(crypto);
        } else if is_new {
            self.repeat();
        } else if is_known {
            self.hasten();
        }
    }

    /// True if both ends know that they speak DTLS 1.3: acknowledgements can be sent and believed (RFC 9147, section 7).
    fn has_chosen_version(&self) -> bool {
        self.expects != Expects::Hello
    }

    /// The peer has all of this end's flight. In the handshake it answers: only then it is sure that it goes on.
    fn flight_arrived(&mut self, crypto: &mut C) {
        if self.status != Status::Established {
            return;
        }
        let is_key_update = self.sender.flight.first().is_some_and(|(kind, _)| kind == Kind::KeyUpdate);
        self.sender.flight.clear();
        self.timer.stop();
        self.sender.outbound.forget();
        if is_key_update && let Some([own, _]) = &mut self.traffic {
            let Some(epoch) = self.sender.outbound.epoch().checked_add(1) else {
                return self.refuse(alert::UNEXPECTED_MESSAGE);
            };
            own.update(crypto);
            self.sender.outbound.protect(epoch, own.keys(crypto));
            self.sender.outbound.forget();
        }
        self.send_owed();
    }

    fn receive_fragments(
        &mut self,
        crypto: &mut C,
        number: Number,
        content: &[u8],
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        self.has_answered = false;
        let mut reader = Reader::new(content);
        let mut heard = None;
        while let Some((header, fragment)) = handshake::Header::read(&mut reader) {
            heard = heard.max(Some(self.receive_fragment(crypto, number.epoch, &header, fragment, handle)));
        }
        if heard.is_none_or(|heard| heard == Heard::Dropped) || self.has_answered || !self.is_open() {
            return;
        }
        self.acknowledgements.note(number);
        // A part of a message in clear may be somebody else's. If it were acknowledged, the peer's would not come again.
        if self.expected_epoch() == 0 {
            return;
        }
        if self.expects == Expects::Nothing || heard == Some(Heard::OutOfOrder) {
            self.acknowledgements.ask_now();
        } else {
            self.acknowledgements.ask_soon();
        }
    }

    fn receive_fragment(
        &mut self,
        crypto: &mut C,
        epoch: u16,
        header: &handshake::Header,
        fragment: &[u8],
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) -> Heard {
        let next = self.next;
        if header.sequence < next && !self.goes_back(epoch, header, fragment) {
            return self.receive_again(epoch, header);
        }
        if !self.is_open() || epoch != self.expected_epoch() {
            if epoch >= APPLICATION && epoch < self.inbound.epoch() {
                // After its KeyUpdate a peer sends no message with the old key (RFC 9147, section 8).
                self.refuse(alert::UNEXPECTED_MESSAGE);
            }
            return Heard::Dropped;
        }
        let progress = if header.sequence == self.next { self.incoming.progress(self.next) } else { 0 };
        let is_in_order = header.sequence == self.next && header.offset == progress;
        if epoch == 0 {
            self.incoming.insert(self.next, header, fragment);
        } else if !self.incoming.keep(self.next, header, fragment) {
            return Heard::Dropped;
        }
        if self.status == Status::Handshaking && epoch == HANDSHAKE {
            // Only who has the flight can have sent this (RFC 9147, section 7.2).
            self.sender.flight.clear();
        }
        while self.is_open() && self.incoming.whole(self.next).is_some() {
            let sequence = self.next;
            let is_used = match self.expects {
                Expects::Finished => self.receive_finished(crypto, handle),
                Expects::Nothing => {
                    let handled = self.receive_after_handshake(crypto);
                    self.refuse_if_wrong(handled)
                }
                _ => handle(self, crypto),
            };
            self.incoming.remove(sequence);
            if !is_used {
                self.next = next.max(sequence);
                return Heard::Dropped;
            }
            match sequence.checked_add(1) {
                Some(next) => self.next = next,
                None => self.refuse(alert::UNEXPECTED_MESSAGE),
            }
        }
        if is_in_order { Heard::InOrder } else { Heard::OutOfOrder }
    }

    /// True if a client has another answer to its first hello: the one before was perhaps not the server's. It is next then.
    fn goes_back(&mut self, epoch: u16, header: &handshake::Header, fragment: &[u8]) -> bool {
        if self.expects != Expects::ServerHello || epoch > 0 || header.kind != Kind::ServerHello {
            return false;
        }
        self.incoming.insert(self.next, header, fragment);
        let is_whole = self.incoming.whole(header.sequence).is_some();
        if is_whole {
            self.next = header.sequence;
        }
        is_whole
    }

    /// The epoch of the peer's next message.
    fn expected_epoch(&self) -> u16 {
        match self.expects {
            Expects::Hello | Expects::ServerHello | Expects::FirstHello => 0,
            Expects::Nothing => self.inbound.epoch(),
            _ => HANDSHAKE,
        }
    }

    /// A fragment of a message that was processed before. Its record is acknowledged, unless this end's flight does that: if
    /// the end of the message comes that this flight answers, the peer does not have it.
    ///
    /// A record in clear can be anybody's, and says nothing as soon as there are keys.
    fn receive_again(&mut self, epoch: u16, header: &handshake::Header) -> Heard {
        if epoch == 0 && self.expected_epoch() > 0 {
            return Heard::Dropped;
        }
        let answered = self.answered.filter(|_| !self.sender.flight.is_empty());
        if answered.is_some_and(|answered| header.sequence <= answered) {
            let is_end = header.offset + header.fragment == header.length;
            if is_end && answered == Some(header.sequence) {
                self.hasten();
            }
            return Heard::Dropped;
        }
        match self.expects {
            // A HelloRetryRequest that comes again says nothing: its server keeps no state.
            Expects::Hello | Expects::ServerHello => Heard::Dropped,
            _ => Heard::OutOfOrder,
        }
    }

    /// The client repeats the hello that this end has answered.
    pub(crate) fn hear_hello_again(&mut self) {
        if self.status == Status::Handshaking {
            self.hasten();
        }
    }

    /// Sends again what the peer does not have of the flight, if it is not just being sent.
    fn repeat(&mut self) {
        if self.can_repeat() {
            self.sender.flight.restart();
            self.timer.begin_wait_again();
        }
    }

    /// Repeats the flight early because of something that can be sent as often as somebody likes: once in a wait, which goes on.
    fn hasten(&mut self) {
        if self.can_repeat() && self.timer.hasten() {
            self.sender.flight.restart();
            self.timer.repeat();
        }
    }

    fn can_repeat(&self) -> bool {
        self.is_open() && !self.sender.flight.is_empty() && self.sender.flight.is_sent()
    }

    /// True if the flight is no part of the handshake: the peer may sleep, and answer it later.
    fn is_after_handshake(&self) -> bool {
        self.status == Status::Established && self.answered.is_none()
    }

    /// Begins the epoch of the handshake, from its secret. The transcript ends with the ServerHello.
    pub(crate) fn protect_handshake(&mut self, crypto: &mut C, aead: Aead, secret: Secret) {
        let logged = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET"];
        let secrets = self.derive_both(crypto, &secret, [b"c hs traffic", b"s hs traffic"], logged);
        (self.sender.outbound.aead, self.inbound.aead) = (aead, aead);
        self.protect(crypto, HANDSHAKE, secrets);
        self.stage = Some(secret);
    }

    /// Derives the secrets of application data. The transcript ends with the server's Finished.
    pub(crate) fn derive_application(&mut self, crypto: &mut C) -> Option<()> {
        let master = self.stage.take()?.next_stage(crypto, None);
        let logged = ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"];
        self.application = Some(self.derive_both(crypto, &master, [b"c ap traffic", b"s ap traffic"], logged));
        Some(())
    }

    /// The traffic secrets of this end and of the peer, from the labels of the client's and of the server's.
    fn derive_both(&self, crypto: &mut C, from: &Secret, labels: [&[u8; 12]; 2], logged: [&str; 2]) -> [Secret; 2] {
        let digest = self.sender.transcript.digest();
        let [client, server] = labels.map(|label| from.derive(crypto, label, &digest));
        crypto.log_secret(logged[0], &self.client_random, client.octets());
        crypto.log_secret(logged[1], &self.client_random, server.octets());
        if self.is_client { [client, server] } else { [server, client] }
    }

    /// Begins an epoch in both directions.
    fn protect(&mut self, crypto: &mut C, epoch: u16, [own, peers]: [Secret; 2]) {
        self.sender.outbound.protect(epoch, own.keys(crypto));
        self.inbound.protect(epoch, peers.keys(crypto));
        self.traffic = Some([own, peers]);
    }

    /// Adds this end's Finished to the flight.
    pub(crate) fn finish(&mut self, crypto: &mut C) -> Result<(), Full> {
        let digest = self.sender.transcript.digest();
        let [own, _] = self.traffic.as_ref().ok_or(Full)?;
        let verify_data = own.verify_data(crypto, &digest);
        self.sender.send(Kind::Finished, |writer| writer.put(&verify_data))
    }

    /// Handles the peer's Finished. Returns false after a wrong one: the connection has failed.
    fn receive_finished(&mut self, crypto: &mut C, handle: &mut dyn FnMut(&mut Self, &mut C) -> bool) -> bool {
        let verified = self.verify_finished(crypto);
        // The client answers it.
        let is_complete = self.refuse_if_wrong(verified) && (!self.is_client || handle(self, crypto));
        if is_complete {
            self.establish(crypto);
        }
        is_complete
    }

    fn verify_finished(&mut self, crypto: &mut C) -> Result<(), u8> {
        let (Some((header, body)), Some([_, peers])) = (self.incoming.whole(self.next), &self.traffic) else {
            return Err(alert::UNEXPECTED_MESSAGE);
        };
        if header.kind != Kind::Finished {
            return Err(alert::UNEXPECTED_MESSAGE);
        }
        let digest = self.sender.transcript.digest();
        let expected = peers.verify_data(crypto, &digest);
        self.sender.note(header.kind, body);
        if bool::from(body.ct_eq(&expected)) { Ok(()) } else { Err(alert::DECRYPT_ERROR) }
    }

    /// The handshake is complete. The client's Finished waits for its acknowledgement.
    fn establish(&mut self, crypto: &mut C) {
        let Some(secrets) = self.application.take() else { return };
        self.protect(crypto, APPLICATION, secrets);
        self.status = Status::Established;
        self.expects = Expects::Nothing;
        if !self.is_client {
            self.timer.stop();
            self.sender.flight.clear();
            self.sender.outbound.forget();
            self.acknowledgements.clear();
        }
    }

    /// Handles a message after the handshake (RFC 8446, section 4.6; RFC 9147, sections 8 and 9).
    fn receive_after_handshake(&mut self, crypto: &mut C) -> Result<(), u8> {
        let (header, body) = self.incoming.whole(self.next).ok_or(alert::UNEXPECTED_MESSAGE)?;
        match (header.kind, body) {
            // Tickets are not used. They are acknowledged so that the server does not send them again.
            (Kind::NewSessionTicket, _) if self.is_client => {}
            (Kind::KeyUpdate, &[request @ (0 | 1)]) => {
                let [_, peers] = self.traffic.as_mut().ok_or(alert::UNEXPECTED_MESSAGE)?;
                let epoch = self.inbound.epoch().checked_add(1).ok_or(alert::UNEXPECTED_MESSAGE)?;
                peers.update(crypto);
                self.inbound.protect(epoch, peers.keys(crypto));
                if request == 1 && self.owed.key_update.is_none() {
                    self.owed.key_update = Some(false);
                }
            }
            (Kind::RequestConnectionId, &[_]) if !self.inbound.connection_id.octets().is_empty() => {
                self.owed.connection_ids = true;
            }
            (Kind::NewConnectionId, _) if !self.sender.outbound.connection_id.octets().is_empty() => {
                if let Some(id) = record::read_new_connection_id(body).ok_or(alert::DECODE_ERROR)? {
                    self.sender.outbound.connection_id = id;
                }
            }
            (Kind::KeyUpdate, _) => return Err(alert::ILLEGAL_PARAMETER),
            _ => return Err(alert::UNEXPECTED_MESSAGE),
        }
        Ok(())
    }

    /// Sends the next message that is owed, if the one before was acknowledged.
    fn send_owed(&mut self) {
        if self.status != Status::Established || !self.sender.flight.is_empty() {
            return;
        }
        self.begin_flight();
        let sent = if self.owed.connection_ids {
            self.owed.connection_ids = false;
            self.sender.send(Kind::NewConnectionId, |writer| writer.put(&record::NO_CONNECTION_IDS))
        } else if let Some(is_asking) = self.owed.key_update.take() {
            self.sender.send(Kind::KeyUpdate, |writer| writer.put(&[is_asking.into()]))
        } else {
            return;
        };
        match sent {
            Ok(()) => {
                self.answered = None;
                self.timer.start();
            }
            Err(Full) => self.end(Status::Failed(Failure::BufferTooSmall)),
        }
    }
}
