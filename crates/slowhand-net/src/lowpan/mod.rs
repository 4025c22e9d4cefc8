//! 6LoWPAN: IPv6 packets in 802.15.4 frames.
//!
//! To send a packet, [`fragment::Fragmenter`] compresses its headers ([`iphc`], [`nhc`]; RFC 6282; those of RPL also by
//! [`routing_header`], RFC 8138), perhaps also its [`payload`], and gives one frame payload after another (RFC 4944 section 5.3). The
//! receiver's [`reassembly::Reassembler`] takes the frame payloads in
//! any order and gives the packet back.
//!
//! Instead of reassembly at every hop, nodes can use fragment [`forwarding`] (RFC 8930) or selective fragment
//! [`recovery`] (RFC 8931).

use crate::address::Eui64;
use crate::ip;
use crate::radio::phy::MAX_PSDU;

mod buffers;
pub mod context;
mod cursor;
pub mod forwarding;
pub mod fragment;
pub mod ghc;
pub mod iphc;
pub mod lithe;
pub mod mesh;
pub mod nhc;
pub mod payload;
pub mod reassembly;
pub mod recovery;
pub mod routing_header;

pub use context::{Context, Contexts, PayloadCompression};
pub use forwarding::Forwarder;
pub use fragment::Fragmenter;
pub use iphc::MAX_PLAIN;
pub use reassembly::Reassembler;

use cursor::{Reader, Writer};
use fragment::{Amount, FragmentHeader};
use iphc::{Compression, Decompression, Depth};
use mesh::MeshHeader;
use payload::{Consumed, Plan};
use recovery::Rfrag;

/// The dispatch octet of an IPv6 packet with an uncompressed header (RFC 4944 section 5.1).
pub const DISPATCH_IPV6: u8 = 0x41;

/// The octets of 6LoWPAN that fit into a frame with 64-bit addresses: 127 of PSDU, minus 21 of MAC header (frame
/// version 2, two 64-bit addresses, destination PAN ID) and 2 of FCS.
pub const FRAME_CAPACITY: usize = 104;

/// The longest compressed headers: no frame has more octets.
pub const MAX_COMPRESSED: usize = MAX_PSDU;

/// The longest headers that [`decompress`] writes: two IPv6 headers, UDP, and extension headers, which hardly grow.
pub const MAX_HEADERS: usize = 2 * ip::UdpDatagram::HEADERS + MAX_COMPRESSED;

/// The most octets that [`decompress`] writes: a frame can hold the compressed payload of a whole datagram.
pub const MAX_DECOMPRESSED: usize = MAX_HEADERS + fragment::MAX_DATAGRAM;

/// The link-layer addresses of a frame. Header compression elides the parts of IPv6 addresses that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The source of the frame.
    pub source: Eui64,
    /// The destination of the frame.
    pub destination: Eui64,
}

/// The result of header compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// The octets at the beginning of the packet that were compressed.
    pub consumed: usize,
    /// The octets of the compressed header.
    pub written: usize,
    /// The octets of the packet that sizes and offsets of fragments do not count: the headers that a [`routing_header`]
    /// stands for, which may become shorter at every hop.
    pub hidden: usize,
    /// True if nothing can follow in the same frame: the payload is compressed up to the frame's end.
    pub closed: bool,
}

impl Compressed {
    const fn of(done: Consumed, written: usize, hidden: usize) -> Self {
        Self { consumed: done.octets, written, hidden, closed: done.closed }
    }
}

/// The result of header decompression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decompressed {
    /// The octets of the compressed header in the frame payload.
    pub consumed: usize,
    /// The octets of the decompressed headers.
    pub written: usize,
    /// As [`Compressed::hidden`].
    pub hidden: usize,
    /// True if the UDP checksum was elided. Then its field is zero, and it must be computed when the packet is
    /// complete: [`ip::udp::fill_checksum`] (RFC 6282 section 4.3.2).
    pub checksum_elided: bool,
    /// True if (a part of) the payload of UDP was compressed: it is decompressed too.
    pub payload: bool,
}

impl Decompressed {
    /// The form in which a node that forwards the fragment compresses it again.
    const fn form(&self) -> Form {
        Form::Same { hidden: self.hidden > 0, payload: self.payload }
    }
}

