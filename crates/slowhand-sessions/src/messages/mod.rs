//! Sessions whose data are CoAP messages: over UDP, protected by OSCORE, over TCP, or over DTLS or TLS. And sessions of DTLS whose flights
//! are in CoAP messages.

mod counting;
mod edhoc;
mod end;
mod in_coap;
mod less;
mod link;
mod observers;
mod over_tls;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use slowhand_coap::block::{self, Block, BlockSize, Step};
use slowhand_coap::edhoc::combined;
use slowhand_coap::message::{self, Class, CoapOption, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe::register;
use slowhand_coap::oscore::{self, ClientExchange, Context, ServerExchange};
use slowhand_coap::timer::Transmission;

use crate::coap::{Coap, MAX_BODY, REQUEST_OVERHEAD};
use crate::config::Role;
use crate::session::{Failure, FailureKind};
use edhoc::{Answer, Handshake, Next};
use link::{Asker, Event, Link};
use observers::{OBSERVE, Observers, success};

pub(crate) use counting::Counting;
pub(crate) use end::CoapEnd;
pub(crate) use in_coap::{DtlsInCoap, below as below_coap};
pub(crate) use less::LessEnd;
pub(crate) use over_tls::CoapOverTls;
pub use over_tls::max_message;

/// The resource to which requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    /// For the data of a user.
    Data,
    /// For the flights of DTLS. Each has an answer, perhaps an empty one.
    Dtls,
}

impl Resource {
    /// Its path. That of data has one octet, which counts in [`REQUEST_OVERHEAD`]; the other one is *assumed*, as in
    /// draft-keoh-dtls-profile-iot-00.
    const fn path(self) -> &'static str {
        match self {
            Self::Data => "d",
            Self::Dtls => "dtls",
        }
    }

    /// Octets of a request beside its payload.
    const fn overhead(self) -> usize {
        REQUEST_OVERHEAD + self.path().len() - Self::Data.path().len()
    }
}

/// The most octets that the options Block1, Block2 and Size1 or Size2 of one message have (RFC 7959 sections 2.2 and 4): 5, 4 and 4.
const BLOCK_OPTIONS: usize = 5 + 4 + 4;

/// The messages of one end, between the data of its user and what carries them.
struct Messages {
    link: Link,
    /// The device's clock after what was computed since the time that it is given: a message is ready then, and its timer
    /// starts.
    clock: fn(Duration) -> Duration,
    /// The protection of the messages. `None`: nothing, or DTLS or TLS below, or the handshake is not so far.
    context: Option<Context>,
    /// The handshake that gives a context, if there is one.
    handshake: Option<Handshake>,
    resource: Resource,
    /// The largest block.
    block: BlockSize,
    /// The requests of this end.
    requests: BTreeMap<Token, Requested>,
    /// The request whose body has more blocks.
    uploading: Option<Token>,
    /// Data for requests. They wait for the last block of the one before: those of two would be mixed up (RFC 7959 section 2.5).
    bodies: VecDeque<Vec<u8>>,
    /// Requests of the peer that wait for their response, in the order in which they came.
    waiting: VecDeque<Asked>,
    /// Requests of the peer with the data of their response. They wait until the peer has asked for the last block of the one before.
    answers: VecDeque<(Asked, Vec<u8>)>,
    /// When this end no longer waits for that.
    serving_until: Option<Duration>,
    server: block::Server,
    observing: Observing,
    /// True if the peer wants nothing more.
    is_released: bool,
    failure: Option<Failure>,
}

/// The observations of an end.
enum Observing {
    /// It observes nothing, and nobody observes it.
    Nothing,
    /// A client, whose next request observes.
    Next,
    /// A client with the request that observes.
    Begun(Token),
    /// A server. On the heap: most have none.
    Server(Box<Observers>),
}

/// A request of this end.
struct Requested {
    transfer: block::Client,
    /// The exchange that reads the response, if it is protected.
    exchange: Option<ClientExchange>,
}

/// A request of the peer.
struct Asked {
    from: Asker,
    /// The exchange that protects the response, if it is protected.
    exchange: Option<ServerExchange>,
    /// It without its body.
    request: Packet,
}

