//! CoJP, the Constrained Join Protocol of 6TiSCH (RFC 9031): a device without keys, the *pledge*, asks the registrar of the network
//! (JRC) for them, with one request of CoAP under OSCORE. Sections without another RFC are of RFC 9031.
//!
//! The pledge reaches only a neighbour that has joined. That neighbour is its *join proxy*: it passes the request on to the
//! registrar and keeps nothing of it. Whatever it must know of the pledge when the response comes is in the token of what it
//! passes on ([`Proxy`], section 7.1, with the long tokens of RFC 8974).
//!
//! | type | is | section |
//! | --- | --- | --- |
//! | [`JoinRequest`], [`Configuration`] | the objects of CBOR in a request and in a response | 8.4 |
//! | [`Pledge`], [`Registrar`] | the two ends with their contexts of OSCORE | 7.3, 8.1 |
//! | [`Proxy`] | the join proxy | 7.1 |
//! | [`TRANSMISSION`] | the timer of the pledge | 7.2 |
//!
//! ```
//! use slowhand_coap::cojp::{Address, Configuration, JoinRequest, Key, Pledge, Proxy, Registrar};
//! use slowhand_coap::oscore::RustCrypto;
//!
//! let (secret, device) = ([7; 16], [0x02, 0x12, 0x74, 0, 0, 0, 0, 5]);
//! let key = Key { id: 1, usage: 0, value: [0xe6; 16], additional: None };
//! let mut registrar = Registrar::new(b"\xca\xfe", vec![key]);
//! registrar.provision(device, &secret, &mut RustCrypto)?;
//! let mut pledge = Pledge::new(&secret, device, &mut RustCrypto)?;
//! let mut proxy = Proxy::new([9; 16]);
//!
//! let request = pledge.request(&JoinRequest::of_node(b"\xca\xfe"), 1, true, &mut RustCrypto)?;
//! let from = Address { identifier: device, port: 5683 };
//! let forwarded = proxy.forward(from, &request, &mut RustCrypto)?;
//! let response = registrar.answer(&forwarded, &mut RustCrypto)?;
//! let (to, response) = proxy.back(&response, &mut RustCrypto)?;
//! assert_eq!(to, from);
//! let Configuration { keys, short_identifier, .. } = pledge.receive(&response, &mut RustCrypto)?;
//! assert_eq!((keys[0].id, short_identifier.is_some()), (1, true));
//! # Ok::<(), slowhand_coap::cojp::Error>(())
//! ```

mod objects;
mod pledge;
mod proxy;
mod registrar;

use std::time::Duration;

use crate::message::{DecodeError, Packet};
use crate::oscore::{self, Context, Parameters};
use crate::timer::Transmission;

pub use objects::{Configuration, JoinRequest, Key, NODE, ShortIdentifier};
pub use pledge::Pledge;
pub use proxy::{Address, Proxy};
pub use registrar::Registrar;

/// The time that a pledge waits for the response, and the number of times that it repeats its request (section 7.2, table 1).
pub const TRANSMISSION: Transmission =
    Transmission { ack_timeout: Duration::from_secs(10), ack_random_percent: 150, max_retransmit: 4 };

/// The name of the registrar in requests (section 8.1.1).
const HOST: &str = "6tisch.arpa";

/// The resource of the registrar (section 8.1.1).
const PATH: &str = "j";

/// The scheme that tells a join proxy what to do with a request (section 8.1.1).
const SCHEME: &str = "coap";

/// The name of the registrar in contexts of OSCORE; that of a pledge is empty (section 7.3).
const REGISTRAR: &[u8] = b"JRC";

/// Octets of an EUI-64.
const EUI64: usize = 8;

/// Why a message is not one of joining, or not accepted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no message of CoAP.
    #[error(transparent)]
    Message(#[from] DecodeError),
    /// OSCORE does not accept it.
    #[error(transparent)]
    Oscore(#[from] oscore::Error),
    /// The object is no CBOR, or not as section 8.4 has it.
    #[error("the object of CoJP cannot be read (RFC 9031, section 8.4)")]
    Object,
    /// The object has a parameter that is not supported here, or that section 8.4.3 does not name for it.
    #[error("the object of CoJP has parameter {0}, which is not supported (RFC 9031, section 8.4.3)")]
    Parameter(u64),
    /// The message asks for something else: not POST for `j`, or not for this network.
    #[error("the message does not ask to join this network (RFC 9031, section 8.1.1)")]
    Purpose,
    /// Nobody has provisioned the device.
    #[error("the registrar does not know the device: provision it with its key")]
    UnknownDevice,
    /// The token of the response is not one that this proxy has made (section 7.1).
    #[error("the token is not one of this join proxy (RFC 9031, section 7.1)")]
    Token,
    /// The response is for a request that was not made, or has been answered.
    #[error("nobody waits for this response")]
    Unexpected,
    /// The registrar has refused the request, with this code.
    #[error("the registrar answers with code {0:#04x}")]
    Refused(u8),
}

/// The context of one end for a device (section 7.3). Both ends share `secret`. The names are its own, and that of the other end.
fn context(
    secret: &[u8; 16],
    device: &[u8; EUI64],
    [sender_id, recipient_id]: [&[u8]; 2],
    crypto: &mut impl oscore::Crypto,
) -> Result<Context, oscore::Error> {
    let master_salt = &[];
    let id_context = Some(&device[..]);
    Context::derive(&Parameters { master_secret: secret, master_salt, id_context, sender_id, recipient_id }, crypto)
}

/// The EUI-64 in a message's kid context, if there is one (section 7.3).
fn device_of(packet: &Packet) -> Result<[u8; EUI64], Error> {
    let option = oscore::Value::of(packet)?.ok_or(oscore::Error::NotProtected)?;
    let context = option.kid_context.ok_or(oscore::Error::UnknownContext)?;
    context.try_into().map_err(|_| Error::UnknownDevice)
}
