//! Compression of the IPv6 header (RFC 6282 section 3).
//!
//! ```text
//!   0                                       1
//!   0   1   2   3   4   5   6   7   8   9   0   1   2   3   4   5
//! +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//! | 0 | 1 | 1 |  TF   |NH | HLIM  |CID|SAC|  SAM  | M |DAC|  DAM  |
//! +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//! ```
//! These fields follow, in this order, unless they are elided: context identifiers, traffic class and flow label, next
//! header, hop limit, source, destination. Then follows the next header, compressed ([`nhc`]) or not.

mod address;

use super::context::Contexts;
use super::cursor::{Reader, Writer};
use super::{Compressed, Decompressed, Error, Link, nhc};
use crate::ip::{self, Ipv6Header, UdpHeader, next_header};
use address::Coded;

/// The longest compressed header that [`compress`] writes: base (2), context identifiers (1), traffic class and flow
/// label (4), next header (1) or UDP (7), hop limit (1), two addresses in full.
pub const MAX_COMPRESSED: usize = 2 + 1 + 4 + 7 + 1 + 32;

/// The longest headers that [`decompress`] writes: IPv6 and UDP.
pub const MAX_DECOMPRESSED: usize = ip::UdpDatagram::HEADERS;

/// 011 in the first three bits (RFC 6282 section 3.1).
const DISPATCH: u16 = 0b011 << 13;

/// The hop limits that need no octet, by HLIM field. The field 0 means "inline" (RFC 6282 section 3.1.1).
const HOP_LIMITS: [u8; 4] = [0, 1, 64, 255];

/// True if a frame payload that begins with `octet` begins with a compressed IPv6 header.
pub const fn is_dispatch(octet: u8) -> bool {
    octet >> 5 == 0b011
}

/// Compresses the headers of `packet` into `out`: IPv6, and UDP if it follows. The rest of the packet, after
/// [`Compressed::consumed`], is carried unchanged.
///
/// # Errors
/// [`Error::Packet`] if `packet` is not an IPv6 packet of exactly the length in its header;
/// [`Error::BufferTooSmall`]: [`MAX_COMPRESSED`] octets are always enough.
pub fn compress(packet: &[u8], link: Link, contexts: &Contexts, out: &mut [u8]) -> Result<Compressed, Error> {
    let (header, payload) = Ipv6Header::parse_packet(packet)?;
    compress_headers(&header, payload, link, contexts, out)
}

/// As [`compress`], but `payload` may end after the UDP header: a node that forwards fragments has no more.
pub(super) fn compress_headers(
    header: &Ipv6Header,
    payload: &[u8],
    link: Link,
    contexts: &Contexts,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    let udp = compressible_udp(header, payload);
    let source = Coded::source(header.source, link.source, contexts);
    let destination = Coded::destination(header.destination, link.destination, contexts);
    let context_ids = source.context << 4 | destination.context;
    let traffic = TrafficMode::of(header);
    let hop_limit_mode = HOP_LIMITS.iter().rposition(|&known| known == header.hop_limit).unwrap_or(0);

    let base = DISPATCH
        | (traffic as u16) << 11
        | u16::from(udp.is_some()) << 10
        | (hop_limit_mode as u16) << 8
        | u16::from(context_ids != 0) << 7
        | u16::from(source.stateful) << 6
        | u16::from(source.mode) << 4
        | u16::from(destination.multicast) << 3
        | u16::from(destination.stateful) << 2
        | u16::from(destination.mode);

    let mut out = Writer::new(out);
    out.u16(base)?;
    if context_ids != 0 {
        out.u8(context_ids)?;
    }
    traffic.emit(header, &mut out)?;
    if udp.is_none() {
        out.u8(header.next_header)?;
    }
    if hop_limit_mode == 0 {
        out.u8(header.hop_limit)?;
    }
    source.emit(&mut out)?;
    destination.emit(&mut out)?;
    let mut consumed = Ipv6Header::LENGTH;
    if let Some(udp) = udp {
        nhc::emit_udp(&udp, &mut out)?;
        consumed += UdpHeader::LENGTH;
    }
    Ok(Compressed { consumed, written: out.written() })
}

/// The UDP header, if it can be compressed. Its length field is elided, so it must agree with the IPv6 length field.
fn compressible_udp(header: &Ipv6Header, payload: &[u8]) -> Option<UdpHeader> {
    let udp = UdpHeader::parse(payload).ok()?;
    (header.next_header == next_header::UDP && udp.length == header.payload_length).then_some(udp)
}

