//! Messages: what is needed around [`Packet`] of the crate `coap-lite` (RFC 7252 sections 3 and 5).

use coap_lite::option_value::OptionValueU32;
pub use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};

/// The version of all messages (RFC 7252 section 3).
const VERSION: u8 = 1;
/// Octets of the header (RFC 7252 section 3).
const HEADER: usize = 4;
/// The types of messages, by their number (RFC 7252 section 3).
const KINDS: [MessageType; 4] =
    [MessageType::Confirmable, MessageType::NonConfirmable, MessageType::Acknowledgement, MessageType::Reset];
/// The octet before a payload (RFC 7252 section 3).
const PAYLOAD_MARKER: u8 = 0xff;

/// A token: it joins a response to its request (RFC 7252 section 5.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    octets: [u8; Self::LONGEST],
    length: u8,
}

impl Token {
    /// The most octets of a token (RFC 7252 section 3).
    pub const LONGEST: usize = 8;

    /// The token with these octets. `None` if they are more than [`LONGEST`](Self::LONGEST).
    pub fn new(octets: &[u8]) -> Option<Self> {
        let mut token = Self { length: octets.len() as u8, ..Self::default() };
        token.octets.get_mut(..octets.len())?.copy_from_slice(octets);
        Some(token)
    }

    /// The token of a message.
    pub fn of(packet: &Packet) -> Self {
        Self::new(packet.get_token()).unwrap_or_default()
    }

    /// Its octets.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }

    /// A token of `length` octets, 8 at most, that is not in use: the random one, or one of the `most` after it.
    pub(crate) fn unused(random: u64, length: u8, most: usize, is_used: impl Fn(&Self) -> bool) -> Option<Self> {
        let skipped = Self::LONGEST - usize::from(length).min(Self::LONGEST);
        (0..=most as u64)
            .filter_map(|more| Self::new(&random.wrapping_add(more).to_be_bytes()[skipped..]))
            .find(|token| !is_used(token))
    }
}

/// Why octets are no message that can be understood.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is no whole header. Such a datagram is ignored.
    #[error("a CoAP message has at least {HEADER} octets, not {0}")]
    Short(usize),
    /// Messages of another version are ignored (RFC 7252 section 3).
    #[error("version {0} of CoAP is not known; the only one is {VERSION}")]
    Version(u8),
    /// The rest of the message breaks a rule. A confirmable message is rejected with a Reset (RFC 7252 section 4.2).
    #[error("message {id:#06x} has a format error: {fault}")]
    Format {
        /// The type of the message.
        kind: MessageType,
        /// Its message ID.
        id: u16,
        /// The rule that it breaks.
        fault: FormatFault,
    },
}

/// A rule of the message format (RFC 7252 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatFault {
    /// Section 3.
    #[error("the token is longer than 8 octets or than the message")]
    Token,
    /// Section 3.1.
    #[error("an option is longer than the message, or has a reserved length or number")]
    Option,
    /// Section 3.
    #[error("no payload follows the payload marker")]
    Marker,
    /// Section 4.1.
    #[error("the code says that the message is empty, but it is not")]
    NotEmpty,
    /// Section 3.
    #[error("the class of the code is reserved")]
    Code,
}

/// True if a datagram begins as a message of CoAP does: with version 1 (RFC 7252 section 3). Records of DTLS begin with other octets
/// (RFC 7983 section 7).
pub fn is_coap(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first >> 6 == VERSION)
}

/// Reads a message.
///
/// # Errors
/// The octets are no message of CoAP.
pub fn decode(octets: &[u8]) -> Result<Packet, DecodeError> {
    let Some(header) = octets.first_chunk::<HEADER>() else { return Err(DecodeError::Short(octets.len())) };
    let version = header[0] >> 6;
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let kind = KINDS[usize::from(header[0] >> 4 & 3)];
    let id = u16::from_be_bytes([header[2], header[3]]);
    let packet = match Class::of(header[1]) {
        Class::Empty if octets.len() > HEADER => Err(FormatFault::NotEmpty),
        Class::Signal | Class::Reserved => Err(FormatFault::Code),
        _ => read(octets),
    };
    packet.map_err(|fault| DecodeError::Format { kind, id, fault })
}

/// Reads a message of any class.
fn read(octets: &[u8]) -> Result<Packet, FormatFault> {
    let packet = Packet::from_bytes(octets).map_err(|error| match error {
        coap_lite::error::MessageError::InvalidTokenLength => FormatFault::Token,
        _ => FormatFault::Option,
    })?;
    // The decoder accepts a marker at the end. The last octet may also belong to an option.
    if packet.payload.is_empty() && octets.last() == Some(&PAYLOAD_MARKER) {
        let without = packet.to_bytes_unlimited().map_err(|_| FormatFault::Option)?;
        if without.len() < octets.len() {
            return Err(FormatFault::Marker);
        }
    }
    Ok(packet)
}

