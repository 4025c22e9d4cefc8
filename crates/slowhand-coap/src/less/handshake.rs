use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::crypto::{Crypto, xor};
use super::{KEY, Key, Keys};
use crate::message::{self, CoapOption, MessageClass, Packet, ResponseType};

/// The resource that opens sessions. *Assumed*.
const PATH: &str = "authorize";

/// The options of a request: AUTH, which is empty, and AUTH_MSG_TYPE. Their numbers are *assumed*: two that are not assigned, critical, and
/// short.
pub const OPTIONS: [u16; 2] = [65, 67];

/// The octets of the longest identity. *Assumed*. Sessions of TLS and DTLS have the same limit.
pub const LONGEST_IDENTITY: usize = 32;

/// A request of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// The first one (AUTH_MSG_TYPE 0): who asks.
    Initiation(&'a [u8]),
    /// The second one (AUTH_MSG_TYPE 1): the encrypted answer to the challenge.
    Response([[u8; KEY]; 2]),
}

/// Why a message is none of the handshake, or the peer has another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request or a response has another form.
    #[error("the message is none of LESS")]
    Format,
    /// Nothing is known of the identity.
    #[error("the identity is not known")]
    Identity,
    /// The peer's answer is not what was asked for.
    #[error("the peer has another pre-shared key")]
    Key,
    /// There is no challenge to answer, or the session is open.
    #[error("no session is being opened")]
    Order,
    /// The server has refused.
    #[error("the server answered {}.{:02}", .0 >> 5, .0 & 31)]
    Refused(u8),
}

/// Reads a request.
///
/// # Errors
/// [`Error::Format`].
pub fn read(request: &Packet) -> Result<Message<'_>, Error> {
    let [auth, kind] = OPTIONS.map(CoapOption::from);
    if message::path(request) != PATH || request.get_first_option(auth).is_none() {
        return Err(Error::Format);
    }
    match message::number(request, kind) {
        Some(0) if (1..=LONGEST_IDENTITY).contains(&request.payload.len()) => Ok(Message::Initiation(&request.payload)),
        Some(1) => blocks(&request.payload).map(Message::Response).ok_or(Error::Format),
        _ => Err(Error::Format),
    }
}

/// A payload of so many blocks of AES.
fn blocks<const COUNT: usize>(payload: &[u8]) -> Option<[[u8; KEY]; COUNT]> {
    let (whole, rest) = payload.as_chunks();
    whole.try_into().ok().filter(|_| rest.is_empty())
}

fn request(kind: u32, payload: &[u8]) -> Packet {
    let mut request = message::request(message::RequestType::Post, PATH);
    request.add_option(CoapOption::from(OPTIONS[0]), Vec::new());
    message::set_number(&mut request, CoapOption::from(OPTIONS[1]), kind);
    request.payload = payload.to_vec();
    request
}

fn random(crypto: &mut impl Crypto) -> [u8; KEY] {
    let mut output = [0; KEY];
    crypto.fill_random(&mut output);
    output
}

fn is_same(left: &[u8; KEY], right: &[u8; KEY]) -> bool {
    left.ct_eq(right).into()
}

/// A client that opens a session.
pub struct Client {
    key: Key,
    state: State,
}

enum State {
    /// The first request is under way.
    Initiated,
    /// The second one is.
    Responded(Keys),
    Over,
}

/// The next step of a client after a response.
pub enum Next {
    /// It sends this.
    Request(Packet),
    /// The session is open.
    Established(Keys),
}

impl Client {
    /// A client with this pre-shared key, and its first request.
    pub fn start(key: [u8; KEY], identity: &[u8]) -> (Self, Packet) {
        (Self { key: Key::new(key), state: State::Initiated }, request(0, identity))
    }

