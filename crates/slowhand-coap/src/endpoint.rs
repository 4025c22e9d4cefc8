//! The messages and the requests between this end and one peer (RFC 7252 sections 4 and 5.2).

mod config;
mod ids;
mod memory;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub use config::Config;
use ids::MessageIds;
use memory::{Entry, Memory};

use crate::message::{self, Class, CoapOption, DecodeError, MessageType, Packet, ResponseType, Token};
use crate::observe::{DEREGISTER, Order, REGISTER};
use crate::timer::{Backoff, Timer};

/// While a peer does not answer, it gets so many octets in a second (PROBING_RATE, RFC 7252 section 4.8).
const PROBING_RATE: u64 = 1;
/// The number of the last non-confirmable messages that a Reset may belong to. It is assumed.
const UNCONFIRMED: usize = 16;

/// The type of a message that is sent (RFC 7252 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is sent again until the peer acknowledges it.
    Confirmable,
    /// It is sent once.
    NonConfirmable,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The peer asks for something. Answer with [`Endpoint::respond`].
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
    /// An answer to a request that asked to observe a resource, or a later state of the resource. More may follow.
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
    /// The peer has not got, or not understood, a response or a notification. It no longer observes the resource
    /// (RFC 7641 sections 3.6 and 4.5).
    Undelivered {
        /// The token of the response.
        token: Token,
        /// Why.
        failure: Failure,
    },
}

/// A request of the peer that waits for its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    id: u16,
    token: Token,
}

impl Incoming {
    /// The token of the request.
    pub fn token(&self) -> Token {
        self.token
    }
}

/// Why a message or a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// RFC 7252 section 4.2.
    #[error("the peer did not acknowledge the last retransmission")]
    TimedOut,
    /// RFC 7252 sections 4.2 and 4.3.
    #[error("the peer rejected the message with a Reset")]
    Reset,
    /// The wait for it is [`Config::response_wait`].
    #[error("the peer did not send a response")]
    NoResponse,
    /// RFC 7252 section 5.4.1.
    #[error("the response has the critical option {0}, which is not understood")]
    CriticalOption(u16),
}

/// Why a message was not taken for sending. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// Send it in blocks, or raise [`Config::max_message`].
    #[error("a message with more than {limit} octets, or an option that is too long")]
    TooLong {
        /// The most octets of a message.
        limit: usize,
    },
    /// Wait for responses, or raise [`Config::max_requests`].
    #[error("{limit} requests wait for their responses, or all tokens are in use")]
    TooManyRequests {
        /// The most requests.
        limit: usize,
    },
    /// Wait until the peer acknowledges what was sent, or raise [`Config::max_waiting`].
    #[error("{limit} messages wait to be sent, one after the other")]
    TooManyWaiting {
        /// The most messages.
        limit: usize,
    },
    /// The peer could take a new message for a copy of an old one (RFC 7252 section 4.4).
    #[error("the message IDs are used up for now: send fewer than 32,768 messages in one EXCHANGE_LIFETIME")]
    NoMessageId,
    /// It has been answered, or it was too long ago.
    #[error("no such request waits for a response")]
    NoSuchRequest,
}

/// One end of a conversation with one peer, as client and as server.
///
/// It does no I/O. Give it a datagram or a time, then take out all that it sends and all that has happened, and ask for its
/// next deadline. All times count from the same beginning, and do not go back.
///
/// Its memory has bounds, which [`Config`] sets, if what it sends and what has happened is taken out after each call.
pub struct Endpoint {
    config: Config,
    random: Box<dyn FnMut() -> u64 + Send>,
    timer: Timer,
    ids: MessageIds,
    /// The message that the peer has to acknowledge before anything else is sent: NSTART is 1 (RFC 7252 section 4.7).
    outstanding: Option<Outstanding>,
    waiting: VecDeque<Message>,
    requests: BTreeMap<Token, Requested>,
    memory: Memory,
    /// Requests that get an empty acknowledgement at a time, in its order.
    unacknowledged: VecDeque<(Duration, u16)>,
    /// The last messages that were sent once.
    unconfirmed: VecDeque<(u16, Token, Role)>,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Request,
    Response,
    Notification,
}

struct Message {
    id: u16,
    token: Token,
    role: Role,
    delivery: Delivery,
    octets: Vec<u8>,
}

struct Outstanding {
    message: Message,
    begun: Duration,
    /// The end of the present wait.
    until: Duration,
    /// Of a confirmable message.
    backoff: Option<Backoff>,
    retransmissions: u32,
}

