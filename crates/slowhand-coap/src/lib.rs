//! CoAP (RFC 7252), OSCORE (RFC 8613), which protects it above the transport, EDHOC (RFC 9528), which agrees on the keys of OSCORE, LESS,
//! which opens a session of a pre-shared key, and the hand-over of sessions.
//!
//! Nothing here does I/O, knows a network or a TLS library. The caller gives octets and the time, and takes what is to be
//! sent and the next deadline. Messages are read and written by the crate `coap-lite`.
//!
//! From the ground floor upwards: a module imports only from earlier rows.
//!
//! | module | holds | follows |
//! | --- | --- | --- |
//! | [`message`] | tokens, classes of codes, format errors, around `coap-lite` | RFC 7252 sections 3 and 5 |
//! | [`timer`] | the parameters of transmission; how long a sender waits: the default back-off, and CoCoA | RFC 7252 section 4.8, draft-ietf-core-cocoa-03 |
//! | [`observe`] | the order of notifications, and who observes what | RFC 7641 |
//! | [`endpoint`] | one end of a conversation with one peer, as client and as server. `endpoint/memory`: copies of messages get the same answer; `endpoint/ids`: message IDs | RFC 7252 sections 4 and 5.2 |
//! | [`stream`] | one end of a connection of TCP or TLS, in the place of the endpoint. `stream/frame`: messages in a stream of octets, however it is cut; `stream/signal`: what the ends say about the connection | RFC 8323 sections 3 and 5 |
//! | [`block`] | bodies in blocks, above the endpoint or the connection, as client and as server | RFC 7959 |
//! | `cbor` | the items of CBOR that `oscore`, `edhoc` and `objects` need | RFC 8949 |
//! | [`oscore`] | contexts, the protection of messages, freshness by Echo; it does not need the message layer. Its cryptography is a trait, so that it can be counted | RFC 8613, RFC 9175 |
//! | [`edhoc`] | a key exchange whose result is a context of OSCORE. The crate `lakers` has the protocol; `edhoc/check` looks at all that it would panic at, `edhoc/bridge` joins it to the trait of the cryptography. `edhoc/coap` and `edhoc/combined`: over CoAP, and in one request with OSCORE | RFC 9528, RFC 9668 |
//! | [`hand_over`] | the request for a session of DTLS that a delegate opens, and the answer with that session | Hummen et al. 2014 |
//! | [`less`] | a session of a pre-shared key, opened by CoAP, and its records of DTLS 1.2; its cryptography is a trait | draft-bhattacharyya-dice-less-on-coap-01 |
//! | [`cojp`] | joining a 6TiSCH network: the objects, the pledge, the proxy without state, the registrar; above `message` and `oscore` | RFC 9031, RFC 8974 |
//! | [`objects`] | values that are signed and encrypted once, for many readers and for caches: COSE_Encrypt0 around COSE_Sign1, and the keys that open them. Its cryptography is the trait of `oscore` and ES256 | OSCAR; RFC 9052, RFC 9053 |
//!
//! Sessions of CoAP use all modules but `cojp`, `objects` and `hand_over`. `joining` and `readers` in slowhand-lab use the first two. The
//! tests have aiocoap and libcoap as peers, over UDP and TCP.
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
