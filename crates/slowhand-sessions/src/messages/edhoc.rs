//! The handshake of EDHOC (RFC 9528) over CoAP, after which OSCORE protects the messages.

use slowhand_coap::edhoc::crypto::Scalar;
use slowhand_coap::edhoc::{
    self, ConnectionId, Credential, Error, Established, Identity, Initiator, Responder, coap, combined,
};
use slowhand_coap::message::{self, Packet};
use slowhand_coap::oscore::Context;

use super::counting::Counting;
use crate::coap::{Edhoc, Transfer};
use crate::config::Role;
use crate::credentials::edhoc as keys;
use crate::session::Failure;

/// By what the ends name a session: an octet each, those of RFC 9529 chapter 3.
const C_I: [u8; 1] = [0x37];
const C_R: [u8; 1] = [0x27];

/// The cipher suites of an initiator: suite 2, which the library has alone.
const SUITES: [u8; 1] = [2];

/// An end of a handshake.
pub(super) struct Handshake {
    options: Edhoc,
    own: Identity,
    known: [Credential; 1],
    state: State,
}

enum State {
    /// A client that has not begun.
    New,
    /// A client that has sent message_1.
    Message2(Initiator),
    /// A client that has sent message_3, and waits for the answer to it.
    Message4(Box<Established>),
    /// A client that sends message_3 with its first request.
    Combined(Vec<u8>),
    /// A server: it waits for message_1, or for message_3.
    Server(Option<Responder>),
    Established,
}

/// The next step of a client after a response.
pub(super) struct Next {
    /// It has this context from now on.
    pub(super) context: Option<Context>,
    /// It sends this.
    pub(super) request: Option<Packet>,
    pub(super) result: Result<(), Failure>,
}

/// The answer of a server to a request. It has the context, if there is one, from now on.
pub(super) enum Answer {
    /// The handshake has no answer: this request is left to process.
    Nothing(Packet, Option<Context>),
    /// It answers with this.
    With(Packet, Option<Context>),
}

impl Handshake {
    pub(super) fn new(options: Edhoc, role: Role) -> Result<Self, Failure> {
        let credential = |role| Credential::ccs(keys::ccs(role)).map_err(failure);
        let state = match role {
            Role::Client => State::New,
            Role::Server => State::Server(None),
        };
        let transfer = match options.transfer {
            Transfer::Reference => edhoc::Transfer::Reference,
            Transfer::Value => edhoc::Transfer::Value,
        };
        let own = Identity { credential: credential(role)?, private: Scalar::new(*keys::private(role)), transfer };
        Ok(Self { options, own, known: [credential(role.peer())?], state })
    }

    pub(super) const fn is_established(&self) -> bool {
        matches!(self.state, State::Established | State::Combined(_))
    }

    /// A client's first request.
    pub(super) fn start(&mut self) -> Result<Option<Packet>, Failure> {
        let State::New = self.state else { return Ok(None) };
        let c_i = ConnectionId::new(&C_I).map_err(failure)?;
        let (waiting, message_1) = Initiator::start(c_i, &SUITES, &mut Counting).map_err(failure)?;
        self.state = State::Message2(waiting);
        Ok(Some(coap::first_request(&message_1)))
    }

    /// True if a response belongs to the handshake: a client has no other request under way before it is established.
    pub(super) const fn waits_for_response(&self) -> bool {
        matches!(self.state, State::Message2(_) | State::Message4(_))
    }

    /// A client receives a response.
    pub(super) fn receive(&mut self, response: &Packet) -> Next {
        match std::mem::replace(&mut self.state, State::New) {
            State::Message2(waiting) => self.message_2(waiting, response),
            State::Message4(established) => {
                let result = self.message_4(&established, response).map_err(failure);
                self.state = State::Established;
                Next { context: None, request: None, result }
            }
            state => {
                self.state = state;
                Next { context: None, request: None, result: Ok(()) }
            }
        }
    }

