//! EDHOC: the traces of its standard, what each end accepts, what it costs, what is true under faults, and lakers and aiocoap as
//! peers.

mod costs;
mod exchanges;
mod faults;
mod peer;
mod properties;
mod vectors;

use slowhand_coap::edhoc::crypto::Scalar;
use slowhand_coap::edhoc::{
    ConnectionId, Credential, Crypto, Error, Established, Identity, Initiator, Responder, Software, Transfer, coap,
    combined,
};
use slowhand_coap::message::{self, Packet, RequestType, ResponseType};
use slowhand_coap::oscore::{self, Context};
use slowhand_testing::hex::octets;

/// RFC 9529, chapter 3: the ephemeral keys, the static keys and the credentials.
const X: &str = "368ec1f69aeb659ba37d5a8d45b21bdc0299dceaa8ef235f3ca42ce3530f9525";
const Y: &str = "e2f4126777205e853b437d6eaca1e1f753cdcc3e2c69fa884b0a1a640977e418";
const SK_I: &str = "fb13adeb6518cee5f88417660841142e830a81fe334380a953406a1305e8706b";
const SK_R: &str = "72cc4761dbd4c78f758931aa589d348d1ef874a7e303ede2f140dcf3e6aa4aac";
const CRED_I: &str = "a2027734322d35302d33312d46462d45462d33372d33322d333908a101a5010202412b2001215820ac75e9ece3e50bfc8ed603998895\
    22405c47bf16df96660a41298cb4307f7eb62258206e5de611388a4b8a8211334ac7d37ecb52a387d257e6db3c2a93df21ff3affc8";
const CRED_R: &str = "a2026b6578616d706c652e65647508a101a501020241322001215820bbc34960526ea4d32e940cad2a234148ddc21791a12afbcbac93\
    622046dd44f02258204519e257236b2a0ce2023f0931f1f386ca7afda64fcde0108c224c51eabf6072";

fn id(hexadecimal: &str) -> ConnectionId {
    ConnectionId::new(&octets(hexadecimal)).unwrap()
}

fn credential(hexadecimal: &str) -> Credential {
    Credential::ccs(&octets(hexadecimal)).unwrap()
}

fn identity(credential: Credential, private: &str, transfer: Transfer) -> Identity {
    let mut key = Scalar::default();
    key.copy_from_slice(&octets(private));
    Identity { credential, private: key, transfer }
}

fn initiator(transfer: Transfer) -> Identity {
    identity(credential(CRED_I), SK_I, transfer)
}

fn responder(transfer: Transfer) -> Identity {
    identity(credential(CRED_R), SK_R, transfer)
}

/// Software whose ephemeral private key is this one, each time.
fn with_key(hexadecimal: &str) -> Software<impl FnMut(&mut [u8]) + use<>> {
    let key = octets(hexadecimal);
    Software(move |output: &mut [u8]| output.copy_from_slice(&key))
}

/// The messages of a session, and what both ends have then.
struct Session {
    messages: [Vec<u8>; 4],
    ends: [Established; 2],
}

/// A whole session with the keys of the standard.
fn session(transfer: Transfer, suites: &[u8]) -> Result<Session, Error> {
    let (mut x, mut y) = (with_key(X), with_key(Y));
    session_with(&initiator(transfer), &responder(transfer), suites, &mut x, &mut y)
}

fn session_with(
    own: &Identity,
    peer: &Identity,
    suites: &[u8],
    x: &mut impl Crypto,
    y: &mut impl Crypto,
) -> Result<Session, Error> {
    let (waiting, message_1) = Initiator::start(id("37"), suites, x)?;
    let (answering, message_2) = Responder::start(&message_1, &[id("27")], peer, y)?;
    let known = [credential(CRED_I), peer.credential];
    let (at_initiator, message_3) = waiting.receive(&message_2, own, &known, x).map_err(|failure| failure.error)?;
    let at_responder = answering.receive(&message_3, &[credential(CRED_R), own.credential], y)?;
    let message_4 = at_responder.message_4(y)?;
    at_initiator.verify_message_4(&message_4, x)?;
    Ok(Session { messages: [message_1, message_2, message_3, message_4], ends: [at_initiator, at_responder] })
}

/// A server with one resource, for one client after the other.
struct Server<C> {
    own: Identity,
    known: Vec<Credential>,
    has_message_4: bool,
    crypto: C,
    waiting: Option<Responder>,
    context: Option<Context>,
    /// Messages of EDHOC that it has processed.
    processed: usize,
}

impl<C: Crypto> Server<C> {
    fn new(own: Identity, known: Credential, has_message_4: bool, crypto: C) -> Self {
        Self { own, known: vec![known], has_message_4, crypto, waiting: None, context: None, processed: 0 }
    }

    fn answer(&mut self, request: &Packet) -> Packet {
        if message::path(request) == coap::PATH {
            return self.edhoc(request).unwrap_or_else(|error| coap::refusal(&error));
        }
        let protected = match combined::read(request).and_then(|combined| match combined {
            Some(_) if self.has_message_4 => Err(Error::Combined),
            Some(combined) => self.message_3(&combined.c_r, combined.message_3).map(|_| combined.protected),
            None => Ok(request.clone()),
        }) {
            Ok(protected) => protected,
            Err(error) => return combined::refusal(&error),
        };
        let Some(context) = &mut self.context else { return message::response(ResponseType::Unauthorized, []) };
        match context.unprotect_request(&protected, &mut self.crypto) {
            Ok(oscore::Incoming::Request(_, mut exchange)) => {
                let answer = message::response(ResponseType::Content, "21.5");
                context.protect_response(&answer, &mut exchange, &mut self.crypto).unwrap()
            }
            Ok(oscore::Incoming::Challenge(_)) => panic!("it has not restarted"),
            Err(error) => error.answer(request).expect("an answer"),
        }
    }

