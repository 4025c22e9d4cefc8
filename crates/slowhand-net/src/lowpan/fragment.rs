//! Fragmentation (RFC 4944 section 5.3).
//!
//! The first fragment:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1 1 0 0 0|    datagram_size    |         datagram_tag          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The other fragments:
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1 1 1 0 0|    datagram_size    |         datagram_tag          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |datagram_offset|
//! +-+-+-+-+-+-+-+-+
//! ```
//!
//! The first fragment carries the headers compressed. But size and offset always count octets of the uncompressed
//! packet, the offset in units of eight octets (RFC 6282 section 2). They do not count octets that are
//! [hidden](super::Compressed::hidden).

use std::ops::Range;

use super::context::PayloadCompression;
use super::cursor::{Reader, Writer};
use super::{Compressed, Contexts, Error, Form, Link, MAX_COMPRESSED, compress, compress_headers, headers_of_first};
use crate::ip;

/// 11000 in the first five bits: a first fragment.
const DISPATCH_FIRST: u16 = 0b11000;

/// 11100 in the first five bits: a later fragment.
const DISPATCH_LATER: u16 = 0b11100;

/// The unit of datagram_offset, in octets.
pub const UNIT: usize = 8;

/// The longest datagram that the 11 bits of datagram_size can express.
pub const MAX_DATAGRAM: usize = 0x7ff;

/// The header of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentHeader {
    /// The octets of the whole packet.
    pub datagram_size: u16,
    /// It is the same in all fragments of a packet.
    pub datagram_tag: u16,
    /// The position of the fragment in the packet, in units of eight octets. `None` for the first fragment, which
    /// begins at zero.
    pub datagram_offset: Option<u8>,
}

impl FragmentHeader {
    /// The octets of the header of a first fragment.
    pub const FIRST_LENGTH: usize = 4;

    /// The octets of the header of a later fragment.
    pub const LATER_LENGTH: usize = 5;

    /// True if a frame payload that begins with `octet` is a fragment.
    pub const fn is_dispatch(octet: u8) -> bool {
        matches!((octet >> 3) as u16, DISPATCH_FIRST | DISPATCH_LATER)
    }

    /// Reads the header at the beginning of a frame payload. Returns it, and the rest of the payload.
    ///
    /// # Errors
    /// [`Error::Dispatch`] if it is not a fragment, and [`Error::Truncated`].
    pub fn parse(payload: &[u8]) -> Result<(Self, &[u8]), Error> {
        let mut input = Reader::new(payload);
        let word = input.u16()?;
        let is_first = match word >> 11 {
            DISPATCH_FIRST => true,
            DISPATCH_LATER => false,
            _ => return Err(Error::Dispatch((word >> 8) as u8)),
        };
        let header = Self {
            datagram_size: word & MAX_DATAGRAM as u16,
            datagram_tag: input.u16()?,
            datagram_offset: if is_first { None } else { Some(input.u8()?) },
        };
        Ok((header, input.rest()))
    }

    /// The range of the packet that a fragment of `length` octets covers, with its headers decompressed.
    ///
    /// # Errors
    /// The fragment is empty, ends after the end of the packet, or is not the last and not a multiple of the unit.
    pub(super) fn extent(&self, offset: usize, length: usize) -> Result<Range<usize>, Error> {
        let (size, end) = (usize::from(self.datagram_size), offset + length);
        if length == 0 {
            Err(Error::Truncated)
        } else if end > size {
            Err(ip::Error::Length { field: size, found: end }.into())
        } else if end < size && !length.is_multiple_of(UNIT) {
            Err(Error::FragmentLength(length))
        } else {
            Ok(offset..end)
        }
    }

    pub(super) fn emit(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        let dispatch = if self.datagram_offset.is_none() { DISPATCH_FIRST } else { DISPATCH_LATER };
        out.u16(dispatch << 11 | self.datagram_size)?;
        out.u16(self.datagram_tag)?;
        match self.datagram_offset {
            None => Ok(()),
            Some(offset) => out.u8(offset),
        }
    }
}

/// The part of a payload that is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// All of it.
    Whole,
    /// All of it if a frame can hold it. Otherwise as many units of eight octets as fit into a first fragment, which has so many
    /// octets less.
    Frame {
        /// The header of the fragment, and what stays free.
        reserved: usize,
    },
}

/// The octets of a frame for 6LoWPAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of them, fragment header included.
    pub capacity: usize,
    /// The octets that a first fragment leaves free: see [`Fragmenter::with_slack`].
    pub slack: usize,
}

impl Room {
    /// A frame of which every fragment uses all octets.
    pub const fn all(capacity: usize) -> Self {
        Self { capacity, slack: 0 }
    }
}