impl Messages {
    /// An end that has not sent anything. `mtu`: the most octets of a message over datagrams; `random` gives numbers that are
    /// uniform over all values.
    fn new(
        coap: &Coap,
        role: Role,
        mtu: Option<u16>,
        context: Option<Context>,
        handshake: Option<Handshake>,
        clock: fn(Duration) -> Duration,
        random: impl FnMut() -> u64 + Send + 'static,
    ) -> Self {
        let critical_options = handshake.iter().map(|_| combined::OPTION).collect();
        let link = Link::new(coap, mtu, critical_options, random);
        let resource = Resource::Data;
        let room = room(&link, resource, context.as_ref(), handshake.as_ref());
        Self {
            link,
            clock,
            context,
            handshake,
            resource,
            block: coap.block,
            requests: BTreeMap::new(),
            uploading: None,
            bodies: VecDeque::new(),
            waiting: VecDeque::new(),
            answers: VecDeque::new(),
            serving_until: None,
            server: block::Server::new(block_size(coap.block, room), MAX_BODY),
            observing: match (coap.notifications, role) {
                (None, _) => Observing::Nothing,
                (Some(_), Role::Client) => Observing::Next,
                (Some(delivery), Role::Server) => Observing::Server(Box::new(Observers::new(delivery))),
            },
            is_released: false,
            failure: None,
        }
    }

    /// The most octets of data in one message without options of blocks.
    fn room(&self) -> usize {
        room(&self.link, self.resource, self.context.as_ref(), self.handshake.as_ref())
    }

    /// True if data of this length go in one message.
    fn is_whole(&self, length: usize) -> bool {
        length <= self.room() && (self.link.is_stream() || length <= self.block.octets())
    }

    fn block_size(&self) -> BlockSize {
        block_size(self.block, self.room())
    }

    /// True if this end may send data: there is no handshake, or none left.
    fn is_established(&self) -> bool {
        self.link.is_open() && self.handshake.as_ref().is_none_or(Handshake::is_established)
    }

    /// A client whose path is there begins its handshake, if it has one.
    fn start(&mut self, now: Duration) {
        self.link.open();
        let Some(handshake) = &mut self.handshake else { return };
        match handshake.start() {
            Ok(request) => self.send_of_handshake(now, request),
            Err(failure) => _ = self.failure.get_or_insert(failure),
        }
    }

    fn send_of_handshake(&mut self, now: Duration, request: Option<Packet>) {
        let at = (self.clock)(now);
        let sent = request.map_or(Ok(()), |request| self.link.request(at, request).map(drop));
        self.note(sent);
    }

    /// Sends data: the response to the oldest request that waits, a notification, or a request of this end's own.
    fn write(&mut self, now: Duration, data: &[u8]) {
        match (self.waiting.pop_front(), &self.observing) {
            (Some(asked), _) => self.answers.push_back((asked, data.to_vec())),
            (None, Observing::Server(_)) => {
                let sent = self.notify(now, data);
                self.note(sent);
            }
            (None, _) => self.bodies.push_back(data.to_vec()),
        }
        self.send_waiting(now);
    }

    /// Sends what need not wait any longer.
    fn send_waiting(&mut self, now: Duration) {
        while self.uploading.is_none()
            && let Some(body) = self.bodies.pop_front()
        {
            let sent = self.request(now, body);
            self.note(sent);
        }
        while self.serving_until.is_none_or(|until| until <= now)
            && let Some((asked, data)) = self.answers.pop_front()
        {
            let sent = self.respond(now, asked, data);
            self.note(sent);
        }
    }

    fn note(&mut self, sent: Result<(), String>) {
        if let Err(reason) = sent {
            self.failure.get_or_insert(Failure::library(0, reason));
        }
    }

    fn request(&mut self, now: Duration, body: Vec<u8>) -> Result<(), String> {
        if matches!(self.observing, Observing::Next) {
            return self.observe(now, body);
        }
        let is_whole = self.is_whole(body.len());
        let mut request = message::request(RequestType::Post, self.resource.path());
        request.payload = body;
        let (transfer, first) = match is_whole {
            true => block::Client::whole(request, MAX_BODY),
            false => block::Client::new(request, self.block_size(), MAX_BODY),
        }
        .map_err(in_words)?;
        self.send(now, transfer, first).map(drop)
    }

