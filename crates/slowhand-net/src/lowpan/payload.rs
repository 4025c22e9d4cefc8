//! Compression of the payload of a UDP datagram: by [`ghc`], or the headers of DTLS by [`lithe`].
//!
//! The compressed payload belongs to the compressed headers, which must fit into the first frame of a packet (RFC 6282
//! section 2). So only what travels in the first frame is compressed. Later fragments carry the rest as it is. RFC 7400
//! says the same: its decompressor works "within a L2 packet (= fragment)" (section 2). A router that forwards fragments
//! (RFC 8930) decompresses the first one and compresses it again; the others pass.

use std::net::Ipv6Addr;

use super::context::PayloadCompression;
use super::cursor::{Reader, Writer};
use super::fragment::Amount;
use super::{Error, ghc, lithe, nhc};
use crate::ip::{Ipv6Header, UdpHeader};

/// The plan by which a sender compresses a payload.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) scheme: PayloadCompression,
    pub(super) amount: Amount,
}

/// The octets of a packet that were compressed.
#[derive(Clone, Copy)]
pub(super) struct Consumed {
    pub(super) octets: usize,
    /// As [`Compressed::closed`](super::Compressed::closed).
    pub(super) closed: bool,
}

impl Consumed {
    pub(super) const fn open(octets: usize) -> Self {
        Self { octets, closed: false }
    }

    /// These octets, behind so many other octets.
    pub(super) const fn behind(self, octets: usize) -> Self {
        Self { octets: self.octets + octets, ..self }
    }
}

/// Writes a UDP header, and the payload behind it if the plan says so and it becomes shorter. `payload` may end before the
/// payload of the packet does: a node that forwards fragments has no more.
#[inline]
pub(super) fn emit(
    ip: &Ipv6Header,
    udp: &UdpHeader,
    payload: &[u8],
    plan: Option<Plan>,
    out: &mut Writer<'_>,
) -> Result<Consumed, Error> {
    if let Some(plan) = plan {
        let before = out.written();
        nhc::emit_udp(udp, plan.scheme.dispatch(), out)?;
        if let Some(consumed) = plan.emit(ip, udp, payload, out)? {
            return Ok(consumed.behind(UdpHeader::LENGTH));
        }
        out.truncate(before);
    }
    nhc::emit_udp(udp, nhc::UDP, out)?;
    Ok(Consumed::open(UdpHeader::LENGTH))
}

impl Plan {
    /// Writes the compressed payload. None if it does not become shorter.
    fn emit(
        self,
        ip: &Ipv6Header,
        udp: &UdpHeader,
        payload: &[u8],
        out: &mut Writer<'_>,
    ) -> Result<Option<Consumed>, Error> {
        match self.scheme {
            PayloadCompression::Ghc => {
                let Some(done) = ghc::compress(ip.source, ip.destination, payload, self.amount, out.space()) else {
                    return Ok(None);
                };
                out.skip(done.written)?;
                Ok(Some(Consumed { octets: done.consumed, closed: true }))
            }
            PayloadCompression::Lithe => {
                let length = usize::from(udp.length).saturating_sub(UdpHeader::LENGTH);
                Ok(lithe::compress(payload, length, out)?.map(Consumed::open))
            }
        }
    }
}

/// Reads a compressed payload of a packet with these addresses and writes it as it was. `length` is the number of octets of
/// the whole payload, if the frame does not hold all of it.
pub(super) fn read(
    scheme: PayloadCompression,
    (source, destination): (Ipv6Addr, Ipv6Addr),
    length: Option<usize>,
    input: &mut Reader<'_>,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    match scheme {
        PayloadCompression::Ghc => {
            let code = input.slice(input.rest().len())?;
            let written = ghc::decompress(source, destination, code, out.space())?;
            out.skip(written)
        }
        PayloadCompression::Lithe => lithe::decompress(input, length, out),
    }
}
