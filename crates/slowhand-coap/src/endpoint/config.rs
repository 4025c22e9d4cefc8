use std::time::Duration;

use crate::timer::{Algorithm, Transmission};

/// The settings of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The parameters of transmission (RFC 7252 section 4.8).
    pub transmission: Transmission,
    /// The algorithm of its waits for acknowledgements.
    pub algorithm: Algorithm,
    /// When it acknowledges a request whose response is not there yet. Default: 1 s, as draft-ietf-core-cocoa-03 section 4
    /// says of servers.
    pub acknowledge_after: Duration,
    /// The time after its first transmission at which a request fails without a response. Default: 247 s, which is EXCHANGE_LIFETIME
    /// (RFC 7252 section 4.8.2; that it is this time is assumed).
    pub response_wait: Duration,
    /// Octets of a new token. Default: 4, the least without security of the transport (RFC 7252 section 5.3.1). More
    /// than 8 counts as 8.
    pub token_length: u8,
    /// The most octets of a message. Default: 1,152 (RFC 7252 section 4.6).
    pub max_message: usize,
    /// The most requests that wait for responses, with those that observe. Default: 64, which is assumed.
    pub max_requests: usize,
    /// The most messages that wait until the peer has acknowledged those before. Default: 64, which is assumed.
    pub max_waiting: usize,
    /// The most messages of the peer that are remembered, to know copies of them. The oldest is forgotten for a new one, and a copy
    /// of it would count as new. Default: 256, which is assumed.
    pub max_remembered: usize,
    /// Critical options that the owner understands, beside those that `coap-lite` has names for. Default: none.
    pub critical_options: Vec<u16>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            transmission: Transmission::DEFAULT,
            algorithm: Algorithm::Default,
            acknowledge_after: Duration::from_secs(1),
            response_wait: Transmission::DEFAULT.exchange_lifetime(),
            token_length: 4,
            max_message: 1_152,
            max_requests: 64,
            max_waiting: 64,
            max_remembered: 256,
            critical_options: Vec::new(),
        }
    }
}