/// Compresses the headers of `packet` into `out`, for its first frame; and the payload, if the contexts say so and it becomes
/// shorter.
///
/// # Errors
/// As [`compress`].
#[inline]
pub fn compress_for_frame(
    packet: &[u8],
    link: Link,
    contexts: &Contexts,
    room: Room,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    match contexts.payload_compression() {
        None => compress(packet, link, contexts, headers_of_first(out, room.capacity, FragmentHeader::FIRST_LENGTH)),
        Some(scheme) => compress_payload_too(packet, scheme, link, contexts, room, out),
    }
}

fn compress_payload_too(
    packet: &[u8],
    scheme: PayloadCompression,
    link: Link,
    contexts: &Contexts,
    Room { capacity, slack }: Room,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    let (header, _) = ip::Ipv6Header::parse_packet(packet)?;
    let mut with = |amount, room: usize| {
        let room = room.min(out.len());
        let form = Form::WithPayload(amount);
        compress_headers(&header, packet, form, link, contexts, &mut Writer::new(&mut out[..room]))
    };
    let first = capacity.saturating_sub(FragmentHeader::FIRST_LENGTH + slack);
    let compressed = match scheme {
        PayloadCompression::Lithe => with(Amount::Whole, first.saturating_sub(UNIT)).ok(),
        // The compressed part reaches to the end of the first frame, whether the packet has others or not.
        PayloadCompression::Ghc => {
            let fits = |done: &Compressed| done.closed || done.written + packet.len() - done.consumed <= capacity;
            with(Amount::Frame { reserved: capacity - first }, capacity).ok().filter(fits)
        }
    };
    match compressed {
        Some(done) => Ok(done),
        None => compress(packet, link, contexts, headers_of_first(out, capacity, FragmentHeader::FIRST_LENGTH)),
    }
}

/// Writes the rest of `packet` behind its compressed headers in `out`. Returns the length of the frame payload; `None` if
/// the packet needs fragments.
#[inline]
pub fn complete_frame(packet: &[u8], headers: Compressed, capacity: usize, out: &mut [u8]) -> Option<usize> {
    let rest = packet.get(headers.consumed..).filter(|rest| !headers.closed || rest.is_empty())?;
    let length = headers.written + rest.len();
    let space = out.get_mut(headers.written..length).filter(|_| length <= capacity)?;
    space.copy_from_slice(rest);
    Some(length)
}

/// Cuts a packet into frame payloads. It does not keep the packet: pass the packet with every call.
///
/// ```
/// use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
/// use slowhand_net::ip::{Endpoint, udp_datagram};
/// use slowhand_net::lowpan::{Contexts, FRAME_CAPACITY, Fragmenter, Link};
///
/// let node = NodeId(1);
/// let mut packet = [0; 300];
/// udp_datagram(
///     Endpoint::new(mesh_address(node), 61617),
///     Endpoint::new(internet_address(), 5684),
///     &[0; 252],
///     &mut packet,
/// )?;
/// let link = Link { source: Eui64::of_node(node), destination: Eui64::of_node(NodeId::ROOT) };
/// let mut fragmenter = Fragmenter::new(&packet, link, &Contexts::mesh(), 7, FRAME_CAPACITY)?;
/// assert_eq!(fragmenter.frames(), 3);
/// let mut frame = [0; FRAME_CAPACITY];
/// while let Some(length) = fragmenter.next_frame(&packet, &mut frame)? {
///     assert!(length <= FRAME_CAPACITY);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fragmenter {
    header: [u8; MAX_COMPRESSED],
    /// The octets of `header` in use.
    compressed: usize,
    /// The octets at the beginning of the packet that sizes and offsets do not count.
    hidden: usize,
    /// The octets of the packet behind them that `header` replaces.
    uncompressed: usize,
    /// The octets of the packet behind the hidden ones.
    size: usize,
    tag: u16,
    capacity: usize,
    /// The octets of the first fragment that stay free.
    slack: usize,
    /// True if the first frame carries nothing behind `header`.
    closed: bool,
    /// The octets of the packet in the frames so far.
    sent: usize,
}

impl Fragmenter {
    /// Prepares `packet` for frames with a capacity of `capacity` octets each, fragment header included.
    ///
    /// `tag` must differ from the tags of all packets that the receiver may still reassemble from this sender. The
    /// capacity is [`FRAME_CAPACITY`](super::FRAME_CAPACITY) with 64-bit addresses. OpenWSN sends 80 octets after the
    /// fragment header (openwsn-fw, `frag.h`), which is a capacity of 85.
    ///
    /// # Errors
    /// As [`compress`]; [`Error::TooLong`] and [`Error::Capacity`] if the packet needs fragments but the sizes do
    /// not allow them.
    pub fn new(packet: &[u8], link: Link, contexts: &Contexts, tag: u16, capacity: usize) -> Result<Self, Error> {
        let mut header = [0; MAX_COMPRESSED];
        let done = compress_for_frame(packet, link, contexts, Room::all(capacity), &mut header)?;
        Ok(Self::with_headers(packet, done, &header, capacity)?.with_tag(tag))
    }

