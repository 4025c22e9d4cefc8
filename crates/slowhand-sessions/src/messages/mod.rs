//! Sessions whose data are CoAP messages: over UDP, protected by OSCORE, over TCP, or over DTLS or TLS.

mod counting;
mod edhoc;
mod end;
mod link;
mod over_tls;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use slowhand_coap::edhoc::combined;
use slowhand_coap::message::{self, Packet, RequestType, ResponseType, Token};
use slowhand_coap::oscore::{self, ClientExchange, Context, ServerExchange};

use crate::coap::{Coap, REQUEST_OVERHEAD};
use crate::session::Failure;
use counting::Counting;
use edhoc::{Answer, Handshake, Next};
use link::{Asker, Event, Link};

pub(crate) use end::CoapEnd;
pub(crate) use over_tls::CoapOverTls;

/// The resource to which data are sent. Its name has one octet, which counts in [`REQUEST_OVERHEAD`].
const PATH: &str = "d";

/// The messages of one end, between the data of its user and what carries them.
struct Messages {
    link: Link,
    /// What protects the messages. `None`: nothing, or DTLS or TLS below, or the handshake is not so far.
    context: Option<Context>,
    /// The handshake that gives a context, if there is one.
    handshake: Option<Handshake>,
    /// Requests of the peer that wait for their response, in the order in which they came.
    waiting: VecDeque<(Asker, Option<ServerExchange>)>,
    /// The requests of this end that are protected.
    protected: BTreeMap<Token, ClientExchange>,
    /// True if the peer wants nothing more.
    is_released: bool,
    failure: Option<Failure>,
}

impl Messages {
    /// An end that has not sent anything. `mtu`: the most octets of a datagram; `random` gives numbers that are uniform over all
    /// values.
    fn new(
        coap: &Coap,
        mtu: Option<u16>,
        context: Option<Context>,
        handshake: Option<Handshake>,
        random: impl FnMut() -> u64 + Send + 'static,
    ) -> Self {
        let critical_options = handshake.iter().map(|_| combined::OPTION).collect();
        Self {
            link: Link::new(coap, mtu, critical_options, random),
            context,
            handshake,
            waiting: VecDeque::new(),
            protected: BTreeMap::new(),
            is_released: false,
            failure: None,
        }
    }

    /// The most octets of data in one message.
    fn max_data(&self) -> usize {
        // The longer one of request and response is the request. OSCORE: `Context::protect_request` says 12 octets, 5 for the
        // sequence number and 1 for the sender ID at most.
        let protection = if self.context.is_some() || self.handshake.is_some() { 12 + 5 + 1 } else { 0 };
        self.link.max_message().saturating_sub(REQUEST_OVERHEAD + protection)
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
        let sent = request.map_or(Ok(()), |request| self.link.request(now, request).map(drop));
        if let Err(reason) = sent {
            self.failure.get_or_insert(Failure::library(0, reason));
        }
    }

    /// Sends data: the response to the oldest request that waits, or a request of this end's own.
    fn write(&mut self, now: Duration, data: &[u8]) {
        let sent = match self.waiting.pop_front() {
            Some((request, exchange)) => self.respond(now, request, exchange, data),
            None => self.request(now, data),
        };
        if let Err(reason) = sent {
            self.failure.get_or_insert(Failure::library(0, reason));
        }
    }

    fn request(&mut self, now: Duration, data: &[u8]) -> Result<(), String> {
        let mut request = message::request(RequestType::Post, PATH);
        request.payload = data.to_vec();
        let Some(context) = &mut self.context else {
            return self.link.request(now, request).map(drop);
        };
        let (mut protected, exchange) = context.protect_request(&request, &mut Counting).map_err(in_words)?;
        if let Some(handshake) = &mut self.handshake {
            protected = handshake.with_message_3(protected);
        }
        let token = self.link.request(now, protected)?;
        self.protected.insert(token, exchange);
        Ok(())
    }

    fn respond(
        &mut self,
        now: Duration,
        request: Asker,
        exchange: Option<ServerExchange>,
        data: &[u8],
    ) -> Result<(), String> {
        let mut response = message::response(ResponseType::Changed, data);
        if let (Some(context), Some(mut exchange)) = (&mut self.context, exchange) {
            response = context.protect_response(&response, &mut exchange, &mut Counting).map_err(in_words)?;
        }
        self.link.respond(now, &request, response)
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
                Event::Request { from, packet } => self.take_request(now, from, &packet, deliver),
                Event::Response { token, packet } => self.take_response(now, token, packet, deliver),
                Event::Failed { token, failure } => {
                    token.and_then(|token| self.protected.remove(&token));
                    self.failure = self.failure.take().or(failure);
                }
                Event::Released => self.is_released = true,
            }
        }
    }

    fn take_request(&mut self, now: Duration, from: Asker, request: &Packet, deliver: &mut dyn FnMut(&[u8])) {
        match self.handshake.as_mut().map(|handshake| handshake.answer(request)) {
            None => self.take_data(now, from, request, deliver),
            Some(Answer::Nothing(protected, context)) => {
                self.context = context.or(self.context.take());
                self.take_data(now, from, &protected, deliver);
            }
            Some(Answer::With(answer, context)) => {
                self.context = context.or(self.context.take());
                // If it cannot be sent, the peer asks again.
                let _ = self.link.respond(now, &from, answer);
            }
        }
    }

    /// Takes a request of the peer's user.
    fn take_data(&mut self, now: Duration, from: Asker, request: &Packet, deliver: &mut dyn FnMut(&[u8])) {
        let answer = match &mut self.context {
            None if self.handshake.is_some() => Some(message::response(ResponseType::Unauthorized, [])),
            None => {
                self.waiting.push_back((from, None));
                return deliver_data(&request.payload, deliver);
            }
            Some(context) => match context.unprotect_request(request, &mut Counting) {
                Ok(oscore::Incoming::Request(request, exchange)) => {
                    self.waiting.push_back((from, Some(exchange)));
                    return deliver_data(&request.payload, deliver);
                }
                Ok(oscore::Incoming::Challenge(answer)) => Some(answer),
                Err(error) => error.answer(request),
            },
        };
        if let Some(answer) = answer {
            // If it cannot be sent, the peer asks again.
            let _ = self.link.respond(now, &from, answer);
        }
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
        if let (Some(context), Some(mut exchange)) = (&mut self.context, self.protected.remove(&token)) {
            match context.unprotect_response(&response, &mut exchange, &mut Counting) {
                Ok(verified) => response = verified,
                Err(error) => {
                    self.failure.get_or_insert(Failure::library(0, in_words(error)));
                    return;
                }
            }
        }
        deliver_data(&response.payload, deliver);
    }
}

fn deliver_data(data: &[u8], deliver: &mut dyn FnMut(&[u8])) {
    if !data.is_empty() {
        deliver(data);
    }
}

fn in_words(error: impl std::error::Error) -> String {
    error.to_string()
}
