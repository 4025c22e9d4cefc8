//! CoAP (RFC 7252), OSCORE (RFC 8613), which protects it above the transport, EDHOC (RFC 9528), which agrees on the keys of OSCORE, LESS,
//! which opens a session of a pre-shared key, and the hand-over of sessions.
//!
//! Nothing here does I/O, knows a network or a TLS library. The caller gives octets and the time, and takes what is to be
//! sent and the next deadline. Messages are read and written by the crate `coap-lite`.
//!
//! | module | holds | follows |
//! | --- | --- | --- |
//! | [`message`] | tokens, classes of codes, format errors, around `coap-lite` | RFC 7252 sections 3 and 5 |
//! | [`timer`] | the parameters of transmission; the default back-off, and CoCoA | RFC 7252 section 4.8, draft-ietf-core-cocoa-03 |
//! | [`endpoint`] | the messages and requests between this end and one peer | RFC 7252 sections 4 and 5.2 |
//! | [`stream`] | the messages and requests over one connection of TCP or TLS | RFC 8323 sections 3 and 5 |
//! | [`block`] | bodies in blocks, as client and as server | RFC 7959 |
//! | [`observe`] | the order of notifications, and who observes what | RFC 7641 |
//! | [`cojp`] | joining a 6TiSCH network: the request and the response, the proxy without state, the registrar | RFC 9031, RFC 8974 |
//! | [`oscore`] | contexts, the protection of messages, freshness by Echo; it does not need the other modules | RFC 8613, RFC 9175 |
//! | [`objects`] | values that are signed and encrypted once, for many readers and for caches | OSCAR; RFC 9052, RFC 9053 |
//! | [`hand_over`] | the request for a session of DTLS that a delegate opens, and the answer with that session | Hummen et al. 2014 |
//! | [`less`] | a session of a pre-shared key, opened by CoAP, and its records | draft-bhattacharyya-dice-less-on-coap-01 |
//! | [`edhoc`] | a key exchange whose result is a context of OSCORE, and its transfer over CoAP | RFC 9528, RFC 9668 |
//!
//! # A request and its answer
//!
//! ```
//! use std::time::Duration;
//!
//! use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event};
//! use slowhand_coap::message::{self, RequestType, ResponseType};
//!
//! // A real program draws random numbers.
//! let mut client = Endpoint::new(Config::default(), || 0x7d34);
//! let mut server = Endpoint::new(Config::default(), || 0xad7b);
//! let now = Duration::ZERO;
//!
//! let get = message::request(RequestType::Get, "temperature");
//! let token = client.request(now, get, Delivery::Confirmable)?;
//! let datagram = client.poll_transmit().expect("the request is sent at once");
//! assert_eq!(client.deadline(), Some(Duration::from_secs(2)), "then it is sent again");
//!
//! server.handle_input(now, &datagram);
//! let Some(Event::Request { from, packet }) = server.poll_event() else { panic!("a request has come") };
//! assert_eq!(message::path(&packet), "temperature");
//! server.respond(now, from, message::response(ResponseType::Content, "22.3 C"))?;
//! let datagram = server.poll_transmit().expect("the response is sent in the acknowledgement");
//!
//! client.handle_input(now, &datagram);
//! let Some(Event::Response { token: answered, packet }) = client.poll_event() else { panic!("a response has come") };
//! assert_eq!((answered, packet.payload.as_slice()), (token, &b"22.3 C"[..]));
//! assert_eq!(client.deadline(), None);
//! # Ok::<(), slowhand_coap::endpoint::SendError>(())
//! ```

pub mod block;
mod cbor;
pub mod cojp;
pub mod edhoc;
pub mod endpoint;
pub mod hand_over;
pub mod less;
pub mod message;
pub mod objects;
pub mod observe;
pub mod oscore;
pub mod stream;
pub mod timer;

/// The UDP port of CoAP (RFC 7252 section 6.1).
pub const PORT: u16 = 5683;
