//! EDHOC over CoAP, in the forward message flow (appendix A.2): the client is the initiator.
//!
//! An [`Endpoint`](crate::endpoint::Endpoint) sends these packets, as confirmable messages: what is lost comes again, and what comes
//! twice is processed once (section 7).

use coap_lite::{CoapOption, Packet, RequestType, ResponseType};

use super::credential::ConnectionId;
use super::{Error, ErrorMessage};
use crate::cbor::{Reader, TRUE};
use crate::message::{self, Class};

/// Where a server has its resource for EDHOC (appendix A.2).
pub const PATH: &str = ".well-known/edhoc";

/// The Content-Format application/edhoc+cbor-seq (section 10.9): a message, in a response.
pub const EDHOC: u32 = 64;

/// The Content-Format application/cid-edhoc+cbor-seq (section 10.9): a connection identifier and a message, in a request.
pub const CID_EDHOC: u32 = 65;

/// The request with message_1.
pub fn first_request(message_1: &[u8]) -> Packet {
    post(&[TRUE], message_1)
}

/// The request with message_3, or with an [error message](ErrorMessage::write), for the session that the server calls C_R.
pub fn later_request(c_r: &ConnectionId, message: &[u8]) -> Packet {
    post(c_r.encoded(), message)
}

fn post(before: &[u8], message: &[u8]) -> Packet {
    let mut request = message::request(RequestType::Post, PATH);
    message::set_number(&mut request, CoapOption::ContentFormat, CID_EDHOC);
    request.payload = [before, message].concat();
    request
}

/// The content of a request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// A new session.
    First {
        /// message_1.
        message_1: &'a [u8],
    },
    /// The session that this server calls C_R.
    Later {
        /// Which session.
        c_r: ConnectionId,
        /// message_3, or an error message.
        message: &'a [u8],
    },
}

/// Reads a request for the [resource](PATH). A request without a Content-Format is accepted.
///
/// # Errors
/// [`Error::ContentFormat`], [`Error::Malformed`], [`Error::TooLong`].
pub fn read_request(request: &Packet) -> Result<Request<'_>, Error> {
    has_format(request, CID_EDHOC)?;
    if let [TRUE, message_1 @ ..] = request.payload.as_slice() {
        return Ok(Request::First { message_1 });
    }
    let mut reader = Reader::strict(&request.payload);
    let c_r = ConnectionId::read(&mut reader)?;
    Ok(Request::Later { c_r, message: reader.rest() })
}

/// The response with message_2 or message_4; or without any, if a session has no message_4, or to an error message.
pub fn response(message: &[u8]) -> Packet {
    let mut response = message::response(ResponseType::Changed, message);
    if !message.is_empty() {
        message::set_number(&mut response, CoapOption::ContentFormat, EDHOC);
    }
    response
}

/// The response to a request that was refused, with an error message if there is one to send (appendix A.2.3): 4.00 (Bad Request), or
/// 5.00 (Internal Server Error) if the server is not set up as it should.
pub fn refusal(error: &Error) -> Packet {
    match error {
        Error::Peer(_) => response(&[]),
        Error::ContentFormat(_) => message::response(ResponseType::UnsupportedContentFormat, []),
        error => refusal_with(error, error.message()),
    }
}

pub(super) fn refusal_with(error: &Error, message: Option<ErrorMessage>) -> Packet {
    let code = if error.is_own() { ResponseType::InternalServerError } else { ResponseType::BadRequest };
    let mut refusal = message::response(code, message.as_ref().map(ErrorMessage::write).unwrap_or_default());
    message::set_number(&mut refusal, CoapOption::ContentFormat, EDHOC);
    refusal
}

/// The message in a response: message_2, message_4, or none.
///
/// # Errors
/// [`Error::Peer`] for an error message, [`Error::Response`] for another error, [`Error::ContentFormat`].
pub fn read_response(response: &Packet) -> Result<&[u8], Error> {
    if message::class(response) == Class::Success {
        has_format(response, EDHOC)?;
        return Ok(&response.payload);
    }
    match ErrorMessage::read(&response.payload) {
        Some(message) if message::number(response, CoapOption::ContentFormat) == Some(EDHOC) => {
            Err(Error::Peer(message))
        }
        _ => Err(Error::Response(response.header.get_code())),
    }
}

fn has_format(packet: &Packet, expected: u32) -> Result<(), Error> {
    match message::number(packet, CoapOption::ContentFormat) {
        Some(format) if format != expected => Err(Error::ContentFormat(format)),
        _ => Ok(()),
    }
}
