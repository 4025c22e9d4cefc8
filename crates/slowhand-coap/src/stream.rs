//! CoAP over reliable transports (RFC 8323): the messages and the requests of one connection of TCP or TLS. Blocks of BERT (section 6)
//! are left out.

mod frame;
mod signal;

use std::collections::{BTreeMap, VecDeque};

pub use frame::{FrameError, decode};
pub use signal::{Signal, SignalError};

use crate::message::{self, Class, CoapOption, Packet, Token};
use crate::observe::REGISTER;
use frame::Decoder;

/// Octets of a message that each end takes before its CSM says more (RFC 8323 section 5.3.1).
pub const BASE_MESSAGE: usize = 1_152;

/// The settings of an end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most octets of a message that it takes, its Max-Message-Size. Less than [`BASE_MESSAGE`], which is the default, counts as
    /// that. An end that takes longer ones does not announce that it knows blocks: it would promise those of BERT (RFC 8323
    /// section 5.3.2).
    pub max_message: usize,
    /// Octets of a new token. Default: 4, as over datagrams. More than 8 counts as 8.
    pub token_length: u8,
    /// The most requests that wait for responses, with those that observe. Default: 64, which is assumed.
    pub max_requests: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_message: BASE_MESSAGE, token_length: 4, max_requests: 64 }
    }
}

/// An event.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// The peer asks for something. Answer with [`Connection::respond`].
    Request {
        /// For the answer.
        from: Incoming,
        /// The request.
        packet: Packet,
    },
    /// The answer to a request: nothing follows.
    Response {
        /// The token of the request.
        token: Token,
        /// The answer.
        packet: Packet,
    },
    /// An answer to a request that asked to observe a resource, or a later state of the resource. More may follow. The stream has
    /// them in their order, so the value of Observe says nothing (RFC 8323 section 7.1).
    Notification {
        /// The token of the request.
        token: Token,
        /// The state.
        packet: Packet,
    },
    /// There will be no answer to a request.
    Failed {
        /// The token of the request.
        token: Token,
        /// Why.
        failure: Failure,
    },
    /// The answer to a Ping.
    Pong,
    /// The peer wants no more requests. Those that it has are answered. Close the connection after the last answer.
    Released,
    /// Nothing more is sent or taken. Close the connection after what is to be sent.
    Ended(Failure),
}

/// A request of the peer that waits for its response.
#[derive(Debug, PartialEq, Eq)]
pub struct Incoming {
    token: Token,
}

/// Why a request, or a connection, failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// RFC 7252 section 5.4.1.
    #[error("the response has the critical option {0}, which is not understood")]
    CriticalOption(u16),
    /// RFC 8323 section 3.2.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// RFC 8323 section 5.3.
    #[error("the first message of the peer is not a CSM")]
    NoCsm,
    /// RFC 8323 section 5.2.
    #[error(transparent)]
    Signal(#[from] SignalError),
    /// RFC 8323 section 5.6.
    #[error("the peer has aborted the connection: {0:?}")]
    Aborted(String),
}

/// Why a message was not taken for sending. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// Send it in blocks.
    #[error("a message with more than {limit} octets, or an option that is too long")]
    TooLong {
        /// The most octets of a message that the peer takes.
        limit: usize,
    },
    /// Wait for responses, or raise [`Config::max_requests`].
    #[error("{limit} requests wait for their responses, or all tokens are in use")]
    TooManyRequests {
        /// The most requests.
        limit: usize,
    },
    /// One end has released or aborted the connection.
    #[error("the connection takes no more such messages")]
    Ended,
}

