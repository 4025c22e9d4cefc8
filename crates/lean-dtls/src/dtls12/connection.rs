//! One connection: what client and server have in common.

use subtle::ConstantTimeEq;

use super::extensions::{Agreed, Offer};
use super::heartbeat::{self, Heartbeat, Message};
use super::key_agreement::Keys;
use super::record::{self, Format, Inbound, Outbound, Records};
use super::schedule::{Context, Premaster};
use crate::alert;
use crate::allowance::Allowance;
use crate::both::Offered;
use crate::codec::{Full, Reader, Writer};
use crate::config::{Config, Packing};
use crate::connection_id::{self, ConnectionId};
use crate::content_type::ContentType;
use crate::credentials::{Credentials, Identity};
use crate::crypto::{Crypto, Hash};
use crate::features::{
    CONNECTION_ID, DTLS13, ECDHE, FALSE_START, Feature, HEARTBEAT, If, LEAN, RECORD_LIMITS, RESUMPTION, Slot, Switch,
    is,
};
use crate::flight::Flight;
use crate::handshake::{self, Kind};
use crate::lean::{Lean, Received};
use crate::reassembly::Reassembly;
use crate::replay::Heard;
use crate::session::{Kept, Master, Resumption};
use crate::status::{Failure, HeartbeatError, Liveness, SendError, Status};
use crate::suite::Suite;
use crate::time::{Expired, Instant, Timeouts, Timer};

/// The message that the handshake waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expects {
    /// The client: HelloVerifyRequest or ServerHello.
    Hello,
    /// The client: the ServerHello that answers its cookie.
    ServerHello,
    /// The client: to send its first ClientHello again. A server of DTLS 1.3 does not want the cookie in the second one.
    FirstHello,
    /// Both, in a suite with certificates.
    Certificate,
    /// The client, in a suite with key agreement.
    ServerKeyExchange,
    /// The client: ServerHelloDone, or what may come before it.
    ServerHelloDone,
    /// The server.
    ClientKeyExchange,
    /// The server, if the client has a certificate.
    CertificateVerify,
    /// Both, of the peer.
    Finished,
    /// The client.
    NewSessionTicket,
    /// Nothing: the handshake is complete.
    Nothing,
}

/// Why a handshake cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// With the peer, who gets this alert.
    Alert(u8),
    /// With this end.
    Failure(Failure),
}

impl From<u8> for Problem {
    fn from(alert: u8) -> Self {
        Self::Alert(alert)
    }
}

impl From<Full> for Problem {
    fn from(_: Full) -> Self {
        Self::Failure(Failure::BufferTooSmall)
    }
}

/// One end's half of a connection. `BUFFER` octets hold a flight that is sent, and as many one that arrives.
// Small fields come first: an AVR reaches the first 64 octets of a structure with one instruction.
#[cfg_attr(target_arch = "avr", repr(C))]
pub(crate) struct Connection<C: Crypto, const BUFFER: usize> {
    pub(crate) status: Status,
    pub(super) is_client: bool,
    pub(crate) expects: Expects,
    /// The number of the peer's next message.
    pub(crate) next: u16,
    /// The number of the peer's message that this end's flight answers: the last of the peer's flight before it.
    answered: Option<u16>,
    pub(crate) timer: Timer,
    pub(crate) agreed: Agreed,
    pub(crate) suite: Suite,
    pub(crate) keys: Slot<ECDHE, Keys>,
    /// The connection ID that this end offers.
    pub(crate) own_id: Slot<CONNECTION_ID, Option<ConnectionId>>,
    pub(crate) resumption: Slot<RESUMPTION, Resumption>,
    heartbeat: Slot<HEARTBEAT, Heartbeat>,
    /// A client that has offered DTLS 1.3 too, until the server chooses one.
    pub(crate) dtls13: Option<If<DTLS13, Offered>>,
    /// An alert that waits to be sent, and its epoch.
    pub(crate) alert: Option<([u8; 2], u16)>,
    /// True if a client may send data as soon as its last flight is sent.
    pub(super) starts_early: Slot<FALSE_START, bool>,
    /// The last alert in clear.
    heard: Option<u8>,
    /// A message that was expected is longer than the buffer. Anybody can have sent it.
    has_no_room: bool,
    received: Received,
    pub(crate) allowance: Allowance,
    /// The secret of which all keys are derived once the ServerHello is out, while the client does the same.
    postponed: Option<If<LEAN, Premaster>>,
    inbound: Inbound,
    pub(crate) sender: Sender<C, BUFFER>,
    pub(crate) incoming: Reassembly<BUFFER>,
    /// The random numbers of the client's and of the server's hello.
    pub(crate) randoms: [[u8; 32]; 2],
    pub(super) master: Option<Master>,
    /// The identity of the pre-shared key that both ends have.
    pub(crate) identity: Identity,
}

