//! A session of LESS: its handshake over CoAP, then records of DTLS 1.2.

use slowhand_coap::less::{ALERT, APPLICATION_DATA, Client, Keys, Next, OPTIONS, Records, Server};
use slowhand_coap::message::{self, Packet, ResponseType, is_coap};

use super::counting::Counting;
use super::link::{Asker, Event, Link};
use crate::coap::Coap;
use crate::config::{Credential, PSK, PSK_IDENTITY, Role, SessionConfig};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::session::{Failure, FailureKind};

/// The content of close_notify (RFC 5246 section 7.2).
const CLOSE_NOTIFY: [u8; 2] = [1, 0];

/// One end of a session of LESS. What it carries is data, which may be messages of CoAP.
pub(crate) struct LessEnd {
    link: Box<Link>,
    handshake: Handshake,
    /// Once the handshake is over.
    records: Option<Records>,
    /// The most octets of a datagram.
    mtu: Option<u16>,
    failure: Option<Failure>,
    has_closed: bool,
    is_closed_by_peer: bool,
}

enum Handshake {
    /// A client, and its first request until it is sent.
    Client(Client, Option<Packet>),
    Server(Server),
}

impl LessEnd {
    /// An end of a checked configuration.
    pub(crate) fn new(config: &SessionConfig, coap: &Coap) -> Self {
        let (identity, key) = match &config.credential {
            Credential::Psk { identity, key } => (identity.as_str(), key[..].try_into().unwrap_or(PSK)),
            _ => (PSK_IDENTITY, PSK),
        };
        let handshake = match config.role {
            Role::Client => {
                let (client, first) = Client::start(key, identity.as_bytes());
                Handshake::Client(client, Some(first))
            }
            Role::Server => Handshake::Server(Server::new(key, identity.as_bytes())),
        };
        let link = Link::new(coap, config.mtu, OPTIONS.to_vec(), || u64::from_le_bytes(device::random()));
        Self {
            link: Box::new(link),
            handshake,
            records: None,
            mtu: config.mtu,
            failure: None,
            has_closed: false,
            is_closed_by_peer: false,
        }
    }

    fn process(&mut self) {
        while let Some(event) = self.link.poll_event() {
            match event {
                Event::Request(from, packet) => self.answer(&from, &packet),
                Event::Response(_, packet) => self.receive(&packet),
                Event::Failed { failure, .. } => {
                    let unanswered = || Failure {
                        kind: FailureKind::TimedOut,
                        reason: "the peer did not send a response in the handshake".to_owned(),
                    };
                    self.fail(failure.unwrap_or_else(unanswered));
                }
                // Nobody observes. A response that has not arrived is asked for again.
                Event::Notification(..) | Event::Undelivered { .. } | Event::Released => {}
            }
        }
    }

    fn answer(&mut self, from: &Asker, request: &Packet) {
        let (answer, keys) = match &mut self.handshake {
            Handshake::Server(server) => server.receive(request, &mut Counting),
            Handshake::Client(..) => (message::response(ResponseType::NotFound, []), None),
        };
        let sent = self.link.respond(device::clock(), from, answer);
        self.note(sent);
        if let Some(keys) = keys {
            self.establish(&keys, false);
        }
    }

    fn receive(&mut self, response: &Packet) {
        let Handshake::Client(client, _) = &mut self.handshake else { return };
        match client.receive(response, &mut Counting) {
            Ok(Next::Request(request)) => self.request(request),
            Ok(Next::Established(keys)) => self.establish(&keys, true),
            Err(error) => self.fail(Failure::library(0, error.to_string())),
        }
    }

    fn request(&mut self, request: Packet) {
        let sent = self.link.request(device::clock(), request).map(drop);
        self.note(sent);
    }

    fn establish(&mut self, keys: &Keys, is_client: bool) {
        device::verified();
        self.records = Some(Records::new(keys, is_client, &mut Counting));
    }

    fn note(&mut self, sent: Result<(), String>) {
        if let Err(reason) = sent {
            self.fail(Failure::library(0, reason));
        }
    }

    /// A session that is open stays so: its records need no messages.
    fn fail(&mut self, failure: Failure) {
        if self.records.is_none() {
            self.failure.get_or_insert(failure);
        }
    }

    fn progress(&mut self) -> Progress {
        while let Some(octets) = self.link.poll_transmit() {
            device::transmit(&octets);
        }
        let state = match &self.failure {
            Some(failure) => State::Failed(failure.clone()),
            None if self.is_closed_by_peer => State::ClosedByPeer,
            None if self.records.is_some() => State::Established,
            None => State::Handshaking,
        };
        Progress { state, deadline: self.link.deadline().filter(|_| !self.has_closed) }
    }

    fn send(&mut self, kind: u8, content: &[u8]) {
        let record = self.records.as_mut().and_then(|records| records.seal(kind, content, &mut Counting));
        if let Some(record) = record {
            device::transmit(&record);
        }
    }
}

impl Library for LessEnd {
    fn start(&mut self) -> Progress {
        if let Handshake::Client(_, first) = &mut self.handshake
            && let Some(request) = first.take()
        {
            self.request(request);
        }
        self.progress()
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        if is_coap(input) {
            self.link.handle_input(device::clock(), input);
            self.process();
        } else if let Some(records) = &mut self.records {
            for (kind, content) in records.open(input, &mut Counting) {
                match kind {
                    APPLICATION_DATA => device::deliver(&content),
                    ALERT => self.is_closed_by_peer |= content == CLOSE_NOTIFY,
                    _ => {}
                }
            }
        }
        self.progress()
    }

    fn handle_timeout(&mut self) -> Progress {
        self.link.handle_timeout(device::clock());
        self.process();
        self.progress()
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.send(APPLICATION_DATA, data);
        self.progress()
    }

    /// A record has 2^14 octets at most (RFC 5246 section 6.2.1).
    fn max_data(&self) -> Option<usize> {
        let of_datagram = self.mtu.map(|mtu| usize::from(mtu).saturating_sub(Records::OVERHEAD));
        Some(of_datagram.unwrap_or(1 << 14))
    }

    fn close(&mut self) -> Progress {
        self.has_closed = true;
        self.send(ALERT, &CLOSE_NOTIFY);
        self.progress()
    }
}
