//! CoAP (RFC 7252) and what protects it above the transport: OSCORE (RFC 8613) and EDHOC (RFC 9528).
//!
//! Nothing here does I/O, knows a network or a TLS library. The caller gives octets and the time, and takes what is to be
//! sent and the next deadline. Messages are read and written by the crate `coap-lite`.

pub mod block;
pub mod endpoint;
pub mod message;
pub mod observe;
pub mod timer;