/// The flight of this end, and the transcript of the handshake.
pub(crate) struct Sender<C: Crypto, const BUFFER: usize> {
    pub(crate) flight: Flight<BUFFER>,
    pub(crate) outbound: Outbound,
    pub(crate) transcript: C::Hash,
    /// The number of the next message.
    pub(crate) next: u16,
}

impl<C: Crypto, const BUFFER: usize> Sender<C, BUFFER> {
    /// Adds a message to the flight and to the transcript.
    pub(crate) fn send(
        &mut self,
        kind: Kind,
        body: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let sent = self.flight.push(kind, self.next, body)?;
        hash(&mut self.transcript, &handshake::Header::whole(kind, self.next, sent.len()), sent);
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    /// Adds a message of the peer to the transcript.
    pub(crate) fn note(&mut self, header: &handshake::Header, body: &[u8]) {
        hash(&mut self.transcript, header, body);
    }
}

/// Adds a message to a transcript.
pub(super) fn hash(transcript: &mut impl Hash, header: &handshake::Header, body: &[u8]) {
    transcript.update(&header.octets());
    transcript.update(body);
}

impl<C: Crypto, const BUFFER: usize> Connection<C, BUFFER> {
    /// A connection that expects its first message: a client a HelloVerifyRequest or ServerHello, a server a
    /// ClientKeyExchange, because it has the ClientHello already.
    pub(crate) fn new(crypto: &mut C, is_client: bool, timeouts: Timeouts) -> Self {
        Self {
            status: Status::Handshaking,
            is_client,
            expects: if is_client { Expects::Hello } else { Expects::ClientKeyExchange },
            sender: Sender { flight: Flight::new(), outbound: Outbound::default(), transcript: crypto.hash(), next: 0 },
            incoming: Reassembly::new(),
            inbound: Inbound::default(),
            next: 0,
            answered: None,
            timer: Timer::new(timeouts, |octets| crypto.random(octets)),
            randoms: [[0; 32]; 2],
            agreed: Agreed::default(),
            suite: Suite::TLS_PSK_WITH_AES_128_CCM_8, // until the hellos have said another one
            keys: Feature::<ECDHE>::slot(Keys::new),
            identity: Identity::EMPTY,
            own_id: Feature::<CONNECTION_ID>::slot(|| None),
            resumption: Feature::<RESUMPTION>::slot(Resumption::default),
            master: None,
            heartbeat: Feature::<HEARTBEAT>::slot(Heartbeat::default),
            dtls13: None,
            alert: None,
            starts_early: Feature::<FALSE_START>::slot(|| false),
            heard: None,
            has_no_room: false,
            received: Received::new(),
            allowance: Allowance::default(),
            postponed: None,
        }
    }

    /// The offer of a client in its hellos: the same in each.
    pub(crate) fn offer<'a>(&self, config: &'a Config<impl Credentials>, kept: &'a Kept) -> Offer<'a> {
        Offer::of_client(config, self.own_id(), kept)
    }

    /// The connection ID that this end offers.
    pub(crate) fn own_id(&self) -> Option<ConnectionId> {
        self.own_id.first().copied().flatten()
    }

    /// From now on what the hellos say holds.
    pub(crate) fn agree(&mut self, agreed: Agreed) {
        self.agreed = agreed;
        if RECORD_LIMITS {
            let [inbound, outbound] = agreed.limits.octets();
            self.inbound.limits = Feature::<RECORD_LIMITS>::or_off(inbound);
            self.sender.outbound.limits = Feature::<RECORD_LIMITS>::or_off(outbound);
        }
        if CONNECTION_ID && let Some([own, peers]) = connection_id::agreed(&agreed.connection_ids) {
            (self.inbound.id, self.sender.outbound.id) = (own, peers);
        }
    }

