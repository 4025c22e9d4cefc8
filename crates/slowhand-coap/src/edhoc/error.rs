//! Errors, and what an end says of them to its peer (section 6).

use std::fmt;

use lakers::EDHOCError;

use crate::cbor::{Cbor, Reader, TRUE};

/// The cipher suite that `lakers` has (section 10.2).
pub(super) const SUITE: u8 = 2;

/// Octets of the longest credential: by value it has two octets before it in a buffer of `lakers` of 192.
pub(super) const LONGEST_CREDENTIAL: usize = 190;

/// ERR_CODE of an error message (section 6).
const UNSPECIFIED: i64 = 1;
const WRONG_SUITE: i64 = 2;
const UNKNOWN_CREDENTIAL: i64 = 3;

/// Why a message was not composed or not accepted. After an error the session is over (section 6).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A connection identifier does not serve OSCORE (section 3.3.3).
    #[error("a connection identifier has {0} octets: give at most 7 (RFC 8613, section 3.3)")]
    IdTooLong(usize),
    /// Both ends of OSCORE would have the same keys and nonces (section 3.3.3).
    #[error("both connection identifiers are the same: give each end its own (RFC 9528, section 3.3.3)")]
    SameIds,
    /// `lakers` reads no other CCS.
    #[error(
        "the credential cannot be read: give a CWT Claims Set of at most {} octets with the P-256 key in `cnf`, and at most \
         `sub` beside it (RFC 9528, section 3.5.2)",
        LONGEST_CREDENTIAL
    )]
    Credential,
    /// The credential has no `kid`, and cannot be sent by reference (section 3.5.3).
    #[error("the credential has no `kid`: send it by value, or give it one (RFC 9528, section 3.5.3)")]
    NoKid,
    /// The suites that an initiator offers (section 5.2.2).
    #[error("the cipher suites {0:?} cannot be offered: give at most 9, none above 23, and the last one is 2")]
    Suites(Vec<u8>),
    /// Label, context or output of an exporter (section 4.2.1).
    #[error("the exporter takes a label up to 23, a context and an output of at most 255 octets")]
    Export,
    /// The buffers of `lakers` have 192 octets for a message, and 255 for the context of a MAC.
    #[error(
        "the message, or the credential in it, is too long for this implementation: use credentials by `kid`, or shorter ones"
    )]
    TooLong,
    /// A message is not as section 5 has it, or has an ID_CRED of a type that `lakers` does not know.
    #[error("the message cannot be read (RFC 9528, section 5)")]
    Malformed,
    /// The peer wants another method (section 3.2).
    #[error("method {0} is not there: the only one is 3, static Diffie-Hellman keys of both ends")]
    Method(i64),
    /// The peer selects another cipher suite, or prefers 2 to the one that it selects (section 5.2.3).
    #[error("the cipher suite that the peer has selected is not the one to use, which is 2")]
    Suite,
    /// Somebody must understand it, and nobody does (section 3.8).
    #[error(
        "nobody understands external authorization data with the label {0}, which is critical (RFC 9528, section 3.8)"
    )]
    CriticalEad(i64),
    /// None of the known credentials is the one that the peer names or sends (section 6.4).
    #[error("the credential of the peer is not known: give it to this end, or send another one")]
    UnknownCredential,
    /// The message is not what the peer has sent.
    #[error("the message cannot be decrypted")]
    Decryption,
    /// The peer does not have the private key of the credential, or a message was changed on its way.
    #[error("the peer is not the owner of its credential, or a message was changed (RFC 9528, section 5)")]
    Authentication,
    /// A public key of the peer is no point of the curve, or a private key is no scalar (section 9.2).
    #[error("a public key is no point of P-256, or a private key is 0 or too large (RFC 9528, section 9.2)")]
    Key,
    /// No session has this C_R, which the caller has looked for.
    #[error("no session has the connection identifier in the message")]
    UnknownSession,
    /// The combined request leaves no place for message_4 (RFC 9668, section 3.3.1, step 4).
    #[error("the peer has combined message_3 with a request, but waits for message_4: send message_3 alone")]
    Combined,
    /// The payload is of another Content-Format (section 10.9).
    #[error("the Content-Format {0} is not one of EDHOC: 64 in a response, 65 in a request (RFC 9528, section 10.9)")]
    ContentFormat(u32),
    /// A response says error, but not why.
    #[error("the peer has answered {0} without an EDHOC error message")]
    Response(String),
    /// The peer has sent an error message. Nothing protects it: others may have sent it (section 6).
    #[error("the peer says: {0}")]
    Peer(ErrorMessage),
}

impl Error {
    /// The message for the peer. `None` after an error message of the peer, or a response: these have no answer.
    pub fn message(&self) -> Option<ErrorMessage> {
        match self {
            Self::Suite => Some(ErrorMessage::WrongSuite(vec![SUITE.into()])),
            Self::UnknownCredential => Some(ErrorMessage::UnknownCredential),
            Self::Peer(_) | Self::Response(_) => None,
            _ => Some(self.unspecified()),
        }
    }