/// Why octets are not valid 6LoWPAN, or 6LoWPAN cannot carry a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output buffer is too small.
    #[error("the output does not fit its buffer of {0} octets: give a larger one")]
    BufferTooSmall(usize),
    /// The capacity of a frame is too small for a fragment.
    #[error("a frame payload of {found} octets is too small for a fragment: at least {needed}")]
    Capacity {
        /// The smallest capacity that is enough.
        needed: usize,
        /// The capacity given.
        found: usize,
    },
    /// The header refers to a context that is not in the table.
    #[error("context {0} is not set: give both ends the same contexts")]
    Context(u8),
    /// The values are out of range: see [`Contexts::set`].
    #[error("context {id} with a prefix of {length} bits: identifiers go to 15, prefixes to 128 bits")]
    ContextRange {
        /// The identifier given.
        id: u8,
        /// The prefix length given.
        length: u8,
    },
    /// The dispatch octet stands for something else.
    #[error("dispatch {0:#04x} is not one of those understood (RFC 4944 section 5.1, RFC 6282)")]
    Dispatch(u8),
    /// A fragment that is not the last has a length that is not a multiple of 8.
    #[error("a fragment of {0} octets that is not the last: only multiples of 8 are (RFC 4944 section 5.3)")]
    FragmentLength(usize),
    /// An instruction in a compressed payload is reserved, or refers to octets before the dictionary.
    #[error(
        "instruction {0:#04x} in a compressed payload is reserved, or refers to octets before the dictionary (RFC 7400)"
    )]
    Instruction(u8),
    /// The next header compression is none of those understood.
    #[error(
        "next header compression {0:#04x} is not supported: only that of UDP, IPv6, and hop-by-hop, routing and \
             destination options headers"
    )]
    NextHeader(u8),
    /// The packet is not valid IPv6, or its UDP datagram is not valid.
    #[error(transparent)]
    Packet(#[from] ip::Error),
    /// The header uses a combination that RFC 6282 reserves.
    #[error("the compressed header uses a reserved address mode")]
    Reserved,
    /// The packet is longer than a fragment header can express.
    #[error("a datagram of {0} octets is too long: at most 2047 (RFC 4944 section 5.3)")]
    TooLong(usize),
    /// A 6LoWPAN routing header that is not understood (RFC 8138).
    #[error("the 6LoWPAN routing headers are not those of a packet of RPL that this node understands (RFC 8138)")]
    RoutingHeader,
    /// The octets end inside a header.
    #[error("the octets end inside a header")]
    Truncated,
}

/// True if a frame payload is a fragment of a packet (FRAG1 or FRAGN of RFC 4944, RFRAG of RFC 8931), behind a mesh header or
/// not: not a whole packet, and not the acknowledgement of a fragment.
#[inline]
pub fn is_fragment(payload: &[u8]) -> bool {
    payload.first().is_some_and(|&octet| {
        FragmentHeader::is_dispatch(octet)
            || Rfrag::is_dispatch(octet)
            || MeshHeader::is_dispatch(octet) && MeshHeader::parse(payload).is_ok_and(|(_, rest)| is_fragment(rest))
    })
}

/// True if a frame payload, of a whole packet or of its first fragment, has a payload of UDP that is compressed.
pub(crate) fn has_compressed_payload(payload: &[u8], link: Link, contexts: &Contexts) -> bool {
    let (size, headers) = match FragmentHeader::parse(payload) {
        Ok((FragmentHeader { datagram_offset: Some(_), .. }, _)) => return false,
        Ok((header, rest)) => (Some(header.datagram_size.into()), rest),
        Err(_) => (None, payload),
    };
    decompress(headers, link, contexts, size, &mut [0; MAX_DECOMPRESSED]).is_ok_and(|done| done.payload)
}

/// Compresses the headers of `packet` into `out`, without its payload. The rest of the packet, after
/// [`Compressed::consumed`], is carried unchanged. Extension headers stay there too if they do not fit into `out`: then they can be in
/// any fragment, and a
/// node must reassemble the packet to read them.
///
/// # Errors
/// [`Error::Packet`] if `packet` is not an IPv6 packet of exactly the length in its header; [`Error::BufferTooSmall`]:
/// [`MAX_PLAIN`] octets are always enough.
#[inline]
pub fn compress(packet: &[u8], link: Link, contexts: &Contexts, out: &mut [u8]) -> Result<Compressed, Error> {
    let (header, _) = ip::Ipv6Header::parse_packet(packet)?;
    compress_headers(&header, packet, Form::Shortest, link, contexts, &mut Writer::new(out))
}