    /// True if the server of a client that has offered both versions has chosen DTLS 1.3.
    pub(crate) fn has_chosen_dtls13(&self) -> bool {
        self.dtls13.as_ref().is_some_and(|offered| offered.is_chosen)
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.timer.deadline()
    }

    /// Begins to wait for the answer to a new flight, which answers the peer's message `answered`.
    pub(crate) fn wait(&mut self, answered: Option<u16>) {
        self.answered = answered;
        self.received.clear();
        self.timer.start();
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self.timer.expire(now) {
            Some(Expired::SendAgain) if self.owes_acknowledgement() => self.received.acknowledge(),
            Some(Expired::SendAgain) if !self.is_client && self.leaves_losses_to_the_client() => {}
            Some(Expired::SendAgain) if HEARTBEAT && self.is_asking() => {
                self.heartbeat.iter_mut().for_each(Heartbeat::repeat)
            }
            Some(Expired::SendAgain) => self.sender.flight.restart(),
            Some(Expired::GiveUp) => self.end(Status::Failed(match self.has_no_room {
                true => Failure::BufferTooSmall,
                false => Failure::TimedOut(self.heard),
            })),
            None => {}
        }
    }

    /// Writes the next datagram. Returns 0 if there is nothing to send.
    pub(crate) fn poll_transmit(&mut self, crypto: &mut C, now: Instant, packing: Packing, output: &mut [u8]) -> usize {
        self.timer.note(now);
        if let Some((alert, epoch)) = self.alert.take() {
            return self.sender.outbound.write(crypto, (ContentType::Alert, epoch), &[&alert], output).unwrap_or(0);
        }
        let Sender { flight, outbound, .. } = &mut self.sender;
        if self.received.take_due() {
            let content = &[self.received.names()];
            return outbound.write(crypto, (ContentType::Acknowledgement, 1), content, output).unwrap_or(0);
        }
        let mut written = flight.write(&mut Records { crypto, outbound }, packing, output);
        while written > 0 && !self.allowance.take(written) {
            written = flight.write(&mut Records { crypto, outbound }, packing, output);
        }
        if HEARTBEAT && written == 0 {
            written = self.write_heartbeat(crypto, output);
        }
        // A flight that cannot be sent waits too, and so has an end.
        if self.sender.flight.is_sent() | (written == 0) {
            self.timer.sent(now);
        }
        if written == 0 {
            self.derive_postponed(crypto);
        }
        written
    }

    /// True if this end may send data.
    pub(crate) fn may_send(&self) -> bool {
        if FALSE_START && self.starts_early() && self.is_client && self.status == Status::Handshaking {
            // Behind its Finished (RFC 7918, section 4), without which the server has no use for them.
            return self.sender.flight.is_sent();
        }
        self.status == Status::Established
    }

    /// True if a client may send data early, or if a server has to reckon with that.
    fn starts_early(&self) -> bool {
        self.starts_early.first().is_some_and(is)
    }

    /// Encrypts application data into a datagram.
    pub(crate) fn send(&mut self, crypto: &mut C, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        if !self.may_send() {
            return Err(SendError::NotEstablished);
        }
        let written = self.sender.outbound.write(crypto, (ContentType::ApplicationData, 1), &[data], output);
        written.map_err(|Full| SendError::TooLong)
    }

    /// The most octets of application data in a datagram of `room` octets.
    pub(crate) fn max_data(&self, room: usize) -> usize {
        self.sender.outbound.room(1, room).unwrap_or(0)
    }

    /// Ends an established connection, and tells the peer. What the peer has sent before it hears of that is still received.
    pub(crate) fn close(&mut self) {
        if self.status == Status::Established {
            self.end(Status::Closing);
            self.alert = Some(([alert::WARNING, alert::CLOSE_NOTIFY], 1));
        }
    }

    /// Refuses the peer, and tells it why.
    pub(crate) fn refuse(&mut self, description: u8) {
        let epoch = u16::from(self.sender.flight.has_changed());
        self.end(Status::Failed(Failure::AlertSent(description)));
        self.alert = Some(([alert::FATAL, description], epoch));
        // A refused hello was perhaps a changed copy of the peer's: that one is not answered yet.
        self.randoms[0][0] ^= 1;
    }

    /// Ends the handshake.
    pub(crate) fn give_up(&mut self, problem: Problem) {
        match problem {
            Problem::Alert(description) => self.refuse(description),
            Problem::Failure(failure) => self.end(Status::Failed(failure)),
        }
    }

