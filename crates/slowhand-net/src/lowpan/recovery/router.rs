//! The routers between the two ends (RFC 8931 section 6.1): fragments follow the path that the first one has set up, and
//! acknowledgments come back along it.

use super::super::cursor::Writer;
use super::super::forwarding::{Discard, Limits, Route, a_hop_on, emit_headers, first_octets};
use super::super::reassembly::MAX_TIMEOUT;
use super::super::{Contexts, Error, Link, decompress, iphc};
use super::{Rfrag, RfragAck};
use crate::address::Eui64;
use crate::clock::Instant;
use crate::ip::Ipv6Header;

/// What to do with a recoverable fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its packet is for this node: give it to the [`Receiver`](super::Receiver).
    Local,
    /// No first fragment has said where its packet goes. Give it to the receiver where that
    /// [knows](super::Receiver::knows) the packet; else send the answer back, if any, which has the packet given up
    /// (RFC 8931 section 6.1.2).
    Unknown(Option<RfragAck>),
    /// Send the payload that was written out.
    Forward {
        /// To whom.
        to: Eui64,
        /// Its octets.
        length: usize,
    },
    /// It was thrown away. The answer, if any, has the packet given up.
    Discarded(Discard, Option<RfragAck>),
}

/// The paths through a node.
///
/// Call [`handle_timeout`](Self::handle_timeout) when [`deadline`](Self::deadline) comes.
#[derive(Clone, Debug)]
pub struct Router {
    own: Eui64,
    contexts: Contexts,
    limits: Limits,
    paths: Vec<Path>,
    peak: usize,
}

/// A virtual reassembly buffer: where the fragments of a packet come from and go to.
#[derive(Clone, Copy, Debug)]
struct Path {
    from: (Eui64, u8),
    to: (Eui64, u8),
    /// The most octets of payload in a frame to the next node.
    capacity: usize,
    /// Octets by which the compressed header has grown here: later fragments begin so much further behind.
    growth: i16,
    used: Instant,
    /// The packet is complete. The path stays, for an acknowledgment that was lost is asked for again, until another
    /// packet needs its place.
    is_over: bool,
}

impl Router {
    /// The paths through the node `own`, which shares `contexts` with its neighbours. A path is forgotten when it was not
    /// used for the timeout.
    pub fn new(own: Eui64, limits: Limits, contexts: Contexts) -> Self {
        let limits = Limits { timeout: limits.timeout.min(MAX_TIMEOUT), ..limits };
        Self { own, contexts, limits, paths: Vec::with_capacity(limits.entries), peak: 0 }
    }