/// A request of this end.
struct Requested {
    expects: Expects,
    /// When it fails. `None` before it is sent, and when it observes.
    until: Option<Duration>,
}

enum Expects {
    Response,
    Notifications(Order),
    /// The response to the end of an observation. Notifications with the same token may still be under way.
    EndOfNotifications,
}

impl Endpoint {
    /// An end that has not sent anything. `random` gives numbers that are uniform over all values.
    pub fn new(config: Config, mut random: impl FnMut() -> u64 + Send + 'static) -> Self {
        Self {
            timer: Timer::new(config.algorithm, config.transmission),
            ids: MessageIds::from(random() as u16),
            outstanding: None,
            waiting: VecDeque::new(),
            requests: BTreeMap::new(),
            memory: Memory::new(config.max_remembered),
            unacknowledged: VecDeque::new(),
            unconfirmed: VecDeque::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            config,
            random: Box::new(random),
        }
    }

    /// Sends a request with a new token, as soon as the peer has acknowledged what was sent before. The packet needs a method, and
    /// options and a payload as the method wants them. With the option Observe of value 0 it asks to observe the resource.
    ///
    /// # Errors
    /// The packet is too long, or too much waits already.
    pub fn request(&mut self, now: Duration, packet: Packet, delivery: Delivery) -> Result<Token, SendError> {
        let (random, limit) = ((self.random)(), self.config.max_requests);
        let is_used = |token: &Token| self.requests.contains_key(token);
        let token = Token::unused(random, self.config.token_length, limit, is_used);
        let token = token.ok_or(SendError::TooManyRequests { limit })?;
        self.request_with(now, token, packet, delivery)?;
        Ok(token)
    }

    /// Sends a request with this token: to end an observation, or to ask for it again (RFC 7641 sections 3.3.1 and 3.6). It takes
    /// the place of the request that has the token.
    ///
    /// # Errors
    /// The packet is too long, or too much waits already.
    pub fn request_with(
        &mut self,
        now: Duration,
        token: Token,
        packet: Packet,
        delivery: Delivery,
    ) -> Result<(), SendError> {
        if !self.requests.contains_key(&token) && self.requests.len() >= self.config.max_requests {
            return Err(SendError::TooManyRequests { limit: self.config.max_requests });
        }
        let expects = match message::number(&packet, CoapOption::Observe) {
            Some(REGISTER) => Expects::Notifications(Order::default()),
            Some(DEREGISTER) => Expects::EndOfNotifications,
            _ => Expects::Response,
        };
        let message = self.message(now, packet, token, Role::Request, delivery)?;
        self.enqueue(now, message)?;
        // A request that has been sent already has its time.
        let is_sent = self.outstanding.as_ref().is_some_and(|outstanding| outstanding.is_request(token));
        let until = is_sent.then(|| now.saturating_add(self.config.response_wait));
        self.requests.insert(token, Requested { expects, until });
        Ok(())
    }

    /// Forgets a request: a response to it is rejected. That also ends an observation, at the next notification
    /// (RFC 7641 section 3.6).
    pub fn forget(&mut self, now: Duration, token: Token) {
        self.requests.remove(&token);
        self.waiting.retain(|message| message.token != token || message.role != Role::Request);
        self.outstanding.take_if(|outstanding| outstanding.is_request(token));
        self.send_waiting(now);
    }

    /// Answers a request, in the acknowledgement if it was not sent yet.
    ///
    /// # Errors
    /// The request has an answer already or is too old, the packet is too long, or too much waits already.
    pub fn respond(&mut self, now: Duration, to: Incoming, packet: Packet) -> Result<(), SendError> {
        let Some(entry) = self.memory.open(now, to.id, to.token) else { return Err(SendError::NoSuchRequest) };
        let (delivery, is_acknowledged) = (entry.delivery, entry.reply.is_some());
        if delivery == Delivery::Confirmable && !is_acknowledged {
            let octets = self.encoded(packet, to.token, MessageType::Acknowledgement, to.id)?;
            self.acknowledge_with(now, to.id, octets);
        } else {
            let message = self.message(now, packet, to.token, Role::Response, delivery)?;
            self.send(now, message)?;
        }
        if let Some(entry) = self.memory.open(now, to.id, to.token) {
            entry.is_open = false;
        }
        Ok(())
    }

    /// Acknowledges a request whose response takes long (RFC 7252 section 5.2.2). Without this call it happens after
    /// [`Config::acknowledge_after`]. Does nothing if it has happened.
    pub fn acknowledge(&mut self, now: Duration, request: Incoming) {
        if self.memory.open(now, request.id, request.token).is_some_and(|entry| entry.waits_for_acknowledgement()) {
            self.acknowledge_with(now, request.id, message::empty(MessageType::Acknowledgement, request.id));
        }
    }