    /// The message with the error code 1, which says nothing of secrets of this end (section 9.5).
    pub(super) fn unspecified(&self) -> ErrorMessage {
        let text = match self {
            Self::Malformed => "Malformed message",
            Self::TooLong => "Message too long",
            Self::Method(_) => "Method not supported",
            Self::Suite => "Cipher suite not supported",
            Self::CriticalEad(_) => "Critical EAD not supported",
            Self::UnknownCredential => "Unknown credential",
            Self::Decryption | Self::Authentication => "Authentication failed",
            Self::Key => "Invalid key",
            Self::SameIds => "C_I and C_R are the same",
            Self::UnknownSession => "No such session",
            Self::Combined => "message_4 is used",
            _ => "Internal error",
        };
        ErrorMessage::Unspecified(text.to_owned())
    }

    /// True if this end is at fault, and not its peer: what it was told cannot work.
    pub(super) const fn is_own(&self) -> bool {
        matches!(self, Self::IdTooLong(_) | Self::Credential | Self::NoKid | Self::Suites(_) | Self::Export)
    }
}

impl From<EDHOCError> for Error {
    fn from(error: EDHOCError) -> Self {
        match error {
            EDHOCError::MacVerificationFailed => Self::Authentication,
            EDHOCError::UnexpectedCredential => Self::UnknownCredential,
            EDHOCError::MissingIdentity => Self::NoKid,
            EDHOCError::UnsupportedCipherSuite => Self::Suite,
            EDHOCError::EncodingError | EDHOCError::CredentialTooLongError | EDHOCError::EadTooLongError => {
                Self::TooLong
            }
            _ => Self::Malformed,
        }
    }
}

/// An error message of EDHOC.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorMessage {
    /// ERR_CODE 1, with a text for engineers (section 6.2).
    Unspecified(String),
    /// ERR_CODE 2, with the suites that the responder supports (section 6.3).
    WrongSuite(Vec<i64>),
    /// ERR_CODE 3 (section 6.4).
    UnknownCredential,
    /// Another ERR_CODE, whatever it says.
    Other(i64),
}

impl ErrorMessage {
    /// Its octets. Those of another code say no more than it.
    pub fn write(&self) -> Vec<u8> {
        let code = |code| Cbor::default().integer(code);
        let message = match self {
            Self::Unspecified(text) => code(UNSPECIFIED).text(text),
            Self::WrongSuite(suites) => {
                let all = suites.iter().fold(Cbor::default(), |all, suite| all.integer(*suite)).finish();
                let array = if suites.len() == 1 { Vec::new() } else { Cbor::array(suites.len()).finish() };
                code(WRONG_SUITE).raw(&array).raw(&all)
            }
            Self::UnknownCredential => code(UNKNOWN_CREDENTIAL).yes(),
            Self::Other(other) => code(*other).null(),
        };
        message.finish()
    }

    /// Reads an error message. `None` if the octets are none.
    pub fn read(octets: &[u8]) -> Option<Self> {
        let mut reader = Reader::strict(octets);
        let code = reader.integer()?;
        let mut info = reader;
        reader.item()?;
        if !reader.is_empty() {
            return None;
        }
        match code {
            UNSPECIFIED => info.text().map(|text| Self::Unspecified(text.to_owned())),
            WRONG_SUITE => suites(&mut info).map(Self::WrongSuite),
            UNKNOWN_CREDENTIAL => (info.rest() == [TRUE]).then_some(Self::UnknownCredential),
            other => Some(Self::Other(other)),
        }
    }
}

impl fmt::Display for ErrorMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unspecified(text) => write!(f, "{}", text.escape_debug()),
            Self::WrongSuite(suites) => write!(f, "wrong cipher suite, it supports {suites:?}"),
            Self::UnknownCredential => f.write_str("unknown credential"),
            Self::Other(code) => write!(f, "error code {code}"),
        }
    }
}

/// Cipher suites: one number, or an array of two or more (section 5.2.1).
pub(super) fn suites(reader: &mut Reader<'_>) -> Option<Vec<i64>> {
    if let Some(suite) = reader.optional(Reader::integer) {
        return Some(vec![suite]);
    }
    let items = reader.array().filter(|items| *items >= 2)?;
    (0..items).map(|_| reader.integer()).collect()
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::octets;

    use super::*;

    /// RFC 9529, section 3.2; the others by hand, from section 6 and RFC 8949, section 3.
    #[test]
    fn error_messages_are_those_of_the_standard() {
        for (message, written) in [
            (ErrorMessage::WrongSuite(vec![2]), "02 02"),
            (ErrorMessage::WrongSuite(vec![9, 8]), "02 82 09 08"),
            (ErrorMessage::WrongSuite(vec![24, -21]), "02 82 1818 34"),
            (ErrorMessage::UnknownCredential, "03 f5"),
            (ErrorMessage::Unspecified("No".to_owned()), "01 62 4e6f"),
            (ErrorMessage::Other(-7), "26 f6"),
            (ErrorMessage::Other(0), "00 f6"),
        ] {
            assert_eq!(message.write(), octets(written), "{message}");
            assert_eq!(ErrorMessage::read(&octets(written)), Some(message));
        }
        assert_eq!(ErrorMessage::read(&octets("04 a1 01 02")), Some(ErrorMessage::Other(4)));
        for refused in
            ["", "01", "01 01", "01 61ff", "02 80", "02 81 02", "02 6132", "03 f4", "03 f5 00", "4101", "04 82 01"]
        {
            assert_eq!(ErrorMessage::read(&octets(refused)), None, "{refused}");
        }
    }
}