    pub(crate) fn end(&mut self, status: Status) {
        self.status = status;
        self.timer.stop();
        self.sender.flight.clear();
        self.master = None;
        self.keys.iter_mut().for_each(Keys::wipe);
        self.dtls13.iter_mut().for_each(|offered| offered.share = None);
        self.postponed = None;
    }

    /// The ClientHello that opened the connection came again. The client does not have the answer, unless it has gone on.
    pub(crate) fn hear_hello_again(&mut self) {
        let is_next = self.answered.is_some_and(|answered| self.next == answered.wrapping_add(1));
        if is_next && self.expects != Expects::Nothing {
            self.repeat(0);
        }
    }

    /// Processes the records of a datagram. `deliver` gets application data, `handle` each handshake message before the
    /// Finished whose turn it is: it returns false if the message is not what the handshake expects, and was not used.
    /// Returns what has come that only the peer can have sent.
    pub(crate) fn receive(
        &mut self,
        crypto: &mut C,
        datagram: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) -> Heard {
        let mut rest = datagram;
        let mut heard = Heard::Nothing;
        loop {
            let mut reader = Reader::new(rest);
            let Some(header) = self.inbound.read_header(&mut reader) else { return heard };
            let start = rest.len() - reader.rest().len();
            let (content, more) = rest[start..].split_at_mut(header.length);
            heard = heard.max(self.receive_record(crypto, &header, content, deliver, handle));
            rest = more;
        }
    }

    #[inline(never)] // in the loop, the places of all that it needs are computed before the loop, and kept on the stack
    fn receive_record(
        &mut self,
        crypto: &mut C,
        header: &record::Header,
        content: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) -> Heard {
        let is_open = matches!(self.status, Status::Handshaking | Status::Established | Status::Closing);
        let is_latest = self.inbound.is_latest(header);
        if is_open && header.epoch > 0 {
            self.derive_postponed(crypto);
        }
        let opened = match header.epoch {
            0 => self.inbound.take(header, content),
            _ if !is_open => return Heard::Nothing,
            _ => self.inbound.open(crypto, header, content),
        };
        let Ok((content_type, content)) = opened else { return Heard::Nothing };
        if header.epoch > 0 {
            self.allowance.lift(); // the keys are made of what was sent to its address
        }
        match (content_type, header.epoch) {
            (ContentType::Handshake, _) => self.receive_fragments(crypto, header, content, handle),
            (ContentType::Alert, epoch) => {
                self.receive_alert(epoch, content);
                if DTLS13 && self.dtls13.is_some() && self.expects == Expects::ServerHello && self.timer.is_in_vain() {
                    self.expects = Expects::FirstHello;
                    handle(self, crypto);
                }
            }
            (ContentType::ApplicationData, 1) if matches!(self.status, Status::Established | Status::Closing) => {
                self.hear_established();
                deliver(content);
            }
            // The client would not send data if it did not have this end's Finished, and had not sent its own. That is lost.
            (ContentType::ApplicationData, 1) if self.agreed.lean.has(Lean::SERVER_FINISHED_FIRST) => self.repeat(1),
            (other, 1) if LEAN && other == ContentType::Acknowledgement => self.receive_acknowledgement(content),
            (other, 1) if HEARTBEAT && other == ContentType::Heartbeat => self.receive_heartbeat(content),
            // Records of epoch 1 say that the peer has changed. Anybody can send data and acknowledgements in clear.
            _ => {}
        }
        match header.epoch {
            0 => Heard::Nothing,
            _ if is_latest => Heard::Latest,
            _ => Heard::Earlier,
        }
    }

    /// The peer has this end's last flight. A heartbeat waits on.
    fn hear_established(&mut self) {
        // Or it does not: a client that starts early sends data without it.
        if FALSE_START && self.starts_early() && !self.is_client {
            return;
        }
        self.sender.flight.clear();
        if !self.is_asking() {
            self.timer.stop();
        }
    }

    /// True if a heartbeat is in flight.
    fn is_asking(&self) -> bool {
        self.heartbeat.first().is_some_and(|heartbeat| heartbeat.request.is_some())
    }