    /// Sends the state of a resource to the peer, which observes it with a request of this token (RFC 7641 section 4.2). It takes the
    /// place of an earlier notification that was not sent yet (section 4.5.2). Non-confirmable ones are sent at once: how often is up
    /// to the caller (section 4.5.1).
    ///
    /// # Errors
    /// The packet is too long, or too much waits already.
    pub fn notify(&mut self, now: Duration, token: Token, packet: Packet, delivery: Delivery) -> Result<(), SendError> {
        let message = self.message(now, packet, token, Role::Notification, delivery)?;
        self.waiting.retain(|waiting| waiting.token != token || waiting.role != Role::Notification);
        self.send(now, message)
    }

    /// Processes a datagram of the peer.
    pub fn handle_input(&mut self, now: Duration, octets: &[u8]) {
        match message::decode(octets) {
            Ok(packet) => self.handle_message(now, packet),
            // All other faults are ignored (RFC 7252 sections 3 and 4.3).
            Err(DecodeError::Format { kind: MessageType::Confirmable, id, .. }) => self.reset(id),
            Err(_) => {}
        }
        self.send_waiting(now);
    }

    /// Processes the timers that have expired at `now`.
    pub fn handle_timeout(&mut self, now: Duration) {
        if let Some(outstanding) = self.outstanding.take_if(|outstanding| outstanding.until <= now) {
            self.expire(now, outstanding);
        }
        while let Some((_, id)) = self.unacknowledged.front().copied().filter(|(at, _)| *at <= now) {
            self.acknowledge_with(now, id, message::empty(MessageType::Acknowledgement, id));
        }
        let is_late = |requested: &Requested| requested.until.is_some_and(|until| until <= now);
        while let Some(token) = self.requests.iter().find(|(_, requested)| is_late(requested)).map(|(token, _)| *token)
        {
            self.end_request(token, Event::Failed { token, failure: Failure::NoResponse });
        }
        self.send_waiting(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next. `None` if no timer runs.
    pub fn deadline(&self) -> Option<Duration> {
        let sending = self.outstanding.as_ref().map(|outstanding| outstanding.until);
        let acknowledging = self.unacknowledged.front().map(|(at, _)| *at);
        let answers = self.requests.values().filter_map(|requested| requested.until).min();
        [sending, acknowledging, answers].into_iter().flatten().min()
    }

    /// The next datagram for the peer.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// The next thing that has happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn handle_message(&mut self, now: Duration, packet: Packet) {
        let id = packet.header.message_id;
        match packet.header.get_type() {
            MessageType::Acknowledgement => self.handle_acknowledgement(now, packet),
            MessageType::Reset => self.handle_reset(id),
            kind => {
                let is_confirmable = kind == MessageType::Confirmable;
                let delivery = if is_confirmable { Delivery::Confirmable } else { Delivery::NonConfirmable };
                if self.is_copy(now, id) {
                    return;
                }
                match message::class(&packet) {
                    Class::Request => self.handle_request(now, packet, delivery),
                    Class::Success | Class::Error => self.handle_response(now, packet, delivery),
                    // A ping (RFC 7252 section 4.3). A non-confirmable message is never empty, so it is ignored.
                    Class::Empty if delivery == Delivery::Confirmable => self.reset(id),
                    Class::Empty | Class::Signal | Class::Reserved => {}
                }
            }
        }
    }

    /// True if a message with this ID came before. It gets the same answer again (RFC 7252 section 4.5).
    fn is_copy(&mut self, now: Duration, id: u16) -> bool {
        let Some(entry) = self.memory.get(now, id) else { return false };
        if let Some(reply) = &entry.reply {
            self.transmits.push_back(reply.clone());
        } else if entry.waits_for_acknowledgement() {
            // The peer has waited so long that it sent the request again.
            self.acknowledge_with(now, id, message::empty(MessageType::Acknowledgement, id));
        }
        true
    }

    fn handle_request(&mut self, now: Duration, packet: Packet, delivery: Delivery) {
        let from = Incoming { id: packet.header.message_id, token: Token::of(&packet) };
        self.remember(now, from.id, Entry { delivery, token: from.token, is_open: true, reply: None });
        match message::refusal(&packet, &self.config.critical_options) {
            // RFC 7252 section 5.4.1: such a request is rejected, here without a Reset.
            Some(ResponseType::BadOption) if delivery == Delivery::NonConfirmable => {}
            // If the refusal cannot be sent, the peer asks again.
            Some(code) => drop(self.respond(now, from, message::response(code, []))),
            None => {
                if delivery == Delivery::Confirmable {
                    self.unacknowledged.push_back((now.saturating_add(self.config.acknowledge_after), from.id));
                }
                self.events.push_back(Event::Request { from, packet });
            }
        }
    }

    fn handle_response(&mut self, now: Duration, packet: Packet, delivery: Delivery) {
        let (id, token) = (packet.header.message_id, Token::of(&packet));
        let is_expected = self.requests.contains_key(&token);
        let is_understood = message::not_understood(&packet, &self.config.critical_options).is_none();
        let reply = match (delivery, is_expected && is_understood) {
            (Delivery::Confirmable, true) => Some(message::empty(MessageType::Acknowledgement, id)),
            (Delivery::NonConfirmable, true) => None,
            // So the peer ends an observation that this end has forgotten (RFC 7641 section 3.6).
            (_, false) => Some(message::empty(MessageType::Reset, id)),
        };
        self.transmits.extend(reply.clone());
        self.remember(now, id, Entry { delivery, token, is_open: false, reply });
        self.take_response(now, token, packet, false);
    }

    fn handle_acknowledgement(&mut self, now: Duration, packet: Packet) {
        let (class, token) = (message::class(&packet), Token::of(&packet));
        let is_it = |outstanding: &mut Outstanding| {
            let Message { id, role, delivery, token: expected, .. } = outstanding.message;
            id == packet.header.message_id
                && delivery == Delivery::Confirmable
                && match class {
                    Class::Empty => true,
                    // A response in the acknowledgement of a request (RFC 7252 section 5.3.2).
                    Class::Success | Class::Error => role == Role::Request && token == expected,
                    Class::Request | Class::Signal | Class::Reserved => false,
                }
        };
        let Some(outstanding) = self.outstanding.take_if(is_it) else { return };
        let round_trip = now.saturating_sub(outstanding.begun);
        self.timer.measured(now, round_trip, outstanding.retransmissions);
        if class != Class::Empty {
            self.take_response(now, token, packet, true);
        }
    }

    /// A response to a request of this end has come, if one has this token.
    fn take_response(&mut self, now: Duration, token: Token, packet: Packet, is_piggybacked: bool) {
        let Some(requested) = self.requests.get_mut(&token) else { return };
        let observe =
            message::number(&packet, CoapOption::Observe).filter(|_| message::class(&packet) == Class::Success);
        if let Some(option) = message::not_understood(&packet, &self.config.critical_options) {
            self.end_request(token, Event::Failed { token, failure: Failure::CriticalOption(option) });
            return;
        }
        match (&mut requested.expects, observe) {
            (Expects::Notifications(order), Some(value)) => {
                requested.until = None;
                if order.is_newer(now, value) {
                    self.events.push_back(Event::Notification { token, packet });
                }
                // The acknowledgement was lost, but the response has come (RFC 7252 section 5.2.2).
                self.outstanding.take_if(|outstanding| outstanding.is_request(token));
            }
            (Expects::EndOfNotifications, Some(_)) if !is_piggybacked => {}
            _ => self.end_request(token, Event::Response { token, packet }),
        }
    }

    fn end_request(&mut self, token: Token, event: Event) {
        self.requests.remove(&token);
        self.outstanding.take_if(|outstanding| outstanding.is_request(token));
        self.events.push_back(event);
    }

    fn handle_reset(&mut self, id: u16) {
        if let Some(Outstanding { message, .. }) = self.outstanding.take_if(|outstanding| outstanding.message.id == id)
        {
            self.fail(message.token, message.role, Failure::Reset);
        } else if let Some(at) = self.unconfirmed.iter().position(|(sent, ..)| *sent == id) {
            let (_, token, role) = self.unconfirmed.remove(at).expect("it is at this position");
            self.fail(token, role, Failure::Reset);
        }
    }

    fn fail(&mut self, token: Token, role: Role, failure: Failure) {
        match role {
            Role::Request if self.requests.contains_key(&token) => {
                self.end_request(token, Event::Failed { token, failure });
            }
            Role::Request => {}
            Role::Response => self.events.push_back(Event::Undelivered { token, failure }),
            Role::Notification => {
                self.waiting.retain(|waiting| waiting.token != token || waiting.role != Role::Notification);
                self.events.push_back(Event::Undelivered { token, failure });
            }
        }
    }

    /// The wait for an acknowledgement is over.
    fn expire(&mut self, now: Duration, mut outstanding: Outstanding) {
        let Some(backoff) = &mut outstanding.backoff else { return };
        let end = outstanding.begun.saturating_add(self.config.transmission.max_transmit_wait());
        if outstanding.retransmissions >= self.config.transmission.max_retransmit || end <= now {
            self.fail(outstanding.message.token, outstanding.message.role, Failure::TimedOut);
            return;
        }
        backoff.back_off();
        outstanding.until = now.saturating_add(backoff.wait()).min(end);
        outstanding.retransmissions += 1;
        self.transmits.push_back(outstanding.message.octets.clone());
        self.outstanding = Some(outstanding);
    }

    /// Sends an answer or a notification: if it is confirmable, when its turn has come.
    fn send(&mut self, now: Duration, message: Message) -> Result<(), SendError> {
        if message.delivery == Delivery::Confirmable {
            return self.enqueue(now, message);
        }
        self.send_once(message);
        Ok(())
    }

    fn send_once(&mut self, message: Message) {
        if self.unconfirmed.len() == UNCONFIRMED {
            self.unconfirmed.pop_front();
        }
        self.unconfirmed.push_back((message.id, message.token, message.role));
        self.transmits.push_back(message.octets);
    }

    fn enqueue(&mut self, now: Duration, message: Message) -> Result<(), SendError> {
        if self.waiting.len() >= self.config.max_waiting {
            return Err(SendError::TooManyWaiting { limit: self.config.max_waiting });
        }
        self.waiting.push_back(message);
        self.send_waiting(now);
        Ok(())
    }

    fn send_waiting(&mut self, now: Duration) {
        if self.outstanding.is_some() {
            return;
        }
        let Some(message) = self.waiting.pop_front() else { return };
        if let (Role::Request, Some(requested)) = (message.role, self.requests.get_mut(&message.token)) {
            requested.until = Some(now.saturating_add(self.config.response_wait));
        }
        let (wait, backoff) = match message.delivery {
            Delivery::Confirmable => {
                let random = (self.random)();
                let backoff = self.timer.start(now, random);
                self.transmits.push_back(message.octets.clone());
                (backoff.wait().min(self.config.transmission.max_transmit_wait()), Some(backoff))
            }
            Delivery::NonConfirmable => {
                let wait = Duration::from_secs(message.octets.len() as u64 / PROBING_RATE);
                self.send_once(Message { octets: message.octets.clone(), ..message });
                (wait, None)
            }
        };
        let until = now.saturating_add(wait);
        self.outstanding = Some(Outstanding { message, begun: now, until, backoff, retransmissions: 0 });
    }

    fn acknowledge_with(&mut self, now: Duration, id: u16, octets: Vec<u8>) {
        self.unacknowledged.retain(|(_, waiting)| *waiting != id);
        if let Some(entry) = self.memory.get(now, id) {
            entry.reply = Some(octets.clone());
        }
        self.transmits.push_back(octets);
    }

    fn reset(&mut self, id: u16) {
        self.transmits.push_back(message::empty(MessageType::Reset, id));
    }

    fn remember(&mut self, now: Duration, id: u16, entry: Entry) {
        let lifetime = match entry.delivery {
            Delivery::Confirmable => self.config.transmission.exchange_lifetime(),
            Delivery::NonConfirmable => self.config.transmission.non_lifetime(),
        };
        if let Some(forgotten) = self.memory.insert(now.saturating_add(lifetime), id, entry) {
            self.unacknowledged.retain(|(_, waiting)| *waiting != forgotten);
        }
    }

    fn message(
        &mut self,
        now: Duration,
        packet: Packet,
        token: Token,
        role: Role,
        delivery: Delivery,
    ) -> Result<Message, SendError> {
        let kind = match delivery {
            Delivery::Confirmable => MessageType::Confirmable,
            Delivery::NonConfirmable => MessageType::NonConfirmable,
        };
        let octets = self.encoded(packet, token, kind, self.ids.next())?;
        let id = self.ids.take(now, self.config.transmission.exchange_lifetime()).ok_or(SendError::NoMessageId)?;
        Ok(Message { id, token, role, delivery, octets })
    }

    fn encoded(&self, mut packet: Packet, token: Token, kind: MessageType, id: u16) -> Result<Vec<u8>, SendError> {
        packet.header.set_version(1);
        packet.header.set_type(kind);
        packet.header.message_id = id;
        packet.set_token(token.octets().to_vec());
        let limit = self.config.max_message;
        packet.to_bytes_with_limit(limit).map_err(|_| SendError::TooLong { limit })
    }
}

impl Outstanding {
    fn is_request(&self, token: Token) -> bool {
        self.message.role == Role::Request && self.message.token == token
    }
}