    /// Takes the payload of a frame from the neighbour `from`, and writes what is to be forwarded into `out`, which is as
    /// long as a frame payload may be. A node that is `congested` sets the congestion flag.
    ///
    /// `route` is asked once a packet, with the header as it came; the tag that it gives must fit an octet.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        payload: &[u8],
        congested: bool,
        route: impl FnOnce(&Ipv6Header) -> Route,
        out: &mut [u8],
    ) -> Outcome {
        let (header, fragment) = match Rfrag::parse(payload) {
            Ok((header, fragment)) => (Rfrag { congestion: header.congestion | congested, ..header }, fragment),
            Err(error) => return Outcome::Discarded(error.into(), None),
        };
        let known = self.paths.iter().position(|path| path.from == (from, header.tag));
        if let Some(path) = known {
            self.paths[path].used = now;
        }
        let is_abort = header.fragment_offset == 0;
        let forwarded = match known {
            _ if header.sequence == 0 && !is_abort => self.first(now, known, from, header, fragment, route, out),
            Some(path) => self.later(path, header, fragment, out),
            None => return Outcome::Unknown((!is_abort).then(|| header.refusal())),
        };
        if let Some(path) = known.filter(|_| is_abort) {
            self.paths.remove(path);
        }
        forwarded.unwrap_or_else(|reason| Outcome::Discarded(reason, Some(header.refusal())))
    }

    /// Takes an acknowledgment from the neighbour `from`: to whom it goes on, and what; none where no path leads back.
    pub fn handle_acknowledgment(
        &mut self,
        now: Instant,
        from: Eui64,
        acknowledgment: &RfragAck,
    ) -> Option<(Eui64, RfragAck)> {
        let index = self.paths.iter().position(|path| path.to == (from, acknowledgment.tag))?;
        let (to, tag) = self.paths[index].from;
        match acknowledgment.bitmap {
            RfragAck::NULL => drop(self.paths.remove(index)),
            bitmap => {
                self.paths[index].used = now;
                self.paths[index].is_over |= bitmap == RfragAck::FULL;
            }
        }
        Some((to, RfragAck { tag, ..*acknowledgment }))
    }

    /// The next instant at which a path is forgotten.
    pub fn deadline(&self) -> Option<Instant> {
        self.paths.iter().map(|path| path.used + self.limits.timeout).min()
    }

    /// Forgets the paths whose time has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let timeout = self.limits.timeout;
        self.paths.retain(|path| path.used + timeout > now);
    }

    /// Whether a packet goes on under this tag.
    pub fn uses_tag(&self, tag: u8) -> bool {
        self.paths.iter().any(|path| path.to.1 == tag)
    }

    /// Paths now.
    pub fn occupancy(&self) -> usize {
        self.paths.len()
    }

    /// The most paths there ever were.
    pub const fn peak(&self) -> usize {
        self.peak
    }

    #[allow(clippy::too_many_arguments)] // those of `handle_fragment`, and what it parsed
    fn first(
        &mut self,
        now: Instant,
        known: Option<usize>,
        from: Eui64,
        header: Rfrag,
        fragment: &[u8],
        route: impl FnOnce(&Ipv6Header) -> Route,
        out: &mut [u8],
    ) -> Result<Outcome, Discard> {
        let mut headers = [0; iphc::MAX_DECOMPRESSED];
        let link = Link { source: from, destination: self.own };
        let done = decompress(fragment, link, &self.contexts, None, &mut headers)?;
        let headers = &headers[..done.written];
        let ip = Ipv6Header::parse(headers).map_err(Error::from)?;
        let (to, capacity, congested) = match known.map(|path| &self.paths[path]) {
            Some(path) => (path.to, path.capacity, false),
            None => match route(&ip) {
                Route::Local => return Ok(Outcome::Local),
                Route::Next { to, tag, congested, capacity } => ((to, tag as u8), capacity, congested),
                Route::None => return Err(Discard::NoRoute),
            },
        };
        if done.checksum_elided {
            return Err(Discard::ChecksumElided);
        }
        let ip = a_hop_on(ip, congested)?;
        let link = Link { source: self.own, destination: to.0 };
        let (head, body) = first_octets(out, capacity).split_at_mut_checked(Rfrag::LENGTH).ok_or(Discard::NoSlack)?;
        let mut body = Writer::new(body);
        emit_headers(&ip, &headers[Ipv6Header::LENGTH..], link, &self.contexts, &mut body)
            .and_then(|()| body.slice(&fragment[done.consumed..]))
            .map_err(|_| Discard::NoSlack)?;
        // Both are lengths of one frame's payload.
        let growth = body.written() as i16 - fragment.len() as i16;
        if known.is_none() {
            self.open(Path { from: (from, header.tag), to, capacity, growth, used: now, is_over: false })?;
        }
        let header = Rfrag { tag: to.1, fragment_size: body.written() as u16, ..header }.moved(growth)?;
        head.copy_from_slice(&header.emit());
        Ok(Outcome::Forward { to: to.0, length: Rfrag::LENGTH + body.written() })
    }

    fn later(&mut self, path: usize, header: Rfrag, fragment: &[u8], out: &mut [u8]) -> Result<Outcome, Discard> {
        let Path { to: (to, tag), capacity, growth, .. } = self.paths[path];
        let header = Rfrag { tag, ..header };
        let header = if header.fragment_offset == 0 { header } else { header.moved(growth)? };
        let mut out = Writer::new(first_octets(out, capacity));
        out.slice(&header.emit()).and_then(|()| out.slice(fragment)).map_err(|_| Discard::NoSlack)?;
        Ok(Outcome::Forward { to, length: out.written() })
    }

    /// Adds a path, in the place of the oldest whose packet is complete where all are taken.
    fn open(&mut self, path: Path) -> Result<(), Discard> {
        if self.paths.len() == self.limits.entries {
            let over = self.paths.iter().position(|path| path.is_over).ok_or(Discard::Full)?;
            self.paths.remove(over);
        }
        self.paths.push(path);
        self.peak = self.peak.max(self.paths.len());
        Ok(())
    }
}

impl Rfrag {
    /// The answer that has the packet given up.
    fn refusal(&self) -> RfragAck {
        RfragAck { congestion: self.congestion, tag: self.tag, bitmap: RfragAck::NULL }
    }

    /// The same with its offset, or the size of the whole, changed by the growth of the compressed header (section 4.4).
    fn moved(self, growth: i16) -> Result<Self, Error> {
        let fragment_offset = self.fragment_offset.checked_add_signed(growth).ok_or(Error::Truncated)?;
        Ok(Self { fragment_offset, ..self })
    }
}
