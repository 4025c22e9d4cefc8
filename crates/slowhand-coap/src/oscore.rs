//! OSCORE (RFC 8613): protects CoAP requests and responses from end to end, without a handshake, with a secret that both ends
//! share. Sections without another RFC are of RFC 8613.
//!
//! A [`Context`] is what an end shares with its peer, [derived](Context::derive) from [`Parameters`]. The client
//! [protects](Context::protect_request) a request, and keeps a [`ClientExchange`] to [verify](Context::unprotect_response) what
//! comes back. The server [verifies](Context::unprotect_request) it and keeps a [`ServerExchange`] to
//! [protect](Context::protect_response) the response, or all notifications of an observation. A server with several contexts
//! finds the right one by [`Value::of`] and [`Context::is_named_by`].
//!
//! ```
//! use coap_lite::{CoapOption, MessageClass, Packet, RequestType, ResponseType};
//! use slowhand_coap::oscore::{Context, Incoming, Parameters, RustCrypto};
//!
//! let of_client = Parameters {
//!     master_secret: b"sixteen octets!!",
//!     master_salt: &[],
//!     id_context: None,
//!     sender_id: &[],
//!     recipient_id: &[1],
//! };
//! let of_server = Parameters { sender_id: &[1], recipient_id: &[], ..of_client };
//! let mut client = Context::derive(&of_client, &mut RustCrypto)?;
//! let mut server = Context::derive(&of_server, &mut RustCrypto)?;
//!
//! let mut request = Packet::new();
//! request.header.code = MessageClass::Request(RequestType::Get);
//! request.add_option(CoapOption::UriPath, b"temperature".to_vec());
//! let (protected, mut asked) = client.protect_request(&request, &mut RustCrypto)?;
//! assert_eq!(protected.header.code, MessageClass::Request(RequestType::Post));
//! assert_eq!(protected.get_option(CoapOption::UriPath), None);
//!
//! let Incoming::Request(received, mut exchange) = server.unprotect_request(&protected, &mut RustCrypto)? else {
//!     panic!("this server has not lost its state");
//! };
//! assert_eq!(received, request);
//! let mut response = Packet::new();
//! response.header.code = MessageClass::Response(ResponseType::Content);
//! response.payload = b"21.5".to_vec();
//! let protected = server.protect_response(&response, &mut exchange, &mut RustCrypto)?;
//!
//! assert_eq!(client.unprotect_response(&protected, &mut asked, &mut RustCrypto)?, response);
//! # Ok::<(), slowhand_coap::oscore::Error>(())
//! ```
//!
//! Contents: the mandatory algorithms (section 3.2), the Replay Window of 32 (section 7.4), Observe (sections 4.1.3.5 and
//! 7.4.1), the errors of a server ([`Error::answer`]), and the [Echo option](echo) (RFC 9175), which a server needs after a
//! restart ([`Context::after_restart`]), and whoever asks for fresh requests.
//!
//! Blocks (RFC 7959) are those of the caller. What is too long is cut *before* it is protected: its Block options are then
//! encrypted (section 4.1.3.4.1). Only a proxy cuts what is protected; the receiver puts that together before it verifies it
//! (section 4.1.3.4.2), within a limit of its own.

mod context;
mod cose;
pub mod crypto;
pub mod echo;
mod error;
mod exchange;
mod message;
pub(crate) mod option;
mod protect;
pub(crate) mod replay;

pub use context::{Context, ECHO, Parameters};
pub use crypto::{Crypto, RustCrypto};
pub use error::Error;
pub use exchange::{ClientExchange, ServerExchange};
pub use option::{PartialIv, Value};
pub use protect::Incoming;