    fn edhoc(&mut self, request: &Packet) -> Result<Packet, Error> {
        match coap::read_request(request)? {
            coap::Request::First { message_1 } => {
                self.processed += 1;
                let choices = [id("27"), id("28")];
                let (waiting, message_2) = Responder::start(message_1, &choices, &self.own, &mut self.crypto)?;
                self.waiting = Some(waiting);
                Ok(coap::response(&message_2))
            }
            coap::Request::Later { c_r, message } => {
                let established = self.message_3(&c_r, message)?;
                let message_4 = if self.has_message_4 { established.message_4(&mut self.crypto)? } else { Vec::new() };
                Ok(coap::response(&message_4))
            }
        }
    }

    fn message_3(&mut self, c_r: &ConnectionId, message_3: &[u8]) -> Result<Established, Error> {
        let waiting = self.waiting.take_if(|waiting| waiting.c_r() == c_r).ok_or(Error::UnknownSession)?;
        self.processed += 1;
        let established = waiting.receive(message_3, &self.known, &mut self.crypto)?;
        self.context = Some(established.oscore(&mut self.crypto)?);
        Ok(established)
    }
}

/// The way in which a client goes on after message_2.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flow {
    /// message_3 alone, then a protected request. The answer to message_3 may have message_4.
    Sequential,
    /// Both in one.
    Combined,
}

/// A client that asks for the resource.
struct Client<C> {
    own: Identity,
    known: Vec<Credential>,
    flow: Flow,
    crypto: C,
    state: State,
}

enum State {
    Message2(Initiator),
    Message4(Box<Established>, Context),
    Answer(Context, oscore::ClientExchange),
    Done(Packet),
    Failed(Error),
}

impl<C: Crypto> Client<C> {
    fn start(own: Identity, known: Credential, flow: Flow, mut crypto: C) -> (Self, Packet) {
        let (waiting, message_1) = Initiator::start(id("37"), &[2], &mut crypto).unwrap();
        let client = Self { own, known: vec![known], flow, crypto, state: State::Message2(waiting) };
        (client, coap::first_request(&message_1))
    }

    /// The next request after this response.
    fn receive(&mut self, response: &Packet) -> Option<Packet> {
        let (state, request) = match std::mem::replace(&mut self.state, State::Failed(Error::Malformed)) {
            State::Message2(waiting) => self.message_2(waiting, response),
            State::Message4(established, context) => {
                let message_4 = coap::read_response(response);
                match message_4.and_then(|message_4| match message_4 {
                    [] => Ok(()),
                    message_4 => established.verify_message_4(message_4, &mut self.crypto),
                }) {
                    Ok(()) => self.ask(context, |protected| protected),
                    Err(error) => (State::Failed(error), None),
                }
            }
            State::Answer(context, mut exchange) => {
                match context.unprotect_response(response, &mut exchange, &mut self.crypto) {
                    Ok(answer) => (State::Done(answer), None),
                    Err(_) => (State::Failed(coap::read_response(response).unwrap_err()), None),
                }
            }
            over => (over, None),
        };
        self.state = state;
        request
    }

    fn message_2(&mut self, waiting: Initiator, response: &Packet) -> (State, Option<Packet>) {
        let message_2 = match coap::read_response(response) {
            Ok(message_2) => message_2,
            Err(error) => return (State::Failed(error), None),
        };
        match waiting.receive(message_2, &self.own, &self.known, &mut self.crypto) {
            Ok((established, message_3)) => {
                let context = established.oscore(&mut self.crypto).unwrap();
                match self.flow {
                    Flow::Combined => self.ask(context, |protected| combined::request(&message_3, protected)),
                    Flow::Sequential => {
                        let request = coap::later_request(established.peer_id(), &message_3);
                        (State::Message4(Box::new(established), context), Some(request))
                    }
                }
            }
            Err(failure) => {
                let request = failure.c_r.zip(failure.error.message());
                let request = request.map(|(c_r, message)| coap::later_request(&c_r, &message.write()));
                (State::Failed(failure.error), request)
            }
        }
    }

    fn ask(&mut self, mut context: Context, then: impl FnOnce(Packet) -> Packet) -> (State, Option<Packet>) {
        let get = message::request(RequestType::Get, "a");
        let (protected, exchange) = context.protect_request(&get, &mut self.crypto).unwrap();
        (State::Answer(context, exchange), Some(then(protected)))
    }

    #[track_caller]
    fn answer(&self) -> &Packet {
        match &self.state {
            State::Done(answer) => answer,
            State::Failed(error) => panic!("{error}"),
            _ => panic!("the client waits"),
        }
    }
}

/// Both at once.
fn speak<C: Crypto, S: Crypto>((mut client, request): (Client<C>, Packet), server: &mut Server<S>) -> Client<C> {
    let mut next = Some(request);
    while let Some(request) = next {
        next = client.receive(&server.answer(&request));
    }
    client
}