    /// Asks to observe the resource.
    fn observe(&mut self, now: Duration, body: Vec<u8>) -> Result<(), String> {
        self.check_whole(body.len())?;
        let mut request = register(message::request(RequestType::Fetch, self.resource.path()));
        request.payload = body;
        let (transfer, first) = block::Client::whole(request, MAX_BODY).map_err(in_words)?;
        self.observing = Observing::Begun(self.send(now, transfer, first)?);
        Ok(())
    }

    /// Checks that data of this length go in one message that has the option Observe.
    fn check_whole(&self, length: usize) -> Result<(), String> {
        let is_whole = self.is_whole(length) && length + OBSERVE <= self.room();
        let reason = || format!("{length} octets need blocks (RFC 7959), and what is observed goes in one message");
        is_whole.then_some(()).ok_or_else(reason)
    }

    /// Sends a request, which is a step of a transfer.
    fn send(&mut self, now: Duration, transfer: block::Client, mut request: Packet) -> Result<Token, String> {
        let has_more = has_more(&request, CoapOption::Block1);
        let mut exchange = None;
        if let Some(context) = &mut self.context {
            let (protected, of_request) = context.protect_request(&request, &mut Counting).map_err(in_words)?;
            exchange = Some(of_request);
            request = match &mut self.handshake {
                Some(handshake) => handshake.with_message_3(protected),
                None => protected,
            };
        }
        let token = self.link.request((self.clock)(now), request)?;
        if has_more {
            self.uploading = Some(token);
        }
        self.requests.insert(token, Requested { transfer, exchange });
        Ok(token)
    }

    fn respond(&mut self, now: Duration, asked: Asked, data: Vec<u8>) -> Result<(), String> {
        let Asked { from, exchange, request } = asked;
        let asks_for_blocks = request.get_option(CoapOption::Block2).is_some();
        let is_whole = self.is_whole(data.len()) && !asks_for_blocks;
        let observes = match &mut self.observing {
            Observing::Server(observers) if !asks_for_blocks => observers.handle_request(&request),
            _ => false,
        };
        if observes {
            return self.respond_to_observer(now, Asked { from, exchange, request }, data);
        }
        let response = message::response(success(&request), data);
        let response = match is_whole {
            true => self.server.send_whole(&request, response),
            false => self.server.send(now, &request, response),
        };
        self.answer(now, &from, exchange, response)
    }

    /// Sends the first response to a request that observes: it is a notification too.
    fn respond_to_observer(&mut self, now: Duration, asked: Asked, data: Vec<u8>) -> Result<(), String> {
        self.check_whole(data.len())?;
        let Asked { from, mut exchange, request } = asked;
        let Observing::Server(observers) = &mut self.observing else { return Ok(()) };
        let response = observers.notification(message::response(ResponseType::Content, data), self.link.is_stream());
        let response = self.server.send_whole(&request, response);
        let response = protect(&mut self.context, &mut exchange, response)?;
        let at = (self.clock)(now);
        self.link.respond(at, &from, response)?;
        observers.keep(at, Token::of(&request), from, exchange);
        Ok(())
    }

    /// Sends a state to all that observe.
    fn notify(&mut self, now: Duration, data: &[u8]) -> Result<(), String> {
        self.check_whole(data.len())?;
        let Observing::Server(observers) = &mut self.observing else { return Ok(()) };
        let state = observers.notification(message::response(ResponseType::Content, data), self.link.is_stream());
        for (observer, delivery) in observers.told(now) {
            let state = protect(&mut self.context, &mut observer.exchange, state.clone())?;
            self.link.notify((self.clock)(now), &observer.from, state, delivery)?;
        }
        Ok(())
    }

    /// Sends a response, which may be one block of many.
    fn answer(
        &mut self,
        now: Duration,
        from: &Asker,
        mut exchange: Option<ServerExchange>,
        response: Packet,
    ) -> Result<(), String> {
        if response.get_option(CoapOption::Block2).is_some() {
            // As long as the server keeps the body.
            let until = now.saturating_add(Transmission::DEFAULT.exchange_lifetime());
            self.serving_until = has_more(&response, CoapOption::Block2).then_some(until);
        }
        let response = protect(&mut self.context, &mut exchange, response)?;
        self.link.respond((self.clock)(now), from, response)
    }