    fn receive_alert(&mut self, epoch: u16, content: &[u8]) {
        let &[level, description] = content else { return };
        if epoch == 0 {
            self.heard = Some(description);
        } else if level == alert::FATAL {
            self.end(Status::Failed(Failure::AlertReceived(description)));
        } else if description == alert::CLOSE_NOTIFY {
            // Whoever hears it first answers it (RFC 5246, section 7.2.1).
            match self.status {
                Status::Established => {
                    self.end(Status::Closed);
                    self.alert = Some(([alert::WARNING, alert::CLOSE_NOTIFY], 1));
                }
                Status::Handshaking => self.end(Status::Failed(Failure::AlertReceived(description))),
                _ => self.end(Status::Closed),
            }
        }
    }

    /// Asks the peer whether it is there.
    pub(crate) fn start_heartbeat(&mut self, crypto: &mut C) -> Result<(), HeartbeatError> {
        if self.status != Status::Established {
            return Err(HeartbeatError::NotEstablished);
        }
        let Some(heartbeat) = self.heartbeat.first_mut().filter(|_| self.agreed.heartbeat.unwrap_or(false)) else {
            return Err(HeartbeatError::NotAgreed);
        };
        if heartbeat.request.is_some() {
            return Err(HeartbeatError::InFlight);
        }
        let mut payload = [0; heartbeat::PAYLOAD];
        crypto.random(&mut payload);
        let Heartbeat { request, is_due, is_answered, .. } = heartbeat;
        (*request, *is_due, *is_answered) = (Some(payload), true, false);
        self.timer.start();
        Ok(())
    }

    pub(crate) fn liveness(&self) -> Liveness {
        let is_answered = self.heartbeat.first().is_some_and(|heartbeat| heartbeat.is_answered);
        match (self.is_asking(), is_answered) {
            (true, _) => Liveness::Waiting,
            (false, true) => Liveness::Alive { round_trip_ms: self.timer.last_round_trip() },
            (false, false) => Liveness::Unknown,
        }
    }

    fn receive_heartbeat(&mut self, content: &[u8]) {
        if self.status != Status::Established {
            return;
        }
        let message = self.agreed.heartbeat.and_then(|_| heartbeat::read(content));
        if let Some(Message::Request(_)) = message {
            self.hear_established();
        }
        let Some(heartbeat) = self.heartbeat.first_mut() else { return };
        match message {
            Some(Message::Request(payload)) => heartbeat.receive_request(payload),
            Some(Message::Response(payload)) if heartbeat.receive_response(payload) => self.timer.stop(),
            Some(Message::Response(_)) | None => {}
        }
    }

    /// Writes the next answer or request. Returns 0 if there is none.
    fn write_heartbeat(&mut self, crypto: &mut C, output: &mut [u8]) -> usize {
        if self.status != Status::Established {
            return 0;
        }
        let Some((message, length)) = self.heartbeat.first_mut().and_then(Heartbeat::next) else { return 0 };
        let mut padding = [0; heartbeat::PADDING];
        crypto.random(&mut padding);
        let content = [&message[..length], &padding];
        self.sender.outbound.write(crypto, (ContentType::Heartbeat, 1), &content, output).unwrap_or(0)
    }

    fn receive_fragments(
        &mut self,
        crypto: &mut C,
        record: &record::Header,
        content: &[u8],
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        let epoch = record.epoch;
        if epoch == 1 && self.agreed.lean.has(Lean::SHORT_FINISHED) {
            // The next message, or the one before if it comes again: there is no other.
            let number = self.next.wrapping_sub(u16::from(self.expects == Expects::Nothing));
            let header = handshake::Header::whole(Kind::Finished, number, content.len());
            self.receive_fragment(crypto, record, (&header, content), handle);
        } else {
            let mut reader = Reader::new(content);
            while let Some((header, fragment)) = handshake::Header::read(&mut reader) {
                self.receive_fragment(crypto, record, (&header, fragment), handle);
            }
        }
        // The client repeats its Finished until it knows that it has arrived.
        let is_over = !self.is_client && self.status == Status::Established;
        if is_over && epoch == 1 && self.leaves_losses_to_the_client() {
            self.received.clear();
            self.received.note(epoch, record.sequence);
            self.received.acknowledge();
        }
    }