    fn message_2(&mut self, waiting: Initiator, response: &Packet) -> Next {
        let failed = |error, request| Next { context: None, request, result: Err(failure(error)) };
        let message_2 = match coap::read_response(response) {
            Ok(message_2) => message_2,
            Err(error) => return failed(error, None),
        };
        let (established, message_3) = match waiting.receive(message_2, &self.own, &self.known, &mut Counting) {
            Ok(received) => received,
            Err(edhoc::Failure { error, c_r }) => {
                let message = c_r.zip(error.message());
                let request = message.map(|(c_r, message)| coap::later_request(&c_r, &message.write()));
                return failed(error, request);
            }
        };
        let context = match established.oscore(&mut Counting) {
            Ok(context) => Some(context),
            Err(error) => return failed(error, None),
        };
        if self.options.combined {
            self.state = State::Combined(message_3);
            return Next { context, request: None, result: Ok(()) };
        }
        let request = Some(coap::later_request(established.peer_id(), &message_3));
        self.state = State::Message4(Box::new(established));
        Next { context, request, result: Ok(()) }
    }

    fn message_4(&self, established: &Established, response: &Packet) -> Result<(), Error> {
        let message_4 = coap::read_response(response)?;
        if self.options.message_4 { established.verify_message_4(message_4, &mut Counting) } else { Ok(()) }
    }

    /// Octets that the next protected request has more, because it carries message_3.
    pub(super) fn overhead(&self) -> usize {
        match &self.state {
            // The option EDHOC (RFC 9668 section 3.1) is empty: two octets.
            State::Combined(message_3) => message_3.len() + 2,
            _ => 0,
        }
    }

    /// A client's protected request, with message_3 if it has not been sent yet.
    pub(super) fn with_message_3(&mut self, protected: Packet) -> Packet {
        match std::mem::replace(&mut self.state, State::Established) {
            State::Combined(message_3) => combined::request(&message_3, protected),
            state => {
                self.state = state;
                protected
            }
        }
    }

    /// A server receives a request.
    pub(super) fn answer(&mut self, request: &Packet) -> Answer {
        if message::path(request) == coap::PATH {
            return match self.answer_edhoc(request) {
                Ok((answer, context)) => Answer::With(answer, context),
                Err(error) => Answer::With(coap::refusal(&error), None),
            };
        }
        let taken = combined::read(request).and_then(|found| match found {
            Some(_) if self.options.message_4 => Err(Error::Combined),
            Some(found) => {
                let (_, context) = self.message_3(&found.c_r, found.message_3)?;
                Ok((found.protected, Some(context)))
            }
            None => Ok((request.clone(), None)),
        });
        match taken {
            Ok((protected, context)) => Answer::Nothing(protected, context),
            Err(error) => Answer::With(combined::refusal(&error), None),
        }
    }

    fn answer_edhoc(&mut self, request: &Packet) -> Result<(Packet, Option<Context>), Error> {
        match coap::read_request(request)? {
            // A session is one handshake.
            coap::Request::First { .. } if self.is_established() => Err(Error::UnknownSession),
            coap::Request::First { message_1 } => {
                let choices = [ConnectionId::new(&C_R)?];
                let (waiting, message_2) = Responder::start(message_1, &choices, &self.own, &mut Counting)?;
                self.state = State::Server(Some(waiting));
                Ok((coap::response(&message_2), None))
            }
            coap::Request::Later { c_r, message } => {
                let (established, context) = self.message_3(&c_r, message)?;
                let message_4 = match self.options.message_4 {
                    true => established.message_4(&mut Counting)?,
                    false => Vec::new(),
                };
                Ok((coap::response(&message_4), Some(context)))
            }
        }
    }

    fn message_3(&mut self, c_r: &ConnectionId, message_3: &[u8]) -> Result<(Established, Context), Error> {
        let State::Server(waiting) = &mut self.state else { return Err(Error::UnknownSession) };
        let waiting = waiting.take_if(|waiting| waiting.c_r() == c_r).ok_or(Error::UnknownSession)?;
        let established = waiting.receive(message_3, &self.known, &mut Counting)?;
        let context = established.oscore(&mut Counting)?;
        self.state = State::Established;
        Ok((established, context))
    }
}

fn failure(error: Error) -> Failure {
    Failure::library(0, error.to_string())
}