/// One end of a connection with one peer, as client and as server.
///
/// It does no I/O and has no timers: the transport repeats what is lost. Give it octets of the stream, cut anyhow, then take out
/// all that it sends and all that has happened.
///
/// Its memory has bounds, which [`Config`] sets, if what it sends and what has happened is taken out after each call.
pub struct Connection {
    config: Config,
    random: Box<dyn FnMut() -> u64 + Send>,
    decoder: Decoder,
    /// True if this end has sent its CSM.
    is_open: bool,
    /// True if the CSM of the peer has come.
    has_csm: bool,
    /// The most octets of a message that the peer takes.
    peer_takes: usize,
    /// The requests of this end that wait for responses, each with whether it observes.
    requests: BTreeMap<Token, bool>,
    /// True if a Ping has no Pong.
    waits_for_pong: bool,
    /// True if one end has released the connection.
    is_released: bool,
    has_ended: bool,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
}

impl Connection {
    /// An end of a connection that has not sent anything. `random` gives numbers that are uniform over all values.
    pub fn new(config: Config, random: impl FnMut() -> u64 + Send + 'static) -> Self {
        let limit = config.max_message.max(BASE_MESSAGE);
        Self {
            config: Config { max_message: limit, ..config },
            random: Box::new(random),
            decoder: Decoder::new(limit),
            is_open: false,
            has_csm: false,
            peer_takes: BASE_MESSAGE,
            requests: BTreeMap::new(),
            waits_for_pong: false,
            is_released: false,
            has_ended: false,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Sends the CSM, if it has not been sent. The end that has opened the connection calls this before anything else, and need not
    /// wait for the CSM of the peer. The other end may call it; without that it happens when the peer's first message has come (RFC
    /// 8323 section 5.3).
    pub fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) {
            let max_message = u32::try_from(self.config.max_message).unwrap_or(u32::MAX);
            let blocks = self.config.max_message == BASE_MESSAGE;
            self.signal(&Signal::Csm { max_message: Some(max_message), blocks });
        }
    }

    /// True if this end may send: it has sent its CSM, and the connection has not ended.
    pub const fn is_open(&self) -> bool {
        self.is_open && !self.has_ended
    }

    /// The most octets of a message that the peer takes, as far as it has said.
    pub const fn peer_takes(&self) -> usize {
        self.peer_takes
    }

    /// Sends a request with a new token. The packet needs a method, and options and a payload as the method wants them. With the option
    /// Observe of value 0 it asks to observe the resource.
    ///
    /// # Errors
    /// The packet is too long, too much waits already, or the connection is not open.
    pub fn request(&mut self, packet: Packet) -> Result<Token, SendError> {
        if self.is_released || !self.is_open() {
            return Err(SendError::Ended);
        }
        let limit = self.config.max_requests;
        if self.requests.len() >= limit {
            return Err(SendError::TooManyRequests { limit });
        }
        let (random, is_used) = ((self.random)(), |token: &Token| self.requests.contains_key(token));
        let token = Token::unused(random, self.config.token_length, limit, is_used);
        let token = token.ok_or(SendError::TooManyRequests { limit })?;
        let observes = message::number(&packet, CoapOption::Observe) == Some(REGISTER);
        self.send(packet, token)?;
        self.requests.insert(token, observes);
        Ok(token)
    }

    /// Forgets a request: a response to it is ignored, and so are notifications.
    pub fn forget(&mut self, token: Token) {
        self.requests.remove(&token);
    }

    /// Answers a request; one that observes, with each state of the resource (RFC 7641 section 4.2).
    ///
    /// # Errors
    /// The packet is too long, or the connection has ended.
    pub fn respond(&mut self, to: &Incoming, packet: Packet) -> Result<(), SendError> {
        if self.has_ended { Err(SendError::Ended) } else { self.send(packet, to.token) }
    }

    /// Asks if the peer is there (RFC 8323 section 5.4). The answer is [`Event::Pong`]. The token is empty: libcoap 4.3 answers with
    /// an empty one in any case.
    ///
    /// # Errors
    /// The connection is not open.
    pub fn ping(&mut self) -> Result<(), SendError> {
        if !self.is_open() {
            return Err(SendError::Ended);
        }
        self.waits_for_pong = true;
        self.signal(&Signal::Ping(Token::default()));
        Ok(())
    }

