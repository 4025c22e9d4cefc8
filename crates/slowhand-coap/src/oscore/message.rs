//! Which part of a message is encrypted, and which part proxies see (section 4).

use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};

use super::Error;
use crate::message::{self, Class, parts};

/// Options of Class U alone (section 4.1; EDHOC: RFC 9668, section 3.1): they stay outside. All others are encrypted.
const OUTER: [u16; 5] = [3, 7, 21, 35, 39]; // Uri-Host, Uri-Port, EDHOC, Proxy-Uri, Proxy-Scheme

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Response,
}

impl Kind {
    /// Of a code. `None` if there is no code of this class, or it is none that OSCORE protects (RFC 7252, section 12.1).
    fn of(code: MessageClass) -> Option<Self> {
        match Class::of(code.into()) {
            Class::Request => Some(Self::Request),
            Class::Success | Class::Error => Some(Self::Response),
            Class::Empty | Class::Signal | Class::Reserved => None,
        }
    }
}

/// A message, taken apart.
pub(super) struct Split {
    /// The header, the token and the Outer options. The OSCORE option and the payload are to be added.
    pub(super) outer: Packet,
    /// The code, the Inner options and the payload (section 5.3).
    pub(super) plaintext: Vec<u8>,
}

/// Takes apart a message that is to be protected.
pub(super) fn split(original: &Packet, kind: Kind) -> Result<Split, Error> {
    if Kind::of(original.header.code) != Some(kind) {
        return Err(Error::Code(original.header.code.into()));
    }
    let has = |option| original.get_first_option(option).is_some();
    if has(CoapOption::Oscore) {
        return Err(Error::Nested);
    }
    if has(CoapOption::ProxyUri) {
        return Err(Error::ProxyUri);
    }
    let mut outer = Packet::new();
    outer.header = original.header.clone();
    outer.header.code = outer_code(kind, has(CoapOption::Observe));
    outer.set_token(original.get_token().to_vec());
    let mut inner = Packet::new();
    inner.header.code = original.header.code;
    inner.payload.clone_from(&original.payload);
    for (number, value) in options(original) {
        let option = CoapOption::from(number);
        if option == CoapOption::Observe {
            outer.add_option(option, value.clone());
            // That of a notification is empty inside (section 4.1.3.5.2).
            inner.add_option(option, if kind == Kind::Request { value.clone() } else { Vec::new() });
        } else {
            let side = if OUTER.contains(&number) { &mut outer } else { &mut inner };
            side.add_option(option, value.clone());
        }
    }
    let (code, rest) = parts(&inner).ok_or(Error::TooLong)?;
    Ok(Split { outer, plaintext: [&[code], &rest[..]].concat() })
}

/// The code that proxies see (section 4.2).
fn outer_code(kind: Kind, is_observe: bool) -> MessageClass {
    match (kind, is_observe) {
        (Kind::Request, false) => MessageClass::Request(RequestType::Post),
        (Kind::Request, true) => MessageClass::Request(RequestType::Fetch),
        (Kind::Response, false) => MessageClass::Response(ResponseType::Changed),
        (Kind::Response, true) => MessageClass::Response(ResponseType::Content),
    }
}

/// Puts together a message that was decrypted: its header and its Outer options as they were received, all the rest as it was
/// encrypted (sections 8.2 and 8.4).
pub(super) fn join(received: &Packet, plaintext: &[u8], kind: Kind) -> Result<Packet, Error> {
    let (code, rest) = plaintext.split_first().ok_or(Error::Plaintext)?;
    // Version 1, no token (RFC 7252, section 3).
    let encoded = [&[0x40, *code, 0, 0], rest].concat();
    let inner = Packet::from_bytes(&encoded).map_err(|_| Error::Plaintext)?;
    let has = |option| inner.get_first_option(option).is_some();
    if Kind::of(inner.header.code) != Some(kind) || has(CoapOption::Oscore) {
        return Err(Error::Plaintext);
    }
    let mut message = Packet::new();
    message.header = received.header.clone();
    message.header.code = inner.header.code;
    message.set_token(received.get_token().to_vec());
    let outside = options(received).filter(|(number, _)| OUTER.contains(number) && !has(CoapOption::from(*number)));
    for (number, value) in outside.chain(options(&inner)) {
        message.add_option(CoapOption::from(number), value.clone());
    }
    message.payload = inner.payload;
    Ok(message)
}

/// True if an Outer Block option says that the message is a part of one (section 4.1.3.4.2). Block1 describes the payload of a
/// request, Block2 that of a response (RFC 7959, section 2.1).
pub(super) fn is_block(received: &Packet, kind: Kind) -> bool {
    let option = if kind == Kind::Request { CoapOption::Block1 } else { CoapOption::Block2 };
    // The first three bits are the size. Then it has a number, or more blocks follow, unless the rest is 0 (section 2.2).
    received.get_first_option(option).is_some_and(|block| {
        let (last, before) = block.split_last().unwrap_or((&0, &[]));
        last & !0b111 != 0 || before.iter().any(|octet| *octet != 0)
    })
}

impl Error {
    /// The answer that a server may give to a request that it has not accepted (section 8.2): a response without protection, with an
    /// Outer Max-Age of 0. `None` if there is nothing to answer.
    ///
    /// It is piggybacked if the request is confirmable. Otherwise its Message ID is to be replaced.
    pub fn answer(&self, request: &Packet) -> Option<Packet> {
        let (code, diagnostic) = match self {
            Self::Malformed => (ResponseType::BadOption, "Failed to decode COSE"),
            Self::UnknownContext => (ResponseType::Unauthorized, "Security context not found"),
            Self::Replayed => (ResponseType::Unauthorized, "Replay detected"),
            Self::Decryption => (ResponseType::BadRequest, "Decryption failed"),
            _ => return None,
        };
        let mut answer = response_to(request, code);
        answer.add_option(CoapOption::MaxAge, Vec::new()); // 0 (RFC 7252, section 3.2)
        answer.payload = diagnostic.into();
        Some(answer)
    }
}

/// A response to `request` with nothing but its code: piggybacked, if the request is confirmable.
pub(super) fn response_to(request: &Packet, code: ResponseType) -> Packet {
    let mut response = message::response(code, []);
    response.header.message_id = request.header.message_id;
    response.header.set_type(match request.header.get_type() {
        MessageType::Confirmable => MessageType::Acknowledgement,
        _ => MessageType::NonConfirmable,
    });
    response.set_token(request.get_token().to_vec());
    response
}

/// Each option with its value, in the order of the message.
fn options(message: &Packet) -> impl Iterator<Item = (u16, &Vec<u8>)> {
    message.options().flat_map(|(number, values)| values.iter().map(|value| (*number, value)))
}