    /// Takes the response to its last request.
    ///
    /// # Errors
    /// The server has refused, or has another key. The handshake is over.
    pub fn receive(&mut self, response: &Packet, crypto: &mut impl Crypto) -> Result<Next, Error> {
        let code = response.header.code;
        let has_code = |expected| code == MessageClass::Response(expected);
        match std::mem::replace(&mut self.state, State::Over) {
            State::Initiated if has_code(ResponseType::Created) => {
                let mut challenge = Zeroizing::new(blocks::<2>(&response.payload).ok_or(Error::Format)?);
                crypto.decrypt(&self.key, &mut *challenge);
                let [masked, of_server] = &*challenge;
                let (session, of_server) = (Key::new(xor(masked, &self.key)), *of_server);
                let of_client = random(crypto);
                let mut answer = Zeroizing::new([xor(&of_server, &self.key), of_client]);
                crypto.encrypt(&session, &mut *answer);
                self.state = State::Responded(Keys { session, of_server, of_client });
                Ok(Next::Request(request(1, answer.as_flattened())))
            }
            State::Responded(keys) if has_code(ResponseType::Changed) => {
                let mut proof = Zeroizing::new(blocks::<1>(&response.payload).ok_or(Error::Format)?);
                crypto.decrypt(&self.key, &mut *proof);
                let is_right = is_same(&proof[0], &Key::new(xor(&keys.of_client, &keys.session)));
                if is_right { Ok(Next::Established(keys)) } else { Err(Error::Key) }
            }
            State::Over => Err(Error::Order),
            _ => Err(Error::Refused(code.into())),
        }
    }
}

/// A server that knows one identity, and opens one session.
pub struct Server {
    key: Key,
    identity: Vec<u8>,
    state: Challenge,
}

enum Challenge {
    None,
    Sent { session: Key, of_server: [u8; KEY] },
    Answered,
}

impl Server {
    /// A server with this pre-shared key.
    pub fn new(key: [u8; KEY], identity: &[u8]) -> Self {
        Self { key: Key::new(key), identity: identity.to_vec(), state: Challenge::None }
    }

    /// Takes a request. Returns its answer, and the keys once the client has shown that it has the pre-shared key.
    pub fn receive(&mut self, request: &Packet, crypto: &mut impl Crypto) -> (Packet, Option<Keys>) {
        let answered = match read(request) {
            Ok(Message::Initiation(identity)) => self.challenge(identity, crypto).map(|answer| (answer, None)),
            Ok(Message::Response(response)) => self.verify(Zeroizing::new(response), crypto),
            Err(error) => Err(error),
        };
        answered.unwrap_or_else(|error| {
            let code = match error {
                Error::Format => ResponseType::BadRequest,
                _ => ResponseType::Unauthorized,
            };
            (message::response(code, []), None)
        })
    }

    fn challenge(&mut self, identity: &[u8], crypto: &mut impl Crypto) -> Result<Packet, Error> {
        if identity != self.identity {
            return Err(Error::Identity);
        }
        // Whoever knows the identity can ask again: what a client was sent stays good.
        if matches!(self.state, Challenge::None) {
            self.state = Challenge::Sent { session: Key::new(random(crypto)), of_server: random(crypto) };
        }
        let Challenge::Sent { session, of_server } = &self.state else { return Err(Error::Order) };
        let mut challenge = Zeroizing::new([xor(session, &self.key), *of_server]);
        crypto.encrypt(&self.key, &mut *challenge);
        Ok(message::response(ResponseType::Created, challenge.as_flattened()))
    }

    fn verify(
        &mut self,
        mut response: Zeroizing<[[u8; KEY]; 2]>,
        crypto: &mut impl Crypto,
    ) -> Result<(Packet, Option<Keys>), Error> {
        // A wrong answer changes nothing: anybody can send one, and each is a guess at a whole block.
        let Challenge::Sent { session, of_server } = &self.state else { return Err(Error::Order) };
        crypto.decrypt(session, &mut *response);
        let [masked, of_client] = &*response;
        if !is_same(masked, &Key::new(xor(of_server, &self.key))) {
            return Err(Error::Key);
        }
        let mut proof = Zeroizing::new([xor(of_client, session)]);
        crypto.encrypt(&self.key, &mut *proof);
        let keys = Keys { session: session.clone(), of_server: *of_server, of_client: *of_client };
        self.state = Challenge::Answered;
        let answer = message::response(ResponseType::Changed, proof.as_flattened());
        Ok((answer, Some(keys)))
    }
}