    /// Processes a datagram of the peer, or octets of its stream. Passes the data in it to `deliver`.
    fn handle_input(&mut self, now: Duration, octets: &[u8], deliver: &mut dyn FnMut(&[u8])) {
        self.link.handle_input(now, octets);
        self.process(now, deliver);
    }

    fn handle_timeout(&mut self, now: Duration, deliver: &mut dyn FnMut(&[u8])) {
        self.link.handle_timeout(now);
        self.process(now, deliver);
    }

    fn process(&mut self, now: Duration, deliver: &mut dyn FnMut(&[u8])) {
        while let Some(event) = self.link.poll_event() {
            match event {
                Event::Request(from, packet) => self.take_request(now, from, packet, deliver),
                Event::Response(token, packet) => self.take_response(now, token, packet, deliver),
                Event::Failed { token, failure } => {
                    token.and_then(|token| self.requests.remove(&token));
                    self.uploading.take_if(|uploading| Some(*uploading) == token);
                    let in_handshake = self.resource == Resource::Dtls
                        || self.handshake.as_ref().is_some_and(Handshake::waits_for_response);
                    let unanswered = in_handshake.then(|| Failure {
                        kind: FailureKind::TimedOut,
                        reason: "the peer did not send a response in the handshake".to_owned(),
                    });
                    self.failure = self.failure.take().or(failure).or(unanswered);
                }
                Event::Notification(token, packet) => self.take_notification(token, packet, deliver),
                Event::Undelivered { token, is_rejected, failure } => {
                    let ends_observation = match &mut self.observing {
                        Observing::Server(observers) => observers.end(token),
                        _ => false,
                    };
                    // A client that no longer observes says so by rejecting (RFC 7641 section 3.6): the session goes on.
                    self.failure = self.failure.take().or(failure.filter(|_| !(ends_observation && is_rejected)));
                }
                Event::Released => self.is_released = true,
            }
        }
        self.send_waiting(now);
    }

    fn take_request(&mut self, now: Duration, from: Asker, request: Packet, deliver: &mut dyn FnMut(&[u8])) {
        match self.handshake.as_mut().map(|handshake| handshake.answer(&request)) {
            None => self.take_protected(now, from, request, deliver),
            Some(Answer::Nothing(protected, context)) => {
                self.context = context.or(self.context.take());
                self.take_protected(now, from, protected, deliver);
            }
            Some(Answer::With(answer, context)) => {
                self.context = context.or(self.context.take());
                let sent = self.link.respond((self.clock)(now), &from, answer);
                self.note(sent);
            }
        }
    }

    /// Takes a request of the peer's user, which may be protected.
    fn take_protected(&mut self, now: Duration, from: Asker, request: Packet, deliver: &mut dyn FnMut(&[u8])) {
        let answer = match &mut self.context {
            None if self.handshake.is_some() => Some(message::response(ResponseType::Unauthorized, [])),
            None => return self.take_data(now, from, None, request, deliver),
            Some(context) => match context.unprotect_request(&request, &mut Counting) {
                Ok(oscore::Incoming::Request(request, exchange)) => {
                    return self.take_data(now, from, Some(exchange), request, deliver);
                }
                Ok(oscore::Incoming::Challenge(answer)) => Some(answer),
                Err(error) => error.answer(&request),
            },
        };
        if let Some(answer) = answer {
            let sent = self.link.respond((self.clock)(now), &from, answer);
            self.note(sent);
        }
    }

    /// Takes a request that can be read, or one block of it.
    fn take_data(
        &mut self,
        now: Duration,
        from: Asker,
        exchange: Option<ServerExchange>,
        request: Packet,
        deliver: &mut dyn FnMut(&[u8]),
    ) {
        let mut request = match self.server.receive(now, request) {
            block::Incoming::Whole(request) => request,
            block::Incoming::Part(answer) => {
                let sent = self.answer(now, &from, exchange, answer);
                return self.note(sent);
            }
        };
        if matches!(Block::of(&request, CoapOption::Block2), Ok(Some(block)) if block.number > 0) {
            // It asks for more of a response that is not kept any longer.
            let sent = self.answer(now, &from, exchange, message::response(ResponseType::BadRequest, []));
            return self.note(sent);
        }
        let data = std::mem::take(&mut request.payload);
        self.waiting.push_back(Asked { from, exchange, request });
        deliver_data(&data, deliver);
    }

