//! 6LoWPAN: IPv6 packets in 802.15.4 frames.
//!
//! The way of a packet downwards: [`fragment::Fragmenter`] compresses its headers ([`iphc`], [`nhc`]; RFC 6282)
//! and yields one frame payload after another (RFC 4944 section 5.3). Upwards:
//! [`reassembly::Reassembler`] takes frame payloads in any order and gives the packet back.
//!
//! Beside reassembly at every hop there are [`forwarding`] of fragments one by one (RFC 8930) and their selective
//! [`recovery`] (RFC 8931).

use crate::address::Eui64;
use crate::ip;

pub mod context;
mod cursor;
pub mod forwarding;
pub mod fragment;
pub mod iphc;
pub mod nhc;
pub mod reassembly;
pub mod recovery;

pub use context::{Context, Contexts};
pub use forwarding::Forwarder;
pub use fragment::Fragmenter;
pub use reassembly::Reassembler;

use cursor::{Reader, Writer};

/// The dispatch octet of an IPv6 packet with its header as it is (RFC 4944 section 5.1).
pub const DISPATCH_IPV6: u8 = 0x41;

/// Octets of 6LoWPAN that fit a frame of this project: 127 of PSDU, less 21 of MAC header (frame version 2,
/// two 64-bit addresses, destination PAN ID) and 2 of FCS.
pub const FRAME_CAPACITY: usize = 104;

/// The link-layer addresses of a frame: header compression elides what they say already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Who sends the frame.
    pub source: Eui64,
    /// Who is to receive it.
    pub destination: Eui64,
}

/// What header compression did to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Octets of the packet, from its first, that are in the compressed header.
    pub consumed: usize,
    /// Octets of the compressed header.
    pub written: usize,
}

/// What decompression made out of a frame payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Octets of the frame payload that were the compressed header.
    pub consumed: usize,
    /// Octets of the headers written out.
    pub written: usize,
    /// Whether the UDP checksum was elided. Its field is then zero, and whoever has the whole packet must compute
    /// it: [`ip::udp::fill_checksum`] (RFC 6282 section 4.3.2).
    pub checksum_elided: bool,
}

/// Why octets are not 6LoWPAN, or a packet cannot be sent over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output buffer is too small.
    #[error("the output does not fit its buffer of {0} octets: give a larger one")]
    BufferTooSmall(usize),
    /// A frame takes too few octets to fragment into.
    #[error("a frame payload of {found} octets is too small for a fragment: at least {needed}")]
    Capacity {
        /// The least capacity that does.
        needed: usize,
        /// The capacity given.
        found: usize,
    },
    /// The header refers to a context that is not in the table.
    #[error("context {0} is not set: give both ends the same contexts")]
    Context(u8),
    /// A context cannot be set so: see [`Contexts::set`].
    #[error("context {id} with a prefix of {length} bits: identifiers go to 15, prefixes to 128 bits")]
    ContextRange {
        /// The identifier given.
        id: u8,
        /// The prefix length given.
        length: u8,
    },
    /// The first octet announces something else.
    #[error("dispatch {0:#04x} is not one of those understood (RFC 4944 section 5.1, RFC 6282)")]
    Dispatch(u8),
    /// A fragment that is not the last of its packet has a length that the offsets cannot count.
    #[error("a fragment of {0} octets that is not the last: only multiples of 8 are (RFC 4944 section 5.3)")]
    FragmentLength(usize),
    /// A next header is compressed in a way other than UDP's.
    #[error("next header compression {0:#04x} is not supported: only UDP's")]
    NextHeader(u8),
    /// The packet is not IPv6, or not UDP where it says so.
    #[error(transparent)]
    Packet(#[from] ip::Error),
    /// The header uses a combination that RFC 6282 reserves.
    #[error("the compressed header uses a reserved address mode")]
    Reserved,
    /// The packet is longer than a fragment header can say.
    #[error("a datagram of {0} octets is too long: at most 2047 (RFC 4944 section 5.3)")]
    TooLong(usize),
    /// The octets end inside a header.
    #[error("the octets end inside a header")]
    Truncated,
}

/// Writes out the headers at the beginning of `payload`, compressed (RFC 6282) or not (RFC 4944 section 5.1).
///
/// The length fields follow from `datagram_size`, the octets of the whole packet; `None` stands for an unfragmented
/// frame payload, which has the rest of the packet behind the header.
///
/// # Errors
/// As [`iphc::decompress`]; [`Error::Dispatch`] where the payload is neither.
pub fn decompress(
    payload: &[u8],
    link: Link,
    contexts: &Contexts,
    datagram_size: Option<usize>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    match payload.first() {
        None => Err(Error::Truncated),
        Some(&DISPATCH_IPV6) => copy_header(&payload[1..], out),
        Some(&dispatch) if iphc::is_dispatch(dispatch) => iphc::decompress(payload, link, contexts, datagram_size, out),
        Some(&dispatch) => Err(Error::Dispatch(dispatch)),
    }
}

fn copy_header(packet: &[u8], out: &mut [u8]) -> Result<Decompressed, Error> {
    let header = Reader::new(packet).array::<{ ip::Ipv6Header::LENGTH }>()?;
    ip::Ipv6Header::parse(&header)?;
    Writer::new(out).slice(&header)?;
    Ok(Decompressed { consumed: 1 + header.len(), written: header.len(), checksum_elided: false })
}