    #[inline(never)] // as `receive_record`
    fn receive_fragment(
        &mut self,
        crypto: &mut C,
        record: &record::Header,
        (header, fragment): (&handshake::Header, &[u8]),
        handle: &mut dyn FnMut(&mut Self, &mut C) -> bool,
    ) {
        let epoch = record.epoch;
        let expected = u16::from(matches!(self.expects, Expects::Finished | Expects::Nothing));
        if epoch != expected && self.expects != Expects::Finished {
            return;
        }
        let next = self.next;
        // The one before was perhaps not the server's. What answers the same hello takes its place.
        let is_answer = matches!(header.kind, Kind::HelloVerifyRequest | Kind::ServerHello);
        if self.expects == Expects::ServerHello && is_answer && header.sequence < next {
            self.incoming.insert(next, header, fragment);
            if self.incoming.whole(header.sequence).is_some() {
                self.next = header.sequence;
            }
        }
        if header.sequence < self.next {
            self.receive_again(epoch, header);
        } else if epoch == expected && self.status == Status::Handshaking {
            self.has_no_room |= header.sequence == self.next && header.length > BUFFER;
            self.incoming.insert(self.next, header, fragment);
            self.received.note(epoch, record.sequence);
            while self.status == Status::Handshaking && self.incoming.whole(self.next).is_some() {
                let sequence = self.next;
                let is_used = match self.expects {
                    Expects::Finished => self.receive_finished(crypto, handle),
                    _ => handle(self, crypto),
                };
                if self.has_chosen_dtls13() {
                    return; // the message stays for the connection that takes over
                }
                self.incoming.remove(sequence);
                if !is_used {
                    if sequence == header.sequence {
                        self.next = next; // it takes no place
                    }
                    break;
                }
                self.next = sequence.wrapping_add(1);
            }
        }
    }

    /// True if the client repeats what was lost of both ends' flights, and the server only answers: with the server's
    /// Finished first and acknowledgements, each of the server's messages answers one of the client's.
    const fn leaves_losses_to_the_client(&self) -> bool {
        self.agreed.lean.has(Lean::SERVER_FINISHED_FIRST.with(Lean::ACKNOWLEDGE))
    }

    /// True if a part of the peer's flight has arrived, up to the keys: the peer has all of this end's flight.
    fn owes_acknowledgement(&self) -> bool {
        let has_part = self.expects == Expects::Finished && !self.received.names().is_empty();
        has_part && self.agreed.lean.has(Lean::ACKNOWLEDGE)
    }

    /// The peer has these records, and the rest is sent again. Only the peer can send an acknowledgement: it is encrypted. One
    /// of records that are forgotten says nothing: what they carried has been sent again since.
    fn receive_acknowledgement(&mut self, content: &[u8]) {
        if !self.agreed.lean.has(Lean::ACKNOWLEDGE) {
            return;
        }
        let Sender { flight, outbound, .. } = &mut self.sender;
        let mut is_news = false;
        for name in content.chunks_exact(crate::lean::RECORD_NAME) {
            let &[epoch, upper, lower] = name else { continue };
            if let Some(sequence) = outbound.latest(epoch.into(), u16::from_be_bytes([upper, lower])) {
                is_news |= flight.acknowledge(record::part(epoch.into()), sequence).is_some();
            }
        }
        if !is_news {
            return;
        }
        if !flight.is_acknowledged() {
            self.repeat(1);
        } else if self.status == Status::Established {
            flight.clear();
            self.timer.stop();
        }
    }

    /// The peer repeats the flight before this end's, so it does not have this end's: the end of its last message says so
    /// (RFC 6347, section 4.2.4). Other old messages say nothing. If they were answered too, two ends could answer each
    /// other for ever. A flight of the client ends with a Finished, or with a hello, which the server hears elsewhere.
    fn receive_again(&mut self, epoch: u16, header: &handshake::Header) {
        let is_end = header.offset + header.fragment == header.length;
        let can_be_last = self.is_client || header.kind == Kind::Finished;
        if is_end && can_be_last && self.answered == Some(header.sequence) {
            self.repeat(epoch);
        }
    }

    /// Sends the flight again, if it is not just being sent, because of a record of this epoch: in clear, anybody can have sent it.
    pub(crate) fn repeat(&mut self, epoch: u16) {
        let is_open = matches!(self.status, Status::Handshaking | Status::Established);
        let is_there = is_open && !self.sender.flight.is_empty() && self.sender.flight.is_sent();
        if is_there && (epoch > 0 || self.timer.hasten()) {
            self.timer.repeat();
            self.sender.flight.restart();
        }
    }

