//! The options of CoAP (RFC 7252): what carries an application's data, and with what it is protected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_coap::block::BlockSize;
pub use slowhand_coap::endpoint::Delivery;
use slowhand_coap::timer::{Algorithm, Transmission};

use crate::tls::Tls;

/// The options of a session whose data are CoAP messages. [`Coap::new`] gives each field its default.
///
/// The data that an end writes answer the oldest request of its peer that waits. If none waits, they are a request of their own: a
/// POST. Over datagrams it is confirmable, and sent again until it is acknowledged. Over a stream TCP repeats what is lost.
///
/// Where the client observes, its first request is a FETCH (RFC 8132) with Observe, and what the server then writes is a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coap {
    /// With what the messages are protected.
    pub security: Security,
    /// The waits of an end for acknowledgements, and the number of times that it sends a message again (RFC 7252 section 4.8). No
    /// effect over a stream.
    pub transmission: Transmission,
    /// The algorithm of that. Default: that of RFC 7252.
    pub congestion: Congestion,
    /// Octets of a block (RFC 7959): over datagrams, longer data are sent in blocks; so are data that do not fit into one message. A
    /// smaller block is taken where this one does not fit. Default: 1,024, the payload of RFC 7252 section 4.6.
    pub block: BlockSize,
    /// The type of the server's notifications of what the client observes (RFC 7641): what it writes while no request waits. Each
    /// is one message, without blocks. If the client observes nothing then, or no longer, it is not sent. `NonConfirmable` ones may
    /// get lost; one in 24 hours is confirmable all the same (section 4.5). No effect over a stream but that the client observes.
    /// Default: `None`, the client observes nothing.
    pub notifications: Option<Delivery>,
}

/// With what CoAP messages are protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// With nothing, over UDP.
    None,
    /// With nothing, over TCP (RFC 8323).
    Tcp,
    /// With OSCORE (RFC 8613). Both ends have its context from the beginning, so there is no handshake.
    Oscore,
    /// With OSCORE, whose context comes from a handshake of EDHOC (RFC 9528).
    Edhoc(Edhoc),
    /// With the records of DTLS 1.2, whose keys come from LESS.
    Less,
    /// By the transport: DTLS, or TLS (RFC 8323).
    Tls(Tls),
}

/// The protection of the messages of an end that has neither TLS nor DTLS below.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Protection {
    None,
    Oscore,
    Edhoc(Edhoc),
}

/// The options of EDHOC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edhoc {
    /// The form in which the ends send their credentials. Default: by reference.
    pub transfer: Transfer,
    /// True if the server answers message_3 with message_4, which proves that it has got it (RFC 9528 section 5.5). Default: false.
    pub message_4: bool,
    /// True if the client sends message_3 together with its first request (RFC 9668). Default: false.
    pub combined: bool,
}

/// The way in which an end of EDHOC sends its credential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transfer {
    /// By its key identifier: the peer has it already.
    #[default]
    #[serde(rename = "kid")]
    Reference,
    /// As a whole: a CWT Claims Set.
    #[serde(rename = "ccs")]
    Value,
}

impl Edhoc {
    /// The default of each option.
    pub const DEFAULT: Self = Self { transfer: Transfer::Reference, message_4: false, combined: false };
}

impl Coap {
    /// The default of each option.
    pub const fn new(security: Security) -> Self {
        Self {
            security,
            transmission: Transmission::DEFAULT,
            congestion: Congestion::Default,
            block: BlockSize::LARGEST,
            notifications: None,
        }
    }

    /// True if the messages run over a stream.
    pub(crate) fn is_stream(&self) -> bool {
        match &self.security {
            Security::Tcp => true,
            Security::Tls(tls) => tls.version.dtls().is_none(),
            Security::None | Security::Oscore | Security::Edhoc(_) | Security::Less => false,
        }
    }
}

/// The time that an end waits for the acknowledgement of a CoAP message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// A random time at first, and twice as long after each retransmission (RFC 7252 section 4.2).
    #[default]
    Default,
    /// CoCoA: as measured round trips have it (draft-ietf-core-cocoa-03).
    Cocoa,
}

impl From<Congestion> for Algorithm {
    fn from(congestion: Congestion) -> Self {
        match congestion {
            Congestion::Default => Self::Default,
            Congestion::Cocoa => Self::Cocoa,
        }
    }
}

/// The Sender IDs of client and server with a context that both have from the beginning: those of RFC 8613 appendix C.1.
pub const OSCORE_IDS: [&[u8]; 2] = [&[], &[1]];

/// Octets of a request over datagrams beside its payload: the header with a token of 4 octets, the path, and the marker before the payload.
pub const REQUEST_OVERHEAD: usize = 4 + 4 + 2 + 1;

/// Octets of a response over datagrams beside its payload.
pub const RESPONSE_OVERHEAD: usize = 4 + 4 + 1;

/// The most octets of data that a session writes at once, in as many blocks as needed. *Assumed*: a receiver has no more memory
/// for a body.
pub const MAX_BODY: usize = 65_536;
