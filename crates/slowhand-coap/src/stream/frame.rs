//! Messages one after the other in a stream of octets (RFC 8323 section 3.2).

use crate::message::{self, Class, FormatFault, Packet, Token};

/// A length that needs more octets: from this one on, and in so many octets (RFC 8323 section 3.2, Figure 6).
const EXTENDED: [(u64, usize); 3] = [(13, 1), (269, 2), (65_805, 4)];

/// The value of Len that says the first row of [`EXTENDED`].
const FIRST_EXTENDED: u8 = 13;

/// Octets of the code.
const CODE: usize = 1;

/// Why octets of a stream are no message. Nothing behind them can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A rule of the message format.
    #[error("a message has a format error: {0}")]
    Format(#[from] FormatFault),
    /// The limit is the receiver's.
    #[error("a message has {length} octets, more than {limit}")]
    TooLong {
        /// Octets of the message, as its header says.
        length: u64,
        /// The most octets of a message.
        limit: usize,
    },
}

/// The state of the octets so far.
enum Needs {
    /// More is known when there are so many octets.
    Header(usize),
    /// The message has so many octets. The first number is where its code is.
    Message(usize, u64),
}

fn needs(octets: &[u8]) -> Result<Needs, FormatFault> {
    let Some(&first) = octets.first() else { return Ok(Needs::Header(1)) };
    let (len, token) = (first >> 4, first & 0xf);
    if usize::from(token) > Token::LONGEST {
        return Err(FormatFault::Token);
    }
    let (least, extended) = match len.checked_sub(FIRST_EXTENDED) {
        Some(row) => EXTENDED[usize::from(row)],
        None => (len.into(), 0),
    };
    let code = 1 + extended;
    let Some(more) = octets.get(1..code) else { return Ok(Needs::Header(code)) };
    let length = more.iter().fold(0, |number, octet| number << 8 | u64::from(*octet)) + least;
    Ok(Needs::Message(code, (code + CODE) as u64 + u64::from(token) + length))
}

/// Writes a message, with what it has as its token. `None` if an option is too long, or if it has more than `limit` octets.
pub(super) fn encode(packet: &Packet, limit: usize) -> Option<Vec<u8>> {
    let token = packet.get_token().len();
    let (code, rest) = message::parts(packet)?;
    let length = (rest.len() - token) as u64;
    let row = EXTENDED.iter().rposition(|(least, _)| *least <= length);
    let (len, more) = match row {
        Some(row) => {
            let (least, octets) = EXTENDED[row];
            (FIRST_EXTENDED + row as u8, (length - least).to_be_bytes()[8 - octets..].to_vec())
        }
        None => (length as u8, Vec::new()),
    };
    let octets = [&[len << 4 | token as u8], &more[..], &[code], &rest].concat();
    (octets.len() <= limit).then_some(octets)
}

/// Joins the parts of messages. It keeps one message at most.
pub(super) struct Decoder {
    /// The most octets of a message.
    limit: usize,
    /// The beginning of a message.
    buffer: Vec<u8>,
}

impl Decoder {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new() }
    }

    /// The next message whose end is in `input`, from which its octets are taken. Empty messages are left out (section 3.4).
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Packet>, FrameError> {
        loop {
            let (wanted, code) = match needs(&self.buffer)? {
                Needs::Header(octets) => (octets, None),
                Needs::Message(code, length) => match usize::try_from(length) {
                    Ok(octets) if octets <= self.limit => (octets, Some(code)),
                    _ => return Err(FrameError::TooLong { length, limit: self.limit }),
                },
            };
            let missing = wanted - self.buffer.len();
            let (taken, rest) = input.split_at(missing.min(input.len()));
            self.buffer.extend_from_slice(taken);
            *input = rest;
            if taken.len() < missing {
                return Ok(None);
            }
            if let Some(code) = code
                && let Some(packet) = self.take(code)?
            {
                return Ok(Some(packet));
            }
        }
    }

    /// Takes the message in the buffer, whose code is at this octet. `None` if it is empty.
    fn take(&mut self, code: usize) -> Result<Option<Packet>, FormatFault> {
        let token = self.buffer[0] & 0xf;
        let packet = match Class::of(self.buffer[code]) {
            Class::Empty => Ok(None),
            Class::Reserved => Err(FormatFault::Code),
            _ => message::read_parts(token, self.buffer[code], &self.buffer[code + CODE..]).map(Some),
        };
        self.buffer.clear();
        packet
    }
}

/// Reads the first message of a stream. `None` if its end is not there.
///
/// # Errors
/// The octets are no message.
pub fn decode(octets: &[u8]) -> Result<Option<Packet>, FrameError> {
    Decoder::new(usize::MAX).next(&mut &octets[..])
}