    /// Tells the peer that this end wants no more requests, and has none (RFC 8323 section 5.5). Those that are open are answered.
    pub fn release(&mut self) {
        if self.is_open() && !std::mem::replace(&mut self.is_released, true) {
            self.signal(&Signal::Release);
        }
    }

    /// Processes octets of the stream.
    pub fn handle_input(&mut self, mut input: &[u8]) {
        while !self.has_ended {
            match self.decoder.next(&mut input) {
                Ok(Some(packet)) => self.handle_message(packet),
                Ok(None) => return,
                Err(error) => self.abort(error.into()),
            }
        }
    }

    /// The next message for the peer.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// The next thing that has happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn handle_message(&mut self, packet: Packet) {
        self.open();
        let signal = match message::class(&packet) {
            Class::Signal => Signal::read(&packet),
            _ if !self.has_csm => return self.abort(Failure::NoCsm),
            Class::Request => return self.handle_request(packet),
            Class::Success | Class::Error => return self.handle_response(packet),
            Class::Empty | Class::Reserved => return,
        };
        match signal {
            Ok(signal) => self.handle_signal(signal),
            Err(error) => self.abort(error.into()),
        }
    }

    fn handle_signal(&mut self, signal: Signal) {
        match signal {
            Signal::Csm { max_message, .. } => {
                self.peer_takes = max_message.map_or(self.peer_takes, |octets| octets as usize);
                self.has_csm = true;
            }
            Signal::Abort { diagnostic, .. } => self.end(Failure::Aborted(diagnostic)),
            _ if !self.has_csm => self.abort(Failure::NoCsm),
            Signal::Ping(token) => self.signal(&Signal::Pong(token)),
            Signal::Pong(token) => {
                if token == Token::default() && std::mem::take(&mut self.waits_for_pong) {
                    self.events.push_back(Event::Pong);
                }
            }
            Signal::Release => {
                self.is_released = true;
                self.events.push_back(Event::Released);
            }
        }
    }

    fn handle_request(&mut self, packet: Packet) {
        let from = Incoming { token: Token::of(&packet) };
        match message::refusal(&packet, &[]) {
            // A peer that does not take so short a message gets none.
            Some(code) => drop(self.respond(&from, message::response(code, []))),
            None => self.events.push_back(Event::Request { from, packet }),
        }
    }

    fn handle_response(&mut self, packet: Packet) {
        let token = Token::of(&packet);
        let Some(observes) = self.requests.remove(&token) else { return };
        let is_state = message::class(&packet) == Class::Success && packet.get_option(CoapOption::Observe).is_some();
        self.events.push_back(match message::not_understood(&packet, &[]) {
            Some(option) => Event::Failed { token, failure: Failure::CriticalOption(option) },
            None if observes && is_state => {
                self.requests.insert(token, observes);
                Event::Notification { token, packet }
            }
            None => Event::Response { token, packet },
        });
    }

    /// Tells the peer why the connection ends, and ends it.
    fn abort(&mut self, failure: Failure) {
        self.open();
        let bad_option = match failure {
            Failure::Signal(SignalError::CsmOption(number)) => Some(number),
            _ => None,
        };
        self.signal(&Signal::Abort { bad_option, diagnostic: failure.to_string() });
        self.end(failure);
    }

    fn end(&mut self, failure: Failure) {
        self.has_ended = true;
        for token in std::mem::take(&mut self.requests).into_keys() {
            self.events.push_back(Event::Failed { token, failure: failure.clone() });
        }
        self.events.push_back(Event::Ended(failure));
    }

    /// Sends a Signaling message. It is short, so the peer takes it.
    fn signal(&mut self, signal: &Signal) {
        self.transmits.extend(frame::encode(&signal.packet(), BASE_MESSAGE));
    }

    fn send(&mut self, mut packet: Packet, token: Token) -> Result<(), SendError> {
        packet.set_token(token.octets().to_vec());
        let limit = self.peer_takes;
        let octets = frame::encode(&packet, limit).ok_or(SendError::TooLong { limit })?;
        self.transmits.push_back(octets);
        Ok(())
    }
}
