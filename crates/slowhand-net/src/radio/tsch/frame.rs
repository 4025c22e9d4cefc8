//! The frames of TSCH, as 6TiSCH uses them: version 2, extended addresses, enhanced acknowledgements.

use super::schedule::{Cell, handle};
use crate::address::{Eui64, PAN_ID};
use crate::radio::frame::ie::SIXTOP;
use crate::radio::frame::{
    Address, Error, FCS, Frame, FrameType, FrameView, Header, HeaderIe, MAX_FRAME, NestedIe, NestedIes, PayloadIe,
    Security, Template, TimeCorrection, Version,
};

/// An address where any will do.
const ANY: Eui64 = Eui64([0; 8]);

/// The most octets of payload in a data frame.
pub const fn data_capacity(security: Option<Security>) -> usize {
    data_header(0, ANY, ANY, security).payload_capacity()
}

/// Octets of an enhanced acknowledgement, FCS included. `with_source` is true if it has the address of its sender.
pub const fn ack_octets(security: Option<Security>, with_source: bool) -> usize {
    let source = if with_source { Some(ANY) } else { None };
    MAX_FRAME - ack_header(source, ANY, security).payload_capacity() + SYNCHRONISED.length() + FCS
}

/// The time correction is always 0 us: all nodes share one clock.
const SYNCHRONISED: HeaderIe<'_> = HeaderIe::TimeCorrection(TimeCorrection { microseconds: 0, nack: false });

/// The template of data frames, which ask for an acknowledgement.
pub fn data(from: Eui64, to: Eui64, security: Option<Security>) -> Template {
    Template::new(&Frame::new(data_header(0, from, to, security)))
        .expect("a header with a sequence number is a template")
}

/// The template of enhanced acknowledgements to the sender of data frames. They have a source address if `from` is given.
pub fn enhanced_ack(from: Option<Eui64>, to: Eui64, security: Option<Security>) -> Template {
    Template::new(&Frame { header_ies: &[SYNCHRONISED], ..Frame::new(ack_header(from, to, security)) })
        .expect("a header and one information element are a template")
}

/// Writes a frame with a 6P message that asks for an acknowledgement. Returns the length of the frame.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_sixtop(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Eui64,
    to: Eui64,
    security: Option<Security>,
    message: &[u8],
) -> Result<usize, Error> {
    let payload_ies = &[PayloadIe::Ietf { subtype: SIXTOP, content: message }];
    Frame { payload_ies, ..Frame::new(data_header(sequence, from, to, security)) }.emit(out)
}

/// Writes an enhanced beacon (RFC 8180, section 4.5): synchronisation, timeslot template, hopping sequence, and the minimal
/// cells. It has no sequence number. Whoever wants to join must read it, so it is authenticated and never encrypted
/// (section 4.6). The key is that of all frames, as OpenWSN sets it (cjoin.c); RFC 8180 allows another one.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_beacon<'a>(
    out: &mut [u8; MAX_FRAME],
    from: Eui64,
    asn: u64,
    join_metric: u8,
    slotframe: u16,
    cells: impl Iterator<Item = &'a Cell>,
    security: Option<Security>,
) -> Result<usize, Error> {
    // Sub-IDs of IEEE 802.15.4-2020, table 7-18.
    const SLOTFRAME_AND_LINK: u8 = 0x1b;
    const TIMESLOT: u8 = 0x1c;
    const CHANNEL_HOPPING: u8 = 0x9;
    /// A cell takes 5 octets. The others of a schedule with so many shared cells are left out.
    const MOST_CELLS: usize = 8;

    let mut synchronisation = [0; 6];
    synchronisation[..5].copy_from_slice(&asn.to_le_bytes()[..5]);
    synchronisation[5] = join_metric;
    let [size_low, size_high] = slotframe.to_le_bytes();
    let mut links = [0; 5 + 5 * MOST_CELLS];
    let mut length = 5;
    for cell in cells.take(MOST_CELLS) {
        let [slot_low, slot_high] = cell.slot.to_le_bytes();
        let link = [slot_low, slot_high, cell.channel_offset, 0, link_options(cell)];
        links[length..length + 5].copy_from_slice(&link);
        length += 5;
    }
    links[..5].copy_from_slice(&[1, handle::MINIMAL, size_low, size_high, (length / 5 - 1) as u8]);
    let mut nested = [0; MAX_FRAME];
    let ies = NestedIes::emit(
        &[
            NestedIe::Short { id: SYNCHRONISATION, content: &synchronisation },
            NestedIe::Short { id: TIMESLOT, content: &[0] },
            NestedIe::Long { id: CHANNEL_HOPPING, content: &[0] },
            NestedIe::Short { id: SLOTFRAME_AND_LINK, content: &links[..length] },
        ],
        &mut nested,
    )?;
    let authenticated = |security: Security| Some(Security { level: security.level.without_encryption()?, ..security });
    let security = security.and_then(authenticated);
    let header = Header { sequence: None, security, ..broadcast_header(FrameType::Beacon, 0, from) };
    Frame { payload_ies: &[PayloadIe::Mlme(ies)], ..Frame::new(header) }.emit(out)
}