    /// Derives all keys. The transcript ends with the ClientKeyExchange, or with the ServerHello if there is none.
    pub(crate) fn derive(&mut self, crypto: &mut C, premaster: &Premaster) {
        let digest = self.sender.transcript.digest();
        let context = match self.agreed.extended_master_secret {
            true => Context::Session(&digest),
            false => Context::Randoms(&self.randoms),
        };
        let master = Master::new(crypto, premaster, &context);
        self.protect(crypto, master);
    }

    /// Derives the keys of records from the master secret.
    pub(super) fn protect(&mut self, crypto: &mut C, master: Master) {
        crypto.log_secret("CLIENT_RANDOM", &self.randoms[0], &master.0);
        let [client, server] = master.keys(crypto, &self.randoms);
        let (own, peers) = if self.is_client { (client, server) } else { (server, client) };
        let format = Format::new(self.agreed.lean, self.suite.aead());
        self.sender.outbound.protect(own, format);
        self.inbound.protect(peers, format);
        self.master = Some(master);
    }

    /// Derives all keys when nothing is left to send, or when a record arrives that needs them.
    pub(crate) fn postpone(&mut self, premaster: Premaster) {
        self.postponed = Feature::<LEAN>::only(|| premaster);
    }

    fn derive_postponed(&mut self, crypto: &mut C) {
        if let Some(premaster) = self.postponed.take() {
            self.derive(crypto, &premaster);
        }
    }

    /// Adds ChangeCipherSpec, if it is not left out, and Finished to the flight.
    pub(crate) fn finish(&mut self, crypto: &mut C) -> Result<(), Full> {
        let digest = self.sender.transcript.digest();
        let master = self.master.as_ref().ok_or(Full)?;
        let verify_data = master.verify_data(crypto, self.is_client, &digest);
        self.sender.flight.change();
        self.sender.send(Kind::Finished, |writer| writer.put(&verify_data))
    }

    /// From now on the peer's Finished is expected, which nobody else can send. What has arrived in clear is forgotten.
    pub(crate) fn expect_finished(&mut self) {
        self.expects = Expects::Finished;
        self.incoming.clear();
    }

    /// Handles the peer's Finished. The end that has not sent its own answers with it: the server, unless its Finished was
    /// the first. `handle` adds what comes before that. Returns false after a wrong one: the connection has failed.
    fn receive_finished(&mut self, crypto: &mut C, handle: &mut dyn FnMut(&mut Self, &mut C) -> bool) -> bool {
        if let Err(description) = self.verify_finished(crypto) {
            self.refuse(description);
            return false;
        }
        self.sender.flight.clear();
        handle(self, crypto);
        let is_server_first = self.is_resumed() || self.agreed.lean.has(Lean::SERVER_FINISHED_FIRST);
        let sent = if self.is_client == is_server_first { self.finish(crypto) } else { Ok(()) };
        match sent {
            Ok(()) => self.establish(),
            Err(Full) => self.end(Status::Failed(Failure::BufferTooSmall)),
        }
        true
    }

    /// Checks the message whose turn it is: only the peer can have sent it, because it was encrypted.
    ///
    /// # Errors
    /// The alert for the peer.
    fn verify_finished(&mut self, crypto: &mut C) -> Result<(), u8> {
        let (Some((header, body)), Some(master)) = (self.incoming.whole(self.next), &self.master) else {
            return Err(alert::DECRYPT_ERROR);
        };
        if header.kind != Kind::Finished {
            return Err(alert::UNEXPECTED_MESSAGE);
        }
        let digest = self.sender.transcript.digest();
        let expected = master.verify_data(crypto, !self.is_client, &digest);
        self.sender.note(&header, body);
        if bool::from(body.ct_eq(&expected)) { Ok(()) } else { Err(alert::DECRYPT_ERROR) }
    }

    pub(crate) fn is_resumed(&self) -> bool {
        self.resumption.first().is_some_and(|resumption| resumption.is_resumed)
    }

    /// The handshake is complete. The last flight answers the Finished of the other end.
    fn establish(&mut self) {
        self.wait(Some(self.next));
        self.status = Status::Established;
        self.expects = Expects::Nothing;
        if !self.is_client || !self.leaves_losses_to_the_client() {
            self.timer.stop();
        }
        // `take_state` takes one that is to be kept.
        if !self.resumption.first().is_some_and(|resumption| resumption.is_to_keep) {
            self.master = None;
        }
    }
}
