//! Signaling messages: what the ends say about their connection (RFC 8323 section 5).

use crate::message::{self, CoapOption, MessageClass, Packet, Token};

/// Their codes (RFC 8323 section 11.1).
const CSM: u8 = 0xe1;
const PING: u8 = 0xe2;
const PONG: u8 = 0xe3;
const RELEASE: u8 = 0xe4;
const ABORT: u8 = 0xe5;

/// Their options have numbers that mean something else in other messages (RFC 8323 section 11.2).
const MAX_MESSAGE_SIZE: u16 = 2;
const BLOCK_WISE_TRANSFER: u16 = 4;
const BAD_CSM_OPTION: u16 = 2;

/// A Signaling message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// 7.01: Capabilities and Settings (section 5.3).
    Csm {
        /// Max-Message-Size: the most octets of a message that the sender takes.
        max_message: Option<u32>,
        /// Block-Wise-Transfer: if the sender knows RFC 7959.
        blocks: bool,
    },
    /// 7.02 (section 5.4).
    Ping(Token),
    /// 7.03: the answer to a Ping, with its token.
    Pong(Token),
    /// 7.04: the sender wants to close the connection, when what was asked is answered (section 5.5).
    Release,
    /// 7.05: the sender closes the connection at once (section 5.6).
    Abort {
        /// Bad-CSM-Option: the option of a CSM that it does not understand.
        bad_option: Option<u16>,
        /// Why, in words.
        diagnostic: String,
    },
}

/// Why a Signaling message is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// Section 5.2.
    #[error("a CSM has the critical option {0}, which is not understood")]
    CsmOption(u16),
    /// Section 5.2.
    #[error("a Signaling message has the critical option {0}, which is not understood")]
    Option(u16),
    /// Section 5.3.1: the value has four octets at most.
    #[error("Max-Message-Size has more than four octets")]
    MaxMessageSize,
    /// There is no such message.
    #[error("{}.{:02} is no code of a Signaling message", .0 >> 5, .0 & 0x1f)]
    Code(u8),
}

impl Signal {
    /// Reads a message.
    ///
    /// # Errors
    /// It is no Signaling message, or has something that is not understood.
    pub fn read(packet: &Packet) -> Result<Self, SignalError> {
        let code = u8::from(packet.header.code);
        if !(CSM..=ABORT).contains(&code) {
            return Err(SignalError::Code(code));
        }
        // Options that have a meaning are all elective: their numbers are even (section 5.2).
        if let Some(number) = packet.options().map(|(number, _)| *number).find(|number| number % 2 == 1) {
            return Err(if code == CSM { SignalError::CsmOption(number) } else { SignalError::Option(number) });
        }
        let token = Token::of(packet);
        Ok(match code {
            CSM => {
                let has_size = packet.get_option(CoapOption::from(MAX_MESSAGE_SIZE)).is_some();
                let max_message = message::number(packet, CoapOption::from(MAX_MESSAGE_SIZE));
                if has_size && max_message.is_none() {
                    return Err(SignalError::MaxMessageSize);
                }
                let blocks = packet.get_option(CoapOption::from(BLOCK_WISE_TRANSFER)).is_some();
                Self::Csm { max_message, blocks }
            }
            PING => Self::Ping(token),
            PONG => Self::Pong(token),
            RELEASE => Self::Release,
            ABORT => {
                let bad_option = message::number(packet, CoapOption::from(BAD_CSM_OPTION));
                let bad_option = bad_option.and_then(|number| number.try_into().ok());
                Self::Abort { bad_option, diagnostic: String::from_utf8_lossy(&packet.payload).into_owned() }
            }
            _ => return Err(SignalError::Code(code)),
        })
    }

    pub(super) fn packet(&self) -> Packet {
        let mut packet = Packet::new();
        let code = match self {
            Self::Csm { max_message, blocks } => {
                if let Some(octets) = max_message {
                    message::set_number(&mut packet, CoapOption::from(MAX_MESSAGE_SIZE), *octets);
                }
                if *blocks {
                    packet.add_option(CoapOption::from(BLOCK_WISE_TRANSFER), Vec::new());
                }
                CSM
            }
            Self::Ping(token) | Self::Pong(token) => {
                packet.set_token(token.octets().to_vec());
                if matches!(self, Self::Ping(_)) { PING } else { PONG }
            }
            Self::Release => RELEASE,
            Self::Abort { bad_option, diagnostic } => {
                if let Some(number) = bad_option {
                    message::set_number(&mut packet, CoapOption::from(BAD_CSM_OPTION), (*number).into());
                }
                packet.payload = diagnostic.clone().into_bytes();
                ABORT
            }
        };
        packet.header.code = MessageClass::from(code);
        packet
    }
}