/// The sub-ID of the synchronisation in a beacon (IEEE 802.15.4-2020, table 7-18).
const SYNCHRONISATION: u8 = 0x1a;

/// The join metric in a beacon (IEEE 802.15.4-2020, 7.4.4.2). `None` if the frame has none.
pub fn join_metric(frame: &[u8]) -> Option<u8> {
    let mut ies = FrameView::parse_decrypted(frame).ok()?.payload_ies();
    ies.find_map(|ie| match ie {
        PayloadIe::Mlme(mut nested) => nested.find_map(|ie| match ie {
            NestedIe::Short { id: SYNCHRONISATION, content } => content.get(5).copied(),
            _ => None,
        }),
        _ => None,
    })
}

/// Writes a data frame to all neighbours.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_broadcast(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Eui64,
    security: Option<Security>,
    payload: &[u8],
) -> Result<usize, Error> {
    let header = Header { security, ..broadcast_header(FrameType::Data, sequence, from) };
    Frame { payload, ..Frame::new(header) }.emit(out)
}

/// Writes a data frame without payload that asks for an acknowledgement.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_keep_alive(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Eui64,
    to: Eui64,
    security: Option<Security>,
) -> Result<usize, Error> {
    Frame::new(data_header(sequence, from, to, security)).emit(out)
}

const fn broadcast_header(frame_type: FrameType, sequence: u8, from: Eui64) -> Header {
    Header {
        sequence: Some(sequence),
        destination_pan: Some(PAN_ID),
        destination: Some(Address::Short(0xffff)),
        source: Some(Address::Extended(from)),
        ..Header::new(frame_type, Version::V2)
    }
}

/// The 6P message in a frame that is not encrypted yet, if it has one.
pub fn sixtop_message(frame: &[u8]) -> Option<&[u8]> {
    FrameView::parse_decrypted(frame).ok()?.payload_ies().find_map(|ie| match ie {
        PayloadIe::Ietf { subtype: SIXTOP, content } => Some(content),
        _ => None,
    })
}

const fn data_header(sequence: u8, from: Eui64, to: Eui64, security: Option<Security>) -> Header {
    Header { ack_request: true, security, ..Header::between(FrameType::Data, Version::V2, sequence, PAN_ID, from, to) }
}

const fn ack_header(from: Option<Eui64>, to: Eui64, security: Option<Security>) -> Header {
    let source = match from {
        None => None,
        Some(from) => Some(Address::Extended(from)),
    };
    Header { source, security, ..Header::enhanced_ack(0, PAN_ID, to) }
}

/// The link options of a minimal cell in a beacon: transmit, receive, shared, timekeeping (IEEE 802.15.4-2015, 7.4.4.3).
const fn link_options(cell: &Cell) -> u8 {
    const TIMEKEEPING: u8 = 1 << 3;
    cell.options.transmit as u8 | (cell.options.receive as u8) << 1 | (cell.options.shared as u8) << 2 | TIMEKEEPING
}