/// Decompresses the headers at the beginning of `payload`: IPv6, and UDP if it is compressed too.
///
/// `datagram_size` is as in [`decompress`](super::decompress). [`MAX_DECOMPRESSED`] octets of `out` are always enough.
///
/// # Errors
/// [`Error::Dispatch`], [`Error::Truncated`], [`Error::Reserved`], [`Error::Context`], [`Error::NextHeader`],
/// [`Error::BufferTooSmall`]; [`Error::TooLong`] if the packet is too long for the IPv6 length field, and
/// [`Error::Packet`] if `datagram_size` is less than the headers.
pub fn decompress(
    payload: &[u8],
    link: Link,
    contexts: &Contexts,
    datagram_size: Option<usize>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    let mut input = Reader::new(payload);
    let base = input.u16()?;
    if base >> 13 != DISPATCH >> 13 {
        return Err(Error::Dispatch((base >> 8) as u8));
    }
    let field = |shift: u16, bits: u16| (base >> shift & ((1 << bits) - 1)) as u8;
    let flag = |shift: u16| field(shift, 1) == 1;

    let context_ids = if flag(7) { input.u8()? } else { 0 };
    let (traffic_class, flow_label) = TrafficMode::from_bits(field(11, 2)).read(&mut input)?;
    let compressed_next_header = flag(10);
    let next_header = if compressed_next_header { next_header::UDP } else { input.u8()? };
    let hop_limit = match field(8, 2) {
        0 => input.u8()?,
        mode => HOP_LIMITS[usize::from(mode)],
    };
    let source_form = (flag(6), field(4, 2));
    let source = address::read_source(&mut input, source_form, link.source, (contexts, context_ids >> 4))?;
    let destination_form = (flag(3), flag(2), field(0, 2));
    let destination =
        address::read_destination(&mut input, destination_form, link.destination, (contexts, context_ids & 0xf))?;
    let udp = if compressed_next_header { Some(nhc::read_udp(&mut input)?) } else { None };

    let headers = Ipv6Header::LENGTH + if udp.is_some() { UdpHeader::LENGTH } else { 0 };
    let size = datagram_size.unwrap_or(headers + input.rest().len());
    if size < headers {
        return Err(ip::Error::Length { field: size, found: headers }.into());
    }
    let payload_length = u16::try_from(size - Ipv6Header::LENGTH).map_err(|_| Error::TooLong(size))?;

    let header = Ipv6Header { traffic_class, flow_label, payload_length, next_header, hop_limit, source, destination };
    let mut out = Writer::new(out);
    out.slice(&header.emit())?;
    if let Some(udp) = udp {
        out.slice(&udp.header(payload_length).emit())?;
    }
    Ok(Decompressed {
        consumed: input.position(),
        written: out.written(),
        checksum_elided: udp.is_some_and(|udp| udp.checksum.is_none()),
    })
}

/// TF: which parts of traffic class and flow label are carried (RFC 6282 sections 3.1.1 and 3.2.1).
#[derive(Clone, Copy)]
enum TrafficMode {
    /// ECN, DSCP and flow label: four octets.
    Full = 0b00,
    /// ECN and flow label, DSCP is zero: three octets.
    EcnAndFlow = 0b01,
    /// ECN and DSCP, the flow label is zero: one octet.
    Class = 0b10,
    /// All are zero.
    Elided = 0b11,
}

impl TrafficMode {
    fn of(header: &Ipv6Header) -> Self {
        let dscp = header.traffic_class >> 2;
        match (header.traffic_class, dscp, header.flow_label) {
            (0, _, 0) => Self::Elided,
            (_, _, 0) => Self::Class,
            (_, 0, _) => Self::EcnAndFlow,
            _ => Self::Full,
        }
    }

    fn from_bits(bits: u8) -> Self {
        match bits {
            0b00 => Self::Full,
            0b01 => Self::EcnAndFlow,
            0b10 => Self::Class,
            _ => Self::Elided,
        }
    }

    /// In the compressed header, ECN comes before DSCP. In the IPv6 header, DSCP comes first.
    fn emit(self, header: &Ipv6Header, out: &mut Writer<'_>) -> Result<(), Error> {
        let class = header.traffic_class.rotate_right(2);
        let flow = (header.flow_label & Ipv6Header::MAX_FLOW_LABEL).to_be_bytes();
        match self {
            Self::Full => out.slice(&[class, flow[1], flow[2], flow[3]]),
            Self::EcnAndFlow => out.slice(&[class | flow[1], flow[2], flow[3]]),
            Self::Class => out.u8(class),
            Self::Elided => Ok(()),
        }
    }

    fn read(self, input: &mut Reader<'_>) -> Result<(u8, u32), Error> {
        const ECN: u8 = 0b1100_0000;
        let (class, flow) = match self {
            Self::Full => {
                let [class, flow @ ..] = input.array::<4>()?;
                (class, flow)
            }
            Self::EcnAndFlow => {
                let flow = input.array::<3>()?;
                (flow[0] & ECN, flow)
            }
            Self::Class => (input.u8()?, [0; 3]),
            Self::Elided => (0, [0; 3]),
        };
        let flow_label = u32::from_be_bytes([0, flow[0], flow[1], flow[2]]) & Ipv6Header::MAX_FLOW_LABEL;
        Ok((class.rotate_left(2), flow_label))
    }
}