    fn take_response(&mut self, now: Duration, token: Token, mut response: Packet, deliver: &mut dyn FnMut(&[u8])) {
        if let Some(handshake) = self.handshake.as_mut().filter(|handshake| handshake.waits_for_response()) {
            let Next { context, request, result } = handshake.receive(&response);
            self.context = context.or(self.context.take());
            self.send_of_handshake(now, request);
            if let Err(failure) = result {
                self.failure.get_or_insert(failure);
            }
            return;
        }
        let Some(Requested { mut transfer, exchange }) = self.requests.remove(&token) else { return };
        self.uploading.take_if(|uploading| *uploading == token);
        if let (Some(context), Some(mut exchange)) = (&mut self.context, exchange) {
            match context.unprotect_response(&response, &mut exchange, &mut Counting) {
                Ok(verified) => response = verified,
                Err(error) => return self.note(Err(in_words(error))),
            }
        }
        match transfer.handle_response(response) {
            Step::Next(request) => {
                let sent = self.send(now, transfer, request).map(drop);
                self.note(sent);
            }
            Step::Done(response) if message::class(&response) == Class::Success => {
                deliver_data(&response.payload, deliver);
                if matches!(self.observing, Observing::Begun(observed) if observed == token) {
                    self.note(Err("the peer sends no notifications, or no more of them".to_owned()));
                }
            }
            Step::Done(response) => self.note(Err(format!("the peer answered {}", response.header.get_code()))),
            Step::Failed(error) => self.note(Err(in_words(error))),
        }
    }

    /// Takes a state of what this end observes. What cannot be verified, or is older than what came before, is ignored (RFC 8613 section
    /// 8.4).
    fn take_notification(&mut self, token: Token, mut state: Packet, deliver: &mut dyn FnMut(&[u8])) {
        let Some(Requested { exchange, .. }) = self.requests.get_mut(&token) else { return };
        if let (Some(context), Some(exchange)) = (&mut self.context, exchange) {
            match context.unprotect_response(&state, exchange, &mut Counting) {
                Ok(verified) => state = verified,
                Err(_) => return,
            }
        }
        deliver_data(&state.payload, deliver);
    }
}

/// Protects a response, if its request was protected.
fn protect(
    context: &mut Option<Context>,
    exchange: &mut Option<ServerExchange>,
    response: Packet,
) -> Result<Packet, String> {
    let (Some(context), Some(exchange)) = (context, exchange) else { return Ok(response) };
    context.protect_response(&response, exchange, &mut Counting).map_err(in_words)
}

/// The most octets of data in one message without options of blocks.
fn room(link: &Link, resource: Resource, context: Option<&Context>, handshake: Option<&Handshake>) -> usize {
    // The longer one of request and response is the request. OSCORE: `Context::protect_request` says 12 octets, 5 for the
    // sequence number and 1 for the sender ID at most.
    let protection = if context.is_some() || handshake.is_some() { 12 + 5 + 1 } else { 0 };
    let of_handshake = handshake.map_or(0, Handshake::overhead);
    link.max_message().saturating_sub(resource.overhead() + protection + of_handshake)
}

/// The largest block that fits where a message has so many octets of data.
fn block_size(largest: BlockSize, room: usize) -> BlockSize {
    largest.min(BlockSize::at_most(room.saturating_sub(BLOCK_OPTIONS)))
}

/// True if the message is a block of a body, of which more follow.
fn has_more(packet: &Packet, option: CoapOption) -> bool {
    matches!(Block::of(packet, option), Ok(Some(block)) if block.more)
}

fn deliver_data(data: &[u8], deliver: &mut dyn FnMut(&[u8])) {
    if !data.is_empty() {
        deliver(data);
    }
}

fn in_words(error: impl std::error::Error) -> String {
    error.to_string()
}