    /// As [`new`](Self::new), with the headers that [`compress_for_frame`] has written into `compressed`, and tag 0.
    ///
    /// # Errors
    /// As those of `new`.
    pub fn with_headers(packet: &[u8], done: Compressed, compressed: &[u8], capacity: usize) -> Result<Self, Error> {
        let mut header = [0; MAX_COMPRESSED];
        Writer::new(&mut header).slice(compressed.get(..done.written).ok_or(Error::Truncated)?)?;
        let (size, uncompressed) = (packet.len() - done.hidden, done.consumed - done.hidden);
        let Compressed { written: compressed, hidden, closed, .. } = done;
        let prepared =
            Self { header, compressed, hidden, uncompressed, size, tag: 0, capacity, slack: 0, closed, sent: 0 };
        if !prepared.fits_one_frame() {
            if size > MAX_DATAGRAM {
                return Err(Error::TooLong(size));
            }
            let needed = prepared.least_first().max(FragmentHeader::LATER_LENGTH + UNIT);
            if capacity < needed {
                return Err(Error::Capacity { needed, found: capacity });
            }
        }
        Ok(prepared)
    }

    /// This packet with another tag.
    pub fn with_tag(self, tag: u16) -> Self {
        Self { tag, ..self }
    }

    /// Leaves up to `octets` of the first fragment free. With fragment forwarding, the compressed header may grow on
    /// its path (RFC 8930 section 5; see [`forwarding::SLACK`](super::forwarding::SLACK)). A payload that is compressed has left
    /// them free already, if [`compress_for_frame`] was told of them.
    pub fn with_slack(self, octets: usize) -> Self {
        let slack = octets.min(self.capacity.saturating_sub(self.least_first()));
        Self { slack, ..self }
    }

    /// The number of frames of the packet.
    pub fn frames(&self) -> usize {
        if self.fits_one_frame() {
            return 1;
        }
        let space = self.capacity - FragmentHeader::LATER_LENGTH;
        let rest = self.size - self.end_of_first();
        // The last fragment need not be a multiple of the unit.
        1 + rest.saturating_sub(space).div_ceil(whole_units(space)) + 1
    }

    /// True if all frames have been written.
    pub fn is_done(&self) -> bool {
        self.sent == self.size
    }

    /// Writes the next frame payload into `out`, and returns its length; `None` after the last. `packet` is the one
    /// given to [`new`](Self::new).
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`] if `out` is smaller than the capacity, [`Error::Truncated`] if `packet` is another
    /// one. Then the next call gives the same frame.
    pub fn next_frame(&mut self, packet: &[u8], out: &mut [u8]) -> Result<Option<usize>, Error> {
        if self.is_done() {
            return Ok(None);
        }
        let mut out = Writer::new(out);
        let begin = if self.sent == 0 { self.uncompressed } else { self.sent };
        let end = if self.sent > 0 {
            self.fragment_header(Some((self.sent / UNIT) as u8)).emit(&mut out)?;
            self.end_of(begin, FragmentHeader::LATER_LENGTH)
        } else if self.fits_one_frame() {
            out.slice(&self.header[..self.compressed])?;
            self.size
        } else {
            self.fragment_header(None).emit(&mut out)?;
            out.slice(&self.header[..self.compressed])?;
            self.end_of_first()
        };
        out.slice(packet.get(self.hidden + begin..self.hidden + end).ok_or(Error::Truncated)?)?;
        self.sent = end;
        Ok(Some(out.written()))
    }

    fn fits_one_frame(&self) -> bool {
        let rest = self.size - self.uncompressed;
        self.compressed + rest <= self.capacity && (!self.closed || rest == 0)
    }

    /// The octets of the shortest first fragment: it ends at a whole unit of the packet.
    fn least_first(&self) -> usize {
        let rest_of_unit = self.uncompressed.next_multiple_of(UNIT) - self.uncompressed;
        FragmentHeader::FIRST_LENGTH + self.compressed + rest_of_unit
    }

    /// Where the first fragment ends in the packet, if there are others.
    fn end_of_first(&self) -> usize {
        match self.closed {
            true => self.uncompressed,
            false => self.end_of(self.uncompressed, FragmentHeader::FIRST_LENGTH + self.compressed + self.slack),
        }
    }

    /// Where a fragment ends in the packet that begins at `begin` behind so many octets of headers.
    fn end_of(&self, begin: usize, headers: usize) -> usize {
        let space = self.capacity - headers;
        if self.size - begin <= space { self.size } else { whole_units(begin + space) }
    }

    fn fragment_header(&self, datagram_offset: Option<u8>) -> FragmentHeader {
        // `new` has checked that the size is at most 2047, so the offset fits an octet.
        FragmentHeader { datagram_size: self.size as u16, datagram_tag: self.tag, datagram_offset }
    }
}

fn whole_units(octets: usize) -> usize {
    octets / UNIT * UNIT
}