/// Reads a message without type and message ID: a code, and then the token, of `token_length` octets, the options and the payload.
pub(crate) fn read_parts(token_length: u8, code: u8, rest: &[u8]) -> Result<Packet, FormatFault> {
    read(&[&[VERSION << 6 | token_length, code, 0, 0], rest].concat())
}

/// The code of a message, and then its token, its options and its payload: all but its header. `None` if an option is too long.
pub(crate) fn parts(packet: &Packet) -> Option<(u8, Vec<u8>)> {
    let mut octets = packet.to_bytes_unlimited().ok()?;
    Some((packet.header.code.into(), octets.split_off(HEADER)))
}

/// The class of a message, by its code (RFC 7252 section 12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 0.00.
    Empty,
    /// 0.01 to 0.31.
    Request,
    /// 2.xx: a response that says success.
    Success,
    /// 4.xx or 5.xx: a response that says error.
    Error,
    /// 7.xx: a message about the connection, over a stream only (RFC 8323 section 5.1).
    Signal,
    /// All others.
    Reserved,
}

impl Class {
    /// Reads the class from a code.
    pub(crate) const fn of(code: u8) -> Self {
        match code >> 5 {
            0 if code == 0 => Self::Empty,
            0 => Self::Request,
            2 => Self::Success,
            4 | 5 => Self::Error,
            7 => Self::Signal,
            _ => Self::Reserved,
        }
    }
}

/// Returns the class of a message, by its code.
pub fn class(packet: &Packet) -> Class {
    Class::of(packet.header.code.into())
}

/// An empty message: an Acknowledgement or a Reset, or a confirmable one, to which a Reset is the answer (RFC 7252
/// sections 4.1 to 4.3).
pub fn empty(kind: MessageType, id: u16) -> Vec<u8> {
    let number = KINDS.iter().take_while(|other| **other != kind).count() as u8;
    let [high, low] = id.to_be_bytes();
    vec![VERSION << 6 | number << 4, 0, high, low]
}

/// A request for a path such as `sensors/temperature`. The endpoint adds type, message ID and token.
pub fn request(method: RequestType, path: &str) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = MessageClass::Request(method);
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        packet.add_option(CoapOption::UriPath, segment.into());
    }
    packet
}

/// A response with this code and payload. The endpoint adds the rest.
pub fn response(code: ResponseType, payload: impl Into<Vec<u8>>) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = MessageClass::Response(code);
    packet.payload = payload.into();
    packet
}

/// The path of a request, with `/` between its segments and none before them. Octets that are not UTF-8 become U+FFFD.
pub fn path(packet: &Packet) -> String {
    let segments = packet.get_option(CoapOption::UriPath).into_iter().flatten();
    segments.map(|segment| String::from_utf8_lossy(segment)).collect::<Vec<_>>().join("/")
}

/// The value of an option that is a number (RFC 7252 section 3.2). `None` if it is not there, or longer than 4 octets.
pub fn number(packet: &Packet, option: CoapOption) -> Option<u32> {
    packet.get_first_option_as::<OptionValueU32>(option)?.ok().map(|value| value.0)
}

/// Gives an option that is a number this value, in place of any other one.
pub fn set_number(packet: &mut Packet, option: CoapOption, value: u32) {
    packet.clear_option(option);
    packet.add_option_as(option, OptionValueU32(value));
}

/// The code of the refusal that a request gets, whatever it asks for: it has a critical option that is not understood (RFC 7252
/// section 5.4.1), or a method that is not known (section 5.8).
pub(crate) fn refusal(request: &Packet, understood: &[u16]) -> Option<ResponseType> {
    if not_understood(request, understood).is_some() {
        return Some(ResponseType::BadOption);
    }
    let is_known = matches!(request.header.code, MessageClass::Request(method) if method != RequestType::UnKnown);
    (!is_known).then_some(ResponseType::MethodNotAllowed)
}

/// The first critical option that neither `coap-lite` has a name for nor `understood` has (RFC 7252 section 5.4.1). Options
/// with odd numbers are critical (section 5.4.6).
pub fn not_understood(packet: &Packet, understood: &[u16]) -> Option<u16> {
    let mut numbers = packet.options().map(|(number, _)| *number);
    numbers.find(|number| {
        number % 2 == 1 && matches!(CoapOption::from(*number), CoapOption::Unknown(_)) && !understood.contains(number)
    })
}
