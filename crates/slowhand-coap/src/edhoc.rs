//! EDHOC (RFC 9528): two ends agree on keys and prove to each other who they are, in three messages. Its result is a context of
//! [OSCORE](crate::oscore). Sections without another RFC are of RFC 9528.
//!
//! The crate `lakers` has the protocol. Here are its cryptography, as a [trait](Crypto) of which each call is one operation; checks of
//! all that it would panic at or let pass; the [error messages](ErrorMessage); the [transfer over CoAP](coap), and the
//! [combined request](combined) of RFC 9668.
//!
//! | there is | there is not, because `lakers` 0.8 has it not |
//! | --- | --- |
//! | method 3: static Diffie-Hellman keys of both ends | methods 0 to 2, with signatures |
//! | cipher suite 2: AES-CCM-16-64-128, SHA-256, 8 octets of MAC, P-256 | other suites |
//! | CCS by `kid`, or by value, of credentials that are known | X.509, CWT, `x5t`, `x5chain` |
//! | external authorization data that is not critical, and padding: ignored | labels above 23 |
//! | messages of 192 octets, connection identifiers of 7 | longer ones |
//!
//! Secrets are wiped when they go, but for copies that `lakers` makes on the stack while it computes. It compares the MACs octet by
//! octet, not in constant time.
//!
//! ```
//! # use slowhand_coap::edhoc::{ConnectionId, Credential, Error, Failure, Identity, Initiator, Responder, Software, Transfer};
//! # use slowhand_coap::edhoc::{Crypto, crypto::{KeyPair, Scalar}};
//! # fn ccs(pair: &KeyPair, kid: u8) -> Credential {
//! #     let head = [0xa1, 8, 0xa1, 1, 0xa4, 1, 2, 2, 0x41, kid, 0x20, 1, 0x21, 0x58, 32];
//! #     Credential::ccs(&[&head[..], &pair.public].concat()).unwrap()
//! # }
//! // A real program draws random numbers.
//! let mut next = 0_u8;
//! let mut crypto = Software(|octets: &mut [u8]| octets.iter_mut().for_each(|octet| { next = next.wrapping_add(7); *octet = next }));
//! let (of_client, of_server) = (crypto.generate(), crypto.generate());
//! let (client, server) = (ccs(&of_client, 1), ccs(&of_server, 2));
//! let own = Identity { credential: client, private: of_client.private, transfer: Transfer::Reference };
//! let (initiator, message_1) = Initiator::start(ConnectionId::new(&[0x01])?, &[2], &mut crypto)?;
//!
//! let of_server = Identity { credential: server, private: of_server.private, transfer: Transfer::Reference };
//! let choices = [ConnectionId::new(&[0x01])?, ConnectionId::new(&[0x02])?];
//! let (responder, message_2) = Responder::start(&message_1, &choices, &of_server, &mut crypto)?;
//!
//! let (at_client, message_3) = initiator.receive(&message_2, &own, &[server], &mut crypto)?;
//! let at_server = responder.receive(&message_3, &[client], &mut crypto)?;
//! assert_eq!((at_client.peer(), at_server.peer()), (&server, &client));
//! let (at_client, at_server) = (at_client.oscore(&mut crypto)?, at_server.oscore(&mut crypto)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bridge;
mod check;
pub mod coap;
pub mod combined;
mod credential;
pub mod crypto;
mod error;
mod established;
mod initiator;
mod responder;
mod wiped;

pub use credential::{ConnectionId, Credential, Identity, Transfer};
pub use crypto::{Crypto, Software};
pub use error::{Error, ErrorMessage};
pub use established::Established;
pub use initiator::{Failure, Initiator};
pub use responder::Responder;
