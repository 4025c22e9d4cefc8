//! Heartbeats (RFC 6520): a request that the peer answers, to see that it is there, and how far.

use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::extension::{self, Extensions, HEARTBEAT};
use crate::features;

/// peer_allowed_to_send: whoever offers it answers requests (RFC 6520, section 2).
const ALLOWED: u8 = 1;
const NOT_ALLOWED: u8 = 2;

const REQUEST: u8 = 1;
const RESPONSE: u8 = 2;

/// Octets of padding: the least that there may be (RFC 6520, section 4).
pub(super) const PADDING: usize = 16;

/// Octets of the payload of this end's requests. (Assumed: one of them is in flight, so it has to differ from a few before.)
pub(super) const PAYLOAD: usize = 4;

/// Octets of the longest payload that this end sends back; longer requests are discarded. (Assumed: a sequence number, a
/// time and a name.)
const MAX_PAYLOAD: usize = 32;

/// The heartbeats of a connection.
#[derive(Default)]
pub(crate) struct Heartbeat {
    /// The payload of the request in flight.
    pub(super) request: Option<[u8; PAYLOAD]>,
    /// The request is to be sent, or sent again.
    pub(super) is_due: bool,
    /// The peer has answered the last request.
    pub(super) is_answered: bool,
    /// The payload of a request of the peer's, and its length.
    response: Option<([u8; MAX_PAYLOAD], usize)>,
}

/// The request of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Request(&'a [u8]),
    Response(&'a [u8]),
}

/// Reads a message. `None` if it is malformed: if its payload is longer than what has arrived, or its padding too short
/// (RFC 6520, section 4).
pub(super) fn read(content: &[u8]) -> Option<Message<'_>> {
    let mut reader = Reader::new(content);
    let kind = reader.u8()?;
    let payload = reader.vector(2)?;
    match (kind, reader.rest().len() >= PADDING) {
        (REQUEST, true) => Some(Message::Request(payload)),
        (RESPONSE, true) => Some(Message::Response(payload)),
        _ => None,
    }
}

impl Heartbeat {
    /// Keeps a request of the peer's until it is answered.
    pub(super) fn receive_request(&mut self, payload: &[u8]) {
        let mut kept = [0; MAX_PAYLOAD];
        if let Some(start) = kept.get_mut(..payload.len()) {
            start.copy_from_slice(payload);
            self.response = Some((kept, payload.len()));
        }
    }

    /// Takes the answer to the request in flight. Returns false if it answers another one.
    pub(super) fn receive_response(&mut self, payload: &[u8]) -> bool {
        let is_its = self.request.is_some_and(|request| request == payload);
        if is_its {
            (self.request, self.is_due, self.is_answered) = (None, false, true);
        }
        is_its
    }

    /// The request is to be sent again.
    pub(super) const fn repeat(&mut self) {
        self.is_due = true;
    }

    /// The next message, without its padding: an answer, or this end's request. `None` if there is none.
    pub(super) fn next(&mut self) -> Option<([u8; 3 + MAX_PAYLOAD], usize)> {
        let (kind, payload, length) = match (self.response.take(), self.request.filter(|_| self.is_due)) {
            (Some((payload, length)), _) => (RESPONSE, payload, length),
            (None, Some(request)) => {
                self.is_due = false;
                let mut payload = [0; MAX_PAYLOAD];
                payload[..PAYLOAD].copy_from_slice(&request);
                (REQUEST, payload, PAYLOAD)
            }
            (None, None) => return None,
        };
        let mut message = [0; 3 + MAX_PAYLOAD];
        (message[0], message[2]) = (kind, length as u8);
        message[3..].copy_from_slice(&payload);
        Some((message, 3 + length))
    }
}

/// Writes the extension: this end answers requests.
pub(super) fn write(writer: &mut Writer<'_>) -> Result<(), Full> {
    extension::write(writer, HEARTBEAT, |writer| writer.number(ALLOWED.into(), 1))
}

/// Whether the peer answers requests. `None` if it has no heartbeats.
pub(super) fn accept(extensions: Extensions<'_>) -> Result<Option<bool>, u8> {
    match extensions.find_if(features::HEARTBEAT, HEARTBEAT) {
        None => Ok(None),
        Some([ALLOWED]) => Ok(Some(true)),
        Some([NOT_ALLOWED]) => Ok(Some(false)),
        // RFC 6520, section 2.
        Some([_]) => Err(alert::ILLEGAL_PARAMETER),
        Some(_) => Err(alert::DECODE_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from RFC 6520, section 4: type, length of the payload in two octets, payload, at least 16 octets of padding.
    #[test]
    fn a_message_holds_its_payload_and_enough_padding() {
        let message = |kind: u8, length: u8, rest: usize| [&[kind, 0, length][..], &[7; 60][..rest]].concat();
        assert_eq!(read(&message(1, 4, 20)), Some(Message::Request(&[7; 4])));
        assert_eq!(read(&message(2, 0, 16)), Some(Message::Response(&[])));
        assert_eq!(read(&message(1, 4, 40)), Some(Message::Request(&[7; 4])), "more padding");
        for (malformed, why) in [
            (message(1, 4, 19), "too little padding"),
            (message(1, 200, 40), "a payload that is not there (CVE-2014-0160)"),
            (message(1, 40, 40), "no padding"),
            (message(3, 4, 20), "another type"),
            (std::vec![1, 0], "no length"),
        ] {
            assert_eq!(read(&malformed), None, "{why}");
        }
    }

    #[test]
    fn an_answer_has_the_payload_of_its_request_and_is_sent_once() {
        let mut heartbeat = Heartbeat::default();
        heartbeat.receive_request(b"abc");
        let (message, length) = heartbeat.next().unwrap();
        assert_eq!(&message[..length], b"\x02\x00\x03abc");
        assert_eq!(heartbeat.next(), None);
        heartbeat.receive_request(&[1; MAX_PAYLOAD + 1]);
        assert_eq!(heartbeat.next(), None);
    }

    /// RFC 6520, section 4: a response with another payload, or to no request, is discarded.
    #[test]
    fn an_answer_to_another_request_is_none() {
        let mut heartbeat = Heartbeat { request: Some([1, 2, 3, 4]), ..Heartbeat::default() };
        assert!(!heartbeat.receive_response(&[1, 2, 3, 5]) && !heartbeat.receive_response(&[]));
        assert!(heartbeat.receive_response(&[1, 2, 3, 4]) && heartbeat.is_answered);
        assert!(!heartbeat.receive_response(&[1, 2, 3, 4]), "none is in flight");
    }
}