/// The form in which headers of RPL, and the payload of UDP, are compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Headers of RPL as routing headers if the contexts say so and they fit; else as extension headers. The payload as it is.
    Shortest,
    /// As `Shortest`, and this much of the payload as the contexts say, if that is shorter.
    WithPayload(Amount),
    /// As the headers of a fragment that was received: its size counts octets that are not [hidden](Compressed::hidden). The
    /// payload is compressed if it was.
    Same { hidden: bool, payload: bool },
}

impl Form {
    const fn is_with_hidden(self, expected: bool) -> bool {
        matches!(self, Self::Same { hidden, .. } if hidden == expected)
    }

    /// The compression of the payload.
    fn plan(self, contexts: &Contexts) -> Option<Plan> {
        let amount = match self {
            Self::WithPayload(amount) => amount,
            Self::Same { payload: true, .. } => Amount::Whole,
            Self::Shortest | Self::Same { payload: false, .. } => return None,
        };
        contexts.payload_compression().map(|scheme| Plan { scheme, amount })
    }
}

/// As [`compress`], but `packet`, which begins with `header`, may end after its headers: a node that forwards fragments has no
/// more.
#[inline]
fn compress_headers(
    header: &ip::Ipv6Header,
    packet: &[u8],
    form: Form,
    link: Link,
    contexts: &Contexts,
    out: &mut Writer<'_>,
) -> Result<Compressed, Error> {
    let before = out.written();
    let how = Compression { depth: Depth::All, plan: form.plan(contexts), link, contexts };
    if let Some(encoding) = contexts.routing_headers().filter(|_| !form.is_with_hidden(false)) {
        match routing_header::compress(packet, how, encoding, out) {
            Ok(Some(compressed)) => return Ok(compressed),
            Err(error) if form.is_with_hidden(true) => return Err(error),
            Ok(None) => {}
            Err(_) => out.truncate(before),
        }
    }
    let done = match iphc::compress(header, packet, how, out) {
        Err(Error::BufferTooSmall(_)) if header.next_header != ip::next_header::UDP => {
            out.truncate(before);
            iphc::compress_chain(header, packet, Compression { depth: Depth::Udp, ..how }, out)?
        }
        done => done?,
    };
    Ok(Compressed::of(done, out.written() - before, 0))
}

/// The part of `out` for the compressed headers of the first fragment: behind them there must be room for data.
fn headers_of_first(out: &mut [u8], capacity: usize, fragment_header: usize) -> &mut [u8] {
    let room = capacity.saturating_sub(fragment_header + fragment::UNIT).max(MAX_PLAIN);
    let length = out.len().min(room);
    &mut out[..length]
}

/// Decompresses the headers at the beginning of `payload` (RFC 6282, RFC 8138), and what is compressed behind them, or copies
/// them if they are not compressed (RFC 4944 section 5.1).
///
/// `datagram_size` is the number of octets of the whole packet, without those that are [hidden](Compressed::hidden); the
/// length fields follow from it. It is `None` for a frame payload that holds a whole packet. [`MAX_DECOMPRESSED`] octets
/// of `out` are always enough for what a frame holds.
///
/// # Errors
/// [`Error::Dispatch`], [`Error::Truncated`], [`Error::Reserved`], [`Error::Context`], [`Error::NextHeader`],
/// [`Error::RoutingHeader`], [`Error::Instruction`], [`Error::BufferTooSmall`]; [`Error::TooLong`] if the packet is too long for the IPv6 length
/// field, and [`Error::Packet`] if `datagram_size` is less than the headers.
pub fn decompress(
    payload: &[u8],
    link: Link,
    contexts: &Contexts,
    datagram_size: Option<usize>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    let how = Decompression { link, contexts, datagram_size };
    match payload.first() {
        None => Err(Error::Truncated),
        Some(&DISPATCH_IPV6) => copy_header(&payload[1..], out),
        Some(&dispatch) if iphc::is_dispatch(dispatch) => iphc::decompress(payload, how, &mut Writer::new(out)),
        Some(&routing_header::PAGE_1) => routing_header::decompress(payload, how, out),
        Some(&dispatch) => Err(Error::Dispatch(dispatch)),
    }
}

fn copy_header(packet: &[u8], out: &mut [u8]) -> Result<Decompressed, Error> {
    let header = Reader::new(packet).array::<{ ip::Ipv6Header::LENGTH }>()?;
    ip::Ipv6Header::parse(&header)?;
    Writer::new(out).slice(&header)?;
    Ok(Decompressed { consumed: 1 + header.len(), written: header.len(), ..Decompressed::default() })
}
