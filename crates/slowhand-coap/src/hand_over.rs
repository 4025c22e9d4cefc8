//! The hand-over of a session of DTLS from a delegate to a constrained device (Hummen et al. 2014, "Delegation-based
//! authentication and authorization for the IP-based Internet of Things"): the request and the answer, the payloads of two
//! messages of CoAP.
//!
//! The device asks its delegate to open a session with a server. The delegate does the whole handshake, with certificates, in
//! the device's name. The answer has what the device needs to resume that session: its master secret, its suite, and its ID
//! or its ticket. So the messages must be encrypted and authenticated, as OSCORE does it.
//!
//! *Assumed*: the octets. The papers say what is handed over, and not how it is written. The session itself is in the format of
//! the library that resumes it, which the delegate has too.
//!
//! ```
//! use std::net::Ipv6Addr;
//!
//! use slowhand_coap::hand_over::{Answer, Request};
//!
//! let request = Request { address: Ipv6Addr::LOCALHOST, port: 5684 };
//! assert_eq!(Request::decode(&request.encode()), Ok(request));
//! assert_eq!(Answer::decode(&Answer::Session(&[1, 2, 3]).encode()), Ok(Answer::Session(&[1, 2, 3])));
//! ```

use std::net::Ipv6Addr;

use zeroize::Zeroizing;

/// The version of the format.
const VERSION: u8 = 1;

/// Octets of a request: the version, the address, the port.
const REQUEST: usize = 1 + 16 + 2;

/// The kinds of answers, in their second octet.
const REFUSED: u8 = 0;
const SESSION: u8 = 1;

/// The device asks for a session with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The address of the server.
    pub address: Ipv6Addr,
    /// Its UDP port.
    pub port: u16,
}

/// The answer of the delegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The session, in the format of the device's library: one octet or more.
    Session(&'a [u8]),
    /// There is no session: the delegate may not open it, or its handshake has failed.
    Refused,
}

/// The octets are no request, or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// They are of another version.
    #[error("version {0}, and this end has version {VERSION}")]
    Version(u8),
    /// There are too few or too many of them, or they say nothing that this end knows.
    #[error("no message of a hand-over")]
    Malformed,
}

impl Request {
    /// Its octets.
    pub fn encode(&self) -> [u8; REQUEST] {
        let mut octets = [VERSION; REQUEST];
        octets[1..17].copy_from_slice(&self.address.octets());
        octets[17..].copy_from_slice(&self.port.to_be_bytes());
        octets
    }

    /// Reads a request.
    ///
    /// # Errors
    /// The octets are not those of one request.
    pub fn decode(octets: &[u8]) -> Result<Self, FormatError> {
        let rest = version_1(octets)?;
        let (address, port) = rest.split_first_chunk::<16>().ok_or(FormatError::Malformed)?;
        let port = port.try_into().map_err(|_| FormatError::Malformed)?;
        Ok(Self { address: (*address).into(), port: u16::from_be_bytes(port) })
    }
}

impl<'a> Answer<'a> {
    /// Its octets, which are wiped when they are dropped: a session has a secret.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Refused => vec![VERSION, REFUSED],
            Self::Session(session) => [&[VERSION, SESSION], *session].concat(),
        })
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// The octets are not those of one answer.
    pub fn decode(octets: &'a [u8]) -> Result<Self, FormatError> {
        match version_1(octets)? {
            [REFUSED] => Ok(Self::Refused),
            [SESSION, session @ ..] if !session.is_empty() => Ok(Self::Session(session)),
            _ => Err(FormatError::Malformed),
        }
    }
}

/// The octets behind the version.
fn version_1(octets: &[u8]) -> Result<&[u8], FormatError> {
    match octets {
        [] => Err(FormatError::Malformed),
        [VERSION, rest @ ..] => Ok(rest),
        [version, ..] => Err(FormatError::Version(*version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_or_longer_is_no_request() {
        let octets = Request { address: Ipv6Addr::LOCALHOST, port: 5684 }.encode();
        assert_eq!(octets[15..], [0, 1, 0x16, 0x34]);
        for length in 0..REQUEST {
            assert_eq!(Request::decode(&octets[..length]), Err(FormatError::Malformed), "{length} octets");
        }
        assert_eq!(Request::decode(&[&octets[..], &[0]].concat()), Err(FormatError::Malformed));
        assert_eq!(Request::decode(&[2; REQUEST]), Err(FormatError::Version(2)));
    }

    #[test]
    fn an_answer_has_a_session_or_says_that_there_is_none() {
        assert_eq!(Answer::decode(&Answer::Refused.encode()), Ok(Answer::Refused));
        assert_eq!(Answer::Session(&[7; 9]).encode().len(), 2 + 9);
        for malformed in [&[][..], &[1], &[1, 0, 0], &[1, 1], &[1, 2, 0]] {
            assert_eq!(Answer::decode(malformed), Err(FormatError::Malformed), "{malformed:?}");
        }
        assert_eq!(Answer::decode(&[0, 1, 5]), Err(FormatError::Version(0)));
    }
}
